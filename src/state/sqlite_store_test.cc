// SPDX-License-Identifier: Apache-2.0
// What only the file store has: locks, versions, boots, damage, and processes killed while they write.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testdata.h"
#include "state/sqlite.h"
#include "state/store.h"

namespace railbed::state {
namespace {

class SqliteStore : public testing::Test {
 protected:
  SqliteStore() : directory_(testing::TempDir() + fmt::format("railbed-sqlite-{}", getpid())) {
    std::filesystem::remove_all(directory_);
  }
  ~SqliteStore() override { std::filesystem::remove_all(directory_); }
  Result<std::unique_ptr<Store>> open(const std::string& boot_id = "boot-1", bool read_only = false) {
    return open_store({.directory = directory_, .boot_id = boot_id, .command = "railbed up", .read_only = read_only});
  }
  std::string directory_;
};

TEST_F(SqliteStore, NamesTheHolderToASecondOne) {
  auto first = open();
  ASSERT_TRUE(first.has_value()) << first.error().to_string();
  auto second = open();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::kBusy);
  EXPECT_EQ(second.error().to_string(),
            fmt::format("another railbed (pid {}, `railbed up`) is running on this machine\n"
                        "  wait until it exits, or use --wait",
                        getpid()));
  first->reset();
  EXPECT_TRUE(open().has_value());
}

TEST_F(SqliteStore, WaitsForTheLockOfOneThatDies) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    auto store = open();
    (void)!write(ready[1], "r", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(open().error().code, Code::kBusy);
  kill(child, SIGKILL);
  auto store = open_store({.directory = directory_, .boot_id = "boot-1", .lock_wait = std::chrono::seconds(20)});
  EXPECT_TRUE(store.has_value()) << store.error().to_string();
  waitpid(child, nullptr, 0);
}

class RemovedState : public SqliteStore {
 protected:
  Result<std::unique_ptr<Store>> share() {
    return open_store({.directory = directory_, .boot_id = "boot-1", .command = "railbed agent", .shared = true});
  }
  static Result<void> add(Store& store, const std::string& pod) {
    auto hold = TRY(store.hold(std::chrono::milliseconds(0)));
    TRY(store.put_attachment({.pod = pod, .interface = "net1", .undo = "secret of " + pod}));
    return store.put_lease({"pool", *IpAddress::parse("10.0.0.1"), pod, "net1"});
  }
  // What the next agent finds.
  std::vector<std::string> pods_on_disk() {
    std::vector<std::string> pods;
    auto store = open("boot-1", true);
    EXPECT_TRUE(store.has_value()) << store.error().to_string();
    if (!store.has_value()) return pods;
    const auto all = (*store)->attachments();
    for (const Attachment& one : *all) pods.push_back(one.pod);
    return pods;
  }
};

// A clean-up below /run: the folder with all, the file alone, or the file without its log.
TEST_F(RemovedState, IsWrittenAgainWithAllThatTheProcessHas) {
  const std::vector<std::vector<std::string>> removed{
      {""}, {"/state.db"}, {"/state.db", "/state.db-wal", "/state.db-shm"}};
  for (const auto& names : removed) {
    std::filesystem::remove_all(directory_);
    auto store = share();
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    ASSERT_TRUE(add(**store, "a"));
    EXPECT_FALSE((*store)->take_written_again());
    for (const std::string& name : names) std::filesystem::remove_all(directory_ + name);
    ASSERT_TRUE((*store)->hold(std::chrono::milliseconds(0)).has_value());
    EXPECT_TRUE((*store)->take_written_again());
    EXPECT_FALSE((*store)->take_written_again()) << "it is reported once";
    EXPECT_EQ(pods_on_disk(), std::vector<std::string>{"a"});
    ASSERT_TRUE((*store)->put_attachment({.pod = "b", .interface = "net1"}));
    EXPECT_EQ(pods_on_disk(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ((*store)->all_leases()->size(), 1U);
    const auto mode = std::filesystem::status(directory_ + "/state.db").permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write) << "it has secrets";
    store->reset();
    auto next = share();
    ASSERT_TRUE(next.has_value()) << next.error().to_string();
    EXPECT_FALSE((*next)->note(kLostItsEnd)->has_value()) << "nothing was lost";
  }
}

// `railbed up` may have run between the removal and the agent's next turn.
TEST_F(RemovedState, IsNotWrittenOverAnotherOne) {
  auto store = share();
  ASSERT_TRUE(add(**store, "a"));
  std::filesystem::remove_all(directory_);
  auto other = open();
  ASSERT_TRUE((*other)->put_attachment({.pod = "b", .interface = "net1"}));
  other->reset();
  const auto refused = (*store)->hold(std::chrono::milliseconds(0));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_EQ(
      refused.error().to_string(),
      fmt::format("{}/state.db was replaced by another file while this process had it open\n"
                  "  restart the agent: it continues with the existing file and reserves the addresses of pods that "
                  "are missing in it",
                  directory_));
  EXPECT_EQ(pods_on_disk(), std::vector<std::string>{"b"});
}

TEST_F(SqliteStore, IsReadBesideAWriter) {
  EXPECT_EQ(open("boot-1", true).error().to_string(),
            fmt::format("no state in {}: railbed has done nothing here since boot", directory_));
  auto writer = open();
  ASSERT_TRUE((*writer)->put_note("key", "value").has_value());
  auto reader = open("boot-1", true);
  ASSERT_TRUE(reader.has_value()) << reader.error().to_string();
  EXPECT_EQ(*(*reader)->note("key"), "value");
  ASSERT_TRUE((*writer)->put_note("key", "newer").has_value());
  EXPECT_EQ(*(*reader)->note("key"), "newer");
  EXPECT_FALSE((*reader)->put_note("key", "mine").has_value());
  writer->reset();
  EXPECT_EQ(*(*reader)->note("key"), "newer");
}

// A file that is whole, and older than what was written last: put back by somebody, or its log lost its end.
class SqliteRolledBack : public SqliteStore {
 protected:
  static AddressLease lease(int number) {
    return {"pool", *IpAddress::parse(fmt::format("10.0.0.{}", number)), "a/b", "net1"};
  }
  void keep(int number) { EXPECT_TRUE((*open())->put_lease(lease(number)).has_value()); }
  std::string file() const { return directory_ + "/state.db"; }
  std::optional<std::string> lost() { return *(*open())->note(kLostItsEnd); }
};

TEST_F(SqliteRolledBack, IsNoticedOnceAndReportedByANote) {
  keep(1);
  const std::string old = directory_ + "/old";  // the file and its log
  std::filesystem::create_directory(old);
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    if (entry.path().filename().string().starts_with("state.db")) std::filesystem::copy(entry.path(), old);
  keep(2);
  keep(3);
  EXPECT_EQ(lost(), std::nullopt);
  for (const char* one : {"state.db", "state.db-wal", "state.db-shm"}) std::filesystem::remove(directory_ + "/" + one);
  for (const auto& entry : std::filesystem::directory_iterator(old))
    std::filesystem::rename(entry.path(), directory_ + "/" + entry.path().filename().string());
  EXPECT_EQ(lost(), "1 of 3");
  EXPECT_EQ((*open())->all_leases()->size(), 1u);
  ASSERT_TRUE((*open())->forget_note(kLostItsEnd).has_value());
  EXPECT_EQ(lost(), std::nullopt);
  keep(4);
  EXPECT_EQ(lost(), std::nullopt);
}

TEST_F(SqliteRolledBack, ALogWithoutItsEndIsNoticed) {
  pid_t child = fork();
  if (child == 0) {  // killed, so that the log stays
    auto store = open();
    for (int i = 1; i <= 3; ++i) (void)(*store)->put_lease(lease(i));
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const std::string log = file() + "-wal";
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 5000);
  EXPECT_NE(lost(), std::nullopt);
  EXPECT_LT((*open())->all_leases()->size(), 3u);
}

TEST_F(SqliteRolledBack, AFileThatIsGoneIsNoticedAndOneOfAnotherBootIsNot) {
  keep(1);
  std::filesystem::remove(file());
  EXPECT_EQ(lost(), "0 of 1");
  std::filesystem::remove(file());
  EXPECT_EQ(*(*open("boot-2"))->note(kLostItsEnd), std::nullopt);
}

// Killed between the file and its witness, a process leaves a file that is ahead: nothing is lost.
TEST_F(SqliteRolledBack, AWitnessThatIsBehindMeansNothing) {
  keep(1);
  const std::string witness = directory_ + "/generation";
  std::filesystem::copy_file(witness, witness + ".old");
  keep(2);
  std::filesystem::rename(witness + ".old", witness);
  EXPECT_EQ(lost(), std::nullopt);
  keep(3);
  std::filesystem::remove(witness);
  EXPECT_EQ(lost(), std::nullopt);
}

TEST_F(SqliteRolledBack, WhatIsUndoneIsNotCounted) {
  {
    auto store = open();
    auto transaction = Transaction::begin(**store);
    ASSERT_TRUE((*store)->put_lease(lease(1)).has_value());
  }
  EXPECT_EQ(lost(), std::nullopt);
  keep(2);
  EXPECT_EQ(lost(), std::nullopt);
}

// The file has the configurations of executed plugins, and everybody who can open it can lock it. The test also begins
// with a file that an earlier version left open to all.
TEST_F(SqliteStore, IsForRootAlone) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  {
    auto store = open();
    ASSERT_TRUE((*store)->put_note("key", "value").has_value());
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    std::filesystem::permissions(entry.path(), std::filesystem::perms(0666));
  std::filesystem::permissions(directory_, std::filesystem::perms(0755));
  auto store = open();
  ASSERT_TRUE((*store)->put_note("key", "newer").has_value());
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(0600)) << entry.path();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const bool locked = ::open((directory_ + "/lock").c_str(), O_RDONLY) >= 0;
    const std::string reported = open("boot-1", true).error().to_string();
    (void)!write(ends[1], reported.data(), reported.size());
    _exit(locked ? 1 : 0);
  }
  close(ends[1]);
  char text[512];
  const ssize_t length = read(ends[0], text, sizeof text);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::string(text, length > 0 ? static_cast<size_t>(length) : 0),
            fmt::format("state file {}/state.db: opening it: unable to open database file\n  run as root", directory_));
}

// A user who could create a link there could have the state written over any file.
TEST_F(SqliteStore, IsNoLink) {
  std::filesystem::create_directories(directory_);
  std::ofstream(directory_ + "/elsewhere") << "kept";
  std::filesystem::permissions(directory_ + "/elsewhere", std::filesystem::perms(0644));
  std::filesystem::create_symlink(directory_ + "/elsewhere", directory_ + "/state.db");
  auto store = open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().to_string(),
            fmt::format("chmod {}/state.db: EOPNOTSUPP (Operation not supported)", directory_));
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/elsewhere"), 4u);
  EXPECT_EQ(std::filesystem::status(directory_ + "/elsewhere").permissions(), std::filesystem::perms(0644));
}

TEST_F(SqliteStore, MakesADirectoryForRootAlone) {
  const std::string fresh = directory_ + "/a/b";
  ASSERT_TRUE(open_store({.directory = fresh, .boot_id = "boot-1"}).has_value());
  EXPECT_EQ(std::filesystem::status(fresh).permissions(), std::filesystem::perms(0700));
}

TEST_F(SqliteStore, DropsWhatAnEarlierBootLeft) {
  {
    auto store = open("boot-1");
    ASSERT_TRUE((*store)->put_attachment({.pod = "p", .interface = "net1"}).has_value());
    ASSERT_TRUE((*store)->put_baseline({.pf = PciAddress{0, 1, 0, 0}, .mtu = 9000}).has_value());
  }
  {
    EXPECT_EQ((*open("boot-1"))->attachments()->size(), 1u);
  }
  EXPECT_EQ(open("boot-2", true).error().to_string(),
            fmt::format("no state of this boot in {}: railbed has done nothing here since boot", directory_));
  auto store = open("boot-2");
  EXPECT_TRUE((*store)->attachments()->empty());
  EXPECT_TRUE((*store)->baselines()->empty());
}

TEST_F(SqliteStore, SaysWhatToDoWithADamagedFile) {
  {
    ASSERT_TRUE(open().has_value());
  }
  std::string path = directory_ + "/state.db";
  std::filesystem::remove(path + "-wal");  // it has copies of all pages, and SQLite would repair the file with them
  {
    std::ofstream(path, std::ios::trunc) << std::string(8192, 'x');
  }
  auto store = open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(
      store.error().to_string(),
      fmt::format("state file {0}/state.db: PRAGMA journal_mode = WAL: file is not a database\n"
                  "  stop the agent, move the file and its log away (mkdir {0}/damaged && mv {0}/state.db* "
                  "{0}/damaged/) and start it again: it sets aside the addresses that interfaces in pods have, and "
                  "reads from disk what executed plugins have to undo. Devices in pods return when their network "
                  "namespaces end. The original settings of PFs are lost: `railbed down` leaves them unchanged",
                  directory_));
}

// Moving only the file away leaves its log: its pages must not come back in the new file.
TEST_F(SqliteStore, DoesNotTakeTheLogOfAnotherFile) {
  {
    auto store = open();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE((*store)->put_pod({.pod = fmt::format("p{}", i)}).has_value());
  }
  ASSERT_GT(std::filesystem::file_size(directory_ + "/state.db-wal"), 0u);
  std::filesystem::rename(directory_ + "/state.db", directory_ + "/state.db.damaged");
  auto store = open();
  ASSERT_TRUE(store.has_value()) << store.error().to_string();
  EXPECT_TRUE((*store)->pods()->empty());
  ASSERT_TRUE((*store)->put_pod({.pod = "new"}).has_value());
  store->reset();
  EXPECT_EQ((*open())->pods()->size(), 1u);
}

// Configurations have secrets, which must not stay longer than the record does: neither in a page nor in the log.
TEST_F(SqliteStore, KeepsNothingOfWhatWasForgotten) {
  const std::string secret = "eyJhbGciOi.SECRET";
  const auto files_with_it = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      count += std::string(std::istreambuf_iterator<char>(file), {}).find(secret) != std::string::npos;
    }
    return count;
  };
  auto store = open();
  Attachment record{.pod = "p", .interface = "exec:eth0#0", .type = "exec:calico"};
  record.undo = std::string(20'000, '-') + secret;  // longer than a page
  ASSERT_TRUE((*store)->put_attachment(record).has_value());
  record.status = AttachmentStatus::kAttached;
  ASSERT_TRUE((*store)->put_attachment(record).has_value());
  record.interface = "exec:eth0#1";
  record.undo = secret;
  ASSERT_TRUE((*store)->put_attachment(record).has_value());
  EXPECT_GT(files_with_it(), 0);
  ASSERT_TRUE((*store)->forget_attachment("p", "exec:eth0#0").has_value());
  ASSERT_TRUE((*store)->forget_attachment("p", "exec:eth0#1").has_value());
  ASSERT_TRUE((*store)->scrub().has_value());
  EXPECT_EQ(files_with_it(), 0);
  // Beside a reader nothing waits and nothing is wrong.
  auto reader = open("boot-1", true);
  ASSERT_TRUE((*reader)->pods().has_value());
  EXPECT_TRUE((*store)->scrub().has_value());
}

TEST_F(SqliteStore, NoticesDamageInside) {
  {
    auto store = open();
    for (int i = 0; i < 500; ++i)
      ASSERT_TRUE((*store)->put_note(fmt::format("key{}", i), std::string(100, 'v')).has_value());
  }
  {
    std::fstream file(directory_ + "/state.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0, std::ios::end);
    auto size = file.tellp();
    ASSERT_GT(size, 32768);
    file.seekp(16384);
    file << std::string(static_cast<size_t>(size) - 16384 - 4096, '\xff');
  }
  auto store = open();
  ASSERT_FALSE(store.has_value());
  EXPECT_THAT(store.error().to_string(), testing::HasSubstr("damaged"));
  EXPECT_THAT(store.error().hint, testing::HasSubstr("/damaged/) and start it again"));
}

// --- versions: an update of railbed and its return keep what pods have

constexpr int64_t kThisSchema = 4;

class SqliteVersions : public SqliteStore {
 protected:
  // The file of the fixture, as the version before this one left it.
  void put_schema_3() {
    std::filesystem::create_directories(directory_);
    std::ifstream file(testdata() / "state" / "schema-3.sql");
    const std::string sql(std::istreambuf_iterator<char>(file), {});
    ASSERT_FALSE(sql.empty());
    sql_on_file(sql);
  }
  void sql_on_file(const std::string& sql) {
    auto db = Database::open(directory_ + "/state.db", false);
    ASSERT_TRUE(db.has_value());
    auto done = (*db)->script(sql.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }
  static std::vector<std::string> lines_of(Database& db, const char* sql) {
    std::vector<std::string> all;
    EXPECT_TRUE(db.each(sql, {}, [&](const Row& row) -> Result<void> {
                    all.push_back(row.text(0));
                    return {};
                  }).has_value());
    return all;
  }
  std::vector<std::string> lines(const char* sql) {
    auto db = Database::open(directory_ + "/state.db", false);
    return lines_of(**db, sql);
  }
  void expect_the_pod() {
    auto store = open();
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    auto records = *(*store)->attachments_of("default/p@c1");
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].interface, "exec:eth0#0");
    EXPECT_THAT(records[0].undo, testing::HasSubstr("k8s-pod-network"));
    EXPECT_EQ(records[1].interface, "net1");
    EXPECT_EQ(records[1].status, AttachmentStatus::kAttached);
    EXPECT_EQ((*store)->all_leases()->size(), 1u);
    EXPECT_EQ((*store)->pods()->size(), 1u);
    EXPECT_EQ((*store)->notes("meta/")->size(), 1u);
  }
};

TEST_F(SqliteVersions, ReadsWhatTheVersionBeforeWrote) {
  put_schema_3();
  ASSERT_TRUE(open("boot-1", true).has_value());
  expect_the_pod();
  EXPECT_THAT(lines("SELECT value FROM meta WHERE key = 'schema'"), testing::ElementsAre("4"));
}

// The version before reads a file whose `user_version` is its own, and inserts into its tables by position: they must
// have its columns, in its order, and no other.
TEST_F(SqliteVersions, WritesWhatTheVersionBeforeReads) {
  put_schema_3();
  const std::vector<std::string> tables = lines("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  ASSERT_EQ(tables.size(), 8u);
  const char* columns =
      "SELECT m.name || ' ' || c.cid || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" FROM sqlite_master m "
      "JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid";
  const std::vector<std::string> before = lines(columns);
  {
    ASSERT_TRUE(open().has_value());
  }
  EXPECT_THAT(lines("PRAGMA user_version"), testing::ElementsAre("3"));
  EXPECT_EQ(lines(columns), before);
  std::filesystem::remove_all(directory_);
  {
    ASSERT_TRUE(open().has_value());  // a new file is the same
  }
  EXPECT_THAT(lines("PRAGMA user_version"), testing::ElementsAre("3"));
  EXPECT_EQ(lines(columns), before);
}

// A version after this one that only adds: it raises `schema`, and the lowest reader stays.
TEST_F(SqliteVersions, ReadsAndWritesWhatANewerVersionAddedTo) {
  put_schema_3();
  {
    ASSERT_TRUE(open().has_value());
  }
  sql_on_file(
      "BEGIN; UPDATE meta SET value = '5' WHERE key = 'schema';"
      "CREATE TABLE tomorrow (key TEXT PRIMARY KEY) STRICT; INSERT INTO tomorrow VALUES ('kept');"
      "ALTER TABLE attachment ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
      "ALTER TABLE lease ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
      "ALTER TABLE pod ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
      "ALTER TABLE baseline ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
      "ALTER TABLE note ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
      "ALTER TABLE meta ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
      "PRAGMA user_version = 4; COMMIT;");
  expect_the_pod();
  {
    auto store = open();
    ASSERT_TRUE((*store)->put_attachment({.pod = "q", .interface = "net1"}).has_value());
    ASSERT_TRUE((*store)->put_lease({"pool", *IpAddress::parse("10.0.0.9"), "q", "net1"}).has_value());
    ASSERT_TRUE((*store)->put_pod({.pod = "q"}).has_value());
    ASSERT_TRUE((*store)->put_baseline({.pf = PciAddress{0, 1, 0, 0}}).has_value());
    ASSERT_TRUE((*store)->put_note("key", "value").has_value());
  }
  {
    ASSERT_TRUE(open("boot-2").has_value());
  }
  EXPECT_THAT(lines("SELECT key FROM tomorrow"), testing::ElementsAre("kept"));
  EXPECT_THAT(lines("SELECT value FROM meta WHERE key = 'schema'"), testing::ElementsAre("5"));
  EXPECT_THAT(lines("PRAGMA user_version"), testing::ElementsAre("4"));
}

TEST_F(SqliteVersions, RefusesWhatItCannotRead) {
  struct Case {
    std::string sql;
    std::string message;
  };
  const Case cases[] = {
      {fmt::format("PRAGMA user_version = {}", kThisSchema + 1),
       "state file {}/state.db was written by a newer railbed, and only schema 5 or newer can read it (this one knows 4)\n"
       "  install that version again, or drain this node and reboot it: the state ends with the boot"},
      {"PRAGMA user_version = 2",
       "state file {}/state.db was written by a railbed that is too old (schema 2, this one reads 3 and newer)\n"
       "  start an intermediate version first, or drain this node and reboot it: the state ends with the boot"},
  };
  for (const Case& one : cases) {
    std::filesystem::remove_all(directory_);
    put_schema_3();
    sql_on_file(one.sql);
    const std::string message = fmt::format(fmt::runtime(one.message), directory_);
    EXPECT_EQ(open().error().to_string(), message);
    EXPECT_EQ(open("boot-1", true).error().to_string(), message);
  }
}

// A child writes an attachment and its lease in one transaction, again and again, and reports each commit through a
// pipe. It is killed at a random moment: every reported commit must be there, and no half of one.
TEST_F(SqliteStore, LosesNothingAndHalvesNothingWhenKilled) {
  std::mt19937 random(20240817);
  int total = 0;
  for (int round = 0; round < 25; ++round) {
    int reported[2];
    ASSERT_EQ(pipe(reported), 0);
    pid_t child = fork();
    if (child == 0) {
      auto store = open();
      for (int i = 0;; ++i) {
        std::string interface = fmt::format("net{}-{}", round, i);
        auto open_transaction = Transaction::begin(**store);
        bool ok = (*store)->put_attachment({.pod = "p", .interface = interface}).has_value() &&
                  (*store)
                      ->put_lease({"pool", *IpAddress::from_v4(0x0a000000).plus(round * 65536 + i), "p", interface})
                      .has_value() &&
                  open_transaction->commit().has_value();
        if (!ok || write(reported[1], "c", 1) != 1) _exit(1);
      }
    }
    close(reported[1]);
    int wanted = std::uniform_int_distribution(1, 40)(random);
    char byte;
    for (int i = 0; i < wanted; ++i) ASSERT_EQ(read(reported[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(reported[0], &byte, 1) == 1) ++wanted;
    close(reported[0]);
    total += wanted;

    auto store = open();
    ASSERT_TRUE(store.has_value()) << store.error().to_string();
    auto attachments = *(*store)->attachments();
    auto leases = *(*store)->leases("pool");
    ASSERT_EQ(attachments.size(), leases.size());
    for (size_t i = 0; i < leases.size(); ++i) ASSERT_EQ(attachments[i].interface, leases[i].interface);
    // The child can die between a commit and its report, at most once per round.
    ASSERT_GE(static_cast<int>(attachments.size()), total);
    ASSERT_LE(static_cast<int>(attachments.size()), total + 1);
    total = static_cast<int>(attachments.size());
  }
}

// The writer keeps the rows in memory; a reader shows whether the file has the same.
TEST_F(SqliteStore, KeepsInMemoryWhatTheFileSays) {
  auto store = open();
  ASSERT_TRUE(store.has_value()) << store.error().to_string();
  std::mt19937 random(7);
  auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  auto change = [&] {
    std::string pod = fmt::format("default/p{}", pick(3));
    std::string interface = fmt::format("net{}", pick(3));
    AddressLease lease{"pool", *IpAddress::parse(fmt::format("10.0.0.{}", pick(9))), pod, interface};
    switch (pick(4)) {
      case 0:
        return (*store)->forget_attachment(pod, interface);
      case 1:
        return (*store)->forget_leases(pod, interface);
      case 2:
        (void)(*store)->put_lease(lease);  // Conflict where another pod has it
        return Result<void>{};
      default:
        return (*store)->put_attachment({.pod = pod,
                                         .interface = interface,
                                         .netns = fmt::format("/run/netns/{}", pick(9)),
                                         .network = fmt::format("default/rail{}", pick(9)),
                                         .type = "sriov",
                                         .status = static_cast<AttachmentStatus>(pick(3)),
                                         .device = fmt::format("0000:01:10.{}", pick(8)),
                                         .resource = "openshift.io/rail",
                                         .undo = std::string(static_cast<size_t>(pick(3)), 'u'),
                                         .result = std::string(static_cast<size_t>(pick(2)) * 900, 'r')});
    }
  };
  for (int round = 0; round < 150; ++round) {
    {  // the destructor undoes it without commit()
      auto transaction = Transaction::begin(**store);
      ASSERT_TRUE(transaction.has_value());
      for (int i = pick(5); i >= 0; --i) ASSERT_TRUE(change().has_value());
      if (pick(3) > 0) {
        ASSERT_TRUE(transaction->commit().has_value());
      }
    }
    auto reader = open("boot-1", true);
    ASSERT_TRUE(reader.has_value()) << reader.error().to_string();
    EXPECT_EQ(*(*store)->attachments(), *(*reader)->attachments()) << "round " << round;
    EXPECT_EQ(*(*store)->all_leases(), *(*reader)->all_leases()) << "round " << round;
    EXPECT_EQ(*(*store)->leases("pool"), *(*reader)->all_leases()) << "round " << round;
  }
}

}  // namespace
}  // namespace railbed::state

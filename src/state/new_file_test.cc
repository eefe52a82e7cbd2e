// SPDX-License-Identifier: Apache-2.0
#include "state/new_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testdata.h"
#include "state/schema.h"
#include "state/sqlite.h"

namespace railbed::state {
namespace {

namespace fs = std::filesystem;

class NewFile : public testing::Test {
 protected:
  NewFile() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~NewFile() override { fs::remove_all(folder); }
  const fs::path folder = testing::TempDir() + fmt::format("railbed-new-file-{}", getpid());
  const std::string path = folder / "state.db";
};

std::vector<std::string> answers(Database& db, const char* sql) {
  std::vector<std::string> all;
  const Result<void> asked = db.each(sql, {}, [&](const Row& row) -> Result<void> {
    all.push_back(row.text(0));
    return {};
  });
  EXPECT_TRUE(asked.has_value()) << sql << ": " << asked.error().to_string();
  return all;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(NewFile, IsWhatSqliteMakesOfTheTables) {
  EXPECT_EQ(make_file(path, true).value(), Origin::kMade);
  const auto made = Database::open(path, false).value();
  EXPECT_EQ(answers(*made, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  EXPECT_EQ(answers(*made, "PRAGMA journal_mode"), std::vector<std::string>{"wal"});
  EXPECT_EQ(answers(*made, "PRAGMA user_version"), std::vector{std::to_string(kMinReader)});
  EXPECT_EQ(answers(*made, "SELECT key || ' ' || value FROM meta"), std::vector{fmt::format("schema {}", kSchema)});

  const auto by_script = Database::open(folder / "script.db", false).value();
  ASSERT_TRUE(by_script->script(kTables).has_value());
  const char* schema = "SELECT type || name || tbl_name || ifnull(sql, '') FROM sqlite_schema ORDER BY rowid";
  EXPECT_GT(answers(*made, schema).size(), 8U);
  EXPECT_EQ(answers(*made, schema), answers(*by_script, schema));
}

TEST_F(NewFile, IsForItsOwnerAloneAndNothingIsBesideIt) {
  std::ofstream(path + ".new") << "half of one that was killed";
  const mode_t before = ::umask(0);
  EXPECT_EQ(make_file(path, false).value(), Origin::kMade);
  ::umask(before);
  EXPECT_EQ(bytes_of(path), empty_state());
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(fs::exists(path + ".new"));
}

TEST_F(NewFile, LeavesWhatIsThere) {
  std::ofstream(path) << "";
  EXPECT_EQ(make_file(path, true).value(), Origin::kFound);
  EXPECT_EQ(bytes_of(path), "");
  fs::remove(path);
  fs::create_symlink("nowhere", path);
  EXPECT_EQ(make_file(path, true).value(), Origin::kFound);
  EXPECT_TRUE(fs::is_symlink(path));
}

// As a full disk would, after a part of it.
TEST_F(NewFile, ThatCannotBeWrittenWholeIsNotThere) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 5000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<Origin> made = make_file(path, true);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().to_string(), fmt::format("write {}.new: EFBIG (File too large)", path));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(NewFile, SaysWhereNoneCanBeMade) {
  const Result<Origin> made = make_file(folder / "nowhere/state.db", true);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().to_string(),
            fmt::format("write {}/nowhere/state.db.new: ENOENT (No such file or directory)", folder.string()));
}

}  // namespace
}  // namespace railbed::state

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <sstream>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "state/kept_rows.h"
#include "state/lock.h"
#include "state/new_file.h"
#include "state/schema.h"
#include "state/sqlite.h"
#include "state/store.h"
#include "state/witness.h"

namespace railbed::state {
namespace {

constexpr int64_t kOldestRead = 3;  // of an older one, tables are missing

constexpr const char* kDropContent =
    "DELETE FROM baseline; DELETE FROM step; DELETE FROM pod; DELETE FROM attachment; DELETE FROM lease;"
    "DELETE FROM block; DELETE FROM note;";

const std::string kStepStatus[] = {"begun", "done", "failed"};
const std::string kAttachmentStatus[] = {"begun", "attached", "detaching"};

template <typename Enum, size_t N>
Enum from_text(const std::string (&names)[N], const std::string& text) {
  return static_cast<Enum>(std::ranges::find(names, text) - names);
}

template <typename T, typename Read>
Result<std::vector<T>> query_all(Database& db, const char* sql, const std::vector<Bound>& values, Read read) {
  std::vector<T> all;
  TRY(db.each(sql, values, [&](const Row& row) -> Result<void> {
    Result<T> one = read(row);
    if (!one.has_value()) return fail(std::move(one.error()));
    all.push_back(std::move(*one));
    return {};
  }));
  return all;
}

Result<std::string> read_text(const Row& row) {
  return row.text(0);
}
Result<int64_t> read_integer(const Row& row) {
  return row.integer(0);
}
// One line per VF: index, driver, MTU, administrative MAC, with "-" for none.
std::string vfs_text(const std::vector<VfBaseline>& vfs) {
  std::string text;
  for (const VfBaseline& vf : vfs)
    text += fmt::format("{} {} {} {}\n", vf.index, vf.driver.empty() ? "-" : vf.driver, vf.mtu,
                        vf.admin_mac ? vf.admin_mac->to_string() : "-");
  return text;
}
Result<std::vector<VfBaseline>> parse_vfs(const std::string& text) {
  std::vector<VfBaseline> vfs;
  std::istringstream lines(text);
  VfBaseline vf;
  std::string mac;
  while (lines >> vf.index.value >> vf.driver >> vf.mtu >> mac) {
    if (vf.driver == "-") vf.driver.clear();
    vf.admin_mac.reset();
    if (mac != "-") vf.admin_mac = TRY(MacAddress::parse(mac));
    vfs.push_back(vf);
  }
  return vfs;
}
Result<PfBaseline> read_baseline(const Row& row) {
  return PfBaseline{.pf = TRY(PciAddress::parse(row.text(0))),
                    .pf_name = row.text(1),
                    .num_vfs = static_cast<int>(row.integer(2)),
                    .autoprobe = row.integer(3) != 0,
                    .mtu = static_cast<int>(row.integer(4)),
                    .up = row.integer(5) != 0,
                    .eswitch_mode = parse_eswitch_mode(row.text(6)),
                    .vfs = TRY(parse_vfs(row.text(7)))};
}
struct NumberedAttachment {
  KeptRows::Number number = 0;
  Attachment attachment;
};
Result<NumberedAttachment> read_attachment(const Row& row) {
  return NumberedAttachment{row.integer(10),
                            {.pod = row.text(0),
                             .interface = row.text(1),
                             .netns = row.text(2),
                             .network = row.text(3),
                             .type = row.text(4),
                             .status = from_text<AttachmentStatus>(kAttachmentStatus, row.text(5)),
                             .device = row.text(6),
                             .resource = row.text(7),
                             .undo = row.text(8),
                             .result = row.text(9)}};
}
Result<AddressLease> read_lease(const Row& row) {
  return AddressLease{row.text(0), TRY(IpAddress::parse(row.text(1))), row.text(2), row.text(3)};
}

Result<AddressBlock> read_block(const Row& row) {
  return AddressBlock{row.text(0), {TRY(IpAddress::parse(row.text(1))), TRY(IpAddress::parse(row.text(2)))}};
}

// The lock of a shared store, and whether other processes wrote before it was taken.
class FileHold : public Hold {
 public:
  FileHold(std::shared_ptr<FileLock> lock, bool changed) : lock_(std::move(lock)), changed_(changed) {}
  bool changed() const override { return changed_; }

 private:
  std::shared_ptr<FileLock> lock_;
  bool changed_;
};

std::string path_in(const std::string& directory) {
  return directory + "/state.db";
}

// Which file it is, whatever its name.
struct FileId {
  dev_t device = 0;
  ino_t number = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};
std::optional<FileId> file_at(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return std::nullopt;
  return FileId{about.st_dev, about.st_ino};
}

// Only root may use a directory that is made here. One that exists keeps its permissions; the files in it have their
// own.
Result<void> make_folder(const std::string& directory) {
  std::error_code failure;
  if (std::filesystem::create_directories(directory, failure))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, failure);
  if (failure) return fail(system_error(failure.value(), "mkdir " + directory));
  return {};
}

bool in_memory(const std::string& directory) {
  struct statfs about{};
  return statfs(directory.c_str(), &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

// A log without its file is of a file that was moved away: SQLite would write it into the new one.
Result<void> remove_log_of_none(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::exists(path, problem) || problem) return {};
  for (const char* beside : {"-wal", "-shm", "-journal"})
    if (std::filesystem::remove(path + beside, problem); problem)
      return fail(system_error(problem.value(), "remove " + path + beside));
  return {};
}

// A killed process loses nothing in either mode. Only a power cut can, and the state is void after a boot; but outside
// of memory the file survives the boot and must stay readable.
Result<void> prepare(Database& db, const OpenOptions& options) {
  TRY(db.script("PRAGMA journal_mode = WAL"));
  TRY(db.script(in_memory(options.directory) ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = NORMAL"));
  return db.script("PRAGMA secure_delete = ON");
}

// Who may write: the process that has the lock, the thread that has a Hold, no one, or the owner of the object, since
// it has no file.
enum class Access : uint8_t { kLocked, kShared, kReadOnly, kNoFile };

class SqliteStore : public Store {
 public:
  SqliteStore(Access access, std::optional<FileLock> lock, std::unique_ptr<Database> db, OpenOptions options,
              Origin origin = Origin::kFound)
      : access_(access),
        lock_(std::move(lock)),
        db_(std::move(db)),
        options_(std::move(options)),
        file_(access_ == Access::kNoFile ? std::nullopt : file_at(path())) {
    if (access_ != Access::kNoFile) witness_.emplace(options_.directory, options_.boot_id);
    if (origin == Origin::kMade) kept_.emplace();  // without rows
  }

  Result<std::unique_ptr<Hold>> hold(std::chrono::milliseconds wait) override {
    if (access_ != Access::kShared) return std::unique_ptr<Hold>(new NoHold);
    std::shared_ptr<FileLock> lock;
    {
      std::lock_guard mutex(mutex_);
      lock = held_.lock();
    }
    if (lock == nullptr) lock = std::make_shared<FileLock>(TRY(take_lock(wait)));
    TRY(put_back());
    int64_t version =
        TRY(query<int64_t>("PRAGMA data_version", {}, read_integer)).front();  // counts only others' commits
    std::lock_guard mutex(mutex_);
    held_ = lock;
    bool changed = version != data_version_;
    data_version_ = version;
    if (changed) kept_.reset();
    return std::unique_ptr<Hold>(new FileHold(std::move(lock), changed));
  }

  bool take_written_again() override { return written_again_.exchange(false); }

  Result<std::optional<PfBaseline>> baseline(PciAddress pf) override {
    std::vector<PfBaseline> all = TRY(baselines());
    for (PfBaseline& one : all)
      if (one.pf == pf) return std::optional(std::move(one));
    return std::optional<PfBaseline>{};
  }
  Result<std::vector<PfBaseline>> baselines() override {
    std::vector<PfBaseline> all = TRY(query<PfBaseline>(
        "SELECT pf, pf_name, num_vfs, autoprobe, mtu, up, eswitch_mode, vfs FROM baseline", {}, read_baseline));
    std::ranges::sort(all, {}, &PfBaseline::pf);
    return all;
  }
  Result<void> put_baseline(const PfBaseline& b) override {
    std::lock_guard lock(mutex_);
    return db_->run(
        "INSERT INTO baseline (pf, pf_name, num_vfs, autoprobe, mtu, up, eswitch_mode, vfs) VALUES (?, ?, ?, ?, ?, ?, ?, "
        "?) ON CONFLICT DO NOTHING",
        {b.pf.to_string(), b.pf_name, b.num_vfs, b.autoprobe, b.mtu, b.up,
         std::string(eswitch_mode_name(b.eswitch_mode)), vfs_text(b.vfs)});
  }
  Result<void> forget_baseline(PciAddress pf) override {
    std::lock_guard lock(mutex_);
    return db_->run("DELETE FROM baseline WHERE pf = ?", {pf.to_string()});
  }

  Result<void> put_step(const StepRecord& s) override {
    std::lock_guard lock(mutex_);
    return db_->run(
        "INSERT INTO step (id, pf, policy, description, status, error) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO "
        "UPDATE SET pf = excluded.pf, policy = excluded.policy, description = excluded.description, status = "
        "excluded.status, error = excluded.error",
        {s.id, s.pf.to_string(), s.policy, s.description, kStepStatus[static_cast<int>(s.status)], s.error});
  }
  Result<void> forget_steps(PciAddress pf) override {
    std::lock_guard lock(mutex_);
    return db_->run("DELETE FROM step WHERE pf = ?", {pf.to_string()});
  }
  Result<std::vector<StepRecord>> steps() override {
    return query<StepRecord>("SELECT id, pf, policy, description, status, error FROM step ORDER BY number", {},
                             [](const Row& row) -> Result<StepRecord> {
                               return StepRecord{.id = row.text(0),
                                                 .pf = TRY(PciAddress::parse(row.text(1))),
                                                 .policy = row.text(2),
                                                 .description = row.text(3),
                                                 .status = from_text<StepRecord::Status>(kStepStatus, row.text(4)),
                                                 .error = row.text(5)};
                             });
  }

  Result<void> put_pod(const PodRecord& pod) override {
    std::lock_guard lock(mutex_);
    return db_->run("INSERT OR REPLACE INTO pod (pod, netns, netns_name, netns_ours) VALUES (?, ?, ?, ?)",
                    {pod.pod, pod.netns, pod.netns_name, pod.netns_ours});
  }
  Result<void> forget_pod(const std::string& pod) override {
    std::lock_guard lock(mutex_);
    return db_->run("DELETE FROM pod WHERE pod = ?", {pod});
  }
  Result<std::vector<PodRecord>> pods() override {
    return query<PodRecord>("SELECT pod, netns, netns_name, netns_ours FROM pod ORDER BY pod", {},
                            [](const Row& row) -> Result<PodRecord> {
                              return PodRecord{row.text(0), row.text(1), row.text(2), row.integer(3) != 0};
                            });
  }

  Result<void> put_attachment(const Attachment& a) override {
    std::lock_guard lock(mutex_);
    KeptRows* kept = TRY(rows());
    const std::string& status = kAttachmentStatus[static_cast<int>(a.status)];
    KeptRows::Number number = 0;
    const Attachment* row = kept->find(a.pod, a.interface, number);
    if (row == nullptr) {
      TRY(
          db_->run("INSERT INTO attachment (pod, interface, netns, network, type, status, device, resource, undo, "
                   "result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   {a.pod, a.interface, a.netns, a.network, a.type, status, a.device, a.resource, a.undo, a.result}));
      kept->put(db_->last_row(), a);
      return count();
    }
    if (*row == a) return {};
    if (only_progress(*row, a))
      TRY(db_->run("UPDATE attachment SET status = ?, result = ? WHERE number = ?", {status, a.result, number}));
    else
      TRY(
          db_->run("UPDATE attachment SET netns = ?, network = ?, type = ?, status = ?, device = ?, resource = ?, undo "
                   "= ?, result = ? WHERE number = ?",
                   {a.netns, a.network, a.type, status, a.device, a.resource, a.undo, a.result, number}));
    kept->put(number, a);
    return count();
  }
  Result<void> forget_attachment(const std::string& pod, const std::string& interface) override {
    std::lock_guard lock(mutex_);
    KeptRows* kept = TRY(rows());
    KeptRows::Number number = 0;
    if (kept->find(pod, interface, number) == nullptr) return {};
    TRY(db_->run("DELETE FROM attachment WHERE number = ?", {number}));
    kept->forget(number);
    return count();
  }
  Result<std::vector<Attachment>> attachments() override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->all();
  }
  Result<std::vector<Attachment>> attachments_of(const std::string& pod) override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->of(pod);
  }
  Result<std::vector<std::string>> sandboxes_of(const std::string& container) override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->sandboxes_of(container);
  }
  Result<std::vector<Attachment>> attachments_with(const std::string& device) override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->with(device);
  }

  Result<void> put_lease(const AddressLease& lease) override {
    std::lock_guard lock(mutex_);
    KeptRows* kept = TRY(rows());
    const AddressLease* found = kept->lease(lease.pool, lease.address);
    if (found != nullptr && *found == lease) return {};
    if (found != nullptr) return fail(lease_taken(*found));
    TRY(db_->run("INSERT INTO lease (pool, address, pod, interface) VALUES (?, ?, ?, ?)",
                 {lease.pool, lease.address.to_string(), lease.pod, lease.interface}));
    kept->put(lease);
    return count();
  }
  Result<void> forget_leases(const std::string& pod, const std::string& interface) override {
    std::lock_guard lock(mutex_);
    KeptRows* kept = TRY(rows());
    for (const AddressLease& lease : kept->leases_of(pod)) {
      if (lease.interface != interface) continue;
      TRY(db_->run("DELETE FROM lease WHERE pool = ? AND address = ?", {lease.pool, lease.address.to_string()}));
      kept->forget(lease);
    }
    return count();
  }
  Result<std::vector<AddressLease>> leases(const std::string& pool) override {
    std::vector<AddressLease> all = TRY(all_leases());
    std::erase_if(all, [&](const AddressLease& lease) { return lease.pool != pool; });
    return all;
  }
  Result<std::vector<AddressLease>> all_leases() override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->leases();
  }
  Result<std::vector<AddressLease>> leases_of(const std::string& pod) override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->leases_of(pod);
  }

  Result<void> put_block(const AddressBlock& block) override {
    std::lock_guard lock(mutex_);
    KeptRows* kept = TRY(rows());
    if (std::ranges::count(kept->blocks(block.pool), block.addresses) > 0) return {};
    TRY(db_->run("INSERT INTO block (pool, first, last) VALUES (?, ?, ?)",
                 {block.pool, block.addresses.first.to_string(), block.addresses.last.to_string()}));
    kept->put(block);
    return {};
  }
  Result<void> forget_block(const AddressBlock& block) override {
    std::lock_guard lock(mutex_);
    KeptRows* kept = TRY(rows());
    TRY(db_->run("DELETE FROM block WHERE pool = ? AND first = ? AND last = ?",
                 {block.pool, block.addresses.first.to_string(), block.addresses.last.to_string()}));
    kept->forget(block);
    return {};
  }
  Result<std::vector<IpRange>> blocks(const std::string& pool) override {
    std::lock_guard lock(mutex_);
    return TRY(rows())->blocks(pool);
  }

  Result<void> put_note(const std::string& key, const std::string& value) override {
    std::lock_guard lock(mutex_);
    return db_->run("INSERT OR REPLACE INTO note (key, value) VALUES (?, ?)", {key, value});
  }
  Result<std::optional<std::string>> note(const std::string& key) override {
    std::vector<std::string> found = TRY(query<std::string>("SELECT value FROM note WHERE key = ?", {key}, read_text));
    return found.empty() ? std::nullopt : std::optional(found.front());
  }
  Result<void> forget_note(const std::string& key) override {
    std::lock_guard lock(mutex_);
    return db_->run("DELETE FROM note WHERE key = ?", {key});
  }
  Result<std::vector<Note>> notes(const std::string& prefix) override {
    std::string end = prefix;
    ++end.back();
    return query<Note>("SELECT key, value FROM note WHERE key >= ? AND key < ? ORDER BY key", {prefix, end},
                       [](const Row& row) -> Result<Note> { return Note(row.text(0), row.text(1)); });
  }

  // What is deleted is overwritten (secure_delete), but the log still has the pages as they were.
  Result<void> scrub() override {
    std::lock_guard lock(mutex_);
    return db_->empty_log();
  }

  Result<void> begin() override {
    mutex_.lock();
    Result<void> begun = in_transaction_ ? Result<void>(fail(Code::kInternal, "state: begin() inside begin()"))
                                         : db_->run("BEGIN IMMEDIATE");
    if (!begun.has_value()) {
      mutex_.unlock();
      return begun;
    }
    in_transaction_ = true;
    return {};
  }
  Result<void> commit() override {
    Result<uint64_t> generation = std::exchange(counts_, false) ? count_on() : Result<uint64_t>(0);
    Result<void> done = generation.has_value() ? db_->run("COMMIT") : fail(std::move(generation.error()));
    if (!done.has_value()) {
      [[maybe_unused]] auto undone = db_->run("ROLLBACK");
      kept_.reset();
    } else if (*generation != 0) {
      witness_->write(*generation);
    }
    in_transaction_ = false;
    mutex_.unlock();
    return done;
  }
  void rollback() override {
    [[maybe_unused]] auto undone = db_->run("ROLLBACK");
    kept_.reset();
    counts_ = false;
    in_transaction_ = false;
    mutex_.unlock();
  }

 private:
  std::string path() const { return path_in(options_.directory); }

  // The lock file is in the folder that may have been removed.
  Result<FileLock> take_lock(std::chrono::milliseconds wait) const {
    const std::string file = options_.directory + "/lock";
    Result<FileLock> lock = FileLock::take(file, options_.command, wait);
    if (lock.has_value() || lock.error().code != Code::kNotFound) return lock;
    TRY(make_folder(options_.directory));
    return FileLock::take(file, options_.command, wait);
  }

  // Somebody may remove a folder below /run while pods live. Needs the lock. The database that is open here has no name
  // any more, but all of its content.
  Result<void> put_back() {
    std::lock_guard lock(mutex_);
    const std::optional<FileId> there = file_at(path());
    if (there == file_) return {};
    if (there.has_value())
      return fail(
          Error{.code = Code::kConflict,
                .message = fmt::format("{} was replaced by another file while this process had it open", path()),
                .hint = "restart the agent: it continues with the existing file and reserves the addresses of pods "
                        "that are missing in it"});
    TRY(remove_log_of_none(path()));
    const std::string fresh = path() + ".new";
    std::error_code problem;
    std::filesystem::remove(fresh, problem);
    TRY(db_->copy_to(fresh));
    std::unique_ptr<Database> db = TRY(Database::open(fresh, false));
    TRY(prepare(*db, options_));
    db.reset();
    std::filesystem::rename(fresh, path(), problem);
    if (problem) return fail(system_error(problem.value(), "rename " + fresh));
    db_ = TRY(Database::open(path(), false));
    TRY(prepare(*db_, options_));
    file_ = file_at(path());
    data_version_ = -1;
    witness_->reopen();
    TRY(count());
    written_again_ = true;
    return {};
  }

  // One more change of attachments and leases (witness.h): with the transaction, or at once.
  Result<void> count() {
    if (!witness_.has_value()) return {};
    counts_ = in_transaction_;
    if (!in_transaction_) witness_->write(TRY(count_on()));
    return {};
  }
  Result<uint64_t> count_on() {
    const std::vector<int64_t> now = TRY(query<int64_t>(
        "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation' RETURNING CAST(value AS INTEGER)",
        {}, read_integer));
    return now.empty() ? 0 : static_cast<uint64_t>(now.front());
  }

  // A reader without the lock reads the file each time, because the writer goes on meanwhile.
  Result<KeptRows*> rows() {
    if (kept_.has_value() && access_ != Access::kReadOnly) return &*kept_;
    kept_.reset();
    KeptRows read;
    for (NumberedAttachment& row : TRY(query<NumberedAttachment>(
             "SELECT pod, interface, netns, network, type, status, device, resource, undo, result, number FROM "
             "attachment ORDER BY number",
             {}, read_attachment)))
      read.put(row.number, row.attachment);
    for (AddressLease& lease :
         TRY(query<AddressLease>("SELECT pool, address, pod, interface FROM lease", {}, read_lease)))
      read.put(lease);
    for (AddressBlock& block :
         TRY(query<AddressBlock>("SELECT pool, first, last FROM block ORDER BY number", {}, read_block)))
      read.put(block);
    kept_ = std::move(read);
    return &*kept_;
  }

  template <typename T, typename Read>
  Result<std::vector<T>> query(const char* sql, const std::vector<Bound>& values, Read read) {
    std::lock_guard lock(mutex_);
    return query_all<T>(*db_, sql, values, read);
  }

  Access access_;
  std::optional<FileLock> lock_;  // closed after the database, so declared before it
  std::unique_ptr<Database> db_;
  OpenOptions options_;
  int64_t data_version_ = -1;
  std::weak_ptr<FileLock> held_;  // while a Hold is there
  std::recursive_mutex mutex_;    // held from begin() to commit() or rollback()
  bool in_transaction_ = false;
  bool counts_ = false;         // the transaction changes attachments or leases
  std::optional<FileId> file_;  // that is open
  std::atomic<bool> written_again_ = false;
  std::optional<Witness> witness_;  // of a file
  std::optional<KeptRows> kept_;
};

Result<int64_t> user_version(Database& db) {
  return TRY(query_all<int64_t>(db, "PRAGMA user_version", {}, read_integer)).front();
}

// Empty when there is none.
Result<std::string> boot_id_of(Database& db) {
  auto found = TRY(query_all<std::string>(db, "SELECT value FROM meta WHERE key = 'boot_id'", {}, read_text));
  return found.empty() ? "" : found.front();
}

// The version that wrote the file, of which `min_reader` is in its header.
Result<int64_t> written_by(Database& db, int64_t min_reader) {
  auto found = TRY(query_all<std::string>(db, "SELECT value FROM meta WHERE key = 'schema'", {}, read_text));
  int64_t schema = min_reader;
  if (!found.empty()) std::from_chars(found.front().data(), found.front().data() + found.front().size(), schema);
  return schema;
}

Result<void> check_version(Database& db, int64_t min_reader, const std::string& path) {
  constexpr const char* kWayOut = "or drain this node and reboot it: the state ends with the boot";
  if (min_reader > kSchema)
    return fail(
        Error{.code = Code::kConflict,
              .message = fmt::format("state file {} was written by a newer railbed, and only schema {} or newer "
                                     "can read it (this one knows {})",
                                     path, min_reader, kSchema),
              .hint = fmt::format("install that version again, {}", kWayOut)});
  if (const int64_t schema = TRY(written_by(db, min_reader)); schema < kOldestRead)
    return fail(Error{.code = Code::kConflict,
                      .message = fmt::format("state file {} was written by a railbed that is too old (schema {}, this "
                                             "one reads {} and newer)",
                                             path, schema, kOldestRead),
                      .hint = fmt::format("start an intermediate version first, {}", kWayOut)});
  return {};
}

// The file as this version writes it. A newer version's stays as it is.
Result<void> migrate(Database& db, int64_t min_reader) {
  if (TRY(written_by(db, min_reader)) >= kSchema) return {};
  // From 3 to 4 there is nothing to change in the tables.
  TRY(db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)", {std::to_string(kSchema)}));
  return db.script(fmt::format("PRAGMA user_version = {}", kMinReader).c_str());
}

Result<void> check_damage(Database& db, const std::string& path) {
  const std::string damage = TRY(query_all<std::string>(db, "PRAGMA quick_check(1)", {}, read_text)).front();
  if (damage == "ok") return {};
  return fail(Error{.code = Code::kIo,
                    .message = fmt::format("state file {} is damaged: {}", path, damage),
                    .hint = advice_after_damage(path)});
}

// Compares the file with its witness (witness.h), and goes on from the higher of both.
Result<void> count_from_witness(Database& db, const OpenOptions& options) {
  const auto found =
      TRY(query_all<int64_t>(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'generation'", {}, read_integer));
  const auto counted = static_cast<uint64_t>(found.empty() ? 0 : found.front());
  const uint64_t witnessed = Witness(options.directory, options.boot_id).read();
  if (!found.empty() && counted >= witnessed) return {};
  TRY(db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('generation', ?)",
             {std::to_string(std::max(counted, witnessed))}));
  if (counted >= witnessed) return {};
  return db.run("INSERT OR REPLACE INTO note (key, value) VALUES (?, ?)",
                {std::string(kLostItsEnd), fmt::format("{} of {}", counted, witnessed)});
}

Result<void> set_up(Database& db, const std::string& path, Origin origin, const OpenOptions& options) {
  TRY(prepare(db, options));
  // In a file that was made a moment ago, under the lock that is still held, there is nothing to look at.
  if (origin == Origin::kMade) {
    TRY(db.run("INSERT INTO meta (key, value) VALUES ('boot_id', ?)", {options.boot_id}));
    return count_from_witness(db, options);
  }
  TRY(check_damage(db, path));
  TRY(db.run("BEGIN IMMEDIATE"));
  int64_t min_reader = TRY(user_version(db));
  // Of a version that made its file in several steps, and was killed between them.
  if (min_reader == 0) TRY(db.script(kTables));
  if (min_reader != 0) TRY(check_version(db, min_reader, path));
  TRY(migrate(db, min_reader));
  if (TRY(boot_id_of(db)) != options.boot_id) {
    TRY(db.script(kDropContent));
    TRY(db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('boot_id', ?)", {options.boot_id}));
  }
  TRY(count_from_witness(db, options));
  return db.run("COMMIT");
}

Result<std::unique_ptr<Store>> open_read_only(const std::string& path, const OpenOptions& options) {
  std::error_code problem;
  const bool there = std::filesystem::exists(path, problem);
  if (problem)
    return Result<std::unique_ptr<Store>>(fail(system_error(problem.value(), "look at " + path))).hint("run as root");
  if (!there)
    return fail(Code::kNotFound, "no state in {}: railbed has done nothing here since boot", options.directory);
  std::unique_ptr<Database> db = TRY(Database::open(path, true));
  int64_t min_reader = TRY(user_version(*db));
  if (min_reader != 0) TRY(check_version(*db, min_reader, path));
  if (min_reader == 0 || TRY(boot_id_of(*db)) != options.boot_id)
    return fail(Code::kNotFound, "no state of this boot in {}: railbed has done nothing here since boot",
                options.directory);
  return std::make_unique<SqliteStore>(Access::kReadOnly, std::nullopt, std::move(db), options);
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(const OpenOptions& options) {
  const std::string path = path_in(options.directory);
  if (options.read_only) return open_read_only(path, options);
  TRY(make_folder(options.directory));
  FileLock lock = TRY(FileLock::take(options.directory + "/lock", options.command, options.lock_wait));
  TRY(remove_log_of_none(path));
  const Origin origin = TRY(make_file(path, in_memory(options.directory)));
  std::unique_ptr<Database> db = TRY(Database::open(path, false));
  TRY(set_up(*db, path, origin, options));
  if (options.shared)  // the lock is needed for the setup only
    return std::make_unique<SqliteStore>(Access::kShared, std::nullopt, std::move(db), options);
  return std::make_unique<SqliteStore>(Access::kLocked, std::move(lock), std::move(db), options, origin);
}

std::unique_ptr<Store> memory_store() {
  Result<std::unique_ptr<Database>> db = Database::in_memory();
  RAILBED_CHECK(db.has_value());  // fails without memory only
  const Result<void> made = (*db)->script(kTables);
  RAILBED_CHECK(made.has_value());
  return std::make_unique<SqliteStore>(Access::kNoFile, std::nullopt, std::move(*db), OpenOptions{}, Origin::kMade);
}

}  // namespace railbed::state

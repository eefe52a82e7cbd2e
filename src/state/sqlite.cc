// SPDX-License-Identifier: Apache-2.0
#include "state/sqlite.h"

#include <cerrno>
#include <mutex>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"

namespace railbed::state {
namespace {

// A reader may have to wait for a checkpoint, a writer for the recovery after a killed process: milliseconds each.
constexpr int kBusyTimeoutMs = 2000;

// SQLite counts its memory, with a lock and a look at the size of every piece, for limits that are not used here.
void count_no_memory() {
  static std::once_flag once;
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

// Creates the file before SQLite does: configurations in it have secrets, and everybody who can read it can lock it.
// SQLite gives its log and index the same permissions. A file that exists is not opened here: closing it would drop the
// locks that another connection of this process has on it (fcntl(2)).
Result<void> make_private(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0)
    ::close(fd);
  else if (errno != EEXIST)
    return fail(system_error(errno, "open " + path));
  for (const char* beside : {"", "-wal", "-shm"}) {
    const std::string name = path + beside;
    if (::fchmodat(AT_FDCWD, name.c_str(), 0600, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
      return fail(system_error(errno, "chmod " + name));
  }
  return {};
}

}  // namespace

std::string advice_after_damage(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  const std::string aside = directory + "/damaged";
  // A pattern is no word: only what is before its '*' is quoted.
  const std::string move = fmt::format("mv {}* {}", shell_quoted(path), shell_quoted(aside + "/"));
  return fmt::format(
      "stop the agent, move the file and its log away ({} && {}) and start it again: it sets aside the addresses that "
      "interfaces in pods have, and reads from disk what executed plugins have to undo. Devices in pods return when "
      "their network namespaces end. The original settings of PFs are lost: `railbed down` leaves them unchanged",
      Command{"mkdir"}.path(aside), move);
}

std::string Row::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

int64_t Row::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

Error Database::error(int code, std::string_view doing) const {
  Error error{.code = Code::kIo,
              .message = fmt::format("state file {}: {}: {}", path_, doing,
                                     db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_))};
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      error.hint = advice_after_damage(path_);
      break;
    case SQLITE_BUSY:
      error.code = Code::kBusy;
      break;
    case SQLITE_FULL:
      error.hint = "the file system is full: free some space there";
      break;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      error.code = Code::kDenied;
      error.hint = "run as root";
      break;
    default:
      break;
  }
  return error;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, bool read_only) {
  if (!read_only) TRY(make_private(path));
  return connect(path, read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<std::unique_ptr<Database>> Database::in_memory() {
  return connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<std::unique_ptr<Database>> Database::connect(const std::string& path, int flags) {
  count_no_memory();
  sqlite3* db = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(db, path));
  if (code != SQLITE_OK) return fail(database->error(code, "opening it"));
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
  // SQLite deletes the log at the end otherwise, and a reader who may not create files could not open the database.
  int keep = 1;
  sqlite3_file_control(db, nullptr, SQLITE_FCNTL_PERSIST_WAL, &keep);
  return database;
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

Result<void> Database::script(const char* sql) {
  int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error(code, sql));
  return {};
}

Result<void> Database::run(const char* sql, const std::vector<Bound>& values) {
  return each(sql, values, [](const Row&) { return Result<void>{}; });
}

Result<void> Database::copy_to(const std::string& path) {
  TRY(make_private(path));
  return each("VACUUM INTO ?", {path}, [](const Row&) { return Result<void>{}; });
}

Result<void> Database::empty_log() {
  // Readers are not waited for.
  sqlite3_busy_timeout(db_, 0);
  const int code = sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) return fail(error(code, "emptying its log"));
  return {};
}

int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(db_);
}

Result<sqlite3_stmt*> Database::prepare(const char* sql, const std::vector<Bound>& values) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr) {
    int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return fail(error(code, sql));
  }
  int position = 0;
  for (const Bound& value : values) {
    ++position;
    int code = value.text() == nullptr ? sqlite3_bind_int64(statement, position, value.number())
                                       : sqlite3_bind_text(statement, position, value.text()->data(),
                                                           static_cast<int>(value.text()->size()), SQLITE_STATIC);
    if (code != SQLITE_OK) return fail(error(code, sql));
  }
  return statement;
}

Result<bool> Database::step(sqlite3_stmt* statement, const char* sql) {
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(error(code, sql));
}

void Database::reset(sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

}  // namespace railbed::state

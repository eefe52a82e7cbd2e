// SPDX-License-Identifier: Apache-2.0
// SQLite behind Result: a connection and its cached statements.
//
// Why: the store needs six operations of SQLite, and its errors as railbed's errors.
// Threading: one thread at a time (the store serialises).
// Failure: Io with SQLite's text; a damaged file has a hint with the remedy.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace railbed::state {

// One row of an answer; valid inside the callback of Database::each.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  std::string text(int column) const;
  int64_t integer(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// A value to bind: text or integer.
class Bound {
 public:
  Bound(const std::string& text) : text_(&text) {}
  Bound(std::integral auto number) : number_(static_cast<int64_t>(number)) {}
  const std::string* text() const { return text_; }
  int64_t number() const { return number_; }

 private:
  const std::string* text_ = nullptr;
  int64_t number_ = 0;
};

// What to do with a damaged file, so that nothing of it leads to an address that a running pod has.
std::string advice_after_damage(const std::string& path);

class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::string& path, bool read_only);
  static Result<std::unique_ptr<Database>> in_memory();  // empty, and without a file
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs several statements without parameters or answers.
  Result<void> script(const char* sql);
  // Runs one statement. `sql` must live as long as the database (a literal): its text is the key of the cache. The
  // texts of `values` are not copied.
  Result<void> run(const char* sql, const std::vector<Bound>& values = {});
  // Writes all of it to another file, which must not be there; only its owner may read that.
  Result<void> copy_to(const std::string& path);
  // Writes the log into the file and empties it, unless somebody reads.
  Result<void> empty_log();
  int64_t last_row() const;  // the key of the last inserted row
  // Calls `row` for each row; stops at its first error.
  template <typename OnRow>
  Result<void> each(const char* sql, const std::vector<Bound>& values, OnRow row) {
    sqlite3_stmt* statement = TRY(prepare(sql, values));
    Result<void> outcome;
    while (outcome.has_value()) {
      Result<bool> more = step(statement, sql);
      if (!more.has_value()) outcome = fail(std::move(more.error()));
      if (!more.has_value() || !*more) break;
      outcome = row(Row(statement));
    }
    reset(statement);
    return outcome;
  }

 private:
  Database(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  static Result<std::unique_ptr<Database>> connect(const std::string& path, int flags);
  Result<sqlite3_stmt*> prepare(const char* sql, const std::vector<Bound>& values);
  Result<bool> step(sqlite3_stmt* statement, const char* sql);
  static void reset(sqlite3_stmt* statement);
  Error error(int code, std::string_view doing) const;

  sqlite3* db_;
  std::string path_;
  std::map<std::string_view, sqlite3_stmt*> statements_;
};

}  // namespace railbed::state

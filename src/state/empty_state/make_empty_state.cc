// SPDX-License-Identifier: Apache-2.0
// Run while railbed is built: writes the state file without content, as SQLite makes it of schema.h, as an array in
// C++.
//
//   make_empty_state FOLDER     FOLDER/empty_state.cc, and a database beside it that is removed
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <sqlite3.h>

#include "state/schema.h"

namespace railbed::state {
namespace {

// In one transaction, so that its log has each page once; closing moves the log into the file. Rows have some hundred
// bytes, and the log gets whole pages: with the usual 4 KiB four times as much would be copied and summed at each
// write.
bool make(const std::string& path) {
  std::remove(path.c_str());
  sqlite3* db = nullptr;
  const std::string script = fmt::format(
      "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; BEGIN; {} INSERT INTO meta (key, value) VALUES ('schema', '{}');"
      "PRAGMA user_version = {}; COMMIT;",
      kTables, kSchema, kMinReader);
  const bool made = sqlite3_open(path.c_str(), &db) == SQLITE_OK &&
                    sqlite3_exec(db, script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  if (!made) fmt::print(stderr, "make_empty_state: {}: {}\n", path, sqlite3_errmsg(db));
  return sqlite3_close(db) == SQLITE_OK && made;
}

std::string as_source(const std::string& bytes) {
  std::string text =
      "// Written by make_empty_state.cc.\n#include \"state/new_file.h\"\n\nnamespace railbed::state {\n\n"
      "static constexpr unsigned char kBytes[] = {";
  for (size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{}{},", i % 32 == 0 ? "\n" : "", static_cast<unsigned char>(bytes[i]));
  return text +
         "\n};\n\nstd::string_view empty_state() {\n  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};\n}"
         "\n\n}  // namespace railbed::state\n";
}

int run(const std::string& folder) {
  const std::string path = folder + "/empty_state.db";
  if (!make(path)) return 1;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  std::ofstream source(folder + "/empty_state.cc");
  source << as_source(bytes);
  source.close();
  return bytes.empty() || !source ? 1 : 0;
}

}  // namespace
}  // namespace railbed::state

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return railbed::state::run(argv[1]);
}

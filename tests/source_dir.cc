// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/testdata.h"

namespace railbed {

// Found from the program's own place (build/tests/doc_test) and not compiled in: equal programs of two clones have
// equal bytes then, which the compiler cache and the record of tests/run rely on.
const char* source_dir() {
  static const std::string found = [] {
    namespace fs = std::filesystem;
    if (const char* given = std::getenv("RAILBED_SOURCE_DIR")) return std::string(given);
    std::error_code error;
    fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    while (folder.has_relative_path() && !fs::exists(folder / "testdata", error)) folder = folder.parent_path();
    return folder.string();
  }();
  return found.c_str();
}

}  // namespace railbed

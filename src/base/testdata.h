// SPDX-License-Identifier: Apache-2.0
// For tests: the location of the source tree, and comparison with its files.
//
// The path of the tree is derived from the path of the program, so no object contains the path of a clone: ccache can
// share objects between clones in different folders. RAILBED_SOURCE_DIR sets another tree.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace railbed {

// The root of the source tree. The text lives as long as the program, and static initializers may ask for it.
const char* source_dir();

inline std::filesystem::path testdata() {
  return std::filesystem::path(source_dir()) / "testdata";
}

// A whole file; empty when it cannot be read.
inline std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Compares `text` with the file and reports the first line that differs. With RAILBED_UPDATE set, writes the file.
inline void expect_golden(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("RAILBED_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::istringstream expected(content(path));
  std::istringstream actual(text);
  if (expected.str() == text) return;
  std::string wanted;
  std::string line;
  for (int number = 1;; ++number) {
    bool more_expected = static_cast<bool>(std::getline(expected, wanted));
    bool more_actual = static_cast<bool>(std::getline(actual, line));
    if (more_expected && more_actual && wanted == line) continue;
    FAIL() << path << ":" << number
           << " differs (RAILBED_UPDATE=1 rewrites it)\n  expected: " << (more_expected ? wanted : "the end")
           << "\n  now:      " << (more_actual ? line : "the end");
  }
}

}  // namespace railbed

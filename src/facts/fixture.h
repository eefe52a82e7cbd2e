// SPDX-License-Identifier: Apache-2.0
// For tests: fixture machines and expected files below testdata/.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "facts/collect.h"
#include "facts/machine_file.h"
#include "os/recorded.h"

namespace railbed::facts::testing_fixture {

inline std::filesystem::path testdata() {
  return std::filesystem::path(RAILBED_SOURCE_DIR) / "testdata";
}

inline std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

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

inline CollectOptions options() {
  return {.pci_ids = testdata() / "discover/pci.ids"};
}

// The facts of a machine written in a few lines (machine_file.h).
inline NodeFacts facts_of(std::string_view machine) {
  auto files = parse_machine(machine, "machine");
  EXPECT_TRUE(files.has_value()) << (files ? "" : files.error().to_string());
  if (!files) return {};
  auto kernel = os::recorded_kernel_over(std::move(*files));
  EXPECT_TRUE(kernel.has_value()) << (kernel ? "" : kernel.error().to_string());
  return kernel ? collect(**kernel, options()) : NodeFacts{};
}

}  // namespace railbed::facts::testing_fixture

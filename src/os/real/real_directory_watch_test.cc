// SPDX-License-Identifier: Apache-2.0
// Names that come and go in a real folder.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/ports/directory_watch.h"

namespace railbed::os {
namespace {

Deadline in(int ms) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
}

TEST(DirectoryWatch, ReportsWhatComesAndGoes) {
  std::string pattern = (std::filesystem::temp_directory_path() / "railbed-watch.XXXXXX").string();
  const std::string folder = std::string(mkdtemp(pattern.data())) + "/folder";
  auto watch = real_directory_watch();
  ASSERT_TRUE(watch.has_value());
  EXPECT_EQ((*watch)->watch(folder).error().code, Code::kNotFound);
  std::filesystem::create_directory(folder);
  ASSERT_TRUE((*watch)->watch(folder));
  EXPECT_EQ((*watch)->next(in(0)).error().code, Code::kTimeout);
  std::ofstream(folder + "/a") << "";
  std::filesystem::rename(folder + "/a", folder + "/b");
  EXPECT_TRUE((*watch)->next(in(5000)));
  EXPECT_EQ((*watch)->next(in(0)).error().code, Code::kTimeout);  // reported once
  std::filesystem::remove(folder + "/b");
  EXPECT_TRUE((*watch)->next(in(5000)));
  std::filesystem::remove(folder);
  EXPECT_TRUE((*watch)->next(in(5000)));
  EXPECT_EQ((*watch)->watch(folder).error().code, Code::kNotFound);
  std::filesystem::create_directory(folder);  // made again
  ASSERT_TRUE((*watch)->watch(folder));
  std::ofstream(folder + "/c") << "";
  EXPECT_TRUE((*watch)->next(in(5000)));
  (*watch)->wake();
  EXPECT_TRUE((*watch)->next(in(5000)));
  std::filesystem::remove_all(std::filesystem::path(folder).parent_path());
}

}  // namespace
}  // namespace railbed::os

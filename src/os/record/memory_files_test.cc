// SPDX-License-Identifier: Apache-2.0
#include "os/record/memory_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "os/real/path_walk.h"

namespace railbed::os {
namespace {

namespace fs = std::filesystem;

TEST(MemoryFiles, BehavesAsFiles) {
  MemoryFiles files;
  EXPECT_TRUE(files.put_file("/sys/devices/pci/vendor", "0x15b3\n"));
  EXPECT_TRUE(files.put_link("/sys/class/net/eth0", "../../devices/pci"));
  EXPECT_FALSE(files.put_file("/sys/class/net/eth0/x", ""));      // below a link
  EXPECT_FALSE(files.put_file("/sys/devices/pci/vendor/x", ""));  // below a file
  EXPECT_FALSE(files.put_file("/sys/../etc/passwd", ""));
  EXPECT_EQ(read_line(files, "/sys/class/net/eth0/vendor"), "0x15b3");
  EXPECT_EQ(files.read_link("/sys/class/net/eth0"), "../../devices/pci");
  EXPECT_EQ(files.real_path("/sys/class/net/eth0/vendor"), "/sys/devices/pci/vendor");
  EXPECT_EQ(files.list("/sys"), (std::vector<std::string>{"class", "devices"}));
  EXPECT_EQ(files.write("/sys/devices/pci/vendor", "1").error().message,
            "write /sys/devices/pci/vendor: EROFS (Read-only file system)");
  EXPECT_EQ(files.write("/sys/devices/pci/nothing", "1").error().message,
            "write /sys/devices/pci/nothing: ENOENT (No such file or directory)");
  EXPECT_EQ(files.write("/sys/devices/pci", "1").error().message, "write /sys/devices/pci: EISDIR (Is a directory)");
  EXPECT_EQ(files.read("/sys/devices/pci").error().message, "read /sys/devices/pci: EISDIR (Is a directory)");
  EXPECT_EQ(files.read("").error().message, "read \"\": not a path");
  EXPECT_EQ(files.read("/sys/devices/pci/vendor/").error().message,
            "read /sys/devices/pci/vendor/: ENOTDIR (Not a directory)");
  EXPECT_EQ(files.list("/sys/devices/pci/vendor").error().message,
            "list /sys/devices/pci/vendor: ENOTDIR (Not a directory)");
  EXPECT_EQ(files.read_link("/sys/devices/pci/vendor").error().message,
            "readlink /sys/devices/pci/vendor: EINVAL (Invalid argument)");
  EXPECT_EQ(files.real_path("/sys/x").error().message, "resolve /sys/x: ENOENT (No such file or directory)");
  EXPECT_EQ(files.read("/sys/../../sys/./devices/pci/vendor"), "0x15b3\n");
  files.on_write([&](const std::string& path, std::string_view content) -> Result<void> {
    files.put_file(path, "wrote " + std::string(content));
    return {};
  });
  EXPECT_TRUE(files.write("/sys/class/net/eth0/vendor", "1").has_value());
  EXPECT_EQ(files.read("/sys/devices/pci/vendor"), "wrote 1");
  files.remove("/sys/devices");
  EXPECT_FALSE(files.exists("/sys/class/net/eth0"));
  EXPECT_EQ(files.read("/sys/class/net/eth0").error().message,
            "read /sys/class/net/eth0: ENOENT (No such file or directory)");
}

// As many links as the kernel follows (MAXSYMLINKS), and one more.
TEST(MemoryFiles, FollowsFortyLinks) {
  MemoryFiles files;
  EXPECT_TRUE(files.put_file("/l0", "end"));
  for (int i = 1; i <= 41; ++i) EXPECT_TRUE(files.put_link(fmt::format("/l{}", i), fmt::format("l{}", i - 1)));
  EXPECT_EQ(files.read("/l40"), "end");
  EXPECT_EQ(files.read("/l41").error().message, "read /l41: ELOOP (Too many levels of symbolic links)");
}

// The result of a call as one text.
template <typename T>
std::string said(const Result<T>& result) {
  if (!result) return result.error().message;
  if constexpr (std::is_same_v<T, std::string>)
    return *result;
  else
    return fmt::format("{}", fmt::join(*result, " "));
}

// The same random tree on disk and in memory gives the same answers.
RC_GTEST_PROP(MemoryFiles, AnswersAsTheRealOnes, ()) {
  auto part = rc::gen::element<std::string>("a", "b", "c", "..", ".");
  auto name = rc::gen::element<std::string>("a", "b", "c");
  std::string base = (fs::temp_directory_path() / "railbed-memory-XXXXXX").string();
  RC_ASSERT(mkdtemp(base.data()) != nullptr);
  MemoryFiles memory;
  for (int i = 0; i < 12; ++i) {
    auto names = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<size_t>(1, 4), name);
    std::string path = fmt::format("/{}", fmt::join(names, "/"));
    std::error_code ignored;
    if (memory.real_path(path).has_value() || memory.read_link(path).has_value()) continue;
    std::string parent = path.substr(0, path.rfind('/'));
    auto resolved = parent.empty() ? Result<std::string>("") : memory.real_path(parent);
    if (!parent.empty() && (!resolved || *resolved != parent)) continue;
    if (!parent.empty() && !memory.list(parent)) continue;
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        memory.put_directory(path);
        fs::create_directory(base + path, ignored);
        break;
      case 1:
        memory.put_file(path, path);
        std::ofstream(base + path) << path;
        break;
      default: {
        auto parts = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<size_t>(1, 4), part);
        std::string target = fmt::format("{}{}{}", *rc::gen::element<std::string>("", "/"), fmt::join(parts, "/"),
                                         *rc::gen::element<std::string>("", "", "/"));
        memory.put_link(path, target);
        fs::create_symlink(target, base + path, ignored);
      }
    }
  }
  auto real = real_files(base);
  std::vector<std::string> questions;
  for (int i = 0; i < 30; ++i) {
    auto parts = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<size_t>(1, 5), part);
    questions.push_back(fmt::format("/{}{}", fmt::join(parts, "/"), *rc::gen::element<std::string>("", "", "/")));
  }
  for (const std::string& path : questions) {
    RC_ASSERT(said(memory.read(path)) == said(real->read(path)));
    RC_ASSERT(said(memory.list(path)) == said(real->list(path)));
    RC_ASSERT(said(memory.read_link(path)) == said(real->read_link(path)));
    RC_ASSERT(said(memory.real_path(path)) == said(real->real_path(path)));
    RC_ASSERT(memory.exists(path) == real->exists(path));
  }
  fs::remove_all(base);
}

}  // namespace
}  // namespace railbed::os

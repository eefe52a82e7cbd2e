// SPDX-License-Identifier: Apache-2.0
#include "os/ports/file_tree.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/ports/held_folder.h"

namespace railbed::os {
namespace {

namespace fs = std::filesystem;

// A temporary directory with a small machine in it, and a secret file beside the root.
class RealFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "railbed-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    base_ = name;
    root_ = name + "/root";
    fs::create_directories(root_ + "/sys/devices/pci/net/eth0");
    fs::create_directories(root_ + "/sys/class/net");
    put("/sys/devices/pci/vendor", "0x15b3\n");
    put("/sys/devices/pci/bare", "0x1021");
    std::ofstream(base_ + "/secret") << "not yours";
    fs::create_symlink("../../devices/pci/net/eth0", root_ + "/sys/class/net/eth0");
    fs::create_symlink("../..", root_ + "/sys/devices/pci/net/eth0/device");
    fs::create_symlink("/sys/devices/pci", root_ + "/absolute");
    fs::create_symlink("../../../../../../secret", root_ + "/sys/escape");
    fs::create_symlink(base_ + "/secret", root_ + "/sys/escape2");
    files_ = real_files(root_);
  }
  void TearDown() override { fs::remove_all(base_); }

  void put(const std::string& path, const std::string& content) { std::ofstream(root_ + path) << content; }

  std::string base_;
  std::string root_;
  std::unique_ptr<FileTree> files_;
};

TEST_F(RealFilesTest, ReadsThroughLinksInsideTheRoot) {
  EXPECT_EQ(files_->read("/sys/devices/pci/vendor"), "0x15b3\n");
  EXPECT_EQ(files_->read("/sys/class/net/eth0/device/vendor"), "0x15b3\n");
  EXPECT_EQ(files_->read("/absolute/vendor"), "0x15b3\n");
  EXPECT_EQ(read_line(*files_, "/absolute/vendor"), "0x15b3");
  EXPECT_EQ(read_line(*files_, "/absolute/bare"), "0x1021");
}

// The kernel leaves errno as it was where nothing fails: an earlier EINTR is no reason to read again.
TEST_F(RealFilesTest, AnEmptyFileIsReadOnce) {
  put("/sys/devices/pci/empty", "");
  errno = EINTR;
  EXPECT_EQ(files_->read("/sys/devices/pci/empty"), "");
}

// Another of the same name is not what was looked up, and other threads have no part in what one holds.
TEST_F(RealFilesTest, AFolderThatIsHeldIsLookedUpOnce) {
  const auto machine = real_files("/");
  const std::string folder = root_ + "/sys/class/net/eth0/device";
  auto vendor = [&] { return read_line(*machine, folder + "/vendor").value_or("none"); };
  std::optional<HeldFolder> held(std::in_place, *machine, folder);
  fs::rename(root_ + "/sys/devices/pci", root_ + "/sys/devices/gone");
  fs::create_directories(root_ + "/sys/devices/pci/net/eth0");
  fs::create_symlink("../..", root_ + "/sys/devices/pci/net/eth0/device");
  put("/sys/devices/pci/vendor", "0x8086\n");
  fs::create_symlink("x", root_ + "/sys/devices/pci/link");
  EXPECT_EQ(vendor(), "0x15b3");
  EXPECT_FALSE(machine->exists(folder + "/link"));
  EXPECT_FALSE(machine->read_link(folder + "/link"));
  EXPECT_EQ(machine->list(folder + "/net"), std::vector<std::string>{"eth0"});
  EXPECT_TRUE(machine->exists(folder));
  std::string of_another;
  std::thread([&] { of_another = vendor(); }).join();
  EXPECT_EQ(of_another, "0x8086");
  EXPECT_EQ(files_->read("/sys/devices/pci/vendor"), "0x8086\n");
  held.reset();
  EXPECT_EQ(vendor(), "0x8086");
  EXPECT_EQ(machine->read_link(folder + "/link"), "x");
}

TEST_F(RealFilesTest, HoldsAreNested) {
  const auto machine = real_files("/");
  const HeldFolder outer(*machine, root_ + "/sys");
  std::optional<HeldFolder> inner(std::in_place, *machine, root_ + "/sys/class/net/eth0");
  EXPECT_EQ(read_line(*machine, root_ + "/sys/class/net/eth0/device/vendor"), "0x15b3");
  EXPECT_EQ(read_line(*machine, root_ + "/sys/devices/pci/bare"), "0x1021");
  inner.reset();
  EXPECT_EQ(read_line(*machine, root_ + "/sys/class/net/eth0/device/vendor"), "0x15b3");
  const HeldFolder none(*machine, root_ + "/sys/none");
  EXPECT_EQ(read_line(*machine, root_ + "/sys/none/vendor").error().story(),
            "read " + root_ + "/sys/none/vendor: ENOENT (No such file or directory)");
}

TEST_F(RealFilesTest, LinksDoNotLeaveTheRoot) {
  EXPECT_EQ(files_->read("/sys/escape").error().message, "read /sys/escape: ENOENT (No such file or directory)");
  EXPECT_EQ(files_->read("/sys/escape2").error().message, "read /sys/escape2: ENOENT (No such file or directory)");
  EXPECT_EQ(files_->read("/../secret").error().message, "read /../secret: ENOENT (No such file or directory)");
}

// Which device files refuse a second opening is up to their drivers; others are never in use.
TEST_F(RealFilesTest, AFileThatCanBeOpenedIsNotInUse) {
  EXPECT_EQ(files_->is_in_use("/sys/devices/pci/bare").value_or(true), false);
  EXPECT_EQ(files_->is_in_use("/dev/vfio/7").error().code, Code::kNotFound);
}

TEST_F(RealFilesTest, ErrorsNameTheCallAndThePath) {
  struct {
    Error error;
    Code code;
    std::string message;
  } cases[] = {
      {files_->read("/nowhere").error(), Code::kNotFound, "read /nowhere: ENOENT (No such file or directory)"},
      {files_->read("/sys").error(), Code::kInvalid, "read /sys: EISDIR (Is a directory)"},
      {files_->write("/sys/new", "1").error(), Code::kNotFound, "write /sys/new: ENOENT (No such file or directory)"},
      {files_->list("/none").error(), Code::kNotFound, "list /none: ENOENT (No such file or directory)"},
      {files_->list("/sys/devices/pci/bare").error(), Code::kInvalid,
       "list /sys/devices/pci/bare: ENOTDIR (Not a directory)"},
      {files_->read_link("/sys/devices/pci/bare").error(), Code::kInvalid,
       "readlink /sys/devices/pci/bare: EINVAL (Invalid argument)"},
      {files_->read_link("/sys/none").error(), Code::kNotFound,
       "readlink /sys/none: ENOENT (No such file or directory)"},
      {files_->real_path("/sys/none").error(), Code::kNotFound,
       "resolve /sys/none: ENOENT (No such file or directory)"},
      {files_->read("").error(), Code::kInvalid, "read \"\": not a path"},
      {real_files("/no/such/root")->read("/sys").error(), Code::kNotFound,
       "open /no/such/root: ENOENT (No such file or directory)"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.error.message, c.message);
    EXPECT_EQ(c.error.code, c.code) << c.message;
  }
}

TEST_F(RealFilesTest, ListsSortedAndResolves) {
  EXPECT_EQ(files_->list("/sys/devices/pci"), (std::vector<std::string>{"bare", "net", "vendor"}));
  EXPECT_EQ(files_->read_link("/sys/class/net/eth0"), "../../devices/pci/net/eth0");
  EXPECT_EQ(link_name(*files_, "/sys/class/net/eth0"), "eth0");
  EXPECT_EQ(files_->real_path("/sys/class/net/eth0/device"), "/sys/devices/pci");
  EXPECT_EQ(files_->real_path("/"), "/");
  EXPECT_TRUE(files_->exists("/sys/class/net/eth0/device/vendor"));
  EXPECT_FALSE(files_->exists("/sys/escape"));
}

TEST_F(RealFilesTest, WritesReplaceTheContent) {
  ASSERT_TRUE(files_->write("/sys/devices/pci/vendor", "7").has_value());
  EXPECT_EQ(files_->read("/sys/devices/pci/vendor"), "7");
}

TEST_F(RealFilesTest, RefusesWhatIsTooLarge) {
  put("/sys/large", std::string(kMaxFileBytes, 'x'));
  EXPECT_EQ(files_->read("/sys/large")->size(), kMaxFileBytes);
  put("/sys/large", std::string(kMaxFileBytes + 1, 'x'));
  EXPECT_EQ(files_->read("/sys/large").error().message, "read /sys/large: larger than 4194304 bytes");
}

TEST_F(RealFilesTest, DoesNotHangOnAPipe) {
  ASSERT_EQ(mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(files_->read("/pipe"), "");
  EXPECT_EQ(files_->write("/pipe", "x").error().code, Code::kNotFound);  // ENXIO: no reader
}

TEST(RealFiles, WholeMachine) {
  auto files = real_files("/");
  EXPECT_EQ(read_line(*files, "/proc/sys/kernel/ostype"), "Linux");
  EXPECT_TRUE(files->real_path("/sys/class/net/lo").value().starts_with("/sys/devices/"));
}

}  // namespace
}  // namespace railbed::os

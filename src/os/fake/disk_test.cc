// SPDX-License-Identifier: Apache-2.0
// One set of tests for the real disk and the fake one.
#include "os/ports/disk.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fake/disk.h"

namespace railbed::os {
namespace {

class DiskContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "fake")
      disk_ = std::make_unique<FakeDisk>();
    else
      disk_ = real_disk();
    root_ = testing::TempDir() + fmt::format("railbed-disk-{}", getpid());
    ASSERT_TRUE(disk_->make_directories(root_ + "/a/b", 0755).has_value());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::unique_ptr<Disk> disk_;
  std::string root_;
};

TEST_P(DiskContract, MakesWholeFilesOnce) {
  const std::string path = root_ + "/a/b/10.0.0.1";
  FileStamp empty = *disk_->stamp(root_ + "/a/b");
  ASSERT_TRUE(disk_->make_directories(root_ + "/a/b", 0755).has_value());
  ASSERT_TRUE(disk_->create(path, "one\r\nnet1", 0600).has_value());
  EXPECT_EQ(*disk_->read(path), "one\r\nnet1");
  EXPECT_EQ(disk_->create(path, "two", 0600).error().code, Code::kConflict);
  EXPECT_EQ(*disk_->read(path), "one\r\nnet1");
  EXPECT_NE(*disk_->stamp(root_ + "/a/b"), empty);
  ASSERT_TRUE(disk_->replace(path, "two", 0600).has_value());
  EXPECT_EQ(*disk_->read(path), "two");
  EXPECT_EQ(*disk_->list(root_ + "/a/b"), std::vector<std::string>{"10.0.0.1"});
  ASSERT_TRUE(disk_->overwrite(path, "10.0.0.200", 0600).has_value());
  ASSERT_TRUE(disk_->overwrite(path, "10.0.0.3", 0600).has_value());
  EXPECT_EQ(*disk_->read(path), "10.0.0.3");
  EXPECT_EQ(*disk_->list(root_ + "/a/b"), std::vector<std::string>{"10.0.0.1"});
  ASSERT_TRUE(disk_->remove(path).has_value());
  ASSERT_TRUE(disk_->remove(path).has_value());
  EXPECT_TRUE(disk_->list(root_ + "/a/b")->empty());
  EXPECT_EQ(disk_->read(path).error().code, Code::kNotFound);
  EXPECT_EQ(disk_->list(root_ + "/c").error().code, Code::kNotFound);
  EXPECT_EQ(disk_->create(root_ + "/c/x", "", 0600).error().code, Code::kNotFound);
  ASSERT_TRUE(disk_->overwrite(path, "new", 0600).has_value());
  EXPECT_EQ(*disk_->read(path), "new");
  EXPECT_EQ(disk_->overwrite(root_ + "/c/x", "", 0600).error().code, Code::kNotFound);
}

TEST_P(DiskContract, ReplacesDurably) {
  const std::string path = root_ + "/a/b/1.json";
  ASSERT_TRUE(disk_->replace_durably(path, "one", 0600).has_value());
  ASSERT_TRUE(disk_->replace_durably(path, "two", 0600).has_value());
  EXPECT_EQ(*disk_->read(path), "two");
  EXPECT_EQ(*disk_->list(root_ + "/a/b"), std::vector<std::string>{"1.json"});
  EXPECT_EQ(*disk_->list(root_ + "/a"), std::vector<std::string>{"b"});
  ASSERT_TRUE(disk_->remove(path).has_value());
  EXPECT_TRUE(disk_->sync_directory(root_ + "/a/b").has_value());
  EXPECT_EQ(disk_->replace_durably(root_ + "/c/x", "", 0600).error().code, Code::kNotFound);
  EXPECT_EQ(disk_->sync_directory(root_ + "/c").error().code, Code::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(Both, DiskContract, testing::Values("real", "fake"),
                         [](const auto& instance) { return instance.param; });

TEST(RealDisk, LocksOutOthersAndGivesModes) {
  std::unique_ptr<Disk> disk = real_disk();
  std::string root = testing::TempDir() + fmt::format("railbed-disklock-{}", getpid());
  ASSERT_TRUE(disk->make_directories(root, 0755).has_value());
  {
    auto mine = disk->lock(root + "/lock", std::chrono::milliseconds(0));
    ASSERT_TRUE(mine.has_value());
    auto other = disk->lock(root + "/lock", std::chrono::milliseconds(5));
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().code, Code::kBusy);
    EXPECT_EQ(other.error().message, fmt::format("another process has held {}/lock for 5 ms", root));
  }
  EXPECT_TRUE(disk->lock(root + "/lock", std::chrono::milliseconds(0)).has_value());
  ASSERT_TRUE(disk->create(root + "/file", "x", 0600).has_value());
  struct stat about{};
  ASSERT_EQ(stat((root + "/file").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  // Links are not followed, because another user may own the directory.
  ASSERT_EQ(symlink("/etc/passwd", (root + "/link").c_str()), 0);
  EXPECT_FALSE(disk->read(root + "/link").has_value());
  EXPECT_EQ(disk->create(root + "/link", "x", 0600).error().code, Code::kConflict);
  EXPECT_FALSE(disk->overwrite(root + "/link", "x", 0600).has_value());
  EXPECT_EQ(*disk->list(root), (std::vector<std::string>{"file", "link", "lock"}));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace railbed::os

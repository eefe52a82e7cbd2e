// SPDX-License-Identifier: Apache-2.0
// A DEL that keep() said to have is there after a power failure: every step that makes an entry is followed by the sync
// of the folder it is in, and a step that fails is reported. This program's fsync() is called instead of the C
// library's.
#include "journal.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
std::vector<std::string> synced;
size_t fails_at = SIZE_MAX;  // which fsync() of a case, from 0
}  // namespace

extern "C" int fsync(int fd) {
  const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
  if (synced.size() == fails_at) {
    errno = EIO;
    return -1;
  }
  // What a power failure leaves is what was there at the last sync.
  std::error_code none;
  synced.push_back(path + (std::filesystem::is_empty(path, none) ? " (empty)" : ""));
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace railbed::shim {
namespace {
namespace fs = std::filesystem;

class Journal : public ::testing::Test {
 protected:
  Journal() {
    std::string name = (fs::temp_directory_path() / "railbed-journal.XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    synced.clear();
    fails_at = SIZE_MAX;
  }
  ~Journal() override { fs::remove_all(root_); }

  std::string folder() const { return root_ + "/lib/pending-del"; }
  bool keep_one() { return keep(folder().c_str(), "a frame", problem_); }
  // Names of the files, and what is in them.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder(), missing)) {
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      out.push_back(entry.path().extension().string() + ": " + text.str());
    }
    return out;
  }
  // What was synced, below the root, without the names that say time and process.
  std::vector<std::string> story() const {
    std::vector<std::string> out;
    for (const std::string& path : synced) {
      const bool is_file = path.find(".del.new") != std::string::npos;
      out.push_back(is_file ? "file" + path.substr(path.find(".del.new") + 8) : path.substr(root_.size()));
    }
    return out;
  }

  std::string root_;
  std::string problem_;
};

TEST_F(Journal, IsOnTheDiskWithEveryFolderAboveBeforeItSaysSo) {
  EXPECT_TRUE(keep_one()) << problem_;
  EXPECT_EQ(story(), (std::vector<std::string>{"", "/lib", "file", "/lib/pending-del"}));
  EXPECT_EQ(files(), (std::vector<std::string>{".del: a frame"}));
}

TEST_F(Journal, SyncsNoFolderAboveOneThatIsThere) {
  fs::create_directories(folder());
  EXPECT_TRUE(keep_one()) << problem_;
  EXPECT_EQ(story(), (std::vector<std::string>{"file", "/lib/pending-del"}));
}

TEST_F(Journal, ReportsEachSyncThatFails) {
  for (size_t step = 0; step < 4; ++step) {
    fs::remove_all(root_ + "/lib");
    synced.clear();
    fails_at = step;
    EXPECT_FALSE(keep_one()) << step;
    EXPECT_THAT(problem_, ::testing::StartsWith("fsync " + root_));
    EXPECT_THAT(problem_, ::testing::HasSubstr("EIO"));
    // Only whole files are left: the caller asks again, and a DEL that is done twice does no harm.
    EXPECT_EQ(files(), step < 3 ? std::vector<std::string>() : std::vector<std::string>{".del: a frame"}) << step;
  }
}

TEST_F(Journal, TakesNoFolderForOneOnTheDiskAfterASyncThatFailed) {
  fails_at = 1;
  EXPECT_FALSE(keep_one());
  synced.clear();
  fails_at = SIZE_MAX;
  EXPECT_TRUE(keep_one()) << problem_;
  EXPECT_EQ(story(), (std::vector<std::string>{"/lib", "file", "/lib/pending-del"}));
}

}  // namespace
}  // namespace railbed::shim

// SPDX-License-Identifier: Apache-2.0
#include "agent/door/readiness.h"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "agent/door/service.h"
#include "agent/test_requests.h"

namespace railbed::agent {
namespace {

// A disk that is full, for a while.
class FullDisk : public os::FakeDisk {
 public:
  bool full = false;
  Result<void> replace(const std::string& path, std::string_view content, unsigned mode) override {
    if (full) return fail(system_error(ENOSPC, "write " + path));
    return os::FakeDisk::replace(path, content, mode);
  }
};

class ReadinessTest : public RequestTest {
 protected:
  FullDisk state_disk;
};

TEST_F(ReadinessTest, WhatAnAddNeedsIsTheSameForAll) {
  ASSERT_TRUE(state_disk.make_directories("/run/railbed", 0700).has_value());
  {
    Readiness readiness(engine, state_disk, "/run/railbed");
    EXPECT_THAT(readiness.reasons(), testing::IsEmpty());
    EXPECT_TRUE(state_disk.files().empty());
    EXPECT_TRUE(store->notes("probe/")->empty());
  }
  state_disk.full = true;
  Readiness readiness(engine, state_disk, "/run/railbed");
  const std::string full = "no space next to the state: write /run/railbed/.probe: ENOSPC (No space left on device)";
  EXPECT_THAT(readiness.reasons(), testing::ElementsAre(full));
  RequestStory story;
  const Reply reply = Service(backends, meta, &readiness)
                          .handle({.command = cni::Command::kStatus,
                                   .type = "macvlan",
                                   .config = R"({"cniVersion":"1.1.0","name":"n","type":"macvlan","master":"eth0"})"},
                                  story);
  ASSERT_FALSE(reply.result.has_value());
  EXPECT_EQ(reply.result.error(), cni::error_with(cni::kUnavailable, full, "run `railbed status` for details"));
  EXPECT_EQ(reply.version, "1.1.0");
}

// Every file of this process is full: what a full disk below the state is, for the length of a test.
class NoRoomForFiles {
 public:
  NoRoomForFiles() {
    getrlimit(RLIMIT_FSIZE, &was_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{.rlim_cur = 0, .rlim_max = was_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoRoomForFiles() {
    setrlimit(RLIMIT_FSIZE, &was_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit was_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(ReadinessTest, AStateThatCannotBeWrittenIsReported) {
  std::string folder = std::filesystem::temp_directory_path() / "railbed-readiness.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(state_disk.make_directories("/run/railbed", 0700).has_value());
  {
    auto file =
        *state::open_store({.directory = folder, .boot_id = "boot", .command = "railbed agent", .shared = true});
    Engine on_disk{kernel, *file, *blocks, durable};
    std::vector<std::string> reasons;
    {
      const NoRoomForFiles full;
      reasons = Readiness(on_disk, state_disk, "/run/railbed").reasons();
    }
    EXPECT_THAT(reasons, testing::ElementsAre(testing::StartsWith("writing the state failed: state file " + folder)));
    EXPECT_THAT(Readiness(on_disk, state_disk, "/run/railbed").reasons(), testing::IsEmpty());
  }
  std::filesystem::remove_all(folder);
}

TEST_F(ReadinessTest, WhatOthersSayCounts) {
  ASSERT_TRUE(state_disk.make_directories("/run/railbed", 0700).has_value());
  Readiness readiness(engine, state_disk, "/run/railbed");
  std::vector<std::string> reasons = {"pods are not known"};
  readiness.also([&] { return reasons; });
  EXPECT_THAT(readiness.reasons(), testing::ElementsAre("pods are not known"));
  readiness.also([] { return std::vector<std::string>{"and more"}; });
  EXPECT_THAT(readiness.reasons(), testing::ElementsAre("pods are not known", "and more"));
  reasons.clear();
  EXPECT_THAT(readiness.reasons(), testing::ElementsAre("and more"));
}

}  // namespace
}  // namespace railbed::agent

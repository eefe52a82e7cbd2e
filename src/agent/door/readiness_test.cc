// SPDX-License-Identifier: Apache-2.0
#include "agent/door/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const std::string full = "no room beside the state: write /run/railbed/.probe: ENOSPC (No space left on device)";
  EXPECT_THAT(readiness.reasons(), testing::ElementsAre(full));
  backends.readiness = &readiness;
  RequestStory story;
  const Reply reply =
      Service(backends).handle({.command = cni::Command::kStatus,
                                .type = "macvlan",
                                .config = R"({"cniVersion":"1.1.0","name":"n","type":"macvlan","master":"eth0"})"},
                               story);
  EXPECT_EQ(cni::read_failure(reply.output),
            (cni::Failure{cni::kUnavailable, full, "`railbed status` tells what happened since when"}));
}

TEST_F(ReadinessTest, WhatOthersSayCounts) {
  ASSERT_TRUE(state_disk.make_directories("/run/railbed", 0700).has_value());
  Readiness readiness(engine, state_disk, "/run/railbed");
  std::vector<std::string> reasons = {"pods are not known"};
  readiness.also([&] { return reasons; });
  EXPECT_THAT(readiness.reasons(), testing::ElementsAre("pods are not known"));
  reasons.clear();
  EXPECT_THAT(readiness.reasons(), testing::IsEmpty());
}

}  // namespace
}  // namespace railbed::agent

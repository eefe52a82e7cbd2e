// SPDX-License-Identifier: Apache-2.0
#include "node/netns_name.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::node {
namespace {

TEST(NetnsName, IsGuessable) {
  EXPECT_EQ(netns_name("llm/worker-0"), "railbed-llm-worker-0");
}

TEST(NetnsName, DistinguishesPodsWhoseNamesRunTogether) {
  EXPECT_NE(netns_name("a-b/c"), netns_name("a/b-c"));
  EXPECT_EQ(netns_name("a/b-c"), "railbed-a-b-c");
  EXPECT_NE(netns_name("a/b_c"), netns_name("a/b-c"));
}

RC_GTEST_PROP(NetnsName, IsAFileNameAndUnique, (std::string a, std::string b)) {
  std::string name = netns_name(a + "/" + b);
  RC_ASSERT(name.size() <= kMaxNetnsName);
  RC_ASSERT(name.find('/') == std::string::npos);
  RC_ASSERT(name.starts_with("railbed-"));
  RC_ASSERT(name != netns_name(a + "/" + b + "x"));
}

}  // namespace
}  // namespace railbed::node

// SPDX-License-Identifier: Apache-2.0
#include "node/resource_prefix.h"

#include <gtest/gtest.h>

namespace railbed::node {
namespace {

TEST(ResourcePrefixOfNode, IsTheOperatorsThenThatOfUpThenTheProgramsOwn) {
  struct Case {
    KnownPrefixes known;
    std::string chosen, conflict;
  };
  const Case cases[] = {
      {{"", ""}, "openshift.io", ""},
      {{"", "intel.com"}, "intel.com", ""},
      {{"nvidia.com", ""}, "nvidia.com", ""},
      {{"nvidia.com", "nvidia.com"}, "nvidia.com", ""},
      {{"nvidia.com", "intel.com"},
       "nvidia.com",
       "the operator says --resource-prefix nvidia.com, `up` was given intel.com: resources are named nvidia.com/…; "
       "repeat `up` without the option"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(one.known.chosen(kDefaultPrefix), one.chosen);
    EXPECT_EQ(one.known.conflict(), one.conflict);
  }
}

TEST(ResourcePrefixOfNode, IsKeptInTheState) {
  const auto store = state::memory_store();
  EXPECT_EQ(known_prefixes(nullptr).value().chosen("a"), "a");
  EXPECT_EQ(known_prefixes(store.get()).value().chosen("a"), "a");
  ASSERT_TRUE(keep_given_prefix(*store, "intel.com"));
  ASSERT_TRUE(keep_ordered_prefix(*store, "nvidia.com"));
  EXPECT_EQ(known_prefixes(store.get()).value().ordered, "nvidia.com");
  EXPECT_EQ(known_prefixes(store.get()).value().given, "intel.com");
  ASSERT_TRUE(keep_ordered_prefix(*store, ""));
  EXPECT_EQ(known_prefixes(store.get()).value().chosen("a"), "intel.com");
}

TEST(ResourcePrefixOfNode, IsCheckedWhereItIsGiven) {
  EXPECT_TRUE(check_prefix(""));
  EXPECT_TRUE(check_prefix("nvidia.com"));
  EXPECT_EQ(
      check_prefix("nvidia.com/rail0").error().message,
      "--resource-prefix: \"nvidia.com/rail0\" is not a valid resource prefix: lower-case letters, digits, '-' and "
      "'.', at most 244");
}

}  // namespace
}  // namespace railbed::node

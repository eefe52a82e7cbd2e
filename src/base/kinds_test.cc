// SPDX-License-Identifier: Apache-2.0
#include "base/kinds.h"

#include <set>

#include <gtest/gtest.h>

namespace railbed {
namespace {

TEST(KindTable, HasEachKindOnceAndWholeRowsOrNamesAlone) {
  std::set<std::string_view> names, paths;
  for (const Kind& kind : kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " has two rows";
    if (kind.plural.empty()) {
      EXPECT_TRUE(kind.group.empty() && kind.version.empty()) << kind.name << ": a part of the facts";
      EXPECT_EQ(kind.defined, KindDefined::kElsewhere) << kind.name;
      continue;
    }
    EXPECT_TRUE(paths.insert(kind.plural).second) << kind.plural << " is given twice";
    EXPECT_FALSE(kind.version.empty()) << kind.name;
    EXPECT_EQ(kind.plural.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << kind.plural;
  }
}

// Kubernetes' kinds are there without a definition, and railbed's own come with railbed alone.
TEST(KindTable, DefinitionsAreOfOursAndOfUpstreams) {
  for (const Kind& kind : kinds()) {
    const bool is_defined = kind.defined == KindDefined::kInDeploy;
    EXPECT_TRUE(is_defined || kind.owner != KindOwner::kOurs) << kind.name;
    EXPECT_TRUE(!is_defined || kind.owner == KindOwner::kOurs || kind.owner == KindOwner::kUpstream) << kind.name;
  }
}

TEST(KindTable, IsSearchedByName) {
  EXPECT_EQ(kind_named("Pod").api_version(), "v1");
  EXPECT_EQ(kind_named("AddressCell").api_version(), "railbed.dev/v1");
  EXPECT_EQ(kind_named("Lease").plural, "leases");
  EXPECT_EQ(find_kind("RayCluster")->plural, "") << "known by its name alone";
  EXPECT_EQ(find_kind("Frobnicator"), nullptr);
}

}  // namespace
}  // namespace railbed

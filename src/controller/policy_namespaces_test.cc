// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_namespaces.h"

#include <iterator>

#include <gtest/gtest.h>

#include "api/cluster_labels.h"

namespace railbed::controller {
namespace {

using NamespaceNames = std::set<std::string>;

TEST(PolicyNamespacesServed, AreItsOwnAndThoseOfTheListInWhichNoOtherOperatorRuns) {
  struct Case {
    const char* why;
    std::vector<std::string> listed;
    NamespaceNames running, served, taken;
  };
  const std::vector<std::string> known(std::begin(api::kPolicyNamespaces), std::end(api::kPolicyNamespaces));
  const Case cases[] = {
      {"no other operator",
       known,
       {},
       {"railbed", "openshift-sriov-network-operator", "nvidia-network-operator", "sriov-network-operator"},
       {}},
      {"one in one of them",
       known,
       {"nvidia-network-operator"},
       {"railbed", "openshift-sriov-network-operator", "sriov-network-operator"},
       {"nvidia-network-operator"}},
      {"one elsewhere is none of the list's", {"a"}, {"b"}, {"railbed", "a"}, {}},
      {"its own was chosen: nodes are taken over one by one", {"a"}, {"railbed"}, {"railbed", "a"}, {}},
      {"no list", {}, {}, {"railbed"}, {}},
      {"its own in the list", {"railbed"}, {"railbed"}, {"railbed"}, {}},
  };
  for (const Case& one : cases) {
    const PolicyNamespaces got = policy_namespaces("railbed", one.listed, one.running);
    EXPECT_EQ(got.served, one.served) << one.why;
    EXPECT_EQ(got.taken, one.taken) << one.why;
  }
}

TEST(PolicyNamespacesServed, SayWhyAPolicyDoesNotCount) {
  const PolicyNamespaces two = policy_namespaces("railbed", {"a", "b"}, {"b"});
  EXPECT_EQ(two.why_not("railbed"), "");
  EXPECT_EQ(two.why_not("a"), "");
  EXPECT_EQ(two.why_not("b"), "an SR-IOV operator runs in namespace b: its policies are that one's");
  EXPECT_EQ(two.why_not("team"),
            "policies count in namespaces a, railbed; move it there, or add team to the operator's "
            "--policy-namespaces");
  EXPECT_EQ(policy_namespaces("railbed", {}, {}).why_not("team"),
            "policies count in namespace railbed; move it there, or add team to the operator's --policy-namespaces");
}

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
// A node of the SR-IOV operator is taken over: its node state, as that operator wrote it, and VFs as its daemon left
// them, give nothing to do. What a policy had there goes with the policy.
#include <gtest/gtest.h>

#include "agent/cluster/test_node.h"
#include "base/testdata.h"
#include "kube/object.h"

namespace railbed::agent {
namespace {

os::FakeMachine machine() {
  os::FakeMachine out;
  out.pfs = {os::FakePf::mlx5(*PciAddress::parse("0000:3b:00.0"), "ens1f0"),
             os::FakePf::igb(*PciAddress::parse("0000:5e:00.0"), "ens2f0")};
  for (os::FakePf& pf : out.pfs) pf.up = true;
  out.pfs[0].num_vfs = 4;
  out.pfs[0].mtu = 9000;
  out.pfs[1].num_vfs = 2;
  out.pfs[1].vf_driver = "vfio-pci";
  return out;
}

class Takeover : public testing::Test {
 protected:
  // As the daemon leaves it: the MTU of VFs, and a file per PF.
  Takeover() {
    auto links = node.kernel.links().value();
    const std::vector<os::Link> all = links->list(os::WithVfs::kNo).value();
    for (const os::Link& link : all) {
      if (!link.name.value.starts_with("ens1f0v")) continue;
      EXPECT_TRUE(links->change(link.index, {.mtu = 9000}).has_value());
    }
    const facts::NodeFacts facts = node.facts();
    for (const facts::Nic& nic : facts.nics)
      node.kernel.put_file(fmt::format("/etc/sriov-operator/pci/{}", nic.pci.address), "{}");
    node.kernel.clear_journal();
  }

  TestNode node{machine()};
  doc::Value state = kube::parse_object(content(testdata() / "takeover/node-state.json")).value();
};

TEST_F(Takeover, ResetsNoVf) {
  node.pass(state);
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.reported("syncStatus"), "Succeeded") << node.reported("lastSyncError");
  EXPECT_EQ(node.reported("lastSyncError"), "") << "what the other one left there is overwritten";
  EXPECT_NE(node.reported().find("lastSyncError"), nullptr);
  EXPECT_EQ(node.offers.last(),
            "openshift.io/dpdk: 0000:5e:10.0 0000:5e:10.2\n"
            "openshift.io/rail0: 0000:3b:00.2 0000:3b:00.3\n"
            "openshift.io/rail0high: 0000:3b:00.4 0000:3b:00.5\n");
  EXPECT_TRUE(node.heard.events.empty());
}

TEST_F(Takeover, WhatThatOperatorsDaemonMadeGoesWithItsPolicies) {
  node.pass(state);
  doc::Value::Array& interfaces = *state.find("spec")->find("interfaces")->as_array();
  interfaces.pop_back();
  state.find("metadata")->set("generation", 7);
  node.pass(state);
  EXPECT_EQ(node.reported("syncStatus"), "Succeeded") << node.reported("lastSyncError");
  const facts::NodeFacts now = node.facts();
  EXPECT_EQ(now.nics[0].num_vfs, 4);
  EXPECT_EQ(now.nics[1].num_vfs, 0);
}

// VFs without a record that they were made for policies are the host's.
TEST_F(Takeover, VfsWithoutThatMarkStayWhenTheirPolicyGoes) {
  TestNode other(machine());
  other.pass(state);
  doc::Value without = state;
  without.find("spec")->find("interfaces")->as_array()->clear();
  without.find("metadata")->set("generation", 7);
  other.pass(without);
  EXPECT_EQ(other.facts().nics[0].num_vfs, 4);
}

}  // namespace
}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// Which VFs the kubelet may give to pods, and what it gets for each.
#include "kubelet/devices.h"

#include <gtest/gtest.h>

#include "kubelet/test_devices.h"

namespace railbed::kubelet {
namespace {

TEST(Devices, AreTheVfsOfAResourceByPfAndIndex) {
  NodeDevices node = node_of(2, 2);
  std::swap(node.resources[kRail].front(), node.resources[kRail].back());
  const Resources all = resources_of(node, {});
  ASSERT_EQ(all.size(), 1u);
  std::vector<std::string> ids;
  for (const Device& one : all.at(kRail).devices) {
    ids.push_back(one.id());
    EXPECT_EQ(one.unhealthy, "");
    EXPECT_EQ(one.numa_node, one.vf.pf.bus % 2);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"0000:01:01.0", "0000:01:01.1", "0000:02:01.0", "0000:02:01.1"}));
}

TEST(Devices, GiveNoHintWhereThePolicySaysSo) {
  NodeDevices node = node_of(1, 1);
  node.without_topology = {kRail};
  EXPECT_EQ(resources_of(node, {}).at(kRail).devices.at(0).numa_node, std::nullopt);
}

TEST(Devices, AVfWhoseAddressIsNotKnownIsNone) {
  NodeDevices node = node_of(1, 1);
  node.resources[kRail].at(0).address = {};
  EXPECT_TRUE(resources_of(node, {}).at(kRail).devices.empty());
}

// Each case makes VF 0 of PF 1 something else; the message is what the kubelet shows.
TEST(Devices, ThatCannotBeUsedAreNotHealthy) {
  struct Case {
    const char* name;
    std::function<void(NodeDevices&, facts::Nic&, facts::Vf&, plan::PoolVf&)> change;
    std::string unhealthy;
  };
  const std::vector<Case> cases = {
      {"as it should be", [](auto&, auto&, auto&, auto&) {}, ""},
      {"unfinished", [](auto& node, auto&, auto&, auto& vf) { node.unfinished.insert(vf.address); },
       "the steps that make it ready are not finished"},
      {"orphaned", [](auto& node, auto&, auto&, auto& vf) { node.orphaned[vf.address] = "/dev/vfio/7 is open"; },
       "it is orphaned (/dev/vfio/7 is open); `railbed status` names its pod"},
      {"another index", [](auto&, auto&, auto& vf, auto&) { vf.index = {5}; }, "it does not exist"},
      {"another PF", [](auto&, auto& pf, auto&, auto&) { pf.pci.address.bus = 9; }, "it does not exist"},
      {"no driver", [](auto&, auto&, auto& vf, auto&) { vf.pci.driver = ""; }, "it has no driver"},
      {"vfio instead", [](auto&, auto&, auto& vf, auto&) { vf.pci.driver = "vfio-pci"; },
       "its driver is vfio-pci, but its policy requires the kernel's network driver"},
      {"kernel's driver instead", [](auto&, auto&, auto&, auto& vf) { vf.device_type = DeviceType::kVfioPci; },
       "its driver is mlx5_core, but its policy requires vfio-pci"},
      {"vfio as wanted",
       [](auto&, auto&, auto& vf, auto& wanted) {
         vf.pci.driver = "vfio-pci";
         wanted.device_type = DeviceType::kVfioPci;
       },
       ""},
      {"no link", [](auto&, auto& pf, auto&, auto&) { pf.netdevs[0].carrier = false; }, "its PF eth1 has no link"},
      {"one of two ports has a link",
       [](auto&, auto& pf, auto&, auto&) {
         pf.netdevs[0].carrier = false;
         pf.netdevs.push_back({.name = "second", .carrier = true});
       },
       ""},
      {"InfiniBand without a subnet manager",
       [](auto&, auto& pf, auto&, auto&) {
         pf.netdevs.clear();
         pf.rdma.push_back({.name = "mlx5_0", .ports = {{.state = "DOWN", .physical_state = "Polling"}}});
       },
       "its PF eth1 has no link"},
      {"InfiniBand with a link",
       [](auto&, auto& pf, auto&, auto&) {
         pf.netdevs[0].carrier = false;
         pf.rdma.push_back({.name = "mlx5_0", .ports = {{.state = "ACTIVE", .physical_state = "LinkUp"}}});
       },
       ""},
      {"a PF that is not visible", [](auto&, auto& pf, auto&, auto&) { pf.netdevs.clear(); }, ""},
      {"RDMA is there", [](auto&, auto&, auto&, auto& wanted) { wanted.rdma = true; }, ""},
      {"RDMA is missing",
       [](auto&, auto&, auto& vf, auto& wanted) {
         wanted.rdma = true;
         vf.rdma.reset();
       },
       "it has no RDMA device"},
      {"RDMA comes with the ADD",
       [](auto& node, auto&, auto& vf, auto& wanted) {
         node.soft_rdma = true;
         wanted.rdma = true;
         vf.rdma.reset();
       },
       ""},
      {"in a pod, with its interface and its RDMA device",
       [](auto&, auto&, auto& vf, auto& wanted) {
         wanted.rdma = true;
         vf.rdma.reset();
         vf.netdev.reset();
       },
       ""},
  };
  for (const Case& one : cases) {
    NodeDevices node = node_of(1, 1);
    one.change(node, node.facts.nics[0], node.facts.nics[0].vfs[0], node.resources[kRail][0]);
    EXPECT_EQ(resources_of(node, {}).at(kRail).devices.at(0).unhealthy, one.unhealthy) << one.name;
  }
}

TEST(Devices, WithdrawnOnesAreNotHealthy) {
  const Resources all = resources_of(node_of(1, 2), {vf_address(1, 1)});
  EXPECT_EQ(all.at(kRail).devices.at(0).unhealthy, "");
  EXPECT_EQ(all.at(kRail).devices.at(1).unhealthy, "it is about to be changed");
}

// A kubelet that starts again would refuse a pod whose VF is not healthy.
TEST(Devices, OfADrainAreHealthyForTheirPodsAlone) {
  const std::string why = "it is withdrawn until a change of this node is in place";
  NodeDevices node = node_of(1, 4);
  node.drained = {vf_address(1, 1)};
  node.drained_of_pods = {vf_address(1, 2), vf_address(1, 3)};
  node.unfinished = {vf_address(1, 3)};
  const Resources all = resources_of(node, {});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"", ""}, {why, ""}, {"", why}, {"the steps that make it ready are not finished", why}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(all.at(kRail).devices.at(i).unhealthy, expected[i].first) << i;
    EXPECT_EQ(all.at(kRail).devices.at(i).ending, expected[i].second) << i;
  }
}

// The kubelet counts names: a VF that a pod has under a former name could be given away again under the present one.
TEST(Devices, OfAFormerNameAreOnlyItsPods) {
  const std::string former = "example.com/rail0";
  NodeDevices node = node_of(1, 2);
  node.resources[former] = {node.resources[kRail].front()};
  node.ending[former][vf_address(1, 0)] = "it is openshift.io/rail0 now";
  node.taken[vf_address(1, 0)] = "ai/a has it as example.com/rail0";
  const Resources all = resources_of(node, {});
  EXPECT_EQ(all.at(kRail).devices.at(0).unhealthy, "ai/a has it as example.com/rail0");
  EXPECT_EQ(all.at(kRail).devices.at(1).unhealthy, "");
  EXPECT_EQ(all.at(kRail).devices.at(0).ending, "");
  ASSERT_EQ(all.at(former).devices.size(), 1u);
  EXPECT_EQ(all.at(former).devices.at(0).unhealthy, "") << "a kubelet that starts again would refuse its pod";
  EXPECT_EQ(all.at(former).devices.at(0).ending, "it is openshift.io/rail0 now");
}

}  // namespace
}  // namespace railbed::kubelet

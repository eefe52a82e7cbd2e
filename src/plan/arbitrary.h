// SPDX-License-Identifier: Apache-2.0
// Arbitrary machines and policies, and the plan for them: for properties that hold for all of them.
#pragma once

#include <string>
#include <vector>

#include <rapidcheck.h>

#include "base/format.h"
#include "graph/examples.h"
#include "plan/plan.h"

namespace railbed::plan {

inline int between(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}
inline bool coin() {
  return *rc::gen::arbitrary<bool>();
}

inline facts::Nic arbitrary_nic(int number) {
  const std::string name = fmt::format("p{}", number);
  facts::Nic made = coin() ? graph::examples::nic(name, number + 1) : graph::examples::infiniband(name, number + 1);
  if (made.link_type == facts::LinkType::kEthernet && coin()) made.eswitch_mode = EswitchMode::kLegacy;
  if (coin()) made.netdevs.front().mtu = 9000;
  made.netdevs.front().admin_up = coin();
  made.vfs_autoprobe = coin();
  if (between(0, 2) > 0) {
    made = graph::examples::with_vfs(std::move(made), between(1, 4));
    made.netdevs.front().admin_up = true;
  }
  for (facts::Vf& vf : made.vfs) {
    const int state = between(0, 3);
    if (state == 0) vf.pci.driver.clear();
    if (state == 1) vf.pci.driver = "vfio-pci";
    if (state <= 1) vf.netdev.reset();
    if (coin()) vf.admin_mac = MacAddress{};
    if (vf.port_guid && coin()) vf.node_guid = vf.port_guid = Guid{};
  }
  return made;
}

inline facts::NodeFacts arbitrary_node() {
  std::vector<facts::Nic> nics;
  const int count = between(1, 3);
  for (int i = 0; i < count; ++i) nics.push_back(arbitrary_nic(i));
  return graph::examples::node("n1", std::move(nics));
}

inline api::SriovNetworkNodePolicy arbitrary_policy(int number) {
  const int vfs = between(1, 8);
  std::vector<api::PfName> names;
  for (int i = 0; i < 3; ++i)
    if (between(0, 3) > 0) {
      const std::string name = fmt::format("p{}", i);
      const int first = between(0, vfs - 1);
      names.push_back(coin() ? graph::examples::pf(name) : graph::examples::pf(name, first, between(first, vfs - 1)));
    }
  auto made = graph::examples::policy(fmt::format("policy{}", number), vfs, std::move(names), between(0, 4));
  if (coin()) made.mtu = api::given(between(0, 2) * 2000);
  if (between(0, 3) == 0) made.device_type = api::given(api::DeviceType::kVfioPci);
  if (between(0, 3) == 0) made.eswitch_mode = api::given(EswitchMode::kSwitchdev);
  if (between(0, 9) == 0) made.externally_managed = api::given(true);
  return made;
}

inline api::Objects arbitrary_objects() {
  api::Objects objects;
  const int count = between(1, 4);
  for (int i = 0; i < count; ++i) objects.policies.push_back(arbitrary_policy(i));
  return objects;
}

inline NodePlan planned(const api::Objects& objects, const facts::NodeFacts& facts, const InUse& in_use = {},
                        Options options = {}) {
  doc::Diagnostics diagnostics;
  const graph::Resolution resolution(objects, {&facts, 1}, {}, graph::PodPlacement::kChecked, diagnostics);
  return make_plans(resolution, in_use, options, diagnostics).front();
}

}  // namespace railbed::plan

// SPDX-License-Identifier: Apache-2.0
// Which VFs are preferred: on many PFs, on few NUMA nodes, and always within what the kubelet asks.
#include "kubelet/preferred.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kubelet/test_devices.h"

namespace railbed::kubelet {
namespace {

std::vector<std::string> ids_of(const Resource& resource) {
  std::vector<std::string> ids;
  for (const Device& one : resource.devices) ids.push_back(one.id());
  return ids;
}

std::map<PciAddress, size_t> per_pf(const std::vector<std::string>& ids) {
  std::map<PciAddress, size_t> counts;
  for (const std::string& id : ids) {
    PciAddress pf = PciAddress::parse(id).value();
    pf.device = pf.function = 0;
    ++counts[pf];
  }
  return counts;
}

std::set<int> nodes_of(const Resource& resource, const std::vector<std::string>& ids) {
  std::set<int> nodes;
  for (const std::string& id : ids) nodes.insert(resource.find(id)->numa_node.value_or(-1));
  return nodes;
}

TEST(Preferred, IsOneVfOfEachPf) {
  const Resource rails = resources_of(node_of(8, 4), {}).at(kRail);
  const auto chosen = preferred(rails, {.available = ids_of(rails), .must_include = {}, .size = 8});
  EXPECT_EQ(per_pf(chosen).size(), 8u);
}

TEST(Preferred, IsOnOneNodeWhereItsPfsAreEnough) {
  const Resource rails = resources_of(node_of(8, 4), {}).at(kRail);
  const auto chosen = preferred(rails, {.available = ids_of(rails), .must_include = {}, .size = 4});
  EXPECT_EQ(per_pf(chosen).size(), 4u);
  EXPECT_EQ(nodes_of(rails, chosen).size(), 1u);
}

TEST(Preferred, FollowsTheNodeOfWhatMustBeIn) {
  const Resource rails = resources_of(node_of(8, 4), {}).at(kRail);
  const auto chosen =
      preferred(rails, {.available = ids_of(rails), .must_include = {vf_address(3, 2).to_string()}, .size = 3});
  EXPECT_EQ(nodes_of(rails, chosen), std::set<int>{1});
  EXPECT_EQ(per_pf(chosen).size(), 3u);
}

TEST(Preferred, TakesTheNodeThatHasEnough) {
  const Resource rails = resources_of(node_of(4, 2), {}).at(kRail);
  // Of node 1 only PF 1 is left, of node 0 there are PFs 2 and 4.
  const auto chosen = preferred(
      rails, {.available = {vf_address(1, 0).to_string(), vf_address(2, 1).to_string(), vf_address(4, 0).to_string()},
              .must_include = {},
              .size = 2});
  EXPECT_EQ(nodes_of(rails, chosen), std::set<int>{0});
}

TEST(Preferred, TakesThePfWithTheMostFreeVfs) {
  const Resource rails = resources_of(node_of(3, 3), {}).at(kRail);
  const auto chosen = preferred(
      rails, {.available = {vf_address(1, 0).to_string(), vf_address(3, 1).to_string(), vf_address(3, 2).to_string()},
              .must_include = {},
              .size = 1});
  EXPECT_EQ(chosen, std::vector<std::string>{vf_address(3, 1).to_string()});
}

TEST(Preferred, KeepsToWhatTheKubeletKnowsBetter) {
  const Resource rails = resources_of(node_of(1, 1), {}).at(kRail);
  EXPECT_EQ(preferred(rails, {.available = {"unknown"}, .must_include = {}, .size = 1}),
            std::vector<std::string>{"unknown"});
  EXPECT_TRUE(preferred(rails, {.available = {}, .must_include = {}, .size = 3}).empty());
}

struct Wanted {
  Resource resource;
  PreferenceRequest request;
};

Wanted any_wanted() {
  Wanted wanted;
  NodeDevices node = node_of(*rc::gen::inRange(1, 7), *rc::gen::inRange(1, 6));
  for (plan::PoolVf& vf : node.resources[kRail])
    vf.numa_node = *rc::gen::element<std::optional<int>>(std::nullopt, 0, 1, 2);
  wanted.resource = resources_of(node, {}).at(kRail);
  for (const std::string& id : ids_of(wanted.resource)) {
    const int part = *rc::gen::inRange(0, 5);
    if (part >= 2) wanted.request.available.push_back(id);
    if (part == 4 && wanted.request.must_include.size() < 3) wanted.request.must_include.push_back(id);
  }
  wanted.request.size = wanted.request.must_include.size() + *rc::gen::inRange<size_t>(0, 12);
  return wanted;
}

RC_GTEST_PROP(PreferredProperty, IsWithinWhatIsAsked, ()) {
  const auto [resource, request] = any_wanted();
  const auto chosen = preferred(resource, request);
  RC_ASSERT(chosen.size() == std::min(request.size, request.available.size()));
  const std::set<std::string> once(chosen.begin(), chosen.end());
  RC_ASSERT(once.size() == chosen.size());
  for (const std::string& id : chosen) RC_ASSERT(std::ranges::find(request.available, id) != request.available.end());
  for (const std::string& id : request.must_include) RC_ASSERT(once.contains(id));
}

// No PF gives two VFs more than another that still has one.
RC_GTEST_PROP(PreferredProperty, SpreadsOverThePfs, ()) {
  const auto [resource, request] = any_wanted();
  const auto chosen = preferred(resource, request);
  std::map<PciAddress, size_t> used = per_pf(chosen);
  const std::map<PciAddress, size_t> must = per_pf(request.must_include);
  for (const auto& [pf, available] : per_pf(request.available))
    for (const auto& [other, count] : used)
      if (used[pf] < available && !(must.contains(other) && must.at(other) == count)) RC_ASSERT(count <= used[pf] + 1);
}

// Where one node has enough PFs for the whole request, no other gives any.
RC_GTEST_PROP(PreferredProperty, StaysOnANodeThatHasEnoughPfs, ()) {
  auto [resource, request] = any_wanted();
  request.must_include.clear();
  if (request.available.empty()) request.available = ids_of(resource);
  std::map<int, std::set<PciAddress>> pfs;
  for (const std::string& id : request.available) {
    const Device* device = resource.find(id);
    pfs[device->numa_node.value_or(-1)].insert(device->vf.pf);
  }
  size_t most = 0;
  for (const auto& [node, of_node] : pfs) most = std::max(most, of_node.size());
  request.size = *rc::gen::inRange<size_t>(1, most + 1);
  RC_ASSERT(nodes_of(resource, preferred(resource, request)).size() == 1u);
}

}  // namespace
}  // namespace railbed::kubelet

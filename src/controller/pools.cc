// SPDX-License-Identifier: Apache-2.0
#include "controller/pools.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "api/placement.h"
#include "base/format.h"

namespace railbed::controller {

namespace {

constexpr size_t kMostNames = 5;  // in a message

std::string nodes_text(size_t count) {
  return fmt::format("{} node{}", count, count == 1 ? "" : "s");
}

std::string limit_text(const PoolLimit& limit, size_t nodes) {
  std::string out = nodes_text(nodes);
  if (!limit.most)
    out += ", all at once";
  else if (*limit.most == 0)
    out += ", and no pod is evicted";
  else
    out += fmt::format(", at most {} at once", *limit.most);
  if (!limit.why.empty()) out += fmt::format(" ({})", limit.why);
  return out;
}

std::string shared_text(const PoolMembers& members) {
  std::vector<std::string> names;
  for (const auto& [node, others] : members.shared) names.push_back(node);
  const std::vector<std::string>& others = members.shared.begin()->second;
  return fmt::format("{} {} also in {}: nothing is interrupted there until one nodeSelector leaves {} out",
                     some_of(names), names.size() == 1 ? "is" : "are", some_of(others),
                     names.size() == 1 ? "it" : "them");
}

// What the nodes of a pool have instead of the mode that it asks for; empty where nothing is to be said.
std::string mode_text(const api::SriovNetworkPoolConfig& pool, const PoolMembers& members,
                      const std::map<std::string, std::string>& rdma_modes) {
  std::vector<std::string> others;
  for (const std::string& node : members.nodes) {
    const auto found = rdma_modes.find(node);
    if (found != rdma_modes.end() && !found->second.empty() && found->second != pool.rdma_mode) others.push_back(node);
  }
  if (others.empty()) return "";
  const std::string& mode = pool.rdma_mode;
  return fmt::format(
      "rdmaMode {} is not in effect on {}: railbed does not change it; set `options ib_core netns_mode={}` in "
      "/etc/modprobe.d and reboot",
      mode, some_of(others), mode == "exclusive" ? 0 : 1);
}

std::string ignored_text(const api::SriovNetworkPoolConfig& pool) {
  std::vector<std::string> fields = pool.unknown;
  if (!pool.ovs_other_config.empty()) fields.emplace_back("ovsHardwareOffloadConfig.otherConfig");
  if (fields.empty()) return "";
  return fmt::format("ignored: {}", fmt::join(fields, ", "));
}

}  // namespace

std::string some_of(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNames) out += fmt::format(" and {} more", names.size() - kMostNames);
  return out;
}

bool has_nodes(const api::SriovNetworkPoolConfig& pool) {
  return pool.ovs_offload.empty();
}

PoolAssignments pool_assignments(std::span<const PoolNode> nodes, std::span<const api::SriovNetworkPoolConfig> pools) {
  PoolAssignments out;
  for (const api::SriovNetworkPoolConfig& pool : pools)
    if (has_nodes(pool)) out.members[pool.key()];
  for (const PoolNode& node : nodes) {
    std::vector<std::string> keys;
    for (const api::SriovNetworkPoolConfig& pool : pools)
      if (has_nodes(pool) && api::is_selected(pool.node_selector, node.labels)) keys.push_back(pool.key());
    if (keys.empty()) {
      out.in_no_pool.push_back(node.name);
    } else if (keys.size() == 1) {
      out.members[keys.front()].nodes.push_back(node.name);
      out.pool_of[node.name] = keys.front();
    } else {
      out.in_two_pools.push_back(node.name);
      for (const std::string& key : keys) {
        std::vector<std::string>& others = out.members[key].shared[node.name];
        std::ranges::copy_if(keys, std::back_inserter(others), [&](const std::string& one) { return one != key; });
        std::ranges::sort(others);
      }
    }
  }
  for (auto& [key, members] : out.members) std::ranges::sort(members.nodes);
  std::ranges::sort(out.in_two_pools);
  std::ranges::sort(out.in_no_pool);
  return out;
}

PoolLimit limit_of(const std::optional<api::MaxUnavailable>& written, size_t nodes) {
  if (!written) return {.most = std::nullopt, .why = "maxUnavailable is not set"};
  const std::string text = written->to_string();
  if (written->number == 0) return {.most = 0, .why = fmt::format("maxUnavailable is {}", text)};
  if (!written->percent) return {.most = written->number, .why = ""};
  const auto share = static_cast<int>(static_cast<int64_t>(nodes) * written->number / 100);
  if (share >= 1 || nodes == 0) return {.most = std::max(share, 1), .why = ""};
  return {.most = 1, .why = fmt::format("{} of {} is less than one", text, nodes_text(nodes))};
}

Readiness pool_readiness(const api::SriovNetworkPoolConfig& pool, const PoolMembers& members,
                         const std::map<std::string, std::string>& rdma_modes) {
  const std::string ignored = ignored_text(pool);
  const auto with_ignored = [&](std::string text) { return ignored.empty() ? text : text + "; " + ignored; };
  if (!has_nodes(pool))
    return {"False", "NotServed",
            with_ignored(fmt::format("ovsHardwareOffloadConfig {}: railbed does not configure Open vSwitch, and such a "
                                     "pool says nothing of nodes",
                                     pool.ovs_offload))};
  const std::string limit = limit_text(limit_of(pool.max_unavailable, members.nodes.size()), members.nodes.size());
  if (!members.shared.empty())
    return {"False", "NodesInTwoPools", with_ignored(shared_text(members) + "; beside them " + limit)};
  if (members.nodes.empty()) return {"False", "NoNodeMatches", with_ignored("its nodeSelector matches no node")};
  if (const std::string mode = pool.rdma_mode.empty() ? "" : mode_text(pool, members, rdma_modes); !mode.empty())
    return {"False", "RdmaModeDiffers", with_ignored(mode + "; " + limit)};
  if (!ignored.empty()) return {"True", "UsedInPart", with_ignored(limit)};
  return {"True", "Used", limit};
}

}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
#include "labels/node_labels.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "facts/labels.h"
#include "facts/rails.h"
#include "labels/node_keys.h"

namespace railbed::labels {
namespace {

constexpr std::string_view kNvidiaVendor = "15b3";
constexpr double kMostGbps = 1e6;  // no rail carries a petabit; a larger number is a defect of the measurement
constexpr std::string_view kPciNames = "feature.node.kubernetes.io/pci-";

// Nothing but what RFC 3339 has: one odd byte would have the API server refuse all labels.
bool is_time(std::string_view text) {
  return !text.empty() && text.size() <= 40 && text.find_first_not_of("0123456789-:.+TZ") == std::string_view::npos;
}

// One word for several ports: "" where there are none.
std::string_view one_or_mixed(const std::set<std::string_view>& words) {
  if (words.empty()) return "";
  return words.size() == 1 ? *words.begin() : "mixed";
}

bool is_rdma_hardware(const facts::Nic& nic) {
  return std::ranges::any_of(nic.rdma,
                             [](const facts::RdmaDevice& device) { return !device.soft && device.transport.empty(); });
}

void add(NodeLabels& out, std::string name, std::string_view value) {
  if (value.empty() || find_key(name, KeyKind::kLabel) == nullptr) return;
  out.labels.insert_or_assign(std::move(name), std::string(value));
}

// NFD's, by the function that also gives them to machines without a cluster.
void add_features(const facts::NodeFacts& facts, NodeLabels& out) {
  const std::string custom = fmt::format("{}custom-", kFeaturePrefix);
  for (const auto& [name, value] : facts::implied_labels(facts)) {
    if (name.starts_with(kPciNames)) continue;  // those of GPUs are not railbed's
    add(out, name, value);
    if (name.starts_with(custom)) add(out, fmt::format("{}{}", kFeaturePrefix, name.substr(custom.size())), value);
  }
  for (const facts::Nic& nic : facts.nics) add(out, fmt::format("{}{}.present", kPciNames, nic.pci.vendor), "true");
}

void add_rails(const facts::NodeFacts& facts, NodeLabels& out) {
  const std::vector<facts::NicRole> roles = facts::roles_of(facts);
  std::set<int> rails;
  std::set<std::string_view> layers, fabrics;
  for (size_t i = 0; i < roles.size() && i < facts.nics.size(); ++i) {
    const facts::Nic& nic = facts.nics[i];
    const bool is_rail = roles[i].role == facts::Role::kCompute && roles[i].rail.has_value();
    if (nic.link_type == facts::LinkType::kUnknown) {
      if (is_rail) rails.insert(*roles[i].rail);
      continue;
    }
    const bool is_infiniband = nic.link_type == facts::LinkType::kInfiniband;
    if (is_rail) {
      rails.insert(*roles[i].rail);
      layers.insert(is_infiniband ? "infiniband" : "ethernet");
    }
    const bool is_used = is_rail || roles[i].role == facts::Role::kStorage;
    if (is_used && is_rdma_hardware(nic)) fabrics.insert(is_infiniband ? "infiniband" : "roce");
  }
  if (!rails.empty()) add(out, std::string(kRailsLabel), std::to_string(rails.size()));
  add(out, std::string(kLinkLayerLabel), one_or_mixed(layers));
  add(out, std::string(kFabricLabel), one_or_mixed(fabrics));
}

// Whether a pod can get RoCE from a NIC of NVIDIA.
bool offers_roce(const facts::NodeFacts& facts, const Offered& offered) {
  std::set<PciAddress> ports;
  for (const facts::Nic& nic : facts.nics)
    if (nic.pci.vendor == kNvidiaVendor && nic.link_type == facts::LinkType::kEthernet) ports.insert(nic.pci.address);
  return std::ranges::any_of(offered, [&](const auto& resource) {
    return std::ranges::any_of(resource.second, [&](const OfferedVf& vf) { return vf.rdma && ports.contains(vf.pf); });
  });
}

}  // namespace

NodeLabels node_labels(const facts::NodeFacts& facts, const Offered& offered, const std::optional<Measured>& measured) {
  NodeLabels out;
  add_features(facts, out);
  add_rails(facts, out);
  if (offers_roce(facts, offered)) add(out, std::string(kNvidiaRoceLabel), "true");
  if (measured && measured->gbps >= 0 && measured->gbps <= kMostGbps) {  // not for NaN, either
    add(out, std::string(kMeasuredLabel), std::to_string(static_cast<int64_t>(measured->gbps)));
    if (is_time(measured->at)) out.annotations[std::string(kMeasuredAtAnnotation)] = measured->at;
  }
  return out;
}

}  // namespace railbed::labels

// SPDX-License-Identifier: Apache-2.0
#include "graph/selector.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "base/format.h"
#include "doc/diagnostic.h"
#include "graph/graph.h"

namespace railbed::graph {
namespace {

bool has_name(const facts::Nic& nic, std::string_view name) {
  return std::ranges::any_of(nic.netdevs, [&](const facts::NetInterface& netdev) {
    return netdev.name == name || std::ranges::find(netdev.alt_names, name) != netdev.alt_names.end();
  });
}

bool vendor_fits(const api::NicSelector& selector, const facts::Nic& nic) {
  return selector.vendor->empty() || *selector.vendor == nic.pci.vendor;
}
bool device_fits(const api::NicSelector& selector, const facts::Nic& nic) {
  return selector.device_id->empty() || *selector.device_id == nic.pci.device;
}
bool address_fits(const api::NicSelector& selector, const facts::Nic& nic) {
  return selector.root_devices.empty() ||
         std::ranges::any_of(selector.root_devices, [&](const auto& address) { return *address == nic.pci.address; });
}
bool name_fits(const api::NicSelector& selector, const facts::Nic& nic) {
  return selector.pf_names.empty() ||
         std::ranges::any_of(selector.pf_names, [&](const auto& name) { return has_name(nic, name->name); });
}

// Values with their counts: "1021 (6), 101d (2)" or "ens1f0, ens1f1, … (8 in all)".
std::string inventory(const std::vector<const facts::Nic*>& nics,
                      const std::function<std::string(const facts::Nic&)>& value) {
  constexpr size_t kShown = 8;
  std::map<std::string, int> counts;
  for (const facts::Nic* nic : nics) ++counts[value(*nic)];
  std::vector<std::string> parts;
  for (const auto& [text, count] : counts) {
    if (parts.size() == kShown) {
      parts.push_back(fmt::format("… ({} in all)", counts.size()));
      break;
    }
    parts.push_back(count == 1 ? text : fmt::format("{} ({} NICs)", text, count));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string names_of(const facts::Nic& nic) {
  std::string names = pf_name(nic);
  for (const facts::NetInterface& netdev : nic.netdevs)
    for (const std::string& alt : netdev.alt_names) names += "/" + alt;
  return names;
}

std::string meant(std::string_view wrong, const std::vector<const facts::Nic*>& nics) {
  std::vector<std::string_view> candidates;
  for (const facts::Nic* nic : nics)
    for (const facts::NetInterface& netdev : nic->netdevs) {
      candidates.push_back(netdev.name);
      candidates.insert(candidates.end(), netdev.alt_names.begin(), netdev.alt_names.end());
    }
  std::string near = doc::nearest(wrong, candidates);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

}  // namespace

bool labels_match(const Labels& selector, const Labels& labels) {
  return std::ranges::all_of(selector, [&](const auto& wanted) {
    const auto found = labels.find(wanted.first);
    return found != labels.end() && found->second == wanted.second;
  });
}

std::string label_mismatch(const Labels& selector, const Labels& labels) {
  for (const auto& [key, value] : selector) {
    auto found = labels.find(key);
    if (found == labels.end()) return fmt::format("the node has no label {}", key);
    if (found->second != value) return fmt::format("label {} is \"{}\" here, not \"{}\"", key, found->second, value);
  }
  return "";
}

bool empty(const api::NicSelector& selector) {
  return selector.vendor->empty() && selector.device_id->empty() && selector.root_devices.empty() &&
         selector.pf_names.empty() && selector.net_filter->empty();
}

bool can_have_vfs(const facts::Nic& nic) {
  return nic.total_vfs.value_or(0) > 0;
}

bool selects(const api::NicSelector& selector, const facts::Nic& nic) {
  return !empty(selector) && vendor_fits(selector, nic) && device_fits(selector, nic) && address_fits(selector, nic) &&
         name_fits(selector, nic);
}

std::vector<VfRange> selected_vfs(const api::SriovNetworkNodePolicy& policy, const facts::Nic& nic) {
  const VfRange all{0, *policy.num_vfs - 1};
  std::vector<VfRange> ranges;
  for (const auto& name : policy.nic_selector.pf_names)
    if (has_name(nic, name->name)) ranges.push_back(name->vfs ? VfRange{name->vfs->first, name->vfs->last} : all);
  if (ranges.empty()) ranges.push_back(all);
  return join(std::move(ranges));
}

std::string why_nothing(const api::NicSelector& selector, const std::vector<facts::Nic>& nics) {
  if (empty(selector)) return "an empty nicSelector matches nothing";
  if (nics.empty()) return "the node has no NIC";
  std::vector<const facts::Nic*> left;
  for (const facts::Nic& nic : nics) left.push_back(&nic);

  auto remains = [&](auto fits) {
    std::vector<const facts::Nic*> fitting;
    for (const facts::Nic* nic : left)
      if (fits(selector, *nic)) fitting.push_back(nic);
    if (fitting.empty()) return false;
    left = std::move(fitting);
    return true;
  };
  if (!remains(vendor_fits))
    return fmt::format("no NIC has vendor {}; here are: {}", *selector.vendor,
                       inventory(left, [](const facts::Nic& nic) { return nic.pci.vendor; }));
  if (!remains(device_fits))
    return fmt::format("no NIC has deviceID {}; here are: {}", *selector.device_id,
                       inventory(left, [](const facts::Nic& nic) { return nic.pci.vendor + ":" + nic.pci.device; }));
  if (!remains(address_fits))
    return fmt::format("no NIC is at {} (rootDevices); here are: {}",
                       fmt::join(std::vector<PciAddress>([&] {
                                   std::vector<PciAddress> addresses;
                                   for (const auto& address : selector.root_devices) addresses.push_back(*address);
                                   return addresses;
                                 }()),
                                 ", "),
                       inventory(left, [](const facts::Nic& nic) { return nic.pci.address.to_string(); }));
  if (!remains(name_fits)) {
    std::vector<std::string> asked;
    for (const auto& name : selector.pf_names) asked.push_back(name->name);
    return fmt::format("no NIC is called {} (pfNames); here are: {}{}", fmt::join(asked, ", "),
                       inventory(left, names_of), meant(asked.front(), left));
  }
  return fmt::format("{} {} no SR-IOV (sriov_totalvfs is absent or 0): switch it on in firmware and BIOS",
                     inventory(left, pf_label), left.size() == 1 ? "has" : "have");
}

}  // namespace railbed::graph

// SPDX-License-Identifier: Apache-2.0
#include "attach/identity.h"

namespace railbed::attach {
namespace {

bool is_veth(const Before& before) {
  return before.kind == "veth";
}

bool has_recorded_address(const os::Link& link, const Before& before) {
  return link.hw_address == before.hw_address || (before.new_mac.has_value() && link.mac() == before.new_mac);
}

// What a device of a bus shows wherever it is.
bool is_that_device(const os::Link& link, const Before& before) {
  if (fmt::format("{}/devices/{}", link.parent_bus, link.parent_device) != before.parent) return false;
  // A device may have several interfaces, and some drivers change the permanent address.
  return before.permanent_address.empty() || link.permanent_address == before.permanent_address ||
         has_recorded_address(link, before) || link.index.value == before.index ||
         (before.in_pod.has_value() && link.index.value == before.in_pod->index);
}

bool has_recorded_name(const os::Link& link, const Before& before, const std::string& interface) {
  return link.index.value == before.index && (link.name.value == before.name || link.name.value == interface);
}

// Nullopt: neither here nor there, since hardware shows its device.
std::optional<bool> is_that_hardware(const os::Link& link, const Before& before) {
  if (before.device.has_value()) return link.parent_bus == "pci" && link.parent_device == before.device->to_string();
  if (link.kind != before.kind) return false;
  if (before.kind.empty() && !before.parent.empty()) return is_that_device(link, before);
  return std::nullopt;
}

}  // namespace

InPod seen_in_pod(const os::Link& link) {
  InPod seen{.index = link.index.value, .parent = link.parent.value};
  if (link.parent_elsewhere) seen.parent_netns_id = link.parent_netns_id;
  return seen;
}

bool is_same_link(const os::Link& link, const Before& before, const std::string& interface) {
  if (auto known = is_that_hardware(link, before)) return *known;
  if (before.in_pod.has_value()) {
    InPod now = seen_in_pod(link);
    if (is_veth(before) && now.parent_netns_id.has_value()) now.index = before.in_pod->index;
    return now == *before.in_pod;
  }
  if (before.way == Way::kMake) return link.group == before.group && link.name.value == interface;
  return has_recorded_address(link, before) || has_recorded_name(link, before, interface);
}

bool is_that_elsewhere(const os::Link& link, const Before& before) {
  if (auto known = is_that_hardware(link, before)) return *known;
  // What it lies on, or its peer, is still where it was.
  const int parent = before.in_pod.has_value() ? before.in_pod->parent : before.parent_index;
  if (link.parent.value != parent || (parent != 0 && !link.parent_elsewhere)) return false;
  if (before.way == Way::kMake) return before.group != 0 && link.group == before.group;
  return !before.kind.starts_with("ipv") &&
         has_recorded_address(link, before);  // ipvlan's is that of all on its parent
}

bool is_that_at_home(const os::Link& link, const Before& before, const std::string& interface) {
  if (auto known = is_that_hardware(link, before)) return *known;
  if (before.parent_index != 0) {
    if (link.parent.value != before.parent_index || link.parent_elsewhere) return false;
    if (is_veth(before)) return true;
  }
  return has_recorded_address(link, before) || has_recorded_name(link, before, interface);
}

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// Type ipvlan: an interface with the MAC of the one below it.
//
// Keys: master (absent: the first interface of prevResult, else that of the default route), linkInContainer
// (the master is the pod's), mode (l2, l3, l3s), mtu.
#include "attach/types.h"

namespace railbed::attach {
namespace {

constexpr Word<os::IpvlanMode> kIpvlanModes[] = {
    {"l2", os::IpvlanMode::kL2}, {"l3", os::IpvlanMode::kL3}, {"l3s", os::IpvlanMode::kL3s}};

}  // namespace

Result<void> read_ipvlan(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  spec.way = Way::kMake;
  spec.master_in_pod = TRY(keys.boolean("linkInContainer")).value_or(false);
  if (request.selection.mac.present)
    return fail(keys.invalid("an ipvlan interface has the MAC address of its master; use macvlan"));
  spec.host_link = TRY(keys.text("master")).value_or("");
  if (spec.host_link.empty() && request.previous.has_value() && !request.previous->interfaces.empty())
    spec.host_link = request.previous->interfaces.front().name;
  spec.mtu = TRY(keys.number("mtu"));
  spec.ipvlan_mode = TRY(keys.choice("mode", kIpvlanModes)).value_or(os::IpvlanMode::kL2);
  return {};
}

Result<DetachReport> detach_original_ipvlan(Original& original) {
  return original.remove_made("ipvlan");
}

}  // namespace railbed::attach

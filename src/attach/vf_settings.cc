// SPDX-License-Identifier: Apache-2.0
#include "attach/vf_settings.h"

namespace railbed::attach {
namespace {

os::VfChange all_of(const os::VfInfo& now) {
  return {.mac = now.mac,
          .vlan = os::VfChange::Vlan{now.vlan, now.qos, now.proto},
          .spoof_check = now.spoof_check,
          .trust = now.trust,
          .link_state = now.link_state,
          .rate = os::VfChange::Rate{now.min_tx_rate_mbps, now.max_tx_rate_mbps},
          .node_guid = now.node_guid,
          .port_guid = now.port_guid};
}

template <typename T>
void drop_if_same(std::optional<T>& wanted, const std::optional<T>& now) {
  if (wanted == now) wanted.reset();
}

}  // namespace

os::VfChange differing(const os::VfChange& wanted, const os::VfInfo& info) {
  os::VfChange change = wanted;
  os::VfChange now = all_of(info);
  drop_if_same(change.mac, now.mac);
  drop_if_same(change.vlan, now.vlan);
  // Without a VLAN the protocol has no meaning, and drivers report either one.
  if (change.vlan.has_value() && change.vlan->id == 0 && info.vlan == 0 && change.vlan->qos == info.qos)
    change.vlan.reset();
  drop_if_same(change.spoof_check, now.spoof_check);
  drop_if_same(change.trust, now.trust);
  drop_if_same(change.link_state, now.link_state);
  // The driver does not report the setting: do not ask for the value that every VF starts with.
  if (!now.trust.has_value() && change.trust == false) change.trust.reset();
  if (!now.link_state.has_value() && change.link_state == os::VfLinkState::kAuto) change.link_state.reset();
  drop_if_same(change.rate, now.rate);
  drop_if_same(change.node_guid, now.node_guid);
  drop_if_same(change.port_guid, now.port_guid);
  return change;
}

os::VfChange present(const os::VfChange& change, const os::VfInfo& info) {
  os::VfChange now = all_of(info);
  if (!change.mac.has_value()) now.mac.reset();
  if (!change.vlan.has_value()) now.vlan.reset();
  if (!change.spoof_check.has_value()) now.spoof_check.reset();
  if (!change.trust.has_value()) now.trust.reset();
  if (!change.link_state.has_value()) now.link_state.reset();
  if (!change.rate.has_value()) now.rate.reset();
  if (!change.node_guid.has_value()) now.node_guid.reset();
  if (!change.port_guid.has_value()) now.port_guid.reset();
  return now;
}

}  // namespace railbed::attach

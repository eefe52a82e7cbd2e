// SPDX-License-Identifier: Apache-2.0
// Type sriov: a VF, with its settings made through the PF.
//
// Keys: deviceID or pciBusID (where no pool gave a VF), vlan, vlanQoS, vlanProto, mac, spoofchk, trust,
// link_state, min_tx_rate, max_tx_rate. A pod's own mac wins over the network's.
#include <algorithm>
#include <cctype>

#include "attach/types.h"

namespace railbed::attach {
namespace {

Result<std::optional<os::VfChange::Vlan>> read_vlan(const Keys& keys) {
  os::VfChange::Vlan vlan;
  std::optional<int> id = TRY(keys.number("vlan", 0, 4094));
  vlan.qos = TRY(keys.number("vlanQoS", 0, 7)).value_or(0);
  size_t proto = TRY(keys.choice("vlanProto", {"802.1q", "802.1Q", "802.1ad", "802.1AD"})).value_or(0);
  if (proto >= 2) vlan.proto = os::VlanProto::k8021ad;
  vlan.id = id.value_or(0);
  if (vlan.id == 0 && (vlan.qos != 0 || vlan.proto == os::VlanProto::k8021ad))
    return fail(keys.invalid("vlanQoS and vlanProto 802.1ad need a vlan other than 0"));
  if (!id.has_value()) return std::optional<os::VfChange::Vlan>{};
  return std::optional(vlan);
}

Result<std::optional<os::VfChange::Rate>> read_rate(const Keys& keys) {
  constexpr int kMostMbps = 1'000'000;
  std::optional<int> least = TRY(keys.number("min_tx_rate", 0, kMostMbps));
  std::optional<int> most = TRY(keys.number("max_tx_rate", 0, kMostMbps));
  if (!least.has_value() && !most.has_value()) return std::optional<os::VfChange::Rate>{};
  os::VfChange::Rate rate{least.value_or(0), most.value_or(0)};
  if (rate.max_mbps != 0 && rate.min_mbps > rate.max_mbps)
    return fail(
        keys.invalid(fmt::format("min_tx_rate {} is greater than max_tx_rate {}", rate.min_mbps, rate.max_mbps)));
  return std::optional(rate);
}

}  // namespace

Result<std::optional<os::VfLinkState>> read_link_state(const Keys& keys) {
  std::optional<size_t> state = TRY(keys.choice("link_state", {"auto", "enable", "disable"}));
  if (!state.has_value()) return std::optional<os::VfLinkState>{};
  return std::optional(static_cast<os::VfLinkState>(*state));
}

Result<void> read_vf(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  if (wanted.device.has_value()) {
    const plan::PoolVf& vf = *wanted.device;
    wish.device = vf.address;
    wish.pf = vf.pf;
    wish.vf = vf.index;
    wish.rdma = vf.rdma;
    wish.way = vf.vfio ? Way::kVfio : Way::kMove;
    return {};
  }
  std::optional<std::string> text;
  if (wanted.selection.device_id.present) text = wanted.selection.device_id.value;
  for (const char* key : {"deviceID", "pciBusID"})
    if (!text.has_value()) text = TRY(keys.text(key));
  if (!text.has_value())
    return fail(Error{.code = Code::kInvalid,
                      .message = keys.invalid("there is no VF for it").message,
                      .hint = "annotate the network with k8s.v1.cni.cncf.io/resourceName and have a policy make VFs of "
                              "that resource, or name the VF in deviceID"});
  return read_device_id(keys, *text, wish);
}

Result<void> read_device_id(const Keys& keys, const std::string& id, Wish& wish) {
  // The names of the auxiliary bus: module, device, number.
  auto is_word = [](std::string_view part) {
    return !part.empty() &&
           std::ranges::all_of(part, [](char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  };
  size_t first = id.find('.');
  size_t last = id.rfind('.');
  bool auxiliary = first != std::string::npos && last != first && id.find(':') == std::string::npos;
  if (auxiliary) {
    std::string_view all = id;
    auxiliary = is_word(all.substr(0, first)) && is_word(all.substr(first + 1, last - first - 1)) &&
                is_word(all.substr(last + 1));
  }
  if (auxiliary) {
    wish.auxiliary = id;
    return {};
  }
  wish.device = TRY(PciAddress::parse(id).context("{}", keys.invalid("deviceID").message));
  return {};
}

Result<void> read_sriov(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  TRY(read_vf(keys, wanted, wish));
  if (!wish.auxiliary.empty())
    return fail(
        keys.invalid(fmt::format("{} is no VF; host-device takes devices of the auxiliary bus", wish.auxiliary)));
  wish.mac = TRY(keys.mac("mac"));
  wish.vf_settings.vlan = TRY(read_vlan(keys));
  wish.vf_settings.spoof_check = TRY(keys.boolean("spoofchk"));
  wish.vf_settings.trust = TRY(keys.boolean("trust"));
  wish.vf_settings.link_state = TRY(read_link_state(keys));
  wish.vf_settings.rate = TRY(read_rate(keys));
  return {};
}

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// Type sriov: a VF, with its settings made through the PF.
//
// Keys: deviceID or pciBusID (where no pool gave a VF), vlan, vlanQoS, vlanProto, mac, spoofchk, trust,
// link_state, min_tx_rate, max_tx_rate. A pod's own mac wins over the network's.
#include <algorithm>
#include <cctype>

#include "attach/json_fields.h"
#include "attach/types.h"

namespace railbed::attach {
namespace {

constexpr Word<os::VlanProto> kVlanProtos[] = {{"802.1q", os::VlanProto::k8021q},
                                               {"802.1Q", os::VlanProto::k8021q},
                                               {"802.1ad", os::VlanProto::k8021ad},
                                               {"802.1AD", os::VlanProto::k8021ad}};
constexpr Word<os::VfLinkState> kLinkStates[] = {
    {"auto", os::VfLinkState::kAuto}, {"enable", os::VfLinkState::kEnable}, {"disable", os::VfLinkState::kDisable}};

Result<std::optional<os::VfChange::Vlan>> read_vlan(const Keys& keys) {
  os::VfChange::Vlan vlan;
  std::optional<int> id = TRY(keys.number("vlan"));
  vlan.qos = TRY(keys.number("vlanQoS")).value_or(0);
  vlan.proto = TRY(keys.choice("vlanProto", kVlanProtos)).value_or(vlan.proto);
  if (!id.has_value()) return std::optional<os::VfChange::Vlan>{};
  vlan.id = *id;
  return std::optional(vlan);
}

Result<std::optional<os::VfChange::Rate>> read_rate(const Keys& keys) {
  std::optional<int> least = TRY(keys.number("min_tx_rate"));
  std::optional<int> most = TRY(keys.number("max_tx_rate"));
  if (!least.has_value() && !most.has_value()) return std::optional<os::VfChange::Rate>{};
  return std::optional(os::VfChange::Rate{least.value_or(0), most.value_or(0)});
}

}  // namespace

Result<std::optional<os::VfLinkState>> read_link_state(const Keys& keys) {
  return keys.choice("link_state", kLinkStates);
}

Result<void> read_vf(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  if (request.device.has_value()) {
    const plan::PoolVf& vf = *request.device;
    spec.device = vf.address;
    spec.pf = vf.pf;
    spec.vf = vf.index;
    spec.rdma = vf.rdma;
    spec.way = vf.device_type == DeviceType::kVfioPci ? Way::kVfio : Way::kMove;
    return {};
  }
  std::optional<std::string> text;
  if (request.selection.device_id.present) text = request.selection.device_id.value;
  for (const char* key : {"deviceID", "pciBusID"})
    if (!text.has_value()) text = TRY(keys.text(key));
  if (!text.has_value())
    return fail(Error{.code = Code::kInvalid,
                      .message = keys.invalid("there is no VF for it").message,
                      .hint = "annotate the network with k8s.v1.cni.cncf.io/resourceName and create VFs of that "
                              "resource by a policy, or set deviceID"});
  return read_device_id(keys, *text, spec);
}

Result<void> read_device_id(const Keys& keys, const std::string& id, InterfaceSpec& spec) {
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
    spec.auxiliary = id;
    return {};
  }
  spec.device = TRY(PciAddress::parse(id).context("{}", keys.invalid("deviceID").message));
  return {};
}

Result<void> read_sriov(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  TRY(read_vf(keys, request, spec));
  if (!spec.auxiliary.empty())
    return fail(
        keys.invalid(fmt::format("{} is not a VF; use host-device for devices of the auxiliary bus", spec.auxiliary)));
  spec.mac = TRY(keys.mac("mac"));
  spec.vf_settings.vlan = TRY(read_vlan(keys));
  spec.vf_settings.spoof_check = TRY(keys.boolean("spoofchk"));
  spec.vf_settings.trust = TRY(keys.boolean("trust"));
  spec.vf_settings.link_state = TRY(read_link_state(keys));
  spec.vf_settings.rate = TRY(read_rate(keys));
  return {};
}

namespace {

// What the configuration had set; the administrative MAC always.
Result<void> settings_before(const doc::Value& file, const doc::Value& was, os::VfChange& settings) {
  auto given = [&](const char* key) {
    const doc::Value* value = file.find(key);
    return value != nullptr && !value->is_null() && !(value->is_string() && value->as_string()->empty());
  };
  if (auto mac = MacAddress::parse(text_in(was, "AdminMAC")); mac.has_value()) settings.mac = *mac;
  constexpr int k8021ad = 0x88a8;
  if (given("vlan"))
    settings.vlan =
        os::VfChange::Vlan{number_in(was, "Vlan"), number_in(was, "VlanQoS"),
                           number_in(was, "VlanProto") == k8021ad ? os::VlanProto::k8021ad : os::VlanProto::k8021q};
  if (given("spoofchk")) settings.spoof_check = flag_in(was, "SpoofChk");
  if (given("trust") && was.find("Trust") != nullptr) settings.trust = flag_in(was, "Trust");
  if (given("min_tx_rate") || given("max_tx_rate"))
    settings.rate = os::VfChange::Rate{number_in(was, "MinTxRate"), number_in(was, "MaxTxRate")};
  int state = number_in(was, "LinkState");
  if (given("link_state") && state >= 0 && state <= 2) settings.link_state = static_cast<os::VfLinkState>(state);
  return {};
}

}  // namespace

Result<DetachReport> detach_original_sriov(Original& original) {
  auto file = TRY(original.left_file("/var/lib/cni/sriov", original.file_name()));
  if (!file.has_value()) return DetachReport{};
  auto found = TRY(original.vf_before(*file));
  const doc::Value* was = file->find("OrigVfState");
  if (!found.has_value() || was == nullptr || !was->is_object()) return DetachReport{};
  Before before = std::move(*found);
  take_name(text_in(*was, "HostIFName"), before);
  before.mtu = number_in(*was, "MTU");
  TRY(settings_before(*file, *was, before.vf_settings));
  if (auto mac = MacAddress::parse(text_in(*was, "EffectiveMAC")); mac.has_value() && before.way == Way::kMove) {
    std::vector<uint8_t> bytes(mac->bytes.begin(), mac->bytes.end());
    if (bytes != before.hw_address) {
      before.new_mac.emplace();
      std::ranges::copy(before.hw_address, before.new_mac->bytes.begin());
      before.hw_address = std::move(bytes);
    }
  }
  return original.restore_all(before, before.device->to_string());
}

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
#include "api/cni_schema.h"

#include <algorithm>

#include "api/ipam_parse.h"
#include "doc/fields.h"

namespace railbed::api {

namespace {

enum class KeyType : uint8_t { kText, kFlag, kNumber, kObject, kOnOff, kLinkState, kVlanProto, kMode, kMac, kTexts };

struct Key {
  std::string_view plugin;
  std::string_view name;
  KeyType type;
  int min = 0;
  int max = INT32_MAX;
};

constexpr Key kKeys[] = {
    {"sriov", "vlan", KeyType::kNumber, 0, 4094},
    {"sriov", "vlanQoS", KeyType::kNumber, 0, 7},
    {"sriov", "vlanProto", KeyType::kVlanProto},
    {"sriov", "mac", KeyType::kMac},
    {"sriov", "min_tx_rate", KeyType::kNumber},
    {"sriov", "max_tx_rate", KeyType::kNumber},
    {"sriov", "spoofchk", KeyType::kOnOff},
    {"sriov", "trust", KeyType::kOnOff},
    {"sriov", "link_state", KeyType::kLinkState},
    {"sriov", "logLevel", KeyType::kText},
    {"sriov", "logFile", KeyType::kText},
    {"ib-sriov", "pkey", KeyType::kText},
    {"ib-sriov", "link_state", KeyType::kLinkState},
    {"ib-sriov", "rdmaIsolation", KeyType::kFlag},
    {"ib-sriov", "ibKubernetesEnabled", KeyType::kFlag},
    {"ib-sriov", "vfioPciMode", KeyType::kFlag},
    {"ib-sriov", "logLevel", KeyType::kText},
    {"ib-sriov", "logFile", KeyType::kText},
    {"host-device", "device", KeyType::kText},
    {"host-device", "hwaddr", KeyType::kMac},
    {"host-device", "kernelpath", KeyType::kText},
    {"host-device", "DPDKMode", KeyType::kFlag},
    {"macvlan", "master", KeyType::kText},
    {"macvlan", "mode", KeyType::kMode},
    {"macvlan", "mtu", KeyType::kNumber, 0, 65535},
    {"macvlan", "mac", KeyType::kMac},
    {"macvlan", "linkInContainer", KeyType::kFlag},
    {"macvlan", "bcqueuelen", KeyType::kNumber},
    {"ipvlan", "master", KeyType::kText},
    {"ipvlan", "mode", KeyType::kMode},
    {"ipvlan", "mtu", KeyType::kNumber, 0, 65535},
    {"ipvlan", "linkInContainer", KeyType::kFlag},
    {"tuning", "sysctl", KeyType::kObject},
    {"tuning", "promisc", KeyType::kFlag},
    {"tuning", "allmulti", KeyType::kFlag},
    {"tuning", "mac", KeyType::kMac},
    {"tuning", "mtu", KeyType::kNumber, 0, 65535},
    {"tuning", "txQLen", KeyType::kNumber},
    {"tuning", "dataDir", KeyType::kText},
    {"sbr", "table", KeyType::kNumber},
    {"sbr", "addSourceHints", KeyType::kFlag},
    {"sbr", "gateways", KeyType::kTexts},
    {"vrf", "vrfname", KeyType::kText},
    {"vrf", "table", KeyType::kNumber},
};

constexpr std::string_view kReadTypes[] = {"sriov",  "ib-sriov", "host-device", "macvlan", "ipvlan",
                                           "tuning", "rdma",     "sbr",         "vrf"};
// Plugins that exist and that railbed leaves to others.
constexpr std::string_view kOtherTypes[] = {
    "bridge",  "vlan",     "ptp",        "loopback",       "dummy",
    "portmap", "firewall", "bandwidth",  "ipoib",          "ovs",
    "tap",     "bond",     "cnv-bridge", "cnv-tuning",     "userspace",
    "afxdp",   "aws-cni",  "azure-vnet", "route-override", "accelerated-bridge",
    "multus",  "flannel",  "calico",     "cilium-cni",     "ovn-k8s-cni-overlay"};

std::vector<doc::Elsewhere> elsewhere(std::string_view type) {
  std::vector<doc::Elsewhere> out{
      {"isRdma", "is a field of SriovNetworkNodePolicy, not of a CNI plugin",
       "remove it; for RDMA in the pod chain the plugin \"rdma\" or use a resource whose policy has isRdma"},
      {"deviceType", "is a field of SriovNetworkNodePolicy, not of a CNI plugin", ""},
      {"numVfs", "is a field of SriovNetworkNodePolicy, not of a CNI plugin", ""},
      {"resourceName", "is an annotation of the attachment definition (k8s.v1.cni.cncf.io/resourceName)", ""}};
  static std::vector<std::string> sentences = [] {
    std::vector<std::string> texts;
    for (const Key& key : kKeys) texts.push_back(fmt::format("is a field of the plugin \"{}\"", key.plugin));
    return texts;
  }();
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    const auto same_name = [&](const Key& key) { return key.plugin == type && key.name == kKeys[i].name; };
    if (std::ranges::none_of(kKeys, same_name)) out.push_back({kKeys[i].name, sentences[i], ""});
  }
  return out;
}

void check_mac(doc::Fields& fields, std::string_view name) {
  const auto text = fields.text(name);
  if (!text.present || text.value.empty()) return;
  if (auto mac = MacAddress::parse(text.value); !mac)
    fields.error(5, text.span, fmt::format("{}: {}", fields.path_of(name), mac.error().message));
}

void check_key(doc::Fields& fields, const Key& key) {
  switch (key.type) {
    case KeyType::kText:
      fields.text(key.name);
      break;
    case KeyType::kFlag:
      fields.boolean(key.name);
      break;
    case KeyType::kNumber:
      fields.integer(key.name, key.min, key.max);
      break;
    case KeyType::kObject:
      fields.object(key.name);
      break;
    case KeyType::kOnOff:
      fields.choice(key.name, {"on", "off"});
      break;
    case KeyType::kLinkState:
      fields.choice(key.name, {"auto", "enable", "disable"});
      break;
    case KeyType::kVlanProto:
      fields.choice(key.name, {"802.1q", "802.1ad", "802.1Q", "802.1AD"});
      break;
    case KeyType::kMode:
      if (key.plugin == "macvlan")
        fields.choice(key.name, {"bridge", "private", "vepa", "passthru"});
      else
        fields.choice(key.name, {"l2", "l3", "l3s"});
      break;
    case KeyType::kMac:
      check_mac(fields, key.name);
      break;
    case KeyType::kTexts:
      fields.list(key.name);
      break;
  }
}

void check_unknown_type(const Plugin& plugin, doc::Fields& fields) {
  if (std::ranges::find(kOtherTypes, plugin.type) != std::end(kOtherTypes)) return;
  std::vector<std::string_view> known(std::begin(kReadTypes), std::end(kReadTypes));
  known.insert(known.end(), std::begin(kOtherTypes), std::end(kOtherTypes));
  const std::string meant = doc::nearest(plugin.type, known);
  const doc::Value* type = plugin.config.find("type");
  fields
      .warning(1, type ? type->span : plugin.config.span,
               fmt::format("CNI plugin \"{}\" is not known; its fields are not checked", plugin.type))
      .with_fix(meant.empty() ? "" : fmt::format("did you mean \"{}\"?", meant));
}

// Rules between the fields of one plugin.
void check_together(const Plugin& plugin, doc::Fields& fields) {
  const auto number = [&](std::string_view key) {
    const doc::Value* value = plugin.config.find(key);
    return value && value->as_int() ? *value->as_int() : 0;
  };
  const doc::Value* ipam = plugin.config.find("ipam");
  const doc::Value* type = ipam ? ipam->find("type") : nullptr;
  if (plugin.type == "ib-sriov" && type && type->as_string() && *type->as_string() == "dhcp")
    fields.error(7, type->span, "dhcp does not work with ib-sriov").with_fix("use whereabouts, host-local or static");
  // Which partitions a port is in is told by the subnet manager; the kernel has no call that sets a VF's.
  if (const doc::Value* pkey = plugin.config.find("pkey");
      plugin.type == "ib-sriov" && pkey && pkey->as_string() && !pkey->as_string()->empty())
    fields
        .warning(8, pkey->span,
                 fmt::format("pkey {} is not set here: a port's partitions come from the subnet manager",
                             *pkey->as_string()))
        .with_fix("add the VFs' GUIDs to that partition there (partitions.conf of opensm, or UFM)");
  if (plugin.type != "sriov") return;
  if (number("vlanQoS") != 0 && number("vlan") == 0)
    fields.error(7, plugin.config.find("vlanQoS")->span, "vlanQoS needs a vlan that is not 0");
  const doc::Value* proto = plugin.config.find("vlanProto");
  if (proto && proto->as_string() && proto->as_string()->find("ad") != std::string::npos && number("vlan") == 0)
    fields.error(7, proto->span, "vlanProto 802.1ad needs a vlan that is not 0");
  const doc::Value* max_rate = plugin.config.find("max_tx_rate");
  if (max_rate && number("max_tx_rate") > 0 && number("min_tx_rate") > number("max_tx_rate"))
    fields.error(7, plugin.config.find("min_tx_rate")->span, "min_tx_rate is above max_tx_rate")
        .note(max_rate->span, "max_tx_rate is here");
}

}  // namespace

void check_plugin(const Plugin& plugin, const std::string& path, doc::Diagnostics& out) {
  doc::Fields fields(plugin.config, path, "RB-CNI", out);
  if (std::ranges::find(kReadTypes, plugin.type) == std::end(kReadTypes)) return check_unknown_type(plugin, fields);
  // What every plugin has, and what the runtime or Multus adds.
  fields.ignore({"type", "name", "cniVersion", "runtimeConfig", "args", "prevResult", "deviceID", "pciBusID",
                 "CNIDeviceInfoFile"});
  fields.object("capabilities");
  fields.object("dns");
  fields.boolean("ipMasq");
  if (const doc::Value* ipam = fields.object("ipam"); ipam && !ipam->as_object()->empty()) check_ipam(*ipam, out);
  for (const Key& key : kKeys)
    if (key.plugin == plugin.type) check_key(fields, key);
  check_together(plugin, fields);
  fields.finish(elsewhere(plugin.type));
}

}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
// The rows of the table of CNI types. Only included by cni_types.cc, and by attach/types for the list of identifiers.
//
// A type that creates or changes interfaces is one line of RAILBED_ATTACHED_TYPES, with its keys above as
// keys_<identifier>. Its identifier names the functions that its file src/attach/<identifier>.cc defines; without them
// the program does not link. All other types are rows of kOtherTypes. Limits are those of the kernel or the original
// plugin. `of_host` marks keys that name something of the node, which a tenant's definition may be refused for
// (agent/pod/tenant_definitions.h); keys that railbed ignores (logFile, whereabouts' files) are not marked.
// Threading: constants.
// Failure: none.
#pragma once

#include <array>
#include <utility>

#include "schema/cni_types.h"

namespace railbed::schema::table {

inline constexpr int kMostMbps = 1'000'000;
inline constexpr int kMostQueued = 1'000'000;
inline constexpr int kMostMtu = 65535;
inline constexpr ReservedNumbers kKernelTables{253, 255, "one of the kernel's own"};
inline constexpr ReservedNumbers kNoMtu{1, 67, "less than the 68 that IPv4 needs"};

inline constexpr std::string_view kOnOff[] = {"on", "off"};
inline constexpr std::string_view kLinkStates[] = {"auto", "enable", "disable"};
inline constexpr std::string_view kVlanProtos[] = {"802.1q", "802.1Q", "802.1ad", "802.1AD"};
inline constexpr std::string_view kMacvlanModes[] = {"bridge", "private", "vepa", "passthru"};
inline constexpr std::string_view kIpvlanModes[] = {"l2", "l3", "l3s"};

std::optional<std::string> no_mac(const std::string& text);
std::optional<std::string> no_guid(const std::string& text);
std::optional<std::string> no_address(const std::string& text);
std::optional<std::string> no_interface_name(const std::string& text);
std::optional<std::string> not_below_sys_devices(const std::string& text);

using enum KeyType;

inline constexpr auto keys_common = std::to_array<CniKey>({
    {.name = "type", .required = true},
    {.name = "name"},
    {.name = "cniVersion", .type = kAny},
    {.name = "ipam", .type = kShape, .shape = "$ipam"},
    {.name = "ipMasq", .type = kFlag},
    {.name = "dns", .type = kShape, .shape = "$dns"},
    {.name = "capabilities", .type = kShape, .shape = "$capabilities"},
    // What Multus and the runtime add.
    {.name = "runtimeConfig", .type = kAny},
    {.name = "args", .type = kAny},
    {.name = "prevResult", .type = kAny},
    {.name = "deviceID", .of_host = true},
    {.name = "pciBusID", .of_host = true},
    {.name = "CNIDeviceInfoFile", .type = kAny},
});

inline constexpr auto keys_sriov = std::to_array<CniKey>({
    {.name = "vlan", .type = kNumber, .max = 4094},
    {.name = "vlanQoS", .type = kNumber, .max = 7},
    {.name = "vlanProto", .type = kChoice, .choices = kVlanProtos},
    {.name = "mac", .problem = no_mac},
    {.name = "min_tx_rate", .type = kNumber, .max = kMostMbps},
    {.name = "max_tx_rate", .type = kNumber, .max = kMostMbps},
    {.name = "spoofchk", .type = kChoice, .choices = kOnOff},
    {.name = "trust", .type = kChoice, .choices = kOnOff},
    {.name = "link_state", .type = kChoice, .choices = kLinkStates},
    {.name = "logLevel"},
    {.name = "logFile"},
});

inline constexpr auto keys_ib_sriov = std::to_array<CniKey>({
    {.name = "pkey"},
    {.name = "guid", .problem = no_guid},
    {.name = "link_state", .type = kChoice, .choices = kLinkStates},
    {.name = "rdmaIsolation", .type = kFlag},
    {.name = "ibKubernetesEnabled", .type = kFlag},
    {.name = "vfioPciMode", .type = kFlag},
    {.name = "logLevel"},
    {.name = "logFile"},
});

inline constexpr auto keys_host_device = std::to_array<CniKey>({
    {.name = "device", .of_host = true},
    {.name = "hwaddr", .problem = no_mac, .of_host = true},
    {.name = "kernelpath", .problem = not_below_sys_devices, .of_host = true},
    {.name = "DPDKMode", .type = kFlag},
});

inline constexpr auto keys_macvlan = std::to_array<CniKey>({
    {.name = "master", .of_host = true},
    {.name = "mode", .type = kChoice, .choices = kMacvlanModes},
    {.name = "mtu", .type = kNumber, .max = kMostMtu},
    {.name = "mac", .problem = no_mac},
    {.name = "linkInContainer", .type = kFlag},
    {.name = "bcqueuelen", .type = kNumber, .max = kMostQueued},
});

inline constexpr auto keys_ipvlan = std::to_array<CniKey>({
    {.name = "master", .of_host = true},
    {.name = "mode", .type = kChoice, .choices = kIpvlanModes},
    {.name = "mtu", .type = kNumber, .max = kMostMtu},
    {.name = "linkInContainer", .type = kFlag},
});

inline constexpr auto keys_dummy = std::to_array<CniKey>({
    {.name = "ipam", .type = kShape, .shape = "$ipam", .required = true},
});

inline constexpr auto keys_tuning = std::to_array<CniKey>({
    {.name = "sysctl", .type = kObject},
    {.name = "promisc", .type = kFlag},
    {.name = "allmulti", .type = kFlag},
    {.name = "mac", .problem = no_mac},
    {.name = "mtu", .type = kNumber, .max = kMostMtu, .reserved = kNoMtu},
    {.name = "txQLen", .type = kNumber, .max = kMostQueued},
    {.name = "dataDir", .of_host = true},
});

inline constexpr std::array<CniKey, 0> keys_rdma{};

inline constexpr auto keys_sbr = std::to_array<CniKey>({
    {.name = "table", .type = kNumber, .min = 1, .reserved = kKernelTables},
    {.name = "addSourceHints", .type = kFlag},
    {.name = "gateways", .type = kTexts, .problem = no_address},
});

inline constexpr auto keys_vrf = std::to_array<CniKey>({
    {.name = "vrfname", .problem = no_interface_name, .required = true},
    {.name = "table", .type = kNumber},
});

// Keys that no plugin of the type reads and that manuals have all the same: a copied one does no harm.
inline constexpr std::pair<std::string_view, std::string_view> kOftenCopied[] = {{"host-device", "isRdma"}};

// TYPE(identifier, name, role, what it does, a second name of its program, whether its original needs its own files)
#define RAILBED_ATTACHED_TYPES(TYPE)                                                         \
  TYPE(sriov, "sriov", kMain, "a VF in the pod, with its settings", "", true)                \
  TYPE(ib_sriov, "ib-sriov", kMain, "an InfiniBand VF, with its GUID", "ib-sriov-cni", true) \
  TYPE(host_device, "host-device", kMain, "an interface of the host in the pod", "", false)  \
  TYPE(macvlan, "macvlan", kMain, "an interface with its own MAC on another", "", false)     \
  TYPE(ipvlan, "ipvlan", kMain, "an interface with the MAC of the one below", "", false)     \
  TYPE(dummy, "dummy", kMain, "a dummy interface with its addresses", "", false)             \
  TYPE(tuning, "tuning", kChained, "other settings of an interface", "", true)               \
  TYPE(rdma, "rdma", kChained, "the RDMA device of the interface", "", true)                 \
  TYPE(sbr, "sbr", kChained, "routing by source address", "", false)                         \
  TYPE(vrf, "vrf", kChained, "an interface in a VRF", "", false)

inline constexpr auto keys_host_local = std::to_array<CniKey>({
    {.name = "subnet"},
    {.name = "rangeStart"},
    {.name = "rangeEnd"},
    {.name = "gateway"},
    {.name = "ranges", .type = kShape, .shape = "$hostLocalRanges"},
    {.name = "dataDir", .of_host = true},
    {.name = "resolvConf", .of_host = true},
});

inline constexpr std::string_view kHostLocalNeeds[] = {"subnet", "ranges"};

inline constexpr auto keys_static = std::to_array<CniKey>({
    {.name = "addresses", .type = kShape, .shape = "$ipamAddresses"},
});

inline constexpr auto keys_whereabouts = std::to_array<CniKey>({
    {.name = "range"},
    {.name = "range_start"},
    {.name = "range_end"},
    {.name = "gateway"},
    {.name = "exclude", .type = kTexts},
    {.name = "ipRanges", .type = kShape, .shape = "$whereaboutsRanges"},
    {.name = "addresses", .type = kShape, .shape = "$ipamAddresses"},
    {.name = "network_name"},
    {.name = "node_slice_size", .type = kAny},
    {.name = "enable_overlapping_ranges", .type = kAny},
    {.name = "sleep_for_race", .type = kAny},
    {.name = "leader_lease_duration", .type = kAny},
    {.name = "leader_renew_deadline", .type = kAny},
    {.name = "leader_retry_period", .type = kAny},
    {.name = "reconciler_cron_expression", .type = kAny},
    {.name = "kubernetes", .type = kShape, .shape = "$whereaboutsKubernetes"},
    {.name = "configuration_path", .type = kAny},
    {.name = "log_file", .type = kAny},
    {.name = "log_level", .type = kAny},
    {.name = "datastore", .type = kAny},
    {.name = "etcd_host", .type = kAny},
    {.name = "etcd_username", .type = kAny},
    {.name = "etcd_password", .type = kAny},
    {.name = "etcd_key_file", .type = kAny},
    {.name = "etcd_cert_file", .type = kAny},
    {.name = "etcd_ca_cert_file", .type = kAny},
});

inline constexpr std::string_view kWhereaboutsNeeds[] = {"range", "ipRanges", "addresses"};

inline constexpr auto keys_dhcp = std::to_array<CniKey>({
    {.name = "daemonSocketPath", .of_host = true},
    {.name = "request", .type = kShape, .shape = "$dhcpRequests"},
    {.name = "provide", .type = kShape, .shape = "$dhcpProvided"},
    {.name = "priority", .type = kNumber},
});

inline constexpr CniType kOtherTypes[] = {
    {.name = "host-local",
     .role = CniRole::kIpam,
     .ours = true,
     .does = "addresses of ranges, stored in files of this node",
     .keys = keys_host_local,
     .one_of = kHostLocalNeeds,
     .ipam = IpamType::kHostLocal},
    {.name = "static",
     .role = CniRole::kIpam,
     .ours = true,
     .does = "the addresses given in the configuration",
     .keys = keys_static,
     .ipam = IpamType::kStatic},
    {.name = "whereabouts",
     .role = CniRole::kIpam,
     .ours = true,
     .does = "addresses of ranges that all nodes share",
     .keys = keys_whereabouts,
     .one_of = kWhereaboutsNeeds,
     .ipam = IpamType::kWhereabouts},
    {.name = "dhcp",
     .role = CniRole::kIpam,
     .ours = true,
     .does = "addresses that a DHCP server leases",
     .keys = keys_dhcp,
     .ipam = IpamType::kDhcp},
    {.name = "railbed", .role = CniRole::kMeta, .ours = true, .does = "all networks of a pod in one transaction"},

    // Plugins that exist and that railbed leaves to others.
    {.name = "accelerated-bridge"},
    {.name = "afxdp"},
    {.name = "antrea"},
    {.name = "aws-cni"},
    {.name = "azure-vnet"},
    {.name = "bond"},
    {.name = "bridge"},
    {.name = "calico"},
    {.name = "cilium-cni"},
    {.name = "cnv-bridge"},
    {.name = "coil"},
    {.name = "ehost-device"},
    {.name = "ipoib"},
    {.name = "kuryr-cni"},
    {.name = "loopback"},
    {.name = "macvtap"},
    {.name = "openshift-sdn"},
    {.name = "ovn-k8s-cni-overlay"},
    {.name = "ovs"},
    {.name = "ptp"},
    {.name = "tap"},
    {.name = "terway"},
    {.name = "userspace"},
    {.name = "vhostuser"},
    {.name = "vlan"},
    {.name = "weave-net"},
    {.name = "win-bridge"},
    {.name = "win-overlay"},
    {.name = "bandwidth", .role = CniRole::kChained},
    {.name = "cnv-tuning", .role = CniRole::kChained},
    {.name = "egress-cni", .role = CniRole::kChained},
    {.name = "firewall", .role = CniRole::kChained},
    {.name = "istio-cni", .role = CniRole::kChained},
    {.name = "linkerd-cni", .role = CniRole::kChained},
    {.name = "portmap", .role = CniRole::kChained},
    {.name = "route-override", .role = CniRole::kChained},
    {.name = "azure-vnet-ipam", .role = CniRole::kIpam},
    {.name = "calico-ipam", .role = CniRole::kIpam},
    {.name = "host-local-ipam", .role = CniRole::kIpam},
    {.name = "kube-ovn", .role = CniRole::kIpam},
    {.name = "multi-nic-ipam", .role = CniRole::kIpam},
    {.name = "nv-ipam", .role = CniRole::kIpam},
    {.name = "ovn-ipam", .role = CniRole::kIpam},
    {.name = "spiderpool", .role = CniRole::kIpam},
    {.name = "danm", .role = CniRole::kMeta},
    {.name = "flannel", .role = CniRole::kMeta},
    {.name = "multi-nic", .role = CniRole::kMeta},
    {.name = "multus", .role = CniRole::kMeta},
};

}  // namespace railbed::schema::table

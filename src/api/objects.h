// SPDX-License-Identifier: Apache-2.0
// The Kubernetes objects that railbed reads, as values.
//
// Kinds and fields are those of sriovnetwork.openshift.io/v1, k8s.cni.cncf.io/v1 and core v1; each struct
// here has a file of its own with its reader (policy.cc, network.cc, attachment.cc, pod.cc). Unknown fields
// are reported by the schema of the kind and not kept. Threading: plain values. Failure: see load.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/eswitch_mode.h"
#include "base/ip.h"
#include "base/kinds.h"
#include "base/pci_driver.h"
#include "base/types.h"
#include "doc/field.h"
#include "doc/value.h"

namespace railbed::api {

using doc::Field;
using doc::given;

struct Metadata {
  Field<std::string> name;
  Field<std::string> ns;  // metadata.namespace; "default" where it is absent
  std::map<std::string, std::string> labels;
  std::map<std::string, Field<doc::Value>> annotations;  // string values
  doc::Where span;                                       // of the object's first line
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

using railbed::DeviceType;
enum class WantedLinkType : uint8_t { kAny, kEthernet, kInfiniband };

// "ens1f0" or "ens1f0#2-7": VFs 2 to 7 of that PF, both included.
struct PfName {
  std::string name;
  struct Range {
    int first = 0;
    int last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::optional<Range> vfs;
  friend bool operator==(const PfName&, const PfName&) = default;
};

// Fields are combined with AND, elements of a list with OR; an empty selector matches nothing.
struct NicSelector {
  Field<std::string> vendor;     // lower case
  Field<std::string> device_id;  // of the PF, lower case
  std::vector<Field<PciAddress>> root_devices;
  std::vector<Field<PfName>> pf_names;
  Field<std::string> net_filter;
  doc::Where span;
  friend bool operator==(const NicSelector&, const NicSelector&) = default;
};

struct SriovNetworkNodePolicy {
  Metadata meta;
  Field<std::string> resource_name;
  std::map<std::string, std::string> node_selector;
  doc::Where node_selector_span;
  Field<int> priority{.value = 99};  // 0 to 99, 0 wins; absent is 99, as the operator's webhook says
  Field<int> num_vfs;
  Field<int> mtu;  // 0 where absent
  NicSelector nic_selector;
  Field<DeviceType> device_type;
  Field<bool> is_rdma;
  Field<WantedLinkType> link_type;
  Field<EswitchMode> eswitch_mode;
  Field<bool> need_vhost_net;
  Field<std::string> vdpa_type;
  Field<bool> exclude_topology;
  Field<bool> externally_managed;
  Field<doc::Value> bridge;
  friend bool operator==(const SriovNetworkNodePolicy&, const SriovNetworkNodePolicy&) = default;
};

inline const Kind& network_kind(bool infiniband) {
  return infiniband ? kind_named("SriovIBNetwork") : kind_named("SriovNetwork");
}

// SriovNetwork and SriovIBNetwork: both become a NetworkAttachmentDefinition (render.h).
struct SriovNetwork {
  bool infiniband = false;  // SriovIBNetwork
  Metadata meta;
  Field<std::string> network_namespace;
  Field<std::string> resource_name;
  Field<int> vlan;
  Field<int> vlan_qos;
  Field<std::string> vlan_proto;  // "802.1q" or "802.1ad"
  Field<bool> spoof_check;
  Field<bool> trust;
  Field<std::string> link_state;  // "auto", "enable", "disable"
  Field<int> min_tx_rate_mbps;
  Field<int> max_tx_rate_mbps;
  Field<doc::Value> ipam;  // the parsed JSON object, spans inside the manifest where possible
  Field<doc::Value> capabilities;
  Field<doc::Value> meta_plugins;  // an array of plugin objects
  Field<std::string> log_level;
  Field<std::string> log_file;
  friend bool operator==(const SriovNetwork&, const SriovNetwork&) = default;
};

// One plugin of a CNI configuration list. Keys that all types share are parsed; the others stay in `config`.
struct Plugin {
  std::string type;  // "sriov", "ib-sriov", "host-device", "macvlan", "ipvlan", "tuning", "rdma", …
  doc::Value config;
  friend bool operator==(const Plugin&, const Plugin&) = default;
};

// spec.config of an attachment definition: a list, even where the file has a single plugin.
struct NetworkConfig {
  std::string cni_version;
  std::string name;  // the definition's own name where the configuration has none
  std::vector<Plugin> plugins;
  friend bool operator==(const NetworkConfig&, const NetworkConfig&) = default;
};

struct NetworkAttachmentDefinition {
  Metadata meta;
  Field<std::string> resource_name;  // annotation k8s.v1.cni.cncf.io/resourceName, with prefix
  NetworkConfig config;              // without plugins where it is a file of the node that has the definition's name
  friend bool operator==(const NetworkAttachmentDefinition&, const NetworkAttachmentDefinition&) = default;
};

// One element of k8s.v1.cni.cncf.io/networks, short or JSON form.
struct NetworkSelection {
  Field<std::string> name;
  Field<std::string> ns;                // the pod's namespace where absent
  Field<std::string> interface;         // net1, net2, … by position where absent
  std::vector<Field<std::string>> ips;  // addresses with or without prefix length
  Field<MacAddress> mac;
  Field<Guid> infiniband_guid;
  std::vector<IpAddress> default_route;
  Field<doc::Value> cni_args;
  Field<std::string> device_id;
  Field<doc::Value> bandwidth;
  Field<doc::Value> port_mappings;
  doc::Where span;
  friend bool operator==(const NetworkSelection&, const NetworkSelection&) = default;
};

// A taint of a node, as "dedicated=rdma:NoSchedule".
struct Taint {
  std::string key;
  std::string value = {};
  std::string effect = {};  // "NoSchedule", "PreferNoSchedule", "NoExecute"
  doc::Where span = {};
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key = {};  // empty: of every taint
  std::string op = {};   // "Exists", "Equal"; empty is Equal
  std::string value = {};
  std::string effect = {};  // empty: of every effect
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// One condition on a label or a field of a node: "gpu In [h100, h200]".
struct NodeRequirement {
  std::string key;
  std::string op;
  std::vector<std::string> values = {};
  friend bool operator==(const NodeRequirement&, const NodeRequirement&) = default;
};

// Conditions that must all hold.
struct NodeTerm {
  std::vector<NodeRequirement> labels;
  std::vector<NodeRequirement> fields = {};
  friend bool operator==(const NodeTerm&, const NodeTerm&) = default;
};

// What a pod says of nodes beside its nodeName and nodeSelector (placement.h).
struct Placement {
  std::vector<Toleration> tolerations = {};
  std::vector<NodeTerm> affinity = {};  // required: one of them must fit; empty: any node does
  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Pod {
  Metadata meta;
  Field<std::string> node_name;  // spec.nodeName
  std::map<std::string, std::string> node_selector;
  std::vector<NetworkSelection> networks;
  std::map<std::string, int64_t> resources;  // extended resources, summed over containers' limits (or requests)
  Placement placement = {};
  friend bool operator==(const Pod&, const Pod&) = default;
  std::string key() const { return meta.ns.value + "/" + meta.name.value; }
};

struct Node {
  Metadata meta;
  // Annotation railbed.dev/soft-rdma: "true": RDMA-marked VFs of this node get a soft-RoCE device.
  Field<bool> soft_rdma;
  std::optional<std::vector<Taint>> taints = {};  // absent: the object has no spec, as one for labels only
  std::string provider_id = {};                   // spec.providerID: "aws:///us-east-1a/i-0abc"
  friend bool operator==(const Node&, const Node&) = default;
};

struct Objects {
  std::vector<SriovNetworkNodePolicy> policies;
  std::vector<SriovNetwork> networks;
  std::vector<NetworkAttachmentDefinition> attachments;
  std::vector<Pod> pods;
  std::vector<Node> nodes;
  std::map<std::string, int> others;  // number of objects that were read and not used, by kind
  friend bool operator==(const Objects&, const Objects&) = default;
};

}  // namespace railbed::api

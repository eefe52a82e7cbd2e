// SPDX-License-Identifier: Apache-2.0
// SriovNetworkNodeState: the desired state of one node (spec, written by the operator) and its actual state (status,
// written by its agent).
//
// Why: policies reach a node through it, and users and other tools see the result in it; keys and meaning are those of
// sriovnetwork.openshift.io/v1. Two keys of a VF group are railbed's own (needVhostNet, excludeTopology): the original
// passes them to its device plugin in another way. Three keys of the status are railbed's own, too (conditions,
// observedGeneration, policies): definitions that the SR-IOV operator installed prune them, and readers then use
// syncStatus. What a node gets beyond the schema is in wanted.h.
// Spec: the kind's published definition, src/schema/data/sriov.yaml.
// Threading: plain values.
// Failure: parse_node_state reports values of wrong types; unknown keys are left to their writers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

inline constexpr std::string_view kNodeStateKind = kind_named("SriovNetworkNodeState").name;

// VFs of one PF that belong to one policy.
struct NodeStateVfGroup {
  std::string policy_name;
  std::string resource_name;  // without prefix
  DeviceType device_type = DeviceType::kNetdevice;
  PfName::Range vfs;
  int mtu = 0;  // 0: stays as it is
  bool is_rdma = false;
  std::string vdpa_type;
  bool need_vhost_net = false;
  bool exclude_topology = false;
  friend bool operator==(const NodeStateVfGroup&, const NodeStateVfGroup&) = default;
};

struct NodeStatePf {
  PciAddress address;
  std::string name;
  int num_vfs = 0;
  int mtu = 0;  // 0: stays as it is
  WantedLinkType link_type = WantedLinkType::kAny;
  EswitchMode eswitch_mode = EswitchMode::kLegacy;
  bool externally_managed = false;
  std::vector<NodeStateVfGroup> groups;  // by first VF
  friend bool operator==(const NodeStatePf&, const NodeStatePf&) = default;
};

struct FoundVf {
  int index = 0;
  PciAddress address;
  std::string vendor, device_id, driver;
  std::string name, mac, guid;  // empty where it has none here
  int mtu = 0;
  int vlan = 0;
  friend bool operator==(const FoundVf&, const FoundVf&) = default;
};

struct FoundNic {
  PciAddress address;
  std::string vendor, device_id, driver;
  std::string name;
  std::vector<std::string> alt_names;
  std::string mac;
  int mtu = 0;
  int num_vfs = 0;
  int total_vfs = 0;             // 0: no SR-IOV
  std::string link_type;         // "ETH", "IB"; empty: unknown
  std::string link_speed;        // "100000 Mb/s"
  std::string link_admin_state;  // "up", "down"
  std::string eswitch_mode;      // empty: no eswitch
  std::vector<FoundVf> vfs;
  friend bool operator==(const FoundNic&, const FoundNic&) = default;
};

// What became of a policy on this node, as its agent reports.
struct NodeStatePolicy {
  enum class State : uint8_t {
    kApplied,
    kHeld,  // part of it waits: pods have VFs that would change
    kFailed,
  };
  std::string name;
  State state = State::kApplied;
  std::string message;  // of kFailed: the step, and errno where there is one
  friend bool operator==(const NodeStatePolicy&, const NodeStatePolicy&) = default;
};

// As metav1.Condition.
struct NodeStateCondition {
  std::string last_transition_time;  // RFC 3339
  std::string message;
  std::string reason;  // one word in CamelCase
  std::string status;  // "True", "False", "Unknown"
  std::string type;
  friend bool operator==(const NodeStateCondition&, const NodeStateCondition&) = default;
};

struct SriovNetworkNodeState {
  Metadata meta;
  int generation = 0;            // metadata.generation, which counts the changes of the spec
  bool decided = false;          // spec.interfaces is there, may it be empty; without it nothing is to be changed
  std::vector<NodeStatePf> pfs;  // spec.interfaces
  std::string rdma_mode;         // spec.system.rdmaMode: "shared", "exclusive"; empty: no pool says one
  std::vector<FoundNic> nics;    // of the status
  std::string sync_status;       // "Succeeded", "InProgress", "Failed"; empty before the agent has reported
  std::string last_sync_error;
  int observed_generation = 0;            // of the spec that the status speaks about; 0: not reported
  std::vector<NodeStatePolicy> policies;  // of the status; railbed's own key, as observedGeneration
  std::vector<NodeStateCondition> conditions;
  std::string found_rdma_mode;  // status.system.rdmaMode; empty: not reported
  friend bool operator==(const SriovNetworkNodeState&, const SriovNetworkNodeState&) = default;
};

// Nothing when the object has errors.
std::optional<SriovNetworkNodeState> parse_node_state(const doc::Value& object, doc::Diagnostics& diagnostics);

// {interfaces: […], system: {rdmaMode}}, as the operator writes a decided `spec`.
doc::Value node_state_spec(const std::vector<NodeStatePf>& pfs, std::string_view rdma_mode = {});
// {conditions: […], interfaces: […], syncStatus, lastSyncError, observedGeneration, policies: […], system: {…}}, as an
// agent writes `status`.
doc::Value node_state_status(const SriovNetworkNodeState& state);

}  // namespace railbed::api

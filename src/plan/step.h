// SPDX-License-Identifier: Apache-2.0
// The steps that change a machine, and the plan that holds them.
//
// Why: what `plan` prints is what `up` applies: the same values. Steps of one PF run in order; steps of different PFs
// are independent and run in parallel. Each step has its reason and names the disrupted workloads.
//
// Of one PF, steps on the PF come first (autoprobe off, MTU raised, up, VFs removed, eswitch mode, VFs created,
// autoprobe on), then those of each VF (MAC or GUIDs, bind, MTU), then those that must wait for the VFs when settings
// are restored (MTU lowered, down, autoprobe). Steps of different VFs (vf_of) are independent of each other.
//
// A driver binds to a VF only while the PF's autoprobe is on (or the VF has a driver_override), so it is switched on
// again once the VFs exist. VF addresses are all zero if offset and stride were not known before the VFs existed: use
// the virtfn link then.
//
// Threading: plain values.
// Failure: none; what cannot be done is in the plan as a problem, not as a step.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/eswitch_mode.h"
#include "base/pci_driver.h"
#include "base/types.h"
#include "graph/outcome.h"
#include "plan/pod_step.h"

namespace railbed::plan {

struct SetAutoprobe {  // sriov_drivers_autoprobe
  bool on = false;
  friend bool operator==(const SetAutoprobe&, const SetAutoprobe&) = default;
};
struct SetPfUp {
  bool up = true;
  friend bool operator==(const SetPfUp&, const SetPfUp&) = default;
};
struct SetPfMtu {
  int from = 0;
  int to = 0;
  friend bool operator==(const SetPfMtu&, const SetPfMtu&) = default;
};
struct SetEswitchMode {
  EswitchMode mode = EswitchMode::kLegacy;
  friend bool operator==(const SetEswitchMode&, const SetEswitchMode&) = default;
};
struct SetVfCount {  // sriov_numvfs; the kernel allows n to m only by way of 0
  int from = 0;
  int to = 0;
  friend bool operator==(const SetVfCount&, const SetVfCount&) = default;
};
struct SetVfMac {  // the administrative MAC, through the PF
  VfIndex vf;
  MacAddress mac;
  friend bool operator==(const SetVfMac&, const SetVfMac&) = default;
};
struct SetVfGuids {
  VfIndex vf;
  Guid node_guid;
  Guid port_guid;
  friend bool operator==(const SetVfGuids&, const SetVfGuids&) = default;
};
struct BindVf {  // to its final driver, in one bind; unbinds `from` first where it has one
  VfIndex vf;
  PciAddress address;
  std::string from;  // the driver that it has; empty: none
  DeviceType device_type = DeviceType::kNetdevice;
  friend bool operator==(const BindVf&, const BindVf&) = default;
};
// What people read about the driver: "vfio-pci", "the kernel's network driver".
std::string_view driver_words(DeviceType type);

struct SetVfMtu {
  VfIndex vf;
  PciAddress address;
  int from = 0;  // 0: not known yet, because an earlier step makes the VF
  int to = 0;
  friend bool operator==(const SetVfMtu&, const SetVfMtu&) = default;
};
// Firmware settings or kernel arguments that take effect with a reboot. This version reports them and does nothing.
struct NeedsReboot {
  std::string what;  // "LINK_TYPE_P1=IB", "intel_iommu=on iommu=pt"
  friend bool operator==(const NeedsReboot&, const NeedsReboot&) = default;
};

using Action = std::variant<SetAutoprobe, SetPfUp, SetPfMtu, SetEswitchMode, SetVfCount, SetVfMac, SetVfGuids, BindVf,
                            SetVfMtu, NeedsReboot>;

enum class Disturbs : uint8_t { kNothing, kPods, kDrain, kReboot };
std::string_view disturbs_name(Disturbs disturbs);  // "nothing", "pods", "drain", "reboot"

struct Step {
  std::string id;  // stable within a plan: "0000:01:00.0/vf-count", "0000:01:00.0/vf3/bind"
  Action action;
  std::string reason;  // "policy rail0 (policy.yaml:9:3) requests 4 VFs, found 0"
  std::string policy;  // "namespace/name"; empty for steps back to the baseline
  Disturbs disturbs = Disturbs::kNothing;
  std::vector<std::string> pods;  // the pods ("namespace/name") that the step disturbs
  friend bool operator==(const Step&, const Step&) = default;
};
// One line for people: "create 4 VFs", "VF 3: MTU 9000 (now 1500)".
std::string describe(const Step& step);
// The VF that a step is about; nothing for steps on the PF.
std::optional<VfIndex> vf_of(const Action& action);

struct PfPlan {
  PciAddress pf;
  std::string pf_name;
  std::vector<Step> steps;
  friend bool operator==(const PfPlan&, const PfPlan&) = default;
};

// One VF that pods can get under a resource name, as it is after the steps.
struct PoolVf {
  PciAddress pf;
  std::string pf_name;
  VfIndex index;
  PciAddress address;
  std::string policy;
  DeviceType device_type = DeviceType::kNetdevice;
  bool rdma = false;
  bool infiniband = false;
  int mtu = 0;  // 0: stays as it is
  std::optional<int> numa_node;
  std::string held_by;  // the pod that holds it (or kUnknownHolder); empty: it is free
  friend bool operator==(const PoolVf&, const PoolVf&) = default;
};

// A change that waits for pods to go, because it would take their VFs away.
struct HeldBack {
  PciAddress pf;
  std::string pf_name;
  std::string change;             // "4 VFs instead of 2: all VFs of the PF are destroyed and made again"
  std::string reason;             // as Step::reason
  std::string policy;             // as Step::policy
  std::vector<std::string> pods;  // holders by "namespace/name", or kUnknownHolder
  std::string to_string() const;  // change, reason and pods in one line
  friend bool operator==(const HeldBack&, const HeldBack&) = default;
};
// A VF with a network driver but no interface here is in another namespace; railbed has no record of who moved it.
inline constexpr std::string_view kUnknownHolder = "(another network namespace)";

using graph::outcome_name;
using graph::PolicyOutcome;

// A pod of this node and one of its networks.
struct PodNetworkPlan {
  std::string interface;
  std::string network;   // "namespace/name"
  std::string type;      // of the first plugin; empty: the network does not exist
  std::string resource;  // "openshift.io/name"; empty: needs no VF
  friend bool operator==(const PodNetworkPlan&, const PodNetworkPlan&) = default;
};
struct PodPlan {
  std::string pod;  // "namespace/name"
  std::vector<PodNetworkPlan> networks;
  friend bool operator==(const PodPlan&, const PodPlan&) = default;
};

struct NodePlan {
  std::string node;
  std::vector<PfPlan> pfs;                               // only those with steps, by address
  std::map<std::string, std::vector<PoolVf>> resources;  // "openshift.io/name" → its VFs, by PF and index
  std::map<PciAddress, double> port_gbps;                // of PFs with VFs in `resources`, where their rate is known
  std::vector<PolicyOutcome> policies;
  std::vector<HeldBack> held_back;
  std::vector<PodPlan> pods;
  // In the order in which they are carried out. Those before kAttach come before the steps on PFs, the others behind.
  std::vector<PodStep> pod_steps;
  // Whether pod_steps were decided: railbed's state is on its node only, facts of other nodes do not have it.
  bool pods_decided = false;
  bool soft_rdma = false;

  // Whether `up` changes anything on the machine. NeedsReboot steps do not count: they are only reported; nor do steps
  // of pods that cannot be done.
  bool changes() const;
  friend bool operator==(const NodePlan&, const NodePlan&) = default;
};

}  // namespace railbed::plan

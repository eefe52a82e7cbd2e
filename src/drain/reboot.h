// SPDX-License-Identifier: Apache-2.0
// Whether a node restarts for a setting that only a restart brings.
//
// Why: the SR-IOV operator restarts nodes until an argument is on the kernel's command line, which some kernels never
// show: a loop. Here the cause is the missing effect (no IOMMU group, another mode of the RDMA subsystem, another value
// of the firmware), never a missing argument. There is one restart per cause: if the effect is missing after it, the
// setting is NotEffective, and only an administrator resets that. The node has the last word (options of its agent),
// and the arguments are a closed list: no text of an object reaches a boot loader.
// Threading: pure functions over values.
// Failure: none; the verdict has the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drain/pods.h"

namespace railbed::drain {

enum class RebootCause : uint8_t { kIommu, kRdmaMode, kFirmware };
// "iommu", "rdma-mode", "firmware"
std::string_view name_of(RebootCause cause);

enum class KernelArgument : uint8_t { kIntelIommuOn, kIommuPassThrough, kNetnsExclusive, kNetnsShared };
// "intel_iommu=on"
std::string_view text_of(KernelArgument argument);

enum class Processor : uint8_t { kIntel, kAmd, kArm };
enum class RdmaMode : uint8_t { kShared, kExclusive };

// What a node was asked for, and what it has. Absent: not asked for, or not known, which is never a cause.
struct RebootFacts {
  Processor processor = Processor::kIntel;
  std::optional<bool> iommu_groups = {};  // whether the VFs that vfio needs have one; set only if one needs it
  std::optional<RdmaMode> wanted_rdma_mode = {};
  std::optional<RdmaMode> rdma_mode = {};     // as the kernel reports it
  std::optional<bool> firmware_differs = {};  // a value that was written is not in effect
  friend bool operator==(const RebootFacts&, const RebootFacts&) = default;
};

struct MissingEffect {
  RebootCause cause = RebootCause::kIommu;
  std::string what;                            // "/sys/kernel/iommu_groups is empty"
  std::vector<KernelArgument> arguments = {};  // that bring it; may be none
  std::string advice = {};                     // what an administrator can do
  friend bool operator==(const MissingEffect&, const MissingEffect&) = default;
};
// In the order of RebootCause.
std::vector<MissingEffect> missing_effects(const RebootFacts& facts);

// A restart that was ordered: kept on the node and by the operator.
struct RebootRecord {
  std::string node;
  RebootCause cause = RebootCause::kIommu;
  std::string boot_id;  // that ended, or is to end
  Time at = {};
  friend bool operator==(const RebootRecord&, const RebootRecord&) = default;
};

struct RebootBudget {
  size_t per_node_and_day = 2;
  size_t per_cluster_and_hour = 5;
  friend bool operator==(const RebootBudget&, const RebootBudget&) = default;
};

struct RebootView {
  std::string node;
  std::string boot_id;
  bool allows_reboot = false;     // --allow reboot of its agent
  bool allows_arguments = false;  // --allow kernel-args
  std::vector<MissingEffect> missing = {};
  std::vector<RebootRecord> records = {};  // of all nodes; those of this node also from its own file
  RebootBudget budget = {};
  Time now = {};
};

struct RebootDecision {
  enum class Verdict : uint8_t {
    kNotNeeded,
    kReboot,
    kInProgress,    // ordered in this boot
    kWaits,         // for the budget
    kNotAllowed,    // by the node: condition NotAllowedHere
    kNotEffective,  // was restarted for this cause, and the effect is missing
  };
  Verdict verdict = Verdict::kNotNeeded;
  std::vector<RebootCause> causes = {};        // of one restart
  std::vector<KernelArgument> arguments = {};  // each once
  std::string message = {};
  std::optional<Time> again = {};  // of kWaits
  friend bool operator==(const RebootDecision&, const RebootDecision&) = default;
};

RebootDecision decide_reboot(const RebootView& view);

}  // namespace railbed::drain

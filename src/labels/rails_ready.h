// SPDX-License-Identifier: Apache-2.0
// Whether a node's rails are as ordered: the Node's condition railbed.dev/RailsReady, and its start taint.
//
// Why: after a boot, pods start before the VFs exist, and a job with seven of eight rails hangs. The condition says of
// this boot that each rail's port is there and up, has its VFs, and is on offer to pods; the start taint keeps pods
// away until then. This is the level "configured": a node's verdict depends on that node alone, never on a neighbour
// that would have to answer, so that all nodes of a cluster can start at once.
//
// The boot is in the message ("… (boot 7c9e…)"), because a condition has no field for it, and one field is written at
// once. An agent writes the condition in its first pass. A restart does not take the former condition away, so a
// reader compares the boot with the Node's status.nodeInfo.bootID. Nothing is ever evicted: the effect is NoSchedule,
// and after the rails were ready once in a boot the taint does not come back in it.
// Threading: pure functions.
// Failure: none; what is not known makes the status Unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"
#include "facts/node_facts.h"
#include "labels/node_labels.h"

namespace railbed::labels {

inline constexpr std::string_view kRailsReadyCondition = "railbed.dev/RailsReady";
// The key of the start taint; its effect is NoSchedule.
inline constexpr std::string_view kStartTaint = "railbed.dev/rails-not-ready";

// One rail of the node's order.
struct WantedRail {
  int rail = 0;
  PciAddress pf;
  std::string pf_name;
  int vfs = 0;
  std::vector<std::string> resources = {};  // each has a healthy VF of this rail
  std::optional<double> rated_gbps = {};    // absent: its speed is not compared
  friend bool operator==(const WantedRail&, const WantedRail&) = default;
};

enum class RailsStatus : uint8_t { kTrue, kFalse, kUnknown };
std::string_view name_of(RailsStatus status);  // "True", "False", "Unknown"

struct RailsCondition {
  RailsStatus status = RailsStatus::kUnknown;
  std::string reason;      // one word in CamelCase
  std::string message;     // which rail and why; without the boot
  std::string boot;        // empty: not known
  bool was_ready = false;  // True at some time in this boot
  friend bool operator==(const RailsCondition&, const RailsCondition&) = default;
};

struct RailsView {
  const std::optional<std::vector<WantedRail>>& wanted;  // nothing: no order is known yet; empty: no rails are wanted
  const Offered& offered;
  const facts::NodeFacts* facts = nullptr;    // null: the machine was not looked at yet
  std::string boot;                           // /proc/sys/kernel/random/boot_id
  std::optional<RailsCondition> before = {};  // the Node's
};
RailsCondition rails_ready(const RailsView& view);

// The condition for status.conditions of a Node. `before` is the stored one or null; `now` is RFC 3339.
doc::Value condition_object(const RailsCondition& condition, const doc::Value& before, std::string_view now);
// The condition of a Node; nothing where it has none.
std::optional<RailsCondition> rails_condition(const doc::Value& node);

enum class TaintStep : uint8_t { kNothing, kAdd, kRemove };
struct TaintView {
  bool is_asked = false;    // new taints are set only where they are asked for
  bool is_present = false;  // a kubelet may have registered its node with it
  std::string boot;         // of the Node: status.nodeInfo.bootID
  std::optional<RailsCondition> condition = {};
};
struct TaintDecision {
  TaintStep step = TaintStep::kNothing;
  std::string why;
  friend bool operator==(const TaintDecision&, const TaintDecision&) = default;
};
TaintDecision start_taint(const TaintView& view);

bool has_start_taint(const doc::Value& node);
// A merge patch of the Node with its other taints as they are; nothing where the step is done already. It has the
// resourceVersion, since a merge patch replaces the whole list: another writer's taint is not lost.
std::optional<doc::Value> taint_patch(const doc::Value& node, TaintStep step);

}  // namespace railbed::labels

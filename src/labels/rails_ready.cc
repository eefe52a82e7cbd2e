// SPDX-License-Identifier: Apache-2.0
#include "labels/rails_ready.h"

#include <algorithm>

#include "base/format.h"
#include "doc/text.h"
#include "facts/rails.h"
#include "facts/sriov_advice.h"

namespace railbed::labels {
namespace {

constexpr std::string_view kBootWords = " (boot ";
constexpr std::string_view kNoSchedule = "NoSchedule";
constexpr std::string_view kWasReadyWords = ", ready before";

bool is_boot_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos;
}

struct RailTrouble {
  std::string_view reason;
  std::string message;
};

// An InfiniBand port without a subnet manager has a link and carries nothing. Empty: it is up, or its state is unknown.
std::string why_down(const facts::Nic& nic) {
  if (const facts::RdmaPort* const port = facts::hardware_port(nic); port != nullptr) {
    if (port->state.empty() || port->state == "ACTIVE") return "";
    return port->state == "DOWN"
               ? "the link is down"
               : fmt::format("the port is {}, not ACTIVE: no subnet manager has set it up", port->state);
  }
  const bool is_down = !nic.netdevs.empty() && std::ranges::all_of(nic.netdevs, [](const facts::NetInterface& netdev) {
    return netdev.carrier == false;
  });
  return is_down ? "the link is down" : "";
}

// What one rail lacks; nothing: it is as ordered. The first of a rail's troubles causes the others.
std::optional<RailTrouble> trouble_of(const WantedRail& rail, const RailsView& view) {
  const auto& nics = view.facts->nics;
  const auto nic = std::ranges::find_if(nics, [&](const facts::Nic& one) { return one.pci.address == rail.pf; });
  const std::string name =
      fmt::format("rail {} ({}, {})", rail.rail, doc::printable(rail.pf_name), rail.pf.to_string());
  if (nic == nics.end()) return RailTrouble{"PortMissing", fmt::format("{}: no such NIC on this machine", name)};
  if (nic->num_vfs < rail.vfs)
    return RailTrouble{"VfsMissing", fmt::format("{}: {} of {} VFs exist", name, nic->num_vfs, rail.vfs)};
  if (const std::string down = why_down(*nic); !down.empty())
    return RailTrouble{"LinkDown", fmt::format("{}: {}", name, down)};
  const std::optional<double> speed = facts::port_speed(*nic);
  if (speed && rail.rated_gbps && *speed < *rail.rated_gbps)
    return RailTrouble{"LinkSlow", fmt::format("{}: the link has {} of {} Gb/s", name, *speed, *rail.rated_gbps)};
  for (const std::string& resource : rail.resources) {
    const auto offered = view.offered.find(resource);
    const bool is_offered =
        offered != view.offered.end() &&
        std::ranges::any_of(offered->second, [&](const OfferedVf& vf) { return vf.healthy && vf.pf == rail.pf; });
    if (!is_offered)
      return RailTrouble{"NotOffered",
                         fmt::format("{}: no healthy VF is on offer as {}", name, doc::printable(resource))};
  }
  return std::nullopt;
}

void judge(const RailsView& view, RailsCondition& out) {
  const auto conclude = [&](RailsStatus status, std::string_view reason, std::string message) {
    out.status = status;
    out.reason = reason;
    out.message = std::move(message);
  };
  if (!is_boot_id(view.boot)) return conclude(RailsStatus::kUnknown, "BootUnknown", "the id of this boot is not known");
  if (view.facts == nullptr ||
      std::ranges::find(view.facts->unavailable, facts::kPciFunctions) != view.facts->unavailable.end())
    return conclude(RailsStatus::kUnknown, "MachineUnknown", "the NICs of this machine are not known yet");
  if (!view.wanted)
    return conclude(RailsStatus::kUnknown, "NoOrder", "no node state with a decision of the operator is known yet");
  std::optional<RailTrouble> first;
  size_t troubles = 0;
  for (const WantedRail& rail : *view.wanted) {
    std::optional<RailTrouble> trouble = trouble_of(rail, view);
    if (!trouble) continue;
    ++troubles;
    if (!first) first = std::move(trouble);
  }
  if (first) {
    if (troubles > 1) first->message += fmt::format("; {} more of {} rails", troubles - 1, view.wanted->size());
    return conclude(RailsStatus::kFalse, first->reason, std::move(first->message));
  }
  if (view.wanted->empty()) return conclude(RailsStatus::kTrue, "NoRailsWanted", "no policy wants VFs on this node");
  conclude(RailsStatus::kTrue, "RailsAsOrdered", fmt::format("{} rails are as ordered", view.wanted->size()));
}

RailsStatus status_named(std::string_view name) {
  if (name == "True") return RailsStatus::kTrue;
  return name == "False" ? RailsStatus::kFalse : RailsStatus::kUnknown;
}

std::string string_at(const doc::Value& object, std::string_view key) {
  const doc::Value* const value = object.find(key);
  return value != nullptr && value->is_string() ? *value->as_string() : "";
}

// Takes the boot off the end of the message.
void read_boot(RailsCondition& out) {
  std::string_view rest = out.message;
  const size_t at = rest.rfind(kBootWords);
  if (at == std::string_view::npos || !rest.ends_with(')')) return;
  std::string_view boot = rest.substr(at + kBootWords.size());
  boot.remove_suffix(1);
  const bool was_ready = boot.ends_with(kWasReadyWords);
  if (was_ready) boot.remove_suffix(kWasReadyWords.size());
  if (!is_boot_id(boot)) return;
  out.boot = boot;
  out.was_ready = was_ready || out.status == RailsStatus::kTrue;
  out.message.resize(at);
}

bool is_start_taint(const doc::Value& taint) {
  return string_at(taint, "key") == kStartTaint && string_at(taint, "effect") == kNoSchedule;
}

const doc::Value::Array& taints_of(const doc::Value& node) {
  static const doc::Value::Array none;
  const doc::Value* const spec = node.find("spec");
  const doc::Value* const taints = spec == nullptr ? nullptr : spec->find("taints");
  return taints == nullptr || taints->as_array() == nullptr ? none : *taints->as_array();
}

}  // namespace

std::string_view name_of(RailsStatus status) {
  switch (status) {
    case RailsStatus::kTrue:
      return "True";
    case RailsStatus::kFalse:
      return "False";
    case RailsStatus::kUnknown:
      break;
  }
  return "Unknown";
}

RailsCondition rails_ready(const RailsView& view) {
  RailsCondition out;
  if (is_boot_id(view.boot)) out.boot = view.boot;
  judge(view, out);
  const bool is_same_boot = view.before && !out.boot.empty() && view.before->boot == out.boot;
  out.was_ready = out.status == RailsStatus::kTrue || (is_same_boot && view.before->was_ready);
  return out;
}

doc::Value condition_object(const RailsCondition& condition, const doc::Value& before, std::string_view now) {
  std::string message = condition.message;
  if (!condition.boot.empty())
    message += fmt::format("{}{}{})", kBootWords, condition.boot,
                           condition.was_ready && condition.status != RailsStatus::kTrue ? kWasReadyWords : "");
  const std::string_view status = name_of(condition.status);
  const std::string since = string_at(before, "lastTransitionTime");
  const bool is_changed = since.empty() || string_at(before, "status") != status;
  doc::Value out = doc::Value::object();
  out.set("type", kRailsReadyCondition);
  out.set("status", status);
  out.set("reason", condition.reason);
  out.set("message", std::move(message));
  out.set("lastHeartbeatTime", now);
  out.set("lastTransitionTime", is_changed ? now : std::string_view(since));
  return out;
}

std::optional<RailsCondition> rails_condition(const doc::Value& node) {
  const doc::Value* const status = node.find("status");
  const doc::Value* const conditions = status == nullptr ? nullptr : status->find("conditions");
  if (conditions == nullptr || conditions->as_array() == nullptr) return std::nullopt;
  for (const doc::Value& one : *conditions->as_array()) {
    if (string_at(one, "type") != kRailsReadyCondition) continue;
    RailsCondition out{.status = status_named(string_at(one, "status")),
                       .reason = string_at(one, "reason"),
                       .message = string_at(one, "message"),
                       .boot = "",
                       .was_ready = false};
    read_boot(out);
    return out;
  }
  return std::nullopt;
}

TaintDecision start_taint(const TaintView& view) {
  const bool is_current = view.condition && !view.boot.empty() && view.condition->boot == view.boot;
  if (view.is_present) {
    if (!is_current) return {TaintStep::kNothing, "the agent of this node has not reported its rails in this boot"};
    if (view.condition->status != RailsStatus::kTrue)
      return {TaintStep::kNothing, fmt::format("{}: {}", view.condition->reason, view.condition->message)};
    return {TaintStep::kRemove, view.condition->message};
  }
  if (!view.is_asked) return {TaintStep::kNothing, "no start taint is asked for"};
  if (is_current && view.condition->was_ready) return {TaintStep::kNothing, "the rails were ready in this boot"};
  if (view.boot.empty()) return {TaintStep::kNothing, "the kubelet has not reported the id of this boot"};
  return {TaintStep::kAdd, "the rails were not ready in this boot yet"};
}

bool has_start_taint(const doc::Value& node) {
  return std::ranges::any_of(taints_of(node), is_start_taint);
}

std::optional<doc::Value> taint_patch(const doc::Value& node, TaintStep step) {
  if (step == TaintStep::kNothing || has_start_taint(node) == (step == TaintStep::kAdd)) return std::nullopt;
  doc::Value taints = doc::Value::array();
  for (const doc::Value& one : taints_of(node))
    if (!is_start_taint(one)) taints.push(one);
  if (step == TaintStep::kAdd) {
    doc::Value mine = doc::Value::object();
    mine.set("key", kStartTaint);
    mine.set("effect", kNoSchedule);
    taints.push(std::move(mine));
  }
  doc::Value spec = doc::Value::object();
  spec.set("taints", std::move(taints));
  doc::Value metadata = doc::Value::object();
  const doc::Value* const meta = node.find("metadata");
  metadata.set("resourceVersion", meta == nullptr ? "" : string_at(*meta, "resourceVersion"));
  doc::Value patch = doc::Value::object();
  patch.set("metadata", std::move(metadata));
  patch.set("spec", std::move(spec));
  return patch;
}

}  // namespace railbed::labels

// SPDX-License-Identifier: Apache-2.0
#include "drain/reboot.h"

#include <algorithm>

#include "base/format.h"
#include "drain/state.h"

namespace railbed::drain {
namespace {

using Verdict = RebootDecision::Verdict;

constexpr std::string_view kCauseNames[] = {"iommu", "rdma-mode", "firmware"};
constexpr std::string_view kArgumentTexts[] = {"intel_iommu=on", "iommu=pt", "ib_core.netns_mode=0",
                                               "ib_core.netns_mode=1"};
static_assert(std::size(kCauseNames) == 1 + static_cast<size_t>(RebootCause::kFirmware));
static_assert(std::size(kArgumentTexts) == 1 + static_cast<size_t>(KernelArgument::kNetnsShared));

constexpr std::chrono::hours kDay{24};
constexpr std::chrono::hours kHour{1};

// There is no argument amd_iommu=on; on Arm an argument would break GPUs, and none is needed.
MissingEffect missing_iommu(Processor processor) {
  MissingEffect out{.cause = RebootCause::kIommu, .what = "the VFs have no IOMMU group"};
  switch (processor) {
    case Processor::kIntel:
      out.arguments = {KernelArgument::kIntelIommuOn, KernelArgument::kIommuPassThrough};
      out.advice = "enable VT-d in the BIOS";
      break;
    case Processor::kAmd:
      out.arguments = {KernelArgument::kIommuPassThrough};
      out.advice = "enable the IOMMU in the BIOS; the kernel then uses it without an argument";
      break;
    case Processor::kArm:
      out.advice = "enable the SMMU in the firmware; no kernel argument is needed";
      break;
  }
  return out;
}

std::string_view name_of(RdmaMode mode) {
  return mode == RdmaMode::kExclusive ? "exclusive" : "shared";
}

std::string whats_of(const std::vector<MissingEffect>& missing) {
  std::vector<std::string_view> parts;
  for (const MissingEffect& one : missing) parts.push_back(one.what);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string words_for(const std::vector<KernelArgument>& arguments) {
  if (arguments.empty()) return "restart the node";
  std::vector<std::string_view> texts;
  for (const KernelArgument one : arguments) texts.push_back(text_of(one));
  return fmt::format("add {} to the kernel's command line and restart the node", fmt::join(texts, " "));
}

// When the oldest of the newest `limit` records is older than `span`; nothing: now.
std::optional<Time> budget_end(std::vector<Time> times, size_t limit, std::chrono::seconds span, Time now) {
  std::erase_if(times, [&](Time at) { return at + span <= now; });
  if (times.size() < limit) return std::nullopt;
  if (limit == 0) return now + span;
  std::ranges::sort(times, std::ranges::greater());
  return times[limit - 1] + span;
}

std::optional<Time> budget_end(const RebootView& view) {
  std::vector<Time> of_node, of_all;
  for (const RebootRecord& record : view.records) {
    if (record.node == view.node) of_node.push_back(record.at);
    of_all.push_back(record.at);
  }
  return std::max(budget_end(std::move(of_node), view.budget.per_node_and_day, kDay, view.now),
                  budget_end(std::move(of_all), view.budget.per_cluster_and_hour, kHour, view.now));
}

// The last restart of this node for this cause.
const RebootRecord* record_of(const RebootView& view, RebootCause cause) {
  const RebootRecord* last = nullptr;
  for (const RebootRecord& record : view.records)
    if (record.node == view.node && record.cause == cause && (last == nullptr || record.at >= last->at)) last = &record;
  return last;
}

RebootDecision ask_the_node(const RebootView& view, RebootDecision decision) {
  const std::string whats = whats_of(view.missing);
  if (!view.allows_reboot || (!view.allows_arguments && !decision.arguments.empty())) {
    decision.verdict = Verdict::kNotAllowed;
    decision.message =
        fmt::format("{}; the agent of this node may not change that (--allow {}): {}", whats,
                    decision.arguments.empty() ? "reboot" : "reboot,kernel-args", words_for(decision.arguments));
  } else if (const std::optional<Time> end = budget_end(view)) {
    decision.verdict = Verdict::kWaits;
    decision.message = fmt::format("{}; waits for the restart budget ({} a day per node, {} an hour in all)", whats,
                                   view.budget.per_node_and_day, view.budget.per_cluster_and_hour);
    decision.again = end;
  } else {
    decision.verdict = Verdict::kReboot;
    decision.message = fmt::format("{}; the node restarts once for it", whats);
  }
  return decision;
}

}  // namespace

std::string_view name_of(RebootCause cause) {
  return kCauseNames[static_cast<size_t>(cause)];
}

std::string_view text_of(KernelArgument argument) {
  return kArgumentTexts[static_cast<size_t>(argument)];
}

std::vector<MissingEffect> missing_effects(const RebootFacts& facts) {
  std::vector<MissingEffect> out;
  if (facts.iommu_groups == false) out.push_back(missing_iommu(facts.processor));
  if (facts.wanted_rdma_mode.has_value() && facts.rdma_mode.has_value() && facts.wanted_rdma_mode != facts.rdma_mode)
    out.push_back({.cause = RebootCause::kRdmaMode,
                   .what = fmt::format("the RDMA subsystem is in mode {}, not {}", name_of(*facts.rdma_mode),
                                       name_of(*facts.wanted_rdma_mode)),
                   .arguments = {*facts.wanted_rdma_mode == RdmaMode::kExclusive ? KernelArgument::kNetnsExclusive
                                                                                 : KernelArgument::kNetnsShared},
                   .advice = "check that ib_core is not loaded from an initial RAM disk with another netns_mode"});
  if (facts.firmware_differs == true)
    out.push_back({.cause = RebootCause::kFirmware,
                   .what = "a firmware value that was written is not in effect",
                   .advice = "power the machine off and on; some values need more than a restart"});
  return out;
}

RebootDecision decide_reboot(const RebootView& view) {
  RebootDecision decision;
  if (view.missing.empty()) return decision;
  for (const MissingEffect& one : view.missing) {
    const RebootRecord* record = record_of(view, one.cause);
    if (record != nullptr && record->boot_id != view.boot_id) {
      decision.verdict = Verdict::kNotEffective;
      decision.causes = {one.cause};
      decision.message = fmt::format("{} after the restart of {}; the node is not restarted again: {}", one.what,
                                     time_text(record->at), one.advice);
      return decision;
    }
    decision.causes.push_back(one.cause);
    for (const KernelArgument argument : one.arguments)
      if (std::ranges::count(decision.arguments, argument) == 0) decision.arguments.push_back(argument);
  }
  if (std::ranges::any_of(decision.causes, [&](RebootCause cause) { return record_of(view, cause) != nullptr; })) {
    decision.verdict = Verdict::kInProgress;
    decision.message = fmt::format("{}; the restart was ordered", whats_of(view.missing));
    return decision;
  }
  return ask_the_node(view, std::move(decision));
}

}  // namespace railbed::drain

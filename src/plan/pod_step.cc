// SPDX-License-Identifier: Apache-2.0
#include "plan/pod_step.h"

#include "base/format.h"

namespace railbed::plan {
namespace {

std::string interface_text(const PodInterface& one, PodAction action) {
  std::string text = one.interface;
  if (action == PodAction::kAttach) {
    text += " to " + one.network;
    if (!one.device.empty()) text += fmt::format(" ({})", one.device);
  }
  if (!one.why.empty()) text += fmt::format(" [{}]", one.why);
  return text;
}

}  // namespace

std::string_view pod_action_name(PodAction action) {
  switch (action) {
    case PodAction::kRecover:
      return "Recover";
    case PodAction::kDetach:
      return "Detach";
    case PodAction::kAttach:
      return "Attach";
  }
  return "?";
}

std::string describe(const PodStep& step) {
  std::vector<std::string> parts;
  for (const PodInterface& one : step.interfaces) parts.push_back(interface_text(one, step.action));
  const std::string interfaces = fmt::format("{}", fmt::join(parts, ", "));
  if (!step.problem.empty()) return fmt::format("cannot be attached: {}", step.problem);
  switch (step.action) {
    case PodAction::kRecover:
      return "release " + interfaces;
    case PodAction::kDetach:
      if (!step.whole_pod) return "detach " + interfaces;
      return parts.empty() ? "remove its network namespace"
                           : fmt::format("detach {}, remove its network namespace", interfaces);
    case PodAction::kAttach:
      return "attach " + interfaces;
  }
  return "?";
}

}  // namespace railbed::plan

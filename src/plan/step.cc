// SPDX-License-Identifier: Apache-2.0
#include "plan/step.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace railbed::plan {
namespace {

struct Describe {
  std::string operator()(const SetAutoprobe& a) const {
    return a.on ? "bind drivers to new VFs (autoprobe on)" : "do not bind drivers to new VFs (autoprobe off)";
  }
  std::string operator()(const SetPfUp& a) const { return a.up ? "set the PF up" : "set the PF down"; }
  std::string operator()(const SetPfMtu& a) const {
    return fmt::format("{} the PF's MTU to {} (now {})", a.to > a.from ? "raise" : "set", a.to, a.from);
  }
  std::string operator()(const SetEswitchMode& a) const {
    return fmt::format("eswitch mode {}", eswitch_mode_name(a.mode));
  }
  std::string operator()(const SetVfCount& a) const {
    const auto vfs = [](int n) { return counted(static_cast<size_t>(n), "VF"); };
    if (a.to == 0) return fmt::format("remove {}", vfs(a.from));
    if (a.from == 0) return fmt::format("create {}", vfs(a.to));
    return fmt::format("remove {}, create {}", vfs(a.from), vfs(a.to));
  }
  std::string operator()(const SetVfMac& a) const { return fmt::format("VF {}: MAC {}", a.vf, a.mac); }
  std::string operator()(const SetVfGuids& a) const {
    return a.node_guid == a.port_guid
               ? fmt::format("VF {}: node and port GUID {}", a.vf, a.port_guid)
               : fmt::format("VF {}: node GUID {}, port GUID {}", a.vf, a.node_guid, a.port_guid);
  }
  std::string operator()(const BindVf& a) const {
    return a.from.empty() ? fmt::format("VF {}: bind to {}", a.vf, driver_words(a.device_type))
                          : fmt::format("VF {}: bind to {} (now {})", a.vf, driver_words(a.device_type), a.from);
  }
  std::string operator()(const SetVfMtu& a) const {
    return a.from == 0 ? fmt::format("VF {}: MTU {}", a.vf, a.to)
                       : fmt::format("VF {}: MTU {} (now {})", a.vf, a.to, a.from);
  }
  std::string operator()(const NeedsReboot& a) const {
    return fmt::format("needs {} and a reboot (not done by railbed)", a.what);
  }
};

}  // namespace

std::string_view driver_words(DeviceType type) {
  return type == DeviceType::kVfioPci ? driver_for(type) : "the kernel's network driver";
}

std::string_view disturbs_name(Disturbs disturbs) {
  switch (disturbs) {
    case Disturbs::kNothing:
      return "nothing";
    case Disturbs::kPods:
      return "pods";
    case Disturbs::kDrain:
      return "drain";
    case Disturbs::kReboot:
      return "reboot";
  }
  return "?";
}

std::string describe(const Step& step) {
  return std::visit(Describe{}, step.action);
}

std::optional<VfIndex> vf_of(const Action& action) {
  return std::visit(
      [](const auto& a) -> std::optional<VfIndex> {
        if constexpr (requires { a.vf; })
          return a.vf;
        else
          return std::nullopt;
      },
      action);
}

std::string HeldBack::to_string() const {
  return fmt::format("{}: {}: deferred, {} {} it ({})", pf_name, change, fmt::join(pods, ", "),
                     pods.size() == 1 ? "uses" : "use", reason);
}

bool NodePlan::changes() const {
  if (std::ranges::any_of(pod_steps, [](const PodStep& step) { return step.problem.empty(); })) return true;
  return std::ranges::any_of(pfs, [](const PfPlan& pf) {
    return std::ranges::any_of(pf.steps,
                               [](const Step& step) { return !std::holds_alternative<NeedsReboot>(step.action); });
  });
}

}  // namespace railbed::plan

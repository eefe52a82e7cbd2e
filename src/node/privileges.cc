// SPDX-License-Identifier: Apache-2.0
#include "node/privileges.h"

#include <algorithm>

#include "base/text.h"

namespace railbed::node {

namespace {

// Only root, its owner, can write to sysfs; everything else goes through rtnetlink.
bool writes_sysfs(const plan::Action& action) {
  return std::holds_alternative<plan::SetAutoprobe>(action) || std::holds_alternative<plan::SetVfCount>(action) ||
         std::holds_alternative<plan::BindVf>(action);
}

struct Steps {
  size_t count = 0;
  std::string first;
};

void add(Steps& steps, const plan::PfPlan& pf, const plan::Step& step) {
  if (steps.count++ == 0) steps.first = pf.pf_name + ": " + plan::describe(step);
}

std::string counted_steps(const Steps& steps, const char* verb) {
  return fmt::format("{} {} (first: {})", counted(steps.count, "step"), verb, steps.first);
}

}  // namespace

std::vector<Need> needs_of(const plan::NodePlan& plan, size_t attachments) {
  Steps sysfs, network;
  for (const plan::PfPlan& pf : plan.pfs)
    for (const plan::Step& step : pf.steps) {
      if (std::holds_alternative<plan::NeedsReboot>(step.action)) continue;
      add(writes_sysfs(step.action) ? sysfs : network, pf, step);
    }
  std::string pods = counted(attachments, "interface") + " of pods";
  std::vector<Need> needs;
  // The directory of the state belongs to root as well.
  if (sysfs.count > 0)
    needs.push_back({"CAP_DAC_OVERRIDE", counted_steps(sysfs, "write to /sys as root")});
  else
    needs.push_back({"CAP_DAC_OVERRIDE", "the state below /run is root's"});
  if (network.count > 0) needs.push_back({"CAP_NET_ADMIN", counted_steps(network, "change interfaces")});
  if (attachments > 0) {
    needs.push_back({"CAP_NET_ADMIN", pods + " are moved, named and given addresses"});
    needs.push_back({"CAP_SYS_ADMIN", pods + " go into network namespaces, which are made and entered"});
  }
  return needs;
}

Result<void> check_privileges(const std::vector<Need>& needs, const std::vector<std::string>& missing) {
  std::string lacking;
  for (const Need& need : needs)
    if (std::ranges::find(missing, need.capability) != missing.end())
      lacking += fmt::format("\n  {}: {}", need.capability, need.what_for);
  if (lacking.empty()) return {};
  return fail(Error{.code = Code::kDenied,
                    .message = "privileges are missing, nothing was changed:" + lacking,
                    .hint = "run it as root (sudo), or in a container with these capabilities"});
}

}  // namespace railbed::node

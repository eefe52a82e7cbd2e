// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_text.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "graph/vf_range.h"

namespace railbed::plan {
namespace {

// One line in the table of a PF: one step on the PF, or the steps of neighbouring VFs that get the same treatment.
struct Row {
  int first = 0, last = 0;  // numbers of steps, from 1
  std::string what;
  std::string disturbs;
  const std::string* reason = nullptr;
};

std::string disturbed(const Step& step) {
  if (step.pods.empty()) return std::string(disturbs_name(step.disturbs));
  return fmt::format("{}{}", step.disturbs == Disturbs::kDrain ? "drain: " : "", fmt::join(step.pods, ", "));
}

// What happens to a VF, without the part (its address) that differs between VFs.
struct Treatment {
  std::string operator()(const SetVfMac&) const { return "MAC"; }
  std::string operator()(const SetVfGuids&) const { return "GUID"; }
  std::string operator()(const BindVf& a) const {
    return a.from.empty() ? fmt::format("bind to {}", driver_words(a.device_type))
                          : fmt::format("bind to {} (now {})", driver_words(a.device_type), a.from);
  }
  std::string operator()(const SetVfMtu& a) const {
    return a.from == 0 ? fmt::format("MTU {}", a.to) : fmt::format("MTU {} (now {})", a.to, a.from);
  }
  std::string operator()(const auto&) const { return ""; }
};

std::string identity(const Action& action) {
  if (const auto* mac = std::get_if<SetVfMac>(&action)) return mac->mac.to_string();
  if (const auto* guids = std::get_if<SetVfGuids>(&action)) return guids->port_guid.to_string();
  return "";
}

// All steps of one VF.
struct VfSteps {
  int vf = 0;
  size_t begin = 0, end = 0;  // in PfPlan::steps
  std::vector<std::string> treatments;
};

VfSteps vf_steps(const PfPlan& pf, size_t begin) {
  VfSteps found{.vf = vf_of(pf.steps[begin].action)->value, .begin = begin, .end = begin};
  for (; found.end < pf.steps.size(); ++found.end) {
    auto vf = vf_of(pf.steps[found.end].action);
    if (!vf || vf->value != found.vf) break;
    found.treatments.push_back(std::visit(Treatment{}, pf.steps[found.end].action));
  }
  return found;
}

bool alike(const PfPlan& pf, const VfSteps& a, const VfSteps& b) {
  const Step& first = pf.steps[a.begin];
  const Step& other = pf.steps[b.begin];
  return a.treatments == b.treatments && first.reason == other.reason && first.pods == other.pods;
}

Row vf_row(const PfPlan& pf, const std::vector<VfSteps>& run) {
  std::vector<graph::VfRange> ranges;
  for (const VfSteps& one : run) ranges.push_back({one.vf, one.vf});
  std::vector<std::string> parts;
  for (size_t i = 0; i < run.front().treatments.size(); ++i) {
    const std::string& treatment = run.front().treatments[i];
    const std::string from = identity(pf.steps[run.front().begin + i].action);
    const std::string to = identity(pf.steps[run.back().begin + i].action);
    if (from.empty())
      parts.push_back(treatment);
    else
      parts.push_back(run.size() == 1 ? fmt::format("{} {}", treatment, from)
                                      : fmt::format("{}s {} to {}", treatment, from, to));
  }
  return {.first = static_cast<int>(run.front().begin) + 1,
          .last = static_cast<int>(run.back().end),
          .what = fmt::format("VF{} {}: {}", run.size() == 1 ? "" : "s", graph::to_string(graph::join(ranges)),
                              fmt::join(parts, ", ")),
          .disturbs = disturbed(pf.steps[run.front().begin]),
          .reason = &pf.steps[run.front().begin].reason};
}

std::vector<Row> rows_of(const PfPlan& pf) {
  std::vector<Row> rows;
  for (size_t at = 0; at < pf.steps.size();) {
    const Step& step = pf.steps[at];
    if (!vf_of(step.action)) {
      const int number = static_cast<int>(at) + 1;
      rows.push_back({number, number, describe(step), disturbed(step), &step.reason});
      ++at;
      continue;
    }
    std::vector<VfSteps> run{vf_steps(pf, at)};
    at = run.back().end;
    while (at < pf.steps.size() && vf_of(pf.steps[at].action)) {
      VfSteps next = vf_steps(pf, at);
      if (!alike(pf, run.front(), next)) break;
      at = next.end;
      run.push_back(std::move(next));
    }
    rows.push_back(vf_row(pf, run));
  }
  return rows;
}

std::string number_of(const Row& row) {
  return row.first == row.last ? std::to_string(row.first) : fmt::format("{}-{}", row.first, row.last);
}

void add_pf(std::string& text, const PfPlan& pf) {
  const std::vector<Row> rows = rows_of(pf);
  size_t numbers = 0;
  size_t width = 0;
  for (const Row& row : rows) {
    numbers = std::max(numbers, number_of(row).size());
    width = std::max(width, row.disturbs.size());
  }
  text += pf.pf_name == pf.pf.to_string() ? fmt::format("\n  {}\n", pf.pf)
                                          : fmt::format("\n  {} ({})\n", pf.pf_name, pf.pf);
  const std::string* reason = nullptr;
  for (const Row& row : rows) {
    if (reason == nullptr || *reason != *row.reason) text += fmt::format("    {}\n", *row.reason);
    reason = row.reason;
    text += fmt::format("      {:>{}}  disrupts {:<{}}  {}\n", number_of(row), numbers, row.disturbs, width, row.what);
  }
}

std::string kind_text(const PoolVf& vf) {
  std::string text = vf.infiniband ? "InfiniBand" : "Ethernet";
  if (vf.device_type == DeviceType::kVfioPci) text += ", vfio-pci";
  if (vf.rdma) text += ", RDMA";
  if (vf.mtu > 0) text += fmt::format(", MTU {}", vf.mtu);
  return text;
}

// "12 VFs, 1 in use: eth0 0-3, eth1 0-3 (Ethernet); ib0 0-3 (InfiniBand, RDMA)"
std::string pool_text(const std::vector<PoolVf>& pool) {
  std::string text;
  std::string kind;
  for (size_t at = 0; at < pool.size();) {
    const PoolVf& first = pool[at];
    std::vector<graph::VfRange> vfs;
    const std::string now = kind_text(first);
    for (; at < pool.size() && pool[at].pf == first.pf && kind_text(pool[at]) == now; ++at)
      vfs.push_back({pool[at].index.value, pool[at].index.value});
    if (!text.empty()) text += now == kind ? ", " : fmt::format(" ({}); ", kind);
    text += fmt::format("{} {}", first.pf_name, graph::to_string(graph::join(vfs)));
    kind = now;
  }
  const auto held = std::ranges::count_if(pool, [](const PoolVf& vf) { return !vf.held_by.empty(); });
  return fmt::format("{} VF{}{}: {} ({})", pool.size(), pool.size() == 1 ? "" : "s",
                     held == 0 ? "" : fmt::format(", {} in use", held), text, kind);
}

// "; 25G each when all send": what is left of the ports for each VF of the pool, at the port with the most VFs for its
// rate. VFs of other pools on a port count, too.
std::string share_text(const NodePlan& plan, const std::vector<PoolVf>& pool) {
  std::map<PciAddress, int> vfs;
  for (const auto& [resource, other] : plan.resources)
    for (const PoolVf& vf : other) ++vfs[vf.pf];
  std::optional<double> least;
  for (const PoolVf& vf : pool) {
    const auto port = plan.port_gbps.find(vf.pf);
    if (port == plan.port_gbps.end() || vfs[vf.pf] < 2) return "";
    const double share = port->second / vfs[vf.pf];
    least = std::min(least.value_or(share), share);
  }
  return least ? fmt::format("; {:.3g}G each when all send", *least) : "";
}

// Lines of two or three columns under a title. The last column gets no padding.
void add_section(std::string& text, std::string_view title, const std::vector<std::vector<std::string>>& lines) {
  if (lines.empty()) return;
  std::vector<size_t> widths;
  for (const auto& line : lines)
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], line[i].size());
    }
  text += fmt::format("\n  {}\n", title);
  for (const auto& line : lines) {
    text += "   ";
    for (size_t i = 0; i < line.size(); ++i)
      text += i + 1 < line.size() ? fmt::format(" {:<{}} ", line[i], widths[i]) : " " + line[i];
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
}

std::string outcome_text(const PolicyOutcome& outcome) {
  std::vector<std::string> parts;
  if (!outcome.pfs.empty()) parts.push_back(fmt::format("{}", fmt::join(outcome.pfs, ", ")));
  if (!outcome.shadowed_by.empty())
    parts.push_back(fmt::format("shadowed by {}", fmt::join(outcome.shadowed_by, ", ")));
  if (!outcome.detail.empty()) parts.push_back(outcome.detail);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string network_text(const PodNetworkPlan& network) {
  if (network.type.empty()) return network.network + ", which does not exist";
  return network.resource.empty() ? fmt::format("{} ({})", network.network, network.type)
                                  : fmt::format("{} ({}), a VF of {}", network.network, network.type, network.resource);
}

// The steps of pods on one side of those on PFs.
enum class Side : bool { kBeforePfs, kBehindPfs };
void add_pod_steps(std::string& text, const NodePlan& plan, Side side) {
  const bool behind = side == Side::kBehindPfs;
  std::vector<const PodStep*> steps;
  size_t width = 0;
  const auto disturbed_by = [](const PodStep& step) { return step.disturbs ? step.pod : std::string("nothing"); };
  for (const PodStep& step : plan.pod_steps) {
    if ((step.action == PodAction::kAttach) != behind) continue;
    steps.push_back(&step);
    width = std::max(width, disturbed_by(step).size());
  }
  if (steps.empty()) return;
  text += behind ? "\n  pods, after the steps on PFs\n" : "\n  pods, before the steps on PFs\n";
  const PodStep* last = nullptr;
  for (const PodStep* step : steps) {
    if (last == nullptr || last->pod != step->pod || last->reason != step->reason)
      text += fmt::format("    {}: {}\n", step->pod, step->reason);
    last = step;
    text += fmt::format("      disrupts {:<{}}  {}\n", disturbed_by(*step), width, describe(*step));
  }
}

std::string headline(const NodePlan& plan) {
  size_t steps = 0;
  for (const PfPlan& pf : plan.pfs) steps += pf.steps.size();
  std::vector<std::string> parts;
  if (steps > 0) parts.push_back(fmt::format("{} on {}", counted(steps, "step"), counted(plan.pfs.size(), "PF")));
  if (!plan.pod_steps.empty()) parts.push_back(fmt::format("{} for pods", counted(plan.pod_steps.size(), "step")));
  std::string line = fmt::format("node {}: {}", plan.node, fmt::join(parts, ", "));
  if (parts.empty())
    line += !plan.pods_decided && !plan.pods.empty()
                ? "nothing to change on PFs (the state of pods is known only on the node)"
                : "nothing to change";
  if (!plan.held_back.empty()) line += fmt::format(", {} deferred", plan.held_back.size());
  if (plan.soft_rdma) line += "; soft RDMA";
  return line + "\n";
}

}  // namespace

std::string to_text(const NodePlan& plan) {
  std::string text = headline(plan);
  add_pod_steps(text, plan, Side::kBeforePfs);
  for (const PfPlan& pf : plan.pfs) add_pf(text, pf);
  add_pod_steps(text, plan, Side::kBehindPfs);
  std::vector<std::vector<std::string>> lines;
  for (const HeldBack& held : plan.held_back) lines.push_back({held.to_string()});
  add_section(text, "deferred (--disrupt applies it anyway)", lines);
  lines.clear();
  for (const PolicyOutcome& outcome : plan.policies)
    lines.push_back({outcome.policy, std::string(graph::outcome_name(outcome.state)), outcome_text(outcome)});
  add_section(text, "policies", lines);
  lines.clear();
  for (const auto& [resource, pool] : plan.resources)
    lines.push_back({resource, pool.empty() ? "no VFs" : pool_text(pool) + share_text(plan, pool)});
  add_section(text, "resources", lines);
  lines.clear();
  for (const PodPlan& pod : plan.pods)
    for (const PodNetworkPlan& network : pod.networks)
      lines.push_back({&network == &pod.networks.front() ? pod.pod : "", network.interface, network_text(network)});
  add_section(text, "pods", lines);
  return text;
}

}  // namespace railbed::plan

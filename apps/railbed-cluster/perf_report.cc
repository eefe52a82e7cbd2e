// SPDX-License-Identifier: Apache-2.0
// railbed perf report --kubeconfig: the HTML report of measurements with the cluster that they were made in.
//
//   result files ─► read_report() ──────────────┐
//                                               ├─► report::to_html()
//   API server ─► objects_of() ─► cluster_of() ─┘
#include "perf_report.h"

#include <algorithm>
#include <iterator>

#include "command/exit_status.h"
#include "command/write_report.h"
#include "kube/kinds.h"
#include "kubectl_connection.h"
#include "os/ports/kernel.h"

namespace railbed {
namespace {

constexpr std::chrono::seconds kOnePodList{60};  // pods of a large cluster are many megabytes

// A kind that the cluster does not have is an empty list; what may not be read is reported, and the rest is shown.
report::ClusterObjects objects_of(kube::Client& client) {
  report::ClusterObjects objects;
  const auto list = [&](const kube::Resource& kind, const kube::Trim& trim, std::vector<doc::Value>& into) {
    auto found = client.list(kind, {}, trim);
    if (found) std::ranges::move(found->objects, std::back_inserter(into));
    if (!found && found.error().code != Code::kNotFound)
      objects.unknown.push_back(fmt::format("{}: {}", kind.kind, found.error().message));
  };
  list(kube::kNodes, kube::keep_fields({"spec.unschedulable", "status.conditions", "status.nodeInfo"}), objects.nodes);
  list(kube::kNodeStates, kube::trim_metadata, objects.node_states);
  list(kube::kPolicies, kube::trim_metadata, objects.policies);
  list(kube::kNetworkDefinitions, kube::trim_metadata, objects.definitions);
  list(kube::kPods, kube::pod_trim(), objects.pods);
  return objects;
}

// A status file of a node knows more than the API server.
void add_nodes(report::Report& report) {
  for (report::NodeStatus& node : report::measured_nodes(*report.cluster, report::paths_of(report.sections)))
    if (std::ranges::find(report.nodes, node.name, &report::NodeStatus::name) == report.nodes.end())
      report.nodes.push_back(std::move(node));
}

Result<int> print_perf_report(const ReportOptions& options) {
  report::Report report = TRY(read_report(options));
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  const auto connection =
      TRY(connect_as_kubectl(*kernel, {.kubeconfig = options.kubeconfig, .context = options.context},
                             {.timeout = kOnePodList, .try_timeout = kOnePodList}));
  report.cluster = report::cluster_of(objects_of(connection->client()));
  add_nodes(report);
  return write_report(report, options);
}

}  // namespace

int perf_report_verb(CommandLine& line) {
  ReportOptions options;
  options.declare(line.subcommand(ReportOptions::kName, ReportOptions::kAbout));
  if (auto status = line.parse()) return *status;
  return status_of(print_perf_report(options));
}

}  // namespace railbed

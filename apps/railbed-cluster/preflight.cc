// SPDX-License-Identifier: Apache-2.0
// railbed preflight: whether a cluster is ready for railbed.
//
//   API server ─► look_at_cluster() ─► cluster_findings() ┐
//                                                         ├─► lines, and the exit status
//   node's files ─► look_at_node() ──► node_findings() ───┘
#include "preflight.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "command/environment.h"
#include "command/exit_status.h"
#include "command/output.h"
#include "command/preflight_options.h"
#include "doc/text.h"
#include "findings/printers.h"
#include "kube/connection.h"
#include "os/ports/kernel.h"
#include "preflight/findings.h"
#include "preflight/read_cluster.h"
#include "preflight/read_node.h"

namespace railbed {

namespace {

constexpr std::chrono::seconds kOneDefinitionList{60};  // definitions of a large cluster are many megabytes

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#else
constexpr std::string_view kArchitecture = "of another kind";
#endif

// What deploy/rbac grants.
Result<std::vector<preflight::GrantedRule>> granted_in(const os::FileTree& files, const std::string& manifests) {
  std::vector<preflight::GrantedRule> out;
  const std::string folder = std::filesystem::absolute(manifests).string() + "/rbac";
  for (const std::string& name : TRY(files.list(folder)))
    std::ranges::move(preflight::rules_of(TRY(files.read(folder + "/" + name))), std::back_inserter(out));
  return out;
}

void print_finding(const findings::Finding& one) {
  const char* severity = one.severity == preflight::kBlocks ? "BLOCKER" : "to know";
  print("{}", findings::to_text(one, severity, findings::Detail::kShort));
}

Result<int> run_preflight(const PreflightOptions& options) {
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  const os::FileTree& files = kernel->files();
  const auto granted = TRY(granted_in(files, options.manifests).context("--manifests, railbed's deploy directory"));
  const auto connection = TRY(
      kube::connect({.kubeconfig = options.kubeconfig,
                     .context = options.context,
                     .pod = {.host = variable("KUBERNETES_SERVICE_HOST"), .port = variable("KUBERNETES_SERVICE_PORT")}},
                    [&](const std::string& path) { return files.read(path); },
                    {.timeout = kOneDefinitionList, .try_timeout = kOneDefinitionList})
          .context("connecting to the API server"));
  preflight::ClusterLook look =
      TRY(preflight::look_at_cluster(connection->client(), connection->transport(), options.ns, granted));
  look.server = connection->server();
  print("Kubernetes {} at {}, {} nodes\n", doc::printable(look.version), look.server, look.nodes.size());
  std::vector<findings::Finding> found = preflight::cluster_findings(look, kArchitecture);
  if (!options.host.empty()) {
    const std::string node = options.node.empty() ? kernel->host_name() : options.node;
    print("of the nodes, files of {}\n", doc::printable(node));
    const preflight::NodeLook at =
        preflight::look_at_node(files, {node, options.host, options.conf_dir, options.bin_dir});
    std::ranges::move(preflight::node_findings(at), std::back_inserter(found));
  }
  std::ranges::stable_sort(found, std::greater(), &findings::Finding::severity);
  for (const findings::Finding& one : found) print_finding(one);
  const auto against = std::ranges::count(found, preflight::kBlocks, &findings::Finding::severity);
  print("{} blocking, {} to know\n", against, found.size() - static_cast<size_t>(against));
  return against == 0 ? kExitOk : kExitFound;
}

}  // namespace

int preflight_verb(CommandLine& line) {
  PreflightOptions options;
  options.declare(line);
  if (auto status = line.parse()) return *status;
  return status_of(run_preflight(options));
}

}  // namespace railbed

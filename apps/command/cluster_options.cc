// SPDX-License-Identifier: Apache-2.0
#include "command/cluster_options.h"

#include "base/duration.h"

namespace railbed {

Result<std::optional<int64_t>> reclaim_seconds(const std::string& reclaim_after) {
  if (reclaim_after == "never") return std::nullopt;
  const std::chrono::seconds after = TRY(parse_duration(reclaim_after).context("--reclaim-after"));
  if (after.count() == 0)
    return fail(Code::kInvalid, "--reclaim-after {}: a Node that is made anew would lose its addresses at once",
                reclaim_after);
  return after.count();
}

void ClusterOptions::declare(CommandLine& line) {
  Option& file =
      line.option("--kubeconfig", &kubeconfig, "a node of the cluster of this file: pods and networks are its").file();
  line.option("--context", &context, "of the kubeconfig (its current-context)");
  line.option("--in-cluster", &in_cluster, "a node of the cluster in which this is a pod, by its service account")
      .excludes(file);
  line.option("--namespace", &ns, "of the SR-IOV operator's objects").show_default();
  line.option("--cache", &cache, "what the API server said, for a start while it is away").show_default().directory();
  line.option("--reclaim-after", &reclaim_after,
              "DURATION or never, as the operator has it: addresses of a machine without a Node are free after it; "
              "after half of it without the API server this agent gives none")
      .show_default();
  line.option("--whereabouts", &whereabouts,
              "where whereabouts gives addresses of a range to other nodes' pods: refuse its addresses, or share the "
              "range, what is leased being reserved in whereabouts' pools, too")
      .show_default()
      .one_of({"refuse", "share"});
  line.option(
          "--tenant-definitions", &tenant_definitions,
          "restrict: network definitions use resources of device plugins only, not the host's interfaces, devices, files "
          "and other plugins, unless their namespace has the label railbed.dev/host-devices=allowed")
      .show_default()
      .one_of({"allow", "restrict"});
  line.option("--whereabouts-namespace", &whereabouts_ns, "of whereabouts' pools").show_default();
}

Result<void> ClusterOptions::check() const {
  if (!given() && !context.empty())
    return fail(Code::kInvalid, "--context names a context of a kubeconfig, and there is no --kubeconfig");
  if (!given() && tenant_definitions != "allow")
    return fail(Code::kInvalid, "--tenant-definitions {} is for a node of a cluster: add --kubeconfig or --in-cluster",
                tenant_definitions);
  TRY(railbed::reclaim_seconds(reclaim_after));
  return {};
}

}  // namespace railbed

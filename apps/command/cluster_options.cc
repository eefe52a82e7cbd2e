// SPDX-License-Identifier: Apache-2.0
#include "command/cluster_options.h"

#include "base/duration.h"

namespace railbed {

Result<std::optional<int64_t>> reclaim_seconds(const std::string& reclaim_after) {
  if (reclaim_after == "never") return std::nullopt;
  const std::chrono::seconds after = TRY(parse_duration(reclaim_after).context("--reclaim-after"));
  if (after.count() == 0)
    return fail(Code::kInvalid,
                "--reclaim-after {} is too short: a re-created Node would lose its addresses immediately",
                reclaim_after);
  return after.count();
}

void ClusterOptions::declare(CommandLine& line) {
  Option& file = line.option("--kubeconfig", &kubeconfig,
                             "join the cluster of this kubeconfig as a node; pods and networks are read from it")
                     .file();
  line.option("--context", &context, "kubeconfig context (its current-context)");
  line.option("--in-cluster", &in_cluster, "join the cluster of this pod as a node, with its service account")
      .excludes(file);
  line.option("--namespace", &ns, "namespace of the SR-IOV operator's objects").show_default();
  line.option("--cache", &cache, "cache of the API server's objects, for a start while it is unreachable")
      .show_default()
      .directory();
  line.option("--reclaim-after", &reclaim_after,
              "DURATION or never, the same as for the operator: addresses of a machine without a Node are released "
              "after it; after half of it without the API server this agent allocates none")
      .show_default();
  line.option("--whereabouts", &whereabouts,
              "if whereabouts allocates addresses of a range on other nodes: refuse the range, or share it and reserve "
              "leased addresses in whereabouts' pools, too")
      .show_default()
      .one_of({"refuse", "share"});
  line.option(
          "--tenant-definitions", &tenant_definitions,
          "restrict: network definitions may only use resources of device plugins, not the host's interfaces, devices, "
          "files and other plugins, unless their namespace has the label railbed.dev/host-devices=allowed")
      .show_default()
      .one_of({"allow", "restrict"});
  line.option("--whereabouts-namespace", &whereabouts_ns, "namespace of whereabouts' pools").show_default();
}

Result<void> ClusterOptions::check() const {
  if (!given() && !context.empty()) return fail(Code::kInvalid, "--context requires --kubeconfig");
  if (!given() && tenant_definitions != "allow")
    return fail(Code::kInvalid, "--tenant-definitions {} requires --kubeconfig or --in-cluster", tenant_definitions);
  TRY(railbed::reclaim_seconds(reclaim_after));
  return {};
}

}  // namespace railbed

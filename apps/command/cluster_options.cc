// SPDX-License-Identifier: Apache-2.0
#include "command/cluster_options.h"

namespace railbed {

void ClusterOptions::declare(CommandLine& line) {
  Option& file =
      line.option("--kubeconfig", &kubeconfig, "a node of the cluster of this file: pods and networks are its").file();
  line.option("--context", &context, "of the kubeconfig (its current-context)");
  line.option("--in-cluster", &in_cluster, "a node of the cluster in which this is a pod, by its service account")
      .excludes(file);
  line.option("--namespace", &ns, "of the SR-IOV operator's objects").show_default();
  line.option("--cache", &cache, "what the API server said, for a start while it is away").show_default().directory();
  line.option("--reclaim-after", &reclaim_after_s,
              "seconds without its Node after which a machine's addresses are free, 0 for never: after half of them "
              "without the API server it gives none")
      .show_default()
      .between(0, 31'536'000);
  line.option("--whereabouts", &whereabouts,
              "where whereabouts gives addresses of a range to other nodes' pods: refuse its addresses, or share the "
              "range, what is leased being reserved in whereabouts' pools, too")
      .show_default()
      .one_of({"refuse", "share"});
  line.option("--whereabouts-namespace", &whereabouts_ns, "of whereabouts' pools").show_default();
}

Result<void> ClusterOptions::check() const {
  if (!given() && !context.empty())
    return fail(Code::kInvalid, "--context names a context of a kubeconfig, and there is no --kubeconfig");
  return {};
}

}  // namespace railbed

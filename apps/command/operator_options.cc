// SPDX-License-Identifier: Apache-2.0
#include "command/operator_options.h"

#include "command/log_level.h"

namespace railbed {

void OperatorOptions::declare(CommandLine& line) {
  line.about("Writes node states from policies and network definitions from networks, in a cluster, until SIGTERM.");
  line.option("--kubeconfig", &kubeconfig, "how to reach the API server (the pod's service account)").file();
  line.option("--context", &context, "kubeconfig context (the current one)");
  line.option("--namespace", &ns, "namespace of policies, node states and the Lease (the pod's, or the context's)");
  line.option("--identity", &identity, "name of this process in the Lease (the host name and a number)");
  line.option("--metrics", &metrics, "ADDRESS:PORT of metrics and health pages, or off").show_default();
  line.option("--resource-prefix", &resource_prefix, "prefix of each resourceName").show_default();
  line.option("--node-selector", &node_selector, "LABEL=VALUE,…: only nodes with all of them get a node state")
      .show_default();
  line.option("--reclaim-after", &reclaim_after,
              "DURATION or never: release the addresses of a machine this long after its Node was deleted; the machine "
              "must be off by then")
      .show_default();
  line.option("--log-level", &log_level, "log level; writes are logged at info").show_default().one_of(kLogLevels);
}

}  // namespace railbed

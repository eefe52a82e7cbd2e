// SPDX-License-Identifier: Apache-2.0
#include "command/operator_options.h"

#include "command/log_level.h"

namespace railbed {

void OperatorOptions::declare(CommandLine& line) {
  line.about("Makes node states of policies and definitions of networks, in a cluster, until it gets SIGTERM.");
  line.option("--kubeconfig", &kubeconfig, "how to reach the API server (the pod's service account)").file();
  line.option("--context", &context, "of the kubeconfig (its current one)");
  line.option("--namespace", &ns, "of policies, node states and the Lease (the pod's, or the context's)");
  line.option("--identity", &identity, "of this process in the Lease (the host name and a number)");
  line.option("--metrics", &metrics, "ADDRESS:PORT of metrics and health pages, or off").show_default();
  line.option("--resource-prefix", &resource_prefix, "before each resourceName").show_default();
  line.option("--node-selector", &node_selector, "LABEL=VALUE,…: only nodes with all of them get a node state")
      .show_default();
  line.option("--reclaim-after", &reclaim_after,
              "DURATION or never: addresses of a machine whose Node is deleted are free after it; the machine must be "
              "off by then")
      .show_default();
  line.option("--log-level", &log_level, "the least that is logged; every write is at info")
      .show_default()
      .one_of(kLogLevels);
}

}  // namespace railbed

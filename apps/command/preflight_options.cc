// SPDX-License-Identifier: Apache-2.0
#include "command/preflight_options.h"

#include "command/exit_status.h"

namespace railbed {

void PreflightOptions::declare(CommandLine& line) {
  line.about(
      "Says what in a cluster stands against railbed, and what to do about it. Changes nothing; deploy/preflight runs "
      "it as a Job.");
  line.exit_status(kExitChange, "something stands against railbed");
  line.option("--kubeconfig", &kubeconfig, "how to reach the API server (the pod's service account)").file();
  line.option("--context", &context, "of the kubeconfig (its current one)");
  line.option("--namespace", &ns, "in which railbed is, or will be").show_default();
  line.option("--host", &host, "looks at a node's files, too: the folder where they are, / for this machine's")
      .directory();
  line.option("--node", &node, "the name of that node (the host name)");
  line.option("--cni-config", &conf_dir, "on the node, the CNI configurations of its runtime").show_default();
  line.option("--bin-dir", &bin_dir, "on the node, the CNI plugins of its runtime").show_default();
  line.option("--manifests", &manifests, "railbed's deploy folder: its rbac says what service accounts must be allowed")
      .show_default()
      .directory();
}

}  // namespace railbed

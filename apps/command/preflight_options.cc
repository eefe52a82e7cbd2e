// SPDX-License-Identifier: Apache-2.0
#include "command/preflight_options.h"

#include "command/exit_status.h"

namespace railbed {

void PreflightOptions::declare(CommandLine& line) {
  line.about(
      "Checks whether a cluster is ready for railbed, and shows what to do. Changes nothing; deploy/preflight runs it "
      "as a Job.");
  line.exit_status(kExitFound, "something blocks railbed");
  line.option("--kubeconfig", &kubeconfig, "how to reach the API server (the pod's service account)").file();
  line.option("--context", &context, "kubeconfig context (the current one)");
  line.option("--namespace", &ns, "namespace of railbed, now or later").show_default();
  line.option("--host", &host, "also check a node's files below this directory; / for this machine").directory();
  line.option("--node", &node, "name of that node (the host name)");
  line.option("--cni-config", &conf_dir, "the runtime's CNI configuration directory on the node").show_default();
  line.option("--bin-dir", &bin_dir, "the runtime's CNI plugin directory on the node").show_default();
  line.option("--manifests", &manifests,
              "railbed's deploy directory, whose rbac lists the rights of the service accounts")
      .show_default()
      .directory();
}

}  // namespace railbed

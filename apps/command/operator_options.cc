// SPDX-License-Identifier: Apache-2.0
#include "command/operator_options.h"

#include <algorithm>
#include <string_view>

#include "api/names.h"
#include "command/log_level.h"
#include "node/resource_prefix.h"

namespace railbed {

void OperatorOptions::declare(CommandLine& line) {
  line.about("Writes node states from policies and network definitions from networks, in a cluster, until SIGTERM.");
  line.option("--kubeconfig", &kubeconfig, "how to reach the API server (the pod's service account)").file();
  line.option("--context", &context, "kubeconfig context (the current one)");
  line.option("--namespace", &ns, "namespace of node states, the Lease and policies (the pod's, or the context's)");
  line.option("--policy-namespaces", &policy_namespaces,
              "NS,…: further namespaces whose policies and networks count, each while no SR-IOV operator runs in it; "
              "\"\" for none (the usual ones of SR-IOV operators and of NVIDIA's)");
  line.option("--identity", &identity, "name of this process in the Lease (the host name and a number)");
  line.option("--metrics", &metrics, "ADDRESS:PORT of metrics and health pages, or off").show_default();
  line.option("--resource-prefix", &resource_prefix,
              "prefix of each resourceName, in networks and on all nodes: agents follow it")
      .show_default();
  line.option("--node-selector", &node_selector, "LABEL=VALUE,…: only nodes with all of them get a node state")
      .show_default();
  line.option("--reclaim-after", &reclaim_after,
              "DURATION or never: release the addresses of a machine this long after its Node was deleted; the machine "
              "must be off by then")
      .show_default();
  line.option("--drain", &drain,
              "evict pods whose VFs change, also without a SriovOperatorConfig; needs the rights of deploy/drains");
  line.option("--log-level", &log_level, "log level; writes are logged at info").show_default().one_of(kLogLevels);
}

Result<std::vector<std::string>> OperatorOptions::namespaces() const {
  TRY(node::check_prefix(resource_prefix));
  std::vector<std::string> out;
  for (std::string_view rest = policy_namespaces; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (!api::is_dns_label(one))
      return fail(Error{.code = Code::kInvalid,
                        .message = fmt::format("--policy-namespaces: \"{}\" is not a valid namespace name", one),
                        .hint = "for example openshift-sriov-network-operator,nvidia-network-operator"});
    out.emplace_back(one);
  }
  return out;
}

}  // namespace railbed

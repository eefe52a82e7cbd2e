// SPDX-License-Identifier: Apache-2.0
#include "agent_cluster.h"

#include <cstdlib>

namespace railbed {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Result<std::unique_ptr<kube::Connection>> connect_cluster(const ClusterOptions& options, os::Kernel& kernel) {
  if (!options.given()) {
    if (!options.context.empty())
      return fail(Code::kInvalid, "--context names a context of a kubeconfig, and there is no --kubeconfig");
    return std::unique_ptr<kube::Connection>();
  }
  kube::ConnectionChoice choice{
      .kubeconfig = options.kubeconfig,
      .context = options.context,
      .pod = {.host = environment("KUBERNETES_SERVICE_HOST"), .port = environment("KUBERNETES_SERVICE_PORT")}};
  if (!options.service_account.empty()) choice.pod.folder = options.service_account;
  return kube::connect(choice, [&kernel](const std::string& path) { return kernel.files().read(path); });
}

}  // namespace railbed

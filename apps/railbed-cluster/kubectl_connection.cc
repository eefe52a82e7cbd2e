// SPDX-License-Identifier: Apache-2.0
#include "kubectl_connection.h"

#include "command/environment.h"

namespace railbed {
namespace {

// As kubectl finds it; without any file, the service account of the pod that this is.
Result<std::string> kubeconfig_of(const std::string& chosen, os::Kernel& kernel) {
  if (!chosen.empty()) return chosen;
  if (std::string file = variable("KUBECONFIG"); !file.empty()) {
    if (file.find(':') == std::string::npos) return file;
    return fail(Error{.code = Code::kUnsupported,
                      .message = "$KUBECONFIG contains several files",
                      .hint = "use --kubeconfig FILE; `kubectl config view --flatten --minify` merges them into one"});
  }
  const std::string home = variable("HOME") + "/.kube/config";
  if (variable("KUBERNETES_SERVICE_HOST").empty() || kernel.files().exists(home)) return home;
  return "";
}

}  // namespace

Result<std::unique_ptr<kube::Connection>> connect_as_kubectl(os::Kernel& kernel, const KubectlChoice& choice,
                                                             const kube::ClientSettings& settings) {
  const std::string kubeconfig = TRY(kubeconfig_of(choice.kubeconfig, kernel));
  return kube::connect(
             {.kubeconfig = kubeconfig,
              .context = choice.context,
              .pod = {.host = variable("KUBERNETES_SERVICE_HOST"), .port = variable("KUBERNETES_SERVICE_PORT")}},
             [&](const std::string& path) { return kernel.files().read(path); }, settings)
      .context("connecting to the API server");
}

}  // namespace railbed

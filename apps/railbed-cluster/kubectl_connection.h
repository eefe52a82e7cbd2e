// SPDX-License-Identifier: Apache-2.0
// The API server that kubectl would ask, for verbs that people type.
//
// Threading: one thread. Failure: Unsupported where $KUBECONFIG names several files; kube::connect()'s.
#pragma once

#include <memory>
#include <string>

#include "kube/connection.h"
#include "os/ports/kernel.h"

namespace railbed {

struct KubectlChoice {
  std::string kubeconfig;  // empty: $KUBECONFIG, ~/.kube/config, or the service account of the pod that this is
  std::string context;     // empty: its current one
};
Result<std::unique_ptr<kube::Connection>> connect_as_kubectl(os::Kernel& kernel, const KubectlChoice& choice,
                                                             const kube::ClientSettings& settings = {});

}  // namespace railbed

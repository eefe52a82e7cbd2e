// SPDX-License-Identifier: Apache-2.0
#include "kube/pod.h"

#include "doc/members.h"

namespace railbed::kube {

std::string node_of_pod(const doc::Value& pod) {
  return std::string(doc::text_at(pod, "spec.nodeName"));
}

bool has_ended(const doc::Value& pod) {
  const std::string_view phase = doc::text_at(pod, "status.phase");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
#include "kube/pod.h"

#include "doc/members.h"

namespace railbed::kube {
namespace {

std::string text_at(const doc::Value& object, const char* part, const char* field) {
  const doc::Value* inner = doc::object_in(object, part);
  return inner != nullptr ? doc::text_in(*inner, field) : "";
}

}  // namespace

std::string node_of_pod(const doc::Value& pod) {
  return text_at(pod, "spec", "nodeName");
}

bool has_ended(const doc::Value& pod) {
  const std::string phase = text_at(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace railbed::kube

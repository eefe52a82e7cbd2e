// SPDX-License-Identifier: Apache-2.0
// Pods and pod templates, in all kinds that contain them.
//
// Why: a mistake in a pod has the same effect whether the pod is written as a Pod or inside a Deployment, a JobSet or
// an LLMInferenceService; rules see one form. One table (pods.cc) lists which kinds have templates and where.
// Threading: values that point into the Bundle, which must outlive them.
// Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/objects.h"
#include "check/read/bundle.h"

namespace railbed::check {

struct Container {
  const doc::Value* value = nullptr;
  std::string name;
  bool init = false;  // ends before the others begin; a sidecar (restartPolicy: Always) does not

  // The value of an environment variable; null where it is absent or does not come as literal text.
  const doc::Value* env(std::string_view name) const;
  // resources.limits[key], or resources.requests[key]; null where absent.
  const doc::Value* resource(std::string_view key) const;
  // The same as a number; 0 where it is absent or no number.
  int64_t resource_count(std::string_view key) const;
};

struct PodTemplate {
  const Document* document = nullptr;
  std::string path;                  // "spec.template"; empty for a Pod
  const doc::Value* spec = nullptr;  // the PodSpec; never null
  const doc::Value* annotations = nullptr;
  doc::Span span;                               // of the name of the object
  int64_t replicas = 1;                         // how many pods it makes; 1 by default
  bool per_node = false;                        // a DaemonSet: one per node
  std::vector<Container> containers;            // init containers first
  std::vector<api::NetworkSelection> networks;  // of the annotation

  std::string label() const;  // "Deployment ai/worker"
  // The number that the scheduler counts: the sum over containers that run together, or the number of an init container
  // if that is larger.
  int64_t resource_count(std::string_view key) const;
};

std::vector<PodTemplate> find_pods(const Bundle& bundle);

}  // namespace railbed::check

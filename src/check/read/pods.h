// SPDX-License-Identifier: Apache-2.0
// Pods and pod templates, in all kinds that contain them.
//
// Why: a mistake in a pod has the same effect whether the pod is written as a Pod or inside a Deployment, a JobSet or
// an LLMInferenceService; rules see one form. One table (pods.cc) lists kinds whose number of pods is known; in all
// others a pod is recognized by its shape, because operators invent kinds faster than a table grows.
// Threading: values that point into the Bundle, which must outlive them.
// Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "check/read/bundle.h"

namespace railbed::check {

struct Container {
  const doc::Value* value = nullptr;
  std::string name;
  bool init = false;  // ends before the others begin; a sidecar (restartPolicy: Always) does not
  // An operator makes the container of these fields: `env` may be `envs`, and resources may have keys of their own.
  bool made = false;

  // The list of environment variables; null where there is none.
  const doc::Value* variables() const;
  // The value of an environment variable; null where it is absent or does not come as literal text.
  const doc::Value* env(std::string_view name) const;
  // resources.limits[key], or resources.requests[key]; null where absent.
  const doc::Value* resource(std::string_view key) const;
  // The same as a number; 0 where it is absent or no number.
  int64_t resource_count(std::string_view key) const;
  // Each map of resources that it has, limits first.
  std::vector<const doc::Value*> resource_maps() const;
};

struct PodTemplate {
  const Document* document = nullptr;
  std::string path;                  // "spec.template"; empty for a Pod
  const doc::Value* spec = nullptr;  // the PodSpec, or the fields that an operator makes it of; never null
  const doc::Value* annotations = nullptr;
  const doc::Value* labels = nullptr;
  doc::Span span;                               // of the name of the object
  int64_t replicas = 1;                         // how many pods it makes, at least; 1 by default
  bool per_node = false;                        // a DaemonSet: one per node
  bool virtual_machine = false;                 // of KubeVirt: its networks are those of its spec
  std::vector<Container> containers;            // init containers first
  std::vector<api::NetworkSelection> networks;  // of the annotation, or of a virtual machine's spec

  std::string label() const;  // "Deployment ai/worker"
  // Whether it is in the host's network: no CNI plugin runs for it.
  bool host_network() const;
  // The number that the scheduler counts: the sum over containers that run together, or the number of an init container
  // if that is larger.
  int64_t resource_count(std::string_view key) const;
};

std::vector<PodTemplate> find_pods(const Bundle& bundle);

// Whether the table has a kind of this name, in any group: its objects make pods.
bool has_pods(std::string_view kind);

}  // namespace railbed::check

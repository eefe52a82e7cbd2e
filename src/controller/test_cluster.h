// SPDX-License-Identifier: Apache-2.0
// Objects of a cluster as the API server stores them, for tests of the operator.
#pragma once

#include <string>
#include <vector>

#include "api/cluster_labels.h"
#include "api/node_state.h"
#include "base/format.h"
#include "doc/json.h"
#include "graph/examples.h"
#include "graph/node_state.h"
#include "graph/selector.h"
#include "kube/fake/api_server.h"
#include "kube/object.h"

namespace railbed::controller::testing {

using doc::Value;

// As an object comes from the API: without places.
inline Value json(const std::string& text) {
  auto inside = kube::parse_object(fmt::format(R"({{"value": {}}})", text));
  return inside ? *inside->find("value") : Value();
}

inline Value object(const std::string& api_version, const std::string& kind, const std::string& ns,
                    const std::string& name) {
  Value out = kube::fake::object(kind, ns, name);
  out.set("apiVersion", api_version);
  return out;
}

inline Value node(const std::string& name, const graph::Labels& labels = {}) {
  Value out = object("v1", "Node", "", name);
  Value& all = out.find("metadata")->set("labels", Value::object());
  all.set("kubernetes.io/os", "linux");
  for (const auto& [key, value] : labels) all.set(key, value);
  return out;
}

// `spec` without resourceName and braces: R"("numVfs": 4, "nicSelector": {"pfNames": ["p0"]})".
inline Value policy(const std::string& name, const std::string& spec) {
  Value out = object("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", "op", name);
  out.set("spec", json(fmt::format(R"({{"resourceName": "{}", {}}})", name, spec)));
  return out;
}

inline std::vector<facts::Nic> two_nics() {
  return {graph::examples::nic("p0", 1), graph::examples::nic("p1", 2)};
}

// As the agent of a node with these NICs writes it.
inline Value status_of(const std::string& node, std::vector<facts::Nic> nics, const std::string& sync_status = "") {
  api::SriovNetworkNodeState state;
  state.nics = graph::found_nics(graph::examples::node(node, std::move(nics)));
  state.sync_status = sync_status;
  return api::node_state_status(state);
}

enum class By : uint8_t { kRailbed, kOthers };

inline Value node_state(const std::string& name, By by = By::kRailbed) {
  Value out = object("sriovnetwork.openshift.io/v1", "SriovNetworkNodeState", "op", name);
  Value& meta = *out.find("metadata");
  if (by == By::kRailbed) meta.set("labels", Value::object()).set(api::kManagedByLabel, api::kManagedByRailbed);
  meta.set("uid", "state-" + name);
  meta.set("resourceVersion", "7");
  out.set("spec", Value::object());
  return out;
}

inline std::string state_path(const std::string& node) {
  return "/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworknodestates/" + node;
}
inline std::string policy_path(const std::string& name) {
  return "/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworknodepolicies/" + name;
}
inline std::string node_path(const std::string& name) {
  return "/api/v1/nodes/" + name;
}

}  // namespace railbed::controller::testing

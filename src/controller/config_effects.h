// SPDX-License-Identifier: Apache-2.0
// Which SriovOperatorConfig counts, and what railbed does with each of its fields: its condition says of every field
// that is set whether it is used or ignored.
//
// Why: the object speaks of another operator's parts, and two of its words mean something else there. disableDrain:
// that operator then changes VFs under running pods; here no pod is evicted, and what would need it waits. A node that
// leaves configDaemonNodeSelector is left as it is; its VFs stay. (One that is labelled railbed.dev/managed=true was
// chosen by hand: where nodes go over one by one, that selector still names those of the other operator.) Where no
// object counts, defaults do. What is not known is no order: an object that cannot be read, or a kind that is not
// listed any more, leaves what counted before. `helm uninstall` of the SR-IOV operator deletes the object while that
// operator runs: its settings count until there is an object again, or railbed's operator ends. Threading: pure.
// Failure: none; an object that cannot be read has the condition Invalid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/operator_config.h"
#include "controller/condition.h"
#include "controller/policy_namespaces.h"
#include "graph/selector.h"
#include "kube/cache.h"

namespace railbed::controller {

struct ConfigChoice {
  enum class Source : uint8_t {
    kDefaults,    // there is none
    kStored,      // the object `key`
    kUnreadable,  // the object `key`, of which what counted before is kept
    kGone,        // it was deleted while the SR-IOV operator ran, or its kind is not listed: as it was last
  };
  Source source = Source::kDefaults;
  std::string key;                  // "namespace/name"
  api::SriovOperatorConfig config;  // what counts
  std::string problem;              // of kUnreadable
  friend bool operator==(const ConfigChoice&, const ConfigChoice&) = default;
};

struct ConfigView {
  const kube::Objects* stored = nullptr;  // null: the kind is not listed
  std::string own_namespace;              // that of node states, whose object goes first
  PolicyNamespaces namespaces;
  bool upstream_operator = false;  // the SR-IOV operator runs
  const ConfigChoice& before;
};
ConfigChoice choose_config(const ConfigView& view);

// Why a node is left as it is; empty: it is not.
std::string why_left_alone(const ConfigChoice& choice, const graph::Labels& node_labels);

// What railbed does with a field that is set. Nothing is said of one whose value asks for what is so anyway.
struct FieldEffect {
  bool used = false;
  std::string field, what;
  friend bool operator==(const FieldEffect&, const FieldEffect&) = default;
};
std::vector<FieldEffect> effects_of(const api::SriovOperatorConfig& config);

// The condition of the object `key`, of which `choice` may be.
Readiness config_readiness(const kube::ObjectKey& key, const ConfigChoice& choice, const PolicyNamespaces& namespaces);

}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
// On which nodes the scheduler may put a pod: taints and tolerations, and required node affinity.
//
// Why: a pod that wants a rail and does not tolerate the taint of the nodes with rails waits forever, and nothing but
// an event says so. `check` and the graph ask the same functions. What the scheduler only prefers does not count.
// Threading: pure functions.
// Failure: none; what has another type than the API says is passed over, since the schema reports it. An operator that
// is not known counts as fulfilled.
// Spec: k8s.io/api/core/v1, Toleration.ToleratesTaint; component-helpers' nodeaffinity.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "doc/value.h"

namespace railbed::api {

// Of a PodSpec.
Placement read_placement(const doc::Value& pod_spec);
// Of the spec of a Node.
std::vector<Taint> read_taints(const doc::Value& node_spec);

// "dedicated=rdma:NoSchedule"
std::string to_string(const Taint& taint);
// "{key: dedicated, operator: Equal, value: rdma, effect: NoSchedule}", the toleration to write.
std::string toleration_for(const Taint& taint);

// A LabelSelector of nodes. One without conditions takes every node, unlike a term of an affinity.
NodeTerm read_label_selector(const doc::Value& selector);
bool is_selected(const NodeTerm& selector, const std::map<std::string, std::string>& labels);

bool tolerates(const Toleration& toleration, const Taint& taint);
// Whether somebody set the taint to keep pods away. Those that the node's controllers set and take away with its
// condition (not ready, under pressure, cordoned, being deleted) say nothing about the next minute.
bool is_lasting(const Taint& taint);

// Whether a node was chosen by the scheduler, which heeds all taints, or by spec.nodeName: then only those with
// NoExecute end the pod.
enum class Assigned : bool { kNo, kYes };
// The first lasting taint that keeps the pod off the node; null where none does.
const Taint* kept_off_by(std::span<const Taint> taints, std::span<const Toleration> tolerations, Assigned assigned);

// Empty where a term fits the node, or there is none; otherwise what the first of them lacks.
std::string affinity_mismatch(std::span<const NodeTerm> terms, const std::map<std::string, std::string>& labels,
                              std::string_view node);

}  // namespace railbed::api

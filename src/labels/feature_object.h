// SPDX-License-Identifier: Apache-2.0
// The labels of a Node as a NodeFeature object, for the master of node feature discovery (NFD).
//
// Why: where NFD runs it is the writer of labels; it takes further ones from NodeFeature objects. It merges the objects
// of a node, and a later one overrides, so this object has labels alone and no features. NFD may be configured to
// ignore objects of other namespaces, so what it has not taken over is read back from the Node. Threading: pure
// functions. Failure: Invalid for a node whose name NFD cannot be given. Source: NFD, kind NodeFeature of
// nfd.k8s-sigs.io/v1alpha1; its master, annotation feature-labels.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "doc/value.h"

namespace railbed::labels {

struct FeatureOwner {
  std::string ns;
  doc::Value reference = {};  // one metav1.OwnerReference; null: the object has no owner
};

// Named railbed-NODE. The same for the same arguments, so that a caller compares it with the stored one.
Result<doc::Value> feature_object(const std::map<std::string, std::string>& labels, const std::string& node,
                                  const FeatureOwner& owner);

// The labels that NFD has written on a Node and removes again, by the Node's annotations.
std::set<std::string> labels_of_nfd(const std::map<std::string, std::string>& annotations);

// Of `wanted`, the labels that the Node does not have with that value: NFD ignores the object, or is slow.
std::map<std::string, std::string> not_taken_over(const std::map<std::string, std::string>& wanted,
                                                  const std::map<std::string, std::string>& current);

}  // namespace railbed::labels

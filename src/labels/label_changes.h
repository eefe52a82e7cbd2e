// SPDX-License-Identifier: Apache-2.0
// Which labels railbed sets and removes on a Node, beside other writers.
//
// Why: labels have no owner in the API that administrators, NFD and operators would all respect. So railbed keeps in an
// annotation what it wrote. It sets a label that is not there or that it wrote itself, and removes only what it wrote
// and what is still so. What another writer has set stays. A label that another writer has changed twice is left alone
// until it has the wanted value, or the entry of the annotation is removed.
// Threading: pure functions.
// Failure: none. An annotation that cannot be read counts as empty: then nothing is removed, and no label that is there
// is changed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"
#include "labels/node_labels.h"

namespace railbed::labels {

inline constexpr int kMostLosses = 2;

struct WrittenLabel {
  std::string value;
  int losses = 0;  // how often another writer changed or removed it
  friend bool operator==(const WrittenLabel&, const WrittenLabel&) = default;
};
using WrittenLabels = std::map<std::string, WrittenLabel>;
// The annotation railbed.dev/written-labels: {"railbed.dev/rails":{"value":"8"}}
WrittenLabels written_labels(const std::string& annotation);
std::string annotation_of(const WrittenLabels& written);  // empty where nothing is written

// Node feature discovery, on this node.
struct Nfd {
  bool is_there = false;        // labels with its prefix are its own to write (feature_object.h)
  std::set<std::string> owned;  // labels_of_nfd()
};

struct LabelChanges {
  std::map<std::string, std::string> set;
  std::set<std::string> remove;
  WrittenLabels written;             // after the changes
  std::vector<std::string> reports;  // labels that are left to others, a line each
  friend bool operator==(const LabelChanges&, const LabelChanges&) = default;
};

LabelChanges label_changes(const std::map<std::string, std::string>& wanted,
                           const std::map<std::string, std::string>& current, const WrittenLabels& written_before,
                           const Nfd& nfd = {});

// The Node that the changes were computed from.
struct NodeMeta {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::string resource_version;
};
// A merge patch of the Node; nothing where there is nothing to change. It has the resourceVersion, so the API server
// refuses it (409) if another writer was faster.
std::optional<doc::Value> node_patch(const NodeLabels& wanted, const NodeMeta& node, const LabelChanges& changes);

}  // namespace railbed::labels

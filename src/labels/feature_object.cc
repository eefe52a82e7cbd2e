// SPDX-License-Identifier: Apache-2.0
#include "labels/feature_object.h"

#include "base/object_names.h"
#include "base/text.h"
#include "labels/node_keys.h"

namespace railbed::labels {
namespace {

constexpr std::string_view kNodeNameLabel = "nfd.node.kubernetes.io/node-name";
// Of an instance that has a name, with that and a dot in front.
constexpr std::string_view kListOfLabels = "nfd.node.kubernetes.io/feature-labels";

bool is_list_of_labels(std::string_view name) {
  if (!name.ends_with(kListOfLabels)) return false;
  name.remove_suffix(kListOfLabels.size());
  return name.empty() || name.ends_with('.');
}

}  // namespace

Result<doc::Value> feature_object(const std::map<std::string, std::string>& labels, const std::string& node,
                                  const FeatureOwner& owner) {
  if (node.empty() || !is_label_value(node))
    return fail(Code::kInvalid,
                "Node {}: its name is too long for a label, and node feature discovery finds a node by a label; write "
                "its labels on the Node itself",
                node);
  doc::Value object = doc::Value::object();
  object.set("apiVersion", "nfd.k8s-sigs.io/v1alpha1");
  object.set("kind", "NodeFeature");
  doc::Value metadata = doc::Value::object();
  metadata.set("name", fmt::format("railbed-{}", node));
  metadata.set("namespace", owner.ns);
  doc::Value names = doc::Value::object();
  names.set("app.kubernetes.io/managed-by", "railbed");
  names.set(kNodeNameLabel, node);
  metadata.set("labels", std::move(names));
  if (!owner.reference.is_null()) {
    doc::Value references = doc::Value::array();
    references.push(owner.reference);
    metadata.set("ownerReferences", std::move(references));
  }
  object.set("metadata", std::move(metadata));
  doc::Value features = doc::Value::object();
  // Older definitions require all three.
  for (const char* part : {"attributes", "flags", "instances"}) features.set(part, doc::Value::object());
  doc::Value written = doc::Value::object();
  for (const auto& [name, value] : labels) written.set(name, value);
  doc::Value spec = doc::Value::object();
  spec.set("features", std::move(features));
  spec.set("labels", std::move(written));
  object.set("spec", std::move(spec));
  return object;
}

std::set<std::string> labels_of_nfd(const std::map<std::string, std::string>& annotations) {
  std::set<std::string> out;
  for (const auto& [name, list] : annotations) {
    if (!is_list_of_labels(name)) continue;
    for (const std::string& label : parts_of(list, ','))
      out.insert(label.contains('/') ? label : fmt::format("{}{}", kFeaturePrefix, label));
  }
  return out;
}

std::map<std::string, std::string> not_taken_over(const std::map<std::string, std::string>& wanted,
                                                  const std::map<std::string, std::string>& current) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : wanted) {
    const auto found = current.find(name);
    if (found == current.end() || found->second != value) out.emplace(name, value);
  }
  return out;
}

}  // namespace railbed::labels

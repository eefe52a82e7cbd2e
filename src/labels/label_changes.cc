// SPDX-License-Identifier: Apache-2.0
#include "labels/label_changes.h"

#include <memory>

#include "doc/json.h"
#include "labels/node_keys.h"

namespace railbed::labels {
namespace {

const std::string* value_of(const std::map<std::string, std::string>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

// One label: what is wanted, what is there, and what was written.
struct OneLabel {
  const std::string& name;
  const std::string* wanted = nullptr;
  const std::string* current = nullptr;
  const WrittenLabel* written = nullptr;

  bool is_as_wanted() const { return wanted != nullptr && current != nullptr && *current == *wanted; }
  bool is_as_written() const { return written != nullptr && current != nullptr && *current == written->value; }
  std::string current_words() const { return current == nullptr ? "removed" : fmt::format("set to '{}'", *current); }
};

void write(const OneLabel& one, int losses, LabelChanges& out) {
  out.set[one.name] = *one.wanted;
  out.written[one.name] = {.value = *one.wanted, .losses = losses};
}

void leave(const OneLabel& one, LabelChanges& out) {
  out.written[one.name] = {.value = one.written->value, .losses = kMostLosses};
  out.reports.push_back(
      fmt::format("label {}: another writer has changed it {} times, and it is now {}; railbed does not set it to '{}' "
                  "until that writer stops and the label's entry in the annotation {} is removed",
                  one.name, kMostLosses, one.current_words(), *one.wanted, kWrittenAnnotation));
}

// NFD writes the label, or is to: nothing is set. What railbed wrote before NFD came stays until NFD has it, so that
// pods are selected meanwhile.
void yield(const OneLabel& one, bool is_owned, LabelChanges& out) {
  if (is_owned || !one.is_as_written()) return;
  if (one.wanted == nullptr)
    out.remove.insert(one.name);
  else
    out.written[one.name] = *one.written;
}

void decide(const OneLabel& one, LabelChanges& out) {
  if (one.wanted == nullptr) {
    if (one.written == nullptr) return;
    if (one.written->losses >= kMostLosses)
      out.written[one.name] = *one.written;  // still not to be written again
    else if (one.is_as_written())
      out.remove.insert(one.name);
    return;
  }
  if (one.written == nullptr) {
    if (one.current == nullptr)
      write(one, 0, out);
    else if (!one.is_as_wanted())
      out.reports.push_back(fmt::format("label {}: another writer has set it to '{}'; railbed does not set it to '{}'",
                                        one.name, *one.current, *one.wanted));
    return;
  }
  if (one.written->losses >= kMostLosses) {
    if (!one.is_as_wanted()) leave(one, out);
    return;  // as wanted, by the other writer: it is that writer's, and no longer kept
  }
  if (one.is_as_written()) {
    if (one.is_as_wanted())
      out.written[one.name] = *one.written;
    else
      write(one, one.written->losses, out);
    return;
  }
  if (one.is_as_wanted()) return;  // another writer set it, and it is that writer's
  const int losses = one.written->losses + 1;
  if (losses >= kMostLosses)
    leave(one, out);
  else
    write(one, losses, out);
}

}  // namespace

WrittenLabels written_labels(const std::string& annotation) {
  WrittenLabels out;
  if (annotation.empty()) return out;
  doc::Diagnostics ignored;
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{.name = std::string(kWrittenAnnotation), .text = annotation});
  const std::optional<doc::Value> read = doc::parse_json(source, ignored);
  const doc::Value::Object* const members = read ? read->as_object() : nullptr;
  if (members == nullptr) return out;
  for (const doc::Value::Member& member : *members) {
    const doc::Value* const value = member.value.find("value");
    if (value == nullptr || !value->is_string() || find_key(member.key, KeyKind::kLabel) == nullptr) continue;
    const doc::Value* const losses = member.value.find("losses");
    const int64_t* const number = losses == nullptr ? nullptr : losses->as_int();
    const bool is_left = number != nullptr && *number >= kMostLosses;
    out[member.key] = {.value = *value->as_string(),
                       .losses = is_left ? kMostLosses : static_cast<int>(number != nullptr && *number > 0)};
  }
  return out;
}

std::string annotation_of(const WrittenLabels& written) {
  if (written.empty()) return "";
  doc::Value out = doc::Value::object();
  for (const auto& [name, label] : written) {
    doc::Value one = doc::Value::object();
    one.set("value", label.value);
    if (label.losses > 0) one.set("losses", label.losses);
    out.set(name, std::move(one));
  }
  return doc::to_json(out);
}

LabelChanges label_changes(const std::map<std::string, std::string>& wanted,
                           const std::map<std::string, std::string>& current, const WrittenLabels& written_before,
                           const Nfd& nfd) {
  std::set<std::string> names;
  for (const auto& [name, value] : wanted) names.insert(name);
  for (const auto& [name, label] : written_before) names.insert(name);
  LabelChanges out;
  for (const std::string& name : names) {
    if (find_key(name, KeyKind::kLabel) == nullptr) continue;
    const auto written = written_before.find(name);
    const OneLabel one{.name = name,
                       .wanted = value_of(wanted, name),
                       .current = value_of(current, name),
                       .written = written == written_before.end() ? nullptr : &written->second};
    const bool is_owned = nfd.owned.contains(name);
    if (is_owned || (nfd.is_there && name.starts_with(kFeaturePrefix)))
      yield(one, is_owned, out);
    else
      decide(one, out);
  }
  return out;
}

std::optional<doc::Value> node_patch(const NodeLabels& wanted, const NodeMeta& node, const LabelChanges& changes) {
  doc::Value labels = doc::Value::object(), annotations = doc::Value::object();
  for (const auto& [name, value] : changes.set) labels.set(name, value);
  for (const std::string& name : changes.remove) labels.set(name, doc::Value());
  const auto annotate = [&](std::string_view name, const std::string& value) {
    const std::string* const now = value_of(node.annotations, std::string(name));
    if (value == (now == nullptr ? "" : *now)) return;
    annotations.set(name, value.empty() ? doc::Value() : doc::Value(value));
  };
  annotate(kWrittenAnnotation, annotation_of(changes.written));
  // The time goes with a label that railbed wrote, or that has the wanted value anyway.
  const std::string measured(kMeasuredLabel);
  const std::string* const label = changes.remove.contains(measured) ? nullptr : value_of(node.labels, measured);
  const std::string* const target = value_of(wanted.labels, measured);
  const bool is_ours = changes.set.contains(measured) || (target != nullptr && label != nullptr && *label == *target);
  const std::string* const time = value_of(wanted.annotations, std::string(kMeasuredAtAnnotation));
  if (is_ours && time != nullptr) annotate(kMeasuredAtAnnotation, *time);
  if (changes.remove.contains(measured)) annotate(kMeasuredAtAnnotation, "");
  if (labels.as_object()->empty() && annotations.as_object()->empty()) return std::nullopt;
  doc::Value metadata = doc::Value::object();
  metadata.set("resourceVersion", node.resource_version);
  if (!labels.as_object()->empty()) metadata.set("labels", std::move(labels));
  if (!annotations.as_object()->empty()) metadata.set("annotations", std::move(annotations));
  doc::Value patch = doc::Value::object();
  patch.set("metadata", std::move(metadata));
  return patch;
}

}  // namespace railbed::labels

// SPDX-License-Identifier: Apache-2.0
#include "check/read/patches.h"

#include <algorithm>

#include "check/read/paths.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

std::map<std::string, std::string> patch_files(const Bundle& bundle) {
  std::map<std::string, std::string> listed;
  const auto add = [&](const Value& value) {
    if (value.span.source == nullptr) return;
    const std::string& kustomization = value.span.source->name;
    for (const std::string_view key : {"patches", "patchesStrategicMerge", "patchesJson6902"})
      for (const std::string& path : listed_paths(value.find(key), kustomization)) listed.emplace(path, kustomization);
  };
  for (const Document& document : bundle.documents)
    if (document.api_version.starts_with("kustomize.config.k8s.io/")) add(document.value);
  for (const Value& value : bundle.without_kind)
    if (value.span.source != nullptr && is_kustomization(value.span.source->name)) add(value);
  std::map<std::string, std::string> names;
  if (listed.empty()) return names;
  for (const doc::SourcePtr& source : bundle.sources)
    if (const auto found = listed.find(plain_path(source->name)); found != listed.end())
      names.emplace(source->name, found->second);
  return names;
}

namespace {

// A list of replacements, or one of them.
void add_replacement_sources(const Value* value, std::set<std::string, std::less<>>& names) {
  if (value == nullptr) return;
  if (const Value::Array* items = value->as_array())
    for (const Value& item : *items) {
      const Value* source = item.find("source");
      if (source == nullptr || item.find("targets") == nullptr || doc::text_in(*source, "kind") != "ConfigMap")
        continue;
      names.insert(doc::text_in(*source, "name"));
    }
}

}  // namespace

std::set<std::string, std::less<>> replacement_sources(const Bundle& bundle) {
  std::set<std::string, std::less<>> names;
  for (const Document& document : bundle.documents)
    if (document.api_version.starts_with("kustomize.config.k8s.io/"))
      add_replacement_sources(document.value.find("replacements"), names);
  for (const Value& value : bundle.without_kind)  // files that a kustomization names, and those without a kind
    add_replacement_sources(value.is_array() ? &value : value.find("replacements"), names);
  return names;
}

bool is_merge_directive(std::string_view key) {
  return key == "$patch" || key == "$retainKeys" || key.starts_with("$deleteFromPrimitiveList/") ||
         key.starts_with("$setElementOrder/");
}

bool has_merge_directive(const Value& value) {
  if (const Value::Array* items = value.as_array()) return std::ranges::any_of(*items, has_merge_directive);
  const Value::Object* members = value.as_object();
  if (members == nullptr) return false;
  return std::ranges::any_of(*members, [](const Value::Member& member) {
    return is_merge_directive(member.key) || has_merge_directive(member.value);
  });
}

}  // namespace railbed::check

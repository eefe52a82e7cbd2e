// SPDX-License-Identifier: Apache-2.0
#include "check/read/patches.h"

#include <algorithm>
#include <vector>

namespace railbed::check {

using doc::Value;

namespace {

// kustomize knows its own files by these names; `kind` may be left out in them.
bool is_kustomization(std::string_view name) {
  const std::string_view file = name.substr(name.find('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
  return file == "kustomization.yaml" || file == "kustomization.yml" || file == "Kustomization";
}

// The path from the folder of `from`, without "." and "..", as far as ".." can be followed.
std::string path_beside(std::string_view from, std::string_view path) {
  std::vector<std::string_view> parts;
  const auto add = [&](std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('/'), text.size());
      const std::string_view part = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (part.empty() || part == ".") continue;
      if (part == ".." && !parts.empty() && parts.back() != "..")
        parts.pop_back();
      else
        parts.push_back(part);
    }
  };
  const size_t folder = from.rfind('/');
  if (folder != std::string_view::npos) add(from.substr(0, folder));
  add(path);
  std::string out = from.starts_with('/') ? "/" : "";
  for (const std::string_view part : parts) {
    if (!out.empty() && !out.ends_with('/')) out += '/';
    out += part;
  }
  return out;
}

// The files that one list of a kustomization names: items are paths, or objects with a `path`.
void add_files(const Value* list, std::string_view from, std::set<std::string>& files) {
  if (list == nullptr || !list->is_array()) return;
  for (const Value& item : *list->as_array()) {
    const Value* path = item.is_object() ? item.find("path") : &item;
    const std::string* text = path == nullptr ? nullptr : path->as_string();
    // A text with line ends is a patch itself.
    if (text != nullptr && text->find('\n') == std::string::npos) files.insert(path_beside(from, *text));
  }
}

}  // namespace

std::set<std::string> patch_files(const Bundle& bundle) {
  std::set<std::string> listed;
  const auto add = [&](const Value& value) {
    if (value.span.source == nullptr) return;
    for (const std::string_view key : {"patches", "patchesStrategicMerge", "patchesJson6902"})
      add_files(value.find(key), value.span.source->name, listed);
  };
  for (const Document& document : bundle.documents)
    if (document.api_version.starts_with("kustomize.config.k8s.io/")) add(document.value);
  for (const Value& value : bundle.without_kind)
    if (value.span.source != nullptr && is_kustomization(value.span.source->name)) add(value);
  std::set<std::string> names;
  if (listed.empty()) return names;
  for (const doc::SourcePtr& source : bundle.sources)
    if (listed.contains(path_beside("", source->name)) || listed.contains(source->name)) names.insert(source->name);
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

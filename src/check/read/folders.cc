// SPDX-License-Identifier: Apache-2.0
#include "check/read/folders.h"

#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "check/read/bundle.h"
#include "check/read/patches.h"
#include "check/read/paths.h"
#include "check/read/rendered.h"

namespace railbed::check {
namespace {

// What was rendered belongs to the folder that it was made of, and is a bundle of its own beside other renderings.
std::string group_of(const std::string& name) {
  return is_rendered(name) ? fmt::format("what is rendered from {}", rendered_folder(name)) : folder_of(name);
}

// An object that two folders give with different contents, in words; empty where there is none.
std::string contradiction(const Bundle& bundle) {
  const std::set<std::string> patches = patch_files(bundle);
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const Document*> first_of;
  for (const Document& document : bundle.documents) {
    const doc::SourcePtr& source = document.value.span.source;
    if (document.name.empty() || source == nullptr || patches.contains(source->name) ||
        has_merge_directive(document.value) || document.kind == "Kustomization" || document.kind == "Namespace")
      continue;
    const auto [first, fresh] = first_of.try_emplace({document.kind, document.ns, document.name}, &document);
    if (fresh || first->second->value == document.value) continue;
    const std::string here = group_of(source->name);
    const std::string there = group_of(first->second->value.span.source->name);
    if (here != there) return fmt::format("{} is given in {} and differently in {}", document.label(), there, here);
  }
  return "";
}

}  // namespace

FileGroups group_by_folder(const std::vector<doc::SourcePtr>& sources) {
  std::map<std::string, size_t> folders;
  for (const doc::SourcePtr& source : sources) folders.try_emplace(group_of(source->name), folders.size());
  FileGroups out;
  if (folders.size() > 1) {
    doc::Diagnostics told_when_checked;
    out.why = contradiction(read_bundle(sources, told_when_checked));
  }
  if (out.why.empty()) {
    out.groups = {sources};
    return out;
  }
  out.groups.resize(folders.size());
  for (const doc::SourcePtr& source : sources) out.groups[folders.at(group_of(source->name))].push_back(source);
  return out;
}

}  // namespace railbed::check

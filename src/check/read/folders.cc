// SPDX-License-Identifier: Apache-2.0
#include "check/read/folders.h"

#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "check/read/bundle.h"
#include "check/read/patches.h"

namespace railbed::check {
namespace {

std::string folder_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash);
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
    const std::string here = folder_of(source->name);
    const std::string there = folder_of(first->second->value.span.source->name);
    if (here != there) return fmt::format("{} is given in {} and differently in {}", document.label(), there, here);
  }
  return "";
}

}  // namespace

FileGroups group_by_folder(const std::vector<doc::SourcePtr>& sources) {
  std::map<std::string, size_t> folders;
  for (const doc::SourcePtr& source : sources) folders.try_emplace(folder_of(source->name), folders.size());
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
  for (const doc::SourcePtr& source : sources) out.groups[folders.at(folder_of(source->name))].push_back(source);
  return out;
}

}  // namespace railbed::check

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

// A page of documentation shows examples of its own.
std::string page_or_group_of(const std::string& name) {
  return is_page(name) ? name : group_of(name);
}

// An object that two groups give with different contents, in words; empty where there is none.
std::string contradiction(const Bundle& bundle, std::string (*group)(const std::string&)) {
  const std::set<std::string> patches = patch_files(bundle);
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const Document*> first_of;
  for (const Document& document : bundle.documents) {
    const doc::SourcePtr& source = document.value.span.source;
    if (document.name.empty() || source == nullptr || patches.contains(source->name) ||
        has_merge_directive(document.value) || document.kind == "Kustomization" || document.kind == "Namespace")
      continue;
    const auto [first, fresh] = first_of.try_emplace({document.kind, document.ns, document.name}, &document);
    if (fresh || first->second->value == document.value) continue;
    const std::string here = group(source->name);
    const std::string there = group(first->second->value.span.source->name);
    if (here != there) return fmt::format("{} is given in {} and differently in {}", document.label(), there, here);
  }
  return "";
}

// The groups that differ by `group`, in the order of their first sources.
std::vector<std::vector<doc::SourcePtr>> split(const std::vector<doc::SourcePtr>& sources,
                                               std::string (*group)(const std::string&)) {
  std::map<std::string, size_t> numbers;
  std::vector<std::vector<doc::SourcePtr>> groups;
  for (const doc::SourcePtr& source : sources) {
    const auto [found, fresh] = numbers.try_emplace(group(source->name), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(source);
  }
  return groups;
}

// Each page by itself, all other files together.
std::string page_or_all(const std::string& name) {
  return is_page(name) ? name : "";
}

}  // namespace

FileGroups group_by_folder(const std::vector<doc::SourcePtr>& sources) {
  FileGroups out{.groups = {sources}, .why = ""};
  if (sources.size() < 2) return out;
  doc::Diagnostics told_when_checked;
  const Bundle bundle = read_bundle(sources, told_when_checked);
  out.why = contradiction(bundle, group_of);
  const std::string pages = contradiction(bundle, page_or_group_of);
  if (!out.why.empty())
    out.groups = split(sources, pages.empty() ? group_of : page_or_group_of);
  else if (!pages.empty())
    out.groups = split(sources, page_or_all);
  if (out.why.empty()) out.why = pages;
  return out;
}

}  // namespace railbed::check

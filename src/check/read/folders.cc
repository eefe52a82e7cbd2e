// SPDX-License-Identifier: Apache-2.0
#include "check/read/folders.h"

#include <algorithm>
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

// One object in two files, differently; in test data also twice the same.
struct Contradiction {
  const Document* first = nullptr;
  const Document* second = nullptr;

  const std::string& first_name() const { return first->value.span.source->name; }
  const std::string& second_name() const { return second->value.span.source->name; }
};

// Which sources are one bundle.
struct Grouping {
  std::map<std::string, std::string> kustomizations;  // by the patch that they list
  std::set<std::string> collections;                  // folders whose files are each a bundle
  bool by_folder = false;
  bool by_page = false;  // a page of documentation shows examples of its own

  // The same text for sources of one bundle; in words, where the text is not empty.
  std::string operator()(const std::string& name) const {
    if (is_rendered(name)) return by_folder ? fmt::format("what is rendered from {}", rendered_folder(name)) : "";
    if (is_page(name) && by_page) return name;
    const auto patch = kustomizations.find(name);
    const std::string folder = folder_of(patch == kustomizations.end() ? name : patch->second);
    if (!is_page(name) && collections.contains(folder)) return name;
    return by_folder ? folder : "";
  }
};

bool is_test_data(std::string_view folder) {
  return fmt::format("/{}/", folder).find("/testdata/") != std::string::npos;
}

// The contradictions among the files; `collections` gets the folders that give one object in many versions.
std::vector<Contradiction> contradictions(const Bundle& bundle, const Grouping& patches,
                                          std::set<std::string>& collections) {
  constexpr size_t kManyVersions = 3;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const Document*> first_of;
  std::map<std::pair<std::string, Key>, std::vector<const Document*>> versions;  // by folder and object
  std::vector<Contradiction> all;
  for (const Document& document : bundle.documents) {
    const doc::SourcePtr& source = document.value.span.source;
    if (document.name.empty() || source == nullptr || patches.kustomizations.contains(source->name) ||
        has_merge_directive(document.value) || document.kind == "Kustomization" || document.kind == "Namespace")
      continue;
    const Key key = {document.kind, document.ns, document.name};
    const auto [first, fresh] = first_of.try_emplace(key, &document);
    const std::string folder = folder_of(source->name);
    const bool equal = first->second->value == document.value;
    if (!fresh && (!equal || is_test_data(folder))) all.push_back({first->second, &document});
    if (is_page(source->name) || is_rendered(source->name)) continue;
    auto& here = versions[{folder, key}];
    const bool known = std::ranges::any_of(here, [&](const Document* other) {
      return other->value.span.source == source || (other->value == document.value && !is_test_data(folder));
    });
    if (!known) here.push_back(&document);
    if (here.size() >= kManyVersions || (here.size() > 1 && is_test_data(folder))) collections.insert(folder);
  }
  return all;
}

// The first contradiction between two groups, in words; empty where there is none.
std::string reason(const std::vector<Contradiction>& all, const Grouping& group) {
  for (const Contradiction& one : all) {
    const std::string here = group(one.second_name());
    const std::string there = group(one.first_name());
    if (here != there)
      return fmt::format("{} is given in {} and {} in {}", one.second->label(), there,
                         one.first->value == one.second->value ? "again" : "differently", here);
  }
  return "";
}

// The groups of `group`, in the order of their first sources.
std::vector<std::vector<doc::SourcePtr>> groups_of(const std::vector<doc::SourcePtr>& sources, const Grouping& group) {
  std::map<std::string, size_t> numbers;
  std::vector<std::vector<doc::SourcePtr>> groups;
  for (const doc::SourcePtr& source : sources) {
    const auto [found, fresh] = numbers.try_emplace(group(source->name), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(source);
  }
  return groups;
}

}  // namespace

FileGroups group_by_folder(const std::vector<doc::SourcePtr>& sources) {
  FileGroups out{.groups = {sources}, .why = ""};
  if (sources.size() < 2) return out;
  doc::Diagnostics told_when_checked;
  const Bundle bundle = read_bundle(sources, told_when_checked, ApiSchemas::kDropped);
  Grouping group{.kustomizations = patch_files(bundle)};
  const std::vector<Contradiction> all = contradictions(bundle, group, group.collections);
  out.why = reason(all, {.kustomizations = group.kustomizations, .collections = {}, .by_folder = true});
  group.by_folder = !out.why.empty();
  const std::string pages =
      reason(all, {.kustomizations = group.kustomizations, .collections = {}, .by_folder = true, .by_page = true});
  group.by_page = !pages.empty();
  if (out.why.empty()) out.why = pages;
  if (out.why.empty()) out.why = reason(all, group);
  if (out.why.empty()) return out;
  out.groups = groups_of(sources, group);
  return out;
}

}  // namespace railbed::check

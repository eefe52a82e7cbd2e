// SPDX-License-Identifier: Apache-2.0
#include "check/read/kustomizations.h"

#include <algorithm>

#include "check/read/outside.h"
#include "check/read/paths.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

namespace {

struct Listing {
  std::string file;                    // of the kustomization
  std::vector<std::string> resources;  // plain paths: files and folders
  std::set<std::string> patches;
  std::vector<std::string> elsewhere;  // entries of other machines, generators, charts
  Additions adds;
  std::vector<SetField> sets;
  bool component = false;
};

Listing listing_of(const Value& value, const std::string& name, const Bundle& bundle) {
  Listing made{.file = name};
  for (const std::string_view key : {"resources", "bases", "components"})
    for (const std::string& path : listed_paths(value.find(key), name)) made.resources.push_back(path);
  for (const std::string_view key : {"patches", "patchesStrategicMerge", "patchesJson6902"})
    made.patches.merge(listed_paths(value.find(key), name));
  if (const std::string remote = remote_entry(value); !remote.empty()) made.elsewhere.push_back(remote);
  for (const std::string_view key : {"generators", "helmCharts", "helmChartInflationGenerator"})
    if (value.find(key) != nullptr) made.elsewhere.emplace_back(key);
  made.adds.ns = doc::text_in(value, "namespace");
  if (const Value* ns = value.find("namespace")) made.adds.ns_span = ns->span;
  made.adds.prefix = doc::text_in(value, "namePrefix");
  made.adds.suffix = doc::text_in(value, "nameSuffix");
  for (const std::string_view key : {"nameSuffix", "namePrefix"})
    if (const Value* part = value.find(key)) made.adds.name_span = part->span;
  made.sets = fields_set_by(value, name, bundle);
  made.component = doc::text_in(value, "kind") == "Component";
  return made;
}

// All kustomizations of the bundle by the plain path of their folder.
std::map<std::string, Listing> listings_of(const Bundle& bundle) {
  std::map<std::string, Listing> all;
  const auto add = [&](const Value& value) {
    if (value.span.source == nullptr) return;
    const std::string name = bundle.given(value.span).source->name;
    if (is_kustomization(name)) all.emplace(plain_path(folder_of(name)), listing_of(value, name, bundle));
  };
  for (const Document& document : bundle.documents)
    if (document.api_version.starts_with("kustomize.config.k8s.io/")) add(document.value);
  for (const Value& value : bundle.without_kind) add(value);
  return all;
}

// Additions of an outer kustomization to what an inner one adds: its namespace wins, its prefix comes first.
Additions with_outer(const Additions& inner, const Additions& outer) {
  Additions both = inner;
  if (!outer.ns.empty()) {
    both.ns = outer.ns;
    both.ns_span = outer.ns_span;
  }
  both.prefix = outer.prefix + inner.prefix;
  both.suffix = inner.suffix + outer.suffix;
  if (outer.name_span.known()) both.name_span = outer.name_span;
  return both;
}

class RootBuilder {
 public:
  RootBuilder(const std::map<std::string, Listing>& all, const std::map<std::string, std::string>& sources)
      : all_(all), sources_(sources) {}

  KustomizationRoot build(const std::string& folder) {
    root_.file = all_.at(folder).file;
    take(folder, {});
    return std::move(root_);
  }

 private:
  void take(const std::string& folder, const Additions& outer) {
    const auto found = all_.find(folder);
    if (found == all_.end() || !seen_.insert(folder).second) return;
    const Listing& listing = found->second;
    const Additions adds = with_outer(listing.adds, outer);
    root_.files.emplace(listing.file, adds);
    for (const std::string& path : listing.resources) {
      if (all_.contains(path))
        take(path, adds);
      else if (const auto file = sources_.find(path); file != sources_.end())
        root_.files.emplace(file->second, adds);
      else
        root_.not_read.push_back(path);
    }
    for (const std::string& path : listing.patches)
      if (const auto file = sources_.find(path); file != sources_.end()) root_.files.emplace(file->second, outer);
    root_.not_read.insert(root_.not_read.end(), listing.elsewhere.begin(), listing.elsewhere.end());
    root_.sets.insert(root_.sets.end(), listing.sets.begin(), listing.sets.end());
  }

  const std::map<std::string, Listing>& all_;
  const std::map<std::string, std::string>& sources_;  // names by plain path
  std::set<std::string> seen_;
  KustomizationRoot root_;
};

}  // namespace

Kustomizations::Kustomizations(const Bundle& bundle) {
  const std::map<std::string, Listing> all = listings_of(bundle);
  if (all.empty()) return;
  std::map<std::string, std::string> sources;
  for (const doc::SourcePtr& source : bundle.sources) sources.emplace(plain_path(source->name), source->name);
  std::set<std::string> inner;
  for (const auto& [folder, listing] : all) {
    folders_.insert(folder);
    for (const std::string& path : listing.resources)
      if (path != folder) inner.insert(path);
  }
  for (const auto& [folder, listing] : all)
    if (!inner.contains(folder) && !listing.component) roots_.push_back(RootBuilder(all, sources).build(folder));
  for (size_t i = 0; i < roots_.size(); ++i)
    for (const auto& [file, adds] : roots_[i].files) roots_of_[file].push_back(i);
}

bool Kustomizations::together(std::string_view one, std::string_view other) const {
  const auto first = roots_of_.find(one);
  const auto second = roots_of_.find(other);
  if (first == roots_of_.end() || second == roots_of_.end()) return false;
  return std::ranges::any_of(
      first->second, [&](size_t root) { return std::ranges::find(second->second, root) != second->second.end(); });
}

bool Kustomizations::lists(std::string_view file) const {
  return roots_of_.contains(file);
}

bool Kustomizations::in_folder(std::string_view folder) const {
  return folders_.contains(plain_path(folder));
}

const Additions* Kustomizations::additions(std::string_view file) const {
  const auto found = roots_of_.find(file);
  if (found == roots_of_.end()) return nullptr;
  const Additions* all = nullptr;
  for (const size_t root : found->second) {
    const Additions& here = roots_[root].files.find(std::string(file))->second;
    if (all != nullptr && !(*all == here)) return nullptr;
    all = &here;
  }
  return all;
}

namespace {

// The value with all that is below it.
void mark_set_value(const Value& value, Bundle& bundle, int depth = 0) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest || !value.span.known()) return;
  bundle.add_set_later(value.span);
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items) mark_set_value(item, bundle, depth + 1);
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members) mark_set_value(member.value, bundle, depth + 1);
}

}  // namespace

void mark_set_fields(Bundle& bundle, const Kustomizations& kustomizations) {
  for (const KustomizationRoot& root : kustomizations.roots()) {
    if (root.sets.empty()) continue;
    for (const Document& document : bundle.documents) {
      const doc::SourcePtr source = bundle.given(document.value.span).source;
      if (source == nullptr || !document.carrier.empty() || !root.files.contains(source->name)) continue;
      for (const SetField& field : root.sets) {
        if (!field.takes(document)) continue;
        for (const Value* value : values_of_steps(document.value, field.steps)) mark_set_value(*value, bundle);
      }
    }
  }
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
//
// Files that give one object differently are nodes of a graph, those of one folder as one node; two nodes that
// contradict each other are joined. Colouring the graph gives the groups: first fit, in the order of the files. A file
// is bound to a node if it has such an object, or names one in the same folder. Files that are bound to no node are in
// the first group, and those of them that make networks and resources are added to the others.
#include "check/read/alternatives.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "check/read/classify.h"
#include "check/read/copies.h"
#include "check/read/namespaces.h"
#include "check/read/patches.h"
#include "check/read/paths.h"
#include "check/read/rendered.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

// A folder of test data holds files that nothing applies together.
bool is_test_data(std::string_view name) {
  return !test_folder(name).empty();
}

// One object in two files that nothing applies together.
struct Contradiction {
  const Document* first = nullptr;
  const Document* second = nullptr;
  bool equal = false;
};

struct Node {
  std::string unit;                          // the folder, page or file
  std::set<size_t> others;                   // nodes that contradict it
  std::set<std::string, std::less<>> names;  // of its objects
  std::set<std::string, std::less<>> files;  // that have them
  size_t colour = 0;
};

class Grouping {
 public:
  Grouping(const Bundle& bundle, const Kustomizations& kustomizations)
      : bundle_(bundle), kustomizations_(kustomizations) {
    for (const KustomizationRoot& root : kustomizations.roots())
      for (const auto& [file, adds] : root.files) roots_of_[file].insert(root.file);
  }

  void find() {
    for (const Document& document : bundle_.documents)
      if (takes_part(document)) versions_[identity_of(document)].push_back(&document);
    for (const auto& [identity, documents] : versions_)
      if (documents.size() > 1) compare(documents);
    for (const Contradiction& one : contradictions_) join(one);
    colour();
  }

  const std::vector<Contradiction>& contradictions() const { return contradictions_; }
  bool empty() const { return contradictions_.empty(); }
  size_t colours() const {
    size_t most = 0;
    for (const Node& node : nodes_) most = std::max(most, node.colour + 1);
    return most;
  }

  std::string file_of_document(const Document& document) const {
    return bundle_.given(document.value.span).source->name;
  }

  // The files of each colour. What depends on an object is bound with it: it lies in the same folder and names it.
  std::vector<std::set<std::string, std::less<>>> bound_files() const {
    std::vector<std::set<std::string, std::less<>>> files(colours());
    std::map<std::string, std::vector<const doc::Source*>, std::less<>> by_unit;
    for (const doc::SourcePtr& source : bundle_.sources) by_unit[unit_of(source->name)].push_back(source.get());
    std::set<std::string, std::less<>> seeds;
    for (const Node& node : nodes_) seeds.insert(node.files.begin(), node.files.end());
    for (const Node& node : nodes_) {
      files[node.colour].insert(node.files.begin(), node.files.end());
      const auto beside = by_unit.find(node.unit);
      if (beside == by_unit.end()) continue;
      for (const doc::Source* source : beside->second)
        if (!seeds.contains(source->name) && names_one(source->text, node.names))
          files[node.colour].insert(source->name);
    }
    return files;
  }

 private:
  bool takes_part(const Document& document) const {
    if (document.name.empty() || document.value.span.source == nullptr || document.patch) return false;
    if (document.kind == "Kustomization" || document.kind == "Namespace" || document.verb != Verb::kApply) return false;
    const bool judged = document.cls.is(DocumentKind::kManifest) || document.cls.is(DocumentKind::kPage) ||
                        document.cls.is(DocumentKind::kTemplate);
    return judged && document.carrier.empty() && document.kind != "Application";
  }

  // What is applied together, as far as it is known: a rendering, a kustomization, a folder. A page, and a file of test
  // data, is by itself.
  std::string unit_of(const std::string& name) const {
    if (is_rendered(name)) return fmt::format("what is rendered from {}", rendered_folder(name));
    if (is_page(name) || is_test_data(name)) return name;
    const auto roots = roots_of_.find(name);
    if (roots != roots_of_.end() && roots->second.size() == 1) return folder_of(*roots->second.begin());
    return folder_of(name);
  }

  void compare(const std::vector<const Document*>& documents) {
    constexpr size_t kMostVersions = 200;  // of one object; more are no examples for people
    for (size_t i = 1; i < std::min(documents.size(), kMostVersions); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Document& first = *documents[j];
        const Document& second = *documents[i];
        const std::string one = file_of_document(first);
        const std::string other = file_of_document(second);
        if (one == other || is_of_one_apply(one, other)) continue;
        const bool equal = same_content(first.value, second.value);
        if (!equal || (is_test_data(one) && is_test_data(other))) contradictions_.push_back({&first, &second, equal});
      }
  }

  bool is_of_one_apply(const std::string& one, const std::string& other) const {
    if (is_rendered(one) && is_rendered(other) && rendered_folder(one) == rendered_folder(other)) return true;
    return kustomizations_.together(one, other);
  }

  size_t node_of(const std::string& unit) {
    const auto [found, fresh] = numbers_.try_emplace(unit, nodes_.size());
    if (fresh) nodes_.push_back({.unit = unit, .others = {}, .names = {}, .files = {}, .colour = 0});
    return found->second;
  }

  void join(const Contradiction& one) {
    const std::string first = file_of_document(*one.first);
    const std::string second = file_of_document(*one.second);
    const bool inside = unit_of(first) == unit_of(second);
    const size_t a = node_of(inside ? first : unit_of(first));
    const size_t b = node_of(inside ? second : unit_of(second));
    for (const auto& [node, document, file] : {std::tuple(a, one.first, first), std::tuple(b, one.second, second)}) {
      nodes_[node].files.insert(file);
      nodes_[node].names.insert(document->name);
      const doc::Value* spec = document->value.find("spec");
      if (const std::string resource = spec == nullptr ? "" : doc::text_in(*spec, "resourceName"); !resource.empty())
        nodes_[node].names.insert(resource);
    }
    nodes_[a].others.insert(b);
    nodes_[b].others.insert(a);
  }

  void colour() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      std::set<size_t> taken;
      for (const size_t other : nodes_[i].others)
        if (other < i) taken.insert(nodes_[other].colour);
      while (taken.contains(nodes_[i].colour)) ++nodes_[i].colour;
    }
  }

  static bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

  static bool names_one(std::string_view text, const std::set<std::string, std::less<>>& names) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const bool begins = at == 0 || !is_name_byte(text[at - 1]);
        const size_t end = at + name.size();
        if (begins && (end == text.size() || !is_name_byte(text[end]))) return true;
      }
      return false;
    });
  }

  const Bundle& bundle_;
  const Kustomizations& kustomizations_;
  std::map<std::string, std::set<std::string>, std::less<>> roots_of_;
  std::map<Identity, std::vector<const Document*>> versions_;
  std::vector<Contradiction> contradictions_;
  std::vector<Node> nodes_;
  std::map<std::string, size_t> numbers_;
};

// Files of one folder of which only one is applied.
std::set<std::string, std::less<>> versions_in_folders(const Grouping& grouping) {
  std::set<std::string, std::less<>> files;
  for (const Contradiction& one : grouping.contradictions()) {
    const std::string first = grouping.file_of_document(*one.first);
    const std::string second = grouping.file_of_document(*one.second);
    if (folder_of(first) != folder_of(second)) continue;
    files.insert(first);
    files.insert(second);
  }
  return files;
}

// The configuration of a device plugin, which makes resources.
bool is_plugin_config(const Document& document) {
  const doc::Value* data = document.kind == "ConfigMap" ? document.value.find("data") : nullptr;
  return data != nullptr && data->is_object() &&
         std::ranges::any_of(*data->as_object(), [](const doc::Value::Member& member) {
           const std::string* text = member.value.as_string();
           return text != nullptr && (text->find("\"resourceList\"") != std::string::npos ||
                                      text->find("\"configList\"") != std::string::npos);
         });
}

// Objects that others rely on without being in their folder.
bool is_context(const Document& document) {
  static constexpr std::string_view kKinds[] = {"SriovNetworkNodePolicy",
                                                "SriovOperatorConfig",
                                                "SriovNetworkPoolConfig",
                                                "NicClusterPolicy",
                                                "NicNodePolicy",
                                                "ClusterPolicy",
                                                "IPPool",
                                                "CIDRPool",
                                                "Network",
                                                "NodeFeatureRule",
                                                "NodeFeatureDiscovery",
                                                "Node",
                                                "DeviceClass",
                                                "ResourceClaimTemplate"};
  return is_network_kind(document.kind) || is_plugin_config(document) ||
         std::ranges::find(kKinds, document.kind) != std::end(kKinds);
}

// The files that are bound to nothing and have such objects, and kustomizations.
std::set<std::string, std::less<>> context_files(const Bundle& bundle,
                                                 const std::set<std::string, std::less<>>& bound) {
  std::set<std::string, std::less<>> files;
  for (const Document& document : bundle.documents) {
    const doc::SourcePtr source = bundle.given(document.value.span).source;
    if (source == nullptr || bound.contains(source->name) || is_page(source->name)) continue;
    if (is_context(document)) files.insert(source->name);
  }
  for (const doc::SourcePtr& source : bundle.sources)
    if (is_kustomization(source->name) && !bound.contains(source->name)) files.insert(source->name);
  return files;
}

// Reading the context again for each group is bounded: without it only less is found.
bool is_affordable(const std::vector<doc::SourcePtr>& sources, const std::set<std::string, std::less<>>& context,
                   size_t groups) {
  constexpr size_t kFree = 4u << 20;
  constexpr size_t kTimes = 4;
  size_t all = 0;
  size_t again = 0;
  for (const doc::SourcePtr& source : sources) {
    all += source->text.size();
    if (context.contains(source->name)) again += source->text.size();
  }
  return again * groups <= kFree + kTimes * all;
}

std::string reason(const Grouping& grouping) {
  const Contradiction& one = grouping.contradictions().front();
  const auto place = [&](const Document& document) {
    const std::string file = grouping.file_of_document(document);
    return is_rendered(file) ? fmt::format("what is rendered from {}", rendered_folder(file)) : file;
  };
  return fmt::format("{} is given in {} and {} in {}", one.second->label(), place(*one.first),
                     one.equal ? "again" : "differently", place(*one.second));
}

// One note for each file of a folder that contradicts one before it.
void note_alternatives(const Bundle& bundle, const Grouping& grouping, doc::Diagnostics& notes) {
  std::set<std::string> reported;
  for (const Contradiction& one : grouping.contradictions()) {
    const std::string first = grouping.file_of_document(*one.first);
    const std::string second = grouping.file_of_document(*one.second);
    if (folder_of(first) != folder_of(second) || is_page(first) || is_page(second) || is_test_data(first)) continue;
    if (!reported.insert(second).second) continue;
    const auto name_at = [&](const Document& document) {
      const doc::Value* metadata = document.value.find("metadata");
      const doc::Value* name = metadata == nullptr ? nullptr : metadata->find("name");
      return bundle.given(name == nullptr ? document.value.span : name->span);
    };
    notes
        .note("RB-API-012", name_at(*one.second),
              fmt::format("{} is given differently in {}: nothing applies both files, so they are alternatives, each "
                          "checked with everything else",
                          one.second->label(), first))
        .note(name_at(*one.first), "the other one")
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kGivenTwice);
  }
}

}  // namespace

FileGroups group_alternatives(const std::vector<doc::SourcePtr>& sources, std::span<const NotRead> unopened) {
  FileGroups out;
  out.groups.push_back({.sources = sources, .about = {}});
  doc::Diagnostics reported_when_checked;
  Bundle bundle = read_bundle(sources, reported_when_checked, ApiSchemas::kDropped);
  Kustomizations kustomizations(bundle);
  classify(bundle, patch_files(bundle), kustomizations);
  add_namespaces(bundle, kustomizations);
  Grouping grouping(bundle, kustomizations);
  if (sources.size() > 1) grouping.find();
  if (!grouping.empty()) {
    const auto bound = grouping.bound_files();
    std::set<std::string, std::less<>> all_bound;
    for (const auto& files : bound) all_bound.insert(files.begin(), files.end());
    auto context = context_files(bundle, all_bound);
    if (!is_affordable(sources, context, bound.size())) context.clear();
    out.groups.assign(bound.size(), {});
    for (size_t colour = 0; colour < bound.size(); ++colour) {
      SourceGroup& group = out.groups[colour];
      if (colour > 0) group.about = bound[colour];
      for (const doc::SourcePtr& source : sources) {
        const bool free = !all_bound.contains(source->name);
        if (bound[colour].contains(source->name) || (free && (colour == 0 || context.contains(source->name))))
          group.sources.push_back(source);
      }
    }
    out.why = reason(grouping);
    note_alternatives(bundle, grouping, out.notes);
  }
  std::set<std::string, std::less<>> versions = versions_in_folders(grouping);
  out.world = world_of(bundle, std::move(kustomizations), unopened);
  out.world.versions = std::move(versions);
  out.world.prefixes = prefix_signs(bundle);
  return out;
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "check/read/namespaces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "base/kinds.h"
#include "check/read/kubectl.h"
#include "check/read/paths.h"
#include "check/read/pods.h"
#include "check/read/rendered.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

namespace {

bool is_cluster_wide(const Document& document) {
  static constexpr std::string_view kKinds[] = {
      "NicClusterPolicy", "NicNodePolicy", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork",
      "ClusterPolicy",    "NVIDIADriver",  "PersistentVolume",  "StorageClass",   "PriorityClass",
      "RuntimeClass",     "MachineConfig", "MachineConfigPool", "Kustomization"};
  if (std::ranges::find(kKinds, document.kind) != std::end(kKinds)) return true;
  const Kind* kind = find_kind(document.kind);
  return kind != nullptr && kind->scope == KindScope::kCluster;
}

const std::string& file_of_document(const Bundle& bundle, const Document& document) {
  static const std::string kNone;
  const doc::SourcePtr source = bundle.given(document.value.span).source;
  return source == nullptr ? kNone : source->name;
}

// Whether a file lies in the folder that a path of another repository's root leads to.
bool is_below_path(std::string_view file, std::string_view path) {
  const std::string wanted = plain_path(path);
  if (wanted.empty() || wanted.starts_with("..")) return false;
  const std::string here = "/" + plain_path(is_rendered(file) ? rendered_folder(file) : folder_of(file)) + "/";
  return here.find("/" + wanted + "/") != std::string::npos;
}

// What an object of a deployment tool adds to the files below a path.
struct Target {
  std::string ns;
  doc::Span span;
  std::string path;
  bool overwrites = false;
};

const Value* value_along(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* here = &value;
  for (const std::string_view key : path) {
    here = here->find(key);
    if (here == nullptr) return nullptr;
  }
  return here;
}

const Value::Array& items_of(const Value* list) {
  static const Value::Array kNone;
  return list != nullptr && list->is_array() ? *list->as_array() : kNone;
}

void add_target(const Value* ns, const Value* path, bool overwrites, std::vector<Target>& out) {
  const std::string* its_ns = ns == nullptr ? nullptr : ns->as_string();
  const std::string* its_path = path == nullptr ? nullptr : path->as_string();
  if (its_ns == nullptr || its_ns->empty() || its_path == nullptr) return;
  if (its_ns->find_first_of("{$<") != std::string::npos) return;
  out.push_back({*its_ns, ns->span, *its_path, overwrites});
}

std::vector<Target> targets_in(const Bundle& bundle) {
  std::vector<Target> targets;
  for (const Document& document : bundle.documents) {
    const Value& value = document.value;
    const std::string_view group = document.group();
    if (document.kind == "Application" && group == "argoproj.io") {
      const Value* ns = value_along(value, {"spec", "destination", "namespace"});
      add_target(ns, value_along(value, {"spec", "source", "path"}), false, targets);
      if (const Value* sources = value_along(value, {"spec", "sources"}); sources != nullptr && sources->is_array())
        for (const Value& source : *sources->as_array()) add_target(ns, source.find("path"), false, targets);
    } else if (document.kind == "Kustomization" && group == "kustomize.toolkit.fluxcd.io") {
      add_target(value_along(value, {"spec", "targetNamespace"}), value_along(value, {"spec", "path"}), true, targets);
    } else if (document.kind == "HelmRelease") {
      const Value* ns = value_along(value, {"spec", "targetNamespace"});
      if (ns == nullptr) ns = value_along(value, {"metadata", "namespace"});
      add_target(ns, value_along(value, {"spec", "chart", "spec", "chart"}), false, targets);
    }
  }
  return targets;
}

// The files from which a generator of policies takes source CRs, by plain path: what it makes of them goes to another
// cluster, and nothing that applies the policies adds to them.
std::set<std::string> files_of_generators(const Bundle& bundle) {
  std::set<std::string> files;
  for (const Document& document : bundle.documents) {
    if (document.kind != "PolicyGenerator" && document.kind != "PolicyGenTemplate") continue;
    const std::string folder = folder_of(file_of_document(bundle, document)) + "/";
    for (const Value& source : items_of(value_along(document.value, {"spec", "sourceFiles"})))
      if (const std::string path = doc::text_in(source, "fileName"); !path.empty())
        files.insert(plain_path(folder + "source-crs/" + path));
    for (const Value& policy : items_of(document.value.find("policies")))
      for (const Value& manifest : items_of(policy.find("manifests")))
        if (const std::string path = doc::text_in(manifest, "path"); !path.empty())
          files.insert(plain_path(folder + path));
  }
  return files;
}

bool is_generated_from(const std::set<std::string>& files, std::string_view file) {
  const std::string path = plain_path(file);
  return std::ranges::any_of(
      files, [&](const std::string& one) { return path == one || (path.starts_with(one) && path[one.size()] == '/'); });
}

// Namespaces of `kubectl -n NS apply -f FILE`, by the file's name; a file with two has none.
std::map<std::string, std::set<std::string>> namespaces_of_commands(const Bundle& bundle) {
  std::map<std::string, std::set<std::string>> by_file;
  for (const Command& command : bundle.commands) {
    const auto kubectl = kubectl_command(command);
    if (!kubectl || kubectl->ns.empty()) continue;
    for (const std::string& file : kubectl->files)
      if (file != "-" && !file.empty()) by_file[plain_path(file)].insert(kubectl->ns);
    if (!kubectl->folder.empty()) by_file[plain_path(kubectl->folder)].insert(kubectl->ns);
  }
  return by_file;
}

std::optional<std::string> namespace_of_commands(const std::map<std::string, std::set<std::string>>& by_file,
                                                 std::string_view file) {
  const std::string here = "/" + plain_path(file);
  std::set<std::string> all;
  for (const auto& [path, namespaces] : by_file)
    if (here.ends_with("/" + path) || here.find("/" + path + "/") != std::string::npos)
      all.insert(namespaces.begin(), namespaces.end());
  return all.size() == 1 ? std::optional(*all.begin()) : std::nullopt;
}

void rename_network(Document& document, const Additions& adds) {
  if (adds.prefix.empty() && adds.suffix.empty()) return;
  Value* metadata = document.value.find("metadata");
  if (metadata == nullptr || document.name.empty() || !document.name_in_file.empty()) return;
  Value* name = metadata->find("name");
  const doc::Span span = name->span;
  document.name_in_file = document.name;
  document.name = adds.prefix + document.name + adds.suffix;
  document.renamed_at = adds.name_span;
  *name = Value(document.name);
  name->span = span;
}

}  // namespace

bool is_network_kind(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {
      "NetworkAttachmentDefinition", "SriovNetwork",   "SriovIBNetwork", "OVSNetwork",
      "HostDeviceNetwork",           "MacvlanNetwork", "IPoIBNetwork"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

void set_namespace(Document& document, std::string_view ns, const doc::Span& where) {
  Value* metadata = document.value.find("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  // A namespace that is no text is a mistake of its own.
  if (const Value* written = metadata->find("namespace"); written != nullptr && !written->is_null())
    if (!written->is_string()) return;
  metadata->set("namespace", ns).span = where;
  document.ns = ns;
  document.ns_from = NamespaceFrom::kAdded;
}

void add_namespaces(Bundle& bundle, const Kustomizations& kustomizations) {
  const std::vector<Target> targets = targets_in(bundle);
  const auto commands = namespaces_of_commands(bundle);
  if (kustomizations.empty() && targets.empty() && commands.empty()) return;
  const std::set<std::string> generators = files_of_generators(bundle);
  for (Document& document : bundle.documents) {
    const std::string& file = file_of_document(bundle, document);
    // What an object holds is applied by a program of its own, where its namespace says or the program does.
    if (file.empty() || !document.carrier.empty() || is_generated_from(generators, file)) continue;
    if (const Additions* adds = kustomizations.additions(file)) {
      if (!adds->ns.empty() && !is_cluster_wide(document)) set_namespace(document, adds->ns, adds->ns_span);
      if (is_network_kind(document.kind)) rename_network(document, *adds);
    }
    if (is_cluster_wide(document)) continue;
    for (const Target& target : targets)
      if ((target.overwrites || !document.has_namespace()) && is_below_path(file, target.path))
        set_namespace(document, target.ns, target.span);
    if (document.has_namespace()) continue;
    if (const auto ns = namespace_of_commands(commands, file)) set_namespace(document, *ns, document.value.span);
  }
}

namespace {

// Where a network ends up, as far as it is known.
std::optional<std::string> namespace_of_network(const Document& document) {
  if (document.kind != "NetworkAttachmentDefinition") {
    const Value* spec = document.value.find("spec");
    const std::string target = spec == nullptr ? "" : doc::text_in(*spec, "networkNamespace");
    if (!target.empty()) return target;
  }
  return document.has_namespace() ? std::optional(document.ns) : std::nullopt;
}

// The known namespaces of the networks of each name, and the networks whose namespace is unknown.
struct NetworksByName {
  std::map<std::string, std::set<std::string>> known;
  std::map<std::string, std::vector<size_t>> unknown;  // indices of documents
};

NetworksByName networks_by_name(const Bundle& bundle) {
  NetworksByName all;
  for (size_t i = 0; i < bundle.documents.size(); ++i) {
    const Document& document = bundle.documents[i];
    if (!is_network_kind(document.kind) || document.name.empty()) continue;
    if (const auto ns = namespace_of_network(document))
      all.known[document.name].insert(*ns);
    else
      all.unknown[document.name].push_back(i);
  }
  return all;
}

}  // namespace

void infer_namespaces(Bundle& bundle, doc::Diagnostics& out) {
  const NetworksByName networks = networks_by_name(bundle);
  if (networks.known.empty() && networks.unknown.empty()) return;
  std::map<size_t, std::set<std::string>> of_pods;            // by document, from its networks
  std::map<std::string, std::set<std::string>> of_users;      // by network, from its pods
  std::map<size_t, const api::NetworkSelection*> selections;  // by document
  const std::vector<PodTemplate> pods = find_pods(bundle);
  for (const PodTemplate& pod : pods)
    for (const api::NetworkSelection& selection : pod.networks) {
      if (selection.ns.present) continue;
      const auto index = static_cast<size_t>(pod.document - bundle.documents.data());
      if (pod.document->has_namespace()) {
        of_users[*selection.name].insert(pod.document->ns);
      } else if (const auto known = networks.known.find(*selection.name);
                 known != networks.known.end() && !networks.unknown.contains(*selection.name)) {
        of_pods[index].insert(known->second.begin(), known->second.end());
        selections.emplace(index, &selection);
      }
    }
  struct Change {
    size_t document;
    std::string ns;
    std::string network;
  };
  std::vector<Change> changes;
  for (const auto& [index, namespaces] : of_pods)
    if (namespaces.size() == 1 && *namespaces.begin() != "default")
      changes.push_back({index, *namespaces.begin(), *selections[index]->name});
  for (const auto& [name, indices] : networks.unknown) {
    const auto users = of_users.find(name);
    if (users == of_users.end() || users->second.size() != 1 || networks.known.contains(name)) continue;
    for (const size_t index : indices)
      if (bundle.documents[index].kind == "NetworkAttachmentDefinition")
        changes.push_back({index, *users->second.begin(), ""});
  }
  for (const Change& change : changes) {
    Document& document = bundle.documents[change.document];
    const Value* name = value_along(document.value, {"metadata", "name"});
    if (name == nullptr) continue;
    if (!change.network.empty())
      out.note("RB-POD-001", name->span,
               fmt::format("no namespace is written for {}; {} is taken, where the only network {} is",
                           document.label(), change.ns, change.network))
          .with_fix(fmt::format("namespace: {}, or what applies it says so", change.ns));
    set_namespace(document, change.ns, document.value.span);
  }
}

}  // namespace railbed::check

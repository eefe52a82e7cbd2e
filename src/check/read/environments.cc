// SPDX-License-Identifier: Apache-2.0
#include "check/read/environments.h"

#include <algorithm>

#include "base/well_known.h"
#include "check/read/kubectl.h"
#include "check/read/namespaces.h"
#include "check/read/paths.h"
#include "check/read/pods.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

namespace {

// Networks and resources may have the same name.
std::string network_named(std::string_view name) {
  return "network " + std::string(name);
}
std::string resource_named(std::string_view name) {
  return "resource " + std::string(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
}

// The folder of `one` right below the deepest folder that it shares with `other`; empty: it is in that folder itself.
std::string branch_of(std::string_view one, std::string_view other) {
  size_t shared = 0;
  for (size_t i = 0; i < std::min(one.size(), other.size()) && one[i] == other[i]; ++i)
    if (one[i] == '/') shared = i + 1;
  const size_t end = one.find('/', shared);
  return end == std::string_view::npos ? std::string() : std::string(one.substr(0, end));
}

// Whether a path of something that is applied, written from some root, leads to the file or to a folder around it.
bool leads_to(std::string_view path, std::string_view file) {
  const std::string here = "/" + std::string(file) + "/";
  return here.find("/" + std::string(path) + "/") != std::string::npos;
}

std::string file_of_span(const Bundle& bundle, const doc::Span& span) {
  const doc::SourcePtr source = bundle.given(span).source;
  return source == nullptr ? std::string() : plain_path(source->name);
}

}  // namespace

void Environments::Content::add(const Content& other) {
  makes.insert(other.makes.begin(), other.makes.end());
  needs.insert(other.needs.begin(), other.needs.end());
}

bool Environments::Content::is_complete() const {
  return !needs.empty() && std::ranges::includes(makes, needs);
}

bool Environments::Content::depends_on(const Content& other) const {
  return std::ranges::any_of(
      needs, [&](const std::string& name) { return !makes.contains(name) && other.makes.contains(name); });
}

Environments::Environments(const Bundle& bundle) {
  for (const Document& document : bundle.documents)
    if (const std::string file = file_of_span(bundle, document.value.span); !file.empty()) add_document(document, file);
  for (const PodTemplate& pod : find_pods(bundle)) {
    const std::string file = file_of_span(bundle, pod.document->value.span);
    if (file.empty()) continue;
    for (const api::NetworkSelection& network : pod.networks)
      files_[file].needs.insert(network_named(network.name.value));
  }
  for (const auto& [file, content] : files_)
    for (size_t slash = file.find('/', 1); slash != std::string::npos; slash = file.find('/', slash + 1))
      folders_[file.substr(0, slash)].add(content);
  add_appliers(bundle);
}

void Environments::add_document(const Document& document, const std::string& file) {
  const Value* spec = document.value.find("spec");
  const std::string resource = spec == nullptr ? std::string() : doc::text_in(*spec, "resourceName");
  Content& content = files_[file];
  if (is_network_kind(document.kind)) {
    content.makes.insert(network_named(document.name));
    const std::string annotated = doc::text_in(doc::at(document.value, "metadata.annotations"), kResourceAnnotation);
    for (const std::string& needed : {resource, annotated})
      if (!needed.empty()) content.needs.insert(resource_named(needed));
  } else if (!resource.empty()) {
    content.makes.insert(resource_named(resource));
  }
}

// Applications of Argo CD and Kustomizations of Flux in one folder are of one cluster, and so is what a script applies.
void Environments::add_appliers(const Bundle& bundle) {
  const auto add = [&](const std::string& by, const std::string& path) {
    if (const std::string plain = plain_path(path); !plain.empty()) applied_[by].push_back(plain);
  };
  for (const Document& document : bundle.documents) {
    const bool flux = document.kind == "Kustomization" && document.group() == "kustomize.toolkit.fluxcd.io";
    if (document.kind != "Application" && !flux) continue;
    const std::string by = folder_of(file_of_span(bundle, document.value.span)) + "/";
    for (const std::string_view path : {"spec.path", "spec.source.path"})
      add(by, std::string(doc::text_at(document.value, path)));
    if (const Value* spec = document.value.find("spec"))
      if (const Value::Array* sources = doc::list_in(*spec, "sources"))
        for (const Value& source : *sources) add(by, doc::text_in(source, "path"));
  }
  for (const Command& command : bundle.commands) {
    const auto kubectl = kubectl_command(command);
    const std::string by = file_of_span(bundle, command.span);
    if (!kubectl || by.empty() || is_page(by)) continue;
    for (const std::string& path : kubectl->files) add(by, path);
    add(by, kubectl->folder);
  }
}

bool Environments::are_applied_together(std::string_view one, std::string_view other) const {
  return std::ranges::any_of(applied_, [&](const auto& entry) {
    const auto takes = [&](std::string_view file) {
      return std::ranges::any_of(entry.second, [&](const std::string& path) { return leads_to(path, file); });
    };
    return takes(one) && takes(other);
  });
}

bool Environments::are_apart(std::string_view one, std::string_view other) const {
  const std::string first = plain_path(one);
  const std::string second = plain_path(other);
  const std::string branch = branch_of(first, second);
  const std::string other_branch = branch_of(second, first);
  if (branch.empty() || other_branch.empty() || branch == other_branch) return false;
  const auto here = folders_.find(branch);
  const auto there = folders_.find(other_branch);
  if (here == folders_.end() || there == folders_.end() || are_applied_together(first, second)) return false;
  return (here->second.is_complete() || there->second.is_complete()) && !here->second.depends_on(there->second) &&
         !there->second.depends_on(here->second);
}

bool Environments::complete_each_other(std::string_view one, std::string_view other) const {
  const std::string first = plain_path(one);
  const std::string second = plain_path(other);
  const std::string branch = branch_of(first, second);
  const std::string other_branch = branch_of(second, first);
  if (branch.empty() || other_branch.empty() || branch == other_branch) return true;
  if (are_applied_together(first, second)) return true;
  const auto here = folders_.find(branch);
  const auto there = folders_.find(other_branch);
  return here != folders_.end() && there != folders_.end() &&
         (here->second.depends_on(there->second) || there->second.depends_on(here->second));
}

}  // namespace railbed::check

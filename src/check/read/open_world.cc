// SPDX-License-Identifier: Apache-2.0
#include "check/read/open_world.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/core.h>

#include "check/read/carriers.h"
#include "check/read/namespaces.h"
#include "check/read/paths.h"
#include "check/read/placeholders.h"
#include "check/read/rendered.h"
#include "check/read/templates.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Value;

namespace {

constexpr std::string_view kResourceKeys[] = {"resourceName", "extendedResourceName"};

std::string_view behind_slash(std::string_view name) {
  return name.substr(name.rfind('/') + 1);  // npos + 1 is 0
}

// `"resourceName": "rail_0"` in a text that holds JSON.
void add_resources_of_text(std::string_view text, std::set<std::string, std::less<>>& out) {
  constexpr std::string_view kKey = "resourceName";
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    size_t begin = text.find_first_not_of("\"' :\\\t", at + kKey.size());
    if (begin == std::string_view::npos) return;
    const size_t end = std::min(text.find_first_of("\"',\\\n}]", begin), text.size());
    out.emplace(behind_slash(text.substr(begin, end - begin)));
  }
}

void add_resources(const Value& value, std::set<std::string, std::less<>>& out, int depth = 0) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest) return;
  if (const std::string* text = value.as_string()) add_resources_of_text(*text, out);
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items) add_resources(item, out, depth + 1);
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members) {
      const std::string* text = member.value.as_string();
      const bool named = std::ranges::find(kResourceKeys, member.key) != std::end(kResourceKeys);
      if (named && text != nullptr) {
        out.emplace(*text);
        out.emplace(behind_slash(*text));
      } else {
        add_resources(member.value, out, depth + 1);
      }
    }
}

const Value* value_below(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* here = &value;
  for (const std::string_view key : path) {
    here = here->find(key);
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::string name_of_file(const Bundle& bundle, const Document& document) {
  const doc::SourcePtr source = bundle.given(document.value.span).source;
  return source == nullptr ? "" : source->name;
}

// Whether a field that says which network or resource an object makes is filled in later.
bool has_open_name(const Bundle& bundle, const Document& document) {
  const auto is_open = [&](const Value* value) {
    return value != nullptr && value->span.known() &&
           (is_filled_in(bundle.given(value->span)) || bundle.is_set_later(value->span) ||
            is_sure_placeholder(written_at(value->span)));
  };
  return is_open(value_below(document.value, {"metadata", "name"})) ||
         is_open(value_below(document.value, {"spec", "resourceName"})) ||
         is_open(value_below(document.value, {"spec", "networkNamespace"})) ||
         is_open(value_below(document.value, {"metadata", "namespace"}));
}

bool makes_networks_or_resources(std::string_view kind) {
  return is_network_kind(kind) || kind == "SriovNetworkNodePolicy" || kind == "NicClusterPolicy" ||
         kind == "NicNodePolicy";
}

// A ConfigMap of a device plugin whose list of resources is filled in later. Its own name says nothing of them, and
// other ConfigMaps make none.
bool has_open_resources(const Document& document) {
  const Value* data = document.kind == "ConfigMap" ? document.value.find("data") : nullptr;
  if (data == nullptr || !data->is_object()) return false;
  return std::ranges::any_of(*data->as_object(), [](const Value::Member& member) {
    const std::string* text = member.value.as_string();
    return text != nullptr && text->find("resource") != std::string::npos && has_mark(*text);
  });
}

// OpenShift's list of networks, where an entry is no object or has no name of its own.
bool has_open_entries(const Bundle& bundle, const Document& document) {
  if (document.kind != "Network" || !document.api_version.starts_with("operator.openshift.io/")) return false;
  const Value* list = value_below(document.value, {"spec", "additionalNetworks"});
  if (list == nullptr) return false;
  if (!list->is_array()) return true;
  return std::ranges::any_of(*list->as_array(), [&](const Value& entry) {
    const Value* name = entry.find("name");
    return name == nullptr || name->as_string() == nullptr || is_filled_in(bundle.given(name->span));
  });
}

// Whether an Application or a Kustomization of Flux applies files of this run.
bool applies_files_here(const Bundle& bundle, const Document& document) {
  std::vector<std::string> paths;
  for (const Value* value :
       {value_below(document.value, {"spec", "path"}), value_below(document.value, {"spec", "source", "path"})})
    if (value != nullptr && value->as_string() != nullptr) paths.push_back(plain_path(*value->as_string()));
  return std::ranges::any_of(paths, [&](const std::string& path) {
    return !path.empty() && std::ranges::any_of(bundle.sources, [&](const doc::SourcePtr& source) {
      return ("/" + plain_path(source->name)).find("/" + path + "/") != std::string::npos;
    });
  });
}

void add_makers(const Bundle& bundle, const Document& document, World& world) {
  const bool names_nothing = document.kind == "Application" &&
                             value_below(document.value, {"spec", "source"}) == nullptr &&
                             value_below(document.value, {"spec", "sources"}) == nullptr;
  const std::string_view why =
      names_nothing ? std::string_view() : why_it_makes(document.group(), document.kind, is_known(document));
  const std::string file = name_of_file(bundle, document);
  if (!why.empty() && !document.carries && !applies_files_here(bundle, document))
    world.not_read.push_back({document.label(), std::string(why), "", true});
  // The names of a page are not expected to be those of the files beside it.
  const bool own = document.cls.is(DocumentKind::kTemplate) || document.origin == Origin::kFile;
  const bool open = own && makes_networks_or_resources(document.kind) && has_open_name(bundle, document);
  const bool filled_in = open || has_open_entries(bundle, document) || (own && has_open_resources(document));
  if (filled_in) world.not_read.push_back({file, "is a template", "", true});
}

}  // namespace

bool World::tied(const Document& one, const Document& other) const {
  if (together) return true;
  const doc::SourcePtr& first = one.value.span.source;
  const doc::SourcePtr& second = other.value.span.source;
  if (first == nullptr || second == nullptr) return true;  // objects of one API server
  if (first == second || first->name == second->name) return !is_page(first->name);
  if (is_rendered(first->name) && is_rendered(second->name))
    return rendered_folder(first->name) == rendered_folder(second->name);
  return kustomizations.together(first->name, second->name);
}

bool World::apart(std::string_view one, std::string_view other) const {
  return !together && !is_rendered(one) && !is_rendered(other) && !kustomizations.together(one, other) &&
         environments.are_apart(one, other);
}

World world_of(const Bundle& bundle, Kustomizations kustomizations, std::span<const NotRead> unopened) {
  World world;
  for (const NotRead& one : bundle.not_read)
    if (one.makes) world.not_read.push_back({one.name, "is " + one.why, one.command, true});
  for (const NotRead& one : unopened) world.not_read.push_back({one.name, "is " + one.why, one.command, true});
  for (const KustomizationRoot& root : kustomizations.roots())
    for (const std::string& path : root.not_read)
      world.not_read.push_back({path, "is taken by " + root.file, "", true});
  for (const std::vector<Document>* documents : {&bundle.documents, &bundle.aside})
    for (const Document& document : *documents) {
      if (document.verb == Verb::kDelete || document.cls.is(DocumentKind::kAssertion)) continue;
      world.objects.insert(fmt::format("{}/{}", document.kind, document.name));
      // A network takes its VFs from a resource and makes none; what a carrier holds is a document of its own.
      if (is_network_kind(document.kind))
        world.networks.insert(document.name);
      else if (!document.carries &&
               (is_known(document) || !why_it_makes(document.group(), document.kind, false).empty()))
        add_resources(document.value, world.resources);
      add_makers(bundle, document, world);
    }
  world.kustomizations = std::move(kustomizations);
  world.environments = Environments(bundle);
  return world;
}

namespace {

// "nets.yaml (is a template of Helm), RailSet a (is of a kind that is not known) and 3 more"
std::string names_of_unread(const std::vector<NotRead>& not_read) {
  constexpr size_t kShown = 3;
  std::vector<std::string> parts;
  for (const NotRead& one : not_read) {
    std::string part = fmt::format("{} {}", one.name, one.why);
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  }
  std::string out;
  for (size_t i = 0; i < std::min(parts.size(), kShown); ++i) out += (i == 0 ? "" : ", ") + parts[i];
  if (parts.size() > kShown) out += fmt::format(" and {} more", parts.size() - kShown);
  return out;
}

}  // namespace

Absence absence_of(const World& world, const Document& user, std::span<const Document* const> makers, bool near) {
  const bool page = user.origin == Origin::kFence || user.origin == Origin::kProse ||
                    (user.value.span.source != nullptr && is_page(user.value.span.source->name));
  const bool tied = std::ranges::any_of(makers, [&](const Document* maker) { return world.tied(user, *maker); });
  const bool closed = world.not_read.empty() && (!page || world.together);
  if (tied && closed) return {};
  const doc::Severity severity = near ? doc::Severity::kWarning : doc::Severity::kNote;
  if (!world.not_read.empty())
    return {severity, "it may be made by what was not read: " + names_of_unread(world.not_read)};
  if (page) return {severity, "a page shows a part of what a cluster has"};
  return {severity, "other files may make it, as nothing applies these together (--together: these are all)"};
}

bool differ_in_numbers(std::string_view one, std::string_view other) {
  const auto letters = [](std::string_view text) {
    std::string out;
    for (const char c : text)
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
    return out;
  };
  return one != other && letters(one) == letters(other);
}

}  // namespace railbed::check

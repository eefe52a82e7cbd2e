// SPDX-License-Identifier: Apache-2.0
#include "admission/patches.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "admission/match.h"
#include "api/load.h"
#include "base/format.h"
#include "base/well_known.h"
#include "doc/members.h"
#include "schema/quantity.h"

namespace railbed::admission {
namespace {

using doc::Value;

constexpr std::string_view kHugePages = "hugepages-";

const Value::Array* containers_of(const Value& pod, std::string_view list) {
  const Value* spec = doc::object_in(pod, "spec");
  return spec == nullptr ? nullptr : doc::list_in(*spec, list);
}

// What a container asks for: the API server makes the request of a device equal to its limit.
int64_t asked_in(const Value& container, std::string_view resource) {
  for (const char* path : {"resources.limits", "resources.requests"})
    if (const Value* map = doc::at(container, path); map != nullptr && map->is_object())
      if (const Value* count = map->find(resource))
        return std::max<int64_t>(schema::whole_quantity(*count).value_or(0), 0);
  return 0;
}

// Of all containers that run together: those of the pod, and sidecars.
int64_t asked_by(const Value& pod, std::string_view resource) {
  int64_t sum = 0;
  const auto add = [&](const Value& container) { sum += std::min<int64_t>(asked_in(container, resource), INT32_MAX); };
  if (const Value::Array* all = containers_of(pod, "containers")) std::ranges::for_each(*all, add);
  if (const Value::Array* init = containers_of(pod, "initContainers"))
    for (const Value& container : *init)
      if (doc::text_in(container, "restartPolicy") == "Always") add(container);
  return sum;
}

void put(std::vector<Patch>& out, std::string path, Value value) {
  out.push_back({.op = Patch::Op::kAdd, .path = std::move(path), .value = std::move(value)});
}

std::string path_of(size_t container) {
  return fmt::format("/spec/containers/{}", container);
}

// An empty map or list where there is none: an operation inside of an absent one fails.
void put_missing(std::vector<Patch>& out, const Value* parent, std::string_view key, const std::string& path,
                 Value empty) {
  const Value* found = parent == nullptr ? nullptr : parent->find(key);
  if (found == nullptr || found->kind() != empty.kind()) put(out, path, std::move(empty));
}

void put_requests(const Value& container, size_t index, const std::map<std::string, int64_t>& missing,
                  std::vector<Patch>& out) {
  const std::string path = path_of(index) + "/resources";
  put_missing(out, &container, "resources", path, Value::object());
  const Value* resources = doc::object_in(container, "resources");
  for (const char* list : {"requests", "limits"}) {
    const std::string map = fmt::format("{}/{}", path, list);
    put_missing(out, resources, list, map, Value::object());
    for (const auto& [name, count] : missing)
      put(out, fmt::format("{}/{}", map, pointer_part(name)), std::to_string(asked_in(container, name) + count));
  }
}

void put_node_selector(const Value& pod, const PodNeeds& needs, std::vector<Patch>& out) {
  if (needs.node_selector.empty()) return;
  put_missing(out, doc::object_in(pod, "spec"), "nodeSelector", "/spec/nodeSelector", Value::object());
  for (const auto& [key, value] : needs.node_selector) put(out, "/spec/nodeSelector/" + pointer_part(key), value);
}

Value object_of(std::initializer_list<std::pair<std::string_view, Value>> members) {
  Value out = Value::object();
  for (const auto& [key, value] : members) out.set(key, value);
  return out;
}

Value field_item(std::string_view what) {
  return object_of({{"path", what}, {"fieldRef", object_of({{"fieldPath", fmt::format("metadata.{}", what)}})}});
}

// "hugepages_1G_request_worker" with the size in MiB.
Value huge_page_item(std::string_view resource, std::string_view list, const std::string& container) {
  std::string_view size = resource.substr(kHugePages.size());
  if (size.ends_with('i')) size.remove_suffix(1);
  const std::string_view word = list == "requests" ? "request" : "limit";
  return object_of({{"path", fmt::format("hugepages_{}_{}_{}", size, word, container)},
                    {"resourceFieldRef", object_of({{"containerName", container},
                                                    {"resource", fmt::format("{}.{}", list, resource)},
                                                    {"divisor", "1Mi"}})}});
}

// The items of the huge pages that the container asks for.
std::vector<Value> huge_pages_of(const Value& container) {
  std::vector<Value> out;
  const Value* resources = doc::object_in(container, "resources");
  for (const char* list : {"requests", "limits"}) {
    const Value* map = resources == nullptr ? nullptr : doc::object_in(*resources, list);
    if (map == nullptr) continue;
    for (const Value::Member& member : *map->as_object())
      if (member.key.starts_with(kHugePages))
        out.push_back(huge_page_item(member.key, list, doc::text_in(container, "name")));
  }
  return out;
}

bool has_named(const Value::Array* list, std::string_view key, std::string_view name) {
  return list != nullptr &&
         std::ranges::any_of(*list, [&](const Value& one) { return doc::text_in(one, key) == name; });
}

void put_into_container(const Value& container, size_t index, bool name_it, std::vector<Patch>& out) {
  const std::string mounts = path_of(index) + "/volumeMounts";
  put_missing(out, &container, "volumeMounts", mounts, Value::array());
  if (!has_named(doc::list_in(container, "volumeMounts"), "mountPath", kPodInfoPath))
    put(out, mounts + "/-", object_of({{"name", kPodInfoVolume}, {"mountPath", kPodInfoPath}, {"readOnly", true}}));
  if (!name_it || has_named(doc::list_in(container, "env"), "name", "CONTAINER_NAME")) return;
  const std::string env = path_of(index) + "/env";
  put_missing(out, &container, "env", env, Value::array());
  put(out, env + "/-", object_of({{"name", "CONTAINER_NAME"}, {"value", doc::text_in(container, "name")}}));
}

// The pod's labels, annotations and huge pages as files in each container.
void put_pod_info(const Value& pod, std::vector<Patch>& out) {
  const Value* spec = doc::object_in(pod, "spec");
  const Value::Array* containers = containers_of(pod, "containers");
  if (spec == nullptr || containers == nullptr || has_named(doc::list_in(*spec, "volumes"), "name", kPodInfoVolume))
    return;
  Value items = Value::array();
  for (const char* what : {"labels", "annotations"})
    if (const Value* map = doc::at(pod, fmt::format("metadata.{}", what));
        map != nullptr && map->is_object() && !map->as_object()->empty())
      items.push(field_item(what));
  std::vector<bool> has_huge_pages;
  for (const Value& container : *containers) {
    std::vector<Value> pages = huge_pages_of(container);
    has_huge_pages.push_back(!pages.empty());
    for (Value& one : pages) items.push(std::move(one));
  }
  put_missing(out, spec, "volumes", "/spec/volumes", Value::array());
  put(out, "/spec/volumes/-",
      object_of({{"name", kPodInfoVolume}, {"downwardAPI", object_of({{"items", std::move(items)}})}}));
  for (size_t i = 0; i < containers->size(); ++i) put_into_container((*containers)[i], i, has_huge_pages[i], out);
}

// What a pod's networks annotation asks for by address. What cannot be read, needs_of() has refused.
std::set<std::string> asked_identities(const Value& pod, std::string_view ns) {
  std::set<std::string> out;
  const Value* annotations = doc::at(pod, "metadata.annotations");
  if (annotations == nullptr) return out;
  doc::Diagnostics ignored;
  const std::string text = doc::text_in(annotations, kNetworksAnnotation);
  if (text.empty()) return out;
  for (const api::NetworkSelection& one : api::parse_networks_annotation(Value(text), ns, ignored)) {
    if (one.mac.present && !one.mac->is_zero()) out.insert("MAC " + one.mac->to_string());
    if (one.infiniband_guid.present && !one.infiniband_guid->is_zero())
      out.insert("GUID " + one.infiniband_guid->to_string());
    if (!one.cni_args.present) continue;
    if (const auto mac = MacAddress::parse(doc::text_in(*one.cni_args, "mac"))) out.insert("MAC " + mac->to_string());
    if (const auto guid = Guid::parse(doc::text_in(*one.cni_args, "guid"))) out.insert("GUID " + guid->to_string());
  }
  return out;
}

// Why the pod cannot have the addresses that it asks for; empty: it can. Those that it has already are its own.
std::string taken_identity(const Review& review, const Identities& identities) {
  const std::set<std::string> before = asked_identities(review.old_object, review.ns);
  for (const std::string& one : asked_identities(review.object, review.ns))
    if (const auto holder = identities.find(one); holder != identities.end() && !before.contains(one))
      return fmt::format("annotation {}: another {} has {}\n  fix: another address, or none: railbed chooses one",
                         kNetworksAnnotation, holder->second, one);
  return {};
}

std::string said(const Error& error) {
  return error.hint.empty() ? error.story() : fmt::format("{}\n  fix: {}", error.story(), error.hint);
}

}  // namespace

std::vector<Patch> patches_for(const Value& pod, const PodNeeds& needs) {
  std::vector<Patch> out;
  const Value::Array* containers = containers_of(pod, "containers");
  if (containers == nullptr || needs.container >= containers->size()) return out;
  if (!std::ranges::all_of(*containers, &Value::is_object)) return out;  // no API server sends such a pod
  std::map<std::string, int64_t> missing;
  for (const auto& [resource, count] : needs.resources)
    if (const int64_t has = asked_by(pod, resource); has < count) missing[resource] = count - has;
  put_node_selector(pod, needs, out);
  if (missing.empty()) return out;
  put_requests((*containers)[needs.container], needs.container, missing, out);
  put_pod_info(pod, out);
  return out;
}

Answer inject(const Review& review, const Networks& networks, const Identities& identities) {
  Answer answer{.uid = review.uid};
  const bool is_pod = review.group.empty() && review.kind == "Pod" && review.subresource.empty();
  if (!is_pod || !review.object.is_object() || !must_call(review.object, {})) return answer;
  if (!doc::text_at(review.object, "metadata.deletionTimestamp").empty()) return answer;
  if (std::string taken = taken_identity(review, identities); !taken.empty())
    return refusal(review.uid, std::move(taken));
  if (review.operation != Operation::kCreate) return answer;  // requests of a pod cannot be changed
  const Result<PodNeeds> needs = needs_of(review.object, review.ns, networks);
  if (!needs.has_value()) return refusal(review.uid, said(needs.error()));
  for (const std::string& warning : needs->warnings)
    if (answer.warnings.size() < kMaxWarnings) answer.warnings.push_back(warning_text("", warning));
  answer.patches = patches_for(review.object, *needs);
  return answer;
}

}  // namespace railbed::admission

// SPDX-License-Identifier: Apache-2.0
#include "kube/object.h"

#include <algorithm>

#include "doc/fields.h"
#include "doc/json_reader.h"
#include "doc/members.h"
#include "doc/text.h"
#include "kube/bounds.h"

namespace railbed::kube {
namespace {

using doc::Value;

bool inside(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '.');
}

// Keeps what `paths` name below `path`, which is on the way to one of them.
void keep(Value& value, const std::string& path, const std::vector<std::string>& paths) {
  if (Value::Array* items = value.as_array()) {
    for (Value& item : *items) keep(item, path, paths);
    return;
  }
  Value::Object* members = value.as_object();
  if (members == nullptr) return;
  std::erase_if(*members, [&](Value::Member& member) {
    const std::string at = fmt::format("{}.{}", path, member.key);
    if (std::ranges::any_of(paths, [&](const std::string& each) { return inside(at, each); })) return false;
    const bool on_the_way = std::ranges::any_of(paths, [&](const std::string& each) { return inside(each, at); });
    if (on_the_way) keep(member.value, at, paths);
    return !on_the_way;
  });
  members->shrink_to_fit();
}

size_t text_bytes(const std::string& text) {
  static const size_t inside = std::string().capacity();  // short texts are in the string itself
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}

// Beside the value's own bytes.
size_t bytes_below(const Value& value) {
  size_t out = 0;
  if (const std::string* text = value.as_string()) {
    out = text_bytes(*text);
  } else if (const Value::Array* items = value.as_array()) {
    out = items->capacity() * sizeof(Value);
    for (const Value& item : *items) out += bytes_below(item);
  } else if (const Value::Object* members = value.as_object()) {
    out = members->capacity() * sizeof(Value::Member);
    for (const Value::Member& member : *members) out += text_bytes(member.key) + bytes_below(member.value);
  }
  return out;
}

// Of a cache, per object: a node of the map with the key, and the counts of the shared pointer.
constexpr size_t kPlaceBytes = 192;
// A text needs two bytes for a value: "0,".
constexpr size_t kMostMemoryPerByte = sizeof(Value::Member) / 2 + 1;

}  // namespace

size_t memory_needed(std::string_view json) {
  size_t values = 1;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == ',' || c == '{' || c == '[') ++values;
    if (c != '"') continue;
    for (++at; at < json.size() && json[at] != '"'; ++at)
      if (json[at] == '\\') ++at;
  }
  return json.size() + values * sizeof(Value::Member);
}

size_t held_bytes(const Value& object) {
  return kPlaceBytes + sizeof(Value) + bytes_below(object);
}

Result<Value> parse_object(std::string_view json, size_t most_memory_bytes) {
  // Small ones, which nearly all are, are not gone through twice.
  if (json.size() > most_memory_bytes / kMostMemoryPerByte && memory_needed(json) > most_memory_bytes)
    return fail(Code::kExhausted, "too large: its values need more than {} bytes of memory; {}", most_memory_bytes,
                kCheckServer);
  return parse_object(json);
}

std::string readable(std::string_view text) {
  return doc::printable(text.substr(0, kMostMessageBytes));
}

Result<Value> parse_object(std::string_view json) {
  static const doc::PlaceOf nowhere = [](size_t, size_t) { return doc::Span{}; };
  doc::Diagnostics found;
  std::optional<Value> value = doc::read_json(json, nowhere, found);
  if (!value) {
    Error why = std::move(doc::first_error(found).error());
    why.message = readable(why.message);  // it shows a part of the text
    return fail(std::move(why));
  }
  if (!value->is_object())
    return fail(Code::kInvalid, "expected a JSON object, found {}", doc::kind_name(value->kind()));
  return std::move(*value);
}

std::string metadata_text(const Value& object, std::string_view field) {
  return doc::text_in(object.find("metadata"), field);
}

ObjectKey key_of(const Value& object) {
  return {.ns = metadata_text(object, "namespace"), .name = metadata_text(object, "name")};
}

std::string annotation_of(const Value& object, std::string_view name) {
  return doc::text_in(doc::at(object, "metadata.annotations"), name);
}

std::map<std::string, std::string> labels_of(const Value& object) {
  return doc::text_map_at(object, "metadata.labels");
}

std::string describe(const Value& object) {
  return fmt::format("{} {}", doc::text_in(object, "kind"), key_of(object).to_string());
}

void trim_metadata(Value& object) {
  Value* metadata = object.find("metadata");
  Value::Object* members = metadata != nullptr ? metadata->as_object() : nullptr;
  if (members == nullptr) return;
  std::erase_if(*members, [](const Value::Member& member) { return member.key == "managedFields"; });
  if (Value* annotations = metadata->find("annotations"); annotations != nullptr && annotations->is_object())
    std::erase_if(*annotations->as_object(), [](const Value::Member& member) {
      return member.key == "kubectl.kubernetes.io/last-applied-configuration";
    });
}

Trim keep_fields(std::vector<std::string> paths) {
  for (std::string& path : paths) path = fmt::format(".{}", path);
  paths.insert(paths.end(), {".apiVersion", ".kind", ".metadata"});
  return [paths = std::move(paths)](Value& object) {
    trim_metadata(object);
    keep(object, "", paths);
  };
}

Trim pod_trim() {
  return keep_fields({"spec.nodeName", "spec.nodeSelector", "spec.hostNetwork", "spec.resourceClaims",
                      "spec.containers.name", "spec.containers.resources", "spec.initContainers.name",
                      "spec.initContainers.resources", "status.phase", "status.podIP", "status.podIPs",
                      "status.resourceClaimStatuses"});
}

}  // namespace railbed::kube

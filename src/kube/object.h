// SPDX-License-Identifier: Apache-2.0
// Objects of the API as values: parsing them from answers, their metadata, and which parts are discarded.
//
// Why: half of an object from an API server is managedFields, and of a pod railbed needs a tenth. Discarded parts are
// removed on arrival and never stored. Objects have no source locations: they do not come from a file.
// Threading: pure.
// Failure: parse_object, Invalid for what is not a JSON object, Exhausted for one that is too large.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doc/value.h"
#include "kube/resource.h"

namespace railbed::kube {

// What a server wrote, for messages and logs: the first 2 KiB, without control characters.
inline constexpr size_t kMostMessageBytes = 2048;
std::string readable(std::string_view text);

Result<doc::Value> parse_object(std::string_view json);
// The same for a text whose values may need so much memory; that is found out before any of it is taken.
Result<doc::Value> parse_object(std::string_view json, size_t most_memory_bytes);
// About how much memory the values of a JSON text need at most. What is no JSON has a number, too.
size_t memory_needed(std::string_view json);
// The memory that an object takes, with its place in a cache.
size_t held_bytes(const doc::Value& object);

// A field of metadata; empty where it is absent.
std::string metadata_text(const doc::Value& object, std::string_view field);
inline std::string resource_version(const doc::Value& object) {
  return metadata_text(object, "resourceVersion");
}
inline bool is_being_deleted(const doc::Value& object) {
  return !metadata_text(object, "deletionTimestamp").empty();
}
inline std::string uid_of(const doc::Value& object) {
  return metadata_text(object, "uid");
}
ObjectKey key_of(const doc::Value& object);
std::map<std::string, std::string> labels_of(const doc::Value& object);
// Empty where it is absent.
std::string annotation_of(const doc::Value& object, std::string_view name);
// "Secret ai/credentials", for messages.
std::string describe(const doc::Value& object);

// Cuts an object down as it arrives.
using Trim = std::function<void(doc::Value&)>;
// Without managedFields and kubectl's copy of what was applied. What all kinds begin with.
void trim_metadata(doc::Value& object);
// trim_metadata, and of everything but apiVersion, kind and metadata only these fields ("spec.nodeName",
// "spec.containers.resources"; lists are gone through).
Trim keep_fields(std::vector<std::string> paths);
// What railbed reads of a pod: its node, its devices and claims, its addresses and phase.
Trim pod_trim();

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
// Kinds of objects as the API's paths name them, and the names of objects.
//
// Why: a path of the API consists of group, version, plural and names, and names come from manifests and pods. They are
// checked here, once: no name of an object can lead to another path.
// Threading: plain values.
// Failure: paths, Invalid for a name or namespace that no path can have.
// Source: Kubernetes API concepts, "Resource URIs"; ValidatePathSegmentName of apimachinery.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/kinds.h"

namespace railbed::kube {

using Scope = KindScope;
// Which part of an object a call is about. A status has rights and a resourceVersion check of its own; an eviction,
// which is only created, has rights of its own.
enum class Part : uint8_t { kObject, kStatus, kEviction };
// "/status"; empty for the object itself.
std::string_view path_of(Part part);

// Views of literals: all kinds that railbed works with are known when it is built.
struct Resource {
  std::string_view group;  // empty for the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  Scope scope = Scope::kNamespaced;

  std::string api_version() const;  // "v1", "apps/v1"
  // "/api/v1/namespaces/ai/pods"; all namespaces where `ns` is empty.
  Result<std::string> collection_path(std::string_view ns) const;
  friend bool operator==(const Resource&, const Resource&) = default;
};

// Of a row of the table of kinds (base/kinds.h).
constexpr Resource resource_of(const Kind& kind) {
  return {kind.group, kind.version, kind.plural, kind.name, kind.scope};
}

struct ObjectKey {
  std::string ns;  // empty for objects of the cluster
  std::string name;

  std::string to_string() const;  // "ai/rail0", "node1"
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

Result<std::string> object_path(const Resource& resource, const ObjectKey& key, Part part = Part::kObject);

// `text` as a part of a query, with %XX for what has a meaning there.
std::string percent_encoded(std::string_view text);

inline constexpr Resource kEvents = resource_of(kind_named("Event"));
inline constexpr Resource kLeases = resource_of(kind_named("Lease"));

}  // namespace railbed::kube

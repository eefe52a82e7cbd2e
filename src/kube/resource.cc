// SPDX-License-Identifier: Apache-2.0
#include "kube/resource.h"

#include <cctype>

#include "doc/text.h"

namespace railbed::kube {
namespace {

// What stands between two slashes of a path.
Result<std::string> segment(std::string_view what, std::string_view name) {
  if (name.empty()) return fail(Code::kInvalid, "an object without a {}", what);
  if (name == "." || name == ".." || name.find_first_of("/%") != std::string_view::npos)
    return fail(Code::kInvalid, "\"{}\" is not a {}", doc::printable(name), what);
  return percent_encoded(name);
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) || std::string_view("-._~").find(c) != std::string_view::npos))
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string Resource::api_version() const {
  return api_version_of(group, version);
}

Result<std::string> Resource::collection_path(std::string_view ns) const {
  std::string path = group.empty() ? fmt::format("/api/{}", version) : fmt::format("/apis/{}/{}", group, version);
  if (!ns.empty()) {
    if (scope == Scope::kCluster) return fail(Code::kInvalid, "{} have no namespace, and one is given: {}", plural, ns);
    path += "/namespaces/" + TRY(segment("namespace", ns));
  }
  return fmt::format("{}/{}", path, plural);
}

std::string ObjectKey::to_string() const {
  return doc::printable(ns.empty() ? name : fmt::format("{}/{}", ns, name));
}

std::string_view path_of(Part part) {
  switch (part) {
    case Part::kObject:
      break;
    case Part::kStatus:
      return "/status";
    case Part::kEviction:
      return "/eviction";
  }
  return "";
}

Result<std::string> object_path(const Resource& resource, const ObjectKey& key, Part part) {
  if (resource.scope == Scope::kNamespaced && key.ns.empty())
    return fail(Code::kInvalid, "{} \"{}\" without a namespace", resource.kind, key.to_string());
  const std::string collection = TRY(resource.collection_path(key.ns));
  const std::string name = TRY(segment("name", key.name));
  return fmt::format("{}/{}{}", collection, name, path_of(part));
}

}  // namespace railbed::kube

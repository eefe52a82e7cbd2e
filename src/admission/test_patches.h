// SPDX-License-Identifier: Apache-2.0
// What tests and the fuzz target of admission share: a JSON Patch applied, and the places that railbed may write.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/review.h"
#include "base/number.h"
#include "doc/json.h"
#include "doc/value.h"

namespace railbed::admission {

inline doc::Value json_of(std::string_view text) {
  doc::Diagnostics problems;
  const auto source = std::make_shared<const doc::Source>(doc::Source{"", std::string(text)});
  return doc::parse_json(source, problems).value_or(doc::Value());
}

inline std::vector<std::string> parts_of_pointer(std::string_view path) {
  std::vector<std::string> parts;
  for (const char c : path) {
    if (c == '/')
      parts.emplace_back();
    else if (!parts.empty())
      parts.back() += c;
  }
  for (std::string& part : parts)
    for (const auto& [code, letter] : {std::pair("~1", "/"), std::pair("~0", "~")})
      for (size_t at = 0; (at = part.find(code, at)) != std::string::npos; ++at) part.replace(at, 2, letter);
  return parts;
}

// As an API server: false where a parent is absent.
inline bool apply_patch(doc::Value& object, const Patch& patch) {
  const std::vector<std::string> parts = parts_of_pointer(patch.path);
  doc::Value* at = &object;
  for (size_t i = 0; i + 1 < parts.size() && at != nullptr; ++i) {
    if (doc::Value::Array* items = at->as_array()) {
      const auto index = whole_number<size_t>(parts[i]);
      at = index && *index < items->size() ? &(*items)[*index] : nullptr;
    } else {
      at = at->find(parts[i]);
    }
  }
  if (at == nullptr || parts.empty()) return false;
  if (at->is_object()) {
    at->set(parts.back(), patch.value);
    return true;
  }
  if (!at->is_array() || parts.back() != "-") return false;
  at->push(patch.value);
  return true;
}

inline std::optional<doc::Value> patched(doc::Value object, const std::vector<Patch>& patches) {
  for (const Patch& patch : patches)
    if (!apply_patch(object, patch)) return std::nullopt;
  return object;
}

// Whether only members of these names are in the object.
inline bool has_only(const doc::Value& object, std::initializer_list<std::string_view> names) {
  return object.is_object() && std::ranges::all_of(*object.as_object(), [&](const doc::Value::Member& member) {
           return std::ranges::find(names, member.key) != names.end();
         });
}

// The closed list: nothing else may be in a patch, whatever pod, definition and configuration there are.
inline bool is_on_the_list(const Patch& patch) {
  if (patch.op != Patch::Op::kAdd) return false;
  std::vector<std::string> parts = parts_of_pointer(patch.path);
  if (parts.size() < 2 || parts[0] != "spec") return false;
  const bool empty_map = patch.value == doc::Value::object();
  const bool empty_list = patch.value == doc::Value::array();
  if (parts[1] == "nodeSelector")
    return (parts.size() == 2 && empty_map) || (parts.size() == 3 && patch.value.is_string());
  if (parts[1] == "volumes")
    return (parts.size() == 2 && empty_list) ||
           (parts.size() == 3 && parts[2] == "-" && has_only(patch.value, {"name", "downwardAPI"}));
  if (parts[1] != "containers" || parts.size() < 4) return false;
  const std::string& field = parts[3];
  if (field == "resources") {
    if (parts.size() == 4) return empty_map;
    if (parts[4] != "requests" && parts[4] != "limits") return false;
    if (parts.size() == 5) return empty_map;
    return parts.size() == 6 && parts[5].find('/') != std::string::npos && patch.value.is_string();
  }
  if (field != "volumeMounts" && field != "env") return false;
  if (parts.size() == 4) return empty_list;
  if (parts.size() != 5 || parts[4] != "-") return false;
  return field == "env"
             ? has_only(patch.value, {"name", "value"}) && *patch.value.find("name") == "CONTAINER_NAME"
             : has_only(patch.value, {"name", "mountPath", "readOnly"}) && *patch.value.find("name") == "podnetinfo";
}

}  // namespace railbed::admission

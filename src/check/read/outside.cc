// SPDX-License-Identifier: Apache-2.0
#include "check/read/outside.h"

#include <algorithm>

#include "base/text.h"

namespace railbed::check {
namespace {

constexpr std::string_view kFunction = "config.kubernetes.io/function";

// Fields whose texts are paths, wherever they are in a kustomization. Texts of several lines are patches.
constexpr std::string_view kPathFields[] = {
    "resources",
    "bases",
    "components",
    "crds",
    "generators",
    "transformers",
    "path",
    "validators",
    "files",
    "configurations",
    "patchesJson6902",
    "env",
    "patchesStrategicMerge",
    "envs",
    "valuesFile",
};

bool is_in(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string remote_in(const doc::Value& value, bool is_path) {
  if (const std::string* text = value.as_string())
    return is_path && !is_in(*text, "\n") && is_remote(*text) ? *text : "";
  if (const doc::Value::Array* items = value.as_array())
    for (const doc::Value& item : *items)
      if (std::string found = remote_in(item, is_path); !found.empty()) return found;
  if (const doc::Value::Object* members = value.as_object())
    for (const auto& member : *members) {
      const bool named = std::ranges::find(kPathFields, member.key) != std::end(kPathFields);
      if (std::string found = remote_in(member.value, named); !found.empty()) return found;
    }
  return "";
}

}  // namespace

bool is_remote(std::string_view path) {
  // A generator's file may be "key=path".
  const std::string plain = lower(path);
  const auto begins = [&](std::string_view prefix) {
    return plain.starts_with(prefix) || is_in(plain, "=" + std::string(prefix));
  };
  const size_t at = plain.find('@');
  const bool scp = at != std::string::npos && is_in(std::string_view(plain).substr(at), ":");
  return is_in(plain, "://") || is_in(plain, "?ref=") || is_in(plain, "&ref=") || is_in(plain, "git::") || scp ||
         begins("git@") || begins("gh:") || begins("github.com/") || begins("github.com:") || is_in(plain, "_git/") ||
         is_in(plain, ".git/") || plain.ends_with(".git");
}

std::string remote_entry(const doc::Value& kustomization) {
  return remote_in(kustomization, false);
}

bool is_executed_function(std::string_view text) {
  return is_in(text, kFunction);
}

std::string executed_entry(const doc::Value& kustomization) {
  for (const char* key : {"helmCharts", "helmChartInflationGenerator"})
    if (kustomization.find(key) != nullptr) return key;
  for (const char* key : {"generators", "transformers", "validators"}) {
    const doc::Value* list = kustomization.find(key);
    if (list == nullptr || list->as_array() == nullptr) continue;
    for (const doc::Value& item : *list->as_array())
      if (item.as_string() != nullptr && is_executed_function(*item.as_string())) return key;
  }
  return "";
}

}  // namespace railbed::check

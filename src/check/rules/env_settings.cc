// SPDX-License-Identifier: Apache-2.0
#include "check/rules/env_settings.h"

#include <algorithm>

#include "check/data_files.h"

namespace railbed::check {

using doc::Value;

const KnownVariables& known_variables() {
  static const KnownVariables kVariables = [] {
    KnownVariables made;
    made.data = data_document("variables.yaml");
    for (const Value& row : *made.data.find("variables")->as_array()) {
      made.rows.emplace(text_at(row, "name"), &row);
      made.names.push_back(text_at(row, "name"));
    }
    return made;
  }();
  return kVariables;
}

std::vector<Setting> settings_of(const PodView& pod) {
  std::vector<Setting> all;
  for (const Container& container : pod.pod->containers) {
    const Value* list = container.variables();
    if (list == nullptr) continue;
    for (const Value& item : *list->as_array()) {
      const Value* name = item.find("name");
      if (name == nullptr || name->as_string() == nullptr) continue;
      Setting setting{.name = *name->as_string(),
                      .name_span = name->span,
                      .value = item.find("value"),
                      .pod = &pod,
                      .container = &container};
      if (setting.value != nullptr) {
        const std::string* text = setting.value->as_string();
        setting.text = text != nullptr ? *text : std::string(setting.value->written());
      }
      const auto row = known_variables().rows.find(setting.name);
      if (row != known_variables().rows.end()) setting.row = row->second;
      all.push_back(std::move(setting));
    }
  }
  return all;
}

std::vector<std::string> comma_parts(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace railbed::check

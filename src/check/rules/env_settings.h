// SPDX-License-Identifier: Apache-2.0
// The environment variables of a pod's containers, and what is known about each (data/variables.yaml).
//
// Threading: pure functions; the data is immutable, settings point into the bundle.
// Failure: none; a variable that no row has is a setting without a row.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "check/rules/lookups.h"

namespace railbed::check {

struct KnownVariables {
  doc::Value data;
  std::map<std::string_view, const doc::Value*> rows;  // by name
  std::vector<std::string_view> names;
};
const KnownVariables& known_variables();

// One variable of one container.
struct Setting {
  std::string name;
  doc::Span name_span;
  const doc::Value* value = nullptr;  // null: not a literal value
  std::string text;                   // of the value
  const doc::Value* row = nullptr;    // the known facts about it
  const PodView* pod = nullptr;
  const Container* container = nullptr;

  // Whether its value is in the text, and not inserted by the kubelet.
  bool is_literal() const { return value != nullptr && text.find("$(") == std::string::npos; }
};
std::vector<Setting> settings_of(const PodView& pod);

// The parts between commas, without blanks around them and without empty ones.
std::vector<std::string> comma_parts(std::string_view text);

}  // namespace railbed::check

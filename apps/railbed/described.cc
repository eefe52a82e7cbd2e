// SPDX-License-Identifier: Apache-2.0
#include "described.h"

#include "verb.h"

namespace railbed {
namespace {

constexpr size_t kMostChoicesInAPlaceholder = 6;

}  // namespace

std::vector<Described> describe_verbs() {
  std::vector<Described> verbs;
  for (const Verb& verb : all_verbs()) {
    Described& described = verbs.emplace_back(verb.name, verb.summary, CommandLine(verb.name, {}));
    verb.run(described.line);
  }
  return verbs;
}

std::string value_placeholder(const Declaration& option) {
  if (option.value_names == Names::kFile) return "FILE";
  if (option.value_names == Names::kDirectory) return "DIR";
  if (option.is_number) return "N";
  if (option.choices.empty() || option.choices.size() > kMostChoicesInAPlaceholder) return "TEXT";
  std::string text;
  for (const std::string_view choice : option.choices) {
    if (!text.empty()) text += '|';
    text += choice;
  }
  return text;
}

}  // namespace railbed

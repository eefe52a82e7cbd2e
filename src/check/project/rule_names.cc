// SPDX-License-Identifier: Apache-2.0
#include "check/project/rule_names.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "doc/diagnostic.h"
#include "findings/explain.h"

namespace railbed::check {
namespace {

// The names of all rules and families, as they are written in the pages.
const std::vector<std::string_view>& all_rule_names() {
  static const std::vector<std::string_view> kAll = [] {
    std::vector<std::string_view> names;
    for (const findings::Explanation& one : findings::explanations()) {
      if (!one.is_about_text()) continue;
      names.push_back(one.id);
      names.push_back(family_of(one.id));
    }
    std::ranges::sort(names);
    const auto twins = std::ranges::unique(names);
    names.erase(twins.begin(), twins.end());
    return names;
  }();
  return kAll;
}

}  // namespace

std::string_view family_of(std::string_view id) {
  return id.substr(0, id.rfind('-'));
}

bool names_rule(std::string_view name, std::string_view id) {
  const auto same = [](unsigned char a, unsigned char b) { return std::toupper(a) == std::toupper(b); };
  if (name.empty() || name.size() > id.size()) return false;
  if (!std::ranges::equal(name, id.substr(0, name.size()), same)) return false;
  return name.size() == id.size() || id[name.size()] == '-';
}

bool is_rule_name(std::string_view name) {
  return std::ranges::any_of(all_rule_names(),
                             [&](std::string_view one) { return one.size() == name.size() && names_rule(name, one); });
}

std::string_view nearest_rule_name(std::string_view name) {
  const std::string near = doc::nearest(name, all_rule_names());
  const auto found = std::ranges::find(all_rule_names(), std::string_view(near));
  return found == all_rule_names().end() ? std::string_view() : *found;
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
// The strong types and lists of a record as JSON, reading and writing; plain members are doc/members.h. An absent
// member is the default, a text that is not such an address is an error.
// Threading: pure.
// Failure: Invalid.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "doc/members.h"
#include "doc/value.h"
#include "os/ports/links.h"

namespace railbed::attach {

// Invalid when `text` is no JSON object.
Result<doc::Value> parse_object(const std::string& text);

// Absent and "" become nullopt.
template <typename T>
Result<std::optional<T>> parsed_in(const doc::Value& object, std::string_view key) {
  std::string text = text_in(object, key);
  if (text.empty()) return std::optional<T>{};
  return std::optional<T>(TRY(T::parse(text).context("\"{}\"", key)));
}
template <typename T>
void put_parsed(doc::Value& object, std::string_view key, const std::optional<T>& value) {
  if (value.has_value()) object.set(key, value->to_string());
}

// An enumeration is written as its number; a later version may write its word (docs/state.md), which is read, too.
// `words` are in the order of the enumeration.
std::optional<int> number_of_word(const std::string& word, std::span<const std::string_view> words);
template <typename T>
T choice_in(const doc::Value& object, std::string_view key, std::span<const std::string_view> words) {
  const doc::Value* found = object.find(key);
  if (found != nullptr && found->is_string())
    return static_cast<T>(number_of_word(*found->as_string(), words).value_or(0));
  return static_cast<T>(number_in(object, key));
}
inline constexpr std::string_view kVlanProtoWords[] = {"802.1q", "802.1ad"};
inline constexpr std::string_view kLinkStateWords[] = {"auto", "enable", "disable"};

void put_prefixes(doc::Value& object, std::string_view key, const std::vector<IpPrefix>& prefixes);
Result<std::vector<IpPrefix>> prefixes_in(const doc::Value& object, std::string_view key);
void put_routes(doc::Value& object, std::string_view key, const std::vector<Route>& routes);
Result<std::vector<Route>> routes_in(const doc::Value& object, std::string_view key);
void put_rules(doc::Value& object, std::string_view key, const std::vector<os::Rule>& rules);
Result<std::vector<os::Rule>> rules_in(const doc::Value& object, std::string_view key);
void put_vf_settings(doc::Value& object, std::string_view key, const os::VfChange& settings);
Result<os::VfChange> vf_settings_in(const doc::Value& object, std::string_view key);

}  // namespace railbed::attach

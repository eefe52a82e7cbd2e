// SPDX-License-Identifier: Apache-2.0
// Values of records as JSON, both ways. Reading is lenient about absent members (they are defaults) and
// strict about wrong ones. Threading: pure. Failure: Invalid.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "doc/value.h"
#include "os/ports/links.h"

namespace railbed::attach {

// Invalid when `text` is no JSON object.
Result<doc::Value> parse_object(const std::string& text);

std::string text_in(const doc::Value& object, std::string_view key);
int number_in(const doc::Value& object, std::string_view key);
bool flag_in(const doc::Value& object, std::string_view key);
std::vector<std::string> texts_in(const doc::Value& object, std::string_view key);

// Told apart from zero and false.
std::optional<int> optional_number(const doc::Value& object, std::string_view key);
std::optional<bool> optional_flag(const doc::Value& object, std::string_view key);
void put_optional(doc::Value& object, std::string_view key, const std::optional<int>& value);
void put_optional(doc::Value& object, std::string_view key, const std::optional<bool>& value);

// Members with default values are left out.
void put_text(doc::Value& object, std::string_view key, const std::string& value);
void put_number(doc::Value& object, std::string_view key, int64_t value);
void put_flag(doc::Value& object, std::string_view key, bool value);
void put_texts(doc::Value& object, std::string_view key, const std::vector<std::string>& values);

// Absent or "" is nothing.
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

void put_prefixes(doc::Value& object, std::string_view key, const std::vector<IpPrefix>& prefixes);
Result<std::vector<IpPrefix>> prefixes_in(const doc::Value& object, std::string_view key);
void put_routes(doc::Value& object, std::string_view key, const std::vector<Route>& routes);
Result<std::vector<Route>> routes_in(const doc::Value& object, std::string_view key);
void put_rules(doc::Value& object, std::string_view key, const std::vector<os::Rule>& rules);
Result<std::vector<os::Rule>> rules_in(const doc::Value& object, std::string_view key);
void put_vf_settings(doc::Value& object, std::string_view key, const os::VfChange& settings);
Result<os::VfChange> vf_settings_in(const doc::Value& object, std::string_view key);

}  // namespace railbed::attach

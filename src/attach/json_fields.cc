// SPDX-License-Identifier: Apache-2.0
#include "attach/json_fields.h"

#include <algorithm>
#include <utility>

namespace railbed::attach {

Result<doc::Value> parse_object(const std::string& text) {
  Result<doc::Value> object = doc::read_object("state", text);
  if (!object.has_value())
    return fail(Code::kInvalid, "the state contains a record that is not a JSON object: \"{}\"", text);
  return object;
}

std::optional<int> number_of_word(const std::string& word, std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional(static_cast<int>(found - words.begin()));
}

int number_of_choice(const doc::Value* value, std::span<const std::string_view> words) {
  if (value == nullptr) return 0;
  if (const std::string* word = value->as_string()) return number_of_word(*word, words).value_or(0);
  const int64_t* number = value->as_int();
  return number != nullptr && std::in_range<int>(*number) ? static_cast<int>(*number) : 0;
}

}  // namespace railbed::attach

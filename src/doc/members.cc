// SPDX-License-Identifier: Apache-2.0
#include "doc/members.h"

#include <utility>

namespace railbed::doc {

std::string text_in(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found != nullptr && found->is_string() ? *found->as_string() : "";
}

int number_in(const Value& object, std::string_view key) {
  return optional_number(object, key).value_or(0);
}

bool flag_in(const Value& object, std::string_view key) {
  return optional_flag(object, key).value_or(false);
}

std::vector<std::string> texts_in(const Value& object, std::string_view key) {
  std::vector<std::string> texts;
  const Value::Array* items = list_in(object, key);
  if (items == nullptr) return texts;
  for (const Value& item : *items)
    if (item.is_string()) texts.push_back(*item.as_string());
  return texts;
}

const Value* object_in(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found != nullptr && found->is_object() ? found : nullptr;
}

const Value::Array* list_in(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found != nullptr ? found->as_array() : nullptr;
}

std::optional<int> optional_number(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  const int64_t* number = found != nullptr ? found->as_int() : nullptr;
  if (number == nullptr || !std::in_range<int>(*number)) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<bool> optional_flag(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  const bool* flag = found != nullptr ? found->as_bool() : nullptr;
  return flag != nullptr ? std::optional(*flag) : std::nullopt;
}

Value texts(const std::vector<std::string>& items) {
  Value list = Value::array();
  for (const std::string& item : items) list.push(item);
  return list;
}

void put_text(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}

void put_number(Value& object, std::string_view key, int64_t number) {
  if (number != 0) object.set(key, number);
}

void put_flag(Value& object, std::string_view key, bool flag) {
  if (flag) object.set(key, true);
}

void put_texts(Value& object, std::string_view key, const std::vector<std::string>& items) {
  if (!items.empty()) object.set(key, texts(items));
}

void put_optional(Value& object, std::string_view key, const std::optional<int>& number) {
  if (number.has_value()) object.set(key, *number);
}

void put_optional(Value& object, std::string_view key, const std::optional<bool>& flag) {
  if (flag.has_value()) object.set(key, *flag);
}

}  // namespace railbed::doc

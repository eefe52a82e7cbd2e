// SPDX-License-Identifier: Apache-2.0
#include "doc/members.h"

#include <algorithm>
#include <utility>

#include "base/number.h"

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

Field<std::string> text_field(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  if (found == nullptr || found->is_null()) return {.span = object.span};
  const std::string* text = found->as_string();
  return {.value = text != nullptr ? *text : "", .present = text != nullptr, .span = found->span};
}

Field<int> number_field(const Value& object, std::string_view key, int otherwise) {
  const Value* found = object.find(key);
  if (found == nullptr || found->is_null()) return {.value = otherwise, .span = object.span};
  const std::optional<int> number = optional_number(object, key);
  return {.value = number.value_or(otherwise), .present = number.has_value(), .span = found->span};
}

Field<bool> flag_field(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  if (found == nullptr || found->is_null()) return {.span = object.span};
  const std::optional<bool> flag = optional_flag(object, key);
  return {.value = flag.value_or(false), .present = flag.has_value(), .span = found->span};
}

const Value* at(const Value& value, std::string_view path) {
  const Value* here = &value;
  while (here != nullptr && !path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    here = here->find(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return here;
}

std::string_view text_at(const Value& value, std::string_view path) {
  const Value* found = at(value, path);
  const std::string* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::optional<int64_t> integer_at(const Value& value, std::string_view path) {
  const Value* found = at(value, path);
  if (found == nullptr) return std::nullopt;
  if (const int64_t* number = found->as_int()) return *number;
  const std::string* text = found->as_string();
  return text == nullptr ? std::nullopt : whole_number<int64_t>(*text);
}

std::optional<bool> flag_at(const Value& value, std::string_view path) {
  const Value* found = at(value, path);
  const bool* flag = found == nullptr ? nullptr : found->as_bool();
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::string text_in(const Value* object, std::string_view key) {
  return object != nullptr ? text_in(*object, key) : "";
}

std::map<std::string, std::string> text_map_at(const Value& value, std::string_view path) {
  std::map<std::string, std::string> out;
  const Value* found = at(value, path);
  const Value::Object* members = found != nullptr ? found->as_object() : nullptr;
  if (members == nullptr) return out;
  for (const Value::Member& member : *members)
    if (const std::string* text = member.value.as_string()) out[member.key] = *text;
  return out;
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

}  // namespace railbed::doc

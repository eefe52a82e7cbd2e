// SPDX-License-Identifier: Apache-2.0
#include "check/read/jinja.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace railbed::check {
namespace {

using doc::Value;

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// "vf_count" from " vf_count | default(8) ".
std::string_view variable(std::string_view expression) {
  const size_t begin = expression.find_first_not_of(" \t-");
  if (begin == std::string_view::npos) return {};
  size_t end = begin;
  while (end < expression.size() && is_word_character(expression[end])) ++end;
  return expression.substr(begin, end - begin);
}

// A legal name in place of a value that is unknown here.
std::string stand_in(std::string_view expression) {
  std::string name;
  for (const char c : expression) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "x" : name.substr(0, 40);
}

const Value* known(const Value& vars, std::string_view expression) {
  const Value* value = vars.find(variable(expression));
  if (value == nullptr || value->is_object() || value->is_array() || value->is_null()) return nullptr;
  const std::string* text = value->as_string();
  return text != nullptr && text->find(kOpen) != std::string::npos ? nullptr : value;
}

std::string as_text(const Value& scalar) {
  if (const std::string* text = scalar.as_string()) return *text;
  return std::string(scalar.written());
}

void fill_in_text(Value& value, const Value& vars) {
  const std::string text = *value.as_string();
  const size_t open = text.find(kOpen);
  const size_t close = text.find(kClose, open);
  if (open == std::string::npos || close == std::string::npos || text.find('\n') != std::string::npos) return;
  const bool whole = open == 0 && close + kClose.size() == text.size();
  if (whole) {
    if (const Value* known_value = known(vars, std::string_view(text).substr(2, close - 2))) {
      const doc::Span place = value.span;
      value = *known_value;
      value.span = place;
      return;
    }
  }
  std::string filled;
  size_t at = 0;
  for (size_t begin = open; begin != std::string::npos; begin = text.find(kOpen, at)) {
    const size_t end = text.find(kClose, begin);
    if (end == std::string::npos) break;
    const std::string_view expression = std::string_view(text).substr(begin + 2, end - begin - 2);
    const Value* known_value = known(vars, expression);
    filled += text.substr(at, begin - at);
    filled += known_value != nullptr ? as_text(*known_value) : stand_in(expression);
    at = end + kClose.size();
  }
  filled += text.substr(at);
  const doc::Span place = value.span;
  value = Value(std::move(filled));
  value.span = place;
}

}  // namespace

void fill_in_jinja(Value& value, const Value& vars) {
  if (value.is_string()) fill_in_text(value, vars);
  if (Value::Array* items = value.as_array())
    for (Value& item : *items) fill_in_jinja(item, vars);
  if (Value::Object* members = value.as_object())
    for (Value::Member& member : *members) fill_in_jinja(member.value, vars);
}

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "cni/fields.h"

#include <algorithm>
#include <limits>

#include "doc/json.h"

namespace railbed::cni {

Outcome<doc::Value> read_object(const std::string& json, std::string_view name) {
  doc::Diagnostics found;
  const auto source = std::make_shared<const doc::Source>(doc::Source{std::string(name), json});
  auto value = doc::parse_json(source, found);
  if (!value) {
    const doc::Diagnostic& first = found.all().front();
    return std::unexpected(Failure{kDecode, fmt::format("{}: {}", first.span.to_string(), first.message), first.fix});
  }
  if (!value->is_object())
    return std::unexpected(Failure{
        kDecode, fmt::format("{}: a JSON object should stand here, not {}", name, kind_name(value->kind())), {}});
  return std::move(*value);
}

const doc::Value* Fields::find(std::string_view key) const {
  const doc::Value* value = object_.find(key);
  return value != nullptr && value->is_null() ? nullptr : value;
}

std::string Fields::name_of(std::string_view key) const {
  return where_.empty() || key.empty() ? where_ + std::string(key) : fmt::format("{}.{}", where_, key);
}

std::unexpected<Failure> Fields::wrong(const doc::Value& at, std::string_view key, std::string_view message) const {
  const std::string place = at.span.known() ? at.span.to_string() + ": " : std::string();
  return std::unexpected(Failure{code_, fmt::format("{}{}: {}", place, name_of(key), message), {}});
}

Outcome<std::string> Fields::text(std::string_view key) const {
  const doc::Value* value = find(key);
  if (value == nullptr) return std::string();
  if (const std::string* text = value->as_string()) return *text;
  return wrong(*value, key, fmt::format("a string should stand here, not {}", kind_name(value->kind())));
}

Outcome<std::optional<int>> Fields::number(std::string_view key) const {
  const doc::Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const int64_t* number = value->as_int();
  if (number == nullptr)
    return wrong(*value, key, fmt::format("an integer should stand here, not {}", kind_name(value->kind())));
  if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max())
    return wrong(*value, key, fmt::format("{} is out of range", *number));
  return static_cast<int>(*number);
}

Outcome<std::vector<std::string>> Fields::texts(std::string_view key) const {
  std::vector<std::string> out;
  const doc::Value::Array* items = TRY_CNI(array(key));
  if (items == nullptr) return out;
  for (const doc::Value& item : *items) {
    if (!item.is_string())
      return wrong(item, key, fmt::format("a string should stand here, not {}", kind_name(item.kind())));
    out.push_back(*item.as_string());
  }
  return out;
}

Outcome<const doc::Value::Array*> Fields::array(std::string_view key) const {
  const doc::Value* value = find(key);
  if (value == nullptr) return nullptr;
  if (value->is_array()) return value->as_array();
  return wrong(*value, key, fmt::format("an array should stand here, not {}", kind_name(value->kind())));
}

Outcome<const doc::Value*> Fields::object(std::string_view key) const {
  const doc::Value* value = find(key);
  if (value == nullptr || value->is_object()) return value;
  return wrong(*value, key, fmt::format("an object should stand here, not {}", kind_name(value->kind())));
}

Outcome<bool> Fields::flag(std::string_view key) const {
  const doc::Value* value = find(key);
  if (value == nullptr) return false;
  if (const bool* flag = value->as_bool()) return *flag;
  std::string word = value->is_string() ? *value->as_string() : std::string();
  std::ranges::transform(word, word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (word == "true") return true;
  if (word == "false") return false;
  return wrong(*value, key, "true or false should stand here");
}

}  // namespace railbed::cni

// SPDX-License-Identifier: Apache-2.0
// Reading the members of a JSON object into fields, with errors that tell the place.
//
// An absent member leaves the field as it is; a member of another kind is an error. The first error is kept, so that a
// reader is a list of fields with one check at its end. Threading: one owner. Failure: see result().
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "doc/value.h"

namespace railbed::os {

class JsonFields {
 public:
  // Several readers can share one place for the first error.
  JsonFields(const doc::Value& object, Result<void>& first_error) : object_(object), error_(first_error) {
    if (!object.is_object()) complain(object, "an object");
  }

  template <typename T>
  void read(std::string_view key, T& field) {
    const doc::Value* value = object_.find(key);
    if (value != nullptr && !value->is_null()) assign(*value, field);
  }
  // A member that is text in a strong type's spelling.
  template <typename T>
  void parse(std::string_view key, T& field) {
    std::optional<T> parsed;
    parse(key, parsed);
    if (parsed) field = *parsed;
  }
  template <typename T>
  void parse(std::string_view key, std::optional<T>& field) {
    std::string text;
    read(key, text);
    if (text.empty()) return;
    auto parsed = T::parse(text);
    if (parsed)
      field = *parsed;
    else if (error_)
      error_ = Result<void>(fail(std::move(parsed.error()))).context("{}", object_.find(key)->span);
  }
  // One of `names`, in the order of the enumeration.
  template <typename T>
  void choose(std::string_view key, std::span<const std::string_view> names, std::optional<T>& field) {
    std::string text;
    read(key, text);
    if (text.empty()) return;
    uint8_t number = 0;
    for (std::string_view name : names) {
      if (text == name) {
        field = static_cast<T>(number);
        return;
      }
      ++number;
    }
    if (error_)
      error_ = fail(Code::kInvalid, "{}: \"{}\" is none of {}", object_.find(key)->span, text, fmt::join(names, ", "));
  }
  template <typename Visit>
  void each(std::string_view key, const Visit& visit) {
    const doc::Value* value = object_.find(key);
    if (value == nullptr || value->is_null()) return;
    if (value->as_array() == nullptr) return complain(*value, "a list");
    for (const doc::Value& element : *value->as_array()) visit(JsonFields(element, error_), element);
  }
  template <typename Visit>
  void each_text(std::string_view key, const Visit& visit) {
    const doc::Value* value = object_.find(key);
    if (value == nullptr || value->is_null()) return;
    if (value->as_array() == nullptr) return complain(*value, "a list");
    for (const doc::Value& element : *value->as_array()) {
      if (element.as_string() == nullptr) return complain(element, "a string");
      visit(*element.as_string());
    }
  }

 private:
  void complain(const doc::Value& value, std::string_view wanted) {
    if (error_)
      error_ =
          fail(Code::kInvalid, "{}: {} is wanted here, this is {}", value.span, wanted, doc::kind_name(value.kind()));
  }
  void assign(const doc::Value& value, std::string& field) {
    if (value.as_string() == nullptr) return complain(value, "a string");
    field = *value.as_string();
  }
  void assign(const doc::Value& value, bool& field) {
    if (value.as_bool() == nullptr) return complain(value, "a boolean");
    field = *value.as_bool();
  }
  template <std::integral T>
  void assign(const doc::Value& value, T& field) {
    const int64_t* number = value.as_int();
    if (number == nullptr) return complain(value, "an integer");
    if (!std::in_range<T>(*number)) return complain(value, "a smaller integer");
    field = static_cast<T>(*number);
  }
  template <typename T>
  void assign(const doc::Value& value, std::optional<T>& field) {
    T plain{};
    assign(value, plain);
    field = plain;
  }

  const doc::Value& object_;
  Result<void>& error_;
};

}  // namespace railbed::os

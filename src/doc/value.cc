// SPDX-License-Identifier: Apache-2.0
#include "doc/value.h"

namespace railbed::doc {

std::string Span::to_string() const {
  if (source == nullptr) return "-";
  if (line <= 0) return source->name;
  return fmt::format("{}:{}:{}", source->name, line, column);
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt:
      return "an integer";
    case Kind::kDouble:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return "?";
}

Value::Value(uint64_t v) {
  if (v <= static_cast<uint64_t>(INT64_MAX))
    data_ = static_cast<int64_t>(v);
  else
    data_ = static_cast<double>(v);
}

Value Value::array() {
  return Value(Array{});
}

Value Value::object() {
  return Value(Object{});
}

const Value* Value::find(std::string_view key) const {
  if (const Object* object = as_object())
    for (const Member& member : *object)
      if (member.key == key) return &member.value;
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

Value& Value::set(std::string_view key, Value value) {
  if (is_null()) data_ = Object{};
  if (Value* present = find(key)) return *present = std::move(value);
  Object& object = std::get<Object>(data_);
  if (object.capacity() == 0) object.reserve(4);  // few objects have less: one piece of memory instead of three
  object.push_back({std::string(key), Span{}, std::move(value)});
  return object.back().value;
}

Value& Value::push(Value value) {
  if (is_null()) data_ = Array{};
  Array& array = std::get<Array>(data_);
  array.push_back(std::move(value));
  return array.back();
}

std::string_view Value::written() const {
  if (!span.known() || span.offset + size_t(span.length) > span.source->text.size()) return {};
  return std::string_view(span.source->text).substr(span.offset, size_t(span.length));
}

}  // namespace railbed::doc

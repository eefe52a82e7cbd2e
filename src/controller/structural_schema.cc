// SPDX-License-Identifier: Apache-2.0
#include "controller/structural_schema.h"

#include <string>

namespace railbed::controller {

using doc::Value;
using schema::FieldType;
using schema::Schema;

namespace {

Value of_type(std::string_view type) {
  Value out = Value::object();
  out.set("type", type);
  return out;
}

Value keeps_unknown(Value out) {
  out.set("x-kubernetes-preserve-unknown-fields", true);
  return out;
}

Value number(std::string_view type, const Schema& schema) {
  Value out = of_type(type);
  if (schema.min) out.set("minimum", *schema.min);
  if (schema.max) out.set("maximum", *schema.max);
  return out;
}

Value text(const Schema& schema) {
  Value out = of_type("string");
  if (!schema.choices.empty()) {
    Value& choices = out.set("enum", Value::array());
    for (const std::string& choice : schema.choices) choices.push(choice);
  }
  return out;
}

Value int_or_text() {
  Value out = Value::object();
  out.set("x-kubernetes-int-or-string", true);
  return out;
}

// Objects whose fields depend on another field, or that may have any, keep what they are given.
Value object(const Schema& schema) {
  Value out = of_type("object");
  if (!schema.fields.empty()) {
    Value& properties = out.set("properties", Value::object());
    for (const auto& [name, field] : schema.fields) properties.set(name, structural_schema(*field));
  }
  if (schema.unless.empty() && !schema.required.empty()) {
    Value& required = out.set("required", Value::array());
    for (const std::string& name : schema.required) required.push(name);
  }
  if (schema.fields.empty() && schema.items) {
    out.set("additionalProperties", structural_schema(*schema.items));
    return out;
  }
  const bool is_open = schema.fields.empty() || schema.items || !schema.by.empty() || !schema.when.empty();
  return is_open ? keeps_unknown(std::move(out)) : out;
}

Value list(const Schema& schema) {
  Value out = of_type("array");
  out.set("items", structural_schema(*schema.items));
  return out;
}

Value map(const Schema& schema) {
  Value out = of_type("object");
  out.set("additionalProperties", schema.items ? structural_schema(*schema.items) : of_type("string"));
  return out;
}

}  // namespace

Value structural_schema(const Schema& schema) {
  switch (schema.type) {
    case FieldType::kText:
    case FieldType::kNetworks:
    case FieldType::kJson:
    case FieldType::kJsonList:
    case FieldType::kYaml:
      return text(schema);
    case FieldType::kInteger:
      return number("integer", schema);
    case FieldType::kNumber:
      return number("number", schema);
    case FieldType::kFlag:
      return of_type("boolean");
    case FieldType::kIntegerOrText:
    case FieldType::kQuantity:
      return int_or_text();
    case FieldType::kObject:
      return object(schema);
    case FieldType::kMap:
      return map(schema);
    case FieldType::kList:
      return list(schema);
    case FieldType::kOneOrMany:
    case FieldType::kAny:
      break;
  }
  return keeps_unknown(Value::object());
}

Value* schema_at(Value& schema, std::string_view path) {
  Value* at = &schema;
  while (at && !path.empty()) {
    const size_t dot = path.find('.');
    if (Value* items = at->find("items")) at = items;
    Value* properties = at->find("properties");
    at = properties ? properties->find(path.substr(0, dot)) : nullptr;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at;
}

}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
// Whether a value is as a JSON schema says: the part of JSON Schema that docs/schemas uses. Only included by tests.
//
// Stricter than the standard in one point: a member that the schema does not name is reported, unless the object has
// additionalProperties. So an output cannot grow a field that is documented nowhere, while programs of users stay free
// to ignore new ones. A keyword that is not known here is reported, too: it would hold nothing. Threading: pure.
// Failure: what does not fit, one line each, with its path. Spec: JSON Schema 2020-12.
#pragma once

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed {

class JsonSchema {
 public:
  explicit JsonSchema(doc::Value root) : root_(std::move(root)) {}

  std::vector<std::string> problems(const doc::Value& value) {
    found_.clear();
    compare(root_, value, "");
    return found_;
  }

  // "object", "integer", …
  static std::string type_of(const doc::Value& value) {
    switch (value.kind()) {
      case doc::Kind::kNull:
        return "null";
      case doc::Kind::kBool:
        return "boolean";
      case doc::Kind::kInt:
        return "integer";
      case doc::Kind::kDouble:
        return "number";
      case doc::Kind::kString:
        return "string";
      case doc::Kind::kArray:
        return "array";
      case doc::Kind::kObject:
        return "object";
    }
    return "";
  }

 private:
  doc::Value root_;
  std::vector<std::string> found_;

  void report(const std::string& path, const std::string& what) {
    found_.push_back((path.empty() ? "the document" : path) + " " + what);
  }

  const doc::Value& followed(const doc::Value& schema, const std::string& path) {
    const doc::Value* reference = schema.find("$ref");
    if (reference == nullptr) return schema;
    const std::string name = reference->as_string()->substr(std::string("#/$defs/").size());
    const doc::Value* found = root_.find("$defs") == nullptr ? nullptr : root_.find("$defs")->find(name);
    if (found != nullptr) return *found;
    report(path, "refers to " + name + ", which the schema does not define");
    return schema;
  }

  void check_keywords(const doc::Value& schema, const std::string& path) {
    static const std::set<std::string> kKnown = {
        "$schema",  "$comment", "$defs",      "$ref",      "title",    "description",          "type",
        "required", "items",    "properties", "const",     "enum",     "additionalProperties", "minimum",
        "minItems", "maxItems", "pattern",    "minLength", "maxLength"};
    for (const doc::Value::Member& member : *schema.as_object())
      if (!kKnown.contains(member.key)) report(path, "has a schema with the unknown keyword " + member.key);
  }

  void check_type(const doc::Value& schema, const doc::Value& value, const std::string& path) {
    const doc::Value* wanted = schema.find("type");
    if (wanted == nullptr) return;
    const std::string type = type_of(value);
    const auto fits = [&](const doc::Value& one) {
      return *one.as_string() == type || (*one.as_string() == "number" && type == "integer");
    };
    const doc::Value::Array* several = wanted->as_array();
    if (several == nullptr ? fits(*wanted) : std::ranges::any_of(*several, fits)) return;
    report(path, "is of type " + type + " and not " + doc::to_json(*wanted));
  }

  void check_choice(const doc::Value& schema, const doc::Value& value, const std::string& path) {
    if (const doc::Value* wanted = schema.find("const"); wanted != nullptr && !(*wanted == value))
      report(path, "is " + doc::to_json(value) + " and not " + doc::to_json(*wanted));
    if (const doc::Value* choices = schema.find("enum"))
      if (std::ranges::find(*choices->as_array(), value) == choices->as_array()->end())
        report(path, "is " + doc::to_json(value) + " and none of " + doc::to_json(*choices));
  }

  // The number of characters would need a decoder; bytes are stricter.
  void check_bounds(const doc::Value& schema, const doc::Value& value, const std::string& path) {
    const auto bound = [&](std::string_view keyword) {
      const doc::Value* wanted = schema.find(keyword);
      return wanted == nullptr ? nullptr : wanted->as_int();
    };
    const auto holds = [&](std::string_view least, std::string_view most, int64_t found, std::string_view of) {
      if (const int64_t* wanted = bound(least); wanted != nullptr && found < *wanted)
        report(path, fmt::format("has {} {} and not {} or more", found, of, *wanted));
      if (const int64_t* wanted = bound(most); wanted != nullptr && found > *wanted)
        report(path, fmt::format("has {} {} and not {} or fewer", found, of, *wanted));
    };
    if (const int64_t* number = value.as_int()) holds("minimum", "maximum", *number, "as its value");
    if (const doc::Value::Array* all = value.as_array())
      holds("minItems", "maxItems", static_cast<int64_t>(all->size()), "items");
    const std::string* text = value.as_string();
    if (text == nullptr) return;
    holds("minLength", "maxLength", static_cast<int64_t>(text->size()), "bytes");
    if (const doc::Value* pattern = schema.find("pattern"))
      if (!std::regex_search(*text, std::regex(*pattern->as_string())))
        report(path, "is " + *text + ", which does not fit " + *pattern->as_string());
  }

  void check_members(const doc::Value& schema, const doc::Value& value, const std::string& path) {
    if (const doc::Value* required = schema.find("required"))
      for (const doc::Value& key : *required->as_array())
        if (value.find(*key.as_string()) == nullptr) report(path, "has no " + *key.as_string());
    const doc::Value* properties = schema.find("properties");
    const doc::Value* others = schema.find("additionalProperties");
    for (const doc::Value::Member& member : *value.as_object()) {
      const doc::Value* inner = properties == nullptr ? nullptr : properties->find(member.key);
      if (inner == nullptr && others != nullptr && others->is_object()) inner = others;
      if (inner != nullptr)
        compare(*inner, member.value, path + "." + member.key);
      else if (others == nullptr)
        report(path + "." + member.key, "is in no schema");
    }
  }

  void compare(const doc::Value& schema_or_reference, const doc::Value& value, const std::string& path) {
    const doc::Value& schema = followed(schema_or_reference, path);
    check_keywords(schema, path);
    check_type(schema, value, path);
    check_choice(schema, value, path);
    check_bounds(schema, value, path);
    if (value.is_object()) check_members(schema, value, path);
    const doc::Value* items = schema.find("items");
    if (items == nullptr || !value.is_array()) return;
    for (const doc::Value& item : *value.as_array()) compare(*items, item, path + "[]");
  }
};

// A document that is well formed.
inline doc::Value parsed(const std::string& text) {
  doc::Diagnostics problems;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"output", text}), problems);
  EXPECT_EQ(doc::render(problems), "") << text;
  return value ? *std::move(value) : doc::Value();
}

}  // namespace railbed

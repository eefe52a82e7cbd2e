// SPDX-License-Identifier: Apache-2.0
// What holds for every schema: a document with all its fields gives no finding, and one mistake gives one
// finding, at its place.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "doc/json.h"
#include "doc/yaml.h"
#include "schema/schema.h"

namespace railbed::schema {
namespace {

using doc::Diagnostic;
using doc::Diagnostics;
using doc::Value;

bool is_required(const Schema& schema, const std::string& key) {
  return std::ranges::find(schema.required, key) != schema.required.end() ||
         std::ranges::find(schema.required_in_some, key) != schema.required_in_some.end();
}

bool is_needed(const Schema& schema, const std::string& key) {
  const auto first = [&](const std::vector<std::string>& group) { return group.front() == key; };
  return is_required(schema, key) || std::ranges::any_of(schema.one_of, first);
}

constexpr int kWhole = 100;
constexpr int kNear = 3;

// A value that `schema` allows: for an object all fields (except one that makes others optional), for a list or a map
// one item. Beyond a depth of `depth` objects only required fields.
Value full(const Schema& schema, int depth = kWhole, const std::string& variant = "") {
  switch (schema.type) {
    case FieldType::kAny:
    case FieldType::kText:
      if (schema.choices.empty()) return Value("a text");
      return Value(schema.choices[0].empty() ? schema.choices.back() : schema.choices[0]);
    case FieldType::kInteger:
    case FieldType::kNumber:
      return Value(schema.min.value_or(schema.max.value_or(1)));
    case FieldType::kNetworks:
      return Value("rail0, ai/rail1@net7");
    case FieldType::kFlag:
      return Value(true);
    case FieldType::kIntegerOrText:
      return Value("25%");
    case FieldType::kQuantity:
      return Value("64Gi");
    case FieldType::kJson:
      return Value(doc::to_json(full(*schema.items, depth)));
    case FieldType::kJsonList:
      return Value(doc::to_json(full(*schema.items, depth)) + ", " + doc::to_json(full(*schema.items, depth)));
    case FieldType::kYaml:
      return Value(doc::to_yaml(full(*schema.items, depth)));
    case FieldType::kOneOrMany:
      return full(*schema.items, depth);
    case FieldType::kList: {
      Value list = Value::array();
      list.push(full(*schema.items, depth));
      return list;
    }
    case FieldType::kMap:
    case FieldType::kObject:
      break;
  }
  if (schema.then != nullptr) return full(*schema.then, depth);
  Value object = Value::object();
  if (!schema.by.empty()) {
    const std::string type = variant.empty() ? schema.variants.begin()->first : variant;
    object = full(*schema.variants.find(type)->second, depth);
    object.set(schema.by, type);
    return object;
  }
  for (const auto& [name, field] : schema.fields)
    if (name == schema.unless)
      continue;
    else if (depth > 0 || is_needed(schema, name))
      object.set(name, full(*field, depth - 1));
  if (schema.labels)
    object.set("any.key/here", "a_label");
  else if (schema.items != nullptr)
    object.set("any.key/here", full(*schema.items, depth - 1));
  return object;
}

// Gives each key and value of a generated document a number, to recognize the place of a finding.
class Numbered {
 public:
  explicit Numbered(Value made) : value(std::move(made)) { number(value); }
  Value value;

 private:
  void number(Value& v) {
    v.span = next();
    if (Value::Array* items = v.as_array())
      for (Value& item : *items) number(item);
    if (Value::Object* members = v.as_object())
      for (Value::Member& member : *members) {
        member.key_span = next();
        number(member.value);
      }
  }
  doc::Span next() { return {source_, ++line_, 1, 0, 0}; }

  doc::SourcePtr source_ = std::make_shared<doc::Source>(doc::Source{"made", ""});
  int line_ = 0;
};

Value* find(Value& object, std::string_view key) {
  return object.find(key);
}

std::vector<std::string> found(const Value& value, const Schema& schema) {
  Diagnostics out;
  check_schema(value, schema, "", out);
  std::vector<std::string> ids;
  for (const Diagnostic& finding : out.all())
    ids.push_back(
        fmt::format("{} at {}: {}", finding.id.substr(finding.id.size() - 3), finding.span.line, finding.message));
  return ids;
}

// Exactly one finding, with one of these numbers, at this place.
void expect_one(const std::vector<std::string>& reported, const std::set<std::string>& numbers, int line,
                const std::string& what) {
  ASSERT_EQ(reported.size(), 1U) << what << "\n" << testing::PrintToString(reported);
  EXPECT_TRUE(numbers.contains(reported[0].substr(0, 3))) << what << "\n" << reported[0];
  EXPECT_EQ(reported[0].substr(4, reported[0].find(':') - 4), fmt::format("at {}", line)) << what << "\n"
                                                                                          << reported[0];
}

// The schemas of all objects below `schema`, each once.
void objects_below(const Schema* schema, std::set<const Schema*>& out) {
  if (schema == nullptr) return;
  if (schema->type == FieldType::kObject && !out.insert(schema).second) return;
  for (const auto& [name, field] : schema->fields) objects_below(field, out);
  for (const auto& [name, variant] : schema->variants) objects_below(variant, out);
  objects_below(schema->items, out);
  objects_below(schema->then, out);
}

const std::set<const Schema*>& all_objects() {
  static const std::set<const Schema*> kObjects = [] {
    std::set<const Schema*> objects;
    for (const std::string& kind : schema_kinds()) objects_below(find_schema("", kind), objects);
    return objects;
  }();
  return kObjects;
}

// Objects with a fixed set of fields; for objects with variants each variant is tested.
bool has_fields(const Schema& schema) {
  return !schema.fields.empty() && schema.by.empty() && schema.then == nullptr;
}

TEST(SchemaProperty, ADocumentWithAllFieldsGivesNoFinding) {
  for (const std::string& kind : schema_kinds()) {
    const Schema& schema = *find_schema("", kind);
    const std::string text = doc::to_yaml(full(schema));
    Diagnostics out;
    const auto documents = doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{kind, text}), out);
    ASSERT_EQ(documents.size(), 1U) << kind << doc::render(out);
    check_schema(documents[0], schema, "", out);
    EXPECT_EQ(doc::render(out), "") << text;
  }
}

TEST(SchemaProperty, EveryTypeOfAPluginGivesNoFinding) {
  std::set<std::string> seen;
  for (const Schema* schema : all_objects())
    for (const auto& [type, variant] : schema->variants) {
      seen.insert(type);
      EXPECT_THAT(found(full(*schema, kWhole, type), *schema), testing::IsEmpty()) << type;
    }
  for (const char* type :
       {"host-device", "sriov", "ib-sriov", "rdma", "tuning", "macvlan", "ipvlan", "ipoib", "whereabouts", "host-local",
        "dhcp", "static", "nv-ipam", "sbr", "vrf", "bridge", "bandwidth", "portmap"}) {
    EXPECT_TRUE(seen.contains(type)) << type;
    EXPECT_NE(find_plugin_schema(type), nullptr) << type;
  }
}

TEST(SchemaProperty, AMisspeltKeyIsOneFindingAtTheKey) {
  int tried = 0;
  for (const Schema* schema : all_objects()) {
    if (!has_fields(*schema) || schema->items != nullptr) continue;
    for (const auto& [name, field] : schema->fields) {
      Numbered made(full(*schema, kNear));
      for (Value::Member& member : *made.value.as_object()) {
        if (member.key != name) continue;
        member.key += "x";
        ++tried;
        expect_one(found(made.value, *schema),
                   is_required(*schema, name) ? std::set<std::string>{"006"} : std::set<std::string>{"002"},
                   member.key_span.line, name);
        break;
      }
    }
  }
  EXPECT_GT(tried, 1000);
}

TEST(SchemaProperty, AMissingFieldIsOneFindingAtItsObject) {
  int tried = 0;
  for (const Schema* schema : all_objects())
    for (const std::string& name : schema->required) {
      if (!has_fields(*schema)) continue;
      Numbered made(full(*schema, kNear));
      std::erase_if(*made.value.as_object(), [&](const Value::Member& member) { return member.key == name; });
      // If the rest is similar to that name, it is treated as a misspelling: see the test above.
      expect_one(found(made.value, *schema), {"006"}, made.value.span.line, name);
      ++tried;
    }
  EXPECT_GT(tried, 100);
}

// A value of a type that `schema` does not allow; nullopt when it allows all.
std::optional<Value> of_another_type(const Schema& schema) {
  switch (schema.type) {
    case FieldType::kAny:
      return std::nullopt;
    case FieldType::kText:
    case FieldType::kNetworks:
    case FieldType::kJson:
    case FieldType::kJsonList:
    case FieldType::kYaml:
      return Value(5);
    case FieldType::kIntegerOrText:
      return Value(true);
    default:
      return Value("no such thing");
  }
}

TEST(SchemaProperty, AWrongTypeIsOneFindingAtTheValue) {
  int tried = 0;
  for (const Schema* schema : all_objects()) {
    if (!has_fields(*schema)) continue;
    for (const auto& [name, field] : schema->fields) {
      const auto wrong = of_another_type(*field);
      if (!wrong) continue;
      Numbered made(full(*schema, kNear));
      if (name == schema->unless) continue;
      Value& value = *find(made.value, name);
      const doc::Span span = value.span;
      value = *wrong;
      value.span = span;
      ++tried;
      expect_one(found(made.value, *schema),
                 field->type == FieldType::kQuantity ? std::set<std::string>{"005"} : std::set<std::string>{"004"},
                 span.line, name);
    }
  }
  EXPECT_GT(tried, 1000);
}

TEST(SchemaProperty, AValueThatIsNotAllowedIsOneFindingAtTheValue) {
  int tried = 0;
  for (const Schema* schema : all_objects()) {
    if (!has_fields(*schema)) continue;
    for (const auto& [name, field] : schema->fields) {
      std::optional<Value> wrong;
      if (!field->choices.empty()) wrong = Value("no such choice");
      if (field->min) wrong = Value(*field->min - 1);
      if (field->max) wrong = Value(*field->max + 1);
      if (!wrong) continue;
      Numbered made(full(*schema, kNear));
      if (name == schema->unless) continue;
      Value& value = *find(made.value, name);
      const doc::Span span = value.span;
      value = *wrong;
      value.span = span;
      ++tried;
      expect_one(found(made.value, *schema), {"005"}, span.line, name);
    }
  }
  EXPECT_GT(tried, 50);
}

// The object below field `name` of `object`, inside lists and maps.
Value* object_below(Value& object, const std::string& name) {
  Value* value = find(object, name);
  while (value != nullptr && (value->is_array() || find(*value, "any.key/here") != nullptr)) {
    if (Value::Array* items = value->as_array())
      value = items->empty() ? nullptr : &items->front();
    else
      value = find(*value, "any.key/here");
  }
  return value != nullptr && value->is_object() ? value : nullptr;
}

bool is_embedded(const Schema& schema) {
  return schema.type == FieldType::kJson || schema.type == FieldType::kJsonList || schema.type == FieldType::kYaml;
}

Value::Member take_member(Value& from, const std::string& key) {
  Value::Object& members = *from.as_object();
  const auto member = std::ranges::find(members, key, &Value::Member::key);
  Value::Member taken = std::move(*member);
  members.erase(member);
  return taken;
}

TEST(SchemaProperty, AFieldOneLevelUpOrDownIsOneFindingThatSaysWhereItBelongs) {
  int up = 0;
  int down = 0;
  for (const Schema* schema : all_objects()) {
    if (!has_fields(*schema) || schema->items != nullptr) continue;
    for (const auto& [name, field] : schema->fields) {
      const Schema* inner = is_embedded(*field) ? nullptr : object_in(field);
      if (inner == nullptr || !has_fields(*inner) || inner->items != nullptr) continue;
      for (const auto& [key, its] : inner->fields) {
        if (schema->fields.contains(key) || is_required(*inner, key) || key == inner->unless ||
            inner->fields.size() < 2)
          continue;
        if (++up % kSweepStep != 0) continue;
        Numbered made(full(*schema, kNear));
        Value::Member moved = take_member(*object_below(made.value, name), key);
        const int line = moved.key_span.line;
        made.value.as_object()->push_back(std::move(moved));
        // With a similar name nearby, a misspelling is more likely, and the message says so.
        expect_one(found(made.value, *schema), {"002", "003"}, line, name + "." + key + " one level up");
      }
      for (const auto& [key, its] : schema->fields) {
        if (inner->fields.contains(key) || is_required(*schema, key) || key == schema->unless || key == name) continue;
        if (++down % kSweepStep != 0) continue;
        Numbered made(full(*schema, kNear));
        Value::Member moved = take_member(made.value, key);
        const int line = moved.key_span.line;
        object_below(made.value, name)->as_object()->push_back(std::move(moved));
        expect_one(found(made.value, *schema), {"003"}, line, key + " one level down, into " + name);
      }
    }
  }
  EXPECT_GT(up, 500);
  EXPECT_GT(down, 500);
}

}  // namespace
}  // namespace railbed::schema

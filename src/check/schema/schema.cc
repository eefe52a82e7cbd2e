// SPDX-License-Identifier: Apache-2.0
//
// Reads the data files. Their notation is at the head of core.yaml. A definition is built when something
// refers to it, so that the order of files does not matter and a definition may hold itself.
#include "check/schema/schema.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "api/cni_types.h"
#include "check/data_files.h"

namespace railbed::check {

using doc::Value;

namespace {

constexpr std::string_view kFolder = "schema/";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string_view group_of(std::string_view api_version) {
  const size_t slash = api_version.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// A key of the table of CNI types in the notation of the data files: "int 0..4094".
Value notation(const api::CniKey& key) {
  switch (key.type) {
    case api::KeyType::kText:
      return "text";
    case api::KeyType::kFlag:
      return "flag";
    case api::KeyType::kNumber:
      return key.max == INT32_MAX ? fmt::format("int {}..", key.min) : fmt::format("int {}..{}", key.min, key.max);
    case api::KeyType::kChoice:
      return fmt::format("choice {}", fmt::join(key.choices, " "));
    case api::KeyType::kTexts: {
      Value list = Value::array();
      list.push("text");
      return list;
    }
    case api::KeyType::kObject:
      return "map";
    case api::KeyType::kAny:
      return "any";
    case api::KeyType::kShape:
      break;
  }
  return std::string(key.shape);
}

Value notation(std::span<const api::CniKey> keys, std::span<const std::string_view> one_of = {}) {
  Value object = Value::object();
  for (const api::CniKey& key : keys) object.set(fmt::format("{}{}", key.name, key.required ? "!" : ""), notation(key));
  if (!one_of.empty()) object.set(".oneOf", fmt::format("{}", fmt::join(one_of, " ")));
  return object;
}

class Book {
 public:
  Book() {
    definition_nodes_.emplace("pluginCommon", &files_.emplace_back(notation(api::cni_common_keys())));
    for (const DataFile& file : data_files())
      if (file.name.starts_with(kFolder)) read_file(file.name);
    for (const auto& [name, node] : kind_nodes_) {
      Schema& kind = schemas_.emplace_back();
      kinds_[name] = {api_versions(*node), &kind};
    }
    for (const auto& [name, node] : kind_nodes_) {
      kinds_.find(name)->second.schema->name = name;
      fill_object(*kinds_.find(name)->second.schema, *node, name);
    }
    plugin_ = definition("plugin");
    ipam_ = definition("ipam");
    resolve_also();
    files_.clear();
    // The files are part of this program: with a mistake in one, nothing that is said about manifests can be trusted.
    for (const std::string& problem : problems_) fmt::print(stderr, "railbed's own schema is wrong: {}\n", problem);
    if (!problems_.empty()) std::abort();
  }

  const Schema* kind(std::string_view api_version, std::string_view name) const {
    const auto found = kinds_.find(name);
    if (found == kinds_.end()) return nullptr;
    const auto same_group = [&](const std::string& known) { return group_of(known) == group_of(api_version); };
    const bool ours = api_version.empty() || std::ranges::any_of(found->second.api_versions, same_group);
    return ours ? found->second.schema : nullptr;
  }
  const Schema* plugin(std::string_view type) const {
    for (const Schema* group : {plugin_, ipam_})
      if (const auto found = group->variants.find(type); found != group->variants.end()) return found->second;
    return nullptr;
  }
  std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    for (const auto& [name, kind] : kinds_) names.push_back(name);
    return names;
  }

 private:
  struct Also {
    Schema* schema = nullptr;
    std::vector<std::string> names;
  };
  struct Kind {
    std::vector<std::string> api_versions;
    Schema* schema = nullptr;
  };

  void problem(const Value& node, std::string text) {
    problems_.push_back(fmt::format("{}: {}", node.span.to_string(), text));
  }

  void read_file(std::string_view name) {
    const Value& file = files_.emplace_back(data_document(name));
    for (const char* part : {"definitions", "kinds"}) {
      const Value* map = file.find(part);
      if (map == nullptr || !map->is_object()) continue;
      auto& nodes = std::string_view(part) == "kinds" ? kind_nodes_ : definition_nodes_;
      for (const Value::Member& member : *map->as_object())
        if (!nodes.emplace(member.key, &member.value).second)
          problem(member.value, fmt::format("{} is there twice", member.key));
    }
    if (!file.is_object()) problems_.push_back(fmt::format("{}: cannot be read", name));
  }

  std::vector<std::string> texts(const Value& node) {
    std::vector<std::string> out;
    if (const std::string* text = node.as_string()) return words_of(*text);
    if (const Value::Array* items = node.as_array())
      for (const Value& item : *items)
        if (const std::string* text = item.as_string()) out.push_back(*text);
    if (out.empty()) problem(node, "expected a text or a list of texts");
    return out;
  }

  std::vector<std::string> api_versions(const Value& node) {
    const Value* versions = node.find(".apiVersion");
    if (versions == nullptr) problem(node, "a kind without .apiVersion");
    return versions ? texts(*versions) : std::vector<std::string>();
  }

  const Schema* definition(const std::string& name) {
    if (const auto found = definitions_.find(name); found != definitions_.end()) return found->second;
    Schema& schema = schemas_.emplace_back();
    definitions_[name] = &schema;
    const auto node = definition_nodes_.find(name);
    if (node == definition_nodes_.end())
      problems_.push_back(fmt::format("${} is not defined", name));
    else
      fill(schema, *node->second);
    return &schema;
  }

  const Schema* build(const Value& node) {
    const std::string* word = node.as_string();
    if (word != nullptr && word->starts_with("$")) return definition(word->substr(1));
    if (word != nullptr) {
      if (const auto found = simple_.find(*word); found != simple_.end()) return found->second;
      simple_[*word] = &schemas_.emplace_back();
    }
    Schema& schema = word ? *simple_[*word] : schemas_.emplace_back();
    fill(schema, node);
    return &schema;
  }

  void fill(Schema& schema, const Value& node) {
    if (const std::string* word = node.as_string()) {
      fill_simple(schema, *word, node);
    } else if (const Value::Array* items = node.as_array()) {
      if (items->size() != 1) problem(node, "a list holds one type");
      schema.type = FieldType::kList;
      if (!items->empty()) schema.items = build((*items)[0]);
    } else if (node.is_object()) {
      fill_object(schema, node, "");
    } else {
      problem(node, "no type");
    }
  }

  void fill_simple(Schema& schema, const std::string& text, const Value& node) {
    const std::vector<std::string> words = words_of(text);
    const std::string first = words.empty() ? "" : words[0];
    static const std::map<std::string, FieldType, std::less<>> kTypes = {
        {"any", FieldType::kAny},       {"text", FieldType::kText},        {"int", FieldType::kInteger},
        {"number", FieldType::kNumber}, {"flag", FieldType::kFlag},        {"intstr", FieldType::kIntegerOrText},
        {"object", FieldType::kObject}, {"map", FieldType::kMap},          {"quantity", FieldType::kQuantity},
        {"choice", FieldType::kText},   {"networks", FieldType::kNetworks}};
    const auto type = kTypes.find(first);
    if (type == kTypes.end()) return problem(node, fmt::format("\"{}\" is no type", text));
    schema.type = type->second;
    if (first == "choice")
      for (size_t i = 1; i < words.size(); ++i) schema.choices.push_back(words[i] == "\"\"" ? "" : words[i]);
    if (first == "map") {
      static const Value kText("text");
      schema.items = build(kText);
    }
    if (words.size() == 2 && first != "choice") fill_bounds(schema, words[1], node);
  }

  // "0..99", "1.."
  void fill_bounds(Schema& schema, std::string_view text, const Value& node) {
    const size_t dots = text.find("..");
    if (dots == std::string_view::npos) return problem(node, fmt::format("\"{}\" is no range", text));
    const auto number = [](std::string_view part) -> std::optional<int64_t> {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      return error == std::errc{} && end == part.data() + part.size() ? std::optional(value) : std::nullopt;
    };
    schema.min = number(text.substr(0, dots));
    schema.max = number(text.substr(dots + 2));
  }

  // An object, or a wrapper like {.json: X}. Keys that begin with a dot describe the object itself.
  void fill_object(Schema& schema, const Value& node, const std::string& kind) {
    schema.type = FieldType::kObject;
    if (!node.is_object()) return problem(node, "no object");
    if (!kind.empty()) {
      static const Value kText("text");
      schema.fields["apiVersion"] = schema.fields["kind"] = build(kText);
    }
    for (const Value::Member& member : *node.as_object()) {
      if (member.key.starts_with('.')) {
        directive(schema, member);
        continue;
      }
      std::string name = member.key;
      if (name.ends_with('!')) {
        name.pop_back();
        schema.required.push_back(name);
      }
      schema.fields[name] = build(member.value);
    }
    // A map in which some keys have their own schema is an object with `items` for all other keys.
    if (schema.type == FieldType::kMap && (!schema.fields.empty() || schema.then != nullptr))
      schema.type = FieldType::kObject;
    if (!schema.by.empty()) fill_variants(schema, node);
  }

  void directive(Schema& schema, const Value::Member& member) {
    static const std::map<std::string_view, FieldType> kWrappers = {{".each", FieldType::kMap},
                                                                    {".json", FieldType::kJson},
                                                                    {".jsonList", FieldType::kJsonList},
                                                                    {".yaml", FieldType::kYaml},
                                                                    {".oneOrMany", FieldType::kOneOrMany}};
    const std::string_view key = member.key;
    const Value& value = member.value;
    const std::string text = value.as_string() ? *value.as_string() : "";
    if (const auto wrapper = kWrappers.find(key); wrapper != kWrappers.end()) {
      schema.type = wrapper->second;
      schema.items = build(value);
    } else if (key == ".include") {
      for (const std::string& name : texts(value)) include(schema, *definition(name));
    } else if (key == ".name") {
      schema.name = text;
    } else if (key == ".path") {
      schema.path = text;
    } else if (key == ".family") {
      schema.family = text;
    } else if (key == ".oneOf") {
      schema.one_of.push_back(texts(value));
    } else if (key == ".unless") {
      schema.unless = text;
    } else if (key == ".mayBeEmpty") {
      schema.may_be_empty = true;
    } else if (key == ".also") {
      also_.push_back({&schema, texts(value)});
    } else if (key == ".by") {
      schema.by = text;
    } else if (key == ".what") {
      schema.what = text;
    } else if (key == ".when") {
      schema.when = text;
    } else if (key == ".then") {
      schema.then = build(value);
    } else if (key != ".apiVersion" && key != ".types" && key != ".typesOf" && key != ".table") {
      problem(value, fmt::format("{} is no directive", key));
    }
  }

  static void include(Schema& schema, const Schema& other) {
    for (const auto& [name, field] : other.fields) schema.fields.emplace(name, field);
    schema.required.insert(schema.required.end(), other.required.begin(), other.required.end());
    schema.one_of.insert(schema.one_of.end(), other.one_of.begin(), other.one_of.end());
  }

  // Adds the types of the table that railbed does itself to `types`, which describes some of the others; the rest are
  // known by name.
  void add_table(const Value& table, Value& types, std::vector<std::string>& others) {
    const bool ipam = table.as_string() != nullptr && *table.as_string() == "ipam";
    for (const Value::Member& member : *types.as_object()) {
      const api::CniType* type = api::find_cni_type(member.key);
      if (type == nullptr || type->ours) problem(member.value, fmt::format("{} is no type of others", member.key));
    }
    for (const api::CniType& type : api::cni_types()) {
      if ((type.role == api::CniRole::kIpam) != ipam) continue;
      const bool described = type.makes_or_changes_interfaces() || (type.ours && ipam);
      for (const std::string_view name : {type.name, type.also_called}) {
        if (name.empty()) continue;
        if (described)
          types.set(name, notation(type.keys, type.one_of));
        else if (types.find(name) == nullptr)
          others.emplace_back(name);
      }
    }
  }

  // Each variant also has the common fields. `.typesOf: plugin` uses the types of another definition.
  void fill_variants(Schema& schema, const Value& node) {
    const Value* from = &node;
    if (const Value* of = node.find(".typesOf"); of != nullptr && of->as_string() != nullptr)
      if (const auto other = definition_nodes_.find(*of->as_string()); other != definition_nodes_.end())
        from = other->second;
    const Value* described = from->find(".types");
    if (described == nullptr || !described->is_object()) return problem(node, "no .types");
    Value types = *described;
    if (const Value* table = from->find(".table")) add_table(*table, types, schema.others);
    const auto also = std::ranges::find(also_, &schema, &Also::schema);
    const std::vector<std::string> others = also == also_.end() ? std::vector<std::string>() : also->names;
    for (const Value::Member& member : *types.as_object()) {
      Schema& variant = schemas_.emplace_back();
      fill_object(variant, member.value, "");
      include(variant, schema);
      if (!others.empty()) also_.push_back({&variant, others});
      if (variant.name.empty()) variant.name = fmt::format("{} \"{}\"", schema.what, member.key);
      variant.path = schema.path;
      variant.family = schema.family;
      schema.variants[member.key] = &variant;
    }
  }

  // ".also: [SriovNetwork.spec, $plugin]"
  void resolve_also() {
    for (const auto& [schema, names] : also_)
      for (const std::string& name : names) {
        const Schema* other = nullptr;
        const size_t dot = name.find('.');
        if (const auto kind = kinds_.find(name.substr(0, dot)); kind != kinds_.end() && dot != std::string::npos)
          if (const auto field = kind->second.schema->fields.find(name.substr(dot + 1));
              field != kind->second.schema->fields.end())
            other = field->second;
        if (other == nullptr && name.starts_with("plugin/")) {
          other = plugin(name.substr(7));
          if (other != nullptr) schema->also.push_back({other->name, other});
          if (other != nullptr) continue;
        }
        if (other == nullptr) {
          problems_.push_back(fmt::format(".also: {} is not known", name));
          continue;
        }
        schema->also.push_back({name.substr(0, dot), other});
      }
  }

  std::deque<Value> files_;
  std::deque<Schema> schemas_;
  std::map<std::string, const Value*, std::less<>> definition_nodes_;
  std::map<std::string, const Value*, std::less<>> kind_nodes_;
  std::map<std::string, const Schema*, std::less<>> definitions_;
  std::map<std::string, Schema*, std::less<>> simple_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::vector<Also> also_;
  std::vector<std::string> problems_;
  const Schema* plugin_ = nullptr;
  const Schema* ipam_ = nullptr;
};

const Book& book() {
  static const Book kBook;
  return kBook;
}

}  // namespace

const Schema* find_schema(std::string_view api_version, std::string_view kind) {
  return book().kind(api_version, kind);
}

const Schema* find_plugin_schema(std::string_view type) {
  return book().plugin(type);
}

const Schema* object_in(const Schema* schema) {
  while (schema != nullptr && schema->type != FieldType::kObject) schema = schema->items;
  return schema;
}

std::vector<std::string> schema_kinds() {
  return book().kinds();
}

}  // namespace railbed::check

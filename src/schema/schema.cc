// SPDX-License-Identifier: Apache-2.0
//
// Reads the data files. Their notation is at the head of core.yaml. A kind or definition is read and built when
// something asks for it, so that the order of files does not matter, a definition may hold itself, and a run pays for
// what it uses.
#include "schema/schema.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

#include "base/number.h"
#include "doc/yaml.h"
#include "schema/cni_types.h"
#include "schema/data_files.h"

namespace railbed::schema {

using doc::Value;

namespace {

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
Value notation(const CniKey& key) {
  switch (key.type) {
    case KeyType::kText:
      return "text";
    case KeyType::kFlag:
      return "flag";
    case KeyType::kNumber:
      return key.max == INT32_MAX ? fmt::format("int {}..", key.min) : fmt::format("int {}..{}", key.min, key.max);
    case KeyType::kChoice:
      return fmt::format("choice {}", fmt::join(key.choices, " "));
    case KeyType::kTexts: {
      Value list = Value::array();
      list.push("text");
      return list;
    }
    case KeyType::kObject:
      return "map";
    case KeyType::kAny:
      return "any";
    case KeyType::kShape:
      break;
  }
  return std::string(key.shape);
}

Value notation(std::span<const CniKey> keys, std::span<const std::string_view> one_of = {}) {
  Value object = Value::object();
  for (const CniKey& key : keys) object.set(fmt::format("{}{}", key.name, key.required ? "!" : ""), notation(key));
  if (!one_of.empty()) object.set(".oneOf", fmt::format("{}", fmt::join(one_of, " ")));
  return object;
}

// The parts of the data files, each parsed when it is asked for first: a run needs few of them, and reading all of them
// took most of a short run's time.
class Parts {
 public:
  // Finds the parts below `definitions:` and `kinds:` by their indentation of two blanks.
  void index(const EmbeddedFile& file) {
    std::map<std::string, Part, std::less<>>* section = nullptr;
    Part* open = nullptr;
    const auto end_at = [&](size_t at) {
      if (open != nullptr) open->text = file.text.substr(open->begin, at - open->begin);
      open = nullptr;
    };
    for (size_t at = 0; at < file.text.size();) {
      const size_t end = std::min(file.text.find('\n', at), file.text.size());
      const std::string_view line = file.text.substr(at, end - at);
      const size_t first = line.find_first_not_of(' ');
      if (first == 0 && line[0] != '#') {
        end_at(at);
        section = line == "definitions:" ? &definitions_ : line == "kinds:" ? &kinds_ : nullptr;
        if (section == nullptr) problems_.push_back(fmt::format("{}: unknown section {}", file.name, line));
      } else if (first == 2 && line[2] != '#' && section != nullptr) {
        end_at(at);
        const std::string name(line.substr(2, line.find(':') - 2));
        const auto [made, fresh] = section->try_emplace(name, Part{.file = file.name, .begin = at});
        if (!fresh) problems_.push_back(fmt::format("{}: duplicate {}", file.name, name));
        open = &made->second;
      }
      at = end + 1;
    }
    end_at(file.text.size());
  }
  void add_definition(const std::string& name, Value value) {
    definitions_.emplace(name, Part{.value = std::move(value), .parsed = true});
  }

  // Null where there is none of that name. The value stays.
  const Value* definition(std::string_view name) { return find(definitions_, name); }
  const Value* kind(std::string_view name) { return find(kinds_, name); }
  std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    for (const auto& [name, part] : kinds_) names.push_back(name);
    return names;
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Part {
    std::string_view file;
    size_t begin = 0;
    std::string_view text;
    Value value;
    bool parsed = false;
  };

  const Value* find(std::map<std::string, Part, std::less<>>& parts, std::string_view name) {
    const auto found = parts.find(name);
    if (found == parts.end()) return nullptr;
    Part& part = found->second;
    if (!std::exchange(part.parsed, true)) {
      doc::Diagnostics problems;
      auto documents = doc::parse_yaml(
          std::make_shared<doc::Source>(doc::Source{std::string(part.file), std::string(part.text)}), problems);
      Value::Object* members = documents.size() == 1 ? documents.front().as_object() : nullptr;
      if (members == nullptr || members->size() != 1 || problems.has_errors())
        problems_.push_back(fmt::format("{}: {} cannot be read", part.file, name));
      else
        part.value = std::move(members->front().value);
    }
    return &part.value;
  }

  std::map<std::string, Part, std::less<>> definitions_, kinds_;
  std::vector<std::string> problems_;
};

class Book {
 public:
  Book() {
    parts_.add_definition("pluginCommon", notation(cni_common_keys()));
    for (const EmbeddedFile& file : data_files()) parts_.index(file);
  }

  const Schema* kind(std::string_view api_version, std::string_view name) {
    const std::lock_guard lock(mutex_);
    const Kind* found = built_kind(name);
    finish();
    if (found == nullptr) return nullptr;
    const auto same_group = [&](const std::string& known) { return group_of(known) == group_of(api_version); };
    const bool ours = api_version.empty() || std::ranges::any_of(found->api_versions, same_group);
    return ours ? found->schema : nullptr;
  }
  const Schema* plugin(std::string_view type) {
    const std::lock_guard lock(mutex_);
    const Schema* found = built_plugin(type);
    finish();
    return found;
  }
  std::vector<std::string> kinds() const { return parts_.kinds(); }

 private:
  struct Also {
    Schema* schema = nullptr;
    std::vector<std::string> names;
  };
  struct Kind {
    std::vector<std::string> api_versions;
    Schema* schema = nullptr;
  };

  const Kind* built_kind(std::string_view name) {
    if (const auto found = kinds_.find(name); found != kinds_.end()) return &found->second;
    const Value* node = parts_.kind(name);
    if (node == nullptr) return nullptr;
    Schema& schema = schemas_.emplace_back();
    Kind& kind = kinds_[std::string(name)];
    kind = {api_versions(*node), &schema};
    schema.name = name;
    fill_object(schema, *node, std::string(name));
    return &kind;
  }
  const Schema* built_plugin(std::string_view type) {
    for (const char* group : {"plugin", "ipam"}) {
      const Schema* schema = definition(group);
      if (const auto found = schema->variants.find(type); found != schema->variants.end()) return found->second;
    }
    return nullptr;
  }
  // What is handed out is whole, and is not changed any more.
  void finish() {
    resolve_also();
    for (const auto& problems : {problems_, parts_.problems()})
      for (const std::string& problem : problems) fmt::print(stderr, "railbed's own schema is wrong: {}\n", problem);
    // The files are part of this program: with a mistake in one, nothing that is said about manifests can be trusted.
    if (!problems_.empty() || !parts_.problems().empty()) std::abort();
  }

  void problem(const Value& node, std::string text) {
    problems_.push_back(fmt::format("{}: {}", node.span.to_string(), text));
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
    const Value* node = parts_.definition(name);
    if (node == nullptr)
      problems_.push_back(fmt::format("${} is not defined", name));
    else
      fill(schema, *node);
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
        {"any", FieldType::kAny},       {"text", FieldType::kText},         {"int", FieldType::kInteger},
        {"number", FieldType::kNumber}, {"flag", FieldType::kFlag},         {"intstr", FieldType::kIntegerOrText},
        {"object", FieldType::kObject}, {"map", FieldType::kMap},           {"quantity", FieldType::kQuantity},
        {"choice", FieldType::kText},   {"networks", FieldType::kNetworks}, {"labels", FieldType::kMap}};
    const auto type = kTypes.find(first);
    if (type == kTypes.end()) return problem(node, fmt::format("\"{}\" is not a type", text));
    schema.type = type->second;
    if (first == "choice")
      for (size_t i = 1; i < words.size(); ++i) schema.choices.push_back(words[i] == "\"\"" ? "" : words[i]);
    if (schema.type == FieldType::kMap) {
      static const Value kText("text");
      schema.items = build(kText);
      schema.labels = first == "labels";
    }
    if (words.size() == 2 && first != "choice") fill_bounds(schema, words[1], node);
  }

  // "0..99", "1.."
  void fill_bounds(Schema& schema, std::string_view text, const Value& node) {
    const size_t dots = text.find("..");
    if (dots == std::string_view::npos) return problem(node, fmt::format("\"{}\" is not a range", text));
    schema.min = whole_number<int64_t>(text.substr(0, dots));
    schema.max = whole_number<int64_t>(text.substr(dots + 2));
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
      if (name.ends_with("!?")) {
        name.resize(name.size() - 2);
        schema.required_in_some.push_back(name);
      } else if (name.ends_with('!')) {
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
      problem(value, fmt::format("{} is not a directive", key));
    }
  }

  static void include(Schema& schema, const Schema& other) {
    for (const auto& [name, field] : other.fields) schema.fields.emplace(name, field);
    schema.required.insert(schema.required.end(), other.required.begin(), other.required.end());
    schema.required_in_some.insert(schema.required_in_some.end(), other.required_in_some.begin(),
                                   other.required_in_some.end());
    schema.one_of.insert(schema.one_of.end(), other.one_of.begin(), other.one_of.end());
  }

  // Adds the types of the table that railbed does itself to `types`, which describes some of the others; the rest are
  // known by name.
  void add_table(const Value& table, Value& types, std::vector<std::string>& others) {
    const bool ipam = table.as_string() != nullptr && *table.as_string() == "ipam";
    for (const Value::Member& member : *types.as_object()) {
      const CniType* type = find_cni_type(member.key);
      if (type == nullptr || type->ours)
        problem(member.value, fmt::format("{} is not a third-party plugin type", member.key));
    }
    for (const CniType& type : cni_types()) {
      if ((type.role == CniRole::kIpam) != ipam) continue;
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
      if (const Value* other = parts_.definition(*of->as_string())) from = other;
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

  // ".also: [SriovNetwork.spec, plugin/sriov]". Building the others may add more of these.
  void resolve_also() {
    while (!also_.empty()) {
      const Also also = std::move(also_.back());
      also_.pop_back();
      for (const std::string& name : also.names) {
        const size_t dot = name.find('.');
        const Schema* other = nullptr;
        if (name.starts_with("plugin/")) {
          other = built_plugin(name.substr(7));
          if (other != nullptr) also.schema->also.push_back({other->name, other});
        } else if (const Kind* kind = dot == std::string::npos ? nullptr : built_kind(name.substr(0, dot))) {
          const auto field = kind->schema->fields.find(name.substr(dot + 1));
          if (field != kind->schema->fields.end()) other = field->second;
          if (other != nullptr) also.schema->also.push_back({name.substr(0, dot), other});
        }
        if (other == nullptr) problems_.push_back(fmt::format(".also: {} is not known", name));
      }
    }
  }

  std::mutex mutex_;
  Parts parts_;
  std::deque<Schema> schemas_;
  std::map<std::string, const Schema*, std::less<>> definitions_;
  std::map<std::string, Schema*, std::less<>> simple_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::vector<Also> also_;
  std::vector<std::string> problems_;
};

Book& book() {
  static Book book;
  return book;
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

}  // namespace railbed::schema

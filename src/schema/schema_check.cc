// SPDX-License-Identifier: Apache-2.0
//
// Compares a value with its schema, object by object. Each object knows those around it (Frame), so that a
// field in the wrong place is reported with the place where it belongs: in an object around it, in one below it, beside
// it, or in another kind. An embedded text begins again: nothing in it belongs to the manifest around it.
#include <algorithm>
#include <cctype>
#include <ranges>

#include "base/object_names.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/yaml.h"
#include "schema/cni_types.h"
#include "schema/frame.h"
#include "schema/home.h"
#include "schema/quantity.h"
#include "schema/schema.h"
#include "schema/slips.h"

namespace railbed::schema {

using doc::Kind;
using doc::Value;

namespace {

// An object with more mistakes is another kind of file, or an attack; no one reads all of them.
constexpr size_t kMaxMistakes = 1'000;
// A larger object is no manifest, and repeated searches among its members would take too long.
constexpr size_t kMaxMembers = 10'000;

// `driver: { ... }`: pages leave out what their reader knows.
constexpr std::string_view kLeftOut = "...";

constexpr std::string_view kLabelForm =
    "letters, digits, '-', '_' and '.', at most 63, with a letter or digit at both ends";

// The family of findings about the objects themselves; others are of texts in them.
constexpr const char* kOfObjects = "RB-API";
constexpr const char* kOfAddresses = "RB-IPAM";

class Checker {
 public:
  Checker(doc::Diagnostics& out, const CheckOptions& options)
      : out_(out), options_(options), limit_(out.all().size() + kMaxMistakes) {}

  bool is_right() const { return is_right_; }
  bool is_full() const { return out_.all().size() >= limit_; }

  void check(const Value& value, const Schema& schema, const Frame& at) {
    if (is_full()) return;
    switch (schema.type) {
      case FieldType::kAny:
        return;
      case FieldType::kObject:
        return check_object(value, schema, at);
      case FieldType::kMap:
        return check_map(value, schema, at);
      case FieldType::kList:
        return check_list(value, schema, at);
      case FieldType::kOneOrMany:
        return value.is_array() ? check_items(value, schema, at) : check(value, *schema.items, at);
      case FieldType::kJson:
      case FieldType::kJsonList:
      case FieldType::kYaml:
        return check_embedded(value, schema, at);
      default:
        return check_scalar(value, schema, at);
    }
  }

 private:
  // Enters the family of ids that begins here; returns the previous one.
  std::string enter_family(const Schema& schema) {
    std::string before = family_;
    if (!schema.family.empty()) family_ = schema.family;
    return before;
  }

  // The findings of the family, each with what its number says.
  doc::Diagnostic& error(int number, const doc::Span& span, std::string message) {
    is_right_ = false;
    return typed(number, out_.error(fmt::format("{}-{:03}", family_, number), span, std::move(message)));
  }
  doc::Diagnostic& warning(int number, const doc::Span& span, std::string message) {
    return typed(number, out_.warning(fmt::format("{}-{:03}", family_, number), span, std::move(message)));
  }
  doc::Diagnostic& typed(int number, doc::Diagnostic& reported) const {
    return reported.of(family_ == kOfObjects ? doc::Layer::kObject : doc::Layer::kEmbedded)
        .that_says(doc::said_by(doc::Family(std::string_view(family_)), number));
  }

  void wrong_type(const Value& value, const Frame& at, std::string_view expected, std::string fix = "",
                  std::string edit = "") {
    const std::string path = at.path();
    const std::string name = path.empty() ? "the document" : path;
    auto& reported =
        error(4, value.span, fmt::format("{} must be {}, found {}", name, expected, doc::described(value)));
    reported.with_fix(std::move(fix)).about_field(path);
    if (!edit.empty()) reported.with_edit(value.span, std::move(edit));
  }

  // What a reader reports: embedded texts, networks.
  template <typename Read>
  auto with_findings_of(const Read& read) {
    doc::Diagnostics found;
    auto result = read(found);
    is_right_ = is_right_ && !found.has_errors();
    out_.append(std::move(found));
    return result;
  }

  // ── values ──

  void check_grammar(void (*read)(const Value&, doc::Diagnostics&), const Value& value) {
    if (read != nullptr)
      with_findings_of([&](doc::Diagnostics& found) {
        read(value, found);
        return 0;
      });
  }

  void check_scalar(const Value& value, const Schema& schema, const Frame& at) {
    switch (schema.type) {
      case FieldType::kText:
        return check_text(value, schema, at);
      case FieldType::kNetworks:
        check_text(value, schema, at);
        if (value.is_string()) check_grammar(options_.networks, value);
        return;
      case FieldType::kInteger:
        return check_number(value, schema, at, "an integer");
      case FieldType::kNumber:
        if (value.as_double_exact() == nullptr) check_number(value, schema, at, "a number");
        return;
      case FieldType::kFlag:
        if (value.as_bool() == nullptr) wrong_flag(value, at);
        return;
      case FieldType::kIntegerOrText:
        if (value.as_int() != nullptr) return check_number(value, schema, at, "an integer");
        if (!value.is_string()) wrong_type(value, at, "an integer or a string such as \"25%\"");
        return;
      default:
        return check_quantity(value, at);
    }
  }

  static bool allows(const Schema& schema, std::string_view text) {
    return schema.choices.empty() || std::ranges::any_of(schema.choices, [&](std::string_view choice) {
             if (!choice.ends_with('*')) return choice == text;
             choice.remove_suffix(1);
             return text.size() > choice.size() && text.starts_with(choice);
           });
  }

  void check_text(const Value& value, const Schema& schema, const Frame& at) {
    const std::string* text = value.as_string();
    if (text == nullptr) return wrong_text(value, schema, at);
    if (allows(schema, *text)) return;
    std::vector<std::string_view> allowed;
    for (const std::string& choice : schema.choices)
      if (!choice.empty()) allowed.push_back(choice);
    std::string meant = doc::nearest(*text, allowed);
    if (meant.ends_with('*')) meant.clear();
    auto& reported =
        error(5, value.span, fmt::format("{} must be {}, found \"{}\"", at.path(), doc::alternatives(allowed), *text))
            .about_field(at.path());
    if (!meant.empty()) reported.with_fix(line(value, at.field(), meant));
  }

  // `key: value` in YAML or JSON, like the value.
  static std::string line(const Value& value, std::string_view key, std::string_view text) {
    return value.style == doc::Style::kJson ? fmt::format("\"{}\": \"{}\"", key, text)
                                            : fmt::format("{}: {}", key, text);
  }
  // Whether the value is on one line, with nothing else in its place.
  static bool is_whole(const Value& value) {
    const std::string* text = value.as_string();
    const size_t size = value.written().size();
    return size > 0 && value.span.length == static_cast<int>(size) && (text == nullptr || size <= text->size() + 4);
  }

  void wrong_text(const Value& value, const Schema& schema, const Frame& at) {
    const bool scalar = value.kind() == Kind::kBool || value.kind() == Kind::kInt || value.kind() == Kind::kDouble;
    const std::string_view written = value.written();
    if (!scalar || written.empty()) return wrong_type(value, at, "a string");
    // YAML reads an unquoted `on` as true where a word is meant. The fix quotes it as written.
    const std::string quoted = fmt::format("\"{}\"", written);
    if (!allows(schema, written)) return wrong_choice(value, schema, at);
    wrong_type(value, at, "a string", fmt::format("put it in quotes: {}", quoted),
               !in_quotes_ && !no_quotes_ && is_whole(value) ? quoted : "");
  }

  // For an unquoted `yes` where "on" or "off" is expected: quotes would not make it right, and only a person knows
  // which of the words was meant.
  void wrong_choice(const Value& value, const Schema& schema, const Frame& at) {
    std::vector<std::string_view> allowed;
    for (const std::string& choice : schema.choices)
      if (!choice.empty()) allowed.push_back(choice);
    const bool json = value.style == doc::Style::kJson;
    const std::string key = json ? fmt::format("\"{}\"", at.field()) : std::string(at.field());
    std::string fix;
    for (const std::string_view choice : allowed)
      fix += fmt::format("{}{}: \"{}\"", fix.empty() ? "write " : " or ", key, choice);
    wrong_type(value, at, doc::alternatives(allowed), allowed.size() > 4 ? "" : fix);
  }

  static bool is_quoted(const Value& value, std::string_view text) {
    const std::string_view written = value.written();
    return written.size() == text.size() + 2 && (written[0] == '"' || written[0] == '\'') &&
           written.substr(1, text.size()) == text && value.span.length == static_cast<int>(written.size());
  }

  // A text in quotes where the word without quotes is expected.
  void wrong_quotes(const Value& value, const Frame& at, std::string_view expected, bool bare_is_right) {
    const std::string* text = value.as_string();
    if (text == nullptr || !bare_is_right) return wrong_type(value, at, expected);
    const bool json = value.style == doc::Style::kJson;
    wrong_type(value, at, expected,
               fmt::format("write it without quotes: {}", json ? fmt::format("\"{}\": {}", at.field(), *text)
                                                               : fmt::format("{}: {}", at.field(), *text)),
               is_quoted(value, *text) ? *text : "");
  }

  void wrong_flag(const Value& value, const Frame& at) {
    const std::string* text = value.as_string();
    wrong_quotes(value, at, "true or false", text != nullptr && (*text == "true" || *text == "false"));
  }

  void check_number(const Value& value, const Schema& schema, const Frame& at, std::string_view expected) {
    const int64_t* number = value.as_int();
    if (number == nullptr) {
      const std::string* text = value.as_string();
      const bool digits = text && !text->empty() && text->size() < 19 &&
                          std::ranges::all_of(*text, [](unsigned char c) { return std::isdigit(c) != 0; });
      return wrong_quotes(value, at, expected, digits);
    }
    if (*number >= schema.min.value_or(INT64_MIN) && *number <= schema.max.value_or(INT64_MAX)) return;
    std::string allowed;
    if (schema.min && schema.max)
      allowed = fmt::format("{} to {}", *schema.min, *schema.max);
    else
      allowed = schema.min ? fmt::format("at least {}", *schema.min) : fmt::format("at most {}", *schema.max);
    error(5, value.span, fmt::format("{} must be {}, found {}", at.path(), allowed, *number)).about_field(at.path());
  }

  void check_quantity(const Value& value, const Frame& at) {
    if (is_quantity(value)) return;
    error(5, value.span,
          fmt::format("{} must be a quantity such as 8, \"500m\" or \"64Gi\", found {}", at.path(),
                      doc::described(value)))
        .about_field(at.path());
  }

  // ── many values ──

  void check_map(const Value& value, const Schema& schema, const Frame& at) {
    const Value::Object* members = value.as_object();
    if (members == nullptr) return wrong_type(value, at, "an object (keys with values)");
    // Labels next to an object or a list, or next to a field of the enclosing object: these lines slipped in, and
    // there is no way to know which of them are labels that need quotes.
    const bool slipped = std::ranges::any_of(*members, [&](const Value::Member& member) {
      return schema.items->type == FieldType::kText &&
             (member.value.is_object() || member.value.is_array() || member.value.is_null() ||
              field_around(member, *schema.items, at) != nullptr);
    });
    const bool outer = std::exchange(no_quotes_, no_quotes_ || slipped);
    for (const Value::Member& member : *members) {
      check_member(member, *schema.items, at);
      if (schema.labels) check_label(member, at);
    }
    no_quotes_ = outer;
  }

  // What a step that is not read fills in is no label yet.
  void check_label(const Value::Member& member, const Frame& at) {
    const std::string* text = member.value.as_string();
    if (text == nullptr || member.key == kLeftOut) return;
    const std::string path = at.path();
    if (!is_label_key(member.key) && !is_filled_in_later(member.key))
      error(
          5, member.key_span,
          fmt::format("{}: \"{}\" is not a valid label key: {}, after a prefix such as \"example.com/\" or without one",
                      path, member.key, kLabelForm))
          .about_field(fmt::format("{}[{}]", path, member.key));
    if (is_label_value(*text) || is_filled_in_later(*text)) return;
    error(5, member.value.span,
          fmt::format("{}[{}]: \"{}\" is not a valid label value: {}", path, member.key, *text, kLabelForm))
        .about_field(fmt::format("{}[{}]", path, member.key));
  }

  // The object that contains `at`.
  static const Frame* around(const Frame& at) { return at.schema != nullptr ? &at : at.around; }

  void check_member(const Value::Member& member, const Schema& schema, const Frame& at) {
    if (belongs_around(member, schema, at)) return;
    check(member.value, schema, {.around = around(at), .up = &at, .step = Frame::Step::kKey, .key = member.key});
  }

  // `priority: 50` among the labels of a nodeSelector: any key is allowed there, but no such value, and the enclosing
  // object has a field of that name. So it is a line that slipped in, not a label that needs quotes.
  static const Frame* field_around(const Value::Member& member, const Schema& schema, const Frame& at) {
    if (schema.type != FieldType::kText || member.value.is_string()) return nullptr;
    for (const Frame* frame = around(at); frame != nullptr; frame = frame->around) {
      if (frame->schema == nullptr) continue;
      const auto field = frame->schema->fields.find(member.key);
      if (field != frame->schema->fields.end() && field->second->type != FieldType::kText) return frame;
    }
    return nullptr;
  }

  bool belongs_around(const Value::Member& member, const Schema& schema, const Frame& at) {
    const Frame* frame = field_around(member, schema, at);
    if (frame == nullptr) return false;
    is_right_ = false;
    out_.error("RB-API-003", member.key_span,
               fmt::format("'{}' is a field of {}, not of {}", member.key, name_of(*frame), at.path()))
        .with_fix(as_far_as_others_of(*frame))
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kMisplacedField)
        .about_field(fmt::format("{}.{}", at.path(), member.key));
    return true;
  }

  void check_list(const Value& value, const Schema& schema, const Frame& at) {
    if (value.is_array()) return check_items(value, schema, at);
    const std::string_view written = value.written();
    const bool scalar = !written.empty() && !value.is_object();
    const bool json = value.style == doc::Style::kJson;
    const std::string key = json ? fmt::format("\"{}\"", at.field()) : std::string(at.field());
    wrong_type(value, at, "a list", scalar ? fmt::format("{}: [{}]", key, written) : "",
               scalar && is_whole(value) ? fmt::format("[{}]", written) : "");
  }
  void check_items(const Value& value, const Schema& schema, const Frame& at) {
    const Value::Array& items = *value.as_array();
    if (schema.items == nullptr) return;
    for (size_t i = 0; i < items.size(); ++i)
      check(items[i], *schema.items, {.around = around(at), .up = &at, .step = Frame::Step::kItem, .index = i});
  }

  // ── texts with a grammar of their own ──

  void check_embedded(const Value& value, const Schema& schema, const Frame& at) {
    const bool yaml = schema.type == FieldType::kYaml;
    const std::string family = enter_family(schema);
    if (const std::string* text = value.as_string()) {
      const bool blank = text->find_first_not_of(" \t\r\n") == std::string::npos;
      const bool quotes = value.style == doc::Style::kDoubleQuoted || value.style == doc::Style::kJson;
      const bool outer = std::exchange(in_quotes_, in_quotes_ || quotes);
      if (!blank) check_inside(value, schema, at);
      in_quotes_ = outer;
    } else if (!(yaml && value.is_null())) {
      const std::string_view language = yaml ? "YAML" : "JSON";
      error(4, value.span,
            fmt::format("{} must be a text that holds {}, found {}", at.path(), language, kind_name(value.kind())))
          .with_fix(fmt::format("write '{}: |' and the {} below it, indented", at.field(), language))
          .about_field(at.path());
    }
    family_ = family;
  }

  void check_inside(const Value& text, const Schema& schema, const Frame& at) {
    const std::string path = schema.path.empty() ? at.path() : schema.path;
    const auto frame = [&] { return Frame{.key = at.field(), .name = path}; };
    if (schema.type == FieldType::kYaml) {
      const auto parse = [&](doc::Diagnostics& found) { return doc::parse_embedded_yaml(text, found); };
      if (const auto value = with_findings_of(parse); value && !value->is_null()) check(*value, *schema.items, frame());
    } else if (schema.type == FieldType::kJson) {
      const auto parse = [&](doc::Diagnostics& found) { return doc::parse_embedded_json(text, found); };
      if (const auto value = with_findings_of(parse)) check(*value, *schema.items, frame());
    } else if (const auto list = with_findings_of(
                   [&](doc::Diagnostics& found) { return doc::parse_embedded_json_list(text, found); })) {
      for (const Value& item : *list->as_array()) check(item, *schema.items, frame());
    }
  }

  // ── objects ──

  void check_object(const Value& value, const Schema& schema, const Frame& at) {
    if (!schema.when.empty() && schema.then != nullptr && value.find(schema.when) != nullptr)
      return check_object(value, *schema.then, at);
    const std::string family = enter_family(schema);
    Frame frame = at;
    frame.schema = &schema;
    frame.json = value.style == doc::Style::kJson;
    if (!schema.path.empty()) frame.name = schema.path;
    if (!value.is_object())
      wrong_type(value, frame, "an object (keys with values)");
    else if (!schema.by.empty())
      check_variant(value, schema, frame);
    else if (!schema.fields.empty() || schema.items != nullptr)
      check_fields(value, schema, frame);
    family_ = family;
  }

  void check_variant(const Value& value, const Schema& schema, Frame& frame) {
    const Value::Object& members = *value.as_object();
    if (schema.may_be_empty && members.empty()) return;
    const Value* by = value.find(schema.by);
    const std::string* type = by ? by->as_string() : nullptr;
    if (by != nullptr && by->is_null()) by = nullptr;
    const auto found = type ? schema.variants.find(*type) : schema.variants.end();
    if (found != schema.variants.end()) {
      frame.schema = found->second;
      variants_ = &schema;
      check_fields(value, *found->second, frame);
      variants_ = nullptr;
      return;
    }
    if (!schema.when.empty() && value.find(schema.by) == nullptr && nearly(value, schema.by, schema) == nullptr) {
      error(6, value.span, fmt::format("{} has neither \"{}\" nor \"{}\"", name_of(frame), schema.when, schema.by));
      return;
    }
    if (by == nullptr) return check_required(value, {schema.by}, schema, frame, none_);
    if (type == nullptr) return check(*by, *schema.fields.at(schema.by), below(frame, schema.by));
    if (std::ranges::find(schema.others, *type) != schema.others.end()) return check_common(value, schema, frame);
    if (type->find('/') != std::string::npos) {
      error(5, by->span, fmt::format("{}: the type of a {} has no '/'", name_of(frame), schema.what))
          .about_field(below(frame, schema.by).path());
      return;
    }
    std::vector<std::string_view> known(schema.others.begin(), schema.others.end());
    for (const auto& [name, variant] : schema.variants) known.push_back(name);
    const std::string meant = doc::nearest(*type, known);
    auto& reported =
        warning(1, by->span, fmt::format("{} \"{}\" is unknown; its fields are not checked", schema.what, *type))
            .about_field(below(frame, schema.by).path())
            .that_says(doc::Says::kUnknownType);
    // Third-party plugins are no mistake; a name that is nearly a known one is. Short names are near by chance.
    constexpr size_t kLongEnough = 5;
    if (meant.empty())
      reported.for_one_machine();
    else
      reported.with_fix(fmt::format("did you mean \"{}\"?", meant));
    reported.fails_where_applied = meant.size() >= kLongEnough && is_one_slip(*type, meant);
    check_common(value, schema, frame);
  }

  // Of a type whose own fields are not known: the fields that all types have. One of them with a shape of its own (an
  // ipam that names no type) is left to its plugin.
  void check_common(const Value& value, const Schema& schema, const Frame& frame) {
    for (const Value::Member& member : *value.as_object()) {
      const auto field = schema.fields.find(member.key);
      if (field == schema.fields.end() || member.key == schema.by || member.value.is_null()) continue;
      const std::string& by = field->second->by;
      if (!by.empty() && member.value.find(by) == nullptr) continue;
      check(member.value, *field->second, below(frame, member.key));
    }
  }

  void check_fields(const Value& value, const Schema& schema, const Frame& frame) {
    const Schema* variants = std::exchange(variants_, nullptr);
    std::vector<const Value::Member*> reported;
    check_required(value, schema.required, schema, frame, reported);
    check_required(value, schema.required_in_some, schema, frame, reported, Need::kInSomeVersions);
    check_groups(value, schema, frame, variants, reported);
    for (const Value::Member& member : *value.as_object()) {
      if (is_full()) return;
      const auto field = schema.fields.find(member.key);
      if (field != schema.fields.end() && frame.is_object_itself() && member.key == "status") {
        check_status(member.value, *field->second, below(frame, member.key));
      } else if (field != schema.fields.end()) {
        if (!member.value.is_null()) check(member.value, *field->second, below(frame, member.key));
      } else if (schema.items != nullptr) {
        check_member(member, *schema.items, frame);
      } else if (std::ranges::find(reported, &member) == reported.end()) {
        unknown(member, value, frame, variants);
      }
    }
  }

  // Servers and programs write it: what is wrong in it is no mistake of the object's author.
  void check_status(const Value& value, const Schema& schema, const Frame& at) {
    if (!options_.status || value.is_null()) return;
    const bool before = is_right_;
    check(value, schema, at);
    is_right_ = before;
  }

  // Whether an object may lack the fields that others of its kind need.
  static bool needs_nothing(const Value& value, const Schema& schema) {
    if (schema.may_be_empty && value.as_object()->empty()) return true;
    if (!schema.unless.empty() && value.find(schema.unless) != nullptr) return true;
    return value.find(kLeftOut) != nullptr;
  }

  enum class Need : uint8_t { kInAllVersions, kInSomeVersions };

  // Which version of the definition a cluster has is not known.
  doc::Diagnostic& report_missing(const Value& value, const std::string& name, Need need) {
    if (need == Need::kInAllVersions) return error(6, value.span, fmt::format("{} is missing", name));
    return warning(6, value.span,
                   fmt::format("{} is missing: some versions of the definition refuse the object without it", name));
  }

  void check_required(const Value& value, const std::vector<std::string>& required, const Schema& schema,
                      const Frame& frame, std::vector<const Value::Member*>& reported,
                      Need need = Need::kInAllVersions) {
    if (needs_nothing(value, schema)) return;
    for (const std::string& key : required) {
      const Value* there = value.find(key);
      if (there != nullptr && !there->is_null()) continue;
      const std::string name = below(frame, key).path();
      if (there != nullptr)
        error(6, there->span, fmt::format("{} is empty", name))
            .with_fix(fmt::format("indent what belongs to it below '{}:'", key))
            .that_says(doc::Says::kEmptyField)
            .about_field(name);
      else if (const Value::Member* misspelt = nearly(value, key, schema))
        misspelt_required(*misspelt, key, name, reported);
      else
        report_missing(value, name, need).about_field(name);
    }
  }

  // One field of each group is required. The finding also names what was written instead: a field with a similar name,
  // or the one that another type needs.
  void check_groups(const Value& value, const Schema& schema, const Frame& frame, const Schema* variants,
                    std::vector<const Value::Member*>& reported) {
    for (const std::vector<std::string>& group : schema.one_of) {
      const auto there = [&](const std::string& key) {
        const Value* field = value.find(key);
        return field != nullptr && !field->is_null();
      };
      if (std::ranges::any_of(group, there)) continue;
      const std::vector<std::string_view> names(group.begin(), group.end());
      const std::string needs = fmt::format("{} needs {}", name_of(frame), doc::alternatives(names));
      const Value::Member* instead = nullptr;
      std::string meant;
      for (const Value::Member& member : *value.as_object()) {
        if (instead != nullptr || schema.fields.contains(member.key)) continue;
        meant = doc::nearest(member.key, names);
        if (!meant.empty() || is_needed_elsewhere(member.key, variants)) instead = &member;
      }
      if (instead == nullptr) {
        error(6, value.span, needs);
        continue;
      }
      reported.push_back(instead);
      auto& finding = error(6, instead->key_span, fmt::format("{}; '{}' is not a field here", needs, instead->key))
                          .that_says(doc::Says::kMisspeltField);
      if (meant.empty()) continue;
      finding.with_fix(fmt::format("did you mean '{}'?", meant));
      rename_key(finding, *instead, meant);
    }
  }
  static bool is_needed_elsewhere(const std::string& key, const Schema* variants) {
    if (variants == nullptr) return false;
    const auto needs = [&](const auto& variant) {
      return std::ranges::any_of(variant.second->one_of, [&](const std::vector<std::string>& group) {
        return std::ranges::find(group, key) != group.end();
      });
    };
    return std::ranges::any_of(variants->variants, needs);
  }

  static const Value::Member* nearly(const Value& value, std::string_view key, const Schema& schema) {
    for (const Value::Member& member : *value.as_object())
      if (!schema.fields.contains(member.key) && !doc::nearest(member.key, {key}).empty()) return &member;
    return nullptr;
  }

  void misspelt_required(const Value::Member& member, const std::string& key, const std::string& name,
                         std::vector<const Value::Member*>& reported) {
    reported.push_back(&member);
    auto& finding = error(6, member.key_span, fmt::format("{} is missing; '{}' is not a field", name, member.key));
    finding.with_fix(fmt::format("did you mean '{}'?", key)).that_says(doc::Says::kMisspeltField).about_field(name);
    rename_key(finding, member, key);
  }

  // `template: {spec: {containers: …}}` where the template is the pod's spec. Nothing is below `spec` in a page that
  // lost its indentation; there it is known from the field of that name that leads here.
  static bool is_a_level_too_much(const Value::Member& member, const Frame& frame) {
    if (frame.field().empty()) return false;
    if (member.value.is_null())
      for (const Frame* around = frame.around; around != nullptr; around = around->around)
        if (around->schema != nullptr && child_below(*around, frame) == member.key) return true;
    const Value::Object* inner = member.value.as_object();
    return inner != nullptr && !inner->empty() &&
           std::ranges::all_of(*inner, [&](const auto& one) { return frame.schema->fields.contains(one.key); });
  }

  // The type of a plugin; empty where it says none.
  static std::string_view text_of_type(const Value& value) {
    const Value* type = value.find("type");
    const std::string* text = type == nullptr ? nullptr : type->as_string();
    return text == nullptr ? std::string_view() : std::string_view(*text);
  }

  void inside_itself(const Value::Member& member, const Frame& frame) {
    warning(3, member.key_span,
            fmt::format("'{}' is inside itself: {} contains the fields directly", member.key, name_of(frame)))
        .with_fix(fmt::format("remove the inner '{}:' and indent its content one level less", member.key))
        .about_field(below(frame, member.key).path());
  }

  void unknown(const Value::Member& member, const Value& value, const Frame& frame, const Schema* variants) {
    if (member.key == kLeftOut) return;
    std::vector<std::string_view> known;
    for (const auto& [name, field] : frame.schema->fields) known.push_back(name);
    std::string meant = doc::nearest(member.key, known);
    if (is_a_level_too_much(member, frame)) {
      const std::string name = name_of(frame);
      if (member.key == frame.field()) return inside_itself(member, frame);
      warning(3, member.key_span,
              fmt::format("'{}' is one level too many: {} contains the fields directly", member.key, name))
          .with_fix(fmt::format("remove '{}:' and put its content directly below '{}:'", member.key, frame.field()))
          .about_field(below(frame, member.key).path());
      return;
    }
    if (const auto home = home_of(member.key, frame, variants, meant.empty())) {
      auto& reported =
          warning(3, member.key_span, fmt::format("'{}' {}; it has no effect here", member.key, home->sentence))
              .with_fix(home->fix)
              .about_field(below(frame, member.key).path());
      // No ipam type has a field of what is around it.
      const bool copied = is_often_copied(text_of_type(value), member.key);
      reported.fails_where_applied = !copied && (home->nowhere_else || family_ == kOfAddresses);
      return;
    }
    auto& reported = warning(2, member.key_span,
                             fmt::format("'{}' is not a field of {}; it has no effect", member.key, name_of(frame)))
                         .about_field(below(frame, member.key).path());
    if (meant.empty()) meant = long_form_of(member.key, known);
    if (meant.empty()) return;
    reported.with_fix(fmt::format("did you mean '{}'?", meant));
    std::erase(known, std::string_view(meant));
    const bool only_one = doc::nearest(member.key, known).empty();
    if (!only_one || value.as_object()->size() >= kMaxMembers || value.find(meant) != nullptr) return;
    reported.that_fails_where_applied();
    rename_key(reported, member, meant);
  }

  doc::Diagnostics& out_;
  const CheckOptions& options_;
  size_t limit_;
  bool is_right_ = true;  // nothing but the status has errors
  std::string family_ = kOfObjects;
  bool no_quotes_ = false;            // lines slipped in from elsewhere
  bool in_quotes_ = false;            // inside a double-quoted text, where another quote would end it
  const Schema* variants_ = nullptr;  // the group of the next object to check
  std::vector<const Value::Member*> none_;
};

}  // namespace

bool check_schema(const Value& value, const Schema& schema, const std::string& path, doc::Diagnostics& out,
                  const CheckOptions& options) {
  const size_t before = out.all().size();
  Checker checker(out, options);
  checker.check(value, schema, {.key = path, .name = path});
  if (!checker.is_full()) return checker.is_right();
  // Repairing so many mistakes round by round would take too long.
  for (size_t i = before; i < out.all().size(); ++i) out.mutable_all()[i].edits.clear();
  out.note("RB-API-013", value.span,
           fmt::format("first {} errors of this object shown; there may be more", kMaxMistakes));
  return checker.is_right();
}

}  // namespace railbed::schema

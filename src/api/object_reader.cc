// SPDX-License-Identifier: Apache-2.0
#include "api/object_reader.h"

#include <algorithm>
#include <charconv>

namespace railbed::api {

using doc::Kind;
using doc::kind_name;
using doc::Value;

namespace {
// What a value is, for "found …": short texts and numbers are shown.
std::string described(const Value& value) {
  const std::string_view written = value.written();
  const bool scalar = value.kind() >= Kind::kBool && value.kind() <= Kind::kString;
  if (!scalar || written.empty() || written.size() > 40) return std::string(kind_name(value.kind()));
  return fmt::format("{} {}", kind_name(value.kind()), written);
}
}  // namespace

doc::Says said_by(int number) {
  switch (number) {
    case 2:
      return doc::Says::kUnknownField;
    case 3:
      return doc::Says::kMisplacedField;
    case 4:
      return doc::Says::kWrongType;
    case 6:
      return doc::Says::kMissingField;
    default:
      return doc::Says::kOther;
  }
}

std::string alternatives(const std::vector<std::string_view>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += fmt::format("\"{}\"", names[i]);
  }
  return out;
}

ObjectReader::ObjectReader(const Value& object, std::string path, std::string family, doc::Diagnostics& out)
    : object_(object), path_(std::move(path)), family_(std::move(family)), out_(out) {
  if (!object.is_object()) wrong_type(object, path_.empty() ? "the document" : path_, "an object (keys with values)");
}

std::string ObjectReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::string ObjectReader::line(std::string_view key, std::string_view value) const {
  const bool json = object_.style == doc::Style::kJson;
  return json ? fmt::format("\"{}\": {}", key, value) : fmt::format("{}: {}", key, value);
}

void ObjectReader::require_one_of(const std::vector<std::string_view>& keys,
                                  const std::vector<std::string_view>& foreign, std::string message) {
  const Value::Object* members = object_.as_object();
  if (members == nullptr) return;
  for (const Value::Member& member : *members) {
    const std::string meant = doc::nearest(member.key, keys);
    const bool is_foreign = std::ranges::find(foreign, member.key) != foreign.end();
    if (meant.empty() && !is_foreign) continue;
    error(6, member.key_span, fmt::format("{}; '{}' is not a field here", message, member.key))
        .with_fix(meant.empty() ? "" : fmt::format("did you mean '{}'?", meant))
        .that_says(doc::Says::kMisspeltField);
    known_.push_back(member.key);
    return;
  }
  error(6, object_.span, std::move(message));
}

doc::Diagnostic& ObjectReader::typed(int number, doc::Diagnostic& told) const {
  return told.of(family_ == "RB-API" ? doc::Layer::kObject : doc::Layer::kEmbedded).that_says(said_by(number));
}

doc::Diagnostic& ObjectReader::error(int number, doc::Span span, std::string message) {
  return typed(number, out_.error(fmt::format("{}-{:03}", family_, number), std::move(span), std::move(message)));
}

doc::Diagnostic& ObjectReader::warning(int number, doc::Span span, std::string message) {
  return typed(number, out_.warning(fmt::format("{}-{:03}", family_, number), std::move(span), std::move(message)));
}

void ObjectReader::wrong_type(const Value& value, const std::string& name, std::string_view expected, std::string fix) {
  error(4, value.span, fmt::format("{} must be {}, found {}", name, expected, described(value)))
      .with_fix(std::move(fix))
      .about_field(name);
}

const Value* ObjectReader::take(std::string_view key) {
  known_.push_back(key);
  const Value* value = object_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void ObjectReader::ignore(std::initializer_list<std::string_view> keys) {
  known_.insert(known_.end(), keys);
}

void ObjectReader::require(std::string_view key) {
  const Value::Object* members = object_.as_object();
  if (members == nullptr) return;
  const Value* value = object_.find(key);
  if (value != nullptr && !value->is_null()) return;
  if (value == nullptr)
    for (const Value::Member& member : *members) {
      if (doc::nearest(member.key, {key}).empty()) continue;
      error(6, member.key_span, fmt::format("{} is missing; '{}' is not a field", path_of(key), member.key))
          .with_fix(fmt::format("did you mean '{}'?", key))
          .that_says(doc::Says::kMisspeltField)
          .about_field(path_of(key));
      known_.push_back(member.key);
      return;
    }
  if (value == nullptr)
    error(6, object_.span, fmt::format("{} is missing", path_of(key))).about_field(path_of(key));
  else
    error(6, value->span, fmt::format("{} is empty", path_of(key)))
        .with_fix(fmt::format("indent what belongs to it below '{}:'", key))
        .that_says(doc::Says::kEmptyField)
        .about_field(path_of(key));
}

Field<std::string> ObjectReader::text_of(const Value& value, const std::string& name) {
  if (const std::string* text = value.as_string()) return {.value = *text, .present = true, .span = value.span};
  const bool scalar = value.kind() == Kind::kBool || value.kind() == Kind::kInt || value.kind() == Kind::kDouble;
  const std::string_view written = value.written();
  wrong_type(value, name, "a string",
             scalar && !written.empty() ? fmt::format("put it in quotes: \"{}\"", written) : "");
  return {.span = value.span};
}

Field<std::string> ObjectReader::text(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) return {.span = object_.span};
  return text_of(*value, path_of(key));
}

Field<int> ObjectReader::integer(std::string_view key, int min, int max, int otherwise) {
  Field<int> field{.value = otherwise, .span = object_.span};
  const Value* value = take(key);
  if (value == nullptr) return field;
  field.present = true;
  field.span = value->span;
  const int64_t* number = value->as_int();
  if (number == nullptr) {
    const std::string* text = value->as_string();
    const bool digits =
        text && !text->empty() && std::ranges::all_of(*text, [](unsigned char c) { return std::isdigit(c); });
    wrong_type(*value, path_of(key), "an integer", digits ? "write it without quotes: " + line(key, *text) : "");
  } else if (*number < min || *number > max) {
    const std::string allowed = max == INT32_MAX ? fmt::format("at least {}", min) : fmt::format("{} to {}", min, max);
    error(5, value->span, fmt::format("{} must be {}, found {}", path_of(key), allowed, *number))
        .about_field(path_of(key));
  } else {
    field.value = static_cast<int>(*number);
  }
  return field;
}

Field<bool> ObjectReader::boolean(std::string_view key, bool otherwise) {
  Field<bool> field{.value = otherwise, .span = object_.span};
  const Value* value = take(key);
  if (value == nullptr) return field;
  field.present = true;
  field.span = value->span;
  if (const bool* flag = value->as_bool()) {
    field.value = *flag;
  } else {
    const std::string* text = value->as_string();
    const bool quoted = text && (*text == "true" || *text == "false");
    wrong_type(*value, path_of(key), "true or false", quoted ? "write it without quotes: " + line(key, *text) : "");
  }
  return field;
}

Field<std::string> ObjectReader::choice(std::string_view key, std::span<const std::string_view> choices) {
  const std::vector<std::string_view> allowed(choices.begin(), choices.end());
  const Value* value = take(key);
  if (value == nullptr) return {.span = object_.span};
  Field<std::string> field = text_of(*value, path_of(key));
  if (!value->is_string() || std::ranges::find(allowed, field.value) != allowed.end()) return field;
  const std::string meant = doc::nearest(field.value, allowed);
  const bool json = object_.style == doc::Style::kJson;
  error(5, value->span, fmt::format("{} must be {}, found \"{}\"", path_of(key), alternatives(allowed), field.value))
      .with_fix(meant.empty() ? "" : line(key, json ? fmt::format("\"{}\"", meant) : meant))
      .about_field(path_of(key));
  field.value.clear();
  return field;
}

const Value* ObjectReader::object(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr || value->is_object()) return value;
  wrong_type(*value, path_of(key), "an object (keys with values)");
  return nullptr;
}

const Value::Array* ObjectReader::list(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array())
    wrong_type(*value, path_of(key), "a list",
               value->written().empty() ? "" : line(key, fmt::format("[{}]", value->written())));
  return value->as_array();
}

void ObjectReader::finish(const std::vector<Elsewhere>& elsewhere) {
  const Value::Object* members = object_.as_object();
  if (members == nullptr) return;
  for (const Value::Member& member : *members) {
    if (std::ranges::find(known_, member.key) != known_.end()) continue;
    const auto misplaced = std::ranges::find(elsewhere, std::string_view(member.key), &Elsewhere::key);
    if (misplaced != elsewhere.end()) {
      warning(3, member.key_span, fmt::format("'{}' {}; it has no effect here", member.key, misplaced->where))
          .with_fix(std::string(misplaced->fix))
          .about_field(path_of(member.key));
      continue;
    }
    const std::string meant = doc::nearest(member.key, known_);
    const std::string where = path_.empty() ? "this object" : path_;
    auto& told =
        warning(2, member.key_span, fmt::format("'{}' is not a field of {}; it has no effect", member.key, where))
            .about_field(path_of(member.key));
    if (!meant.empty()) told.with_fix(fmt::format("did you mean '{}'?", meant));
  }
}

}  // namespace railbed::api

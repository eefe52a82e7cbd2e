// SPDX-License-Identifier: Apache-2.0
#include "doc/fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>

#include "base/text.h"
#include "doc/json.h"

namespace railbed::doc {

std::string described(const Value& value) {
  const std::string_view written = value.written();
  const bool scalar = value.kind() >= Kind::kBool && value.kind() <= Kind::kString;
  if (!scalar || written.empty() || written.size() > 40) return std::string(kind_name(value.kind()));
  return fmt::format("{} {}", kind_name(value.kind()), written);
}

std::string alternatives(const std::vector<std::string_view>& names) {
  std::vector<std::string> quoted;
  for (const std::string_view name : names) quoted.push_back(fmt::format("\"{}\"", name));
  return listed(quoted, "or");
}

Fields::Fields(const Value& object, std::string path, Family family, Diagnostics& out)
    : object_(object), path_(std::move(path)), family_(family), out_(out) {
  expect_object();
}

Fields::Fields(const Fields& outer, std::string_view key, const Value& object, int index)
    : object_(object), outer_(&outer), key_(key), index_(index), family_(outer.family_), out_(outer.out_) {
  expect_object();
}

void Fields::expect_object() {
  const Value::Object* members = object_.as_object();
  // Recordings have ten thousands of objects, and no caller finishes their readers.
  if (members != nullptr && family_.name.empty()) return;
  if (members != nullptr) return known_.reserve(std::min<size_t>(members->size() + 4, 16));
  const std::string name = path_of({});
  wrong_kind(object_, name.empty() ? "the document" : name, "an object (keys with values)");
}

std::string Fields::path_of(std::string_view key) const {
  std::string path = outer_ == nullptr ? path_ : outer_->name_of({key_, index_});
  if (path.empty()) return std::string(key);
  if (!key.empty()) path.append(".").append(key);
  return path;
}

std::string Fields::name_of(Place place) const {
  std::string path = path_of(place.key);
  if (place.index >= 0) path += fmt::format("[{}]", place.index);
  return path;
}

std::string Fields::line(std::string_view key, std::string_view value) const {
  const bool json = object_.style == Style::kJson;
  return json ? fmt::format("\"{}\": {}", key, value) : fmt::format("{}: {}", key, value);
}

void Fields::require_one_of(const std::vector<std::string_view>& keys, const std::vector<std::string_view>& foreign,
                            std::string message) {
  const Value::Object* members = object_.as_object();
  if (members == nullptr || family_.compared) return;
  for (const Value::Member& member : *members) {
    const std::string meant = nearest(member.key, keys);
    const bool is_foreign = std::ranges::find(foreign, member.key) != foreign.end();
    if (meant.empty() && !is_foreign) continue;
    error(family_.missing, member.key_span, fmt::format("{}; '{}' is not a field here", message, member.key))
        .with_fix(meant.empty() ? "" : fmt::format("did you mean '{}'?", meant))
        .that_says(Says::kMisspeltField);
    known_.push_back(member.key);
    return;
  }
  error(family_.missing, object_.span, std::move(message));
}

Diagnostic& Fields::error(int number, Span span, std::string message) const {
  return out_.error(fmt::format("{}-{:03}", family_.name, number), std::move(span), std::move(message))
      .of(family_.layer)
      .that_says(said_by(family_, number));
}

Diagnostic& Fields::complain(int number, const Span& span, std::string message) const {
  return family_.compared ? unheard_.error({}, span, std::move(message)) : error(number, span, std::move(message));
}

Diagnostic& Fields::warning(int number, Span span, std::string message) const {
  return out_.warning(fmt::format("{}-{:03}", family_.name, number), std::move(span), std::move(message))
      .of(family_.layer)
      .that_says(said_by(family_, number));
}

Says said_by(const Family& family, int number) {
  // Families that have one number for several mistakes are about documents from whose findings no caller selects.
  if (family.kind == family.missing) return Says::kOther;
  if (number == family.unknown) return Says::kUnknownField;
  if (number == family.elsewhere) return Says::kMisplacedField;
  if (number == family.kind) return Says::kWrongType;
  return number == family.missing ? Says::kMissingField : Says::kOther;
}

Diagnostic& Fields::wrong(std::string_view key, std::string_view message) const {
  const Value* value = key.empty() ? nullptr : object_.find(key);
  const std::string path = path_of(key);
  return error(family_.value, value == nullptr ? object_.span : value->span,
               path.empty() ? std::string(message) : fmt::format("{}: {}", path, message));
}

Diagnostic& Fields::wrong_kind(const Value& value, const std::string& name, std::string_view expected) const {
  return complain(family_.kind, value.span, fmt::format("{} must be {}, found {}", name, expected, described(value)))
      .about_field(name);
}

const Value* Fields::take(std::string_view key) {
  if (!family_.name.empty()) known_.push_back(key);
  const Value::Object* members = object_.as_object();
  if (members == nullptr) return nullptr;
  size_t at = next_;
  if (at >= members->size() || (*members)[at].key != key)
    for (at = 0; at < members->size() && (*members)[at].key != key;) ++at;
  if (at == members->size()) return nullptr;
  next_ = at + 1;
  if (at < 64)
    asked_ |= uint64_t{1} << at;
  else if (family_.name.empty())
    known_.push_back(key);
  const Value& value = (*members)[at].value;
  return value.is_null() ? nullptr : &value;
}

bool Fields::has(std::string_view key) const {
  const Value* value = object_.find(key);
  return value != nullptr && !value->is_null();
}

void Fields::ignore(std::initializer_list<std::string_view> keys) {
  known_.insert(known_.end(), keys);
}

void Fields::require(std::string_view key) {
  const Value::Object* members = object_.as_object();
  if (members == nullptr || family_.compared) return;
  const Value* value = object_.find(key);
  if (value != nullptr && !value->is_null()) return;
  if (value == nullptr)
    for (const Value::Member& member : *members) {
      if (nearest(member.key, {key}).empty()) continue;
      error(family_.missing, member.key_span,
            fmt::format("{} is missing; '{}' is not a field", path_of(key), member.key))
          .with_fix(fmt::format("did you mean '{}'?", key))
          .that_says(Says::kMisspeltField)
          .about_field(path_of(key));
      known_.push_back(member.key);
      return;
    }
  if (value == nullptr)
    error(family_.missing, object_.span, fmt::format("{} is missing", path_of(key))).about_field(path_of(key));
  else
    error(family_.missing, value->span, fmt::format("{} is empty", path_of(key)))
        .with_fix(value->style == Style::kJson ? "" : fmt::format("indent what belongs to it below '{}:'", key))
        .that_says(Says::kEmptyField)
        .about_field(path_of(key));
}

Field<std::string> Fields::text_of(const Value& value, const std::string& name) const {
  if (const std::string* text = value.as_string()) return {.value = *text, .present = true, .span = value.span};
  const bool scalar = value.kind() == Kind::kBool || value.kind() == Kind::kInt || value.kind() == Kind::kDouble;
  const std::string_view written = value.written();
  wrong_kind(value, name, "a string")
      .with_fix(scalar && !written.empty() ? fmt::format("put it in quotes: \"{}\"", written) : "");
  return {.span = value.span};
}

Field<std::string> Fields::text(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) return {.span = object_.span};
  return text_of(*value, path_of(key));
}

Field<int> Fields::integer(std::string_view key, int min, int max, int otherwise) {
  Field<int> field{.value = otherwise, .span = object_.span};
  const Value* value = take(key);
  if (value == nullptr) return field;
  field.present = true;
  field.span = value->span;
  if (const auto number = integer_of(*value, {key}, min, max, INT32_MAX)) field.value = static_cast<int>(*number);
  return field;
}

Field<bool> Fields::boolean(std::string_view key, bool otherwise) {
  Field<bool> field{.value = otherwise, .span = object_.span};
  const Value* value = take(key);
  if (value == nullptr) return field;
  field.present = true;
  field.span = value->span;
  if (const bool* flag = flag_of(*value, {key})) field.value = *flag;
  return field;
}

Field<std::string> Fields::choice(std::string_view key, std::span<const std::string_view> allowed) {
  const Value* value = take(key);
  if (value == nullptr) return {.span = object_.span};
  const std::string* text = value->as_string();
  if (text == nullptr) {
    wrong_choice(*value, key, allowed);
    return {.span = value->span};
  }
  if (std::ranges::find(allowed, *text) != allowed.end()) return {.value = *text, .present = true, .span = value->span};
  not_allowed(*value, key, *text, {allowed.begin(), allowed.end()});
  return {.present = true, .span = value->span};
}

// Quotes do not make an unquoted `yes` right where "on" or "off" is expected, and only a person knows which was meant.
void Fields::wrong_choice(const Value& value, std::string_view key, std::span<const std::string_view> allowed) const {
  const bool scalar = value.kind() == Kind::kBool || value.kind() == Kind::kInt || value.kind() == Kind::kDouble;
  const std::string_view written = value.written();
  if (!scalar || written.empty() || std::ranges::find(allowed, written) != allowed.end()) {
    text_of(value, path_of(key));
    return;
  }
  std::string fix;
  for (const std::string_view one : allowed)
    fix += (fix.empty() ? "write " : " or ") + line(key, fmt::format("\"{}\"", one));
  wrong_kind(value, path_of(key), alternatives({allowed.begin(), allowed.end()}))
      .with_fix(allowed.size() > 4 ? "" : std::move(fix));
}

const Value* Fields::object(std::string_view key) {
  const Value* value = take(key);
  return value != nullptr && members_of(*value, {key}) != nullptr ? value : nullptr;
}

const Value::Array* Fields::list(std::string_view key) {
  const Value* value = take(key);
  return value != nullptr ? items_of(*value, {key}, Limits{}.entries) : nullptr;
}

std::optional<int64_t> Fields::integer_of(const Value& value, Place place, int64_t min, int64_t max,
                                          int64_t type_max) const {
  const int64_t* number = value.as_int();
  if (number == nullptr) {
    const std::string* text = value.as_string();
    const bool digits =
        text && !text->empty() && std::ranges::all_of(*text, [](unsigned char c) { return std::isdigit(c); });
    wrong_kind(value, name_of(place), "an integer")
        .with_fix(digits ? "write it without quotes: " + line(place.key, *text) : "");
    return std::nullopt;
  }
  if (*number >= min && *number <= max) return *number;
  const bool open = max == type_max && *number < min;
  const std::string allowed = open ? fmt::format("at least {}", min) : fmt::format("{} to {}", min, max);
  std::string message = fmt::format("{} must be {}, found {}", name_of(place), allowed, *number);
  // A schema whose bound is open knows nothing of the type here.
  const bool too_large = max == type_max && *number > max;
  auto& finding = too_large ? error(family_.value, value.span, std::move(message))
                            : complain(family_.value, value.span, std::move(message));
  finding.about_field(name_of(place));
  return std::nullopt;
}

std::optional<double> Fields::number_of(const Value& value, Place place, const Limits& limits) const {
  const int64_t* whole = value.as_int();
  const double* real = value.as_double_exact();
  if (whole == nullptr && real == nullptr) {
    wrong_kind(value, name_of(place), "a number");
    return std::nullopt;
  }
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  const bool bounded = limits.min != Limits{}.min || limits.max != Limits{}.max;
  if (!bounded || (number >= static_cast<double>(limits.min) && number <= static_cast<double>(limits.max)))
    return number;
  error(family_.value, value.span,
        fmt::format("{} must be {} to {}, found {}", name_of(place), limits.min, limits.max, number));
  return std::nullopt;
}

const bool* Fields::flag_of(const Value& value, Place place) const {
  if (const bool* flag = value.as_bool()) return flag;
  const std::string* text = value.as_string();
  const bool quoted = text && (*text == "true" || *text == "false");
  wrong_kind(value, name_of(place), "true or false")
      .with_fix(quoted ? "write it without quotes: " + line(place.key, *text) : "");
  return nullptr;
}

const std::string* Fields::short_text_of(const Value& value, Place place, size_t max_bytes) const {
  const std::string* text = value.as_string();
  if (text == nullptr) {
    text_of(value, name_of(place));
    return nullptr;
  }
  if (text->size() <= max_bytes) return text;
  error(family_.value, value.span,
        fmt::format("{} has {} bytes, at most {} are allowed", name_of(place), text->size(), max_bytes));
  return nullptr;
}

const Value::Array* Fields::items_of(const Value& value, Place place, size_t max_entries) const {
  const Value::Array* items = value.as_array();
  if (items == nullptr) {
    const std::string_view written = value.is_object() ? std::string_view() : value.written();
    wrong_kind(value, name_of(place), "a list")
        .with_fix(written.empty() ? "" : line(place.key, fmt::format("[{}]", written)));
  }
  if (items == nullptr || items->size() <= max_entries) return items;
  error(family_.value, value.span,
        fmt::format("{} has {} entries, at most {} are allowed", name_of(place), items->size(), max_entries));
  return nullptr;
}

const Value::Object* Fields::members_of(const Value& value, Place place) const {
  if (!value.is_object()) wrong_kind(value, name_of(place), "an object (keys with values)");
  return value.as_object();
}

std::optional<size_t> Fields::place_in(std::string_view key, std::span<const std::string_view> names) {
  const Value* value = take(key);
  const std::string* text = value != nullptr ? short_text_of(*value, {key}, Limits{}.bytes) : nullptr;
  if (text == nullptr || text->empty()) return std::nullopt;
  const auto place = std::ranges::find(names, *text);
  if (place != names.end()) return static_cast<size_t>(std::distance(names.begin(), place));
  not_allowed(*value, key, *text, {names.begin(), names.end()});
  return std::nullopt;
}

void Fields::not_allowed(const Value& value, std::string_view key, const std::string& text,
                         const std::vector<std::string_view>& allowed) const {
  const std::string meant = nearest(text, allowed);
  const bool json = object_.style == Style::kJson;
  complain(family_.value, value.span,
           fmt::format("{} must be {}, found \"{}\"", path_of(key), alternatives(allowed), text))
      .with_fix(meant.empty() ? "" : line(key, json ? fmt::format("\"{}\"", meant) : meant))
      .about_field(path_of(key));
}

void Fields::misspelt(const Value& value, Place place, const Error& error) const {
  this->error(family_.value, value.span, fmt::format("{}: {}", name_of(place), error.story())).with_fix(error.hint);
}

void Fields::hex(std::string_view key, std::optional<uint64_t>& member) {
  const Value* value = take(key);
  const std::string* text = value != nullptr ? short_text_of(*value, {key}, Limits{}.bytes) : nullptr;
  if (text == nullptr) return;
  uint64_t number = 0;
  const char* end = text->data() + text->size();
  if (text->starts_with("0x") && text->size() > 2 &&
      std::from_chars(text->data() + 2, end, number, 16) == std::from_chars_result{end, std::errc()})
    member = number;
  else
    error(family_.value, value->span,
          fmt::format("{} must be a hexadecimal number of 64 bits like \"0x7f12\", found \"{}\"", path_of(key),
                      text->substr(0, 40)));
}

void Fields::hex(std::string_view key, uint64_t& member) {
  std::optional<uint64_t> number;
  hex(key, number);
  member = number.value_or(member);
}

void Fields::finish(const std::vector<Elsewhere>& elsewhere) {
  const Value::Object* members = object_.as_object();
  if (members == nullptr || family_.compared || static_cast<size_t>(std::popcount(asked_)) == members->size()) return;
  for (size_t at = 0; at < members->size(); ++at) {
    const Value::Member& member = (*members)[at];
    if (at < 64 && (asked_ >> at & 1) != 0) continue;  // without a family only these bits know it
    if (std::ranges::find(known_, member.key) != known_.end()) continue;
    const auto misplaced = std::ranges::find(elsewhere, std::string_view(member.key), &Elsewhere::key);
    if (misplaced != elsewhere.end()) {
      warning(family_.elsewhere, member.key_span,
              fmt::format("'{}' {}; it has no effect here", member.key, misplaced->where))
          .with_fix(std::string(misplaced->fix))
          .about_field(path_of(member.key));
      continue;
    }
    const std::string meant = nearest(member.key, known_);
    const std::string where = path_of({});
    auto& finding = warning(family_.unknown, member.key_span,
                            fmt::format("'{}' is not a field of {}; it has no effect", member.key,
                                        where.empty() ? "this object" : where))
                        .about_field(path_of(member.key));
    if (meant.empty()) continue;
    finding.with_fix(fmt::format("did you mean '{}'?", meant));
    if (!has(meant)) finding.that_fails_where_applied();
  }
}

Result<void> first_error(const Diagnostics& found) {
  const auto first = std::ranges::find(found.all(), Severity::kError, &Diagnostic::severity);
  if (first == found.all().end()) return {};
  const Span& span = first->span;
  const bool placed = span.known() && !span.source->name.empty();
  return fail(Error{.code = Code::kInvalid,
                    .message = placed ? fmt::format("{}: {}", span.to_string(), first->message) : first->message,
                    .hint = first->fix});
}

Result<Value> read_object(std::string name, std::string_view text) {
  Diagnostics found;
  const auto source = std::make_shared<const Source>(Source{std::move(name), std::string(text)});
  std::optional<Value> value = parse_json(source, found);
  if (value.has_value() && value->is_object()) return std::move(*value);
  if (value.has_value()) Fields(*value, "", kNoFamily, found);
  return fail(std::move(first_error(found).error()));
}

}  // namespace railbed::doc

// SPDX-License-Identifier: Apache-2.0
// Reads the members of one object, field by field, and reports the remaining ones.
//
// Why: manifests, plugin configurations, recordings, node facts and messages of peers all need the same checks: does
// the field exist, is its type right, is the value allowed, and which fields are unknown. A reader is created for an
// object, asked for each field and, where unknown fields matter, finished; the message about a field that was never
// asked for names the probable intended one. Null counts as absent everywhere.
//
// There are two ways to read. take(), text(), integer(), … return a Field, a value with its location, for objects whose
// single fields are referred to later. read(), need(), each(), … fill the members of a struct and leave them unchanged
// if the document does not set them. Errors of both are collected; callers that need one Result use first_error().
//
// Ids of findings consist of a family and a number (see Family). Messages name the field by its path from the root
// ("ips[0].address"), which costs nothing until there is an error.
// Threading: values; an inner reader refers to the one around it.
// Failure: diagnostics; a field with an error keeps its default.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "doc/diagnostic.h"
#include "doc/field.h"
#include "doc/value.h"

namespace railbed::doc {

// How the findings about one kind of document are numbered. Most families have the numbers below; 0 is not reported,
// because first_error() is taken of such documents.
struct Family {
  std::string_view name;
  int unknown = 2;    // an unknown field
  int elsewhere = 3;  // a field that belongs elsewhere
  int kind = 4;       // a text where a number should be
  int value = 5;      // a value that is not allowed
  int missing = 6;
  Layer layer = Layer::kEmbedded;  // of the findings
  // The document was compared with its schema, which has reported types, bounds, choices, unknown and missing fields.
  // The reader is silent about them, and a field of a wrong type counts as absent.
  bool compared = false;

  constexpr Family(const char* family) : Family(std::string_view(family)) {}
  // RB-API is about the manifests themselves, the others about what stands in a field of one.
  constexpr Family(std::string_view family)
      : name(family), layer(family == "RB-API" ? Layer::kObject : Layer::kEmbedded) {}
  constexpr Family(std::string_view family, int number_of_unknown, int number_of_all_others)
      : name(family),
        unknown(number_of_unknown),
        elsewhere(number_of_unknown),
        kind(number_of_all_others),
        value(number_of_all_others),
        missing(number_of_all_others) {}

  constexpr Family after_schema() const {
    Family out = *this;
    out.compared = true;
    return out;
  }
};
// Documents whose complaints become one Error.
inline constexpr Family kNoFamily{""};

// What the finding with this number of a family says, beside its text.
Says said_by(const Family& family, int number);

// A field that people write in the wrong object, and the sentence that says where it belongs.
struct Elsewhere {
  std::string_view key;
  std::string_view where;  // "is a field of spec, not of spec.nicSelector"
  std::string_view fix;
};

// What a value may be, besides what its type can hold. Those of a list hold for its elements.
struct Limits {
  int64_t min = std::numeric_limits<int64_t>::min();  // of numbers
  int64_t max = std::numeric_limits<int64_t>::max();
  size_t bytes = std::numeric_limits<size_t>::max();    // of a text
  size_t entries = std::numeric_limits<size_t>::max();  // of a list
};

// A strong type with a text form: PciAddress, Guid, IpPrefix, …
template <typename T>
concept Spelled = requires(std::string_view text) {
  { T::parse(text) } -> std::same_as<Result<T>>;
};
// A strong type that is a number in the document.
template <typename T>
concept Wrapped = std::same_as<T, IfIndex> || std::same_as<T, VfIndex>;

class Fields {
 public:
  // `path` names the object in messages ("spec.nicSelector"); empty at the top. The object outlives this.
  Fields(const Value& object, std::string path, Family family, Diagnostics& out);
  // The object in `key` of `outer`, or the element `index` of the list there. `outer` outlives this.
  Fields(const Fields& outer, std::string_view key, const Value& object, int index = -1);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // --- a field with its place

  // The value of a field, which is known from now on; null where it is absent or null.
  const Value* take(std::string_view key);
  Field<std::string> text(std::string_view key);
  Field<int> integer(std::string_view key, int min, int max, int otherwise = 0);
  Field<bool> boolean(std::string_view key, bool otherwise = false);
  // One of `allowed`, as written.
  Field<std::string> choice(std::string_view key, std::span<const std::string_view> allowed);
  Field<std::string> choice(std::string_view key, std::initializer_list<std::string_view> allowed) {
    return choice(key, std::span(allowed.begin(), allowed.size()));
  }
  const Value* object(std::string_view key);
  const Value::Array* list(std::string_view key);
  Field<std::string> text_of(const Value& value, const std::string& name) const;

  // --- members of a struct

  // Booleans, numbers, texts, strong types; std::optional, std::vector and std::map<std::string, …> of them. An empty
  // text is no value of an optional strong type.
  template <typename T>
  void read(std::string_view key, T& member, const Limits& limits = {}) {
    if (const Value* value = take(key)) assign(*value, {key}, member, limits);
  }
  // The same, and a complaint where the field is absent.
  template <typename T>
  void need(std::string_view key, T& member, const Limits& limits = {}) {
    require(key);
    read(key, member, limits);
  }
  // An enumeration, by `names` in its order.
  template <typename T>
  void choose(std::string_view key, std::span<const std::string_view> names, T& member) {
    if (const std::optional<size_t> place = place_in(key, names)) member = static_cast<T>(*place);
  }
  template <typename T>
  void choose(std::string_view key, std::span<const std::string_view> names, std::optional<T>& member) {
    if (const std::optional<size_t> place = place_in(key, names)) member = static_cast<T>(*place);
  }
  // 64 bits as a text ("0x7f12"): many JSON readers lose the last bits of such a number.
  void hex(std::string_view key, uint64_t& member);
  void hex(std::string_view key, std::optional<uint64_t>& member);
  // visit(Fields&) with the object in `key`, if there is one.
  template <typename Visit>
  void inside(std::string_view key, const Visit& visit) {
    const Value* value = object(key);
    if (value == nullptr) return;
    Fields inner(*this, key, *value);
    visit(inner);
  }
  // visit(Fields&) with each object of the list in `key`.
  template <typename Visit>
  void each(std::string_view key, const Visit& visit, size_t max_entries = Limits{}.entries) {
    const Value* value = take(key);
    const Value::Array* items = value != nullptr ? items_of(*value, {key}, max_entries) : nullptr;
    if (items == nullptr) return;
    int index = 0;
    for (const Value& item : *items) {
      Fields inner(*this, key, item, index++);
      if (item.is_object()) visit(inner);
    }
  }
  // The same, with a new entry of `members` for each: visit(Fields&, T&).
  template <typename T, typename Visit>
  void each(std::string_view key, std::vector<T>& members, const Visit& visit, size_t max_entries = Limits{}.entries) {
    if (const Value* value = object_.find(key); value != nullptr && value->is_array())
      members.reserve(std::min(value->as_array()->size(), max_entries));
    each(key, [&](Fields& inner) { visit(inner, members.emplace_back()); }, max_entries);
  }

  // --- all fields

  bool has(std::string_view key) const;  // present and not null
  // Fields that are known and of no interest here.
  void ignore(std::initializer_list<std::string_view> keys);
  // An error when the field is absent; it shows a field with nearly that name, if there is one.
  void require(std::string_view key);
  // An error with this message: none of the fields `keys` is there. It stands at a field with nearly such a
  // name, or at one of `foreign`, if there is one; that field is reported with it and known from now on.
  void require_one_of(const std::vector<std::string_view>& keys, const std::vector<std::string_view>& foreign,
                      std::string message);
  Diagnostic& error(int number, Span span, std::string message) const;
  Diagnostic& warning(int number, Span span, std::string message) const;
  // A complaint about the value of `key` (about the whole object where it is empty), led by the path.
  Diagnostic& wrong(std::string_view key, std::string_view message) const;
  // "spec.numVfs"; the object's own path for an empty key.
  std::string path_of(std::string_view key) const;
  Span span() const { return object_.span; }
  // `key: value` in the language of the object, for a fix; `value` is the text as it is written there.
  std::string line(std::string_view key, std::string_view value) const;

  // Reports the fields that were not asked for.
  void finish(const std::vector<Elsewhere>& elsewhere = {});

 private:
  // A value within this object: the one in `key`, or the element `index` of the list there.
  struct Place {
    std::string_view key;
    int index = -1;
  };
  std::string name_of(Place place) const;

  void expect_object();
  // What a schema says, too: an error, unless it has said it.
  Diagnostic& complain(int number, const Span& span, std::string message) const;
  Diagnostic& wrong_kind(const Value& value, const std::string& name, std::string_view expected) const;
  // The integer, within the bounds; a complaint and nothing otherwise. `type_max` is what the type can hold.
  std::optional<int64_t> integer_of(const Value& value, Place place, int64_t min, int64_t max, int64_t type_max) const;
  std::optional<double> number_of(const Value& value, Place place, const Limits& limits) const;
  const bool* flag_of(const Value& value, Place place) const;
  const std::string* short_text_of(const Value& value, Place place, size_t max_bytes) const;
  const Value::Array* items_of(const Value& value, Place place, size_t max_entries) const;
  const Value::Object* members_of(const Value& value, Place place) const;
  std::optional<size_t> place_in(std::string_view key, std::span<const std::string_view> names);
  void wrong_choice(const Value& value, std::string_view key, std::span<const std::string_view> allowed) const;
  // `text` is none of `allowed`; the fix is the nearest one.
  void not_allowed(const Value& value, std::string_view key, const std::string& text,
                   const std::vector<std::string_view>& allowed) const;

  void assign(const Value& value, Place place, std::string& member, const Limits& limits) const {
    if (const std::string* text = short_text_of(value, place, limits.bytes)) member = *text;
  }
  void assign(const Value& value, Place place, bool& member, const Limits& /*limits*/) const {
    if (const bool* flag = flag_of(value, place)) member = *flag;
  }
  void assign(const Value& value, Place place, double& member, const Limits& limits) const {
    if (const std::optional<double> number = number_of(value, place, limits)) member = *number;
  }
  template <std::integral T>
  void assign(const Value& value, Place place, T& member, const Limits& limits) const {
    constexpr int64_t kMin = std::numeric_limits<T>::min();
    constexpr auto kMax = static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
    const std::optional<int64_t> number =
        integer_of(value, place, std::max(kMin, limits.min), std::min(kMax, limits.max), kMax);
    if (number) member = static_cast<T>(*number);
  }
  template <Wrapped T>
  void assign(const Value& value, Place place, T& member, const Limits& limits) const {
    assign(value, place, member.value, limits);
  }
  template <Spelled T>
  void assign(const Value& value, Place place, T& member, const Limits& limits) const {
    const std::string* text = short_text_of(value, place, limits.bytes);
    if (text == nullptr) return;
    Result<T> parsed = T::parse(*text);
    if (parsed)
      member = *parsed;
    else
      misspelt(value, place, parsed.error());
  }
  template <typename T>
  void assign(const Value& value, Place place, std::optional<T>& member, const Limits& limits) const {
    if constexpr (Spelled<T>)
      if (const std::string* text = value.as_string(); text != nullptr && text->empty()) return;
    T plain{};
    assign(value, place, plain, limits);
    member = std::move(plain);
  }
  template <typename T>
  void assign(const Value& value, Place place, std::vector<T>& member, const Limits& limits) const {
    const Value::Array* items = items_of(value, place, limits.entries);
    if (items == nullptr) return;
    member.clear();
    member.reserve(items->size());
    for (const Value& item : *items) {
      ++place.index;
      assign(item, place, member.emplace_back(), limits);
    }
  }
  template <typename T>
  void assign(const Value& value, Place place, std::map<std::string, T>& member, const Limits& limits) const {
    const Value::Object* members = members_of(value, place);
    if (members == nullptr) return;
    const Fields inner(*this, place.key, value, place.index);
    for (const Value::Member& each : *members) inner.assign(each.value, {each.key}, member[each.key], limits);
  }
  void misspelt(const Value& value, Place place, const Error& error) const;

  const Value& object_;
  const Fields* outer_ = nullptr;
  std::string path_;      // of a reader without an outer one
  std::string_view key_;  // in the outer one
  int index_ = -1;
  Family family_;
  Diagnostics& out_;
  std::vector<std::string_view> known_;
  uint64_t asked_ = 0;  // a bit for each of the first 64 members that was asked for
  size_t next_ = 0;     // where the next field probably is: documents have mostly the order in which they are read
  mutable Diagnostics unheard_;  // what the schema has reported
};

// The first complaint as one Error: "stdin:3:5: ips[0].address must be …", with its fix as the hint. The place is left
// out where the source has no name, as messages of a peer.
Result<void> first_error(const Diagnostics& found);

// JSON text that is one object; `name` stands for the text in messages. Failure: Invalid, with the place.
Result<Value> read_object(std::string name, std::string_view text);

// "a, b or c", each in quotes.
std::string alternatives(const std::vector<std::string_view>& names);
// A value for "found …"; short texts and numbers appear literally.
std::string described(const Value& value);

}  // namespace railbed::doc

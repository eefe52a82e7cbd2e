// SPDX-License-Identifier: Apache-2.0
// One list of the members of a struct, by which its document is written and read.
//
// Why: a document that is written in one place and read in another has each key twice, and a member that one of them
// forgets is lost silently. A list is a function template, found by the struct's namespace:
//
//   template <typename Io, doc::Is<FoundVf> T>
//   void fields(Io& io, T& vf) {            // T is const when writing
//     io.some("mtu", vf.mtu);               // written where it is not 0
//     io.always("vfID", vf.index);          // always written
//     io.need("pciAddress", vf.address);    // always written; a complaint where a document lacks it
//   }
//   doc::Value value = doc::record_value(vf);
//   doc::read_record(from, vf);             // from: doc::Fields
//
// What has a spelling of its own asks Io::kWrites at compile time, and uses io.object() or io.from(). Members are
// written in the order of the list, which is read fastest in that order, too. A list that only one direction uses would
// only be another notation: that one is written without.
//
// A member is a flag, a number, a text, a strong type (Spelled, Wrapped), an enumeration with Words, a record with a
// list of its own, or a std::optional, std::vector or std::map<std::string, …> of them. uint64_t (and size_t) is a text
// ("0x7f12"): many JSON readers lose the last bits of such a number.
// Threading: values.
// Failure: of reading, as Fields.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "doc/fields.h"
#include "doc/value.h"

namespace railbed::doc {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

// The words of an enumeration, in its order: a specialization has them in `all`.
template <typename Enum>
struct Words;

template <typename T>
concept Worded = std::is_enum_v<T> && requires { Words<T>::all; };
// A struct with a list of its members: what is none of the others.
template <typename T>
concept Listed = std::is_class_v<T> && !Spelled<T> && !Wrapped<T> && !requires(T t) { t.size(); } &&
                 !requires(T t) { t.has_value(); };

class RecordWriter {
 public:
  static constexpr bool kWrites = true;
  explicit RecordWriter(Value& object) : object_(object) {}

  Value& object() { return object_; }

  template <typename T>
  void need(std::string_view key, const T& member, const Limits& /*limits*/ = {}) {
    object_.set(key, written(member));
  }
  template <typename T>
  void always(std::string_view key, const T& member, const Limits& /*limits*/ = {}) {
    object_.set(key, written(member));
  }
  // Where it says something: absent and 0, false or empty mean the same.
  template <typename T>
  void some(std::string_view key, const T& member, const Limits& /*limits*/ = {}) {
    if (says_something(member)) object_.set(key, written(member));
  }
  // By the type: numbers, flags, words and records always, others where they say something.
  template <typename T>
  void operator()(std::string_view key, const T& member, const Limits& limits = {}) {
    if constexpr (std::is_arithmetic_v<T>)
      always(key, member, limits);
    else
      some(key, member, limits);
  }
  // A list of structs whose list of members is not found by their namespace: visit(io, struct).
  template <typename T, typename Visit>
  void each(std::string_view key, const std::vector<T>& members, const Visit& visit, const Limits& /*limits*/ = {}) {
    if (members.empty()) return;
    Value& items = object_.set(key, Value::array());
    for (const T& one : members) {
      Value item = Value::object();
      RecordWriter inner(item);
      visit(inner, one);
      items.push(std::move(item));
    }
  }

 private:
  template <typename T>
  static bool says_something(const T& member) {
    if constexpr (std::is_arithmetic_v<T>)
      return member != T{};
    else if constexpr (requires { member.has_value(); })
      return member.has_value();
    else if constexpr (requires { member.size(); })
      return !member.empty();
    else
      return true;
  }

  static Value written(bool value) { return value; }
  static Value written(double value) { return value; }
  static Value written(uint64_t value) { return fmt::format("0x{:016x}", value); }
  template <std::signed_integral T>
  static Value written(T value) {
    return int64_t{value};
  }
  template <std::unsigned_integral T>
    requires(sizeof(T) < sizeof(uint64_t) && !std::same_as<T, bool>)
  static Value written(T value) {
    return int64_t{value};
  }
  static Value written(const std::string& value) { return value; }
  template <Worded T>
  static Value written(T value) {
    const auto place = static_cast<size_t>(value);
    RAILBED_CHECK(place < std::size(Words<T>::all));
    return Words<T>::all[place];
  }
  template <Wrapped T>
  static Value written(const T& value) {
    return value.value;
  }
  template <Spelled T>
  static Value written(const T& value) {
    return value.to_string();
  }
  template <Listed T>
  static Value written(const T& value) {
    Value object = Value::object();
    RecordWriter inner(object);
    fields(inner, value);
    return object;
  }
  template <typename T>
  static Value written(const std::optional<T>& value) {
    return value.has_value() ? written(*value) : Value();
  }
  template <typename T>
  static Value written(const std::vector<T>& value) {
    Value::Array items;
    items.reserve(value.size());
    for (const T& one : value) items.push_back(written(one));
    return items;
  }
  template <typename T>
  static Value written(const std::map<std::string, T>& value) {
    Value object = Value::object();
    for (const auto& [key, one] : value) object.set(key, written(one));
    return object;
  }

  Value& object_;
};

// Whether members that were not asked for are reported, in all objects of a record.
enum class UnknownMembers : bool { kPassedOver, kReported };

class RecordReader {
 public:
  static constexpr bool kWrites = false;
  explicit RecordReader(Fields& from, UnknownMembers unknown = UnknownMembers::kPassedOver)
      : from_(from), unknown_(unknown) {}

  Fields& from() { return from_; }

  template <typename T>
  void need(std::string_view key, T& member, const Limits& limits = {}) {
    from_.require(key);
    read(key, member, limits);
  }
  template <typename T>
  void always(std::string_view key, T& member, const Limits& limits = {}) {
    read(key, member, limits);
  }
  template <typename T>
  void some(std::string_view key, T& member, const Limits& limits = {}) {
    read(key, member, limits);
  }
  template <typename T>
  void operator()(std::string_view key, T& member, const Limits& limits = {}) {
    read(key, member, limits);
  }
  template <typename T, typename Visit>
  void each(std::string_view key, std::vector<T>& members, const Visit& visit, const Limits& limits = {}) {
    from_.each(
        key, members,
        [&](Fields& from, T& one) {
          RecordReader inner(from, unknown_);
          visit(inner, one);
        },
        limits.entries);
  }

  // All of the object.
  template <typename T>
  void read_all(T& into) {
    fields(*this, into);
    if (unknown_ == UnknownMembers::kReported) from_.finish();
  }

 private:
  template <typename T>
  void read(std::string_view key, T& member, const Limits& limits) {
    from_.read(key, member, limits);
  }
  void read(std::string_view key, uint64_t& member, const Limits& /*limits*/) { from_.hex(key, member); }
  void read(std::string_view key, std::optional<uint64_t>& member, const Limits& /*limits*/) { from_.hex(key, member); }
  template <Worded T>
  void read(std::string_view key, T& member, const Limits& /*limits*/) {
    from_.choose(key, Words<T>::all, member);
  }
  template <Worded T>
  void read(std::string_view key, std::optional<T>& member, const Limits& /*limits*/) {
    from_.choose(key, Words<T>::all, member);
  }
  template <Listed T>
  void read(std::string_view key, T& member, const Limits& /*limits*/) {
    from_.inside(key, [&](Fields& from) { RecordReader(from, unknown_).read_all(member); });
  }
  template <Listed T>
  void read(std::string_view key, std::optional<T>& member, const Limits& /*limits*/) {
    from_.inside(key, [&](Fields& from) { RecordReader(from, unknown_).read_all(member.emplace()); });
  }
  template <Listed T>
  void read(std::string_view key, std::vector<T>& member, const Limits& limits) {
    from_.each(key, member, [&](Fields& from, T& one) { RecordReader(from, unknown_).read_all(one); }, limits.entries);
  }

  Fields& from_;
  const UnknownMembers unknown_;
};

template <typename T>
Value record_value(const T& record) {
  Value object = Value::object();
  RecordWriter io(object);
  fields(io, record);
  return object;
}

template <typename T>
void read_record(Fields& from, T& into, UnknownMembers unknown = UnknownMembers::kPassedOver) {
  RecordReader(from, unknown).read_all(into);
}

}  // namespace railbed::doc

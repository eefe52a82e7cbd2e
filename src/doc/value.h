// SPDX-License-Identifier: Apache-2.0
// A document value with its source location.
//
// Why: railbed reports mistakes in manifests at file:line:column, also inside JSON that is embedded in a YAML string.
// No packaged library keeps source spans for both YAML and JSON, so railbed has its own type; the parsers behind it are
// libyaml's events (yaml.h) and railbed's JSON reader (json.h).
//
// Threading: plain values; the Source is shared and immutable.
// Failure: none here; see the parsers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace railbed::doc {

// One input text and the name under which messages show it ("policy.yaml", "<stdin>").
struct Source {
  std::string name;
  std::string text;
};
using SourcePtr = std::shared_ptr<const Source>;

// A piece of a source. Lines and columns count from 1, columns in bytes; line 0 means "nowhere".
struct Span {
  SourcePtr source;
  int line = 0;
  int column = 0;
  int length = 0;       // bytes on that line to underline; 0 or 1 for a point
  uint32_t offset = 0;  // bytes from the start of the text; 0 where only line and column are known

  bool known() const { return source != nullptr && line > 0; }
  std::string to_string() const;  // "policy.yaml:14:11", "policy.yaml" or "-"
};

enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };
std::string_view kind_name(Kind kind);  // "null", "a boolean", "an integer", … for messages

// How a scalar or an embedded text was written, which determines the places inside embedded JSON.
enum class Style : uint8_t { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral, kFolded, kJson };

class Value {
 public:
  struct Member;
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;  // in the order of the source; keys are unique

  Value();
  Value(bool v);
  Value(int v);
  Value(unsigned v);
  Value(int64_t v);
  Value(uint64_t v);  // becomes a double above 2^63-1
  Value(double v);
  Value(const char* v);
  Value(std::string v);
  Value(std::string_view v);
  Value(Array v);
  Value(Object v);
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  static Value array();
  static Value object();

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_object() const { return kind() == Kind::kObject; }
  bool is_array() const { return kind() == Kind::kArray; }

  // Null when the value has another kind; as_double_exact does not convert integers.
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const int64_t* as_int() const { return std::get_if<int64_t>(&data_); }
  const double* as_double_exact() const { return std::get_if<double>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const Array* as_array() const { return std::get_if<Array>(&data_); }
  const Object* as_object() const { return std::get_if<Object>(&data_); }
  Array* as_array() { return std::get_if<Array>(&data_); }
  Object* as_object() { return std::get_if<Object>(&data_); }

  // The member `key` of an object; null when it is absent or this is no object. Linear: objects are small.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  // Appends or replaces a member; this must be an object (a null value becomes one). Returns the stored value.
  Value& set(std::string_view key, Value value);
  // Appends to an array (a null value becomes one).
  Value& push(Value value);

  Span span;  // the place of the value; unknown for values that were not read from a source
  Style style = Style::kPlain;
  // The text as written in the source ("0x10", "\"15b3\""), up to the end of its line; empty without a source.
  std::string_view written() const;

  // Compares content only: spans and styles do not count, but the order of members does.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> data_;
};

struct Value::Member {
  std::string key;
  Span key_span;
  Value value;
  friend bool operator==(const Member& a, const Member& b) { return a.key == b.key && a.value == b.value; }
};

// Outside of the class, because Member must be complete before a Value can be constructed.
inline Value::Value() = default;
inline Value::Value(bool v) : data_(v) {}
inline Value::Value(int v) : data_(int64_t{v}) {}
inline Value::Value(unsigned v) : data_(int64_t{v}) {}
inline Value::Value(int64_t v) : data_(v) {}
inline Value::Value(double v) : data_(v) {}
inline Value::Value(const char* v) : data_(std::string(v)) {}
inline Value::Value(std::string v) : data_(std::move(v)) {}
inline Value::Value(std::string_view v) : data_(std::string(v)) {}
inline Value::Value(Array v) : data_(std::move(v)) {}
inline Value::Value(Object v) : data_(std::move(v)) {}
inline Value::Value(const Value&) = default;
inline Value::Value(Value&&) noexcept = default;
inline Value& Value::operator=(const Value&) = default;
inline Value& Value::operator=(Value&&) noexcept = default;
inline Value::~Value() = default;

inline bool operator==(const Value& a, const Value& b) {
  return a.data_ == b.data_;
}

}  // namespace railbed::doc

// SPDX-License-Identifier: Apache-2.0
#include "perf/json_writer.h"

#include <cmath>

#include "base/format.h"
#include "doc/scalar.h"
#include "doc/text.h"

namespace railbed::perf {

void JsonWriter::quoted(std::string_view value) {
  const std::optional<size_t> invalid = doc::first_invalid_utf8(value);
  out_ += doc::json_quoted(invalid ? doc::as_utf8(value) : value);
}

void JsonWriter::key(std::string_view field) {
  if (!levels_.empty()) {
    Level& level = levels_.back();
    if (!level.empty) out_ += level.on_one_line && pretty_ ? ", " : ",";
    level.empty = false;
    if (pretty_ && !level.on_one_line) out_ += '\n' + std::string(levels_.size() * 2, ' ');
  }
  if (field.empty()) return;
  quoted(field);
  out_ += pretty_ ? ": " : ":";
}

JsonWriter& JsonWriter::begin_object(std::string_view field) {
  key(field);
  out_ += '{';
  levels_.push_back({});
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (pretty_ && !level.empty) out_ += '\n' + std::string(levels_.size() * 2, ' ');
  out_ += '}';
  if (pretty_ && levels_.empty()) out_ += '\n';
  return *this;
}

JsonWriter& JsonWriter::begin_array(std::string_view field, Array array) {
  key(field);
  out_ += '[';
  levels_.push_back({.empty = true, .on_one_line = array == Array::kOnOneLine});
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (pretty_ && !level.empty && !level.on_one_line) out_ += '\n' + std::string(levels_.size() * 2, ' ');
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view field, std::string_view value) {
  key(field);
  quoted(value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::string_view field, int64_t value) {
  key(field);
  out_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::hex(std::string_view field, uint64_t value) {
  return text(field, fmt::format("0x{:x}", value));
}

JsonWriter& JsonWriter::number(std::string_view field, double value) {
  key(field);
  out_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
  return *this;
}

JsonWriter& JsonWriter::flag(std::string_view field, bool value) {
  key(field);
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::absent(std::string_view field) {
  key(field);
  out_ += "null";
  return *this;
}

}  // namespace railbed::perf

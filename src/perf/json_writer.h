// SPDX-License-Identifier: Apache-2.0
// Writes one JSON document sequentially, without holding it as a value.
//
// Why: results have columns of tens of thousands of numbers, and people read them: short lists are on one line.
// Threading: one owner.
// Failure: none.
// Spec: RFC 8259.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::perf {

// Text that is not UTF-8 becomes U+FFFD; numbers that are not finite
// become null. Numbers are the shortest that read back as the same double.
class JsonWriter {
 public:
  enum class Style : uint8_t { kCompact, kPretty };
  enum class Array : uint8_t { kItemPerLine, kOnOneLine };  // of a pretty text

  explicit JsonWriter(Style style = Style::kCompact) : pretty_(style == Style::kPretty) {}
  JsonWriter& begin_object(std::string_view field = {});
  JsonWriter& end_object();
  JsonWriter& begin_array(std::string_view field = {}, Array array = Array::kItemPerLine);
  JsonWriter& end_array();
  JsonWriter& text(std::string_view field, std::string_view value);
  JsonWriter& integer(std::string_view field, int64_t value);
  JsonWriter& hex(std::string_view field, uint64_t value);
  JsonWriter& number(std::string_view field, double value);
  JsonWriter& flag(std::string_view field, bool value);
  JsonWriter& absent(std::string_view field);  // null
  std::string take() { return std::move(out_); }

 private:
  void key(std::string_view field);
  void quoted(std::string_view value);

  struct Level {
    bool empty = true;
    bool on_one_line = false;
  };
  bool pretty_;
  std::string out_;
  std::vector<Level> levels_;
};

}  // namespace railbed::perf

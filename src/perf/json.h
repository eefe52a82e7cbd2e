// SPDX-License-Identifier: Apache-2.0
// JSON of the measuring engine: a writer, and a reader that checks every field it is asked for.
//
// Why: what comes over a control port or out of a file was written by somebody else. Each read names the field, its
// type and its bounds; a violation is an Error with the field's path and the value ("qps[3].qpn: 99999999 is outside
// 0..16777215"), never an exception and never a default. Unknown fields are left alone, so that a newer peer may say
// more. Threading: plain values. Failure: Code::kInvalid, as above. Spec: RFC 8259.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::perf {

// An object within a parsed document. Copies are cheap; the document lives as long as any of them.
class JsonObject {
 public:
  // The whole text must be one object of at most `max_bytes`.
  static Result<JsonObject> parse(std::string_view text, size_t max_bytes);

  bool has(std::string_view field) const;  // present and not null
  Result<std::string> text(std::string_view field, size_t max_bytes) const;
  Result<int64_t> integer(std::string_view field, int64_t min, int64_t max) const;
  Result<uint64_t> hex(std::string_view field) const;  // "0x7f12": 64 bits do not fit a JSON number everywhere
  Result<double> number(std::string_view field, double min, double max) const;
  Result<bool> flag(std::string_view field) const;
  Result<JsonObject> object(std::string_view field) const;
  Result<std::vector<JsonObject>> objects(std::string_view field, size_t max_count) const;
  Result<std::vector<int64_t>> integers(std::string_view field, size_t max_count, int64_t min, int64_t max) const;
  Result<std::vector<double>> numbers(std::string_view field, size_t max_count, double min, double max) const;
  Result<std::vector<std::string>> texts(std::string_view field, size_t max_count, size_t max_bytes) const;
  const std::string& path() const { return path_; }  // "" for the document

 private:
  JsonObject(std::shared_ptr<const void> document, const void* node, std::string path);
  std::string path_of(std::string_view field) const;

  std::shared_ptr<const void> document_;
  const void* node_;
  std::string path_;
};

// Writes one document, front to back. Text that is not UTF-8 becomes U+FFFD; numbers that are not finite
// become null. Numbers are the shortest that read back as the same double.
class JsonWriter {
 public:
  explicit JsonWriter(bool pretty = false) : pretty_(pretty) {}
  JsonWriter& begin_object(std::string_view field = {});
  JsonWriter& end_object();
  JsonWriter& begin_array(std::string_view field = {}, bool on_one_line = false);
  JsonWriter& end_array();
  JsonWriter& text(std::string_view field, std::string_view value);
  JsonWriter& integer(std::string_view field, int64_t value);
  JsonWriter& hex(std::string_view field, uint64_t value);
  JsonWriter& number(std::string_view field, double value);
  JsonWriter& flag(std::string_view field, bool value);
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

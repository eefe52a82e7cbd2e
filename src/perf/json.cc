// SPDX-License-Identifier: Apache-2.0
#include "perf/json.h"

#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

namespace railbed::perf {
namespace {

using Json = nlohmann::json;

const Json& as_json(const void* node) {
  return *static_cast<const Json*>(node);
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

template <typename T>
Result<T> within(const Json& value, const std::string& path, T min, T max) {
  if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_integer()) return fail(Code::kInvalid, "{}: {} is not an integer", path, shown(value));
    // An unsigned number above 2^63 would turn negative.
    const bool too_high = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    if (too_high || value.get<int64_t>() < min || value.get<int64_t>() > max)
      return fail(Code::kInvalid, "{}: {} is outside {}..{}", path, shown(value), min, max);
  } else {
    if (!value.is_number()) return fail(Code::kInvalid, "{}: {} is not a number", path, shown(value));
    if (!(value.get<double>() >= min && value.get<double>() <= max))
      return fail(Code::kInvalid, "{}: {} is outside {}..{}", path, shown(value), min, max);
  }
  return value.get<T>();
}

Result<std::string> text_of(const Json& value, const std::string& path, size_t max_bytes) {
  if (!value.is_string()) return fail(Code::kInvalid, "{}: {} is not a text", path, shown(value));
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > max_bytes)
    return fail(Code::kInvalid, "{}: {} bytes, at most {} are allowed", path, text.size(), max_bytes);
  return text;
}

Result<const Json*> find(const Json& object, std::string_view field, const std::string& path) {
  const auto it = object.find(field);
  if (it == object.end() || it->is_null()) return fail(Code::kInvalid, "{}: the field is missing", path);
  return &*it;
}

Result<const Json*> find_array(const Json& object, std::string_view field, const std::string& path, size_t max_count) {
  const Json* array = TRY(find(object, field, path));
  if (!array->is_array()) return fail(Code::kInvalid, "{}: {} is not an array", path, shown(*array));
  if (array->size() > max_count)
    return fail(Code::kInvalid, "{}: {} entries, at most {} are allowed", path, array->size(), max_count);
  return array;
}

}  // namespace

JsonObject::JsonObject(std::shared_ptr<const void> document, const void* node, std::string path)
    : document_(std::move(document)), node_(node), path_(std::move(path)) {}

Result<JsonObject> JsonObject::parse(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes)
    return fail(Code::kInvalid, "{} bytes of JSON, at most {} are allowed", text.size(), max_bytes);
  auto document = std::make_shared<Json>(Json::parse(text, nullptr, false));
  if (document->is_discarded()) return fail(Code::kInvalid, "this is not JSON");
  if (!document->is_object()) return fail(Code::kInvalid, "the JSON is not an object: {}", shown(*document));
  const void* node = document.get();
  return JsonObject(std::move(document), node, "");
}

std::string JsonObject::path_of(std::string_view field) const {
  return path_.empty() ? std::string(field) : fmt::format("{}.{}", path_, field);
}

bool JsonObject::has(std::string_view field) const {
  const auto it = as_json(node_).find(field);
  return it != as_json(node_).end() && !it->is_null();
}

Result<std::string> JsonObject::text(std::string_view field, size_t max_bytes) const {
  const std::string path = path_of(field);
  return text_of(*TRY(find(as_json(node_), field, path)), path, max_bytes);
}

Result<int64_t> JsonObject::integer(std::string_view field, int64_t min, int64_t max) const {
  const std::string path = path_of(field);
  return within<int64_t>(*TRY(find(as_json(node_), field, path)), path, min, max);
}

Result<uint64_t> JsonObject::hex(std::string_view field) const {
  const std::string text = TRY(this->text(field, 18));
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  if (!text.starts_with("0x") || text.size() < 3 || std::from_chars(text.data() + 2, end, value, 16).ptr != end)
    return fail(Code::kInvalid, "{}: \"{}\" is not a hexadecimal number like 0x7f12", path_of(field), text);
  return value;
}

Result<double> JsonObject::number(std::string_view field, double min, double max) const {
  const std::string path = path_of(field);
  return within<double>(*TRY(find(as_json(node_), field, path)), path, min, max);
}

Result<bool> JsonObject::flag(std::string_view field) const {
  const std::string path = path_of(field);
  const Json* value = TRY(find(as_json(node_), field, path));
  if (!value->is_boolean()) return fail(Code::kInvalid, "{}: {} is not true or false", path, shown(*value));
  return value->get<bool>();
}

Result<JsonObject> JsonObject::object(std::string_view field) const {
  const std::string path = path_of(field);
  const Json* value = TRY(find(as_json(node_), field, path));
  if (!value->is_object()) return fail(Code::kInvalid, "{}: {} is not an object", path, shown(*value));
  return JsonObject(document_, value, path);
}

Result<std::vector<JsonObject>> JsonObject::objects(std::string_view field, size_t max_count) const {
  const std::string path = path_of(field);
  const Json* array = TRY(find_array(as_json(node_), field, path, max_count));
  std::vector<JsonObject> result;
  for (size_t i = 0; i < array->size(); ++i) {
    if (!(*array)[i].is_object())
      return fail(Code::kInvalid, "{}[{}]: {} is not an object", path, i, shown((*array)[i]));
    result.push_back(JsonObject(document_, &(*array)[i], fmt::format("{}[{}]", path, i)));
  }
  return result;
}

Result<std::vector<int64_t>> JsonObject::integers(std::string_view field, size_t max_count, int64_t min,
                                                  int64_t max) const {
  const std::string path = path_of(field);
  const Json* array = TRY(find_array(as_json(node_), field, path, max_count));
  std::vector<int64_t> result;
  for (size_t i = 0; i < array->size(); ++i)
    result.push_back(TRY(within<int64_t>((*array)[i], fmt::format("{}[{}]", path, i), min, max)));
  return result;
}

Result<std::vector<double>> JsonObject::numbers(std::string_view field, size_t max_count, double min,
                                                double max) const {
  const std::string path = path_of(field);
  const Json* array = TRY(find_array(as_json(node_), field, path, max_count));
  std::vector<double> result;
  for (size_t i = 0; i < array->size(); ++i)
    result.push_back(TRY(within<double>((*array)[i], fmt::format("{}[{}]", path, i), min, max)));
  return result;
}

Result<std::vector<std::string>> JsonObject::texts(std::string_view field, size_t max_count, size_t max_bytes) const {
  const std::string path = path_of(field);
  const Json* array = TRY(find_array(as_json(node_), field, path, max_count));
  std::vector<std::string> result;
  for (size_t i = 0; i < array->size(); ++i)
    result.push_back(TRY(text_of((*array)[i], fmt::format("{}[{}]", path, i), max_bytes)));
  return result;
}

void JsonWriter::quoted(std::string_view value) {
  out_ += Json(std::string(value)).dump(-1, ' ', false, Json::error_handler_t::replace);
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

JsonWriter& JsonWriter::begin_array(std::string_view field, bool on_one_line) {
  key(field);
  out_ += '[';
  levels_.push_back({.empty = true, .on_one_line = on_one_line});
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

}  // namespace railbed::perf

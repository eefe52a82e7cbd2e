// SPDX-License-Identifier: Apache-2.0
#include "cni/reading.h"

#include <algorithm>

namespace railbed::cni {

Result<doc::Value> read_object(const std::string& json, std::string_view name) {
  Result<doc::Value> object = doc::read_object(std::string(name), json);
  if (object) return std::move(*object);
  return fail_with(kDecode, object.error().story(), object.error().hint);
}

bool read_flag(doc::Fields& fields, std::string_view key) {
  const doc::Value* value = fields.take(key);
  if (value == nullptr) return false;
  if (const bool* flag = value->as_bool()) return *flag;
  std::string word = value->is_string() ? *value->as_string() : std::string();
  std::ranges::transform(word, word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (word != "true" && word != "false") fields.wrong(key, "expected true or false");
  return word == "true";
}

Result<void> understood(const doc::Diagnostics& found, int code) {
  const Result<void> complaint = doc::first_error(found);
  if (complaint) return {};
  return fail_with(code, complaint.error().story(), complaint.error().hint);
}

}  // namespace railbed::cni

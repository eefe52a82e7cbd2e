// SPDX-License-Identifier: Apache-2.0
#include "attach/keys.h"

#include <algorithm>

#include "doc/json.h"
#include "schema/cni_values.h"

namespace railbed::attach {

bool is_given(const doc::Value* value) {
  if (value == nullptr || value->is_null()) return false;
  const std::string* text = value->as_string();
  return text == nullptr || !text->empty();
}

Error Keys::invalid(const std::string& what) const {
  return Error{.code = Code::kInvalid,
               .message = fmt::format("network {}, plugin {}: {}", network_, plugin_.type, what)};
}

Result<void> Keys::complete() const {
  for (const schema::CniKey& key : type_.keys)
    if (key.required)
      if (std::string problem = schema::key_problem(plugin_.config, key); !problem.empty())
        return fail(invalid(problem));
  if (std::string problem = schema::pair_problem(plugin_.type, plugin_.config); !problem.empty())
    return fail(invalid(problem));
  return {};
}

Result<const doc::Value*> Keys::given(std::string_view key) const {
  if (schema::find_cni_key(type_, key) == nullptr)
    return fail(Code::kInternal, "type {} has no key {} in the table of types", type_.name, key);
  const doc::Value* found = value(key);
  return is_given(found) ? found : nullptr;
}

std::unexpected<Error> Keys::refused(std::string_view key) const {
  std::string problem = schema::key_problem(plugin_.config, *schema::find_cni_key(type_, key));
  if (problem.empty()) problem = fmt::format("{} is {}, which is not possible", key, doc::to_json(*value(key)));
  return fail(invalid(problem));
}

Result<std::optional<std::string>> Keys::text(std::string_view key) const {
  const doc::Value* found = TRY(given(key));
  if (found == nullptr) return std::optional<std::string>{};
  const schema::CniKey& row = *schema::find_cni_key(type_, key);
  const std::string* text = found->as_string();
  if (text == nullptr || (row.problem != nullptr && row.problem(*text))) return refused(key);
  return std::optional(*text);
}

Result<std::optional<int>> Keys::number(std::string_view key) const {
  const doc::Value* found = TRY(given(key));
  if (found == nullptr) return std::optional<int>{};
  const schema::CniKey& row = *schema::find_cni_key(type_, key);
  const int64_t* number = found->as_int();
  if (number == nullptr || *number < row.min || *number > row.max) return refused(key);
  if (*number >= row.reserved.first && *number <= row.reserved.last) return refused(key);
  return std::optional(static_cast<int>(*number));
}

Result<std::optional<bool>> Keys::boolean(std::string_view key) const {
  const doc::Value* found = TRY(given(key));
  if (found == nullptr) return std::optional<bool>{};
  if (const bool* yes = found->as_bool()) return std::optional(*yes);
  if (const std::string* text = found->as_string()) {
    if (*text == "on" || *text == "true") return std::optional(true);
    if (*text == "off" || *text == "false") return std::optional(false);
  }
  return refused(key);
}

Result<std::optional<std::string>> Keys::chosen(std::string_view key) const {
  const doc::Value* found = TRY(given(key));
  if (found == nullptr) return std::optional<std::string>{};
  const auto choices = schema::find_cni_key(type_, key)->choices;
  const std::string* text = found->as_string();
  if (text == nullptr || std::ranges::find(choices, *text) == choices.end()) return refused(key);
  return std::optional(*text);
}

Result<const doc::Value*> Keys::object(std::string_view key) const {
  const doc::Value* found = TRY(given(key));
  if (found != nullptr && !found->is_object()) return refused(key);
  return found;
}

Result<std::vector<std::string>> Keys::texts(std::string_view key) const {
  std::vector<std::string> all;
  const doc::Value* found = TRY(given(key));
  if (found == nullptr) return all;
  if (!schema::key_problem(plugin_.config, *schema::find_cni_key(type_, key)).empty()) return refused(key);
  for (const doc::Value& one : *found->as_array()) all.push_back(*one.as_string());
  return all;
}

Result<std::optional<MacAddress>> Keys::mac(std::string_view key) const {
  const std::optional<std::string> found = TRY(text(key));
  if (!found.has_value()) return std::optional<MacAddress>{};
  return std::optional(TRY(MacAddress::parse(*found)));
}

}  // namespace railbed::attach

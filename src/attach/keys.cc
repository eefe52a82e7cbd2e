// SPDX-License-Identifier: Apache-2.0
#include "attach/keys.h"

#include <algorithm>

#include "doc/json.h"

namespace railbed::attach {
namespace {

// The value of a key; null where there is none to speak of.
const doc::Value* given(const doc::Value* value) {
  if (value == nullptr || value->is_null()) return nullptr;
  const std::string* text = value->as_string();
  return text != nullptr && text->empty() ? nullptr : value;
}

}  // namespace

Error Keys::invalid(const std::string& what) const {
  return Error{.code = Code::kInvalid,
               .message = fmt::format("network {}, plugin {}: {}", network_, plugin_.type, what)};
}

Result<std::optional<std::string>> Keys::text(std::string_view key) const {
  const doc::Value* found = given(value(key));
  if (found == nullptr) return std::optional<std::string>{};
  if (found->is_string()) return std::optional(*found->as_string());
  return fail(invalid(fmt::format("{} must be a string, not {}", key, doc::kind_name(found->kind()))));
}

Result<std::optional<int>> Keys::number(std::string_view key, int least, int most) const {
  const doc::Value* found = given(value(key));
  if (found == nullptr) return std::optional<int>{};
  const int64_t* number = found->as_int();
  if (number == nullptr || *number < least || *number > most)
    return fail(
        invalid(fmt::format("{} is {}, but must be a number from {} to {}", key, doc::to_json(*found), least, most)));
  return std::optional(static_cast<int>(*number));
}

Result<std::optional<bool>> Keys::boolean(std::string_view key) const {
  const doc::Value* found = given(value(key));
  if (found == nullptr) return std::optional<bool>{};
  if (const bool* yes = found->as_bool()) return std::optional(*yes);
  if (const std::string* text = found->as_string()) {
    if (*text == "on" || *text == "true") return std::optional(true);
    if (*text == "off" || *text == "false") return std::optional(false);
  }
  return fail(invalid(fmt::format("{} is {}, but must be \"on\" or \"off\"", key, doc::to_json(*found))));
}

Result<std::optional<size_t>> Keys::choice(std::string_view key, const std::vector<std::string>& choices) const {
  std::optional<std::string> found = TRY(text(key));
  if (!found.has_value()) return std::optional<size_t>{};
  auto place = std::ranges::find(choices, *found);
  if (place != choices.end()) return std::optional(static_cast<size_t>(place - choices.begin()));
  return fail(invalid(fmt::format("{} is \"{}\", but must be one of {}", key, *found, fmt::join(choices, ", "))));
}

Result<std::optional<MacAddress>> Keys::mac(std::string_view key) const {
  std::optional<std::string> found = TRY(text(key));
  if (!found.has_value()) return std::optional<MacAddress>{};
  Result<MacAddress> mac = MacAddress::parse(*found);
  if (!mac.has_value()) return fail(invalid(fmt::format("{}: {}", key, mac.error().message)));
  return std::optional(*mac);
}

}  // namespace railbed::attach

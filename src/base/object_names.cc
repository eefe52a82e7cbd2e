// SPDX-License-Identifier: Apache-2.0
#include "base/object_names.h"

#include <algorithm>

namespace railbed {
namespace {

bool is_small_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_alphanumeric(char c) {
  return is_small_or_digit(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_small_or_digit(text.front()) && is_small_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_small_or_digit(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    // Kubernetes limits the length of the whole name, not of each label.
    const bool right = !label.empty() && is_small_or_digit(label.front()) && is_small_or_digit(label.back()) &&
                       std::ranges::all_of(label, [](char c) { return is_small_or_digit(c) || c == '-'; });
    if (!right) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_label_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= 63 && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_label_key(std::string_view text) {
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (!is_dns_subdomain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && is_label_value(text);
}

bool is_filled_in_later(std::string_view text) {
  for (const std::string_view mark : {"<", "{", "$", "%(", "%s", "%d", "..."})
    if (text.find(mark) != std::string_view::npos) return true;
  for (const std::string_view mark : {"__", "@", "%"})
    if (text.size() > 2 * mark.size() && text.starts_with(mark) && text.ends_with(mark)) return true;
  return false;
}

}  // namespace railbed

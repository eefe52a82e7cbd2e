// SPDX-License-Identifier: Apache-2.0
#include "api/names.h"

#include <algorithm>

namespace railbed::api {

namespace {
bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_letter_or_digit(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

bool refuse_placeholder(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!has_placeholder(name.value)) return false;
  out.error("RB-API-008", name.span, fmt::format("{}: \"{}\" is a placeholder", what, name.value))
      .with_fix("write the real name")
      .of(doc::Layer::kObject)
      .that_says(doc::Says::kPlaceholder);
  return true;
}
}  // namespace

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    // Kubernetes limits the length of the whole name, not of each label.
    const bool right = !label.empty() && is_lower_or_digit(label.front()) && is_lower_or_digit(label.back()) &&
                       std::ranges::all_of(label, [](char c) { return is_lower_or_digit(c) || c == '-'; });
    if (!right) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool has_placeholder(std::string_view text) {
  for (const auto& [open, close] : {std::pair('<', '>'), std::pair('{', '}')}) {
    const size_t start = text.find(open);
    const size_t end = start == std::string_view::npos ? start : text.find(close, start);
    if (end != std::string_view::npos && end > start + 1) return true;
  }
  return false;
}

void check_label(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!name.present || is_dns_label(name.value) || refuse_placeholder(name, what, out)) return;
  out.error("RB-API-007", name.span,
            fmt::format("{}: \"{}\" is not a name: lower-case letters, digits and '-', at most 63, with a "
                        "letter or digit at both ends",
                        what, name.value))
      .of(doc::Layer::kObject)
      .that_says(doc::Says::kBadName);
}

void check_subdomain(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!name.present || is_dns_subdomain(name.value) || refuse_placeholder(name, what, out)) return;
  out.error("RB-API-007", name.span,
            fmt::format("{}: \"{}\" is not a name: lower-case letters, digits, '-' and '.', at most 253, with a "
                        "letter or digit at both ends",
                        what, name.value))
      .of(doc::Layer::kObject)
      .that_says(doc::Says::kBadName);
}

void check_resource_name(const Field<std::string>& name, std::string_view what, doc::Diagnostics& out) {
  if (!name.present || refuse_placeholder(name, what, out)) return;
  const std::string_view text = name.value;
  const auto inner = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  const bool right = !text.empty() && text.size() <= 63 && is_letter_or_digit(text.front()) &&
                     is_letter_or_digit(text.back()) && std::ranges::all_of(text, inner);
  if (right) return;
  auto& reported = out.error("RB-API-007", name.span,
                             fmt::format("{}: \"{}\" is not a resource name: letters, digits, '-' and '_', at most 63, "
                                         "with a letter or digit at both ends",
                                         what, text))
                       .of(doc::Layer::kObject)
                       .that_says(doc::Says::kBadName);
  if (text.find('/') != std::string_view::npos)
    reported.with_fix("write it without the prefix; the operator adds \"openshift.io/\"");
}

}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
// Whether a value is a Kubernetes quantity.
#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "schema/schema.h"

namespace railbed::schema {

namespace {

// "64Gi", "500m", "1e3"
bool is_quantity_text(std::string_view text) {
  size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  size_t digits = 0;
  bool point = false;
  for (; at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.'); ++at) {
    if (text[at] != '.')
      ++digits;
    else if (std::exchange(point, true))
      return false;
  }
  if (digits == 0) return false;
  const std::string_view unit = text.substr(at);
  static constexpr std::string_view kUnits[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                                "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (std::ranges::find(kUnits, unit) != std::end(kUnits)) return true;
  if (unit.size() < 2 || (unit[0] != 'e' && unit[0] != 'E')) return false;
  const std::string_view exponent = unit.substr(unit[1] == '-' || unit[1] == '+' ? 2 : 1);
  return !exponent.empty() && std::ranges::all_of(exponent, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

bool is_quantity(const doc::Value& value) {
  const std::string* text = value.as_string();
  return value.as_int() || value.as_double_exact() || (text && is_quantity_text(*text));
}

}  // namespace railbed::schema

// SPDX-License-Identifier: Apache-2.0
#include "doc/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/number.h"

namespace railbed::doc {

namespace {
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::string without_underscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

// An unsigned number in the base of its prefix.
std::optional<uint64_t> magnitude(std::string_view text) {
  int base = 10;
  const auto prefix = [&](std::string_view lower, std::string_view upper, int its_base) {
    if (!text.starts_with(lower) && !text.starts_with(upper)) return false;
    text.remove_prefix(lower.size());
    base = its_base;
    return true;
  };
  if (!prefix("0x", "0X", 16) && !prefix("0o", "0O", 8) && !prefix("0b", "0B", 2) && text.size() > 1)
    prefix("0", "0", 8);
  return whole_number<uint64_t>(text, base);
}

// The number with its sign; a double where it does not fit 64 bits.
std::optional<Value> integer(std::string_view text) {
  if (text.empty() || (!is_digit(text[0]) && text[0] != '-' && text[0] != '+')) return std::nullopt;
  const std::string plain = without_underscores(text);
  std::string_view rest = plain;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty() || !is_digit(rest[0])) return std::nullopt;
  const auto value = magnitude(rest);
  if (!value) return std::nullopt;
  if (!negative) return Value(*value);
  if (*value <= uint64_t{1} << 63) return Value(static_cast<int64_t>(-*value));
  return Value(-static_cast<double>(*value));
}

template <size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}
}  // namespace

std::optional<int64_t> plain_integer(std::string_view text) {
  const auto value = integer(text);
  if (!value || value->as_int() == nullptr) return std::nullopt;
  return *value->as_int();
}

Value resolve_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 11> kTrue{"true", "True", "TRUE", "yes", "Yes", "YES",
                                                          "on",   "On",   "ON",   "y",   "Y"};
  static constexpr std::array<std::string_view, 11> kFalse{"false", "False", "FALSE", "no", "No", "NO",
                                                           "off",   "Off",   "OFF",   "n",  "N"};
  static constexpr std::array<std::string_view, 6> kInfinity{".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
  static constexpr std::array<std::string_view, 3> kMinusInfinity{"-.inf", "-.Inf", "-.INF"};
  static constexpr std::array<std::string_view, 3> kUndefined{".nan", ".NaN", ".NAN"};
  if (is_one_of(text, kNull)) return {};
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  if (is_one_of(text, kInfinity)) return std::numeric_limits<double>::infinity();
  if (is_one_of(text, kMinusInfinity)) return -std::numeric_limits<double>::infinity();
  if (is_one_of(text, kUndefined)) return std::numeric_limits<double>::quiet_NaN();
  if (auto number = integer(text)) return *std::move(number);
  if (is_digit(text[0]) || text[0] == '-' || text[0] == '+' || text[0] == '.')
    if (const std::string plain = without_underscores(text); looks_like_float(plain))
      return std::strtod(plain.c_str(), nullptr);
  return text;
}

}  // namespace railbed::doc

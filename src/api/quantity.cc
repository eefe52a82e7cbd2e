// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace railbed::api {

namespace {

// What a suffix multiplies with: 10^tens * 2^twos.
struct Scale {
  int tens = 0;
  int twos = 0;
};
struct Suffix {
  std::string_view text;
  Scale scale;
};
constexpr auto kSuffixes = std::to_array<Suffix>({{"", {}},
                                                  {"n", {-9, 0}},
                                                  {"u", {-6, 0}},
                                                  {"m", {-3, 0}},
                                                  {"k", {3, 0}},
                                                  {"M", {6, 0}},
                                                  {"G", {9, 0}},
                                                  {"T", {12, 0}},
                                                  {"P", {15, 0}},
                                                  {"E", {18, 0}},
                                                  {"Ki", {0, 10}},
                                                  {"Mi", {0, 20}},
                                                  {"Gi", {0, 30}},
                                                  {"Ti", {0, 40}},
                                                  {"Pi", {0, 50}},
                                                  {"Ei", {0, 60}}});
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int kLargestExponent = 1000;
constexpr double kExactDouble = 9007199254740992;  // 2^53: all whole numbers below it are exact

std::optional<Scale> scale_of(std::string_view suffix) {
  for (const Suffix& row : kSuffixes)
    if (row.text == suffix) return row.scale;
  if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
  suffix.remove_prefix(suffix.starts_with("e+") || suffix.starts_with("E+") ? 2 : 1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (error != std::errc{} || end != suffix.data() + suffix.size()) return std::nullopt;
  if (exponent > kLargestExponent || exponent < -kLargestExponent) return std::nullopt;
  return Scale{exponent, 0};
}

// number * 10^tens * 2^twos, where that is whole.
std::optional<int64_t> scaled(int64_t number, Scale scale) {
  if (number == 0) return 0;
  for (; scale.tens < 0; ++scale.tens) {
    if (number % 10 == 0) {
      number /= 10;
    } else if (number % 5 == 0 && scale.twos > 0) {
      number /= 5;
      --scale.twos;
    } else {
      return std::nullopt;
    }
  }
  for (; scale.tens > 0; --scale.tens) {
    if (number > kMost / 10) return kMost;
    number *= 10;
  }
  for (; scale.twos > 0; --scale.twos) {
    if (number > kMost / 2) return kMost;
    number *= 2;
  }
  return number;
}

std::optional<int64_t> read_quantity(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  int fraction = 0;  // digits behind the point
  bool behind_point = false;
  size_t digits = 0;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !behind_point) {
      behind_point = true;
      continue;
    }
    if (text[at] < '0' || text[at] > '9') break;
    ++digits;
    if (number > (kMost - 9) / 10) return std::nullopt;
    number = number * 10 + (text[at] - '0');
    if (behind_point) ++fraction;
  }
  if (digits == 0) return std::nullopt;
  std::optional<Scale> scale = scale_of(text.substr(at));
  if (!scale) return std::nullopt;
  scale->tens -= fraction;
  return scaled(number, *scale);
}

}  // namespace

std::optional<int64_t> whole_quantity(const doc::Value& value) {
  if (const int64_t* number = value.as_int()) return *number >= 0 ? std::optional(*number) : std::nullopt;
  if (const std::string* text = value.as_string()) return read_quantity(*text);
  const double* number = value.as_double_exact();
  if (number == nullptr || !(*number >= 0 && *number < kExactDouble) || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <charconv>

namespace railbed {
namespace {

constexpr int64_t kLongestSeconds = int64_t{3650} * 86400;

int64_t seconds_per(std::string_view unit) {
  if (unit == "s") return 1;
  if (unit == "m") return 60;
  if (unit == "h") return 3600;
  return unit == "d" ? 86400 : 0;
}

}  // namespace

Result<std::chrono::seconds> parse_duration(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const int64_t unit = seconds_per(text.substr(static_cast<size_t>(end - text.data())));
  if (error != std::errc() || unit == 0 || number < 0 || number > kLongestSeconds / unit)
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("\"{}\" is not a duration", text),
                      .hint = "a number with s, m, h or d, of at most 3650d: 90s, 30m, 24h, 2d"});
  return std::chrono::seconds(number * unit);
}

}  // namespace railbed

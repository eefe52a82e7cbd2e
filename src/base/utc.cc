// SPDX-License-Identifier: Apache-2.0
#include "base/utc.h"

#include <ctime>

#include <fmt/format.h>

namespace railbed {

std::string utc_text(std::chrono::system_clock::time_point time) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto whole = std::chrono::floor<seconds>(time);
  const std::time_t since_epoch = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  gmtime_r(&since_epoch, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, std::chrono::duration_cast<milliseconds>(time - whole).count());
}

}  // namespace railbed

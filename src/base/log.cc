// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace railbed::log {
namespace {

spdlog::logger& logger() {
  static std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("railbed", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void set_level(Level level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                   spdlog::level::err};
  logger().set_level(kLevels[static_cast<int>(level)]);
}

void debug(std::string_view line) {
  logger().debug(line);
}
void info(std::string_view line) {
  logger().info(line);
}
void warn(std::string_view line) {
  logger().warn(line);
}
void error(std::string_view line) {
  logger().error(line);
}

}  // namespace railbed::log

// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace railbed::log {
namespace {

class TextSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit TextSink(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    write_({text.data(), text.size()});
  }
  void flush_() override {}

  std::function<void(std::string_view)> write_;
};

std::shared_ptr<spdlog::logger> logger_with(spdlog::sink_ptr sink) {
  auto made = std::make_shared<spdlog::logger>("railbed", std::move(sink));
  made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  return made;
}

struct Log {
  std::atomic<Level> least = Level::kInfo;  // as set_level() says
  std::shared_ptr<spdlog::logger> logger = logger_with(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  Outlets outlets;
};
Log& the_log() {
  static Log instance;
  return instance;
}

spdlog::level::level_enum level_of(Level level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                   spdlog::level::err};
  return kLevels[static_cast<int>(level)];
}

}  // namespace

void set_level(Level level) {
  the_log().least = level;
  the_log().logger->set_level(level_of(level));
}

void set_verbosity(int verbosity) {
  const Level least = the_log().least;
  const Level asked = verbosity <= 0 ? least : verbosity == 1 ? Level::kInfo : Level::kDebug;
  the_log().logger->set_level(level_of(std::min(least, asked)));
}

void set_outlets(Outlets outlets) {
  Log& log = the_log();
  const auto level = log.logger->level();
  log.outlets = std::move(outlets);
  if (log.outlets.text) log.logger = logger_with(std::make_shared<TextSink>(log.outlets.text));
  log.logger->set_level(level);
}

void write(Level level, std::string_view line, std::span<const Field> fields) {
  Log& log = the_log();
  if (!log.logger->should_log(level_of(level))) return;
  if (log.outlets.entry && log.outlets.entry(level, line, fields)) return;
  log.logger->log(level_of(level), line);
}

}  // namespace railbed::log

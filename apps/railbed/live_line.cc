// SPDX-License-Identifier: Apache-2.0
#include "live_line.h"

#include <condition_variable>
#include <system_error>

#include <unistd.h>

namespace railbed {
namespace {

constexpr std::chrono::milliseconds kEvery{250};

}  // namespace

LiveLine::LiveLine(FILE* out) : terminal_(isatty(fileno(out)) == 1), progress_(out) {
  if (!terminal_) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      std::condition_variable_any changed;
      std::unique_lock lock(mutex_);
      while (!changed.wait_for(lock, stop, kEvery, [&] { return stop.stop_requested(); }))
        if (const std::string text = figures_.text(perf::LiveFigures::Clock::now()); !text.empty()) progress_.now(text);
    });
  } catch (const std::system_error&) {  // no thread: no line
  }
}

void LiveLine::now(const std::string& text) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  progress_.now(text);
}

void LiveLine::stop() {
  thread_ = {};  // asks it to stop and joins it
  const std::lock_guard lock(mutex_);
  progress_.wipe();
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// One line on a terminal with the progress of a measurement, rewritten four times a second.
//
// Why: the terminal may be slow or stopped (Ctrl-S), and a measuring thread must not wait for it. Elsewhere than on a
// terminal there is no thread and no line. Threading: now() and stop() from any thread. Failure: none.
#pragma once

#include <mutex>
#include <string>
#include <thread>

#include "perf/live_figures.h"
#include "progress.h"

namespace railbed {

class LiveLine {
 public:
  explicit LiveLine(FILE* out = stderr);
  ~LiveLine() { stop(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  // Where the loops say it; null where no one looks.
  perf::LiveFigures* figures() { return terminal_ ? &figures_ : nullptr; }
  // Between sizes.
  void now(const std::string& text);
  // Erases the line, for good.
  void stop();

 private:
  bool terminal_;
  perf::LiveFigures figures_;
  std::mutex mutex_;
  Progress progress_;
  std::jthread thread_;
};

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// The program's log, on spdlog: one line per event on stderr.
//
// Why: the loop that gives up on an operation logs it once, with the whole context of the Error. Libraries (doc, os,
// graph, plan, …) never log; only apps, agent loops and verbs do. A process that must not block on the reader of its
// log sets its own outlets.
// Threading: any thread; set_outlets() before other threads log. The level and the outlets are globals of the program,
// like the metric registry.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/format.h"

namespace railbed::log {

enum class Level { kDebug, kInfo, kWarn, kError };
void set_level(Level level);
// More than the level asks for, while the program runs: 0 nothing more, 1 also kInfo, 2 everything. Any thread.
void set_verbosity(int verbosity);

// What a line is about, for logs that can be searched by it. Names are capital letters, digits and underscores.
struct Field {
  std::string_view name;
  std::string value;
  friend bool operator==(const Field&, const Field&) = default;
};

// Neither may block. `entry` is asked first; where it is empty or false, `text` gets the line with time and level, and
// its end.
struct Outlets {
  std::function<bool(Level, std::string_view line, std::span<const Field>)> entry;
  std::function<void(std::string_view text)> text;
};
void set_outlets(Outlets outlets);

void write(Level level, std::string_view line, std::span<const Field> fields = {});
inline void debug(std::string_view line) {
  write(Level::kDebug, line);
}
inline void info(std::string_view line) {
  write(Level::kInfo, line);
}
inline void warn(std::string_view line) {
  write(Level::kWarn, line);
}
inline void error(std::string_view line) {
  write(Level::kError, line);
}

}  // namespace railbed::log

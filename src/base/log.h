// SPDX-License-Identifier: Apache-2.0
// The program's log, on spdlog: one line per event on stderr.
//
// Why: the loop that gives up on something says so once, with the whole story of the Error. Library folders
// (doc, os, graph, plan, …) never log; only apps, agent loops and verbs do. Threading: any thread. The level
// is the one global of the program, beside the metric registry.
#pragma once

#include <string_view>

#include "base/format.h"

namespace railbed::log {

enum class Level { kDebug, kInfo, kWarn, kError };
void set_level(Level level);

void debug(std::string_view line);
void info(std::string_view line);
void warn(std::string_view line);
void error(std::string_view line);

}  // namespace railbed::log

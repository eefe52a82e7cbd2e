// SPDX-License-Identifier: Apache-2.0
// A verb of `railbed perf`: `perf bw`, `perf mesh`, …
//
// Why: one row per verb, which perf.cc's array collects; a file has one verb, or several that share their options. The
// options of a verb write into a value of its own, mostly members of the value that is sent, and run() gets that value
// after the command line was parsed.
// Threading: the main thread. Failure: what run() says.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "command/command_line.h"

namespace railbed {

// What was typed.
struct PerfCall {
  std::span<char* const> arguments;  // begin with "perf"
  std::string command;               // all of it, quoted where a shell needs it
};

struct PerfVerb {
  std::string_view name;
  std::string_view about;
  std::function<void(CommandLine& line)> options;        // declares them, on the verb's own line
  std::function<Result<int>(const PerfCall& call)> run;  // gives the exit status
  std::string_view found;                                // the meaning of kExitFound, if the verb ends with it
};

// A row whose options write into an `Arguments`, which lives as long as the row.
template <typename Arguments>
PerfVerb perf_row(std::string_view name, std::string_view about, void (*options)(CommandLine& line, Arguments& into),
                  Result<int> (*run)(const Arguments& arguments, const PerfCall& call), std::string_view found = "") {
  const auto arguments = std::make_shared<Arguments>();
  return {.name = name,
          .about = about,
          .options = [=](CommandLine& line) { options(line, *arguments); },
          .run = [=](const PerfCall& call) { return run(*arguments, call); },
          .found = found};
}

PerfVerb perf_serve();
PerfVerb perf_bw();
PerfVerb perf_rate();
PerfVerb perf_lat();
PerfVerb perf_watch();
PerfVerb perf_ping();
PerfVerb perf_jitter();
PerfVerb perf_mesh();
PerfVerb perf_collective();
PerfVerb perf_report();

}  // namespace railbed

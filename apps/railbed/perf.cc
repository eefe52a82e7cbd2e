// SPDX-License-Identifier: Apache-2.0
// railbed perf: the array of its verbs, and the one that was typed.
#include <algorithm>

#include "base/command.h"
#include "perf_verb.h"
#include "verb.h"

namespace railbed {
namespace {

std::string typed_line(std::span<char* const> arguments) {
  Command command{"railbed"};
  for (const char* argument : arguments) command.value(argument);
  return command.to_string();
}

}  // namespace

int perf_verb(CommandLine& line) {
  line.about("Measures bandwidth, latency and jitter of a path, over RDMA and over TCP.");
  // In the order of the help.
  const PerfVerb verbs[] = {perf_serve(), perf_bw(),     perf_rate(), perf_lat(),        perf_watch(),
                            perf_ping(),  perf_jitter(), perf_mesh(), perf_collective(), perf_report()};
  for (const PerfVerb& verb : verbs) {
    verb.options(line.subcommand(verb.name, verb.about));
    if (!verb.found.empty()) line.exit_status(kExitFound, verb.found);
  }
  if (auto status = line.parse()) return *status;
  const auto typed = std::ranges::find_if(line.subcommands(), [](const auto& one) { return one->chosen(); });
  const PerfVerb& verb = verbs[typed - line.subcommands().begin()];
  return status_of(verb.run({.arguments = line.arguments(), .command = typed_line(line.arguments())}));
}

}  // namespace railbed

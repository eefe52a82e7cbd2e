// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <algorithm>
#include <cstdio>

#include "command/output.h"
#include "run_report.h"
#include "verb.h"

namespace railbed {
namespace {

constexpr double kAgentTurn_s = 30;

template <typename Report>
int print_any(const RunOptions& options, const Report& report) {
  print_error("{}", failures_text(report.applied, report.pods));
  if (options.output != "text")
    print_value(to_value(report), options.output);
  else if (!options.quiet)
    print("{}", done_text(report));
  return report.complete() ? kExitOk : kExitError;
}

}  // namespace

void add_run_options(CommandLine& line, RunOptions& options) {
  line.option("--state-dir", &options.state.directory, "state directory").show_default().directory();
  line.option("--wait", &options.state.wait_s, "seconds to wait for another running railbed");
  line.option("--agent", &options.agent_socket, "the socket of the agent that attaches pods; \"\" for none")
      .show_default()
      .file();
  line.option("-o,--output", &options.output, "text, json or yaml").one_of({"text", "json", "yaml"});
  line.option("-q,--quiet", &options.quiet, "no progress and, in text, only failures");
}

Result<Work> begin_work(RunOptions& options, os::Kernel& kernel, const std::string& command) {
  Work work;
  if (options.agent_socket.empty() || !agent_listens(options.agent_socket)) {
    work.store = TRY(options.state.open(kernel));
    return work;
  }
  // A running agent holds the lock for a moment per request, so it is worth waiting.
  options.state.wait_s = std::max(options.state.wait_s, kAgentTurn_s);
  work.store = TRY(options.state.share(kernel, command));
  auto wait = std::chrono::milliseconds(static_cast<int64_t>(options.state.wait_s * 1000));
  work.agent = TRY(AgentClient::open(options.agent_socket, *work.store, kernel.clock(), wait));
  options.settings.pod_server = work.agent.get();
  return work;
}

int print_run_report(const RunOptions& options, const node::UpReport& report) {
  return print_any(options, report);
}
int print_run_report(const RunOptions& options, const node::DownReport& report) {
  return print_any(options, report);
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed down: gives the machine back as it was before `up`.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "agent/privileges.h"
#include "agent/standalone.h"
#include "command_line.h"
#include "doc/json.h"
#include "run_progress.h"
#include "run_report.h"
#include "state_options.h"
#include "stop_signal.h"
#include "verb.h"

namespace railbed {

namespace {

struct Options {
  std::vector<std::string> files;
  agent::Settings settings;
  StateOptions state;
  std::string output = "text";
};

Result<int> print(const Options& options, const agent::DownReport& report) {
  fmt::print(stderr, "{}", failures_text(report.applied, report.pods));
  if (options.output == "json")
    fmt::print("{}\n", doc::to_json(to_value(report), 2));
  else
    fmt::print("{}", done_text(report));
  return report.complete() ? kExitOk : kExitError;
}

Result<void> check_privileges(os::Kernel& kernel, state::Store& store) {
  auto missing =
      kernel.processes().missing_capabilities({"CAP_DAC_OVERRIDE", "CAP_NET_ADMIN", "CAP_SYS_ADMIN"});
  std::vector<agent::Need> needs;
  size_t pfs = TRY(store.baselines()).size();
  size_t interfaces = TRY(store.attachments()).size();
  if (pfs > 0)
    needs.push_back(
        {"CAP_DAC_OVERRIDE", fmt::format("{} PFs get their VF counts back through /sys, as root", pfs)});
  if (pfs > 0) needs.push_back({"CAP_NET_ADMIN", fmt::format("{} PFs get their MTU and state back", pfs)});
  if (interfaces > 0) {
    needs.push_back(
        {"CAP_NET_ADMIN", fmt::format("{} interfaces of pods are moved back and renamed", interfaces)});
    needs.push_back(
        {"CAP_SYS_ADMIN", fmt::format("{} interfaces of pods are in network namespaces", interfaces)});
  }
  return agent::check_privileges(needs, missing);
}

Result<int> run(Options& options) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto seen = TRY(options.state.look(*kernel));
  if (seen == nullptr) return print(options, {});
  TRY(check_privileges(*kernel, *seen));
  seen.reset();
  StopSignal stop;
  options.settings.apply.stop = stop.token();
  std::unique_ptr<state::Store> store = TRY(options.state.open(*kernel));
  RunProgress progress;
  auto report = agent::down(*kernel, *store, options.settings, progress);
  progress.wipe();
  if (!report) return fail(std::move(report.error()));
  return print(options, *report);
}

}  // namespace

int down_verb(std::span<char*> arguments) {
  Options options;
  CLI::App app("Detaches all pods and gives this machine back as it was before `railbed up`.",
               "railbed down");
  app.add_option("FILES", options.files, "not needed: what was done is in the state");
  app.add_flag("--disrupt", options.settings.disrupt, "also take VFs from namespaces that are not railbed's");
  app.add_option("--state-dir", options.state.directory, "where the state is")->capture_default_str();
  app.add_option("--wait", options.state.wait_s, "seconds to wait for another railbed that is at work");
  app.add_option("-o,--output", options.output, "text or json")->check(CLI::IsMember({"text", "json"}));
  if (auto status = parse_command_line(app, arguments)) return *status;
  auto result = run(options);
  if (result) return *result;
  return give_up(result.error());
}

}  // namespace railbed

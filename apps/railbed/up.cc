// SPDX-License-Identifier: Apache-2.0
// railbed up: makes this machine what the manifests say, and attaches this node's pods.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "agent/privileges.h"
#include "agent/standalone.h"
#include "command_line.h"
#include "doc/json.h"
#include "manifests.h"
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

// Asked for before anything is changed, with the steps that need them.
Result<void> check_privileges(os::Kernel& kernel, const Options& options, const api::Objects& objects) {
  auto missing =
      kernel.processes().missing_capabilities({"CAP_DAC_OVERRIDE", "CAP_NET_ADMIN", "CAP_SYS_ADMIN"});
  if (missing.empty()) return {};
  auto store = options.state.look(kernel);
  agent::Preview preview =
      TRY(agent::preview(kernel, store ? store->get() : nullptr, objects, options.settings));
  return agent::check_privileges(agent::needs_of(preview.plan, preview.attachments), missing);
}

Result<int> run(Options& options) {
  Manifests manifests = TRY(read_manifests(options.files));
  print_diagnostics(manifests.diagnostics);
  if (manifests.diagnostics.has_errors())
    return fail(Error{.code = Code::kInvalid,
                      .message = "the manifests have errors, nothing was changed",
                      .hint = "a pod or policy that cannot be read would be taken for one that was removed"});
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  TRY(check_privileges(*kernel, options, manifests.objects));
  StopSignal stop;
  options.settings.apply.stop = stop.token();
  std::unique_ptr<state::Store> store = TRY(options.state.open(*kernel));
  RunProgress progress;
  auto report = agent::up(*kernel, *store, manifests.objects, options.settings, progress);
  progress.wipe();
  if (!report) return fail(std::move(report.error()));
  print_diagnostics(report->diagnostics);
  fmt::print(stderr, "{}", failures_text(report->applied, report->pods));
  if (options.output == "json")
    fmt::print("{}\n", doc::to_json(to_value(*report), 2));
  else
    fmt::print("{}", done_text(*report));
  return report->complete() ? kExitOk : kExitError;
}

}  // namespace

int up_verb(std::span<char*> arguments) {
  Options options;
  CLI::App app("Makes this machine what the manifests say and attaches this node's pods.", "railbed up");
  app.add_option("FILES", options.files, "manifests: files, directories, or - for standard input")
      ->required();
  app.add_option("--node", options.settings.node, "this machine's node name (its host name)");
  app.add_flag("--soft-rdma", options.settings.soft_rdma,
               "soft-RoCE devices on RDMA-marked VFs without RDMA");
  app.add_flag("--disrupt", options.settings.disrupt, "also make changes that take VFs from running pods");
  app.add_option("--state-dir", options.state.directory, "where the state is")->capture_default_str();
  app.add_option("--wait", options.state.wait_s, "seconds to wait for another railbed that is at work");
  app.add_option("-o,--output", options.output, "text or json")->check(CLI::IsMember({"text", "json"}));
  if (auto status = parse_command_line(app, arguments)) return *status;
  auto result = run(options);
  if (result) return *result;
  return give_up(result.error());
}

}  // namespace railbed

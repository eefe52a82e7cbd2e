// SPDX-License-Identifier: Apache-2.0
// railbed down: restores the machine as it was before `up`.

#include "command/privileges.h"
#include "command/stop_signal.h"
#include "node/privileges.h"
#include "node/standalone.h"
#include "run_options.h"
#include "run_progress.h"
#include "verb.h"

namespace railbed {

namespace {

struct DownOptions : RunOptions {
  std::vector<std::string> files;
};

Result<void> check_privileges_of_down(os::Kernel& kernel, state::Store& store) {
  auto missing = missing_capabilities(kernel);
  std::vector<node::Need> needs;
  size_t pfs = TRY(store.baselines()).size();
  size_t interfaces = TRY(store.attachments()).size();
  if (pfs > 0)
    needs.push_back({"CAP_DAC_OVERRIDE", fmt::format("restore the VF counts of {} PFs through /sys, as root", pfs)});
  if (pfs > 0) needs.push_back({"CAP_NET_ADMIN", fmt::format("restore the MTU and state of {} PFs", pfs)});
  if (interfaces > 0) {
    needs.push_back({"CAP_NET_ADMIN", fmt::format("move {} interfaces of pods back and rename them", interfaces)});
    needs.push_back(
        {"CAP_SYS_ADMIN", fmt::format("enter the network namespaces of {} interfaces of pods", interfaces)});
  }
  return node::check_privileges(needs, missing);
}

Result<int> run_down(DownOptions& options) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto seen = TRY(options.state.look(*kernel));
  if (seen == nullptr) return print_run_report(options, node::DownReport{});
  TRY(check_privileges_of_down(*kernel, *seen));
  seen.reset();
  StopSignal stop;
  options.settings.apply.stop = stop.token();
  Work work = TRY(begin_work(options, *kernel, "railbed down"));
  RunProgress progress(options.quiet);
  auto report = node::down(*kernel, *work.store, options.settings, progress);
  progress.wipe();
  if (!report) return fail(std::move(report.error()));
  return print_run_report(options, *report);
}

}  // namespace

int down_verb(CommandLine& line) {
  DownOptions options;
  line.about("Detaches all pods and restores this machine to its state before `railbed up`.");
  line.option("FILES", &options.files, "not needed: the state records what was done").file();
  line.option("--disrupt", &options.settings.disrupt, "also take VFs from namespaces that railbed did not create");
  add_run_options(line, options);
  if (auto status = line.parse()) return *status;
  return status_of(run_down(options));
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed up: configures this machine as the manifests ask, and attaches this node's pods.

#include <filesystem>

#include <malloc.h>

#include "command/output.h"
#include "command/privileges.h"
#include "command/stop_signal.h"
#include "manifests.h"
#include "node/handed_manifests.h"
#include "node/privileges.h"
#include "node/resource_prefix.h"
#include "node/standalone.h"
#include "run_options.h"
#include "run_progress.h"
#include "verb.h"

namespace railbed {

namespace {

struct UpOptions : RunOptions {
  std::vector<std::string> files;
  std::string prefix;  // empty: what the operator says, else the default
  std::vector<std::string> forced;
};

// What check's rules find on this machine stops a run before anything is changed.
Result<void> judge(const doc::Diagnostics& findings) {
  print_diagnostics(findings);
  if (!findings.has_errors()) return {};
  return fail(Error{.code = Code::kInvalid,
                    .message = "the manifests have errors, nothing was changed",
                    .hint = "run `railbed explain ID` for details; --force ID continues anyway"});
}

// One prefix for all that name this node's resources: the operator's, where it says one.
Result<void> choose_prefix(state::Store* store, UpOptions& options) {
  node::KnownPrefixes known = TRY(node::known_prefixes(store));
  known.given = options.prefix;
  options.settings.resource_prefix = known.chosen(node::kDefaultPrefix);
  return {};
}

// The same with the state's lock: what was given is kept for the agent and for `status`.
Result<void> settle_prefix(state::Store& store, UpOptions& options) {
  TRY(choose_prefix(&store, options));
  TRY(node::keep_given_prefix(store, options.prefix));
  if (const std::string conflict = TRY(node::known_prefixes(&store)).conflict(); !conflict.empty())
    print_error("railbed: {}\n", conflict);
  return {};
}

// Where capabilities are missing, the state may not be opened either: what the run would do is looked at without it, so
// that the answer names what is wrong in the manifests, or the steps that need the capabilities.
Result<void> check_privileges_of_up(os::Kernel& kernel, UpOptions& options, const Manifests& manifests) {
  const auto missing = missing_capabilities(kernel);
  if (missing.empty()) return {};
  const auto store = options.state.look(kernel);
  state::Store* known = store ? store->get() : nullptr;
  TRY(choose_prefix(known, options));
  const auto seen = TRY(node::look(kernel, known, manifests.objects, options.settings));
  const doc::Diagnostics findings =
      rule_findings(manifests, seen->resolution, options.forced, node::lent_interfaces(seen->there));
  if (findings.has_errors()) return judge(findings);
  return node::check_privileges(node::needs_of(seen->plan, node::pending_interfaces(seen->plan)), missing);
}

// The agent attaches the pods, so it has to know what this run was given.
Result<void> hand_over_to_agent(state::Store& store, const Manifests& manifests) {
  std::vector<doc::SourcePtr> named;
  for (const doc::SourcePtr& source : manifests.sources) {
    std::error_code unknown;
    const auto path = std::filesystem::weakly_canonical(source->name, unknown);
    named.push_back(std::make_shared<const doc::Source>(
        doc::Source{unknown || source->name == "<stdin>" ? source->name : path.string(), source->text}));
  }
  return node::hand_over(store, named).context("handing the manifests over to the agent");
}

Result<int> run_up(UpOptions& options) {
  // The threads of a run wait for the kernel nearly always: a heap for each costs more than it saves.
  mallopt(M_ARENA_MAX, 1);
  // Nothing is gained by giving memory back in between and asking for it again.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
  TRY(node::check_prefix(options.prefix));
  Manifests manifests = TRY(read_manifests(options.files));
  print_diagnostics(manifests.diagnostics);
  if (manifests.diagnostics.has_errors())
    return fail(Error{.code = Code::kInvalid,
                      .message = "the manifests have errors, nothing was changed",
                      .hint = "a pod or policy that cannot be read would be treated as removed"});
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  TRY(check_privileges_of_up(*kernel, options, manifests));
  StopSignal stop;
  options.settings.apply.stop = stop.token();
  Work work = TRY(begin_work(options, *kernel, "railbed up"));
  TRY(settle_prefix(*work.store, options));
  // Read once, while no other process may change the machine: rules, plan and run are about the same facts.
  std::unique_ptr<node::Seen> seen = TRY(node::look(*kernel, work.store.get(), manifests.objects, options.settings));
  TRY(judge(rule_findings(manifests, seen->resolution, options.forced, node::lent_interfaces(seen->there))));
  if (work.agent != nullptr) TRY(hand_over_to_agent(*work.store, manifests));
  RunProgress progress(options.quiet);
  auto report = node::up(*kernel, *work.store, std::move(seen), options.settings, progress);
  progress.wipe();
  if (!report) return fail(std::move(report.error()));
  print_diagnostics(report->diagnostics);
  return print_run_report(options, *report);
}

}  // namespace

int up_verb(CommandLine& line) {
  UpOptions options;
  line.about("Applies the manifests to this machine and attaches this node's pods.");
  line.option("FILES", &options.files, "manifests: files, directories, or - for standard input").required().file();
  line.option("--node", &options.settings.node, "this machine's node name (its host name)");
  line.option("--resource-prefix", &options.prefix,
              "prefix of resource names, where no operator says one to this node (openshift.io)");
  line.option("--soft-rdma", &options.settings.soft_rdma, "soft-RoCE devices on RDMA-marked VFs without RDMA");
  line.option("--force", &options.forced, "id of a check finding that is not treated as an error; may be repeated")
      .one_value_each();
  line.option("--disrupt", &options.settings.disrupt, "also make changes that take VFs from running pods");
  add_run_options(line, options);
  if (auto status = line.parse()) return *status;
  return status_of(run_up(options));
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed up: configures this machine as the manifests ask, and attaches this node's pods.

#include "facts/collect.h"
#include "manifests.h"
#include "node/privileges.h"
#include "node/standalone.h"
#include "run_options.h"
#include "run_progress.h"
#include "stop_signal.h"
#include "verb.h"

namespace railbed {

namespace {

struct Options : RunOptions {
  std::vector<std::string> files;
  std::vector<std::string> forced;
};

// Asked for before anything is changed, with the steps that need them.
Result<void> check_privileges(os::Kernel& kernel, const Options& options, const api::Objects& objects) {
  auto missing = missing_capabilities(kernel);
  if (missing.empty()) return {};
  auto store = options.state.look(kernel);
  node::Preview preview = TRY(node::preview(kernel, store ? store->get() : nullptr, objects, options.settings));
  return node::check_privileges(node::needs_of(preview.plan, preview.attachments), missing);
}

// What check's rules find on this machine, before anything is changed.
Result<void> check_rules(os::Kernel& kernel, const Options& options, const Manifests& manifests) {
  const node::Settings& settings = options.settings;
  doc::Diagnostics told_later;
  const graph::Catalog catalog =
      graph::index(manifests.objects, {settings.resource_prefix, settings.soft_rdma}, told_later);
  const facts::NodeFacts node = facts::collect(kernel, {.node = settings.node});
  const graph::Graph graph = graph::resolve(catalog, node, told_later);
  const doc::Diagnostics findings = rule_findings(manifests, catalog, {&graph, 1}, {&node, 1}, options.forced);
  print_diagnostics(findings);
  if (!findings.has_errors()) return {};
  return fail(Error{.code = Code::kInvalid,
                    .message = "the manifests have errors, nothing was changed",
                    .hint = "railbed explain ID tells more; --force ID goes on all the same"});
}

Result<int> run(Options& options) {
  Manifests manifests = TRY(read_manifests(options.files));
  print_diagnostics(manifests.diagnostics);
  if (manifests.diagnostics.has_errors())
    return fail(Error{.code = Code::kInvalid,
                      .message = "the manifests have errors, nothing was changed",
                      .hint = "a pod or policy that cannot be read would be taken for one that was removed"});
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  TRY(check_rules(*kernel, options, manifests));
  TRY(check_privileges(*kernel, options, manifests.objects));
  StopSignal stop;
  options.settings.apply.stop = stop.token();
  Work work = TRY(begin_work(options, *kernel, "railbed up"));
  RunProgress progress;
  auto report = node::up(*kernel, *work.store, manifests.objects, options.settings, progress);
  progress.wipe();
  if (!report) return fail(std::move(report.error()));
  print_diagnostics(report->diagnostics);
  return tell(options, *report);
}

}  // namespace

int up_verb(CommandLine& line) {
  Options options;
  line.about("Makes this machine what the manifests say and attaches this node's pods.");
  line.option("FILES", &options.files, "manifests: files, directories, or - for standard input").required().file();
  line.option("--node", &options.settings.node, "this machine's node name (its host name)");
  line.option("--soft-rdma", &options.settings.soft_rdma, "soft-RoCE devices on RDMA-marked VFs without RDMA");
  line.option("--force", &options.forced, "an id of check's findings that is no error here; may be repeated")
      .one_value_each();
  line.option("--disrupt", &options.settings.disrupt, "also make changes that take VFs from running pods");
  add_run_options(line, options);
  if (auto status = line.parse()) return *status;
  return status_of(run(options));
}

}  // namespace railbed

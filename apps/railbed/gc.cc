// SPDX-License-Identifier: Apache-2.0
// railbed gc: lists what no namespace owns any more; --yes removes it.
#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "agent/leftovers/leftovers.h"
#include "agent/leftovers/restore_records.h"
#include "command/output.h"
#include "command/state_options.h"
#include "report/table.h"
#include "verb.h"

namespace railbed {

namespace {

using report::Cell;
using report::Paint;

void print_leftovers(const std::vector<agent::Leftover>& leftovers, bool removed) {
  if (leftovers.empty()) {
    print("nothing is orphaned\n");
    return;
  }
  report::Table table({{"KIND"}, {"WHAT"}, {"POD"}, {"WHY"}, {"RESULT"}});
  bool removable = false;
  for (const agent::Leftover& one : leftovers) {
    removable = removable || one.removable;
    Cell result = one.removable ? Cell() : Cell(one.hint, Paint::kDim);
    if (removed && one.removable)
      result = one.removed ? Cell(one.note.empty() ? "removed" : "removed; " + one.note, Paint::kGood)
                           : Cell(one.error.empty() ? "still exists" : one.error, Paint::kBad);
    table.row({std::string(agent::kind_name(one.kind)), one.what, one.pod, one.why, result});
  }
  print("{}", table.to_text(colour_of(stdout)));
  if (!removed && removable) print("\nrailbed gc --yes removes them\n");
}

Result<int> run_gc(const StateOptions& options, const std::string& pending, const std::string& records, bool yes,
                   const std::string& output) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  std::unique_ptr<os::Disk> disk = os::real_disk();
  // Beside an agent, which plugins that are executed may ask.
  std::unique_ptr<state::Store> store = yes ? TRY(options.share(*kernel, "railbed gc")) : TRY(options.look(*kernel));
  agent::DurableRecords durable(*disk, records, kernel->boot_id());
  std::vector<agent::Leftover> leftovers;
  {
    std::unique_ptr<state::Hold> hold;
    if (yes) hold = TRY(store->hold(std::chrono::milliseconds(static_cast<int64_t>(options.wait_s * 1000))));
    if (yes) TRY(agent::restore_records(*store, durable));
    leftovers = TRY(agent::find_leftovers(*kernel, store.get(), *disk, pending, durable));
  }
  if (yes) TRY(agent::remove_leftovers(*kernel, *store, *disk, durable, leftovers));
  if (output == "table")
    print_leftovers(leftovers, yes);
  else
    print_value(agent::to_value(leftovers), output);
  bool failed = std::ranges::any_of(leftovers, [](const auto& one) { return !one.error.empty(); });
  return failed ? kExitError : kExitOk;
}

}  // namespace

int gc_verb(CommandLine& line) {
  StateOptions state;
  std::string output = "table";
  std::string pending = "/var/lib/railbed/pending-del";
  std::string records = agent::kDurableRecords;
  bool yes = false;
  bool dry_run = false;
  line.about(
      "Lists what no network namespace owns: records, addresses, interfaces, sandboxes, files; --yes removes it.");
  line.option("-o,--output", &output, "table, json or yaml").one_of({"table", "json", "yaml"});
  const Option& remove = line.option("--yes", &yes, "remove what was found");
  line.option("--dry-run", &dry_run, "only show it (default)").excludes(remove);
  line.option("--state-dir", &state.directory, "state directory").show_default().directory();
  line.option("--pending-dir", &pending, "where the shim queues DELs that no agent answered")
      .show_default()
      .directory();
  line.option("--records", &records, "records of what DELs must undo even after a reboot").show_default().directory();
  line.option("--wait", &state.wait_s, "seconds to wait for another running railbed");
  if (auto status = line.parse()) return *status;
  return status_of(run_gc(state, pending, records, yes, output));
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// railbed gc: what no namespace owns, shown, and removed with --yes.
#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "command_line.h"
#include "doc/json.h"
#include "report/table.h"
#include "serve/leftovers.h"
#include "state_options.h"
#include "verb.h"

namespace railbed {

namespace {

using report::Cell;
using report::Paint;

void print(const std::vector<serve::Leftover>& leftovers, bool removed) {
  if (leftovers.empty()) {
    fmt::print("nothing is left over\n");
    return;
  }
  report::Table table({{"KIND"}, {"WHAT"}, {"POD"}, {"WHY"}, {"RESULT"}});
  bool removable = false;
  for (const serve::Leftover& one : leftovers) {
    removable = removable || one.removable;
    Cell result = one.removable ? Cell() : Cell(one.hint, Paint::kDim);
    if (removed && one.removable)
      result = one.removed ? Cell(one.note.empty() ? "removed" : "removed; " + one.note, Paint::kGood)
                           : Cell(one.error.empty() ? "is still there" : one.error, Paint::kBad);
    table.row({std::string(serve::kind_name(one.kind)), one.what, one.pod, one.why, result});
  }
  fmt::print("{}", table.to_text(report::Colour{isatty(STDOUT_FILENO) == 1}));
  if (!removed && removable) fmt::print("\nrailbed gc --yes removes them\n");
}

Result<int> run(const StateOptions& options, const std::string& pending, bool yes, bool json) {
  std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  std::unique_ptr<os::Disk> disk = os::real_disk();
  // An agent shares the state: the lock is taken for as long as this works.
  std::unique_ptr<state::Store> store = yes ? TRY(options.open(*kernel)) : TRY(options.look(*kernel));
  std::vector<serve::Leftover> leftovers = TRY(serve::find_leftovers(*kernel, store.get(), *disk, pending));
  if (yes && store != nullptr) TRY(serve::remove_leftovers(*kernel, *store, *disk, leftovers));
  if (json)
    fmt::print("{}\n", doc::to_json(serve::to_value(leftovers), 2));
  else
    print(leftovers, yes);
  bool failed = std::ranges::any_of(leftovers, [](const auto& one) { return !one.error.empty(); });
  return failed ? kExitError : kExitOk;
}

}  // namespace

int gc_verb(std::span<char*> arguments) {
  StateOptions state;
  std::string output = "table";
  std::string pending = "/var/lib/railbed/pending-del";
  bool yes = false;
  bool dry_run = false;
  CLI::App app("What no namespace owns: records, addresses, interfaces, sandboxes, files; --yes removes it.",
               "railbed gc");
  app.add_option("-o,--output", output, "table or json")->check(CLI::IsMember({"table", "json"}));
  CLI::Option* remove = app.add_flag("--yes", yes, "remove what is found");
  app.add_flag("--dry-run", dry_run, "only show it (this is the default)")->excludes(remove);
  app.add_option("--state-dir", state.directory, "where the state is")->capture_default_str();
  app.add_option("--pending-dir", pending, "where the shim keeps DELs that no agent answered")
      ->capture_default_str();
  app.add_option("--wait", state.wait_s, "seconds to wait for another railbed that is at work");
  if (auto status = parse_command_line(app, arguments)) return *status;
  return status_of(run(state, pending, yes, output == "json"));
}

}  // namespace railbed

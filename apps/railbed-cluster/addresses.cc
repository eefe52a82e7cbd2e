// SPDX-License-Identifier: Apache-2.0
// railbed addresses: which node has leased which addresses, and an administrator's word that frees them.
#include "addresses.h"

#include "base/command.h"
#include "command/addresses_options.h"
#include "command/exit_status.h"
#include "command/output.h"
#include "controller/cell_release.h"
#include "kubectl_connection.h"
#include "os/ports/kernel.h"
#include "report/table.h"

namespace railbed {

namespace {

using controller::AddressesListed;
using controller::CellNodes;
using controller::ReleasePlan;
using report::Cell;
using report::Paint;

std::string cell_text(const api::AddressCell& cell) {
  return fmt::format("{}/{}", cell.base, cell.base.bits() - 4);
}

void print_list(const AddressesListed& listed) {
  for (const std::string& why : listed.unreadable) print_error("not shown: {}\n", why);
  for (const std::string& what : listed.odd) print_error("odd: {}\n", what);
  if (listed.cells.empty()) {
    print("no addresses are leased\n");
    return;
  }
  report::Table table({{"NETWORK"},
                       {"CELL"},
                       {"NODE"},
                       {"MACHINE"},
                       {"BOOT"},
                       {"HELD", "", report::Align::kRight},
                       {"FREE", "", report::Align::kRight},
                       {"SINCE"},
                       {"GONE FOR"}});
  for (const controller::ListedCell& one : listed.cells) {
    int free = static_cast<int>(api::kCellSize);
    for (const api::CellLease& lease : one.cell.leases) free -= static_cast<int>(controller::address_count(lease));
    for (const api::CellLease& lease : one.cell.leases) {
      const Cell gone =
          lease.gone_seconds > 0 ? Cell(fmt::format("{} s", lease.gone_seconds), Paint::kWarning) : Cell();
      table.row({one.cell.network_name, cell_text(one.cell), lease.holder.node, lease.holder.system_uuid,
                 lease.holder.boot_id, static_cast<int>(controller::address_count(lease)), free, one.since, gone});
    }
  }
  print("{}", table.to_text(colour_of(stdout)));
}

Result<int> list(kube::Client& client, const AddressesOptions& options) {
  const AddressesListed listed = TRY(controller::list_addresses(client, {}));
  if (options.output == "table")
    print_list(listed);
  else
    print_value(controller::to_value(listed), options.output);
  return kExitOk;
}

void print_plan(const ReleasePlan& plan, const CellNodes& nodes) {
  struct Sum {
    int cells = 0;
    int addresses = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;
  for (const ReleasePlan::Lease& one : plan.leases) {
    const api::CellHolder& holder = one.lease.holder;
    Sum& sum = sums[{holder.node, holder.system_uuid, holder.boot_id}];
    ++sum.cells;
    sum.addresses += static_cast<int>(plan.what == ReleasePlan::What::kOverlaps ? controller::overlap_count(one.lease)
                                                                                : controller::address_count(one.lease));
  }
  report::Table table({{"NODE"},
                       {"MACHINE"},
                       {"BOOT"},
                       {"CELLS", "", report::Align::kRight},
                       {"ADDRESSES", "", report::Align::kRight},
                       {"NODE IS"}});
  for (const auto& [key, sum] : sums) {
    const auto& [name, machine, boot] = key;
    const auto node = nodes.find(name);
    const char* is = node == nodes.end()                   ? "gone"
                     : node->second.system_uuid != machine ? "another machine"
                     : node->second.ready                  ? "Ready"
                                                           : "not Ready";
    table.row({name, machine, boot, sum.cells, sum.addresses, is});
  }
  print("{}", table.to_text(colour_of(stdout)));
}

Result<int> release(kube::Client& client, const AddressesOptions& options) {
  const AddressesListed listed = TRY(controller::list_addresses(client, {}));
  const CellNodes nodes = TRY(controller::list_nodes(client, {}));
  const ReleasePlan plan = TRY(controller::plan_release(listed, nodes, options.who));
  print_plan(plan, nodes);
  const bool overlaps_only = plan.what == ReleasePlan::What::kOverlaps;
  if (overlaps_only)
    print(
        "\n"
        "The machine is running, so it keeps its leases. It also claims these addresses, which other nodes have "
        "leased.\n");
  Command confirmed = {"railbed", "addresses", "release", "--yes"};
  confirmed.operand(options.who);
  if (!options.yes && overlaps_only) {
    print("To remove its claims: {}\n", confirmed);
    return kExitOk;
  }
  if (!options.yes) {
    print(
        "\n"
        "The machine must be off: pods that still run on it would share these addresses with new pods.\n"
        "To release them: {}\n",
        confirmed);
    return kExitOk;
  }
  const size_t released = TRY(controller::release(client, plan, {}));
  if (overlaps_only)
    print("\nclaimed addresses released: {}\n", released);
  else
    print("\n{} addresses released\n", released);
  return kExitOk;
}

Result<int> run_addresses(const AddressesOptions& options) {
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  const auto connection =
      TRY(connect_as_kubectl(*kernel, {.kubeconfig = options.kubeconfig, .context = options.context}));
  return options.action() == AddressesOptions::Action::kList ? list(connection->client(), options)
                                                             : release(connection->client(), options);
}

}  // namespace

int addresses_verb(CommandLine& line) {
  AddressesOptions options;
  options.declare(line);
  if (auto status = line.parse()) return *status;
  return end_of_output(status_of(run_addresses(options)));
}

}  // namespace railbed

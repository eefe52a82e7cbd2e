// SPDX-License-Identifier: Apache-2.0
#include "command/addresses_options.h"

namespace railbed {

void AddressesOptions::declare(CommandLine& line) {
  line.about("Lists the addresses that each node of a cluster has leased; releases those of a machine that is off.");
  CommandLine& list = line.subcommand("list", "list leased addresses by node");
  CommandLine& release = line.subcommand(
      "release", "release the leases of a machine, which must be off: its pods would continue to use the addresses");
  release_ = &release;
  for (CommandLine* one : {&list, &release}) {
    one->option("--kubeconfig", &kubeconfig, "how to reach the API server ($KUBECONFIG, or ~/.kube/config)").file();
    one->option("--context", &context, "kubeconfig context (the current one)");
  }
  list.option("-o,--output", &output, "table, json or yaml").one_of({"table", "json", "yaml"});
  release.option("NODE", &who, "name of its Node, or system UUID of the machine").required();
  release.option("--yes", &yes, "release them (default: only show them)");
}

}  // namespace railbed

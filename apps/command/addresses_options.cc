// SPDX-License-Identifier: Apache-2.0
#include "command/addresses_options.h"

namespace railbed {

void AddressesOptions::declare(CommandLine& line) {
  line.about("Which node of a cluster has leased which addresses; frees those of a machine that is off.");
  CommandLine& list = line.subcommand("list", "who has which addresses");
  CommandLine& release = line.subcommand(
      "release", "frees what a machine had leased, which must be off: its pods would go on using the addresses");
  release_ = &release;
  for (CommandLine* one : {&list, &release}) {
    one->option("--kubeconfig", &kubeconfig, "how to reach the API server ($KUBECONFIG, or ~/.kube/config)").file();
    one->option("--context", &context, "of the kubeconfig (its current one)");
  }
  list.option("-o,--output", &output, "table, json or yaml").one_of({"table", "json", "yaml"});
  release.option("NODE", &who, "the name of its Node, or the machine's system UUID").required();
  release.option("--yes", &yes, "free them; without it, they are only shown");
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// The machine that a verb reads: this one, a directory with its files, or a recording.
//
// Threading: one thread. Failure: an Error names the path that cannot be read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "doc/diagnostic.h"
#include "facts/collect.h"
#include "os/ports/kernel.h"

namespace railbed {

struct Machine {
  std::string root;               // a directory with /sys and /proc; empty: none
  std::string from;               // FILE.tar or FILE.machine; empty: none
  facts::CollectOptions collect;  // `node` empty: the machine's host name

  bool is_this_one() const { return root.empty() && from.empty(); }
};

Result<std::unique_ptr<os::Kernel>> open_machine(const Machine& machine);

// The machine's options with a node name in every case: a recording without one is named after its file.
facts::CollectOptions collect_options(const Machine& machine, const os::Kernel& kernel);

// The nodes in files of facts (`railbed discover -o yaml` or json; a file may have several), or the machines of
// recordings (FILE.tar, FILE.machine), in the order of the files. Errors in facts go to the diagnostics. Devices of
// recordings get names where there is a file of `pci_ids`.
Result<std::vector<facts::NodeFacts>> read_nodes_of(const std::vector<std::string>& paths,
                                                    doc::Diagnostics& diagnostics, const std::string& pci_ids = "");

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// Collects a node's facts from its kernel.
//
// Why: one pass over sysfs and a few netlink dumps return everything that is otherwise collected manually with lspci,
// lshw, ip, ibv_devices and ls. The work is linear in the number of VFs.
// Threading: one thread; changes nothing.
// Failure: none: what could not be read is absent, with a line in `problems`.
#pragma once

#include <string>

#include "facts/detail.h"
#include "facts/node_facts.h"
#include "os/ports/kernel.h"

namespace railbed::facts {

struct CollectOptions {
  std::string node;  // its name; empty: the kernel's host name
  // A file of this machine with the names of devices, also for recordings; may be absent. Empty: devices get no names,
  // which only tables and documents for people show. Reading it costs more than all else of a small machine.
  std::string pci_ids;
  Detail detail = Detail::kAll;
};

NodeFacts collect(os::Kernel& kernel, const CollectOptions& options);

}  // namespace railbed::facts

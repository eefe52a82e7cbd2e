// SPDX-License-Identifier: Apache-2.0
// Whether a PCI function is a VF, by its ids alone.
//
// Why: a virtual machine sees its VF as an ordinary function, without a link to a PF, and some copies of sysfs lack the
// links of existing VFs. Such a function cannot create VFs, and advice for PFs does not apply to it.
// Threading: pure functions.
// Failure: none; a device that is not listed does not count as a VF, unless its name says so.
// Source: pci.ids and the device tables of the drivers named beside the ids.
#pragma once

#include "facts/node_facts.h"

namespace railbed::facts {

bool is_vf_function(const PciDevice& device);

}  // namespace railbed::facts

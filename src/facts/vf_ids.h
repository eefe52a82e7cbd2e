// SPDX-License-Identifier: Apache-2.0
// Whether a PCI function is a VF, by its ids alone.
//
// Why: a virtual machine sees the VF that it was given as an ordinary function, without link to a PF, and some copies
// of sysfs lack the links of VFs that are there. Such a function can make no VFs, and advice for PFs is wrong about it.
// Threading: pure functions. Failure: none; a device that is not listed counts as no VF, unless its name says so.
// Source: pci.ids and the device tables of the drivers named beside the ids.
#pragma once

#include "facts/node_facts.h"

namespace railbed::facts {

bool is_vf_function(const PciDevice& device);

}  // namespace railbed::facts

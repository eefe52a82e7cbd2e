// SPDX-License-Identifier: Apache-2.0
// The kernel drivers of VFs, and the lines that keep such a driver from being loaded.
//
// Why: a VF without a driver has no interface, so no pod can use it. Where the driver of VFs is a module of its own
// (iavf, ixgbevf, igbvf), a blacklist is the usual cause: administrators who pass VFs to virtual machines write one,
// and the kernel does not report it.
// Threading: pure functions; read_module_blocks() as the file tree.
// Failure: none; lines that are not understood block nothing.
// Source: modprobe.d(5): blacklist, install; kernel-parameters.txt: module_blacklist; modprobe(8): modprobe.blacklist.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "facts/attributes.h"
#include "facts/node_facts.h"

namespace railbed::facts {

// VFs that the kernel should have bound to a driver and did not: autoprobe is on, or the kernel is too old to have it.
std::vector<const Vf*> vfs_without_driver(const Nic& nic);

// The driver that VFs of this card are meant for: that of its other VFs, else the one that goes with the PF's driver.
// Empty: unknown. The names of these drivers are those of their modules.
std::string vf_driver(const Nic& nic);

// Whether VFs have this driver and PFs never: a module that need not be loaded where a PF works.
bool is_vf_module(std::string_view driver);

// The first line for each of `modules` in the files of modprobe.d and on the kernel's command line.
std::vector<ModuleBlock> read_module_blocks(Attributes& attributes, const std::set<std::string>& modules);

// The blocks of `modules` in one file of modprobe.d, and in the kernel's command line.
std::vector<ModuleBlock> blocks_in_modprobe_file(std::string_view text, const std::string& file,
                                                 const std::set<std::string>& modules);
std::vector<ModuleBlock> blocks_in_command_line(std::string_view text, const std::set<std::string>& modules);

}  // namespace railbed::facts

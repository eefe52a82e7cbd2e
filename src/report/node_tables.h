// SPDX-License-Identifier: Apache-2.0
// Node facts as tables for people: what `railbed discover` prints.
//
// Threading: pure functions. Failure: none.
#pragma once

#include <string>

#include "facts/node_facts.h"
#include "report/table.h"

namespace railbed::report {

enum class Detail : bool { kNormal, kWide };

// A line about the node, then NICs with their rails and roles, fabrics, GPUs, and how far each NIC is from each GPU;
// with kWide also cards, ports with GUIDs, VFs, GIDs and virtual interfaces. Then a line per thing that is wrong, and
// for a node that cannot make VFs advice on what to check.
std::string node_text(const facts::NodeFacts& facts, Detail detail, Colour colour);

// The tables that node_text() consists of.
Table nic_table(const facts::NodeFacts& facts, Detail detail);
Table card_table(const facts::NodeFacts& facts);
Table port_table(const facts::NodeFacts& facts);
Table path_table(const facts::NodeFacts& facts);
Table vf_table(const facts::NodeFacts& facts);
Table fabric_table(const facts::NodeFacts& facts);
Table gpu_table(const facts::NodeFacts& facts);
Table gid_table(const facts::NodeFacts& facts);
Table virtual_table(const facts::NodeFacts& facts);

// "0-3, 6" for 0, 1, 2, 3, 6.
std::string number_list(const std::vector<int>& numbers);

}  // namespace railbed::report

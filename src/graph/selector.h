// SPDX-License-Identifier: Apache-2.0
// Which nodes and which NICs a policy matches, and why not the others.
//
// AND across fields, OR inside lists; an empty nicSelector matches nothing. pfNames compare with the kernel's names and
// with altnames, with and without a VF range (the operator ignores the range of an altname). Only NICs that support VFs
// count.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/objects.h"
#include "facts/node_facts.h"
#include "graph/vf_range.h"

namespace railbed::graph {

using Labels = std::map<std::string, std::string>;

// Empty when every selected label is present with that value (an empty selector takes all nodes); otherwise the first
// label that differs: `label a=b is a=c here`.
std::string label_mismatch(const Labels& selector, const Labels& labels);
// Whether label_mismatch() is empty.
bool labels_match(const Labels& selector, const Labels& labels);

bool empty(const api::NicSelector& selector);
bool selects(const api::NicSelector& selector, const facts::Nic& nic);

// The VFs of `nic` that the policy names: the ranges of its pfNames for this NIC, or all numVfs.
std::vector<VfRange> selected_vfs(const api::SriovNetworkNodePolicy& policy, const facts::Nic& nic);

// Why a policy takes no NIC of the node: the first field that leaves none, and what is there instead.
std::string why_nothing(const api::NicSelector& selector, const std::vector<facts::Nic>& nics);

bool can_have_vfs(const facts::Nic& nic);

}  // namespace railbed::graph

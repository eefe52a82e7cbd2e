// SPDX-License-Identifier: Apache-2.0
// Devices of one node that have each other's names.
//
// Why: jobs name devices (NCCL_IB_HCA=mlx5_2, master: ib2), and take it for granted that a name is a slot. Two names
// that changed places, by cards that were exchanged or by a rule of udev for one of them, cross two rails of this node
// with those of all others, and every link is healthy.
// The kernel numbers devices as it finds them, which is in the order of addresses on most machines and in another on
// some, so an order alone is no fault. What counts is a single pair against the order of all others, or against the
// order of the card's other names, and a name that carries the address of another card.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <vector>

#include "facts/node_facts.h"
#include "findings/finding.h"

namespace railbed::facts {

std::vector<findings::Finding> name_troubles_of(const NodeFacts& facts);

}  // namespace railbed::facts

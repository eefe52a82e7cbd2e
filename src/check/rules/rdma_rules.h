// SPDX-License-Identifier: Apache-2.0
// The rules of the family RDMA that are in files of their own, by subject; rdma.cc has the list of all.
//
// Threading: pure functions. Failure: findings.
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

// Memory that pods lock, pin and share (rdma_memory.cc).
void cannot_lock_memory(const Input& in, Findings& out);
void memory_too_small(const Input& in, Findings& out);
void small_shared_memory(const Input& in, Findings& out);
void shared_memory_elsewhere(const Input& in, Findings& out);

// Ids and rates of cards, by data/pci_ids.yaml (rdma_cards.cc).
void slower_than_said(const Input& in, Findings& out);
void vf_id_for_pf(const Input& in, Findings& out);
void pool_of_nothing(const Input& in, Findings& out);

// NVIDIA's drivers as the GPU operator installs them (rdma_drivers.cc).
void peermem_without_mofed(const Input& in, Findings& out);
void parameters_on_one_line(const Input& in, Findings& out);
void module_config_not_used(const Input& in, Findings& out);

}  // namespace railbed::check

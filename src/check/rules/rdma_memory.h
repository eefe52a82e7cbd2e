// SPDX-License-Identifier: Apache-2.0
// Rules about the memory of pods with RDMA: what they lock, pin and share.
//
// Why: RDMA pins memory, and libraries share it; each fails late, in the pod. Threading: pure. Failure: findings.
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

void cannot_lock_memory(const Input& in, Findings& out);
void memory_too_small(const Input& in, Findings& out);
void small_shared_memory(const Input& in, Findings& out);
// A volume in memory that is meant for /dev/shm, by its name or its path, and is mounted beside it.
void shared_memory_elsewhere(const Input& in, Findings& out);

}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
// Which VFs the pods of this node get.
//
// Why all at once, before the first pod is attached: what goes wrong with one pod does not change what the
// others get. A VF that an interface has already is kept. Threading: one thread. Failure: Exhausted where no
// VF is free, per interface.
#pragma once

#include <map>

#include "ipam/assign.h"
#include "node/resolved.h"

namespace railbed::node {

using ChosenVfs = std::map<ipam::Owner, Result<plan::PoolVf>>;
Result<ChosenVfs> choose_vfs(os::Kernel& kernel, state::Store& store, const Resolved& now);

// One VF of `resource` for the pod, by the same rule: free by `in_use`, as the plan wants it, and here. What
// the plan says about holders does not count: it may be older than `in_use`.
Result<plan::PoolVf> free_vf(os::Kernel& kernel, const Resolved& now, const std::string& resource,
                             const std::string& pod, const plan::InUse& in_use);

// VFs of pods whose MTU is not what their policy says now: it changes when the pod is attached anew.
Result<std::vector<plan::HeldBack>> held_mtus(state::Store& store, const Resolved& now);

}  // namespace railbed::node

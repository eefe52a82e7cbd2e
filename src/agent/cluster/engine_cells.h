// SPDX-License-Identifier: Apache-2.0
// Runs the agent's Turns for leases of addresses.
//
// Why addresses on interfaces also count as in use: a state that was lost has no leases of running pods, and their
// addresses must not be released (leftovers/in_use.h). As long as they are unknown, all addresses count as in use.
// Threading: any thread, not inside a Turn.
// Failure: Busy if no Turn is available in time; the error of `work`.
#pragma once

#include "agent/cluster/cell_leaser.h"
#include "agent/engine.h"

namespace railbed::agent {

class EngineCells : public CellBook {
 public:
  // `engine` outlives this.
  explicit EngineCells(Engine& engine) : engine_(engine) {}
  Result<void> in_turn(const std::function<Result<void>(state::Store&, const InUse&)>& work) override;

 private:
  Engine& engine_;
};

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// The agent's turns, for leases of addresses.
//
// Why what interfaces have counts as in use, too: a state that was lost knows no leases of pods that run, and what they
// have must not be given back (leftovers/in_use.h). As long as it is not known, everything is in use.
// Threading: any thread, not in a turn. Failure: Busy where nobody gets a turn; what `work` says.
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

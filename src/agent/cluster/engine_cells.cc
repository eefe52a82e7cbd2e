// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/engine_cells.h"

namespace railbed::agent {

Result<void> EngineCells::in_turn(const std::function<Result<void>(state::Store&, const InUse&)>& work) {
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  const ipam::Allocator& addresses = turn.addresses();
  return work(turn.store(), [&addresses](const std::string& pool, const IpAddress& address) {
    return addresses.refuses() || addresses.is_taken(pool, address);
  });
}

}  // namespace railbed::agent

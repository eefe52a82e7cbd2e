// SPDX-License-Identifier: Apache-2.0
// The rights in the API server that the components of an agent declare. For tests: if a component is missing here, the
// tests of that component report its requests.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "agent/cluster/cell_keeper.h"
#include "agent/cluster/cluster_side.h"
#include "agent/cluster/node_states.h"
#include "kube/fake/api_server.h"
#include "kube/fake/roles.h"

namespace railbed::agent {

inline std::vector<kube::Right> agent_rights() {
  const std::initializer_list<std::span<const kube::Right>> all{
      ClusterSide::kRights,      ClusterSource::kRights, StatusWriter::kRights,       NodeStates::kRights,
      NodeStatusWriter::kRights, kCellOwnerRights,       CellKeeper::kRights,         CellLeaser::kRights,
      kPoolsBesideRights,        PoolShare::kRights,     kube::EventRecorder::kRights};
  std::vector<kube::Right> out;
  for (const std::span<const kube::Right> some : all) out.insert(out.end(), some.begin(), some.end());
  return out;
}

// What a server has been asked for without a right, a line each.
inline std::string beyond_the_role(const kube::fake::ApiServer& server) {
  return kube::fake::beyond(agent_rights(), server.requests(), "");
}

}  // namespace railbed::agent

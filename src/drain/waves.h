// SPDX-License-Identifier: Apache-2.0
// Which nodes change now, and which groups are evicted now.
//
// Why: a pool's bound limits the nodes that are changed at a time, not the jobs. It is first come, first served. Nodes
// that are down, cordoned by others or maintained by others count against it; a node without pods to evict needs no
// slot, and one slot remains for those of them that restart. A group that runs on more nodes than the bound allows is
// evicted on all of them at once, and free VFs that will change are withdrawn on every node that is not changed yet, so
// that a pod which was evicted restarts only on changed nodes: it is interrupted once. Of one owner's replicas, only
// those of one node are evicted at a time.
// Threading: pure functions over values: the same view gives the same turns.
// Failure: none; a node that waits has the reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drain/pods.h"
#include "drain/state.h"

namespace railbed::drain {

// maxUnavailable of a pool. Neither: there is no limit.
struct Bound {
  std::optional<int> number = {};
  std::optional<int> percent = {};
  friend bool operator==(const Bound&, const Bound&) = default;
};
// Nodes at a time, of a pool of `nodes`. A percentage is rounded down, and up to 1 rather than to 0.
size_t nodes_allowed(const Bound& bound, size_t nodes);

struct NodeView {
  std::string name;
  NodeDrain state = {};
  std::string change = {};  // which change waits; empty: none
  Resources resources = {};
  Time wanted_since = {};
  bool needs_restart = false;
  std::vector<AffectedPod> pods = {};
  bool withdrawn = false;                // its agent offers no free VF of `resources`
  bool ready = true;                     // the Node's condition
  bool cordoned = false;                 // spec.unschedulable, which railbed never writes
  Time unavailable_since = {};           // of either
  std::vector<std::string> others = {};  // who else maintains it (maintenance.h)
  std::string held = {};                 // why it must not start, as held_by() says
  friend bool operator==(const NodeView&, const NodeView&) = default;
};

struct PoolView {
  std::string name;
  Bound bound = {.number = 1};
  std::optional<std::chrono::seconds> ignore_unavailable_after = {};  // nodes that are down for longer do not count
  std::chrono::seconds wait_for_completion{0};                        // of groups, from the withdrawal
  std::chrono::seconds again_after{1800};                             // a node that was given up
  std::vector<NodeView> nodes = {};
  friend bool operator==(const PoolView&, const PoolView&) = default;
};

struct PoolTurns {
  size_t allowed = 0;
  std::vector<std::string> counted;  // "n7 (not ready since 2026-03-01T10:20:30Z)"
  bool blocked = false;              // nodes wait, none goes
  friend bool operator==(const PoolTurns&, const PoolTurns&) = default;
};

struct Waves {
  std::map<std::string, Turn> nodes;       // by name
  std::map<std::string, PoolTurns> pools;  // by name
  friend bool operator==(const Waves&, const Waves&) = default;
};

Waves waves(const std::vector<PoolView>& pools, Time now);

}  // namespace railbed::drain

// SPDX-License-Identifier: Apache-2.0
// What is stored of a node's drain, and what a node may do next.
//
// Why: an operator may be killed at any point. What it has decided is in the node state's annotation, and nothing else:
// the next one reads the objects and continues. Times of the state are whole seconds since 1970.
// Threading: plain values.
// Failure: read_node_drain, Invalid with the field; a state of a later version is Unsupported. The caller then leaves
// the node as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "drain/pods.h"

namespace railbed::drain {

// Of the node state; the operator writes it.
inline constexpr std::string_view kDrainAnnotation = "railbed.dev/drain";

enum class Phase : uint8_t {
  kIdle,        // nothing is withdrawn
  kWithdrawn,   // free VFs that will change are not offered; groups that were decided are evicted; takes no slot
  kEvicting,    // all pods with such VFs are evicted
  kChanging,    // no pod has such VFs: the agent applies the change
  kRestarting,  // the agent restarts the machine
  kBlocked,     // given up for a while: the VFs are offered again
};

struct NodeDrain {
  Phase phase = Phase::kIdle;
  std::string change = {};                  // which change this is about
  std::vector<std::string> resources = {};  // that are withdrawn, in order
  std::vector<std::string> units = {};      // groups whose eviction was decided, in order
  std::vector<std::string> spreads = {};    // owners of which this node has a unit that is evicted, in order
  bool slot = false;                        // counts against the pool's bound
  Time since = {};                          // when the phase began
  Time started = {};                        // when it got its slot; 0: it has none
  std::string boot_id = {};                 // of kRestarting: the boot that ends
  std::string why = {};                     // of kBlocked, for people
  friend bool operator==(const NodeDrain&, const NodeDrain&) = default;
};

// One line of JSON; empty for kIdle, which needs no annotation.
std::string to_text(const NodeDrain& state);
Result<NodeDrain> read_node_drain(std::string_view text);

// Whether a node is between its first eviction and its end.
inline bool is_active(const NodeDrain& state) {
  return state.phase == Phase::kEvicting || state.phase == Phase::kChanging || state.phase == Phase::kRestarting;
}

// What waves() decides for a node.
struct Turn {
  enum class Kind : uint8_t {
    kNone,      // nothing is to change, or it is in progress
    kWait,      // for `reason`; its VFs stay offered
    kWithdraw,  // for `reason`; free VFs are not offered, `units` are evicted
    kChange,    // no pod has to be evicted: it needs no slot
    kGo,        // it has a slot
  };
  Kind kind = Kind::kNone;
  std::vector<std::string> units = {};    // groups that are evicted now, in order
  std::vector<std::string> spreads = {};  // of kGo, in order
  bool slot = false;                      // it counts against the bound
  bool may_change = true;                 // each node with pods of `units` has stored that they are evicted
  std::string not_withdrawn = {};         // a node where an evicted pod could still restart; empty: none
  std::string reason = {};                // what it waits for
  friend bool operator==(const Turn&, const Turn&) = default;
};

// "2026-03-01T10:20:30Z"
std::string time_text(Time time);

}  // namespace railbed::drain

// SPDX-License-Identifier: Apache-2.0
// Brings this machine to the desired state of its SriovNetworkNodeState, one pass after another.
//
// Why: the same plan and the same steps as `up`, while pods start and end. A pass scans the machine, plans, and, if
// something must change: queries the kubelet for allocated VFs; withdraws the VFs that would change from the kubelet's
// allocatable devices, and queries again; plans again, so that changes to a pod's devices are deferred; applies the
// plan outside of a Turn, with the devices reserved (Engine::Change); offers the resulting devices; reports the status.
//
// Nothing is changed unless the node state exists, was decided by an operator, and the API server answers; never while
// railbed may not act on this node. The last order is kept in the state, so that an agent that starts without an API
// server offers the node's VFs again immediately. A process killed at any point needs no repair: the next pass starts
// from the current state of the machine.
//
// The prefix of resource names is the operator's, from the node state, or this agent's own where that says none. VFs
// that pods have under a former name keep it until the pods end (former_names.h).
//
// A drain of the node is a part of the order: VFs of its resources are not offered (drained_vfs.h), and what has come
// of it is reported. Nothing else depends on it: changes are carried out when their VFs are free, as always.
//
// Threading: pass() of one thread; the others of any.
// Failure: a pass has none; errors are in its result, in the status and in the counters, and are retried.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/cluster/former_names.h"
#include "agent/cluster/node_plan.h"
#include "agent/cluster/node_report.h"
#include "agent/engine.h"
#include "drain/state.h"
#include "kube/cache.h"
#include "kube/events.h"

namespace railbed::agent {

// The last order that was taken, in the state.
inline constexpr const char* kNodeStateNote = "node-state";

struct NodeKeeperSettings {
  std::string node;
  graph::Options options;
  std::string said_prefix = {};  // --resource-prefix, where it was given: reported where the operator says another one
  apply::Options apply;
  std::chrono::milliseconds look{30'000};      // between two looks at the machine
  std::chrono::milliseconds waiting{10'000};   // while something waits for pods or for the kubelet
  std::chrono::milliseconds longest{600'000};  // between two tries of steps that fail
};

// What the cluster says about this node.
struct NodeOrder {
  kube::ObjectPtr state;  // the node state; null: there is none
  bool current = false;   // everything here is as the API server has it now
  std::string aside;      // why railbed may not act on this node; empty: it may
};

struct NodeCounters {
  uint64_t passes = 0;     // begun
  uint64_t ended = 0;      // of them; after the first one it is known what this node offers
  uint64_t steps = 0;      // carried out
  uint64_t failures = 0;   // of steps
  uint64_t held_back = 0;  // changes that wait for pods now
  bool aside = false;
  std::optional<kube::WallTime> synced;  // when the machine was as its node state wants it last
};

class NodeKeeper {
 public:
  // Where a pass reports what it does. Called in pass().
  class Listener {
   public:
    virtual ~Listener() = default;
    // The whole status of the node state with this uid.
    virtual void status(const std::string& uid, doc::Value status) = 0;
    // drain::kReportAnnotation of the node state with this uid; empty: it has none.
    virtual void drain_report(const std::string& uid, std::string text) = 0;
    // About the node state.
    virtual void event(kube::EventType type, std::string reason, std::string note) = 0;
  };
  struct Dependencies {
    Engine& engine;
    kubelet::DeviceOffers& offers;
    Listener& listener;
    kube::Clock& clock;
  };

  // All dependencies outlive it.
  NodeKeeper(Dependencies deps, NodeKeeperSettings settings);

  // Returns how long to wait for the next one, if nothing is heard before.
  std::chrono::milliseconds pass(const NodeOrder& order);

  // Why the machine is not as the node state wants it, for `railbed status`.
  std::vector<std::string> reasons() const;
  NodeCounters counters() const;

 private:
  struct Kept {
    bool aside = false;
    doc::Value object;            // the order: metadata and spec; null: none yet
    std::set<PciAddress> listed;  // PFs that had VFs by an order
    VfsByName names = {};         // under which VFs were offered, and pods may have them
    bool names_known = false;     // false: who offered VFs before did not keep them here
  };
  struct Look;
  enum class Going : uint8_t { kYes, kNo };

  Result<void> load();
  Result<void> keep(Kept kept);
  Result<void> take_over(const api::SriovNetworkNodeState& state);
  Result<Going> take(const NodeOrder& order);
  Result<Look> look();
  Result<Look> look(std::optional<Engine::Turn>& turn);
  Result<std::chrono::milliseconds> try_pass(const NodeOrder& order);
  Result<void> bring(Look& now);
  void ask_kubelet();
  void withdraw(const std::set<PciAddress>& vfs);
  Result<void> carry_out(Engine::Change& change, const StatePlan& planned);
  void look_for_former_names(const kubelet::NodeDevices& devices);
  Result<void> keep_names(const kubelet::NodeDevices& devices);
  std::vector<std::string> withdraw_drained(const Look& now, kubelet::NodeDevices& devices);
  Result<void> offer(const Look& now);
  void compare_prefixes();
  void report_former_names();
  void conclude(const Look& now, Going going);
  Result<void> note_for_status(const Look& now);
  void report_state(const Look& now, SyncPhase phase);
  void report_drain(const Look& now, Going going);
  void report_once(kube::EventType type, std::string reason, std::string note);
  Result<void> stand_aside(const std::string& why);
  void set_reasons(std::vector<std::string> reasons);

  const Dependencies deps_;
  const NodeKeeperSettings settings_;
  std::optional<Kept> kept_;                          // nothing before it was read from the state
  std::optional<api::SriovNetworkNodeState> orders_;  // of kept_.object, with the status as stored
  std::string uid_;                                   // of the node state that is reported on; empty: none can be
  int generation_ = 0;
  std::vector<std::string> problems_;
  std::vector<api::FoundNic> last_reported_nics_;  // in the status
  std::set<PciAddress> held_before_;               // by pods, at the last report

  kubelet::AllocatedVfs allocated_;  // by the kubelet, when it was asked last in this pass
  std::set<PciAddress> withdrawn_;
  std::string kubelet_error_;  // why the kubelet cannot be asked; empty: it can, or it was not necessary
  std::vector<apply::StepFailure> failures_;
  int tries_ = 0;  // of this order that left something to do
  kube::Instant next_try_{};
  std::optional<kubelet::NodeDevices> offered_;
  VfsByName offered_names_;                      // those under which this process offers VFs to further pods
  VfsByName former_;                             // what pods have under other names than the present ones
  std::vector<std::string> about_names_;         // lines about former_
  drain::NodeDrain drain_;                       // as ordered last
  std::string drain_problem_;                    // why the order of a drain cannot be read; empty: it can
  std::set<PciAddress> free_of_drain_;           // withdrawn for drain_, and known to be without a pod
  std::vector<std::string> withdrawn_of_drain_;  // resources of drain_ of which no free VF is offered
  std::set<std::string> reported_names_;         // of former_, when an Event was made of it last
  std::string prefix_conflict_;                  // empty: none
  std::optional<api::NodeStateCondition> prefix_condition_;  // nothing: there was never a conflict
  std::string last_note_;                                    // what `railbed status` reads, as written last
  std::map<std::string, std::string> last_event_by_reason_;  // by reason: the note

  mutable std::mutex mutex_;
  std::vector<std::string> reasons_;
  NodeCounters counters_;
};

}  // namespace railbed::agent

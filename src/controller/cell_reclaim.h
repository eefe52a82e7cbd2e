// SPDX-License-Identifier: Apache-2.0
// The operator's check of address leases: ends those of machines that no longer exist, according to ipam::judge.
//
// Why here and not in the agents: for a machine that no longer exists, no other component would release the addresses.
// The time for which a machine has been absent is stored in its leases, so that another operator continues the count;
// it is time in which an operator checked, by the clock since boot, so neither a wall clock that jumps nor a pause of
// the operator counts. Caches only select the leases to check: before anything is written, the API server is queried
// for the Node. Every write is based on the object that was read, with its resourceVersion: a holder that writes in the
// meantime keeps its lease. All cells are listed once per period, and those of one machine when its Node disappears or
// is tainted.
// Threading: look() in one thread at a time, everything else in any.
// Failure: look(), the first of the API server's refusals, after it processed everything else; the next call does the
// rest.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "api/address_cell.h"
#include "ipam/cell_leases.h"
#include "kube/client.h"
#include "kube/informer.h"

namespace railbed::controller {

// What a Node reports of its machine.
ipam::CellNode cell_node_of(const doc::Value& node);
// The machines (system UUIDs) whose leases this change of a Node may end, or begin to.
std::set<std::string> machines_gone_by(const kube::Change& node);

struct ReclaimSettings {
  ipam::ReclaimRules rules{.after_seconds = 86400};
  // Between two lists of all cells; as often as fits the rules where it is not given.
  std::optional<kube::milliseconds> period;
};

// Leases of one machine that one look has ended.
struct EndedLeases {
  api::CellHolder holder;
  kube::ObjectPtr node;  // null: there is none
  std::string reason;    // one word: OutOfService, NodeGone, NameTaken
  std::string why;
  size_t cells = 0;
  size_t addresses = 0;
};

struct ReclaimStatus {
  size_t cells = 0;                       // at the last list of all
  size_t unreadable = 0;                  // of those
  size_t without_node = 0;                // leases that count towards their end
  std::map<std::string, uint64_t> ended;  // by reason
  std::string error;                      // why the last look did not do everything
};

class CellReclaimer {
 public:
  // All of it outlives this. The functions are called in the thread of look().
  struct Dependencies {
    kube::Client& reader;  // of lists
    kube::Client& writer;
    kube::Clock& clock;
    std::function<kube::ObjectPtr(const std::string& name)> node;  // as the cache has it
    std::function<bool()> may_write;
    std::function<void(const std::string& what, const kube::ApiError* error)> wrote;
    std::function<void(const EndedLeases& ended)> ended;
  };
  CellReclaimer(Dependencies deps, ReclaimSettings settings);

  // The next look goes through the leases of these machines, whenever the list of all is due.
  void concern(const std::set<std::string>& machines);
  // What is due. Returns after which time there is more, if nothing happens before.
  Result<kube::milliseconds> look(std::stop_token stop);
  ReclaimStatus status() const;

 private:
  using LeaseKey = std::tuple<std::string, std::string, std::string, std::string>;  // cell, node, machine, boot
  struct Seen {
    int64_t gone_seconds = 0;  // as it was in the lease
    kube::Instant at{};
  };
  // A Node as the API server has it now; nullptr: there is none.
  using NodeNow = Result<kube::ObjectPtr>;
  struct Round {
    std::map<std::string, NodeNow> nodes;
    std::map<std::tuple<std::string, std::string, std::string>, EndedLeases> ended;  // by node, machine, reason
    std::map<LeaseKey, Seen> seen;
    std::optional<Error> error;
    size_t cells = 0, unreadable = 0, without_node = 0;
  };
  struct Judged {
    ipam::LeaseVerdict verdict;
    kube::ObjectPtr node;
  };
  struct Next {
    api::AddressCell cell;
    std::vector<std::pair<api::CellLease, Judged>> ended;
    bool changed = false;
  };

  Result<void> list(const std::string& labels, Round& round, std::stop_token stop);
  void look_at(const api::AddressCell& cell, Round& round, std::stop_token stop);
  Result<Judged> judged(const LeaseKey& key, const api::CellLease& lease, Round& round, std::stop_token stop);
  NodeNow node_now(const std::string& name, Round& round, std::stop_token stop);
  bool store(const api::AddressCell& cell, const Next& next, Round& round, std::stop_token stop);
  void report(Round& round);

  const Dependencies deps_;
  const ipam::ReclaimRules rules_;
  const kube::milliseconds period_;
  kube::Instant list_due_{};
  std::map<LeaseKey, Seen> seen_;  // leases that the last list found without a Node

  mutable std::mutex mutex_;
  std::set<std::string> concerned_;
  ReclaimStatus status_;
};

}  // namespace railbed::controller

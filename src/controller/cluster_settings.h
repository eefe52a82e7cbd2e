// SPDX-License-Identifier: Apache-2.0
// What SriovOperatorConfig and SriovNetworkPoolConfigs say now, read once for all nodes.
//
// Why: each node is decided from the same settings, and what counted before goes on where an object or its kind cannot
// be read (config_effects.h). Either kind may be absent: only what it says is missing then. Threading: any thread.
// Failure: none; the conditions of the objects say what cannot be read.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/cluster.h"
#include "controller/config_effects.h"
#include "controller/pools.h"
#include "controller/upstream.h"

namespace railbed::controller {

struct Settings {
  struct UnreadablePool {
    std::string key, why;
  };
  ConfigChoice config;
  std::vector<api::SriovNetworkPoolConfig> pools;  // of the namespaces that count
  std::vector<UnreadablePool> unreadable_pools;
  PoolAssignments assignments;
  PolicyNamespaces namespaces;

  // Null where there is none of that key.
  const api::SriovNetworkPoolConfig* pool(const std::string& key) const;
  // That of the node's only pool; empty: none says one.
  std::string rdma_mode_of(const std::string& node) const;
};

class ClusterSettings {
 public:
  // Both outlive this.
  ClusterSettings(const Cluster& cluster, const Upstream& upstream) : cluster_(cluster), upstream_(upstream) {}

  // An object, or a label of a Node, has changed: the next now() is read again.
  void changed();
  // Also where other namespaces are served since, or a kind is listed or not.
  std::shared_ptr<const Settings> now();

 private:
  // What decides besides the objects.
  struct Around {
    uint64_t version = 0;
    PolicyNamespaces namespaces;
    bool upstream_operator = false;
    Availability configs = Availability::kPending, pools = Availability::kPending;
    friend bool operator==(const Around&, const Around&) = default;
  };
  Around around() const;  // with mutex_ held

  const Cluster& cluster_;
  const Upstream& upstream_;
  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  Around last_around_;
  std::shared_ptr<const Settings> last_;
};

}  // namespace railbed::controller

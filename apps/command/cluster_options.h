// SPDX-License-Identifier: Apache-2.0
// The options that name a cluster, of verbs that serve. Threading: one thread. Failure: check(), Invalid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "command/command_line.h"

namespace railbed {

// When addresses of a machine without a Node are free, of agents and the operator; nullopt: "never". Invalid.
Result<std::optional<int64_t>> reclaim_seconds(const std::string& reclaim_after);

struct ClusterOptions {
  std::string kubeconfig;
  std::string context;
  bool in_cluster = false;  // as a pod, by its service account
  std::string ns = "openshift-sriov-network-operator";
  std::string service_account;  // the folder of the pod's credentials, where it is not at its usual path; no option
  std::string cache = "/var/lib/railbed/cache";
  std::string reclaim_after = "24h";  // as the operator's: see reclaim_seconds()
  std::string whereabouts = "refuse";
  std::string whereabouts_ns = "kube-system";
  std::string tenant_definitions = "allow";
  bool given() const { return in_cluster || !kubeconfig.empty(); }
  // Those that make sense only together are there together.
  Result<void> check() const;
  // `line` points to the members: this object stays where it is until the line is parsed.
  void declare(CommandLine& line);
};

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// The options that name a cluster, of verbs that serve. Threading: one thread. Failure: check(), Invalid.
#pragma once

#include <string>

#include "base/error.h"
#include "command/command_line.h"

namespace railbed {

struct ClusterOptions {
  std::string kubeconfig;
  std::string context;
  bool in_cluster = false;  // as a pod, by its service account
  std::string ns = "openshift-sriov-network-operator";
  std::string service_account;  // the folder of the pod's credentials, where it is not at its usual path; no option
  std::string cache = "/var/lib/railbed/cache";
  int reclaim_after_s = 86400;  // of a machine without a Node: its addresses are free then; 0: never
  std::string whereabouts = "refuse";
  std::string whereabouts_ns = "kube-system";
  bool given() const { return in_cluster || !kubeconfig.empty(); }
  // Those that make sense only together are there together.
  Result<void> check() const;
  // `line` points to the members: this object stays where it is until the line is parsed.
  void declare(CommandLine& line);
};

}  // namespace railbed

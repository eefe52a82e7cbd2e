// SPDX-License-Identifier: Apache-2.0
// The options of `railbed operator`.
//
// Why beside the command line: as of the agent (agent_options.h). Threading: one thread. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "api/cluster_labels.h"
#include "base/error.h"
#include "base/format.h"
#include "command/cluster_options.h"
#include "command/command_line.h"
#include "command/programs.h"

namespace railbed {

struct OperatorOptions {
  std::string kubeconfig;
  std::string context;
  std::string ns;
  std::string identity;
  std::string metrics = "127.0.0.1:9471";
  std::string resource_prefix = "openshift.io";
  std::string policy_namespaces = fmt::format("{}", fmt::join(api::kPolicyNamespaces, ","));
  std::string node_selector = "kubernetes.io/os=linux";
  std::string reclaim_after = "24h";
  bool drain = false;
  std::string log_level = "info";

  // `line` points to the members: this object stays where it is until the line is parsed.
  void declare(CommandLine& line);
  // --policy-namespaces, checked, and --resource-prefix with them: Invalid.
  Result<std::vector<std::string>> namespaces() const;
  // Which serves them.
  static const char* program() { return kClusterProgram; }
};

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// The options of `railbed preflight`.
//
// Why beside the command line: as of the agent (agent_options.h). Threading: one thread. Failure: none.
#pragma once

#include <string>

#include "command/command_line.h"
#include "command/programs.h"

namespace railbed {

struct PreflightOptions {
  std::string kubeconfig;
  std::string context;
  std::string ns = "railbed";
  std::string host;  // empty: no node is looked at
  std::string node;
  std::string conf_dir = "/etc/cni/net.d";
  std::string bin_dir = "/opt/cni/bin";
  std::string manifests = "/usr/share/railbed/deploy";

  // `line` points to the members: this object stays where it is until the line is parsed.
  void declare(CommandLine& line);
  // Which has the client of the API server.
  static const char* program() { return kClusterProgram; }
};

}  // namespace railbed

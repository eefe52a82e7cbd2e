// SPDX-License-Identifier: Apache-2.0
// The options of `railbed perf report`.
//
// Why beside the command line: with --kubeconfig the report is made by the program that has the client of the API
// server, as with the agent (agent_options.h); without, railbed makes it. Threading: one thread. Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/command_line.h"
#include "command/programs.h"

namespace railbed {

struct ReportOptions {
  // Of the subcommand of `perf`.
  static constexpr std::string_view kName = "report";
  static constexpr std::string_view kAbout = "write one HTML file from results (--save) of bw, lat, jitter and mesh";

  std::vector<std::string> results;
  std::vector<std::string> status;
  std::string title;
  std::string output;
  std::string kubeconfig;
  std::string context;

  // On the subcommand's line. Its options point to the members: this object stays where it is until it is parsed.
  void declare(CommandLine& line);
  bool with_cluster() const { return !kubeconfig.empty() || !context.empty(); }
  // Which makes a report with a cluster.
  static const char* program() { return kClusterProgram; }
};

}  // namespace railbed

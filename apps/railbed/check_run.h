// SPDX-License-Identifier: Apache-2.0
// A run of `railbed check`: what it is asked, and its steps from files to the exit status.
//
// Threading: one thread.
// Failure: an Error if nothing could be checked. What could only be checked in part is in the report
// (Report::incomplete), and the findings of the rest are printed.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/rules/rule.h"

namespace railbed {

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> facts;
  std::vector<std::string> cluster_networks;
  std::vector<std::string> outputs;  // "FORMAT" or "FORMAT=FILE"
  std::string fix;                   // "safe", "suggested"; empty: nothing is repaired
  bool diff = false;
  bool quiet = false;
  bool strict = false;
  std::string fail_on = "error";
  bool each = false;
  bool together = false;
  bool render = false;
  int render_timeout_s = 60;
  bool render_remote = false;
  std::vector<std::string> excluded;
  std::vector<std::string> select;
  std::vector<std::string> ignore;
  std::vector<std::string> require_read;
  std::string baseline;
  std::string write_baseline;
  std::string since;
  bool notes = false;
  bool show_config = false;
  check::Settings settings;
};

Result<int> run_check(CheckOptions& options);

}  // namespace railbed

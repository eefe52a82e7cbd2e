// SPDX-License-Identifier: Apache-2.0
// Where the report of a check goes: one format on standard output, others into files.
//
// Threading: one thread. Failure: an Error for a file that cannot be written, or for two formats on standard output.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/check.h"

namespace railbed {

struct CheckOutputs {
  std::string format = "text";               // on standard output
  std::map<std::string, std::string> files;  // format by file

  // "FORMAT" or "FORMAT=FILE" each.
  static Result<CheckOutputs> parse(const std::vector<std::string>& outputs);
};

struct PrintOptions {
  bool quiet = false;
  bool notes = false;  // of SARIF
  int exit_status = 0;
  std::map<std::string, std::string> rendered_from;
};

Result<void> print_report(const check::Report& report, const CheckOutputs& outputs, const PrintOptions& options);

}  // namespace railbed

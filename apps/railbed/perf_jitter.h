// SPDX-License-Identifier: Apache-2.0
// `railbed perf jitter`.
//
// Threading: the main thread. Failure: options that do not fit; what the measurement says.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "command/command_line.h"

namespace railbed {

class PerfJitter {
 public:
  explicit PerfJitter(CommandLine& perf);  // declares the subcommand
  ~PerfJitter();
  bool chosen() const;
  Result<int> run(const std::string& command) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
  CommandLine& line_;
};

}  // namespace railbed

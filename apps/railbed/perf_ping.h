// SPDX-License-Identifier: Apache-2.0
// `railbed perf ping`: pings a server of railbed or an rping, or is the other end for an unmodified rping.
//
// Threading: the main thread. Failure: options that do not fit; what the ping says.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "command/command_line.h"

namespace railbed {

class PerfPing {
 public:
  explicit PerfPing(CommandLine& perf);  // declares the subcommand
  ~PerfPing();
  bool chosen() const;
  Result<int> run(const std::string& command) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
  CommandLine& line_;
};

}  // namespace railbed

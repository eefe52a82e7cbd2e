// SPDX-License-Identifier: Apache-2.0
// railbed perf collective: all-reduces over many ranks, checked, with who was slow.
//
// Threading: the main thread. Failure: as a verb.
#pragma once

#include <memory>
#include <string>

#include "command/command_line.h"

namespace railbed {

// The subcommand of `perf`.
class PerfCollective {
 public:
  explicit PerfCollective(CommandLine& perf);  // declares it
  ~PerfCollective();
  PerfCollective(const PerfCollective&) = delete;
  PerfCollective& operator=(const PerfCollective&) = delete;

  bool chosen() const;
  int run(const std::string& command) const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
  CommandLine& line_;
};

}  // namespace railbed

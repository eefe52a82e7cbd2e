// SPDX-License-Identifier: Apache-2.0
// railbed perf mesh: measures all pairs of many endpoints, and names the NIC, host, leaf or rail that is an outlier.
//
// Threading: the main thread. Failure: as a verb.
#pragma once

#include <memory>

#include "command/command_line.h"

namespace railbed {

// The subcommand of `perf`.
class PerfMesh {
 public:
  explicit PerfMesh(CommandLine& perf);  // declares it
  ~PerfMesh();
  PerfMesh(const PerfMesh&) = delete;
  PerfMesh& operator=(const PerfMesh&) = delete;

  bool chosen() const;
  int run() const;

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
  CommandLine& line_;
};

}  // namespace railbed

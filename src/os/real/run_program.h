// SPDX-License-Identifier: Apache-2.0
// ProcessPort::run() of the real machine, which ends the program when `ending` becomes readable (-1: never).
// Threading: any thread. Failure: as there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/ports/processes.h"
#include "os/real/fence.h"

namespace railbed::os {

// What this process has for itself and programs of others must not get: it may be protected from the kernel's memory
// killer, and may open more files than a program expects that still uses select(2).
struct ProgramLimits {
  uint64_t open_files = 0;  // soft limit; 0: as this process has it
  bool oom_score = false;   // back to 0
  // As this process was started.
  static ProgramLimits of_this_process();
};

// Raises the soft limit of this process to at most `most`.
void allow_open_files(uint64_t most);

// Replaces this process by the program at `program`, which gets this environment, the open standard files and, behind
// its name, `arguments`. Returns only on failure.
Error replace_process(const std::string& program, const std::vector<std::string>& arguments);

// With `fence` the program is behind it; the request's Trust then says kOthers.
Result<RunResult> run_program(const RunRequest& request, int ending = -1, const ProgramLimits& limits = {},
                              const Fence* fence = nullptr);

}  // namespace railbed::os

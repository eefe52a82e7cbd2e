// SPDX-License-Identifier: Apache-2.0
// ProcessPort::run() of the real machine, which ends the program when `ending` becomes readable (-1: never).
// Threading: any thread. Failure: as there.
#pragma once

#include "os/ports/processes.h"

namespace railbed::os {

Result<RunResult> run_program(const RunRequest& request, int ending = -1);

}  // namespace railbed::os

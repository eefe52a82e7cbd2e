// SPDX-License-Identifier: Apache-2.0
// ProcessPort::run() of the real machine. Threading: any thread. Failure: as there.
#pragma once

#include "os/ports/processes.h"

namespace railbed::os {

Result<RunResult> run_program(const RunRequest& request);

}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
// The verb `railbed perf`, of which only `report --kubeconfig` is here. Threading: the main thread, before there are
// others. Failure: an exit status, with the reason on standard error.
#pragma once

#include "command/command_line.h"

namespace railbed {

int perf_report_verb(CommandLine& line);

}  // namespace railbed

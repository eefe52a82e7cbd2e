// SPDX-License-Identifier: Apache-2.0
// The verbs of railbedd: those that serve until they are told to stop. A row each in main.cc.
#pragma once

#include "command/command_line.h"
#include "command/exit_status.h"

namespace railbed {

int agent_verb(CommandLine& line);
int operator_verb(CommandLine& line);

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// The verb `railbed operator`. Threading: the main thread, before there are others. Failure: an exit status, with
// the reason on standard error.
#pragma once

#include "command/command_line.h"

namespace railbed {

int operator_verb(CommandLine& line);

}  // namespace railbed

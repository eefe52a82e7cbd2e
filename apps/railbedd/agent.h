// SPDX-License-Identifier: Apache-2.0
// The verb `railbed agent`, of railbedd and of railbed-cluster. Threading: the main thread, before there are others.
// Failure: an exit status, with the reason on standard error.
#pragma once

#include "command/command_line.h"
#include "command/exit_status.h"
#include "node_cluster.h"

namespace railbed {

// `join` is null in a program that serves only a machine of its own: options that name a cluster are refused.
int serve_agent(CommandLine& line, JoinCluster join);

}  // namespace railbed

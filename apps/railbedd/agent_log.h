// SPDX-License-Identifier: Apache-2.0
// The agent's log: to the journal with fields where standard error is the journal, else as text.
//
// A slow or absent reader of the log neither delays pods nor ends the agent: lines that it does not take are dropped.
// Threading: log_without_waiting() before there are threads. Failure: none.
#pragma once

#include "agent/door/request_log.h"
#include "base/log.h"

namespace railbed {

void log_without_waiting(log::Level level);
void log_request(const agent::RequestLine& line);

}  // namespace railbed

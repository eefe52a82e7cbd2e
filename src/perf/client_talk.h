// SPDX-License-Identifier: Apache-2.0
// What every client of `railbed perf serve` says first, whatever it measures then.
//
// Threading: that of the channel. Failure: as the channel; kBusy when no turn came within the limit.
#pragma once

#include <functional>
#include <string>

#include "perf/control.h"
#include "perf/watch.h"

namespace railbed::perf {

// Both sides say who they are.
Result<void> greet_server(Channel& channel, const std::string& hostname, const std::string& token,
                          const Limits& limits);

// Sends what opens a test, and waits for this client's turn: the message that comes then. `on_progress` may be empty.
Result<Message> take_turn(Channel& channel, const Message& open, const Limits& limits,
                          const std::function<void(const std::string& line)>& on_progress);

}  // namespace railbed::perf

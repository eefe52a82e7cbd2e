// SPDX-License-Identifier: Apache-2.0
// The first messages of every client of `railbed perf serve`, and of endpoints that register with a coordinator.
//
// Threading: that of the channel.
// Failure: as the channel; kDenied if the server does not prove the token; kBusy if the client was not served within
// the limit.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "perf/channel/control.h"
#include "perf/channel/watch.h"

namespace railbed::perf {

struct ClientGreeting {
  std::string hostname;
  std::string token;                 // "": none
  std::string_view peer = "server";  // what the other side is, for messages
};

// Both sides say who they are, and prove it where this one has a token: the server first (handshake.h).
Result<void> greet_server(Channel& channel, const ClientGreeting& own, const Limits& limits);

// Sends what opens a test, and waits for this client's turn: the message that comes then. `on_progress` may be empty.
Result<Envelope> take_turn(Channel& channel, const EncodedMessage& open, const Limits& limits,
                           const std::function<void(const std::string& line)>& on_progress);

}  // namespace railbed::perf

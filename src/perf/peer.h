// SPDX-License-Identifier: Apache-2.0
// What a measuring loop asks of the connection to the peer, whatever is spoken on it.
//
// Why: railbed's own control channel and perftest's exchange are different languages, and the loops understand neither:
// they only have to end when the peer has gone or wants to say something. Threading: that of the connection. Failure:
// kCanceled when the peer closed or a stop was asked for, else what is wrong with what it sent.
#pragma once

#include "base/error.h"

namespace railbed::perf {

class Peer {
 public:
  virtual ~Peer() = default;
  // Fails, without waiting, when the peer has closed, gave up or sent something invalid. Keeps what else it sent.
  virtual Result<void> interrupted() = 0;
  // Whether something that it sent waits to be read, as far as interrupted() has looked.
  virtual bool has_message() const = 0;
  // Tells the peer that this side is alive; does not wait.
  virtual Result<void> send_heartbeat() = 0;
};

}  // namespace railbed::perf

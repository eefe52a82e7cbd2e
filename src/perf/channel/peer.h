// SPDX-License-Identifier: Apache-2.0
// What a measuring loop needs from the connection to the peer, for every protocol.
//
// Why: railbed's own control channel and perftest's exchange are different protocols, and the loops need neither: they
// only have to end when the peer has disconnected or has sent something.
// Threading: that of the connection.
// Failure: kCanceled if the peer closed or a stop was requested, else the error in what it sent.
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
  // Notifies the peer that this side is alive; does not wait.
  virtual Result<void> send_heartbeat() = 0;
};

}  // namespace railbed::perf

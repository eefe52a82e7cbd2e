// SPDX-License-Identifier: Apache-2.0
// The TCP connection to a perftest: reads exactly the expected bytes, each with a deadline.
//
// Why: perftest's pieces have no frame; a reader must know how long the next one is, and a peer that sends less, more
// or nothing must not block it.
// Threading: one thread.
// Failure: kTimeout, kCanceled (the peer closed, or a stop was requested), kInvalid if the peer sends more than
// expected.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "perf/channel/peer.h"
#include "perf/channel/socket.h"

namespace railbed::perf::perftest {

class PeerLine : public Peer {
 public:
  explicit PeerLine(Socket socket, std::stop_token stop = {}, Clock& clock = real_clock())
      : socket_(std::move(socket)), stop_(std::move(stop)), clock_(&clock) {}

  // `what` is due, for messages.
  Result<std::string> read(size_t bytes, std::chrono::milliseconds patience, std::string_view what);
  // In one write: perftest takes what one read gives it for the whole piece.
  Result<void> write(std::string_view bytes, std::chrono::milliseconds patience, std::string_view what);

  Result<void> interrupted() override;
  bool has_message() const override { return !came_.empty(); }
  Result<void> send_heartbeat() override { return {}; }  // perftest has none

  const Socket& socket() const { return socket_; }

 private:
  Result<void> check_stop() const;

  Socket socket_;
  std::stop_token stop_;
  Clock* clock_;
  std::string came_;  // and was not read
};

}  // namespace railbed::perf::perftest

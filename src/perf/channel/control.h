// SPDX-License-Identifier: Apache-2.0
// The control channel: messages over one TCP connection, each with a deadline.
//
// Why: a peer may die, stall, send false or invalid data at any byte; none of it may hang or crash this side. Once both
// sides have proved a token, each message carries a MAC (seal.h), and one without it ends the connection. During a
// measurement the loops call interrupted() every quarter of a second, which costs one system call and detects a peer
// that died, gave up, or is finished.
// Threading: one thread per instance.
// Failure: kTimeout, kCanceled (the peer closed), kInvalid (invalid data); a Refusal in place of the message that is
// due becomes an Error with the peer's text.
#pragma once

#include <deque>
#include <optional>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "perf/channel/envelope.h"
#include "perf/channel/frame.h"
#include "perf/channel/message.h"
#include "perf/channel/peer.h"
#include "perf/channel/seal.h"
#include "perf/channel/socket.h"

namespace railbed::perf {

class Channel : public Peer {
 public:
  // A stop that is asked for ends waits within a quarter of a second, with kCanceled.
  explicit Channel(Socket socket, std::stop_token stop = {}, Clock& clock = real_clock())
      : socket_(std::move(socket)), stop_(std::move(stop)), clock_(&clock) {}

  Result<void> send(const EncodedMessage& message, Deadline deadline);
  template <ChannelMessage T>
  Result<void> send(const T& message, Deadline deadline) {
    return send(encoded(message), deadline);
  }
  // From here on both sides' messages carry a MAC. Right after Welcome was sent or received: fails where the peer sent
  // more before.
  Result<void> seal(Role own, const SessionKeys& keys);
  // Skips heartbeats. Each one grants another `patience`, but no more than `at_most` altogether: only who knows how
  // long the peer may be at work gives more than `patience`.
  Result<Envelope> receive(std::chrono::milliseconds patience,
                           std::chrono::milliseconds at_most = std::chrono::milliseconds(0));
  // The next message, which must be a T.
  template <ChannelMessage T>
  Result<T> expect(std::chrono::milliseconds patience,
                   std::chrono::milliseconds at_most = std::chrono::milliseconds(0)) {
    return decode_as<T>(TRY(receive(patience, at_most)));
  }
  // The next message, which must be one of these.
  template <ChannelMessage First, ChannelMessage Second, ChannelMessage... Others>
  Result<std::variant<First, Second, Others...>> receive_one_of(std::chrono::milliseconds patience) {
    return decode_as<First, Second, Others...>(TRY(receive(patience)));
  }

  // Keeps messages that are no refusal for receive().
  Result<void> interrupted() override;
  // What has come, without waiting; nothing where no whole message has. Fails as interrupted().
  Result<std::optional<Envelope>> take();
  // Whether a heartbeat came since this was last asked.
  bool heard() { return std::exchange(heard_heartbeat_, false); }
  bool has_message() const override { return !ready_.empty(); }
  Result<void> send_heartbeat() override;

  const Socket& socket() const { return socket_; }

 private:
  Result<void> check_stop() const;
  Result<void> take_frames();  // from parser_ to ready_
  Result<std::string> frame_of(const EncodedMessage& message);

  Socket socket_;
  std::stop_token stop_;
  Clock* clock_;
  FrameParser parser_;
  std::deque<Envelope> ready_;
  std::optional<Seal> seal_;
  std::string unsent_;  // the part of a heartbeat that the socket did not take
  bool heard_heartbeat_ = false;
};

}  // namespace railbed::perf

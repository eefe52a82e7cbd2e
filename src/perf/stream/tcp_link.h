// SPDX-License-Identifier: Apache-2.0
// The same patterns as RdmaLink over plain sockets, so that a report can show IP next to RDMA.
//
// Why: "is RDMA worth it here?" is answered by the same sizes, streams and ping-pong over TCP on the same path.
// Bandwidth is counted where the data arrives (data that the sender passed to its kernel has not arrived yet), with one
// thread per stream on both sides; latency is a blocking ping-pong with TCP_NODELAY, as in applications. Order: the
// server open()s and sends its address(), the client connect()s, the server accept()s; then rounds.
// Threading: one thread per instance (which starts its own and joins them).
// Failure: as Socket and Watch.
#pragma once

#include <vector>

#include "os/ports/kernel.h"
#include "perf/channel/control.h"
#include "perf/channel/message.h"
#include "perf/channel/watch.h"
#include "perf/stream/traffic.h"

namespace railbed::perf {

// Keeps strangers out of a measurement.
uint64_t random_cookie();

// This side of the path that the control connection takes.
Result<Endpoint> tcp_endpoint(os::Kernel& kernel, const Channel& channel);

class TcpLink {
 public:
  // What receiving takes.
  static int64_t memory_bytes(const TestSpec& spec);
  // `data_port` is where the streams are taken; 0: any free one.
  static Result<TcpLink> open(Endpoint endpoint, const Channel& channel, const TestSpec& spec, uint16_t data_port);
  TcpAddress address() const;
  Result<void> accept(Deadline deadline);
  static Result<TcpLink> connect(os::Kernel& kernel, const Channel& channel, const TestSpec& spec,
                                 const TcpAddress& remote, Deadline deadline);

  const Endpoint& endpoint() const { return endpoint_; }

  // Sends whole messages on all streams. Returns their number.
  Result<int64_t> send(const Round& round, Watch& watch);
  // Receives until the peer's Done has come and as many bytes have arrived as it announces.
  Result<Outcome> receive(const Start& start, Channel& channel, Watch& watch);
  Result<PingResult> ping(const Round& round, Watch& watch);
  Result<int64_t> pong(int64_t size_bytes, Watch& watch);

 private:
  enum class Direction : uint8_t { kSend, kReceive };

  TcpLink() = default;
  Result<void> idle_until(uint64_t due, uint64_t& next_check, Watch& watch);
  Result<void> exchange(std::span<std::byte> bytes, Direction direction, uint64_t& next_check, Watch& watch);

  Endpoint endpoint_;
  int64_t wanted_streams_ = 1;
  bool latency_ = false;
  uint64_t cookie_ = 0;
  std::optional<Listener> listener_;
  std::vector<Socket> streams_;
};

}  // namespace railbed::perf

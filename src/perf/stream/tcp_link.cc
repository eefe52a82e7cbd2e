// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/tcp_link.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "perf/stream/free_memory.h"
#include "rdma/local_network.h"

namespace railbed::perf {
namespace {

constexpr std::chrono::milliseconds kBlockingPatience{100};

}  // namespace

uint64_t random_cookie() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

Result<Endpoint> tcp_endpoint(os::Kernel& kernel, const Channel& channel) {
  Endpoint end;
  const IpAddress local = TRY(channel.socket().local_address());
  const rdma::LocalNetwork network = TRY(rdma::read_local_network(kernel));
  end.hostname = kernel.host_name();
  end.address = local.to_string();
  if (const rdma::LocalInterface* interface = rdma::interface_of(network, local)) end.netdev = interface->name.value;
  return end;
}

Result<TcpLink> TcpLink::open(Endpoint endpoint, const Channel& channel, const TestSpec& spec, uint16_t data_port) {
  TcpLink link;
  link.endpoint_ = std::move(endpoint);
  link.wanted_streams_ = spec.qps;
  link.latency_ = spec.kind == TestKind::kLatency;
  link.cookie_ = random_cookie();
  link.listener_ = TRY(Listener::open_like(channel.socket(), data_port));
  return link;
}

TcpAddress TcpLink::address() const {
  return {.port = listener_->port(), .cookie = cookie_};
}

Result<void> TcpLink::accept(Deadline deadline) {
  while (static_cast<int64_t>(streams_.size()) < wanted_streams_) {
    Socket socket = TRY(listener_->accept(deadline).context("waiting for {} data streams", wanted_streams_));
    uint64_t cookie = 0;
    // A stranger that connects here gets no answer and delays the test by a second at most.
    const auto read = socket.read_all(std::as_writable_bytes(std::span(&cookie, 1)),
                                      Deadline::after(std::chrono::milliseconds(1000)));
    if (!read || cookie != cookie_) continue;
    TRY(socket.set_no_delay());
    if (latency_) TRY(socket.set_blocking(kBlockingPatience));
    streams_.push_back(std::move(socket));
  }
  listener_.reset();
  return {};
}

Result<TcpLink> TcpLink::connect(os::Kernel& kernel, const Channel& channel, const TestSpec& spec,
                                 const TcpAddress& remote, Deadline deadline) {
  TcpLink link;
  link.endpoint_ = TRY(tcp_endpoint(kernel, channel));
  TRY(need_memory(kernel.files(), spec.qps * *std::ranges::max_element(spec.sizes_bytes)));  // what each stream sends
  for (int64_t i = 0; i < spec.qps; ++i) {
    Socket socket = TRY(Socket::connect_like(channel.socket(), static_cast<uint16_t>(remote.port), deadline)
                            .context("data stream {}", i + 1));
    TRY(socket.set_no_delay());
    // In the byte order of this machine: both ends are this program, on machines of the same kind.
    TRY(socket.write_all(std::as_bytes(std::span(&remote.cookie, 1)), deadline));
    if (spec.kind == TestKind::kLatency) TRY(socket.set_blocking(kBlockingPatience));
    link.streams_.push_back(std::move(socket));
  }
  return link;
}

// Moves all bytes. Runs the watch whenever the patience ends, and once per interval.
Result<void> TcpLink::exchange(std::span<std::byte> bytes, Direction direction, uint64_t& next_check, Watch& watch) {
  uint64_t last_progress = watch.clock().now();
  while (!bytes.empty()) {
    const size_t count =
        TRY(direction == Direction::kSend ? streams_[0].write_now(bytes) : streams_[0].read_now(bytes));
    bytes = bytes.subspan(count);
    if (count > 0 && bytes.empty()) break;
    const uint64_t now = watch.clock().now();
    if (count > 0) last_progress = now;
    if (count == 0 || now >= next_check) {
      next_check = now + watch.interval_ticks();
      TRY(watch.tick(now, last_progress));
    }
  }
  return {};
}

// Sleeps through most of a long pause, and polls the clock at its end: a sleep ends late.
Result<void> TcpLink::idle_until(uint64_t due, uint64_t& next_check, Watch& watch) {
  constexpr uint64_t kPolled_ns = 200'000;
  constexpr uint64_t kLongest_ns = 100'000'000;
  const TickClock& clock = watch.clock();
  for (uint64_t now = clock.now(); now < due; now = clock.now()) {
    if (now >= next_check) {
      next_check = now + watch.interval_ticks();
      TRY(watch.tick(now, now));
    }
    const uint64_t left_ns = clock.between_ns(now, due);
    if (left_ns > kPolled_ns) clock.sleep_ns(std::min(left_ns - kPolled_ns, kLongest_ns));
  }
  return {};
}

Result<PingResult> TcpLink::ping(const Round& round, Watch& watch) {
  const TickClock& clock = watch.clock();
  PingResult result{.duration_ns = 0, .meter = LatencyMeter(LatencyMeter::slot_for_ns(round.duration_ns))};
  std::vector<std::byte> buffer(static_cast<size_t>(round.size_bytes));
  uint64_t next_check = clock.now() + watch.interval_ticks();
  for (int warm_up = 0; warm_up < 4; ++warm_up) {
    buffer[0] = std::byte{1};
    TRY(exchange(buffer, Direction::kSend, next_check, watch));
    TRY(exchange(buffer, Direction::kReceive, next_check, watch));
  }
  const uint64_t start = clock.now();
  const PingSchedule schedule(round, clock, start);
  uint64_t now = start;
  for (int64_t number = 0;; ++number) {
    const bool last = schedule.last(number, now);
    buffer[0] = std::byte{last ? kLastPing : uint8_t{1}};
    const uint64_t due = schedule.due(number, clock.now());
    TRY(idle_until(due, next_check, watch));
    TRY(exchange(buffer, Direction::kSend, next_check, watch));
    TRY(exchange(buffer, Direction::kReceive, next_check, watch));
    now = clock.now();
    result.meter.add(clock.between_ns(start, due), clock.between_ns(due, now));
    if (last) break;
    if (now >= next_check) {
      next_check = now + watch.interval_ticks();
      TRY(watch.tick(now, now, number + 1));
    }
  }
  result.duration_ns = clock.between_ns(start, now);
  return result;
}

Result<int64_t> TcpLink::pong(int64_t size_bytes, Watch& watch) {
  std::vector<std::byte> buffer(static_cast<size_t>(size_bytes));
  uint64_t next_check = watch.clock().now() + watch.interval_ticks();
  for (int64_t answered = 1;; ++answered) {
    TRY(exchange(buffer, Direction::kReceive, next_check, watch));
    const bool last = buffer[0] == std::byte{kLastPing};
    TRY(exchange(buffer, Direction::kSend, next_check, watch));
    if (last) return answered;
  }
}

}  // namespace railbed::perf

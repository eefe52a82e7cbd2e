// SPDX-License-Identifier: Apache-2.0
// For tests: a server of railbed in this process, and a simulated one, both over loopback TCP.
//
// Why: tests of peers' errors and of a server's limits need the same two.
// Threading: its own thread each, joined at the end.
// Failure: as the test that uses it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "perf/session/client.h"
#include "perf/session/point_to_point.h"
#include "perf/session/server.h"
#include "perf/test_clock.h"
#include "perf/test_resting_clock.h"

namespace railbed::perf {

using std::chrono::milliseconds;

inline Limits short_limits() {
  return {.connect = milliseconds(300),
          .answer = milliseconds(150),
          .idle = milliseconds(300),
          .stall = milliseconds(200),
          .check = milliseconds(20),
          .max_sessions = 8};
}

inline TestSpec small_test(TestKind kind) {
  return {.kind = kind, .transport = Transport::kTcp, .sizes_bytes = {64, 4096}, .iterations = 50};
}

// By a clock of the test: a limit runs out where all wait for it, and not where the machine has other work.
inline Result<Measurement> measure_with(uint16_t port, const TestSpec& spec, Limits limits = short_limits()) {
  std::optional<RestingClock> own;
  if (limits.clock == &real_clock()) limits.clock = &own.emplace(std::chrono::microseconds(5));
  return measure(*os::real_kernel(),
                 {.host = "127.0.0.1",
                  .port = port,
                  .place = {},
                  .limits = limits,
                  .label = "lo",
                  .command = "test",
                  .on_progress = {}},
                 spec);
}

class ServedTest : public testing::Test {
 protected:
  void SetUp() override { serve({}); }
  void serve(ServerOptions options) {
    options.protocols = {point_to_point_protocol()};
    options.bind = *IpAddress::parse("127.0.0.1");
    options.port = 0;
    options.session.limits = limits();
    options.on_event = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      events_.push_back(line);
      changed_.notify_all();
    };
    auto server = Server::open(*kernel_, std::move(options));
    ASSERT_TRUE(server) << server.error().to_string();
    server_ = std::move(*server);
    thread_ = std::jthread([this] { EXPECT_TRUE(server_->run()); });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }

  virtual Limits limits() const { return short_limits(); }

  // Waits for an event with `text` in it.
  bool heard(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] {
      return std::any_of(events_.begin(), events_.end(),
                         [&](const std::string& line) { return line.find(text) != std::string::npos; });
    });
  }
  Socket connect() {
    auto socket = Socket::connect("127.0.0.1", server_->port(), Deadline::after(milliseconds(1000)));
    EXPECT_TRUE(socket) << socket.error().to_string();
    return std::move(*socket);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
  std::unique_ptr<os::Kernel> kernel_ = os::real_kernel();
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

// A server of a TCP test that gives `good` answers and then does what the test wants.
class FakeServer {
 public:
  using Finale = std::function<void(Channel& channel, Listener& data)>;
  FakeServer(size_t good, Finale finale)
      : listener_(*Listener::open(*IpAddress::parse("127.0.0.1"), 0)),
        data_(*Listener::open(*IpAddress::parse("127.0.0.1"), 0)),
        thread_([this, good, finale = std::move(finale)] { play(good, finale); }) {}
  uint16_t port() const { return listener_.port(); }

 private:
  void play(size_t good, const Finale& finale) {
    auto socket = listener_.accept(Deadline::after(milliseconds(20000)));
    ASSERT_TRUE(socket);
    Channel channel(std::move(*socket));
    const Offer offer{.endpoint = {}, .rdma = {}, .tcp = TcpAddress{.port = data_.port(), .cookie = 1}};
    const EncodedMessage answers[] = {encoded(Hello{.protocol = kProtocol, .version = "0", .hostname = "fake"}),
                                      encoded(offer), encoded(Ready{}), encoded(Started{1}),
                                      encoded(Outcome{.sequence = 1, .bytes = 1, .duration_s = 1, .series = {}})};
    for (size_t i = 0; i < good && i < std::size(answers); ++i) {
      if (!channel.receive(milliseconds(20000))) return;
      if (!channel.send(answers[i], Deadline::after(milliseconds(500)))) return;
    }
    finale(channel, data_);
  }

  Listener listener_;
  Listener data_;  // its backlog accepts the stream, but nothing reads
  std::jthread thread_;
};

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// What a server allows, and what a client believes: peers that are greedy, silent, slow or lie.
#include <cerrno>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perf/bounds.h"
#include "perf/channel/test_greeting.h"
#include "perf/session/test_peers.h"
#include "perf/stream/tcp_link.h"
#include "perf/stream/traffic.h"

namespace railbed::perf {
namespace {

Result<void> send(Channel& channel, const auto& message) {
  return channel.send(message, Deadline::after(milliseconds(1000)));
}

// With the patience of a loaded machine.
class LimitsTest : public ServedTest {
 protected:
  void SetUp() override {}
  Limits limits() const override { return limits_; }
  // A client that has said who it is.
  Channel greeted() {
    Channel channel(connect());
    greet_as_client(channel, "");
    return channel;
  }
  Result<Measurement> measured(const TestSpec& spec, ClientOptions options = {}) {
    options.host = "127.0.0.1";
    options.port = server_->port();
    options.limits = limits_;
    return measure(*kernel_, options, spec);
  }

  Limits limits_{.connect = milliseconds(10000),
                 .greet = milliseconds(10000),
                 .answer = milliseconds(10000),
                 .idle = milliseconds(10000),
                 .stall = milliseconds(10000),
                 .check = milliseconds(20),
                 .turn = milliseconds(60000),
                 .max_sessions = 4,
                 .max_silent = 8};
};

TEST_F(LimitsTest, ReportsClientsBeyondTheLimit) {
  serve({});
  std::vector<Channel> clients;
  for (int i = 0; i < limits_.max_sessions; ++i) clients.push_back(greeted());
  Channel late(connect());
  const auto answer = late.expect<Hello>(milliseconds(20000));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the peer says: the server has 4 clients already");
}

// Who says nothing, or only that he lives, cannot keep out who measures.
TEST_F(LimitsTest, SilentClientsKeepNoOneOut) {
  serve({});
  std::vector<Channel> silent;
  for (int i = 0; i < 40; ++i) {
    silent.emplace_back(connect());
    EXPECT_TRUE(silent.back().send_heartbeat());
  }
  const auto result = measured(small_test(TestKind::kLatency));
  EXPECT_TRUE(result) << result.error().to_string();
}

TEST_F(LimitsTest, HeartbeatsAreNoGreeting) {
  limits_.greet = milliseconds(200);
  serve({});
  Channel channel(connect());
  // For as long as the other side takes them, with a deadline that only a hang reaches.
  const Deadline deadline = Deadline::after(milliseconds(60000));
  while (channel.interrupted() && channel.send_heartbeat() && !deadline.passed())
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(deadline.passed());
  EXPECT_TRUE(heard("no message from the peer for 200 ms"));
}

TEST_F(LimitsTest, OnlyWhoHasTheTokenIsServed) {
  ServerOptions options;
  options.session.token = "correct horse";
  serve(std::move(options));
  EXPECT_TRUE(measured(small_test(TestKind::kLatency), {.token = "correct horse"}));
  const auto why_not = [&](const std::string& token) {
    const auto result = measured(small_test(TestKind::kLatency), {.token = token});
    return result ? "measured" : result.error().to_string();
  };
  EXPECT_EQ(why_not(""),
            "perf lat with 127.0.0.1: the peer says: this server requires a token\n"
            "  give the client the server's token with --token-file");
  for (const char* wrong : {"correct horsf", "correct", "correct horse ", "xorrect horse"})
    EXPECT_EQ(why_not(wrong),
              "perf lat with 127.0.0.1: the server does not have this token: its proof is wrong\n  check the address, "
              "and that both sides have the same --token-file; nothing that depends on the token was sent to the "
              "server");
  EXPECT_TRUE(heard("the peer says: this server's token is not the client's"));
}

// The accept loop survives that there is no file descriptor left, and serves again when there is.
TEST_F(LimitsTest, OutlivesALackOfFileDescriptors) {
  serve({});
  EXPECT_TRUE(measured(small_test(TestKind::kLatency)));
  EXPECT_TRUE(heard("1 test(s) done"));  // so that no session gives back a descriptor below
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<int> taken{::dup(0)};
  ASSERT_GE(taken[0], 0);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(taken[0]) + 8;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken.push_back(fd);
  EXPECT_EQ(errno, EMFILE);
  ::close(taken.back());  // for the client; the server, in the same process, gets none
  taken.pop_back();
  std::optional<Socket> late(connect());
  const bool heard_it = heard("EMFILE");
  for (const int fd : taken) ::close(fd);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(heard_it);
  late.reset();
  const auto result = measured(small_test(TestKind::kLatency));
  EXPECT_TRUE(result) << result.error().to_string();
}

// Two on one interface would halve each other's figures: the second waits, and is notified.
TEST_F(LimitsTest, OneMeasurementPerInterfaceAtATime) {
  serve({});
  std::optional<Channel> first(greeted());
  ASSERT_TRUE(send(*first, OpenTest{small_test(TestKind::kBandwidth)}));
  ASSERT_TRUE(first->expect<Offer>(milliseconds(20000)));
  std::atomic<bool> reported = false;
  std::string line;
  std::jthread second([&] {
    ClientOptions options;
    options.on_progress = [&](const std::string& said) {
      if (!reported.exchange(true)) line = said;
    };
    const auto result = measured(small_test(TestKind::kLatency), std::move(options));
    EXPECT_TRUE(result) << result.error().to_string();
  });
  const Deadline deadline = Deadline::after(milliseconds(60000));
  while (!reported && !deadline.passed()) std::this_thread::yield();
  first.reset();  // goes away without a word
  second.join();
  EXPECT_EQ(line, "queued, 1 ahead: another measurement is on lo");
}

TEST_F(LimitsTest, ATestBeyondTheBudgetIsRefused) {
  ServerOptions options;
  options.budget = {.memory_bytes = int64_t{1} << 20, .streams = 16};
  serve(std::move(options));
  TestSpec spec = small_test(TestKind::kBandwidth);
  spec.qps = 8;
  const auto result = measured(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error().to_string(),
      "perf bw with 127.0.0.1: at the server: the peer says: this test needs 2 MiB of memory and 8 streams of the "
      "server, which gives at most 1 MiB and 16 streams\n  lower --size, --max-size or --qps");
}

// A firewall can open one port, again and again.
TEST_F(LimitsTest, StreamsComeToTheDataPortThatWasSet) {
  uint16_t free_port = 0;
  {
    auto listener = Listener::open(*IpAddress::parse("127.0.0.1"), 0);
    ASSERT_TRUE(listener);
    free_port = listener->port();
  }
  ServerOptions options;
  options.session.data_port = free_port;
  serve(std::move(options));
  for (int i = 0; i < 3; ++i) {
    Channel channel = greeted();
    ASSERT_TRUE(send(channel, OpenTest{small_test(TestKind::kBandwidth)}));
    // The session of the last client may not be over yet.
    auto answer = channel.receive(milliseconds(20000));
    while (answer && answer->type == Wait::kName) answer = channel.receive(milliseconds(20000));
    ASSERT_TRUE(answer) << answer.error().to_string();
    const auto offer = decode_as<Offer>(*answer);
    ASSERT_TRUE(offer) << offer.error().to_string();
    EXPECT_EQ(offer->tcp->port, free_port);
  }
  EXPECT_TRUE(measured(small_test(TestKind::kLatency)));
}

// 2^40 messages of 2^26 bytes are 0 bytes in 64 bits, and the round ended at once.
TEST_F(LimitsTest, RefusesMoreMessagesThanCanBeCounted) {
  serve({});
  Channel channel = greeted();
  TestSpec spec = small_test(TestKind::kBandwidth);
  spec.sizes_bytes = {kMaxSize_bytes};
  ASSERT_TRUE(send(channel, OpenTest{spec}));
  const auto offer = channel.expect<Offer>(milliseconds(20000));
  ASSERT_TRUE(offer);
  auto link = TcpLink::connect(*kernel_, channel, spec, *offer->tcp, Deadline::after(milliseconds(10000)));
  ASSERT_TRUE(link);
  ASSERT_TRUE(send(channel, Connect{}));
  ASSERT_TRUE(channel.expect<Ready>(milliseconds(20000)));
  ASSERT_TRUE(send(channel, Start{.sequence = 1, .size_bytes = kMaxSize_bytes}));
  ASSERT_TRUE(channel.expect<Started>(milliseconds(20000)));
  ASSERT_TRUE(send(channel, Done{.sequence = 1, .messages = int64_t{1} << 40}));
  const auto outcome = channel.expect<Outcome>(milliseconds(20000));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(
      outcome.error().message,
      "the peer says: the peer says that it sent 1099511627776 messages of 64 MiB, more than 9007199254740992 bytes");
}

// What is measured before a stop, or before the server goes, is there for the caller.
TEST_F(LimitsTest, WhatWasMeasuredBeforeAStopIsKept) {
  serve({});
  TestSpec spec = small_test(TestKind::kLatency);
  spec.sizes_bytes = {2, 4, 8};
  std::stop_source stop;
  std::vector<size_t> sizes;
  ClientOptions options;
  options.stop = stop.get_token();
  options.on_size = [&](const Measurement& so_far) -> Result<void> {
    sizes.push_back(so_far.latency.size());
    if (sizes.size() == 2) stop.request_stop();
    return {};
  };
  const auto result = measured(spec, std::move(options));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kCanceled);
  EXPECT_EQ(result.error().to_string(), "perf lat with 127.0.0.1: at the server: stopped");
  EXPECT_EQ(sizes, (std::vector<size_t>{1, 2}));
}

// ---- what a client believes ----

std::string outcome_of(const Outcome& lie) {
  FakeServer server(4, [&lie](Channel& channel, Listener& data) {
    auto stream = data.accept(Deadline::after(milliseconds(10000)));
    ASSERT_TRUE(stream);
    std::jthread reader([&stream] {
      std::vector<std::byte> buffer(65536);
      while (stream->read_some(buffer, Deadline::after(milliseconds(20000)))) continue;
    });
    const auto done = channel.expect<Done>(milliseconds(20000), milliseconds(20000));
    ASSERT_TRUE(done);
    Outcome outcome = lie;
    outcome.bytes = done->messages * 64;
    ASSERT_TRUE(send(channel, outcome));
    (void)channel.receive(milliseconds(20000));
  });
  Limits limits = short_limits();
  limits.answer = limits.stall = milliseconds(10000);
  TestSpec spec = small_test(TestKind::kBandwidth);
  spec.sizes_bytes = {64};
  const auto result = measure(*os::real_kernel(), {.host = "127.0.0.1", .port = server.port(), .limits = limits}, spec);
  return result ? fmt::format("{} Gb/s", result->bandwidth[0].average_gbps) : result.error().story();
}

TEST(Client, BelievesNoImpossibleFigures) {
  const std::string measuring = "perf bw with 127.0.0.1: measuring 64 B: the server says that ";
  EXPECT_EQ(outcome_of({.sequence = 1, .duration_s = 1e-12}),
            measuring + "2.56e+07 Gb/s came, more than any path carries");
  EXPECT_EQ(outcome_of({.sequence = 1, .duration_s = 1, .series = {.slot_ms = 10, .gbps = {1}, .peak_gbps = 1e6}}),
            measuring + "1e+06 Gb/s came, more than any path carries");
  EXPECT_EQ(outcome_of({.sequence = 1, .duration_s = 1, .series = {.slot_ms = 10, .gbps = {1, 2e6}, .peak_gbps = 1}}),
            measuring + "2e+06 Gb/s came, more than any path carries");
  const std::string slow = outcome_of({.sequence = 1, .duration_s = 1000});
  EXPECT_TRUE(slow.starts_with(measuring + "3200 bytes took 1000 s, here the round took ")) << slow;
  // All in one piece: then the exchange as a whole is the measure.
  EXPECT_NE(outcome_of({.sequence = 1, .duration_s = 0}), "0 Gb/s");
}

TEST(Client, HeartbeatsAloneHoldItNoLonger) {
  for (const size_t good : {0u, 2u, 4u}) {
    FakeServer server(good, [](Channel& channel, Listener&) {
      const Deadline deadline = Deadline::after(milliseconds(60000));
      while (channel.send_heartbeat() && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
      EXPECT_FALSE(deadline.passed());
    });
    const auto result = measure_with(server.port(), small_test(TestKind::kBandwidth));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::kTimeout) << result.error().to_string();
  }
}

TEST(Client, SaysThatTheServerIsOlder) {
  FakeServer server(0, [](Channel& channel, Listener&) {
    ASSERT_TRUE(channel.receive(milliseconds(20000)));
    ASSERT_TRUE(
        send(channel, Refusal{.message = "the client speaks protocol 2, this server (railbed 0.1.0) speaks 1"}));
    (void)channel.receive(milliseconds(20000));
  });
  const auto result = measure_with(server.port(), small_test(TestKind::kBandwidth));
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error().story(),
      "perf bw with 127.0.0.1: the peer says: the client speaks protocol 2, this server (railbed 0.1.0) speaks 1");
}

// What a peer says reaches a terminal as text only.
TEST(Client, TextOfAPeerSteersNoTerminal) {
  FakeServer server(0, [](Channel& channel, Listener&) {
    ASSERT_TRUE(channel.receive(milliseconds(20000)));
    ASSERT_TRUE(send(channel, Refusal{.message = "\x1b[2J\xc2\x9b"
                                                 "31mRDMA 400 Gb/s OK\x07",
                                      .hint = "\x1b]0;owned\x07"}));
    (void)channel.receive(milliseconds(20000));
  });
  const auto result = measure_with(server.port(), small_test(TestKind::kBandwidth));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(),
            "perf bw with 127.0.0.1: the peer says: \\x1b[2J\\x9b31mRDMA 400 Gb/s OK\\x07\n  \\x1b]0;owned\\x07");
}

// ---- coordinated omission ----

// Answers pings, but for a pause of half a second after the first hundred, by the client's clock.
void answer_with_a_pause(Channel& channel, Listener& data, size_t size_bytes, SimulatedClock& clock) {
  auto stream = data.accept(Deadline::after(milliseconds(10000)));
  ASSERT_TRUE(stream);
  uint64_t cookie = 0;
  ASSERT_TRUE(stream->read_all(std::as_writable_bytes(std::span(&cookie, 1)), Deadline::after(milliseconds(10000))));
  ASSERT_TRUE(stream->set_no_delay());
  std::vector<std::byte> ping(size_bytes);
  for (int answered = 0; ping[0] != std::byte{kLastPing}; ++answered) {
    ASSERT_TRUE(stream->read_all(ping, Deadline::after(milliseconds(20000))));
    if (answered == 100) clock.advance(milliseconds(500));
    ASSERT_TRUE(stream->write_all(ping, Deadline::after(milliseconds(20000))));
  }
  ASSERT_TRUE(channel.expect<Done>(milliseconds(20000)));
  ASSERT_TRUE(send(channel, Outcome{.sequence = 1, .bytes = 0, .duration_s = 0, .series = {}}));
  (void)channel.receive(milliseconds(20000));
}

Result<Measurement> measured_with_a_pause(int64_t rate_per_s) {
  SimulatedClock clock(std::chrono::microseconds(1));
  FakeServer server(4, [&](Channel& channel, Listener& data) { answer_with_a_pause(channel, data, 64, clock); });
  Limits limits = short_limits();
  limits.clock = &clock;
  TestSpec spec = small_test(TestKind::kLatency);
  spec.sizes_bytes = {64};
  spec.iterations = 2000;
  spec.rate_per_s = rate_per_s;
  return measure(*os::real_kernel(), {.host = "127.0.0.1", .port = server.port(), .limits = limits}, spec);
}

// 500 of the 2,000 pings are due in the pause: a twentieth of all wait 400 ms and longer.
TEST(Client, BySchedulePingsThatWereDueInAPauseAreLate) {
  const auto result = measured_with_a_pause(1000);
  ASSERT_TRUE(result) << result.error().to_string();
  const LatencyPoint& point = result->latency[0];
  EXPECT_EQ(point.histogram.count(), 2000u);
  EXPECT_NEAR(static_cast<double>(point.histogram.settled_percentile_ns(95).value_or(0)), 400e6, 10e6);
  ASSERT_EQ(point.outages.size(), 1u);
  EXPECT_NEAR(point.outages[0].duration_ms, 500, 5);  // and what it takes to send those that were due
}

// Without a schedule one sample is late. The pause is reported anyway.
TEST(Client, APauseIsAnOutage) {
  const auto result = measured_with_a_pause(0);
  ASSERT_TRUE(result) << result.error().to_string();
  const LatencyPoint& point = result->latency[0];
  EXPECT_GE(point.histogram.max_ns(), 499'000'000u);
  ASSERT_EQ(point.outages.size(), 1u);
  EXPECT_NEAR(point.outages[0].duration_ms, 500, 1);
}

}  // namespace
}  // namespace railbed::perf

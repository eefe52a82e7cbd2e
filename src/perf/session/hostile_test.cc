// SPDX-License-Identifier: Apache-2.0
// Both sides of the control channel against peers that die, stall, lie or send nonsense after every message, over
// loopback TCP; a whole measurement after each of them must still work.
#include <thread>

#include <gtest/gtest.h>

#include "perf/bounds.h"
#include "perf/channel/test_messages.h"
#include "perf/session/test_peers.h"
#include "perf/stream/tcp_link.h"

namespace railbed::perf {
namespace {

enum class Misdeed { kDie, kStall, kNonsense, kLieAboutSize, kWrongMessage, kRefuse };
constexpr Misdeed kMisdeeds[] = {Misdeed::kDie,          Misdeed::kStall,        Misdeed::kNonsense,
                                 Misdeed::kLieAboutSize, Misdeed::kWrongMessage, Misdeed::kRefuse};

// Commits the misdeed; a stall lasts until the other side has given up.
void misbehave(Socket& socket, Misdeed misdeed) {
  const auto write = [&](std::string_view bytes) {
    (void)socket.write_all(std::as_bytes(std::span(bytes)), Deadline::after(milliseconds(100)));
  };
  switch (misdeed) {
    case Misdeed::kDie:
      return;
    case Misdeed::kStall:
      break;
    case Misdeed::kNonsense:
      write("HTTP/1.1 400 Bad Request\r\n\r\n");
      break;
    case Misdeed::kLieAboutSize:
      write(std::string_view("RBP1\x00\x00\x10\x00{\"type\":\"he", 19));
      break;
    case Misdeed::kWrongMessage:
      write(frame(encode(Outcome{.sequence = 7, .bytes = 1, .duration_s = 0, .series = {}})));
      break;
    case Misdeed::kRefuse:
      write(frame(encode(Refusal{.message = "the machine is on fire", .hint = "call somebody"})));
      break;
  }
  std::array<std::byte, 256> buffer;
  const Deadline deadline = Deadline::after(milliseconds(5000));
  while (socket.read_some(buffer, deadline)) continue;
}

// ---- the server against clients ----

class HostileTest : public ServedTest {
 protected:
  Limits limits() const override {
    Limits limits = short_limits();
    limits.clock = &clock_;
    return limits;
  }
  // By the same clock as the server.
  Result<Measurement> measured(const TestSpec& spec) const { return measure_with(server_->port(), spec, limits()); }

  mutable RestingClock clock_{std::chrono::microseconds(5)};
};

TEST_F(HostileTest, MeasuresOverLoopback) {
  const auto bandwidth = measured(small_test(TestKind::kBandwidth));
  ASSERT_TRUE(bandwidth) << bandwidth.error().to_string();
  ASSERT_EQ(bandwidth->bandwidth.size(), 2u);
  EXPECT_EQ(bandwidth->bandwidth[0].size_bytes, 64);
  EXPECT_EQ(bandwidth->bandwidth[1].messages, 50);
  EXPECT_EQ(bandwidth->client.address, "127.0.0.1");
  EXPECT_EQ(bandwidth->server.netdev, "lo");
  const auto latency = measured(small_test(TestKind::kLatency));
  ASSERT_TRUE(latency) << latency.error().to_string();
  ASSERT_EQ(latency->latency.size(), 2u);
  EXPECT_EQ(latency->latency[1].histogram.count(), 50u);
  EXPECT_GT(latency->latency[1].histogram.min_ns(), 0u);
  EXPECT_FALSE(latency->latency[1].slots.empty());
}

TEST_F(HostileTest, MeasuresForATimeOverSeveralStreams) {
  TestSpec spec = small_test(TestKind::kBandwidth);
  spec.iterations = 0;
  spec.duration_ms = 50;
  spec.qps = 3;
  const auto result = measured(spec);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_GT(result->bandwidth[1].messages, 3);
  EXPECT_GT(result->bandwidth[1].average_gbps, 0);
}

// A message of a client in a TCP latency test, and whether it waits for an answer.
struct Line {
  EncodedMessage message;
  bool awaits_answer;
};
std::vector<Line> lines() {
  return {{encoded(Hello{.protocol = kProtocol, .version = "0", .hostname = "bad"}), true},
          {encoded(OpenTest{small_test(TestKind::kLatency)}), true},
          {encoded(Connect{}), false},  // the server now waits for the data stream, which never comes
          {encoded(Start{.sequence = 1, .size_bytes = 64}), false}};
}

void do_wrong(Channel channel, Misdeed misdeed, size_t good) {
  SCOPED_TRACE(fmt::format("misdeed {} after {} messages", static_cast<int>(misdeed), good));
  for (size_t i = 0; i < good; ++i) {
    const Line line = lines()[i];
    ASSERT_TRUE(channel.send(line.message, Deadline::after(milliseconds(1000))));
    if (!line.awaits_answer) continue;
    auto answer = channel.receive(milliseconds(20000));
    while (answer && answer->type == Wait::kName) answer = channel.receive(milliseconds(20000));
    ASSERT_TRUE(answer) << answer.error().to_string();
  }
  misbehave(const_cast<Socket&>(channel.socket()), misdeed);
}

TEST_F(HostileTest, GoesOnServingAfterBadClients) {
  for (Misdeed misdeed : kMisdeeds) {
    std::vector<std::jthread> clients;
    for (size_t good = 0; good <= lines().size(); ++good)
      clients.emplace_back([this, misdeed, good] { do_wrong(Channel(connect()), misdeed, good); });
    clients.clear();
    // It may have to wait until the server has given up on the others.
    Limits patient = limits();
    patient.connect = patient.answer = patient.stall = milliseconds(20000);
    const auto result = measure_with(server_->port(), small_test(TestKind::kLatency), patient);
    EXPECT_TRUE(result) << result.error().to_string();
  }
}

TEST_F(HostileTest, SendsTheClientWhatWasWrong) {
  Channel channel(connect());
  ASSERT_TRUE(
      channel.send(Hello{.protocol = 99, .version = "0", .hostname = "new"}, Deadline::after(milliseconds(500))));
  const auto answer = channel.expect<Hello>(milliseconds(2000));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().to_string(),
            fmt::format("the peer says: the client (railbed 0) speaks protocol 99, this server (railbed {}) speaks {}\n"
                        "  use the same railbed on both sides",
                        RAILBED_VERSION, kProtocol));
  EXPECT_TRUE(heard("speaks protocol 99"));
}

TEST_F(HostileTest, RefusesASizeThatWasNotAnnounced) {
  Channel channel(connect());
  const auto send = [&](const auto& message) { return channel.send(message, Deadline::after(milliseconds(500))); };
  ASSERT_TRUE(send(Hello{.protocol = kProtocol, .version = "0", .hostname = "liar"}));
  ASSERT_TRUE(channel.expect<Hello>(milliseconds(2000)));
  const TestSpec spec = small_test(TestKind::kBandwidth);
  ASSERT_TRUE(send(OpenTest{spec}));
  const auto offer = channel.expect<Offer>(milliseconds(2000));
  ASSERT_TRUE(offer);
  auto link = TcpLink::connect(*kernel_, channel, spec, *offer->tcp, Deadline::after(milliseconds(1000)));
  ASSERT_TRUE(link);
  ASSERT_TRUE(send(Connect{}));
  ASSERT_TRUE(channel.expect<Ready>(milliseconds(2000)));
  ASSERT_TRUE(send(Start{.sequence = 1, .size_bytes = kMaxSize_bytes}));
  const auto started = channel.expect<Started>(milliseconds(2000));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message,
            "the peer says: the client starts a round of 67108864 bytes, which it did not announce");
}

// A server takes what its rows say, each between two tests.
TEST_F(HostileTest, RefusesWhatNoProtocolOpens) {
  const auto said_to = [&](const EncodedMessage& opening) {
    Channel channel(connect());
    const auto deadline = Deadline::after(milliseconds(20000));
    EXPECT_TRUE(channel.send(Hello{.protocol = kProtocol, .version = "0", .hostname = "x"}, deadline));
    EXPECT_TRUE(channel.expect<Hello>(milliseconds(20000)));
    EXPECT_TRUE(channel.send(opening, deadline));
    const auto offer = channel.expect<Offer>(milliseconds(20000));
    return offer ? "offered" : offer.error().to_string();
  };
  const std::string where = " where a test was to be opened";
  EXPECT_EQ(said_to(encoded(Start{.sequence = 1, .size_bytes = 64})),
            "the peer says: the client sent \"start\"" + where);
  EXPECT_EQ(said_to({.type = "dance", .json = R"({"type":"dance"})"}),
            "the peer says: the client sent \"dance\"" + where);
  EXPECT_EQ(said_to({.type = "mesh-ask", .json = R"({"type":"mesh-ask","address":"127.0.0.1"})"}),
            "the peer says: the client sent \"mesh-ask\"" + where);
  EXPECT_EQ(said_to({.type = "", .json = R"({"type":"\u001b]0;x"})"}),
            "the peer says: the client sent \"\\x1b]0;x\"" + where);
  EXPECT_EQ(said_to(encoded(OpenTest{small_test(TestKind::kLatency)})), "offered");
}

TEST_F(HostileTest, RefusesAnRdmaTestWithoutDevice) {
  TestSpec spec = small_test(TestKind::kBandwidth);
  spec.transport = Transport::kRdma;
  spec.remote_device = "mlx5_77";
  Channel channel(connect());
  ASSERT_TRUE(
      channel.send(Hello{.protocol = kProtocol, .version = "0", .hostname = "x"}, Deadline::after(milliseconds(500))));
  ASSERT_TRUE(channel.expect<Hello>(milliseconds(2000)));
  ASSERT_TRUE(channel.send(OpenTest{spec}, Deadline::after(milliseconds(500))));
  const auto offer = channel.expect<Offer>(milliseconds(5000));
  ASSERT_FALSE(offer);
  EXPECT_TRUE(offer.error().message.starts_with("the peer says: ")) << offer.error().message;
  EXPECT_TRUE(measured(small_test(TestKind::kLatency)));
}

// With `once`, the server ends after the first session that measured something, and not before.
TEST(Server, EndsAfterOneMeasurementWhereAsked) {
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  for (const bool once : {true, false}) {
    ServerOptions options;
    options.bind = *IpAddress::parse("127.0.0.1");
    options.port = 0;
    options.protocols = {point_to_point_protocol()};
    options.once = once;
    // Nothing here takes so long but a machine that is busy.
    Limits patient = short_limits();
    patient.connect = patient.answer = patient.idle = patient.stall = milliseconds(20000);
    RestingClock clock(std::chrono::microseconds(5));
    patient.clock = &clock;
    options.session.limits = patient;
    auto server = Server::open(*kernel, std::move(options));
    ASSERT_TRUE(server) << server.error().to_string();
    std::atomic<bool> ended = false;
    std::jthread thread([&](std::stop_token left) {
      // The thread is waited for also where the test ends early.
      const std::stop_callback stop(left, [&] { (*server)->stop(); });
      EXPECT_TRUE((*server)->run());
      ended = true;
    });
    {
      auto idle = Socket::connect("127.0.0.1", (*server)->port(), Deadline::after(milliseconds(20000)));
      ASSERT_TRUE(idle) << idle.error().to_string();
    }
    for (int tests = 0; tests < (once ? 1 : 2); ++tests) {
      const auto measured = measure_with((*server)->port(), small_test(TestKind::kLatency), patient);
      ASSERT_TRUE(measured) << measured.error().to_string();
    }
    if (!once) (*server)->stop();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!ended && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
    EXPECT_TRUE(ended);
  }
}

// ---- the client against servers ----

FakeServer::Finale doing(Misdeed misdeed) {
  return [misdeed](Channel& channel, Listener&) { misbehave(const_cast<Socket&>(channel.socket()), misdeed); };
}

void meet(Misdeed misdeed, size_t good, Clock& clock) {
  SCOPED_TRACE(fmt::format("misdeed {} after {} answers", static_cast<int>(misdeed), good));
  FakeServer server(good, doing(misdeed));
  Limits limits = short_limits();
  limits.clock = &clock;
  const auto result = measure_with(server.port(), small_test(TestKind::kBandwidth), limits);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().story().starts_with("perf bw with 127.0.0.1: ")) << result.error().to_string();
  const bool quoted =
      result.error().to_string().find("the peer says: the machine is on fire\n  call somebody") != std::string::npos;
  EXPECT_EQ(quoted, misdeed == Misdeed::kRefuse) << result.error().to_string();
}

TEST(Client, GivesUpOnEveryBadServer) {
  RestingClock clock;
  std::vector<std::jthread> cases;
  for (Misdeed misdeed : kMisdeeds)
    for (size_t good = 0; good <= 3; ++good)
      cases.emplace_back([misdeed, good, &clock] { meet(misdeed, good, clock); });
}

TEST(Client, NoticesAServerThatCountsWrong) {
  FakeServer server(5, doing(Misdeed::kDie));
  const auto result = measure_with(server.port(), small_test(TestKind::kBandwidth));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(),
            "perf bw with 127.0.0.1: measuring 64 B: 3200 bytes were sent, the server received 1");
}

TEST(Client, GivesUpWhenThePeerDoesNotRead) {
  FakeServer server(4, doing(Misdeed::kStall));
  TestSpec spec = small_test(TestKind::kBandwidth);
  spec.sizes_bytes = {8 << 20};
  spec.iterations = 100;
  const auto result = measure_with(server.port(), spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kTimeout) << result.error().to_string();
}

TEST(Client, SaysThatNothingListens) {
  uint16_t port = 0;
  {
    auto listener = Listener::open(*IpAddress::parse("127.0.0.1"), 0);
    ASSERT_TRUE(listener);
    port = listener->port();
  }
  const auto result = measure_with(port, small_test(TestKind::kBandwidth));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(),
            fmt::format("connecting to 127.0.0.1 port {}: connect: ECONNREFUSED (Connection refused)\n"
                        "  check that `railbed perf serve` is running on 127.0.0.1 with port {}",
                        port, port));
}

TEST(Listener, SaysThatThePortIsTaken) {
  auto first = Listener::open(*IpAddress::parse("127.0.0.1"), 0);
  ASSERT_TRUE(first);
  const auto second = Listener::open(*IpAddress::parse("127.0.0.1"), first->port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().to_string(),
            fmt::format("listening on 127.0.0.1 port {}: EADDRINUSE (Address already in use)\n"
                        "  another server is running on it; choose another --port",
                        first->port()));
}

}  // namespace
}  // namespace railbed::perf

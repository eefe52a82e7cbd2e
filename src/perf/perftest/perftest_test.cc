// SPDX-License-Identifier: Apache-2.0
// Both roles against each other, with devices in memory, and against peers that do wrong. That perftest itself says and
// does the same is shown in the lab (tests/lab/perf.sh perftest).
#include "perf/perftest/perftest.h"

#include <future>

#include "perf/perftest/exchange.h"
#include "perf/session/test_rdma.h"
#include "perf/test_resting_clock.h"
#include "perf/test_results.h"

namespace railbed::perf::perftest {
namespace {

constexpr RdmaVerb kVerbs[] = {RdmaVerb::kWrite, RdmaVerb::kRead, RdmaVerb::kSend, RdmaVerb::kFetchAdd};

class PerftestPeer : public RdmaTest {
 protected:
  ClientOptions options(const std::string& host, uint16_t port) const {
    return {.host = host,
            .port = port,
            .from = *IpAddress::parse("127.0.0.1"),
            .place = {},
            .limits = limits(),
            .label = "rail0",
            .command = "test"};
  }
  static TestSpec test(RdmaVerb verb, TestKind kind) {
    TestSpec out = spec(kind);
    out.verb = verb;
    out.sizes_bytes = {verb == RdmaVerb::kFetchAdd ? 8 : 1024};
    return out;
  }

  // What both ends measured.
  struct Both {
    Result<Measurement> client = fail(Code::kInternal, "not measured");
    Result<Measurement> server = fail(Code::kInternal, "not measured");
  };
  Both between(const TestSpec& client, const TestSpec& server) {
    ClientOptions listening = options("", 0);
    std::promise<uint16_t> port;
    notices_.clear();
    // "waiting for: ib_write_bw -s 2 -p 34567 -F host"
    listening.on_notice = [&](const std::string& line) {
      notices_.push_back(line);
      if (const size_t at = line.find(" -p "); notices_.size() == 1)
        port.set_value(static_cast<uint16_t>(std::stoi(line.substr(at + 4))));
    };
    Both both;
    std::stop_source stop;  // a server goes on when a client goes away before it has greeted
    listening.stop = stop.get_token();
    {
      const std::jthread other([&] {
        both.server = measure_with_perftest(*kernel_, listening, *as_perftest(server, Role::kServer, false));
      });
      const uint16_t there = port.get_future().get();
      both.client =
          measure_with_perftest(*kernel_, options("127.0.0.1", there), *as_perftest(client, Role::kClient, false));
      if (!both.client) stop.request_stop();
    }
    return both;
  }
  Both between(const TestSpec& both) { return between(both, both); }

  std::vector<std::string> notices_;
};

std::string why(const Result<Measurement>& result) {
  return result ? "measured" : result.error().to_string();
}

TEST_F(PerftestPeer, MeasuresBandwidthWithEachVerb) {
  for (const RdmaVerb verb : kVerbs) {
    SCOPED_TRACE(traits_of(verb).name);
    TestSpec wanted = test(verb, TestKind::kBandwidth);
    wanted.qps = 3;
    const Both both = between(wanted);
    ASSERT_EQ(why(both.client), "measured");
    ASSERT_EQ(why(both.server), "measured");
    for (const Measurement& one : {*both.client, *both.server}) {
      ASSERT_EQ(one.bandwidth.size(), 1u);
      EXPECT_EQ(one.bandwidth[0].size_bytes, wanted.sizes_bytes[0]);
      EXPECT_EQ(one.bandwidth[0].messages, 150);
      EXPECT_GT(one.bandwidth[0].average_gbps, 0);
      EXPECT_GT(one.bandwidth[0].message_rate_per_s, 0);
    }
    if (verb == RdmaVerb::kSend) continue;  // its server measures for itself
    EXPECT_NEAR(both.server->bandwidth[0].average_gbps / both.client->bandwidth[0].average_gbps, 1, 1e-9);
    EXPECT_NEAR(both.server->bandwidth[0].duration_s / both.client->bandwidth[0].duration_s, 1, 1e-9);
  }
}

TEST_F(PerftestPeer, MeasuresBothDirections) {
  for (const RdmaVerb verb : kVerbs) {
    SCOPED_TRACE(traits_of(verb).name);
    TestSpec wanted = test(verb, TestKind::kBandwidth);
    wanted.qps = 2;
    wanted.bidirectional = true;
    const Both both = between(wanted);
    ASSERT_EQ(why(both.client), "measured");
    ASSERT_EQ(why(both.server), "measured");
    EXPECT_EQ(both.client->bandwidth[0].messages, 100);
    EXPECT_EQ(both.server->bandwidth[0].messages, 100);
    EXPECT_NEAR(*both.client->bandwidth[0].reverse_average_gbps / both.server->bandwidth[0].average_gbps, 1, 1e-9);
    EXPECT_NEAR(*both.server->bandwidth[0].reverse_average_gbps / both.client->bandwidth[0].average_gbps, 1, 1e-9);
  }
}

// Who pings first sees all round trips, who pings second one less.
TEST_F(PerftestPeer, MeasuresLatencyWithEachVerb) {
  const std::tuple<RdmaVerb, uint64_t, uint64_t> cases[] = {{RdmaVerb::kWrite, 599, 600},
                                                            {RdmaVerb::kSend, 600, 599},
                                                            {RdmaVerb::kRead, 600, 0},
                                                            {RdmaVerb::kFetchAdd, 600, 0}};
  for (const auto& [verb, client, server] : cases) {
    SCOPED_TRACE(traits_of(verb).name);
    TestSpec wanted = test(verb, TestKind::kLatency);
    wanted.iterations = 600;  // the count's lowest byte comes around
    const Both both = between(wanted);
    ASSERT_EQ(why(both.client), "measured");
    ASSERT_EQ(why(both.server), "measured");
    ASSERT_EQ(both.client->latency.size(), 1u);
    EXPECT_EQ(both.client->latency[0].histogram.count(), client);
    EXPECT_GT(both.client->latency[0].histogram.min_ns(), 0u);
    ASSERT_EQ(both.server->latency.size(), server == 0 ? 0u : 1u);
    if (server > 0) {
      EXPECT_EQ(both.server->latency[0].histogram.count(), server);
    }
  }
}

TEST_F(PerftestPeer, GoesThroughAllSizes) {
  for (const TestKind kind : {TestKind::kBandwidth, TestKind::kLatency})
    for (const RdmaVerb verb : {RdmaVerb::kWrite, RdmaVerb::kRead, RdmaVerb::kSend}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(kind), traits_of(verb).name));
      reset();
      TestSpec wanted = test(verb, kind);
      wanted.iterations = 5;
      wanted.sizes_bytes = sweep_sizes(8 << 20);
      const Both both = between(wanted);
      ASSERT_EQ(why(both.client), "measured");
      ASSERT_EQ(why(both.server), "measured");
      EXPECT_EQ(both.client->bandwidth.size() + both.client->latency.size(), 23u);
      // A server of writes and reads hears of the last size only.
      if (kind == TestKind::kBandwidth && verb != RdmaVerb::kSend) {
        EXPECT_EQ(both.server->spec.sizes_bytes, std::vector<int64_t>{8 << 20});
      }
    }
}

TEST_F(PerftestPeer, SweepsBothDirections) {
  for (const RdmaVerb verb : {RdmaVerb::kWrite, RdmaVerb::kSend}) {
    TestSpec wanted = test(verb, TestKind::kBandwidth);
    wanted.iterations = 5;
    wanted.bidirectional = true;
    wanted.sizes_bytes = sweep_sizes(8 << 20);
    const Both both = between(wanted);
    ASSERT_EQ(why(both.client), "measured");
    ASSERT_EQ(why(both.server), "measured");
    EXPECT_EQ(both.client->bandwidth.size(), 23u);
    EXPECT_EQ(both.server->bandwidth.size(), 23u);
  }
}

TEST_F(PerftestPeer, SaysThatThePeerIsOne) {
  const Both both = between(test(RdmaVerb::kWrite, TestKind::kBandwidth));
  ASSERT_EQ(why(both.client), "measured");
  const Endpoint& there = both.client->server;
  EXPECT_EQ(there.program, "perftest 6.20");  // what a railbed says that it is
  EXPECT_EQ(there.gid, IpAddress::parse("127.0.0.1")->to_gid().to_string());
  EXPECT_EQ(there.path_mtu_bytes, 1024);
  EXPECT_EQ(both.client->client.device, "rxe_lo");
  EXPECT_EQ(both.client->label, "rail0");
  EXPECT_TRUE(both.client->soft());
  EXPECT_NE(to_table(*both.client).find("  server  127.0.0.1, perftest 6.20\n"), std::string::npos)
      << to_table(*both.client);
  EXPECT_EQ(notices_[0].substr(0, 36), "waiting for: ib_write_bw -s 1024 -p ");
  ASSERT_EQ(why(both.server), "measured");
  EXPECT_EQ(both.server->client.program, "perftest 6.20");
  EXPECT_EQ(both.server->server.device, "rxe_lo");
  const auto again = measurements_from_json(to_json({*both.client}));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->front().server, there);
}

TEST_F(PerftestPeer, ReportsWhereNothingIsMeasuredHere) {
  const Both both = between(test(RdmaVerb::kRead, TestKind::kLatency));
  ASSERT_EQ(why(both.server), "measured");
  EXPECT_NE(
      to_table(*both.server).find("  the client, perftest 6.20, has the figures; nothing is measured at this end\n"),
      std::string::npos)
      << to_table(*both.server);
}

// A receiver sees another size; both must end, and say what the other side had to be.
TEST_F(PerftestPeer, SeesMessagesOfAnotherSize) {
  TestSpec client = test(RdmaVerb::kSend, TestKind::kBandwidth);
  client.sizes_bytes = {64};
  const Both both = between(client, test(RdmaVerb::kSend, TestKind::kBandwidth));
  ASSERT_FALSE(both.server);
  EXPECT_EQ(both.server.error().story(),
            "perf bw with perftest: measuring 1 KiB: the peer sends messages of 64 B, this side expects 1 KiB");
  EXPECT_TRUE(both.server.error().hint.starts_with("run on the other end: ib_send_bw -s 1024 -n 50 "))
      << both.server.error().hint;
  ASSERT_FALSE(both.client);
}

// Peers that are played: each begins as a perftest and then does what the test wants.
class HostilePerftest : public PerftestPeer {
 protected:
  using Play = std::function<void(Socket& socket)>;
  std::string client_with(const Play& play, RdmaVerb verb = RdmaVerb::kWrite) {
    Listener listener = *Listener::open(*IpAddress::parse("127.0.0.1"), 0);
    const std::jthread peer([&] {
      auto socket = listener.accept(Deadline::after(milliseconds(20000)));
      if (socket) play(*socket);
    });
    ClientOptions with = options("127.0.0.1", listener.port());
    RestingClock clock(std::chrono::microseconds(50));
    with.limits.answer = with.limits.stall = milliseconds(200);
    with.limits.clock = &clock;
    const auto result =
        measure_with_perftest(*kernel_, with, *as_perftest(test(verb, TestKind::kBandwidth), Role::kClient, false));
    std::string reported = why(result);
    // The port is another one each time.
    const std::string port = std::to_string(listener.port());
    for (size_t at = reported.find(port); at != std::string::npos; at = reported.find(port))
      reported.replace(at, port.size(), "PORT");
    return reported;
  }
  static void say(Socket& socket, std::string_view bytes) {
    (void)socket.write_all(std::as_bytes(std::span(bytes)), Deadline::after(milliseconds(1000)));
  }
  static std::string hear(Socket& socket, size_t bytes) {
    std::string out(bytes, '\0');
    (void)socket.read_all(std::as_writable_bytes(std::span(out)), Deadline::after(milliseconds(20000)));
    return out;
  }
  static void swap(Socket& socket, std::string_view bytes) {
    hear(socket, bytes.size());
    say(socket, bytes);
  }
  static void greet(Socket& socket) {
    swap(socket, version_bytes("6.06"));
    swap(socket, number_bytes(4096));
    swap(socket, number_bytes(64));
    swap(socket, mtu_bytes(1024));
  }
  static Keys keys() {
    return {.lid = 0,
            .reads = 1,
            .qp = 77,
            .sequence = 1,
            .remote_key = 7,
            .address = 4096,
            .shared_queue = 0,
            .gid = IpAddress::parse("127.0.0.1")->to_gid()};
  }
  // Until it closes.
  static void wait_for_end(Socket& socket) {
    std::byte rest[256];
    while (socket.read_some(rest, Deadline::after(milliseconds(20000)))) {
    }
  }
  static std::string expected(const std::string& story, const std::string& hint = "") {
    return fmt::format(
        "perf bw with perftest on 127.0.0.1: {}\n  {}run on the other end: ib_write_bw -s 1024 -p PORT -F", story,
        hint.empty() ? "" : hint + "; ");
  }
};

TEST_F(HostilePerftest, NothingListens) {
  uint16_t port = 0;
  {
    const Listener gone = *Listener::open(*IpAddress::parse("127.0.0.1"), 0);
    port = gone.port();
  }
  const auto result =
      measure_with_perftest(*kernel_, options("127.0.0.1", port),
                            *as_perftest(test(RdmaVerb::kRead, TestKind::kBandwidth), Role::kClient, false));
  EXPECT_EQ(why(result), fmt::format("perf bw with perftest on 127.0.0.1: connecting to 127.0.0.1 port {0}: connect: "
                                     "ECONNREFUSED (Connection refused)\n"
                                     "  run on the other end: ib_read_bw -s 1024 -p {0} -F",
                                     port));
}

TEST_F(HostilePerftest, SpeaksAnotherProtocol) {
  EXPECT_EQ(client_with([](Socket& socket) {
              say(socket, "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n");
              wait_for_end(socket);
            }),
            expected("the peer does not speak perftest's protocol: as its version it sent \"SSH-2.0-OpenSSH_\"",
                     "check that perftest is waiting on this port and was started without -R and -z"));
}

TEST_F(HostilePerftest, IsTooOld) {
  EXPECT_EQ(client_with([](Socket& socket) {
              swap(socket, version_bytes("5.60"));
              wait_for_end(socket);
            }),
            expected("the peer is perftest 5.60, and 5.70 or newer is needed",
                     "update perftest there, or measure with `railbed perf serve`"));
}

TEST_F(HostilePerftest, SaysNothing) {
  EXPECT_EQ(client_with(wait_for_end), expected("no message from the peer for 200 ms, its version was due"));
  EXPECT_EQ(client_with([](Socket& socket) {
              greet(socket);
              wait_for_end(socket);
            }),
            expected("no message from the peer for 200 ms, the keys of a queue pair was due"));
}

TEST_F(HostilePerftest, Closes) {
  EXPECT_EQ(client_with([](Socket& socket) {
              greet(socket);
              hear(socket, kKeysWithGid_bytes);
            }),
            expected("waiting for the keys of a queue pair: the peer closed the connection"));
}

TEST_F(HostilePerftest, ChangesItsKeys) {
  EXPECT_EQ(client_with([](Socket& socket) {
              greet(socket);
              swap(socket, keys_bytes(keys()));
              Keys others = keys();
              others.qp = 78;
              swap(socket, keys_bytes(others));
              wait_for_end(socket);
            }),
            expected("the peer's keys of queue pair 1 are not those that it sent before",
                     "both sides must have the same number of queue pairs (-q) and the same test"));
}

TEST_F(HostilePerftest, HasNoGidOnEthernet) {
  EXPECT_EQ(client_with([](Socket& socket) {
              greet(socket);
              Keys others = keys();
              others.gid.reset();
              hear(socket, kKeysWithGid_bytes);
              say(socket, keys_bytes(others));
              wait_for_end(socket);
            }),
            expected("the peer's keys do not have a GID, this side's have one"));
}

TEST_F(HostilePerftest, HasAGidOfTheOtherFamily) {
  EXPECT_EQ(client_with([](Socket& socket) {
              greet(socket);
              Keys others = keys();
              others.gid = IpAddress::parse("fe80::1")->to_gid();
              swap(socket, keys_bytes(others));
              wait_for_end(socket);
            }),
            expected("the peer's GID is one of IPv6, this side's of IPv4",
                     "choose the same here with --gid-rule, or there with -x INDEX"));
}

TEST_F(HostilePerftest, SendsWithoutEnd) {
  EXPECT_EQ(client_with([](Socket& socket) {
              greet(socket);
              for (int i = 0; i < 4; ++i) say(socket, std::string(8192, '0'));
              wait_for_end(socket);
            }),
            expected("the peer does not speak perftest's protocol: as the keys of a queue pair it sent \"" +
                         std::string(kKeysWithGid_bytes, '0') + "\"",
                     "check that perftest is waiting on this port and was started without -R and -z"));
}

// While a loop measures, nothing is due; what comes in advance is kept, and no more than that.
TEST_F(HostilePerftest, FloodsALoop) {
  Listener listener = *Listener::open(*IpAddress::parse("127.0.0.1"), 0);
  Socket peer = *Socket::connect("127.0.0.1", listener.port(), Deadline::after(milliseconds(1000)));
  PeerLine line(*listener.accept(Deadline::after(milliseconds(1000))));
  EXPECT_TRUE(line.interrupted());
  EXPECT_FALSE(line.has_message());
  say(peer, "done");
  while (line.interrupted() && !line.has_message()) {
  }
  EXPECT_EQ(*line.read(4, milliseconds(1000), "a word"), "done");
  say(peer, std::string(4096, 'x'));
  Result<void> looked = line.interrupted();
  while (looked) looked = line.interrupted();
  EXPECT_EQ(looked.error().to_string(), "the peer sent data during the measurement");
}

// A client that is no perftest does not end a server, which serves the next one.
TEST_F(HostilePerftest, StrangersDoNotEndAServer) {
  ClientOptions listening = options("", 0);
  RestingClock clock;
  listening.limits.answer = milliseconds(200);
  listening.limits.clock = &clock;
  std::promise<uint16_t> port;
  listening.on_notice = [&](const std::string& line) {
    notices_.push_back(line);
    if (notices_.size() == 1) port.set_value(static_cast<uint16_t>(std::stoi(line.substr(line.find(" -p ") + 4))));
  };
  const TestSpec wanted = *as_perftest(test(RdmaVerb::kWrite, TestKind::kBandwidth), Role::kServer, false);
  Result<Measurement> served = fail(Code::kInternal, "not measured");
  {
    const std::jthread server([&] { served = measure_with_perftest(*kernel_, listening, wanted); });
    const uint16_t there = port.get_future().get();
    {
      Socket scanner = *Socket::connect("127.0.0.1", there, Deadline::after(milliseconds(1000)));
      say(scanner, "GET / HTTP/1.0\r\n\r\n");
      wait_for_end(scanner);
    }
    EXPECT_EQ(why(measure_with_perftest(*kernel_, options("127.0.0.1", there), wanted)), "measured");
  }
  EXPECT_EQ(why(served), "measured");
  ASSERT_EQ(notices_.size(), 2u);
  EXPECT_EQ(notices_[1],
            "client rejected: the peer does not speak perftest's protocol: as its version it sent \"GET / "
            "HTTP/1.0\\x0d\\x0a\"");
}

// Figures that contradict what was seen here do not become a result.
TEST_F(HostilePerftest, LiesAboutItsFigures) {
  const auto lie = [&](const Report& report) {
    ClientOptions listening = options("", 0);
    std::promise<uint16_t> port;
    listening.on_notice = [&](const std::string& line) {
      port.set_value(static_cast<uint16_t>(std::stoi(line.substr(line.find(" -p ") + 4))));
    };
    Result<Measurement> served = fail(Code::kInternal, "not measured");
    {
      const TestSpec wanted = *as_perftest(test(RdmaVerb::kWrite, TestKind::kBandwidth), Role::kServer, false);
      const std::jthread server([&] { served = measure_with_perftest(*kernel_, listening, wanted); });
      Socket socket = *Socket::connect("127.0.0.1", port.get_future().get(), Deadline::after(milliseconds(1000)));
      PeerLine line(std::move(socket));
      Exchange exchange(line, Role::kClient, milliseconds(20000));
      EXPECT_TRUE(exchange.greet(4096, 1024));
      EXPECT_TRUE(exchange.swap_keys({keys()}));
      EXPECT_TRUE(exchange.repeat_keys());
      EXPECT_TRUE(exchange.sync());
      EXPECT_TRUE(exchange.sync());
      (void)exchange.swap_report(report, milliseconds(20000));
    }
    return served ? "measured" : served.error().story();
  };
  EXPECT_EQ(lie({.size_bytes = 65536, .messages = 1, .peak = 1, .average = 1, .million_messages_per_s = 1e6}),
            "perf bw with perftest: the peer says that 5.24e+08 Gb/s went with messages of 65536 bytes, more than any "
            "path carries");
  EXPECT_EQ(lie({.size_bytes = 2, .messages = 100'000'000, .peak = 1, .average = 1, .million_messages_per_s = 1})
                .substr(0, 77),
            "perf bw with perftest: the peer says that 100000000 messages took 100.000 s, ");
}

}  // namespace
}  // namespace railbed::perf::perftest

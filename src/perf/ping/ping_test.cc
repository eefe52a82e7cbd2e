// SPDX-License-Identifier: Apache-2.0
// Whole pings, both ends in this process, with a connection manager and devices in memory.
#include "perf/ping/ping.h"

#include <cerrno>
#include <condition_variable>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/ping/fake_cm.h"
#include "perf/ping/ping_session.h"
#include "perf/session/test_rdma.h"

namespace railbed::perf {
namespace {

using testing::HasSubstr;

class PingTest : public RdmaTest {
 protected:
  void SetUp() override {
    fake_cm() = {};
    RdmaTest::SetUp();
  }
  void TearDown() override {
    RdmaTest::TearDown();
    EXPECT_EQ(fake_cm().open_ids, 0) << "left open";
    EXPECT_EQ(fake_cm().open_channels, 0) << "left open";
  }
  std::vector<Protocol> protocols() const override { return {ping_protocol(), point_to_point_protocol()}; }
  PingOptions options() const {
    return {.host = "127.0.0.1",
            .port = server_->port(),
            .size_bytes = 1000,
            .count = 30,
            .limits = limits(),
            .command = "test"};
  }
  Result<PingOutcome> pinged(const PingOptions& wanted) { return run_ping(*kernel_, wanted); }
  // How the ping fails, at whichever point.
  std::string why_not(const PingOptions& wanted) {
    const auto outcome = pinged(wanted);
    if (!outcome) return outcome.error().to_string();
    return outcome->error ? outcome->error->to_string() : "pinged";
  }
  static void answers(const char* function, rdma_cm_event_type type, int status) {
    change([&](FakeVerbs&) { fake_cm().answers[function] = {type, status}; });
  }
};

TEST_F(PingTest, ReadsAndWritesBackWhatTheServerHas) {
  const auto outcome = pinged(options());
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_FALSE(outcome->error) << outcome->error->to_string();
  const PingReport& report = outcome->report;
  EXPECT_EQ(report.pings, 30);
  EXPECT_EQ(report.message.count(), 30u);
  EXPECT_EQ(report.read.count(), 30u);
  EXPECT_EQ(report.write.count(), 30u);
  EXPECT_GT(report.opening.address_ns, 0u);
  EXPECT_GT(report.opening.route_ns, 0u);
  EXPECT_GT(report.opening.connect_ns, 0u);
  EXPECT_EQ(report.device, "rxe_lo");
  EXPECT_TRUE(report.soft);
  EXPECT_EQ(report.ended_by, "");
  const std::lock_guard lock(fake().mutex);
  const auto count = [](ibv_wr_opcode opcode, uint32_t bytes) {
    return std::ranges::count_if(fake().posted,
                                 [&](const auto& one) { return one.opcode == opcode && one.bytes == bytes; });
  };
  EXPECT_EQ(count(IBV_WR_RDMA_READ, 1000), 30);
  EXPECT_EQ(count(IBV_WR_RDMA_WRITE, 1000), 30);
  // Two each way, and the source's first of a ping that does not come any more.
  EXPECT_GE(count(IBV_WR_SEND, 16), 120);
  EXPECT_LE(count(IBV_WR_SEND, 16), 121);
}

TEST_F(PingTest, TheTableSaysWhatWasTimed) {
  const auto outcome = pinged(options());
  ASSERT_TRUE(outcome && !outcome->error);
  const std::string table = to_table(outcome->report);
  EXPECT_THAT(table, HasSubstr("ping over RDMA, soft RDMA, rxe_lo port 1 127.0.0.1 to 127.0.0.1, protocol railbed\n"));
  EXPECT_THAT(table, HasSubstr("  30 pings of 1000 B, all data intact\n"));
  EXPECT_THAT(table, HasSubstr("\n       message        30 "));
  EXPECT_THAT(table, HasSubstr("\n          READ        30 "));
  EXPECT_THAT(table, HasSubstr("\n         WRITE        30 "));
}

TEST_F(PingTest, OnlyTheSourcesMemoryCanBeReached) {
  ASSERT_EQ(why_not(options()), "pinged");
  const std::lock_guard lock(fake().mutex);
  constexpr unsigned kRemote = unsigned{IBV_ACCESS_REMOTE_READ} | IBV_ACCESS_REMOTE_WRITE;
  ASSERT_EQ(fake().registered.size(), 4u);
  EXPECT_EQ(std::ranges::count_if(fake().registered, [](const auto& one) { return (one.access & kRemote) != 0; }), 1);
}

TEST_F(PingTest, DamagedDataAreNamed) {
  change([](FakeVerbs& verbs) { verbs.flips_byte_of_reads = 17; });
  EXPECT_THAT(why_not(options()),
              HasSubstr("ping 1: the data that were read differ at byte 17 of 1000: received 0x73, sent 0x72"));
}

TEST_F(PingTest, ByASchedule) {
  PingOptions wanted = options();
  wanted.count = 4;
  wanted.interval = milliseconds(20);
  std::vector<std::string> reported;
  wanted.on_progress = [&](const std::string& line) { reported.push_back(line); };
  SimulatedClock clock;
  wanted.limits.clock = &clock;
  const Clock::Time began = clock.now();
  ASSERT_EQ(why_not(wanted), "pinged");
  EXPECT_EQ(clock.now() - began, milliseconds(60));
  EXPECT_EQ(reported, (std::vector<std::string>{"ping 1 of 4", "ping 2 of 4", "ping 3 of 4", "ping 4 of 4"}));
}

TEST_F(PingTest, EachPhaseThatFailsIsNamed) {
  answers("rdma_resolve_addr", RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
  EXPECT_THAT(why_not(options()), HasSubstr("address: finding the RDMA device and the neighbour for 127.0.0.1 port 4"));
  change([](FakeVerbs&) { fake_cm().answers.clear(); });
  answers("rdma_resolve_route", RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
  EXPECT_THAT(why_not(options()), HasSubstr("route: finding the route to 127.0.0.1 port 4"));
  change([](FakeVerbs&) { fake_cm().answers.clear(); });
  answers("rdma_connect", RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
  EXPECT_THAT(why_not(options()), HasSubstr("connect: connecting to 127.0.0.1 port 4"));
  answers("rdma_connect", RDMA_CM_EVENT_REJECTED, 28);
  EXPECT_THAT(why_not(options()), HasSubstr("rejected (reason 28)"));
  change([](FakeVerbs&) {
    fake_cm().answers.clear();
    fake_cm().refuses["rdma_resolve_addr"] = ENODEV;
  });
  EXPECT_THAT(why_not(options()), HasSubstr("ENODEV (No such device)\n  the interface toward the peer has no RDMA"));
  change([](FakeVerbs&) { fake_cm() = {.open_ids = fake_cm().open_ids, .open_channels = fake_cm().open_channels}; });
  EXPECT_EQ(why_not(options()), "pinged");
}

TEST_F(PingTest, APhaseWithoutAnEventEnds) {
  change([](FakeVerbs&) { fake_cm().silent.insert("rdma_connect"); });
  PingOptions wanted = options();
  wanted.limits.connect = milliseconds(100);
  EXPECT_THAT(why_not(wanted), HasSubstr(": no answer within 100 ms"));
}

TEST_F(PingTest, WithoutTheModuleItSaysWhatToDo) {
  change([](FakeVerbs&) { fake_cm().refuses["rdma_create_event_channel"] = ENOENT; });
  EXPECT_EQ(why_not(options()),
            "at the server: the peer says: opening RDMA's connection manager: ENOENT (No such file or directory)\n"
            "  check that /dev/infiniband/rdma_cm is readable; `modprobe rdma_ucm` creates it, and in a pod it comes "
            "with the RDMA resource");
}

TEST_F(PingTest, AFailingReadIsNamed) {
  change([](FakeVerbs& verbs) { verbs.completes_with = IBV_WC_RETRY_EXC_ERR; });
  EXPECT_THAT(why_not(options()), testing::AnyOf(HasSubstr("READ: the READ from 127.0.0.1 port 4"),
                                                 HasSubstr("message: exchanging messages with 127.0.0.1 port 4"),
                                                 HasSubstr("the peer says: ")));
}

TEST_F(PingTest, StopsWhenRequested) {
  std::stop_source stop;
  PingOptions wanted = options();
  wanted.count = 1'000'000;
  wanted.interval = milliseconds(1000);
  wanted.stop = stop.get_token();
  wanted.on_progress = [&](const std::string&) { stop.request_stop(); };
  EXPECT_EQ(why_not(wanted), "stopped");
}

// ---- rping's roles, both played by this program.

class RpingTest : public PingTest {
 protected:
  void SetUp() override {
    PingTest::SetUp();
    rping_ = std::jthread([this](const std::stop_token& stop) {
      const TickClock clock(kernel_->files());
      RpingServerOptions wanted{.bind = *IpAddress::parse("127.0.0.1"), .port = 0};
      wanted.limits = limits();
      wanted.limits.stall = patience_;
      wanted.stop = stop;
      wanted.on_ready = [this](uint16_t port) { say([&] { port_ = port; }); };
      wanted.on_report = [this](const PingReport& report) { say([&] { reports_.push_back(report); }); };
      wanted.on_event = [this](const std::string& line) { say([&] { events_.push_back(line); }); };
      EXPECT_TRUE(serve_rping(clock, wanted));
    });
    until([this] { return port_ != 0; });
  }
  void TearDown() override {
    rping_.request_stop();
    rping_.join();
    PingTest::TearDown();
  }
  template <typename What>
  void say(const What& what) {
    const std::lock_guard lock(mutex_);
    what();
    changed_.notify_all();
  }
  template <typename What>
  void until(const What& what) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), what));
  }
  PingOptions to_rping() const {
    PingOptions wanted = options();
    wanted.port = port_;
    wanted.speaks = PingPeer::kRping;
    return wanted;
  }
  // A client that does what the test wants.
  std::unique_ptr<PingConnection> connect(const TickClock& clock) const {
    auto connection =
        PingConnection::open(clock, {.peer = *IpAddress::parse("127.0.0.1"), .port = port_, .role = PingRole::kSource});
    EXPECT_TRUE(connection) << connection.error().to_string();
    return std::move(*connection);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint16_t port_ = 0;
  std::vector<PingReport> reports_;
  std::vector<std::string> events_;
  milliseconds patience_{20000};
  std::jthread rping_;
};

TEST_F(RpingTest, BothRoles) {
  const auto outcome = pinged(to_rping());
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_FALSE(outcome->error) << outcome->error->to_string();
  EXPECT_EQ(outcome->report.pings, 30);
  EXPECT_EQ(outcome->report.message.count(), 0u);
  EXPECT_EQ(outcome->report.read.count(), 30u);
  EXPECT_THAT(to_table(outcome->report),
              HasSubstr("READ and WRITE are the peer's, each with a message there and one back"));
  until([this] { return reports_.size() == 1; });
  EXPECT_EQ(reports_[0].pings, 30);
  EXPECT_EQ(reports_[0].ended_by, "");
  EXPECT_EQ(reports_[0].size_bytes, 1000);
  EXPECT_EQ(reports_[0].message.count(), 30u);
  EXPECT_THAT(to_table(reports_[0]), HasSubstr("30 pings of 1000 B; rping checks the data (-V)"));
  EXPECT_EQ(why_not(to_rping()), "pinged") << "the next client";
}

TEST_F(RpingTest, DamagedDataAreNamed) {
  change([](FakeVerbs& verbs) { verbs.flips_byte_of_reads = 999; });
  EXPECT_THAT(why_not(to_rping()),
              HasSubstr("ping 1: the data that the peer wrote differ at byte 999 of 1000: received 0x01, sent 0x00"));
}

TEST_F(RpingTest, AClientThatOffersNothing) {
  const TickClock clock(kernel_->files());
  const auto client = connect(clock);
  ASSERT_TRUE(client->end().advertise({}));
  until([this] { return reports_.size() == 1; });
  EXPECT_EQ(reports_[0].ended_by,
            "message: exchanging messages with 127.0.0.1: the peer offers 0 bytes, 1 to 65536 are possible");
  EXPECT_EQ(why_not(to_rping()), "pinged");
}

TEST_F(RpingTest, AClientThatOffersAnotherSizeForTheWayBack) {
  const TickClock clock(kernel_->files());
  const auto client = connect(clock);
  ASSERT_TRUE(client->end().advertise(client->end().outgoing(64)));
  ASSERT_TRUE(client->end().await_go_ahead());
  ASSERT_TRUE(client->end().advertise(client->end().incoming(65)));
  until([this] { return reports_.size() == 1; });
  EXPECT_EQ(reports_[0].ended_by, "the peer offers 65 bytes where 64 were due");
}

// The only one that waits until that is over.
class RpingTestOfPatience : public RpingTest {
 protected:
  RpingTestOfPatience() { patience_ = milliseconds(300); }
};

TEST_F(RpingTestOfPatience, AClientThatSaysNothing) {
  const TickClock clock(kernel_->files());
  const auto client = connect(clock);
  until([this] { return reports_.size() == 1; });
  EXPECT_EQ(reports_[0].ended_by,
            "message: exchanging messages with 127.0.0.1: receiving a message on rxe_lo: no data for 300 ms");
}

TEST_F(RpingTest, AClientThatGoesInTheMiddle) {
  const TickClock clock(kernel_->files());
  {
    const auto client = connect(clock);
    ASSERT_TRUE(client->end().advertise(client->end().outgoing(64)));
    ASSERT_TRUE(client->end().await_go_ahead());
  }
  until([this] { return reports_.size() == 1; });
  EXPECT_EQ(reports_[0].ended_by, "message: exchanging messages with 127.0.0.1: 127.0.0.1 closed the connection");
  EXPECT_EQ(why_not(to_rping()), "pinged");
}

TEST_F(RpingTest, NothingListensThere) {
  PingOptions wanted = to_rping();
  wanted.port = 7;
  EXPECT_EQ(why_not(wanted),
            "connect: connecting to 127.0.0.1 port 7: rejected (reason 8)\n"
            "  connection refused: nothing is listening on this port; check that the server is running");
}

}  // namespace
}  // namespace railbed::perf

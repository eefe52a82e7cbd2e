// SPDX-License-Identifier: Apache-2.0
// Whole measurements of jitter, client and server in this process, with devices in memory.
#include "perf/jitter/jitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/session/test_rdma.h"

namespace railbed::perf {
namespace {

using testing::HasSubstr;

class JitterTest : public RdmaTest {
 protected:
  void SetUp() override {
    RdmaTest::SetUp();
    change([](FakeVerbs& verbs) { verbs.records = false; });
  }
  void TearDown() override {
    RdmaTest::TearDown();
    change([](FakeVerbs& verbs) { verbs.records = true; });
  }
  JitterOptions options() const {
    return {.host = "127.0.0.1",
            .port = server_->port(),
            .rate_per_s = 500,
            .duration_ms = 60,
            .repeats = 1,
            .with_load = false,
            .limits = limits(),
            .label = "rail0",
            .command = "test"};
  }
  std::string why_not(const JitterOptions& wanted) {
    const auto outcome = measure_jitter(*kernel_, wanted);
    if (!outcome) return outcome.error().to_string();
    return outcome->error ? outcome->error->to_string() : "measured";
  }
};

TEST_F(JitterTest, EveryProbeThatIsDueIsSent) {
  SimulatedClock clock(std::chrono::microseconds(1));
  clock_ = &clock;
  const auto outcome = measure_jitter(*kernel_, options());
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_FALSE(outcome->error) << outcome->error->to_string();
  const JitterReport& report = outcome->report;
  EXPECT_EQ(report.idle.whole.samples, 30u);
  EXPECT_EQ(clock.sleeps(), 29) << "once between two probes";
  EXPECT_EQ(report.clock, ProbeClock::kSoftware);
  EXPECT_EQ(report.client.device, "rxe_lo");
  EXPECT_TRUE(report.soft);
  EXPECT_FALSE(report.loaded);
}

TEST_F(JitterTest, InTurnsWithALoad) {
  // The load leaves the device to the probes from time to time; a mutex that is taken again at once starves others.
  change([](FakeVerbs& verbs) { verbs.devices[0].post_takes = std::chrono::microseconds(100); });
  JitterOptions wanted = options();
  wanted.with_load = true;
  wanted.repeats = 2;
  std::vector<std::string> reported;
  wanted.on_progress = [&](const std::string& line) { reported.push_back(line); };
  const auto outcome = measure_jitter(*kernel_, wanted);
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_FALSE(outcome->error) << outcome->error->to_string();
  EXPECT_EQ(reported, (std::vector<std::string>{"jitter: idle 1 of 2", "jitter: loaded 1 of 2", "jitter: idle 2 of 2",
                                                "jitter: loaded 2 of 2"}));
  EXPECT_EQ(outcome->report.idle.whole.samples, 60u);
  ASSERT_TRUE(outcome->report.loaded);
  EXPECT_EQ(outcome->report.loaded->whole.samples, 60u);
  EXPECT_GT(outcome->report.loaded->load_gbps, 0);
  EXPECT_EQ(outcome->report.idle.load_gbps, 0);
  EXPECT_EQ(outcome->report.loaded->rounds_with_short_load, 0);
}

// The device of the test stamps with the clock of this machine, so what is left is what the host took.
TEST_F(JitterTest, ADeviceThatStampsPartsTheHost) {
  change([](FakeVerbs& verbs) { verbs.has_device_clock = true; });
  const auto outcome = measure_jitter(*kernel_, options());
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  const JitterReport& report = outcome->report;
  EXPECT_EQ(report.clock, ProbeClock::kDevice);
  ASSERT_TRUE(report.idle.noticing);
  EXPECT_EQ(report.idle.noticing->samples, 30u);
  EXPECT_EQ(report.idle.noticing->min_us, 0);
  EXPECT_GT(report.idle.noticing->max_us, 0);
  EXPECT_THAT(to_table(report), HasSubstr("noticing"));
}

TEST_F(JitterTest, ProbesWithoutAnAnswerEnd) {
  change([](FakeVerbs& verbs) { verbs.completes = false; });
  JitterOptions wanted = options();
  wanted.limits.stall = milliseconds(300);
  EXPECT_THAT(why_not(wanted), HasSubstr("idle round 1: no traffic for "));
  change([](FakeVerbs& verbs) { verbs.completes = true; });
}

TEST_F(JitterTest, AnErrorOfTheDeviceIsNamed) {
  change([](FakeVerbs& verbs) { verbs.completes_with = IBV_WC_RETRY_EXC_ERR; });
  EXPECT_THAT(why_not(options()), HasSubstr("idle round 1: a probe on rxe_lo: transport retry counter exceeded"));
  reset();
  // Who finds all answers there never has to ask for news of them.
  change([](FakeVerbs& verbs) {
    verbs.completes = false;
    verbs.faults["req_notify_cq"] = {EIO, 0};
  });
  EXPECT_THAT(why_not(options()),
              HasSubstr("idle round 1: requesting completion notifications from rxe_lo: EIO (Input/output error)"));
  change([](FakeVerbs& verbs) { verbs.completes = true; });
}

TEST_F(JitterTest, AServerThatGoesEndsIt) {
  JitterOptions wanted = options();
  wanted.duration_ms = 20'000;
  wanted.on_progress = [&](const std::string&) { server_->stop(); };
  EXPECT_THAT(why_not(wanted), HasSubstr("the peer closed the connection"));
}

TEST_F(JitterTest, TooManyProbesAreRefused) {
  JitterOptions wanted = options();
  wanted.rate_per_s = 100'000;
  wanted.duration_ms = 11'000;
  EXPECT_EQ(why_not(wanted), "rate, duration: 1100000 probes a round, at most 1000000 are kept");
}

// A server must not be made to receive beside a test.
TEST_F(JitterTest, ALoadThatNeedsTheServersProcessorIsRefused) {
  auto socket = Socket::connect("127.0.0.1", server_->port(), Deadline::after(milliseconds(1000)));
  ASSERT_TRUE(socket);
  Channel channel(std::move(*socket));
  const auto soon = [] { return Deadline::after(milliseconds(1000)); };
  ASSERT_TRUE(channel.send(Hello{.protocol = kProtocol, .version = "0", .hostname = "test"}, soon()));
  ASSERT_TRUE(channel.expect<Hello>(milliseconds(20000)));
  TestSpec probes = spec(TestKind::kLatency);
  probes.verb = RdmaVerb::kRead;
  TestSpec load = spec(TestKind::kBandwidth);
  load.verb = RdmaVerb::kSend;
  ASSERT_TRUE(channel.send(OpenTest{.spec = probes, .load = load}, soon()));
  const auto offer = channel.expect<Offer>(milliseconds(20000));
  ASSERT_FALSE(offer);
  EXPECT_EQ(offer.error().to_string(),
            "the peer says: load: it must be RDMA that the device alone takes, in one direction");
}

}  // namespace
}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/live_figures.h"

#include <gtest/gtest.h>

#include "perf/session/test_peers.h"

namespace railbed::perf {
namespace {

using FiguresClock = LiveFigures::Clock;

TEST(LiveFigures, ReportHowFarASizeIs) {
  LiveFigures live;
  const FiguresClock::time_point start = FiguresClock::now();
  EXPECT_EQ(live.text(start), "");
  TestSpec spec{.kind = TestKind::kBandwidth, .sizes_bytes = {2, 65536}, .qps = 2, .duration_ms = 2000};
  live.begin(spec, 65536, 2, start);
  EXPECT_EQ(live.text(start + milliseconds(100)), "bw over rdma, 64 KiB (2 of 2): 0.1 of 2.0 s");
  live.note(100'000);
  EXPECT_EQ(live.text(start + milliseconds(500)),
            "bw over rdma, 64 KiB (2 of 2): 0.5 of 2.0 s, 105 Gb/s, 2e+05 messages/s");
  live.end();
  EXPECT_EQ(live.text(start + milliseconds(600)), "");
  // A size begins with nothing known.
  spec.sizes_bytes = {2};
  spec.iterations = 5000;
  spec.transport = Transport::kTcp;
  spec.kind = TestKind::kLatency;
  live.begin(spec, 2, 1, start);
  EXPECT_EQ(live.text(start), "lat over tcp, 2 B: 0 of 10000 messages");
  live.note(777);
  EXPECT_EQ(live.text(start + milliseconds(1)), "lat over tcp, 2 B: 777 of 10000 messages, 777 round trips");
}

class LiveTest : public ServedTest {
 protected:
  Limits limits() const override { return {.check = milliseconds(5)}; }
  // What a size of this test says of itself while it runs.
  std::string seen_in(TestKind kind) {
    LiveFigures live;
    std::string seen;
    std::stop_source over;
    std::jthread watcher([&](const std::stop_token& stop) {
      while (!stop.stop_requested() && !seen.contains("messages/s") && !seen.contains("round trips")) {
        if (const std::string text = live.text(FiguresClock::now()); !text.empty()) seen = text;
        std::this_thread::sleep_for(milliseconds(1));
      }
      over.request_stop();
    });
    TestSpec spec = small_test(kind);
    spec.iterations = 0;
    spec.duration_ms = 60'000;  // until it was seen
    const auto measured = measure(*kernel_,
                                  {.host = "127.0.0.1",
                                   .port = server_->port(),
                                   .place = {},
                                   .limits = limits(),
                                   .on_progress = {},
                                   .on_size = {},
                                   .live = &live,
                                   .stop = over.get_token()},
                                  spec);
    EXPECT_TRUE(!measured && measured.error().code == Code::kCanceled);
    EXPECT_EQ(live.text(FiguresClock::now()), "") << "a line that stays when it is over";
    watcher.request_stop();
    watcher.join();
    return seen;
  }
};

TEST_F(LiveTest, TheLoopsSayWhatIsThrough) {
  EXPECT_TRUE(seen_in(TestKind::kBandwidth).contains(" messages/s"));
  EXPECT_TRUE(seen_in(TestKind::kLatency).contains(" round trips"));
}

}  // namespace
}  // namespace railbed::perf

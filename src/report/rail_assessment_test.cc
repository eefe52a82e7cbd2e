// SPDX-License-Identifier: Apache-2.0
#include "report/rail_assessment.h"

#include <gtest/gtest.h>

#include "report/test_results.h"

namespace railbed::report {
namespace {

using perf::Measurement;
using perf::TestKind;
using perf::Transport;

Assessment assessment_of(const std::vector<Measurement>& measurements) {
  return assess(rails_of(measurements));
}

// As the page shows them.
std::vector<std::string> remarks_in(const Assessment& assessment) {
  std::vector<std::string> remarks;
  for (const findings::Finding& one : assessment.found) remarks.push_back(one.message);
  remarks.insert(remarks.end(), assessment.notes.begin(), assessment.notes.end());
  return remarks;
}

TEST(Assessment, SaysWhatRdmaIsWorth) {
  const Assessment assessment = assessment_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368),
                                               measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 92),
                                               measured(TestKind::kLatency, Transport::kRdma, "rail0", 1.25)});
  EXPECT_EQ(assessment.tone, Assessment::Tone::kGood);
  EXPECT_EQ(assessment.headline, "RDMA works on 1 rail and carries 368 Gb/s, 94 % of what the link can.");
  EXPECT_EQ(remarks_in(assessment),
            (std::vector<std::string>{
                "That is 4× what TCP reaches on the same path.",
                "A small message typically takes 0.62 µs one way; 999 of 1000 round trips end within 1.25 µs."}));
}

TEST(Assessment, NamesTheSlowRail) {
  std::vector<Measurement> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), i == 2 ? 196 : 392));
  const Assessment assessment = assessment_of(all);
  EXPECT_EQ(assessment.tone, Assessment::Tone::kCaution);
  EXPECT_EQ(assessment.headline,
            "RDMA works on 4 rails and carries 196 Gb/s to 392 Gb/s on each, 50 % to 100 % of what the links can.");
  EXPECT_EQ(remarks_in(assessment),
            (std::vector<std::string>{"rail2 carries 196 Gb/s, 50 % of the 392 Gb/s that its link can (400 Gb/sec (4X "
                                      "NDR), PCIe 32 GT/s x16, MTU 4096).",
                                      "rail2 is 50 % slower than the middle of the rails."}));
}

Measurement between(Measurement m, const std::string& client, const std::string& server) {
  m.client.hostname = client;
  m.server.hostname = server;
  return m;
}

// Three pairs on one rail, of which one is slow: it stands beside the others, and the others' figures are theirs.
TEST(Assessment, NoPairCountsForAnotherOne) {
  const auto one = [](double gbps) { return measured(TestKind::kBandwidth, Transport::kRdma, "rail0", gbps); };
  const std::vector<Measurement> all = {between(one(38), "a", "b"), between(one(390), "a", "c"),
                                        between(one(391), "b", "c")};
  const auto rails = rails_of(all);
  ASSERT_EQ(rails.size(), 3u);
  EXPECT_EQ(rails[0].name, "rail0 (a net1 → b net1)");
  EXPECT_EQ(rails[0].rdma.best->average_gbps, 38);
  const Assessment assessment = assess(rails);
  EXPECT_EQ(assessment.tone, Assessment::Tone::kCaution);
  EXPECT_EQ(assessment.headline,
            "RDMA works on 3 rails and carries 38.0 Gb/s to 391 Gb/s on each, 10 % to 100 % of what the links can.");
  EXPECT_TRUE(remarks_in(assessment)[0].starts_with("rail0 (a net1 → b net1) carries 38.0 Gb/s, 10 % of the 392 Gb/s"))
      << remarks_in(assessment)[0];
}

// What all rails carry at once is shown beside what each carries alone.
TEST(Assessment, RailsAloneAndAllAtOnceAreBothShown) {
  std::vector<Measurement> all;
  for (int i = 0; i < 2; ++i)
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), 390));
  for (int i = 0; i < 2; ++i) {
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), 195));
    all.back().started_at = fmt::format("2026-01-03T00:00:00.{}00Z", 1 + 4 * i);
  }
  const auto rails = rails_of(all);
  ASSERT_EQ(rails.size(), 4u);
  EXPECT_EQ(rails[2].name, "rail0 (among others)");
  EXPECT_EQ(rails[3].rdma.best->average_gbps, 195);
  EXPECT_EQ(assess(rails).tone, Assessment::Tone::kCaution);
  EXPECT_TRUE(assess(rails).headline.starts_with("RDMA works on 2 rails and carries 195 Gb/s to 390 Gb/s"))
      << assess(rails).headline;
  // Those that share less than half of their time are not beside each other.
  all[3].started_at = "2026-01-03T00:00:00.700Z";
  EXPECT_EQ(rails_of(all).size(), 2u);
}

// A verb is no repeat of another one, and what a device answers has no halves.
TEST(Assessment, EachVerbHasARowOfItsOwn) {
  std::vector<Measurement> all = {measured(TestKind::kLatency, Transport::kRdma, "rail0", 0),
                                  measured(TestKind::kLatency, Transport::kRdma, "rail0", 0)};
  all[1].spec.verb = perf::RdmaVerb::kRead;
  all[1].started_at = "2026-01-04T00:00:00.000Z";
  const auto rails = rails_of(all);
  ASSERT_EQ(rails.size(), 2u);
  EXPECT_EQ(rails[0].name, "rail0");
  EXPECT_TRUE(rails[0].rdma.half_p50_us());
  EXPECT_EQ(rails[1].name, "rail0 (RC read)");
  EXPECT_FALSE(rails[1].rdma.half_p50_us());
}

// Several sweeps of one pair: the slowest counts, and that they differ is reported.
TEST(Assessment, ReportsThatRepeatsDiffer) {
  const Assessment assessment = assessment_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 391),
                                               measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 240),
                                               measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390)});
  EXPECT_EQ(assessment.headline, "RDMA works on 1 rail and carries 240 Gb/s, 61 % of what the link can.");
  EXPECT_EQ(remarks_in(assessment)[1], "rail0 was measured 3 times, with 240 Gb/s to 391 Gb/s.");
}

// Eight rails that are alike, and all of them a tenth of what they should be.
TEST(Assessment, NoTickWithoutAYardstick) {
  const auto tone = [](double gbps, double link_gbps, int64_t size_bytes = 65536) {
    std::vector<Measurement> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), gbps));
      all.back().server.link_gbps = link_gbps;
      all.back().bandwidth[0].size_bytes = size_bytes;
    }
    return assessment_of(all).tone;
  };
  EXPECT_EQ(tone(390, 400), Assessment::Tone::kGood);
  EXPECT_EQ(tone(354, 400), Assessment::Tone::kGood);
  EXPECT_EQ(tone(352, 400), Assessment::Tone::kCaution);
  EXPECT_EQ(tone(40, 400), Assessment::Tone::kCaution);
  EXPECT_EQ(tone(410, 400), Assessment::Tone::kCaution) << "more than the link can: it is not what it says";
  EXPECT_EQ(tone(390, 0), Assessment::Tone::kNone);
  EXPECT_EQ(tone(40, 400, 2), Assessment::Tone::kNone) << "small messages do not fill a link";
  EXPECT_EQ(assessment_of({measured(TestKind::kLatency, Transport::kRdma, "rail0", 2)}).tone, Assessment::Tone::kNone);
}

TEST(Assessment, ReportsOutagesAndWhatIsMissing) {
  std::vector<Measurement> all = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390),
                                  measured(TestKind::kLatency, Transport::kRdma, "rail0", 2)};
  all[1].latency[0].outages = {{.at_ms = 5, .duration_ms = 20}, {.at_ms = 500, .duration_ms = 1000}};
  all[0].ended_by = "the peer closed the connection";
  const Assessment assessment = assessment_of(all);
  EXPECT_EQ(assessment.tone, Assessment::Tone::kCaution);
  EXPECT_EQ(remarks_in(assessment)[0], "rail0 gave no answer over RDMA 2 times, for up to 1.00 s.");
  EXPECT_EQ(remarks_in(assessment)[1], "The measurement of rail0 is incomplete: the peer closed the connection.");
}

// The ports' own counters: that the bytes went over them, and what it took.
TEST(Assessment, ReportsWhatThePortsCounted) {
  Measurement m = measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390);
  m.bandwidth[0].messages = 1000;
  m.client_counters = {{"port_xmit_data_bytes", 70'000'000}, {"port_xmit_packets", 16'000}};
  EXPECT_EQ(assessment_of({m}).tone, Assessment::Tone::kGood);
  m.client_counters["port_xmit_data_bytes"] = 50'000;
  m.client_counters["rp_cnp_handled"] = 7;
  m.server_counters = {{"out_of_sequence", 3}, {"tx_prio3_pause", 5}, {"tx_pause_ctrl_phy", 5}};
  const Assessment assessment = assessment_of({m});
  EXPECT_EQ(assessment.tone, Assessment::Tone::kCaution);
  EXPECT_EQ(
      remarks_in(assessment),
      (std::vector<std::string>{
          "rail0 sent 6.55e+07 bytes, but its port mlx5_1 counted 5e+04: the traffic used another path.",
          "rail0 had losses or congestion meanwhile: rp_cnp_handled 7 (client), out_of_sequence 3 (server), pause "
          "frames sent 5 (server)."}));
}

// A percentile needs ten samples beyond it, and 999 of 1000 needs ten thousand.
TEST(Assessment, SaysNothingOfATailThatIsNotSettled) {
  Measurement m = measured(TestKind::kLatency, Transport::kRdma, "rail0", 2.19);
  m.latency[0].histogram = {};
  m.latency[0].histogram.record(2190);
  EXPECT_EQ(remarks_in(assessment_of({m})),
            std::vector<std::string>{"There is no verdict for every rail: it requires the bandwidth of large messages "
                                     "and the rate of both links."});
  for (int i = 0; i < 20; ++i) m.latency[0].histogram.record(2190);
  EXPECT_EQ(remarks_in(assessment_of({m})).back(), "A small message typically takes 1.09 µs one way.");
}

TEST(Assessment, SaysThatSoftRdmaProvesNoSpeed) {
  const Assessment assessment = assessment_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 0.07, true)});
  EXPECT_EQ(assessment.tone, Assessment::Tone::kNone);
  EXPECT_EQ(assessment.headline, "RDMA works on 1 rail, in software.");
  ASSERT_EQ(remarks_in(assessment).size(), 2u);
  EXPECT_NE(remarks_in(assessment)[0].find("the figures say nothing about a real fabric"), std::string::npos);
  // 14 % between two of them is the processor's noise.
  EXPECT_EQ(assessment_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 0.07, true),
                           measured(TestKind::kBandwidth, Transport::kRdma, "rail1", 0.05, true)})
                .tone,
            Assessment::Tone::kNone);
}

TEST(Assessment, CountsRailsWithoutRdma) {
  EXPECT_EQ(assessment_of({measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 9)}).headline,
            "Plain TCP was measured on 1 rail, RDMA was not.");
  const Assessment assessment = assessment_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 9),
                                               measured(TestKind::kBandwidth, Transport::kTcp, "rail1", 9)});
  EXPECT_EQ(assessment.headline, "RDMA works on 1 of 2 rails and carries 9.00 Gb/s, 2 % of what the link can.");
  EXPECT_EQ(assessment.tone, Assessment::Tone::kCaution);
  EXPECT_EQ(assessment_of({}).headline, "Nothing was measured.");
}

// A rail is reported as slow below nine tenths of the middle one, of two of the better one, and as late above three
// times the middle of three. Here the links are not known.
TEST(Assessment, ReportsWhichRailDiffers) {
  const auto remarks = [](TestKind kind, const std::vector<double>& figures) {
    std::vector<Measurement> all;
    for (const double figure : figures)
      all.push_back(measured(kind, Transport::kRdma, fmt::format("rail{}", all.size()), figure));
    for (Measurement& m : all) m.client.link_gbps = 0;
    std::string out = assessment_of(all).headline;
    for (const std::string& one : remarks_in(assessment_of(all)))
      if (!one.starts_with("There is no verdict for every rail")) out += "\n" + one;
    return out;
  };
  EXPECT_EQ(remarks(TestKind::kBandwidth, {100, 90}),
            "RDMA works on 2 rails and carries 90.0 Gb/s to 100 Gb/s on each.");
  EXPECT_EQ(remarks(TestKind::kBandwidth, {100, 100, 90}),
            "RDMA works on 3 rails and carries 90.0 Gb/s to 100 Gb/s on each.");
  EXPECT_EQ(remarks(TestKind::kBandwidth, {100, 100, 89}),
            "RDMA works on 3 rails and carries 89.0 Gb/s to 100 Gb/s on each.\n"
            "rail2 is 11 % slower than the middle of the rails.");
  EXPECT_EQ(remarks(TestKind::kBandwidth, {100, 60}),
            "RDMA works on 2 rails and carries 60.0 Gb/s to 100 Gb/s on each.\n"
            "rail1 is 40 % slower than the other rail.");
  const std::string late = "A small message typically takes ";
  EXPECT_EQ(remarks(TestKind::kLatency, {1, 9}).find("long tail"), std::string::npos) << "of two it is unknown which";
  EXPECT_EQ(remarks(TestKind::kLatency, {1, 1, 2.9}).find("long tail"), std::string::npos);
  EXPECT_NE(remarks(TestKind::kLatency, {1, 1, 3.2}).find("rail2 has a long tail: 1 round trip in 1000 takes "),
            std::string::npos)
      << remarks(TestKind::kLatency, {1, 1, 3.2});
  EXPECT_TRUE(remarks(TestKind::kLatency, {1}).starts_with("RDMA works on 1 rail.\n" + late))
      << remarks(TestKind::kLatency, {1});
}

}  // namespace
}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
#include "perf/measurement.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/limits_of.h"

namespace railbed::perf {
namespace {

Measurement latency() {
  Measurement m{.started_at = "2026-01-02T03:04:05Z",
                .command = "railbed perf lat \"x\"",
                .label = "rail0",
                .peer = "10.1.0.6",
                .spec = {.kind = TestKind::kLatency, .sizes_bytes = {2}}};
  m.client = {.hostname = "guest-1",
              .address = "10.1.0.5",
              .netdev = "net1",
              .device = "rxe0",
              .port = 1,
              .gid_reason = "GID 1, RoCE v2, 10.1.0.5 on net1, by rule",
              .soft = true};
  m.server = m.client;
  m.server.hostname = "guest-2";
  LatencyPoint point{.size_bytes = 2, .duration_s = 1};
  LatencyMeter meter(10'000'000);
  for (uint64_t i = 0; i < 100; ++i) meter.add(i * 1'000'000, 1000 + i);
  point.histogram = meter.histogram();
  point.slots = meter.slots();
  m.latency.push_back(point);
  return m;
}

Measurement bandwidth() {
  Measurement m = latency();
  m.latency.clear();
  m.spec = {.kind = TestKind::kBandwidth, .sizes_bytes = {65536}, .bidirectional = true};
  m.bandwidth.push_back({.size_bytes = 65536,
                         .messages = 1000,
                         .duration_s = 0.1,
                         .average_gbps = 5.24288,
                         .message_rate_per_s = 10000,
                         .series = {.slot_ms = 10, .gbps = {5, 6}, .peak_gbps = 6},
                         .reverse_average_gbps = 4.5,
                         .reverse_series = ThroughputSeries{}});
  return m;
}

TEST(Measurement, ComesBackFromJson) {
  const std::string text = to_json({latency(), bandwidth()});
  const auto back = measurements_from_json(text);
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ(to_json(*back), text);
  EXPECT_EQ((*back)[0].client, latency().client);
  EXPECT_EQ((*back)[0].latency[0].slots, latency().latency[0].slots);
  EXPECT_EQ((*back)[0].latency[0].histogram.buckets(), latency().latency[0].histogram.buckets());
  EXPECT_TRUE((*back)[1].soft());
}

// What each field of a file may be. RAILBED_UPDATE=1 writes it anew.
TEST(Measurement, EveryFieldHasItsLimits) {
  const auto limits = [](const Measurement& measurement) {
    doc::Diagnostics none;
    const auto text = std::make_shared<const doc::Source>(doc::Source{"x", to_json({measurement})});
    return doc::LimitsOf(*doc::parse_json(text, none),
                         [](const std::string& json) { return measurements_from_json(json).has_value(); })
        .text();
  };
  Measurement pings = latency();
  LatencyMeter meter(10'000'000);
  meter.add(0, 1000);
  meter.add(0, 1000);
  pings.latency[0].histogram = meter.histogram();
  pings.latency[0].slots = meter.slots();
  expect_golden(testdata() / "perf/latency.limits", limits(pings));
  expect_golden(testdata() / "perf/bandwidth.limits", limits(bandwidth()));
}

TEST(Measurement, RefusesOtherAndDamagedFiles) {
  const auto refusal = [](std::string_view text) {
    const auto result = measurements_from_json(text);
    return result ? "read" : result.error().to_string();
  };
  EXPECT_EQ(refusal("{}"), "schema is missing\n  only results of `railbed perf` can be read");
  EXPECT_EQ(refusal(R"({"schema":"railbed.perf/v9"})"),
            "schema: \"railbed.perf/v9\" is not railbed.perf/v1, the one this version reads");
  std::string text = to_json({latency()});
  text.replace(text.find("\"count\": 100"), 12, "\"count\": 101");
  EXPECT_EQ(refusal(text), "measurements[0].latency[0].histogram: the counts contradict the totals");
}

TEST(Measurement, TableShowsBothEndsAndSoft) {
  EXPECT_EQ(to_table(bandwidth()),
            "rail0: bandwidth both ways over RDMA (RC write), soft RDMA\n"
            "  client  guest-1 10.1.0.5 (net1), rxe0 port 1 [soft], GID 1, RoCE v2, 10.1.0.5 on net1, by rule\n"
            "  server  guest-2 10.1.0.5 (net1), rxe0 port 1 [soft], GID 1, RoCE v2, 10.1.0.5 on net1, by rule\n"
            "      size     messages    peak Gb/s     avg Gb/s     messages/s   back avg Gb/s\n"
            "    64 KiB         1000       6.0000       5.2429          10000          4.5000\n");
  EXPECT_EQ(to_table(latency()).substr(0, 63), "rail0: latency (half the round trip) over RDMA (RC write), soft");
}

TEST(SizeText, UsesWholeUnits) {
  EXPECT_EQ(size_text(2), "2 B");
  EXPECT_EQ(size_text(1500), "1500 B");
  EXPECT_EQ(size_text(65536), "64 KiB");
  EXPECT_EQ(size_text(8 << 20), "8 MiB");
}

TEST(SweepSizes, AreThePowersOfTwo) {
  EXPECT_EQ(sweep_sizes(16), (std::vector<int64_t>{2, 4, 8, 16}));
  EXPECT_EQ(sweep_sizes(8 << 20).size(), 23u);
}

TEST(Validate, NamesTheOption) {
  const auto refusal = [](TestSpec spec) {
    const auto result = validate(spec);
    return result ? "fine" : result.error().message;
  };
  EXPECT_EQ(refusal({.sizes_bytes = {2}}), "fine");
  EXPECT_EQ(refusal({.sizes_bytes = {0}}), "size: 0 is outside 1..67108864");
  EXPECT_EQ(refusal({.sizes_bytes = {2}, .tx_depth = 0}), "tx-depth: 0 is outside 1..8192");
  EXPECT_EQ(refusal({.sizes_bytes = {2}, .duration_ms = 1}), "duration: 1 is outside 10..86400000");
  EXPECT_EQ(refusal({.transport = Transport::kTcp, .sizes_bytes = {2}, .bidirectional = true}),
            "bidirectional: only for bandwidth over RDMA");
}

}  // namespace
}  // namespace railbed::perf

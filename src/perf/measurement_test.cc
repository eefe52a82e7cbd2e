// SPDX-License-Identifier: Apache-2.0
#include "perf/measurement.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "base/testdata.h"
#include "doc/limits_of.h"
#include "perf/test_results.h"

namespace railbed::perf {
namespace {

Measurement latency() {
  Measurement m{.version = "0.1.0",
                .started_at = "2026-01-02T03:04:05Z",
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
              .soft = true,
              .link = "400 Gb/sec (4X NDR)",
              .link_gbps = 400,
              .pcie = "32 GT/s x16",
              .pcie_gbps = 461};
  m.server = m.client;
  m.server.hostname = "guest-2";
  m.client_counters = {{"port_xmit_data_bytes", 1000}};
  m.server_counters = {{"out_of_sequence", 3}};
  LatencyPoint point{.size_bytes = 2, .duration_s = 1};
  LatencyMeter meter(10'000'000);
  for (uint64_t i = 0; i < 100; ++i) meter.add(i * 1'000'000, 1000 + i);
  point.histogram = meter.histogram();
  point.slots = meter.slots();
  point.outages = {{.at_ms = 3, .duration_ms = 20}};
  point.used_inline = true;
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
                         .reverse_series = ThroughputSeries{},
                         .used_tx_depth = 128,
                         .used_post_batch = 1});
  return m;
}

TEST(Measurement, ComesBackFromJson) {
  const std::string text = to_json({latency(), bandwidth()});
  const auto back = measurements_from_json(text);
  ASSERT_TRUE(back) << back.error().to_string();
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ(to_json(*back), text);
  EXPECT_EQ((*back)[0].client, latency().client);
  EXPECT_EQ((*back)[0].client_counters, latency().client_counters);
  EXPECT_EQ((*back)[0].server_counters, latency().server_counters);
  EXPECT_EQ((*back)[0].latency[0].slots, latency().latency[0].slots);
  EXPECT_EQ((*back)[0].latency[0].outages, latency().latency[0].outages);
  EXPECT_EQ((*back)[0].latency[0].histogram.buckets(), latency().latency[0].histogram.buckets());
  EXPECT_TRUE((*back)[1].soft());
}

// What each field of a file may be. RAILBED_UPDATE=1 rewrites it.
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
  if (!kSanitized) expect_golden(testdata() / "perf/latency.limits", limits(pings));  // the longer one
  expect_golden(testdata() / "perf/bandwidth.limits", limits(bandwidth()));
}

TEST(Measurement, RefusesOtherAndDamagedFiles) {
  const auto refusal = [](std::string_view text) {
    const auto result = measurements_from_json(text);
    return result ? "read" : result.error().to_string();
  };
  EXPECT_EQ(refusal("{}"), "schema is missing\n  only results of `railbed perf` can be read");
  EXPECT_EQ(refusal(R"({"schema":"railbed.perf/v9"})"),
            "schema: \"railbed.perf/v9\" is not railbed.perf/v2, the one this version reads");
  EXPECT_EQ(refusal(R"({"schema":"railbed.perf/v1"})"),
            "schema: \"railbed.perf/v1\" is not railbed.perf/v2, the one this version reads\n"
            "  its latencies are half round trips; measure again");
  EXPECT_EQ(refusal(R"({"schema":"railbed.mesh/v1"})"),
            "schema: \"railbed.mesh/v1\" is not railbed.perf/v2, the one this version reads\n"
            "  reports show the file that `perf mesh --save` wrote, not its -o json");
  std::string text = to_json({latency()});
  text.replace(text.find("\"count\": 100"), 12, "\"count\": 101");
  EXPECT_EQ(refusal(text), "measurements[0].latency[0].round_trip_histogram: the counts contradict the totals");
}

TEST(Measurement, TableShowsBothEndsAndSoft) {
  EXPECT_EQ(to_table(bandwidth()),
            "rail0: bandwidth both ways over RDMA (RC write), soft RDMA\n"
            "  client  guest-1 10.1.0.5 (net1), rxe0 port 1 [soft], GID 1, RoCE v2, 10.1.0.5 on net1, by rule\n"
            "  server  guest-2 10.1.0.5 (net1), rxe0 port 1 [soft], GID 1, RoCE v2, 10.1.0.5 on net1, by rule\n"
            "      size     messages    peak Gb/s     avg Gb/s     messages/s   back avg Gb/s\n"
            "    64 KiB         1000       6.0000       5.2429          10000          4.5000\n"
            "  pause frames  client: not counted by the driver of net1; server: not counted by the driver of net1\n");
  Measurement small = bandwidth();
  small.bandwidth[0].average_gbps = 0.0000712;
  EXPECT_NE(to_table(small).find(" 0.0000712 "), std::string::npos) << to_table(small);
}

// Of a driver that counts them, how many; of one that does not, that it does not. InfiniBand has none.
TEST(Measurement, TableReportsPauseFrames) {
  Measurement m = bandwidth();
  const auto reported = [&] {
    const std::string table = to_table(m);
    const size_t at = table.find("  pause frames");
    return at == std::string::npos ? "" : table.substr(at);
  };
  m.client.counts_pauses = true;
  m.client_counters = {{"rx_prio3_pause", 7}, {"rx_prio4_pause", 1}, {"rx_prio3_pause_duration", 500}};
  m.server.netdev = "\x1b[2J";
  EXPECT_EQ(reported(), "  pause frames  client: 0 sent, 8 received; server: not counted by the driver of \\x1b[2J\n");
  m.server.netdev = "";
  EXPECT_EQ(reported(), "  pause frames  client: 0 sent, 8 received; server: not counted\n");
  m.server.counts_pauses = true;
  EXPECT_EQ(reported(), "  pause frames  client: 0 sent, 8 received; server: 0 sent, 0 received\n");
  m.client.link_layer = "InfiniBand";
  EXPECT_EQ(reported(), "");
  m.client.link_layer = "Ethernet";
  m.client.device = "";
  EXPECT_EQ(reported(), "") << "TCP";
}

// Of datagrams some may be lost; a read has no halves, and memory and processors are shown where they are unusual.
TEST(Measurement, TableReportsWhatIsOfTheVerb) {
  Measurement m = bandwidth();
  m.spec = {.sizes_bytes = {1024}, .verb = RdmaVerb::kSendUd};
  m.bandwidth[0].lost_messages = 12;
  m.client.memory = "huge pages of 2 MiB";
  m.client.cpus = "0-3";
  m.client.numa_node = 1;
  EXPECT_EQ(
      to_table(m),
      "rail0: bandwidth over RDMA (UD send), soft RDMA\n"
      "  client  guest-1 10.1.0.5 (net1), rxe0 port 1 [soft], GID 1, RoCE v2, 10.1.0.5 on net1, by rule, huge pages of "
      "2 MiB, CPUs 0-3 of NUMA node 1\n"
      "  server  guest-2 10.1.0.5 (net1), rxe0 port 1 [soft], GID 1, RoCE v2, 10.1.0.5 on net1, by rule\n"
      "      size     messages    peak Gb/s     avg Gb/s     messages/s\n"
      "    64 KiB         1000       6.0000       5.2429          10000\n"
      "           12 datagrams were sent but not received\n"
      "  pause frames  client: not counted by the driver of net1; server: not counted by the driver of net1\n");
  Measurement read = latency();
  read.spec.verb = RdmaVerb::kRead;
  const std::string table = to_table(read);
  EXPECT_EQ(
      table.substr(table.find("  microseconds")),
      "  microseconds; the peer's device answers, so a round trip has no halves\n"
      "      size   samples one way min one way p50 | round trip p50        p99      p99.9        max       mean     "
      "stddev\n"
      "       2 B       100           -           - |           1.05          -          -       1.10       1.05       "
      "0.03\n"
      "           1 outage without an answer, 20.0 ms together, the longest 20.0 ms\n"
      "  pause frames  client: not counted by the driver of net1; server: not counted by the driver of net1\n");
  EXPECT_EQ(to_json({read}).find("half_"), std::string::npos);
}

// Results of versions that knew one verb: what they do not say is what they did.
TEST(Measurement, ResultsFromBeforeVerbsAreRead) {
  std::string text = to_json({latency()});
  for (const char* field : {"\"verb\"", "\"post_list\"", "\"memory\"", "\"numa_node\"", "\"lost_messages\""}) {
    size_t at = 0;
    while ((at = text.find(field)) != std::string::npos) text.replace(at, 2, "\"x");
  }
  const auto back = measurements_from_json(text);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ((*back)[0].spec, latency().spec);
}

// Percentiles that too few samples speak for are left out, outages and what is missing are shown.
TEST(Measurement, TableReportsTailsOfWholeRoundTrips) {
  Measurement m = latency();
  m.spec.rate_per_s = 1000;
  m.ended_by = "perf lat with 10.1.0.6: \x1b[2Jthe peer closed the connection";
  EXPECT_EQ(
      to_table(m).substr(to_table(m).find("  1000 pings")),
      "  1000 pings a second on a fixed schedule; each counts from its due time\n"
      "  microseconds; one way is half of a round trip, known only of the fastest and the middle one\n"
      "      size   samples one way min one way p50 | round trip p50        p99      p99.9        max       mean     "
      "stddev\n"
      "       2 B       100        0.50        0.52 |           1.05          -          -       1.10       1.05       "
      "0.03\n"
      "           1 outage without an answer, 20.0 ms together, the longest 20.0 ms\n"
      "  pause frames  client: not counted by the driver of net1; server: not counted by the driver of net1\n"
      "  incomplete, 1 of 1 sizes: perf lat with 10.1.0.6: \\x1b[2Jthe peer closed the connection\n");
  const std::string json = to_json({m});
  for (const char* there : {"\"round_trip_p50_us\": 1.0", "\"round_trip_p90_us\": 1.0", "\"half_p50_us\": 0.5",
                            "\"complete\": false", "\"rate_per_s\": 1000"})
    EXPECT_NE(json.find(there), std::string::npos) << there << json;
  for (const char* unsettled : {"round_trip_p99_us", "round_trip_p99_9_us", "round_trip_p99_99_us"})
    EXPECT_EQ(json.find(unsettled), std::string::npos) << unsettled;
}

}  // namespace
}  // namespace railbed::perf

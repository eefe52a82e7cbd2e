// SPDX-License-Identifier: Apache-2.0
#include "report/rail_findings.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "findings/explain.h"
#include "findings/printers.h"
#include "report/test_results.h"

namespace railbed::report {
namespace {

using findings::Finding;
using perf::Measurement;
using perf::TestKind;
using perf::Transport;

// All that is said of these measurements, which began at one time.
std::vector<Finding> found_in(std::vector<Measurement> all) {
  for (size_t i = 0; i < all.size(); ++i) all[i].started_at = fmt::format("2026-01-02T03:{:02}:05.250Z", i);
  const std::vector<RailFigures> rails = rails_of(all);
  std::vector<Finding> found = objections(rails);
  for (Finding& one : limits_of_judgement(rails)) found.push_back(std::move(one));
  return found;
}

Measurement flow(double gbps, std::string label = "rail0") {
  return measured(TestKind::kBandwidth, Transport::kRdma, std::move(label), gbps);
}

struct FindingCase {
  std::function<std::vector<Measurement>()> measured;
  std::string text;  // of the only finding
};

std::vector<FindingCase> finding_cases() {
  return {
      {[] { return std::vector{flow(196)}; },
       "warning  rail0 carries 196 Gb/s, 50 % of the 392 Gb/s that its link can (400 Gb/sec (4X NDR), PCIe 32 GT/s "
       "x16, MTU 4096). [RB-RESULT-001]\n"
       "         where: rail rail0\n"
       "         seen:  196 in bandwidth of 65536 bytes, average_gbps (result, 2026-01-02T03:00:05.250Z)\n"
       "         seen:  400 Gb/sec (4X NDR) in client.link (result, 2026-01-02T03:00:05.250Z)\n"
       "         seen:  400 Gb/sec (4X NDR) in server.link (result, 2026-01-02T03:00:05.250Z)\n"},
      {[] { return std::vector{flow(410)}; },
       "warning  rail0 carries 410 Gb/s, more than the 392 Gb/s that its link (400 Gb/sec (4X NDR)) should be able to. "
       "[RB-RESULT-002]\n"
       "         where: rail rail0\n"
       "         seen:  410 in bandwidth of 65536 bytes, average_gbps (result, 2026-01-02T03:00:05.250Z)\n"
       "         seen:  400 Gb/sec (4X NDR) in client.link (result, 2026-01-02T03:00:05.250Z)\n"
       "         seen:  400 Gb/sec (4X NDR) in server.link (result, 2026-01-02T03:00:05.250Z)\n"},
      {[] { return std::vector{flow(400), flow(355)}; },
       "warning  rail0 was measured 2 times, with 355 Gb/s to 400 Gb/s. [RB-RESULT-003]\n"
       "         where: rail rail0\n"
       "         seen:  400 in bandwidth, the largest average_gbps of a sweep (result)\n"
       "         seen:  355 in bandwidth, the largest average_gbps of a sweep (result)\n"},
      {[] {
         Measurement m = measured(TestKind::kLatency, Transport::kTcp, "rail0", 20);
         m.latency[0].outages = {{.at_ms = 5, .duration_ms = 20}, {.at_ms = 500.4, .duration_ms = 1000}};
         return std::vector{flow(390), m};
       },
       "warning  rail0 gave no answer over TCP 2 times, for up to 1.00 s. [RB-RESULT-004]\n"
       "         where: rail rail0\n"
       "         seen:  1000 ms in outages, the longest, at 500 ms (result, 2026-01-02T03:01:05.250Z)\n"},
      {[] {
         Measurement m = flow(390);
         m.client_counters = {{"port_xmit_data_bytes", 50}};
         return std::vector{m};
       },
       "warning  rail0 sent 6.55e+04 bytes, but its port mlx5_1 counted 50: the traffic used another path. "
       "[RB-RESULT-005]\n"
       "         where: rail rail0\n"
       "         seen:  50 in client_counters.port_xmit_data_bytes (result, 2026-01-02T03:00:05.250Z)\n"},
      {[] {
         Measurement m = flow(390);
         m.client_counters = {{"out_of_sequence", 3}};
         m.server_counters = {{"tx_prio3_pause", 5}};
         return std::vector{m};
       },
       "warning  rail0 had losses or congestion meanwhile: out_of_sequence 3 (client), pause frames sent 5 (server). "
       "[RB-RESULT-006]\n"
       "         where: rail rail0\n"
       "         seen:  3 in client_counters, out_of_sequence (result, 2026-01-02T03:00:05.250Z)\n"
       "         seen:  5 in server_counters, pause frames sent (result, 2026-01-02T03:00:05.250Z)\n"},
      {[] {
         Measurement m = flow(390);
         m.ended_by = "Ctrl-C\x1b[2J";
         return std::vector{m};
       },
       "warning  The measurement of rail0 is incomplete: Ctrl-C\\x1b[2J. [RB-RESULT-007]\n"
       "         where: rail rail0\n"
       "         seen:  Ctrl-C\\x1b[2J in ended_by (result, 2026-01-02T03:00:05.250Z)\n"},
      {[] { return std::vector{flow(400, "rail0"), flow(355, "rail1")}; },
       "warning  rail1 is 11 % slower than the other rail. [RB-RESULT-008]\n"
       "         where: rail rail1\n"
       "         seen:  355 in bandwidth of 65536 bytes, average_gbps (result, 2026-01-02T03:01:05.250Z)\n"
       "         seen:  400 in what the others carry (results)\n"},
      {[] {
         std::vector<Measurement> all;
         for (const double us : {1.0, 1.0, 4.0}) {
           const std::string rail = fmt::format("rail{}", all.size() / 2);
           all.push_back(flow(390, rail));
           all.push_back(measured(TestKind::kLatency, Transport::kRdma, rail, us));
         }
         return all;
       },
       "warning  rail2 has a long tail: 1 round trip in 1000 takes 4.00 µs or more, others 1.00 µs. [RB-RESULT-009]\n"
       "         where: rail rail2\n"
       "         seen:  4.00 µs in latency of 2 bytes, p99.9 of round trips (result, 2026-01-02T03:05:05.250Z)\n"
       "         seen:  1.00 µs in p99.9 of the others (results)\n"},
      {[] {
         return std::vector{measured(TestKind::kBandwidth, Transport::kRdma, "a", 0.1, true),
                            measured(TestKind::kBandwidth, Transport::kRdma, "b", 0.1, true)};
       },
       "note     These devices are soft RDMA (RoCE in software, no RDMA NIC): the path, the addresses and the software "
       "work, but the figures say nothing about a real fabric, so there is no verdict. RDMA in software is often slower "
       "than TCP. [RB-RESULT-010]\n"
       "         where: rail a, b\n"},
      {[] {
         Measurement unknown = flow(390, "rail1");
         unknown.server.link_gbps = 0;
         return std::vector{flow(390), unknown};
       },
       "note     There is no verdict for every rail: it requires the bandwidth of large messages and the rate of both "
       "links. [RB-RESULT-011]\n"
       "         where: rail rail1\n"},
  };
}

TEST(RailFindings, SayWhatWhereAndWhatWasSeen) {
  for (const FindingCase& one : finding_cases()) {
    const std::vector<Finding> found = found_in(one.measured());
    ASSERT_EQ(found.size(), 1U) << one.text;
    EXPECT_EQ(to_text(found[0], doc::severity_name(found[0].severity), findings::Detail::kFull), one.text);
  }
}

TEST(RailFindings, OfGoodRailsAreNone) {
  EXPECT_EQ(found_in({flow(390), flow(385, "rail1"), measured(TestKind::kLatency, Transport::kRdma, "rail0", 2)}),
            std::vector<Finding>());
  EXPECT_EQ(found_in({}), std::vector<Finding>());
}

// A file may say anything of when it was measured.
TEST(RailFindings, HaveTheTimeOfTheMeasurementWhereItHasOne) {
  const auto time = [](std::string started_at) {
    Measurement m = flow(196);
    m.started_at = std::move(started_at);
    const auto at = time_of(m);
    return at ? utc_text(*at) : "none";
  };
  EXPECT_EQ(time("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(time("2026-01-02T03:04:05.5Z"), "2026-01-02T03:04:05.500Z");
  for (const char* odd : {"", "yesterday", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-02T03:04:05.5e300Z",
                          "2026-01-02T03:04:05.5e18"})
    EXPECT_EQ(time(odd), "none") << odd;
}

// Each explained id has a case above, and each case is explained. That code gives no other id is tests/tidy's.
TEST(RailFindings, AreExplainedAndTested) {
  std::set<std::string> explained, given;
  for (const findings::Explanation& one : findings::explanations())
    if (one.page == "docs/findings/results.md") explained.emplace(one.id);
  for (const FindingCase& one : finding_cases())
    for (const Finding& found : found_in(one.measured())) given.insert(found.id);
  EXPECT_EQ(given, explained);
}

}  // namespace
}  // namespace railbed::report

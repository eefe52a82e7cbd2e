// SPDX-License-Identifier: Apache-2.0
// Whole reports against testdata/report: all but style sheets and scripts, which are files of their own, and the
// results, which are what perf::to_json() makes.
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "report/html.h"
#include "report/test_report.h"

namespace railbed::report {
namespace {

using perf::Measurement;
using perf::TestKind;
using perf::Transport;

// Without what stands between `open` and `close`.
std::string without(std::string html, std::string_view open, std::string_view close) {
  for (size_t at = 0; (at = html.find(open, at)) != std::string::npos;) {
    at += open.size();
    html.erase(at, html.find(close, at) - at);
  }
  return html;
}

std::string body(const Report& report) {
  const std::string html = without(without(to_html(report), "<style>", "</style>"), "<script>", "</script>");
  return without(html, "id=\"results\">", "</script>");
}

Measurement measurement_between(std::string client, std::string server, Transport transport, std::string label) {
  Measurement m{.started_at = "2026-01-02T03:04:05Z", .command = "railbed perf --sizes 2", .label = std::move(label)};
  m.peer = "10.1.0.6";
  m.spec.transport = transport;
  m.client = {.hostname = std::move(client), .address = "10.1.0.5", .netdev = "net1"};
  m.server = {.hostname = std::move(server), .address = "10.1.0.6", .netdev = "net1"};
  if (transport == Transport::kRdma)
    for (perf::Endpoint* end : {&m.client, &m.server}) {
      end->device = "mlx5_1";
      end->port = 1;
      end->path_mtu_bytes = 4096;
      end->gid_reason = "GID 3, RoCE v2";
      end->link_layer = "Ethernet";
      end->link = "400 Gb/sec (4X NDR)";
      end->link_gbps = 400;
      end->pcie = "32 GT/s x16";
      end->pcie_gbps = 461;
    }
  return m;
}

// Points of 2, 4, 8, … bytes with these averages.
Measurement bandwidth(Measurement m, const std::vector<double>& gbps) {
  m.spec.kind = TestKind::kBandwidth;
  int64_t size_bytes = 1;
  for (double one : gbps) {
    size_bytes *= 2;
    m.spec.sizes_bytes.push_back(size_bytes);
    perf::BandwidthPoint point{.size_bytes = size_bytes, .messages = 1000, .duration_s = 1.5, .average_gbps = one};
    point.message_rate_per_s = 666.7;
    point.series.peak_gbps = one + 1;
    point.used_tx_depth = m.spec.transport == Transport::kRdma ? 16 * size_bytes : 0;
    m.bandwidth.push_back(point);
  }
  return m;
}

// One point: samples from `fastest_us` up, a microsecond apart.
Measurement latency(Measurement m, int fastest_us, int samples) {
  m.spec.kind = TestKind::kLatency;
  m.spec.sizes_bytes = {2};
  m.spec.iterations = samples;
  perf::LatencyPoint point{.size_bytes = 2, .duration_s = 1};
  for (int i = 0; i < samples; ++i) point.histogram.record(static_cast<uint64_t>(fastest_us + i) * 1000);
  point.slots = {{.at_ms = 0, .min_us = 1, .p50_us = 2, .p99_us = 3, .max_us = 4, .samples = 9},
                 {.at_ms = 500, .min_us = 1.5, .p50_us = 2.5, .p99_us = 3.5, .max_us = 4.5, .samples = 8}};
  if (samples == 100) point.outages = {{.at_ms = 100, .duration_ms = 200}};
  m.latency.push_back(std::move(point));
  return m;
}

NodeStatus status_of(const std::string& name, int vfs) {
  NodeStatus node{.name = name};
  NodeStatus::Pf pf{.pci = "0000:01:00.0", .name = "ens1f0", .rail = ""};
  for (int i = 0; i < vfs; ++i)
    pf.vfs.push_back({.index = i, .pci = fmt::format("0000:01:10.{}", i), .owner = i == 1 ? "llm/p" : ""});
  node.pfs = {pf, {.pci = "0000:02:00.0", .name = "ens2f0", .rail = "", .vfs = {}}};
  node.pods.push_back({.name = "p",
                       .space = "llm",
                       .interfaces = {{.name = "net1",
                                       .network = "llm/a",
                                       .vf = "0000:01:10.1",
                                       .pf = "0000:01:00.0",
                                       .rdma = "mlx5_7",
                                       .rail = "ens1f0",
                                       .soft = false,
                                       .addresses = {"10.1.0.6"}}}});
  return node;
}

TEST(ReportGolden, FewRailsAsCards) {
  std::vector<Measurement> all;
  all.push_back(bandwidth(measurement_between("gpu-b", "gpu-a", Transport::kRdma, "rail0"), {1, 368.5, 200}));
  all.push_back(bandwidth(measurement_between("gpu-b", "gpu-a", Transport::kTcp, "rail0"), {0.5, 90}));
  all.push_back(latency(measurement_between("gpu-b", "gpu-a", Transport::kRdma, "rail0"), 1, 10));
  all.push_back(latency(measurement_between("gpu-b", "gpu-a", Transport::kTcp, "rail0"), 20, 100));
  all.push_back(latency(measurement_between("gpu-b", "gpu-a", Transport::kTcp, ""), 5, 3));
  for (size_t i = 0; i < all.size(); ++i)  // one after the other
    all[i].started_at = fmt::format("2026-01-02T03:{:02}:05Z", i + 1);
  all.push_back(bandwidth(measurement_between("gpu-b", "gpu-a", Transport::kRdma, "soft"), {3}));
  all.back().client.soft = true;
  all.back().spec.bidirectional = true;
  all.back().spec.qps = 4;
  all.back().bandwidth[0].reverse_average_gbps = 2.5;
  all.back().started_at = "2025-12-31T23:59:59Z";
  expect_golden(testdata() / "report/cards.html",
                body(report_of(all, "Rails <of> a cluster", {status_of("gpu-a", 3)})));
}

// Beside many rails TCP may be as fast as RDMA, faster, or not measured.
TEST(ReportGolden, ManyRailsAsRows) {
  std::vector<Measurement> all;
  for (int i = 0; i < 5; ++i) {
    const std::string rail = fmt::format("rail{}", i);
    if (i != 3) all.push_back(bandwidth(measurement_between("b", "a", Transport::kRdma, rail), {100.0 + 10 * i}));
    if (i != 4) all.push_back(bandwidth(measurement_between("b", "a", Transport::kTcp, rail), {100}));
    if (i > 1) all.push_back(latency(measurement_between("b", "a", Transport::kRdma, rail), 2 + i, i == 4 ? 900 : 20));
  }
  all[0].started_at = "yesterday";
  for (Measurement& m : all) m.started_at = "yesterday";
  expect_golden(testdata() / "report/rows.html", body(report_of(all, "")));
}

TEST(ReportGolden, CardsSayWhichSideIsFaster) {
  for (const auto& [rdma, tcp, said] : {std::tuple(100.0, 100.0, "equal"),
                                        {104.0, 100.0, "equal"},
                                        {96.0, 100.0, "equal"},
                                        {106.0, 100.0, "RDMA 1.1×"},
                                        {94.0, 100.0, "TCP 1.1×"},
                                        {50.0, 100.0, "TCP 2×"},
                                        {0.0, 100.0, ""},
                                        {100.0, 0.0, ""}}) {
    std::vector<Measurement> all;
    all.push_back(bandwidth(measurement_between("b", "a", Transport::kRdma, "r"), {rdma}));
    all.push_back(bandwidth(measurement_between("b", "a", Transport::kTcp, "r"), {tcp}));
    const std::string html = body(report_of(all, ""));
    EXPECT_NE(html.find(fmt::format("<td class=\"gain\">{}</td>", said)), std::string::npos) << rdma << " " << tcp;
  }
}

TEST(ReportGolden, NothingMeasured) {
  expect_golden(testdata() / "report/nothing.html", body(report_of({}, "")));
}

}  // namespace
}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/test_results.h"
#include "report/html_drawing.h"
#include "report/html_rails.h"
#include "report/html_text.h"
#include "report/rail_table.h"
#include "report/test_report.h"
#include "report/test_results.h"

namespace railbed::report {
namespace {

using perf::Measurement;
using perf::TestKind;
using perf::Transport;

TEST(RailTable, HasARowPerRailAndTransport) {
  std::vector<Measurement> all = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368.0, true),
                                  measured(TestKind::kLatency, Transport::kRdma, "rail0", 2.5, true),
                                  measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 90.0)};
  EXPECT_EQ(rail_table(rails_of(all)).to_text(),
            "RAIL   BETWEEN        TRANSPORT    BANDWIDTH  HALF P50  ROUND TRIP P99.9   JITTER\n"
            "rail0  gpu-b → gpu-a  RDMA (soft)   368 Gb/s   1.25 µs           2.50 µs  0.00 µs\n"
            "rail0  gpu-b → gpu-a  TCP          90.0 Gb/s         -                 -        -\n");
  all = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390)};
  EXPECT_EQ(rail_table(rails_of(all)).to_text(),
            "RAIL   BETWEEN        TRANSPORT  BANDWIDTH  OF LINK\n"
            "rail0  gpu-b → gpu-a  RDMA        390 Gb/s     99 %\n");
}

TEST(Figures, ReadAsPeopleSayThem) {
  EXPECT_EQ(gbps_text(367.8), "368 Gb/s");
  EXPECT_EQ(gbps_text(0.071), "71.0 Mb/s");
  EXPECT_EQ(gbps_text(0.0000712), "71.2 kb/s");
  EXPECT_EQ(us_text(1.214), "1.21 µs");
  EXPECT_EQ(us_text(5800), "5.80 ms");
  EXPECT_EQ(us_text(2.5e6), "2.50 s");
  EXPECT_EQ(rate_text(12.34e6), "12.3 M/s");
  EXPECT_EQ(ratio_text(4.13), "4.1×");
  EXPECT_EQ(ratio_text(15.4), "15×");
}

TEST(Shortened, CountsCharactersNotBytes) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("µµµ", 3), "µµµ");
  EXPECT_EQ(shortened("µµµµ", 3), "µµ…");
}

constexpr std::string_view kStatus = R"({"node":"gpu-a","pods":[{"name":"p","namespace":"llm","interfaces":[
  {"name":"net1","network":"llm/a","vf":"0000:01:10.2","pf":"0000:01:00.0","rail":"ens1f0","rdma":"mlx5_7","soft":false,
   "addresses":["10.1.0.6/24"]}]}],
  "pfs":[{"pci":"0000:01:00.0","name":"ens1f0","vfs":[{"index":0,"pci":"0000:01:10.0","owner":""},
                                                      {"index":1,"pci":"0000:01:10.2","owner":"llm/p"}]}]})";

TEST(Scene, JoinsStatusAndMeasurementsByAddress) {
  const auto node = node_from_status_json(kStatus);
  ASSERT_TRUE(node) << node.error().to_string();
  const Scene scene =
      scene_of(report_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 9)}).sections[0].paths, {*node});
  EXPECT_EQ(scene.rails, std::vector<std::string>{"rail0"});
  ASSERT_EQ(scene.nodes.size(), 2u);
  EXPECT_EQ(scene.nodes[0].name, "gpu-a");
  ASSERT_EQ(scene.nodes[0].pods.size(), 1u);
  EXPECT_EQ(scene.nodes[0].pods[0].columns[0][0].vf_index, 1);
  ASSERT_EQ(scene.nodes[0].columns.size(), 1u);
  EXPECT_EQ(scene.nodes[0].columns[0].name, "ens1f0");
  EXPECT_EQ(scene.nodes[0].columns[0].detail, "0000:01:00.0");
  EXPECT_EQ(scene.nodes[1].name, "gpu-b");  // no status: derived from the measurement
  EXPECT_TRUE(scene.nodes[1].pods.empty());
  EXPECT_EQ(scene.nodes[1].columns[0].name, "net1");
}

TEST(Scene, PodsOfANodeStandBelowEachOther) {
  const DrawnPod pod{.name = "p", .columns = {{{.name = "net1"}, {.name = "net2"}}}};
  const std::string svg =
      drawing({.nodes = {{.name = "n", .columns = {{.name = "eth0"}}, .pods = {pod, pod, pod}}}, .rails = {}}, {})
          .text();
  double bottom = 0;
  int boxes = 0;
  for (size_t at = 0; (at = svg.find("<rect class=\"pod\"", at)) != std::string::npos; ++at, ++boxes) {
    const auto number = [&](std::string_view key) { return std::stod(svg.substr(svg.find(key, at) + key.size())); };
    EXPECT_GT(number(" y=\""), bottom) << boxes;
    bottom = number(" y=\"") + number(" height=\"");
  }
  EXPECT_EQ(boxes, 3);
}

TEST(Status, ToleratesAbsenceButNotWrongTypes) {
  EXPECT_TRUE(node_from_status_json(R"({"node":"n"})"));
  EXPECT_TRUE(node_from_status_json(R"({"node":"n","pods":[{}],"pfs":[{}]})"));
  EXPECT_EQ(node_from_status_json(R"({"pods":[]})").error().to_string(),
            "node is missing\n  expected the output of `railbed status -o json`");
  EXPECT_EQ(node_from_status_json(R"({"node":"n","pods":[{"interfaces":[{"name":7}]}]})").error().to_string(),
            "pods[0].interfaces[0].name must be a string, found an integer 7\n  put it in quotes: \"7\"");
}

TEST(Status, HasUpTo64AddressesOfAnInterface) {
  const auto with = [](int count) {
    const std::vector<std::string> all(count, "\"10.1.0.6/24\"");
    const auto node = node_from_status_json(
        fmt::format(R"({{"node":"n","pods":[{{"interfaces":[{{"addresses":[{}]}}]}}]}})", fmt::join(all, ",")));
    return node ? fmt::format("{}", node->pods[0].interfaces[0].addresses.size()) : node.error().message;
  };
  EXPECT_EQ(with(64), "64");
  EXPECT_EQ(with(65), "pods[0].interfaces[0].addresses has 65 entries, at most 64 are allowed");
}

// Hostile content in every text that comes from outside.
TEST(Report, EscapesEverythingFromOutside) {
  const std::string evil = "</script><script>alert('x')</script><img src=\"y\" onerror=z>";
  std::vector<Measurement> all;
  for (TestKind kind : {TestKind::kBandwidth, TestKind::kLatency}) {
    Measurement m = measured(kind, Transport::kRdma, evil, 5);
    m.command = m.started_at = m.peer = evil;
    for (perf::Endpoint* end : {&m.client, &m.server})
      end->hostname = end->address = end->netdev = end->device = end->gid = end->gid_reason = end->link_layer = evil;
    all.push_back(std::move(m));
  }
  Report report = report_of(all, evil);
  report.nodes.push_back(
      {.name = evil,
       .pods = {{.name = evil,
                 .space = evil,
                 .interfaces = {{.name = evil,
                                 .network = evil,
                                 .vf = evil,
                                 .pf = evil,
                                 .rdma = evil,
                                 .rail = evil,
                                 .soft = true,
                                 .addresses = {"1.2.3.4"}}}}},
       .pfs = {{.pci = evil, .name = evil, .rail = "", .vfs = {{.index = 0, .pci = evil, .owner = evil}}}}});
  const std::string html = to_html(report);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.substr(0, html.find("<script type")).find("onerror=z>"), std::string::npos);
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 4u);  // results, data, uPlot and charts
}

TEST(Report, NeedsNoNetwork) {
  const std::string html = to_html(report_of({measured(TestKind::kLatency, Transport::kTcp, "rail0", 5)}));
  for (std::string_view outside : {"http://", "https://", "src=", "@import", "url("}) {
    const size_t at = html.find(outside);
    // The only URL allowed is the home page in uPlot's banner comment.
    if (outside == "https://" && at != std::string::npos)
      EXPECT_LT(at, html.find("var uPlot")) << html.substr(at, 60);
    else
      EXPECT_EQ(at, std::string::npos) << html.substr(at == std::string::npos ? 0 : at, 60);
  }
  EXPECT_NE(html.find("uPlot"), std::string::npos);
  EXPECT_NE(html.find(content(std::filesystem::path(source_dir()) / "third_party/uplot/LICENSE")), std::string::npos)
      << "uPlot's licence goes with each copy of it";
}

// What the button saves is a result file again.
TEST(Report, HasTheResultsInIt) {
  Measurement m = measured(TestKind::kLatency, Transport::kRdma, "</script>&", 5);
  const std::string html = to_html(report_of({m}));
  const std::string_view open = "id=\"results\">";
  const size_t begin = html.find(open) + open.size();
  const auto read = perf::measurements_from_json(html.substr(begin, html.find("</script>", begin) - begin));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ((*read)[0].label, "</script>&");
  EXPECT_EQ(perf::to_json(*read), perf::to_json({m}));
}

// Three hundred pairs: the page stays small, and says what it has left out.
TEST(Report, StaysSmallWithManyRails) {
  std::vector<Measurement> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("pair{}", i), i == 150 ? 100 : 390));
    all.push_back(measured(TestKind::kLatency, Transport::kRdma, fmt::format("pair{}", i), i == 170 ? 50 : 2));
  }
  const std::string html = to_html(report_of(all));
  EXPECT_LT(html.size(), 2'000'000U);
  EXPECT_NE(html.find("The 128 of 300 with the most notable results"), std::string::npos);
  EXPECT_NE(html.find("Charts are of the 16 rails of 300"), std::string::npos);
  EXPECT_NE(html.find("and 400 more measurements"), std::string::npos);
  EXPECT_NE(html.find("too large for this page"), std::string::npos);
  EXPECT_NE(html.find("data-kind=\"distribution\" data-rail=\"15\""), std::string::npos);
}

TEST(WorstRails, AreThoseWithJitterAndThoseWithLittleBandwidth) {
  std::vector<Measurement> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("r{}", i), i == 2 ? 100 : 390));
    all.push_back(measured(TestKind::kLatency, Transport::kRdma, fmt::format("r{}", i), 2));
    if (i == 4) all.back().latency[0].histogram.record(9'000'000);
  }
  const std::vector<RailFigures> rails = rails_of(all);
  std::vector<std::string> names;
  for (const RailFigures* rail : worst_rails(rails, 2)) names.push_back(rail->name);
  EXPECT_EQ(names, (std::vector<std::string>{"r2", "r4"}));
  EXPECT_EQ(worst_rails(rails, 6).size(), 6U);
}

// For who cannot see them: each chart says what it shows.
TEST(Report, ChartsHaveTextAlternatives) {
  Measurement flow = measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390);
  flow.bandwidth[0].series = {.slot_ms = 10, .gbps = {380, 395, 390}, .peak_gbps = 395};
  flow.bandwidth.insert(flow.bandwidth.begin(), {.size_bytes = 2, .average_gbps = 1});
  Measurement sizes = measured(TestKind::kLatency, Transport::kRdma, "rail0", 2);
  sizes.latency.push_back(sizes.latency[0]);
  sizes.latency[1].size_bytes = 4096;
  const std::string html = to_html(report_of({flow, sizes}));
  for (const std::string_view said :
       {"aria-label=\"RDMA: 1.00 Gb/s with 2 B, 390 Gb/s with 64 KiB. \"",
        "aria-label=\"RDMA: 380 Gb/s to 395 Gb/s over 1 s, average 390 Gb/s, with messages of 64 KiB. \"",
        "aria-label=\"10000 round trips in 1 s: fastest 2.00 µs, middle 2.00 µs, p99 2.00 µs, slowest 2.00 µs; 0 "
        "outages.\"",
        "aria-label=\"RDMA: 50 % within 2.00 µs, 90 % within 2.00 µs, 99 % within 2.00 µs, 99.9 % within 2.00 µs, all "
        "within 2.00 µs. \"",
        "aria-label=\"RDMA, middle round trip: 2.00 µs with 2 B, 2.00 µs with 4 KiB. \""})
    EXPECT_NE(html.find(said), std::string::npos) << said;
  EXPECT_NE(html.find("\"flow_slot_s\":0.01,\"flow_gbps\":[380,395,390]"), std::string::npos);
  EXPECT_NE(html.find("\"link_gbps\":39"), std::string::npos);
}

TEST(Report, HasVerdictAndTablesWithoutScript) {
  const std::string html =
      to_html(report_of({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368)}, "Rails"));
  const std::string without = html.substr(0, html.find("<script"));
  EXPECT_NE(without.find("RDMA works on 1 rail and carries 368 Gb/s, 94 % of what the link can."), std::string::npos);
  EXPECT_NE(without.find("<td>64 KiB</td><td>368 Gb/s</td>"), std::string::npos);
  EXPECT_NE(without.find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testdata.h"
#include "report/html_drawing.h"
#include "report/html_summary.h"
#include "report/html_text.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

using perf::Measurement;
using perf::TestKind;
using perf::Transport;

Measurement measured(TestKind kind, Transport transport, std::string label, double figure, bool soft = false) {
  Measurement m{.started_at = "2026-01-02T03:04:05Z",
                .command = "railbed perf",
                .label = std::move(label),
                .peer = "10.1.0.6",
                .spec = {.kind = kind, .transport = transport, .sizes_bytes = {2}}};
  m.client = {.hostname = "gpu-b",
              .address = "10.1.0.5",
              .netdev = "net1",
              .device = transport == Transport::kRdma ? "mlx5_1" : "",
              .soft = soft};
  m.server = m.client;
  m.server.hostname = "gpu-a";
  m.server.address = "10.1.0.6";
  if (kind == TestKind::kBandwidth) {
    m.bandwidth.push_back({.size_bytes = 65536,
                           .messages = 1,
                           .duration_s = 1,
                           .average_gbps = figure,
                           .series = {},
                           .reverse_average_gbps = {},
                           .reverse_series = {}});
    return m;
  }
  perf::LatencyPoint point{.size_bytes = 2, .duration_s = 1};
  for (int i = 0; i < 1000; ++i) point.histogram.record(static_cast<uint64_t>(figure * 1000));
  point.slots = {{.at_ms = 0, .min_us = figure, .p50_us = figure, .p99_us = figure, .max_us = figure, .samples = 1000}};
  m.latency.push_back(std::move(point));
  return m;
}

TEST(RailTable, HasARowPerRailAndTransport) {
  std::vector<Measurement> all = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368.0, true),
                                  measured(TestKind::kLatency, Transport::kRdma, "rail0", 2.5, true),
                                  measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 90.0)};
  EXPECT_EQ(rail_table(rails_of(all)).to_text(),
            "RAIL   BETWEEN        TRANSPORT    BANDWIDTH  LATENCY P50    P99.9   JITTER\n"
            "rail0  gpu-b → gpu-a  RDMA (soft)   368 Gb/s      2.50 µs  2.50 µs  0.00 µs\n"
            "rail0  gpu-b → gpu-a  TCP          90.0 Gb/s            -        -        -\n");
}

TEST(Escaped, LeavesNoMarkup) {
  EXPECT_EQ(escaped("<b a=\"1\" c='2'>&\n"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp; ");
}

RC_GTEST_PROP(Escaped, NeverContainsASpecialCharacter, (const std::string& text)) {
  RC_ASSERT(escaped(text).find_first_of("<>\"'") == std::string::npos);
}

TEST(ScriptSafe, CannotEndItsElement) {
  EXPECT_EQ(script_safe("{\"a\":\"</script><!--&\xe2\x80\xa8\"}"),
            "{\"a\":\"\\u003c/script>\\u003c!--\\u0026\\u2028\"}");
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

Verdict verdict_for(const std::vector<Measurement>& measurements) {
  return verdict_of(rails_of(measurements));
}

TEST(Verdict, SaysWhatRdmaIsWorth) {
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368),
                                       measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 92),
                                       measured(TestKind::kLatency, Transport::kRdma, "rail0", 1.25)});
  EXPECT_EQ(verdict.tone, Verdict::Tone::kGood);
  EXPECT_EQ(verdict.headline, "RDMA works on 1 rail and carries 368 Gb/s.");
  EXPECT_EQ(verdict.remarks,
            (std::vector<std::string>{"That is 4× what TCP reaches on the same path.",
                                      "A small message typically takes 1.25 µs; 999 of 1000 arrive within 1.25 µs."}));
}

TEST(Verdict, NamesTheSlowRail) {
  std::vector<Measurement> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), i == 2 ? 196 : 392));
  const Verdict verdict = verdict_for(all);
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict.headline, "RDMA works on 4 rails and carries 196 Gb/s to 392 Gb/s on each.");
  EXPECT_EQ(verdict.remarks, std::vector<std::string>{"rail2 is 50 % slower than the middle of the rails."});
}

TEST(Verdict, SaysThatSoftRdmaProvesNoSpeed) {
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 0.07, true)});
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict.headline, "RDMA works on 1 rail, in software.");
  ASSERT_EQ(verdict.remarks.size(), 2u);
  EXPECT_NE(verdict.remarks[0].find("the figures say nothing about a real fabric"), std::string::npos);
}

TEST(Verdict, CountsRailsWithoutRdma) {
  EXPECT_EQ(verdict_for({measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 9)}).headline,
            "Plain TCP was measured on 1 rail, RDMA was not.");
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 9),
                                       measured(TestKind::kBandwidth, Transport::kTcp, "rail1", 9)});
  EXPECT_EQ(verdict.headline, "RDMA works on 1 of 2 rails and carries 9.00 Gb/s.");
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict_for({}).headline, "Nothing was measured.");
}

// A rail is told as slow below nine tenths of the middle one, and as late above three times the middle of three.
TEST(Verdict, TellsWhichRailDiffers) {
  const auto remarks = [](TestKind kind, const std::vector<double>& figures) {
    std::vector<Measurement> all;
    for (const double figure : figures)
      all.push_back(measured(kind, Transport::kRdma, fmt::format("rail{}", all.size()), figure));
    std::string out = verdict_for(all).headline;
    for (const std::string& one : verdict_for(all).remarks) out += "\n" + one;
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
            "rail1 is 25 % slower than the middle of the rails.");
  const std::string late = "A small message typically takes ";
  EXPECT_EQ(remarks(TestKind::kLatency, {1, 9}).find("long tail"), std::string::npos) << "of two nobody knows which";
  EXPECT_EQ(remarks(TestKind::kLatency, {1, 1, 2.9}).find("long tail"), std::string::npos);
  EXPECT_NE(remarks(TestKind::kLatency, {1, 1, 3.2}).find("rail2 has a long tail: 1 message in 1000 takes "),
            std::string::npos)
      << remarks(TestKind::kLatency, {1, 1, 3.2});
  EXPECT_TRUE(remarks(TestKind::kLatency, {1}).starts_with("RDMA works on 1 rail.\n" + late))
      << remarks(TestKind::kLatency, {1});
}

constexpr std::string_view kStatus = R"({"node":"gpu-a","pods":[{"name":"p","namespace":"llm","interfaces":[
  {"name":"net1","network":"llm/a","vf":"0000:01:10.2","pf":"0000:01:00.0","rail":"ens1f0","rdma":"mlx5_7","soft":false,
   "addresses":["10.1.0.6/24"]}]}],
  "pfs":[{"pci":"0000:01:00.0","name":"ens1f0","vfs":[{"index":0,"pci":"0000:01:10.0","owner":""},
                                                      {"index":1,"pci":"0000:01:10.2","owner":"llm/p"}]}]})";

TEST(Scene, JoinsStatusAndMeasurementsByAddress) {
  const auto node = node_from_status_json(kStatus);
  ASSERT_TRUE(node) << node.error().to_string();
  const Scene scene = scene_of(
      {.title = "", .measurements = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 9)}, .nodes = {*node}});
  EXPECT_EQ(scene.rails, std::vector<std::string>{"rail0"});
  ASSERT_EQ(scene.nodes.size(), 2u);
  EXPECT_EQ(scene.nodes[0].name, "gpu-a");
  ASSERT_EQ(scene.nodes[0].pods.size(), 1u);
  EXPECT_EQ(scene.nodes[0].pods[0].columns[0][0].vf_index, 1);
  EXPECT_EQ(scene.nodes[1].name, "gpu-b");  // no status: derived from the measurement
  EXPECT_TRUE(scene.nodes[1].pods.empty());
  EXPECT_EQ(scene.nodes[1].columns[0].name, "net1");
}

TEST(Status, ToleratesAbsenceButNotWrongTypes) {
  EXPECT_TRUE(node_from_status_json(R"({"node":"n"})"));
  EXPECT_TRUE(node_from_status_json(R"({"node":"n","pods":[{}],"pfs":[{}]})"));
  EXPECT_EQ(node_from_status_json(R"({"pods":[]})").error().to_string(),
            "node is missing\n  this should be the output of `railbed status -o json`");
  EXPECT_EQ(node_from_status_json(R"({"node":"n","pods":[{"interfaces":[{"name":7}]}]})").error().to_string(),
            "pods[0].interfaces[0].name must be a string, found an integer 7\n  put it in quotes: \"7\"");
}

// Hostile content in every text that comes from outside.
TEST(Report, EscapesEverythingFromOutside) {
  const std::string evil = "</script><script>alert('x')</script><img src=\"y\" onerror=z>";
  Report report{.title = evil, .measurements = {}, .nodes = {}};
  for (TestKind kind : {TestKind::kBandwidth, TestKind::kLatency}) {
    Measurement m = measured(kind, Transport::kRdma, evil, 5);
    m.command = m.started_at = m.peer = evil;
    for (perf::Endpoint* end : {&m.client, &m.server})
      end->hostname = end->address = end->netdev = end->device = end->gid = end->gid_reason = end->link_layer = evil;
    report.measurements.push_back(std::move(m));
  }
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
  EXPECT_EQ(scripts, 3u);  // data, uPlot and charts
}

TEST(Report, NeedsNoNetwork) {
  const std::string html =
      to_html({.title = "t", .measurements = {measured(TestKind::kLatency, Transport::kTcp, "rail0", 5)}, .nodes = {}});
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

TEST(Report, HasVerdictAndTablesWithoutScript) {
  const std::string html = to_html({.title = "Rails",
                                    .measurements = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368)},
                                    .nodes = {}});
  const std::string without = html.substr(0, html.find("<script"));
  EXPECT_NE(without.find("RDMA works on 1 rail and carries 368 Gb/s."), std::string::npos);
  EXPECT_NE(without.find("<td>64 KiB</td><td>368 Gb/s</td>"), std::string::npos);
  EXPECT_NE(without.find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace railbed::report

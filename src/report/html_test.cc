// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/test_results.h"
#include "report/html_drawing.h"
#include "report/html_rails.h"
#include "report/html_summary.h"
#include "report/html_text.h"
#include "report/rail_table.h"
#include "report/test_report.h"

namespace railbed::report {
namespace {

using perf::Measurement;
using perf::TestKind;
using perf::Transport;

// One after the other: each starts a minute after the last one.
std::string next_start() {
  static int minutes = 0;
  ++minutes;
  return fmt::format("2026-01-02T{:02}:{:02}:05Z", minutes / 60, minutes % 60);
}

// A bandwidth in Gb/s of 64 KiB writes, or a round trip in microseconds, between links of 400 Gb/s.
Measurement measured(TestKind kind, Transport transport, std::string label, double figure, bool soft = false) {
  Measurement m{.started_at = next_start(),
                .command = "railbed perf",
                .label = std::move(label),
                .peer = "10.1.0.6",
                .spec = {.kind = kind, .transport = transport, .sizes_bytes = {2}}};
  m.client = {.hostname = "gpu-b",
              .address = "10.1.0.5",
              .netdev = "net1",
              .device = transport == Transport::kRdma ? "mlx5_1" : "",
              .link_layer = "Ethernet",
              .path_mtu_bytes = 4096,
              .soft = soft,
              .link = "400 Gb/sec (4X NDR)",
              .link_gbps = 400,
              .pcie = "32 GT/s x16",
              .pcie_gbps = 461};
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
  for (int i = 0; i < 10'000; ++i) point.histogram.record(static_cast<uint64_t>(figure * 1000));
  point.slots = {{.at_ms = 0, .min_us = figure, .p50_us = figure, .p99_us = figure, .max_us = figure, .samples = 1000}};
  m.latency.push_back(std::move(point));
  return m;
}

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

Verdict verdict_for(const std::vector<Measurement>& measurements) {
  return verdict_of(rails_of(measurements));
}

TEST(Verdict, SaysWhatRdmaIsWorth) {
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 368),
                                       measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 92),
                                       measured(TestKind::kLatency, Transport::kRdma, "rail0", 1.25)});
  EXPECT_EQ(verdict.tone, Verdict::Tone::kGood);
  EXPECT_EQ(verdict.headline, "RDMA works on 1 rail and carries 368 Gb/s, 94 % of what the link can.");
  EXPECT_EQ(verdict.remarks,
            (std::vector<std::string>{
                "That is 4× what TCP reaches on the same path.",
                "A small message typically takes 0.62 µs one way; 999 of 1000 round trips end within 1.25 µs."}));
}

TEST(Verdict, NamesTheSlowRail) {
  std::vector<Measurement> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), i == 2 ? 196 : 392));
  const Verdict verdict = verdict_for(all);
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict.headline,
            "RDMA works on 4 rails and carries 196 Gb/s to 392 Gb/s on each, 50 % to 100 % of what the links can.");
  EXPECT_EQ(verdict.remarks,
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
TEST(Verdict, NoPairStandsForAnotherOne) {
  const auto one = [](double gbps) { return measured(TestKind::kBandwidth, Transport::kRdma, "rail0", gbps); };
  const std::vector<Measurement> all = {between(one(38), "a", "b"), between(one(390), "a", "c"),
                                        between(one(391), "b", "c")};
  const auto rails = rails_of(all);
  ASSERT_EQ(rails.size(), 3u);
  EXPECT_EQ(rails[0].name, "rail0 (a net1 → b net1)");
  EXPECT_EQ(rails[0].rdma.best->average_gbps, 38);
  const Verdict verdict = verdict_of(rails);
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict.headline,
            "RDMA works on 3 rails and carries 38.0 Gb/s to 391 Gb/s on each, 10 % to 100 % of what the links can.");
  EXPECT_TRUE(verdict.remarks[0].starts_with("rail0 (a net1 → b net1) carries 38.0 Gb/s, 10 % of the 392 Gb/s"))
      << verdict.remarks[0];
}

// What all rails carry at once is shown beside what each carries alone.
TEST(Verdict, RailsAloneAndAllAtOnceAreBothShown) {
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
  EXPECT_EQ(verdict_of(rails).tone, Verdict::Tone::kCaution);
  EXPECT_TRUE(verdict_of(rails).headline.starts_with("RDMA works on 2 rails and carries 195 Gb/s to 390 Gb/s"))
      << verdict_of(rails).headline;
  // Those that share less than half of their time are not beside each other.
  all[3].started_at = "2026-01-03T00:00:00.700Z";
  EXPECT_EQ(rails_of(all).size(), 2u);
}

// A verb is no repeat of another one, and what a device answers has no halves.
TEST(Verdict, EachVerbHasARowOfItsOwn) {
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

// Several sweeps of one pair: the slowest counts, and that they differ is told.
TEST(Verdict, TellsThatRepeatsDiffer) {
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 391),
                                       measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 240),
                                       measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390)});
  EXPECT_EQ(verdict.headline, "RDMA works on 1 rail and carries 240 Gb/s, 61 % of what the link can.");
  EXPECT_EQ(verdict.remarks[1], "rail0 was measured 3 times, with 240 Gb/s to 391 Gb/s.");
}

// Eight rails that are alike, and all of them a tenth of what they should be.
TEST(Verdict, NoTickWithoutAYardstick) {
  const auto tone = [](double gbps, double link_gbps, int64_t size_bytes = 65536) {
    std::vector<Measurement> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(measured(TestKind::kBandwidth, Transport::kRdma, fmt::format("rail{}", i), gbps));
      all.back().server.link_gbps = link_gbps;
      all.back().bandwidth[0].size_bytes = size_bytes;
    }
    return verdict_for(all).tone;
  };
  EXPECT_EQ(tone(390, 400), Verdict::Tone::kGood);
  EXPECT_EQ(tone(354, 400), Verdict::Tone::kGood);
  EXPECT_EQ(tone(352, 400), Verdict::Tone::kCaution);
  EXPECT_EQ(tone(40, 400), Verdict::Tone::kCaution);
  EXPECT_EQ(tone(410, 400), Verdict::Tone::kCaution) << "more than the link can: it is not what it says";
  EXPECT_EQ(tone(390, 0), Verdict::Tone::kNone);
  EXPECT_EQ(tone(40, 400, 2), Verdict::Tone::kNone) << "small messages do not fill a link";
  EXPECT_EQ(verdict_for({measured(TestKind::kLatency, Transport::kRdma, "rail0", 2)}).tone, Verdict::Tone::kNone);
}

TEST(Verdict, TellsOutagesAndWhatIsMissing) {
  std::vector<Measurement> all = {measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390),
                                  measured(TestKind::kLatency, Transport::kRdma, "rail0", 2)};
  all[1].latency[0].outages = {{.at_ms = 5, .duration_ms = 20}, {.at_ms = 500, .duration_ms = 1000}};
  all[0].ended_by = "the peer closed the connection";
  const Verdict verdict = verdict_for(all);
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict.remarks[0], "rail0 gave no answer over RDMA 2 times, for up to 1.00 s.");
  EXPECT_EQ(verdict.remarks[1], "The measurement of rail0 is incomplete: the peer closed the connection.");
}

// The ports' own counters: that the bytes went over them, and what it took.
TEST(Verdict, TellsWhatThePortsCounted) {
  Measurement m = measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 390);
  m.bandwidth[0].messages = 1000;
  m.client_counters = {{"port_xmit_data_bytes", 70'000'000}, {"port_xmit_packets", 16'000}};
  EXPECT_EQ(verdict_for({m}).tone, Verdict::Tone::kGood);
  m.client_counters["port_xmit_data_bytes"] = 50'000;
  m.client_counters["rp_cnp_handled"] = 7;
  m.server_counters = {{"out_of_sequence", 3}, {"tx_prio3_pause", 5}, {"tx_pause_ctrl_phy", 5}};
  const Verdict verdict = verdict_for({m});
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(
      verdict.remarks,
      (std::vector<std::string>{
          "rail0 sent 6.55e+07 bytes, but its port mlx5_1 counted 5e+04: the traffic used another path.",
          "rail0 had losses or congestion meanwhile: rp_cnp_handled 7 (client), out_of_sequence 3 (server), pause "
          "frames sent 5 (server)."}));
}

// A percentile needs ten samples beyond it, and 999 of 1000 needs ten thousand.
TEST(Verdict, SaysNothingOfATailThatIsNotSettled) {
  Measurement m = measured(TestKind::kLatency, Transport::kRdma, "rail0", 2.19);
  m.latency[0].histogram = {};
  m.latency[0].histogram.record(2190);
  EXPECT_EQ(verdict_for({m}).remarks,
            std::vector<std::string>{"There is no verdict for every rail: it requires the bandwidth of large messages "
                                     "and the rate of both links."});
  for (int i = 0; i < 20; ++i) m.latency[0].histogram.record(2190);
  EXPECT_EQ(verdict_for({m}).remarks.back(), "A small message typically takes 1.09 µs one way.");
}

TEST(Verdict, SaysThatSoftRdmaProvesNoSpeed) {
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 0.07, true)});
  EXPECT_EQ(verdict.tone, Verdict::Tone::kNone);
  EXPECT_EQ(verdict.headline, "RDMA works on 1 rail, in software.");
  ASSERT_EQ(verdict.remarks.size(), 2u);
  EXPECT_NE(verdict.remarks[0].find("the figures say nothing about a real fabric"), std::string::npos);
  // 14 % between two of them is the processor's noise.
  EXPECT_EQ(verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 0.07, true),
                         measured(TestKind::kBandwidth, Transport::kRdma, "rail1", 0.05, true)})
                .tone,
            Verdict::Tone::kNone);
}

TEST(Verdict, CountsRailsWithoutRdma) {
  EXPECT_EQ(verdict_for({measured(TestKind::kBandwidth, Transport::kTcp, "rail0", 9)}).headline,
            "Plain TCP was measured on 1 rail, RDMA was not.");
  const Verdict verdict = verdict_for({measured(TestKind::kBandwidth, Transport::kRdma, "rail0", 9),
                                       measured(TestKind::kBandwidth, Transport::kTcp, "rail1", 9)});
  EXPECT_EQ(verdict.headline, "RDMA works on 1 of 2 rails and carries 9.00 Gb/s, 2 % of what the link can.");
  EXPECT_EQ(verdict.tone, Verdict::Tone::kCaution);
  EXPECT_EQ(verdict_for({}).headline, "Nothing was measured.");
}

// A rail is told as slow below nine tenths of the middle one, of two of the better one, and as late above three times
// the middle of three. Here the links are not known.
TEST(Verdict, TellsWhichRailDiffers) {
  const auto remarks = [](TestKind kind, const std::vector<double>& figures) {
    std::vector<Measurement> all;
    for (const double figure : figures)
      all.push_back(measured(kind, Transport::kRdma, fmt::format("rail{}", all.size()), figure));
    for (Measurement& m : all) m.client.link_gbps = 0;
    std::string out = verdict_for(all).headline;
    for (const std::string& one : verdict_for(all).remarks)
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
  EXPECT_EQ(remarks(TestKind::kLatency, {1, 9}).find("long tail"), std::string::npos) << "of two nobody knows which";
  EXPECT_EQ(remarks(TestKind::kLatency, {1, 1, 2.9}).find("long tail"), std::string::npos);
  EXPECT_NE(remarks(TestKind::kLatency, {1, 1, 3.2}).find("rail2 has a long tail: 1 round trip in 1000 takes "),
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

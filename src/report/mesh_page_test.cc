// SPDX-License-Identifier: Apache-2.0
#include "report/mesh_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/sanitized.h"
#include "base/testdata.h"
#include "perf/mesh/outlier_lines.h"
#include "perf/mesh/test_mesh.h"
#include "report/heat_png.h"
#include "report/html.h"
#include "report/html_mesh.h"

namespace railbed::report {
namespace {

using namespace perf::mesh;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

MeshPage page_of(const MeshResults& results) {
  const Limits limits;
  const Analysis analysis = analyse(results, limits);
  const auto outliers = find_outliers(results.fabric(), analysis, limits);
  return mesh_page(results, analysis, outlier_lines(results.fabric(), analysis, outliers, limits), outliers.empty());
}

uint8_t cell(const MeshPage& page, size_t rail, uint32_t from, uint32_t to) {
  return page.maps[rail].cells[size_t{from} * page.side + to];
}

TEST(MeshPage, ASlowNicIsARowOfItsHeatMapAndFirstAmongThePairs) {
  SimulatedMesh mesh(rail_fabric(16, 2, 8), 1);
  mesh.nic({3, 1}).send = 0.5;
  const MeshPage page = page_of(mesh.run(mesh.full()));
  EXPECT_EQ(page.side, 16U);
  EXPECT_EQ(page.hosts_per_cell, 1U);
  EXPECT_EQ(page.hosts[3], "host3");
  ASSERT_THAT(page.maps, SizeIs(2));
  EXPECT_EQ(page.maps[1].rail, "rail1");
  for (uint32_t to = 0; to < 16; ++to) {
    if (to == 3) continue;
    // 0.5 with 1 % of jitter is in the step below it or above.
    EXPECT_THAT(cell(page, 1, 3, to), testing::AnyOf(kCellWorst + 4, kCellWorst + 5)) << to;
    EXPECT_GE(cell(page, 1, to, 3), kCellUsual - 2) << to;
    EXPECT_GE(cell(page, 0, 3, to), kCellUsual - 2) << to;
  }
  EXPECT_EQ(cell(page, 1, 5, 5), kCellUnknown) << "no host measures itself";
  ASSERT_THAT(page.stragglers, SizeIs(1));
  EXPECT_EQ(page.stragglers[0].host, "host3");
  EXPECT_EQ(page.stragglers[0].rail, "rail1");
  EXPECT_EQ(page.stragglers[0].leaf, "leaf1-0");
  EXPECT_NEAR(*page.stragglers[0].send_gbps, 195.5, 3);
  EXPECT_NEAR(*page.stragglers[0].send_share, 0.5, 0.01);
  EXPECT_NEAR(*page.stragglers[0].receive_share, 1, 0.01);
  ASSERT_THAT(page.worst, SizeIs(kWorstPairs));
  for (size_t i = 0; i < 15; ++i) {
    EXPECT_THAT(page.worst[i].first + " " + page.worst[i].second, HasSubstr("host3 rail1")) << i;
    EXPECT_NEAR(page.worst[i].share, 0.5, 0.03);
  }
  EXPECT_GT(page.worst[15].share, 0.6);
  EXPECT_THAT(page.findings[1], HasSubstr("host3 rail1"));
  EXPECT_FALSE(page.clean);
  ASSERT_THAT(page.rails, SizeIs(2));
  EXPECT_EQ(page.rails[1].nics, 16U);
  EXPECT_EQ(page.rails[1].leaves, 2U);
  EXPECT_EQ(page.rails[1].suspects, 1U);
  EXPECT_EQ(page.rails[0].suspects, 0U);
  EXPECT_NEAR(*page.rails[0].send_gbps, 391, 4);
}

TEST(MeshPage, FailedPairsAreTheWorst) {
  MeshResults results = *MeshResults::make(rail_fabric(4, 1, 0), *Schedule::make({.hosts = 4, .rail_count = 1}));
  for (uint32_t round = 0; round < 3; ++round)
    for (uint32_t pair = 0; pair < 2; ++pair)
      results.put({round, pair, 0}, compact({.forward_gbps = round == 1 && pair == 1 ? 40.0 : 390,
                                             .reverse_gbps = 390,
                                             .p50_us = 2,
                                             .p99_us = 3,
                                             .samples = 2000}));
  results.put({2, 1, 0}, failed_pair(1));
  const MeshPage page = page_of(results);
  ASSERT_THAT(page.worst, SizeIs(6));
  EXPECT_TRUE(page.worst[0].failed);
  EXPECT_EQ(page.worst[0].share, 0);
  EXPECT_FALSE(page.worst[1].failed);
  EXPECT_NEAR(page.worst[1].share, 40.0 / 390, 0.01);
  EXPECT_THAT(page.worst[2].share, testing::DoubleNear(1, 0.01));
  const HostPair failed = results.schedule().round(2).pairs[1];
  EXPECT_EQ(cell(page, 0, failed.first, failed.second), kCellFailed);
  EXPECT_EQ(cell(page, 0, failed.second, failed.first), kCellFailed);
  const HostPair slow = results.schedule().round(1).pairs[1];
  EXPECT_EQ(cell(page, 0, slow.first, slow.second), kCellWorst + 1) << "10 to 20 %";
  EXPECT_EQ(cell(page, 0, slow.second, slow.first), kCellUsual);
}

TEST(MeshPage, HostsOfALeafStandTogether) {
  Fabric fabric = rail_fabric(6, 1, 3);
  for (uint32_t host = 0; host < 6; ++host) fabric.endpoints[host].ports[0].leaf = static_cast<uint16_t>(host % 2);
  SimulatedMesh mesh(fabric, 1);
  EXPECT_THAT(page_of(mesh.run(mesh.full())).hosts, ElementsAre("host0", "host2", "host4", "host1", "host3", "host5"));
}

TEST(MeshPage, WithoutResultsNothingIsDrawn) {
  const MeshPage page =
      page_of(*MeshResults::make(rail_fabric(4, 1, 0), *Schedule::make({.hosts = 4, .rail_count = 1})));
  EXPECT_THAT(page.worst, IsEmpty());
  EXPECT_THAT(page.stragglers, IsEmpty());
  EXPECT_THAT(page.maps[0].cells, testing::Each(kCellUnknown));
}

// The page of 512 hosts with 8 rails, all pairs of which were measured.
TEST(MeshPage, OfManyHostsIsSmall) {
  constexpr uint32_t kHosts = kSanitized ? 128 : 512;
  SimulatedMesh mesh(rail_fabric(kHosts, 8, 32), 1);
  mesh.nic({100, 2}).receive = 0.3;
  const MeshPage page = page_of(mesh.run(mesh.full()));
  EXPECT_EQ(page.side, kHosts);
  const std::string html = to_html({.title = "mesh", .sections = {meshes_section({page})}});
  EXPECT_LT(html.size(), 2'000'000U);
  EXPECT_NE(html.find("host100"), std::string::npos);
}

TEST(MeshPage, OfMoreHostsThanFitACellIsTheWorstOfSeveral) {
  SimulatedMesh mesh(rail_fabric(1500, 1, 0), 1);
  mesh.nic({1200, 0}).send = 0.3;
  MeshResults results = mesh.run({.pattern = Pattern::kQuick, .hosts = 1500, .rail_count = 1, .partners = 4});
  EXPECT_EQ(page_of(results).hosts_per_cell, 2U) << "of one rail 1448 * 1448 cells fit";
  EXPECT_EQ(page_of(results).side, 750U);
  const MeshPage page = page_of(results);
  size_t low = 0;
  for (uint32_t to = 0; to < page.side; ++to) low += cell(page, 0, 600, to) == kCellWorst + 2 ? 1 : 0;
  low += static_cast<size_t>(std::ranges::count(page.maps[0].cells, uint8_t{kCellWorst + 3}));
  EXPECT_GE(low, 4U);
}

TEST(HeatPng, IsWhatLibraryAndBrowserReadBack) {
  Palette palette{};
  for (uint32_t i = 0; i < 16; ++i) palette[i] = i * 0x111111;
  const std::string png = heat_png({0, 1, 2, 3, 4, 5, 6, 7, 15}, 3, palette);
  // Checked once with Python: the chunks' CRCs by zlib.crc32; zlib.decompress of IDAT is 000120 003450 0067f0, three
  // rows of a filter byte and two bytes of cells.
  EXPECT_EQ(
      base64(png),
      "iVBORw0KGgoAAAANSUhEUgAAAAMAAAADBAMAAACkBqiMAAAAMFBMVEUAAAAREREiIiIzMzNERERVVVVmZmZ3d3eIiIiZmZmqqqq7u7vMzMzd3d3u"
      "7u7///97EBgKAAAAAXRSTlMAQObYZgAAABRJREFUeAEBCQD2/wABIAA0UABn8ATzAf15f891AAAAAElFTkSuQmCC");
}

TEST(Base64, AsTheRfcHasIt) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(MeshGolden, ASlowNicAndAFailedPair) {
  SimulatedMesh mesh(rail_fabric(8, 2, 4), 1);
  mesh.nic({3, 1}).send = 0.5;
  MeshResults results = mesh.run(mesh.full());
  results.put({0, 0, 0}, failed_pair(1));
  results.lose({.host = 7, .round = 6, .reason = "<gone>"});
  expect_golden(testdata() / "report/mesh.html", mesh_html(page_of(results)).text());
}

TEST(MeshHtml, EscapesEverythingFromOutside) {
  const std::string evil = "</script><script>alert('x')</script><img src=\"y\" onerror=z>";
  Fabric fabric = rail_fabric(8, 1, 4);
  for (Endpoint& one : fabric.endpoints) one.host += evil;  // names of hosts differ
  for (std::string* one : {&fabric.rails[0], &fabric.leaves[0], &fabric.leaves[1]}) *one += evil;
  SimulatedMesh mesh(fabric, 1);
  mesh.nic({3, 0}).send = 0.5;
  MeshResults results = mesh.run(mesh.full());
  results.lose({.host = 7, .round = 6, .reason = evil});
  const std::string html = to_html({.title = "", .sections = {meshes_section({page_of(results)})}});
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.substr(0, html.find("<script type")).find("onerror=z>"), std::string::npos);
}

}  // namespace
}  // namespace railbed::report

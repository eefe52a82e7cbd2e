// SPDX-License-Identifier: Apache-2.0
#include "report/collective_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/collective/test_collective.h"
#include "report/html.h"
#include "report/html_collective.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

using perf::collective::CollectiveRun;
using perf::collective::test_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A right one, one of two rails that was stopped and found wrong data, and one over soft RDMA where a way is slow.
std::vector<CollectiveRun> three_runs() {
  std::vector<CollectiveRun> runs = {test_run("before <b>", 4, 1), test_run("", 3, 2), test_run("", 3, 2)};
  runs[1].results.pop_back();
  runs[1].results[1].wrong.push_back(
      {.rank = 2, .rail = 1, .wrong = {.offset = 5, .wanted = 3, .got = 2.5, .count = 9}});
  runs[1].ended_by = "rank1: the peer closed the connection";
  runs[2].transport = perf::Transport::kRdma;
  runs[2].soft = true;
  for (auto& size : runs[2].results) {
    size.rails[0].straggler.reset();
    size.rails[1].straggler =
        perf::collective::Straggler{.rank = {}, .from = 0, .to = 2, .took_us = 90, .usual_us = 5, .all_reduce_us = 99};
  }
  return runs;
}

TEST(CollectiveSeries, NamesThatAreTakenGetANumber) {
  EXPECT_THAT(names_of({test_run("a", 4, 1), test_run("a", 2, 1), test_run("", 2, 1), test_run("", 2, 2)}),
              ElementsAre("a", "a (2)", "2 ranks, 1 rail", "2 ranks, 2 rails"));
}

TEST(CollectiveSeries, IsByAlgorithmAndSize) {
  std::vector<CollectiveRun> runs = {test_run("a", 2, 1)};
  std::ranges::reverse(runs[0].results);
  const auto all = series_of(runs);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].algorithm, perf::collective::Algorithm::kRing);
  EXPECT_EQ(all[0].sizes.front()->size_bytes, 1024U);
  EXPECT_EQ(all[1].sizes.back()->size_bytes, 1U << 20);
  runs[0].results.clear();  // nothing was done
  EXPECT_TRUE(series_of(runs).empty());
}

TEST(CollectiveTable, HasARowForEachSize) {
  EXPECT_EQ(
      collective_table(three_runs()).to_text(),
      "COLLECTIVE            OVER         BY     SIZE     TIME      ALGBW      BUSBW  SUMS     SLOW\n"
      "before <b>            TCP          ring  1 KiB  21.0 µs  48.7 MB/s  73.1 MB/s  right    -\n"
      "before <b>            TCP          ring  1 MiB  1.07 ms   981 MB/s  1.47 GB/s  right    rank3\n"
      "before <b>            TCP          tree  1 KiB  21.0 µs  48.7 MB/s  73.1 MB/s  right    -\n"
      "before <b>            TCP          tree  1 MiB  1.07 ms   981 MB/s  1.47 GB/s  right    rank3\n"
      "3 ranks, 2 rails      TCP          ring  1 KiB  22.0 µs  95.2 MB/s   127 MB/s  right    -\n"
      "3 ranks, 2 rails      TCP          ring  1 MiB  2.12 ms  1.48 GB/s  1.97 GB/s  9 WRONG  rank2 on rail0, rank2 on rail1\n"
      "3 ranks, 2 rails      TCP          tree  1 KiB  22.0 µs  95.2 MB/s   127 MB/s  right    rank2 on rail0, rank2 on rail1\n"
      "3 ranks, 2 rails (2)  RDMA (soft)  ring  1 KiB  22.0 µs  95.2 MB/s   127 MB/s  right    -\n"
      "3 ranks, 2 rails (2)  RDMA (soft)  ring  1 MiB  2.12 ms  1.48 GB/s  1.97 GB/s  right    rank0 → rank2 on rail1\n"
      "3 ranks, 2 rails (2)  RDMA (soft)  tree  1 KiB  22.0 µs  95.2 MB/s   127 MB/s  right    -\n"
      "3 ranks, 2 rails (2)  RDMA (soft)  tree  1 MiB  2.12 ms  1.48 GB/s  1.97 GB/s  right    rank0 → rank2 on rail1\n");
}

TEST(CollectiveHtml, WholePage) {
  const std::vector<CollectiveRun> runs = three_runs();
  const std::string html = to_html({.title = "", .sections = {collectives_section(runs)}});
  const size_t data = html.find("<script type=\"application/json\" id=\"data\">");
  expect_golden(testdata() / "report/collective.html",
                collectives_html(runs).text() + html.substr(data, html.find("<script>", data) - data));
  EXPECT_THAT(html, HasSubstr("<p class=\"quiet\">2026-01-02 03:04 UTC · 3 measurements · railbed"));
  EXPECT_THAT(html, Not(HasSubstr("Nothing was measured")));
  EXPECT_THAT(html, Not(HasSubstr("before <b>")));
}

TEST(CollectiveHtml, ReportsHowMuchIsNotShown) {
  const std::string many = collectives_html(std::vector<CollectiveRun>(70, test_run("r", 2, 1))).text();
  EXPECT_THAT(many, HasSubstr("<p class=\"quiet\">and 6 more, see the result files</p>"));
  EXPECT_THAT(many, HasSubstr("<p class=\"quiet\">Charts have the first 16 lines.</p>"));
  EXPECT_EQ(collectives_html({}).text(), "");
  // Of 100 ranks those with the most work of their own are shown, in their order: the last one is the slow one.
  const std::string large = collectives_html({test_run("r", 100, 1)}).text();
  EXPECT_THAT(large, HasSubstr("<td>rank99 <span class=\"state caution\">slow</span></td>"));
  EXPECT_THAT(large, HasSubstr("<p class=\"quiet\">and 36 more, see the result files</p>"));
  EXPECT_THAT(large, HasSubstr("<p class=\"quiet\">and 134 more, see the result files</p>"));
}

}  // namespace
}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
#include "report/result_kinds.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "perf/collective/collective_report.h"
#include "perf/collective/test_collective.h"
#include "perf/jitter/test_jitter.h"
#include "report/html.h"

namespace railbed::report {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

std::string bandwidth_file() {
  perf::Measurement m{.started_at = "2026-01-02T03:04:05Z", .command = "railbed perf bw", .label = "rail0"};
  m.spec.sizes_bytes = {65536};
  m.bandwidth.push_back({.size_bytes = 65536, .messages = 1, .duration_s = 1, .average_gbps = 90});
  return perf::to_json({m});
}
std::string jitter_file() {
  return perf::to_json(perf::test_jitter("rail0"));
}
std::string collective_file(std::string label) {
  return doc::to_json(perf::collective::to_value(perf::collective::test_run(std::move(label), 2, 1)));
}

Results results_of(const std::vector<std::string>& files) {
  Results results;
  for (const std::string& file : files) {
    const auto added = results.add(file);
    EXPECT_TRUE(added) << added.error().to_string();
  }
  return results;
}

// What a kind is called stands beside its writer. Without a row `perf report` refuses what that has written.
TEST(ResultKinds, HaveARowForEachKindThatPerfWrites) {
  const std::regex name(R"re(ResultName k\w+\{"(\w+)", "([^"]+)"\})re");
  std::map<std::string, std::string> written;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(source_dir()) / "src/perf")) {
    if (file.path().extension() != ".h") continue;
    const std::string text = content(file.path());
    for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found)
      written.emplace(found->str(1), found->str(2));
  }
  std::map<std::string, std::string> rows;
  for (const ResultKind& kind : result_kinds())
    rows.emplace(std::string(kind.name.kind), std::string(kind.name.schema));
  EXPECT_EQ(rows, written);
}

TEST(ResultKinds, OneSaysWhyOthersCannotBeRead) {
  EXPECT_EQ(std::ranges::count(result_kinds(), true, &ResultKind::refuses_others), 1);
}

// Whatever the order of files; and those of one kind are side by side.
TEST(Results, FillThePlacesOfThePage) {
  const Results results =
      results_of({collective_file("before"), jitter_file(), bandwidth_file(), collective_file("after")});
  ASSERT_THAT(results.sections(), SizeIs(3));
  const std::string html = to_html({.title = "", .sections = results.sections(), .results = results.json()});
  size_t at = 0;
  for (const char* part : {"RDMA works on 1 rail", "<h2>All-reduces</h2>", "<h2>Jitter by a schedule</h2>",
                           "<h2>Rail by rail</h2>", "<h2>What was measured</h2>", "<h2>Environment</h2>",
                           "<h2>All figures and how they were taken</h2>", "\"rails\":[{", "\"collectives\":[{"}) {
    const size_t next = html.find(part, at);
    EXPECT_NE(next, std::string::npos) << part;
    if (next != std::string::npos) at = next;
  }
  EXPECT_THAT(html, HasSubstr("2023-11-14 22:13 UTC · 4 measurements · railbed"));
  std::string terminal;
  for (const Section& section : results.sections()) terminal += section.terminal;
  EXPECT_THAT(terminal, StartsWith("RAIL "));
  EXPECT_THAT(terminal, HasSubstr("\n\nCOLLECTIVE "));
  EXPECT_THAT(results.sections()[1].summary, StartsWith("RDMA works on 1 rail"));
}

TEST(Results, OfNothingSaySo) {
  const Results none;
  ASSERT_THAT(none.sections(), SizeIs(1));
  EXPECT_THAT(none.sections()[0].summary, StartsWith("Nothing was measured.\n"));
  EXPECT_EQ(none.json(), "");
  EXPECT_EQ(results_of({R"({"schema":"railbed.perf/v2","measurements":[]})"}).json(), "");
}

TEST(Results, AreSavedAsTheyWereRead) {
  EXPECT_EQ(results_of({bandwidth_file()}).json(), bandwidth_file());
  const std::string saved = results_of({collective_file("a"), jitter_file(), bandwidth_file()}).json();
  EXPECT_THAT(saved, StartsWith(R"({"apiVersion":"railbed.dev/v1","kind":"Results","schema":"railbed.results/v1",)"
                                R"("results":[{)"));
  EXPECT_LT(saved.find("railbed.perf/v2"), saved.find("railbed.collective/v1"));
  EXPECT_LT(saved.find("railbed.collective/v1"), saved.find("railbed.jitter/v1"));
  EXPECT_EQ(results_of({saved}).json(), saved);
  EXPECT_THAT(results_of({jitter_file()}).json(), HasSubstr(R"("results":[{"apiVersion")")) << "alone, too";
}

TEST(Results, SayWhyTheyCannotBeRead) {
  const auto refusal = [](const std::string& file) {
    Results results;
    const auto added = results.add(file);
    return added ? std::string("none") : added.error().to_string();
  };
  EXPECT_EQ(refusal(R"({"schema":"railbed.ping/v1"})"),
            "schema: \"railbed.ping/v1\" is not railbed.perf/v2, the one this version reads");
  EXPECT_EQ(refusal(R"({"schema":"railbed.mesh/v1"})"),
            "schema: \"railbed.mesh/v1\" is not railbed.perf/v2, the one this version reads\n"
            "  reports show the file that `perf mesh --save` wrote, not its -o json");
  EXPECT_EQ(refusal(R"({"schema":"railbed.jitter/v9"})"),
            "schema: \"railbed.jitter/v9\" is not railbed.jitter/v1, the one this version reads");
  EXPECT_EQ(refusal("{}"), "schema is missing\n  only results of `railbed perf` can be read");
  EXPECT_EQ(refusal(R"({"schema":"railbed.results/v1","results":[{"schema":"railbed.collective/v3"}]})"),
            "results[0]: schema: \"railbed.collective/v3\" is not railbed.collective/v1, the one this version reads");
  EXPECT_NE(refusal("RBMESH\r\n"), "none") << "begins as a mesh's own form does";
}

}  // namespace
}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
// What `railbed perf ping` and `jitter` write with -o json against their schemas; a field that the schema lacks fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "json_schema.h"
#include "perf/jitter/jitter_report.h"
#include "perf/ping/ping_report.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

JsonSchema schema_of_kind(const std::string& kind) {
  return JsonSchema(parsed(content(std::filesystem::path(source_dir()) / "docs/schemas" / (kind + ".json"))));
}

TEST(ProbesSchema, HoldsAPing) {
  perf::PingReport report{.peer = "a", .role = perf::PingRole::kMover};
  JsonSchema schema = schema_of_kind("Ping");
  EXPECT_THAT(schema.problems(parsed(to_json(report))), IsEmpty());
  for (uint64_t i = 0; i < 200'000; ++i) report.add({.message_ns = 5 + i, .read_ns = 7 + i, .write_ns = 9});
  report.ended_by = "asked to stop";
  EXPECT_THAT(schema.problems(parsed(to_json(report))), IsEmpty());
  EXPECT_THAT(to_json(report), HasSubstr("\"p99_99_us\""));
}

perf::JitterRound round(perf::PathLoad load, uint64_t probes) {
  perf::JitterRound out{.load = load};
  for (uint64_t i = 0; i < probes; ++i)
    out.probes.probes.push_back({.due_ns = i * 1'000'000, .whole_ns = 5'000 + i % 97, .sending_ns = 100});
  out.probes.duration_ns = 1'000'000'000;
  return out;
}

TEST(ProbesSchema, HoldsJitter) {
  JsonSchema schema = schema_of_kind("Jitter");
  perf::JitterReport report;
  summarise({}, report);
  EXPECT_THAT(schema.problems(parsed(to_json(report))), IsEmpty());
  std::vector<perf::JitterRound> rounds;
  for (int i = 0; i < 3; ++i)
    for (const auto load : {perf::PathLoad::kIdle, perf::PathLoad::kLoaded}) rounds.push_back(round(load, 40'000));
  report.clock = perf::ProbeClock::kDevice;
  summarise(rounds, report);
  report.ended_by = "asked to stop";
  const std::string written = to_json(report);
  EXPECT_THAT(schema.problems(parsed(written)), IsEmpty());
  for (const char* field : {"\"noticing\"", "\"drift\"", "\"p99_99_us\"", "\"load_is\"", "\"length_ms\""})
    EXPECT_THAT(written, HasSubstr(field));
}

// Without RDMA it says what is missing, and does not try.
TEST(ProbesSchema, RefusesWhatDoesNotFit) {
  EXPECT_THAT(run_verb({"perf", "ping"}).errors, HasSubstr("ADDRESS: name the peer"));
  EXPECT_THAT(run_verb({"perf", "ping", "127.0.0.1", "--size", "64KiB", "--listen"}).errors,
              HasSubstr("--listen requires --peer-rping\n  railbed's own clients are served by `railbed perf serve`"));
  EXPECT_THAT(run_verb({"perf", "ping", "127.0.0.1", "--size", "65537"}).errors,
              HasSubstr("--size: a ping has 1 to 65536 bytes, not 65537"));
}

}  // namespace
}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "perf/result_envelope.h"

#include <span>

#include <gtest/gtest.h>

#include "doc/fields.h"
#include "doc/json.h"
#include "perf/json_writer.h"

namespace railbed::perf {
namespace {

constexpr ResultName kSomething{"Something", "railbed.something/v2"};

std::span<const ResultMember> all_members() {
  using enum ResultMember::What;
  using enum ResultMember::Read;
  static constexpr ResultMember kAll[] = {{kVersion, kAlways, 4},
                                          {kStartedAt, kIfThere},
                                          {kCommand, kAlways, kMaxCommand_bytes},
                                          {kLabel, kIfThere},
                                          {kPeer},
                                          {kComplete, kAlways},
                                          {kRight, kIfThere},
                                          {kSoft, kAlways}};
  return kAll;
}

ResultEnvelope full_envelope() {
  return {.version = "0.1",
          .started_at = "2026-01-02T03:04:05Z",
          .command = "railbed perf",
          .label = "rail0",
          .peer = "10.0.0.1",
          .ended_by = "Ctrl-C",
          .right = false,
          .soft = true};
}

doc::Value envelope_object(const std::string& json) {
  return *doc::read_object("", json);
}

// "none", or the first thing that is wrong.
std::string envelope_problem(const doc::Value& value) {
  doc::Diagnostics found;
  doc::Fields fields(value, "", doc::kNoFamily, found);
  read_envelope(fields, all_members());
  const auto read = doc::first_error(found);
  return read ? std::string("none") : read.error().story();
}

TEST(ResultEnvelope, IsWrittenInTheOrderOfTheKind) {
  const std::string whole =
      R"({"apiVersion":"railbed.dev/v1","kind":"Something","schema":"railbed.something/v2","version":"0.1",)"
      R"("started_at":"2026-01-02T03:04:05Z","command":"railbed perf","label":"rail0","peer":"10.0.0.1",)"
      R"("complete":false,"ended_by":"Ctrl-C","right":false,"soft":true})";
  JsonWriter writer;
  writer.begin_object();
  write_name(writer, kSomething);
  write_envelope(writer, all_members(), full_envelope());
  writer.end_object();
  EXPECT_EQ(writer.take(), whole);
  EXPECT_EQ(doc::to_json(begin_result(kSomething, all_members(), full_envelope())), whole);
  constexpr ResultMember kFew[] = {{ResultMember::What::kSoft}, {ResultMember::What::kComplete}};
  EXPECT_EQ(doc::to_json(begin_result(kSomething, kFew, {})),
            R"({"apiVersion":"railbed.dev/v1","kind":"Something","schema":"railbed.something/v2","soft":false,)"
            R"("complete":true})");
}

TEST(ResultEnvelope, HasWhatItsKindReads) {
  const doc::Value value = begin_result(kSomething, all_members(), full_envelope());
  doc::Diagnostics found;
  doc::Fields fields(value, "", doc::kNoFamily, found);
  const ResultEnvelope read = read_envelope(fields, all_members());
  ASSERT_TRUE(doc::first_error(found)) << doc::first_error(found).error().to_string();
  EXPECT_EQ(read.version, "0.1");
  EXPECT_EQ(read.started_at, "2026-01-02T03:04:05Z");
  EXPECT_EQ(read.command, "railbed perf");
  EXPECT_EQ(read.label, "rail0");
  EXPECT_EQ(read.peer, "") << "this kind passes over it";
  EXPECT_EQ(read.ended_by, "Ctrl-C");
  EXPECT_FALSE(read.right);
  EXPECT_TRUE(read.soft);
}

TEST(ResultEnvelope, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(envelope_problem(envelope_object(R"({"version":"0","command":"","complete":true,"soft":false})")), "none");
  EXPECT_EQ(envelope_problem(envelope_object(R"({"command":"","complete":true,"soft":false})")), "version is missing");
  EXPECT_EQ(envelope_problem(envelope_object(R"({"version":"0.1.0","command":"","complete":true,"soft":false})")),
            "version has 5 bytes, at most 4 are allowed");
  EXPECT_EQ(envelope_problem(envelope_object(R"({"version":"0","command":"","soft":false})")), "complete is missing");
  EXPECT_EQ(envelope_problem(envelope_object(R"({"version":"0","command":"","complete":false,"soft":false})")),
            "complete: false, which contradicts ended_by");
  EXPECT_EQ(envelope_problem(envelope_object(R"({"version":"0","command":"","complete":true})")), "soft is missing");
}

TEST(ResultEnvelope, DistinguishesKindsAndVersions) {
  const auto problem = [](const std::string& json) {
    const auto known = check_schema(envelope_object(json), kSomething);
    return known ? std::string("none") : known.error().to_string();
  };
  EXPECT_EQ(problem(R"({"schema":"railbed.something/v2"})"), "none");
  EXPECT_EQ(problem("{}"), "schema is missing");
  EXPECT_EQ(problem(R"({"schema":"railbed.something/v3"})"),
            "schema: \"railbed.something/v3\" is not railbed.something/v2, the one this version reads");
  EXPECT_TRUE(is_result_of(envelope_object(R"({"schema":"railbed.something/v3"})"), kSomething));
  EXPECT_FALSE(is_result_of(envelope_object(R"({"schema":"railbed.somethings/v2"})"), kSomething));
  EXPECT_FALSE(is_result_of(envelope_object(R"({"schema":2})"), kSomething));
  EXPECT_FALSE(is_result_of(envelope_object("{}"), kSomething));
}

}  // namespace
}  // namespace railbed::perf

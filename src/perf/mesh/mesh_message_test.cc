// SPDX-License-Identifier: Apache-2.0
// The messages of a mesh, and what an endpoint and a coordinator refuse of each other.
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/channel/frame.h"
#include "perf/channel/message.h"
#include "perf/channel/test_message_limits.h"
#include "perf/mesh/register_message.h"

namespace railbed::perf::mesh {
namespace {

Step some_step() {
  return {.number = 3,
          .spec = {.kind = TestKind::kBandwidth, .sizes_bytes = {65536}, .qps = 4},
          .tasks = {{.rail = 1, .address = *IpAddress::parse("10.1.0.5"), .port = 18600, .device = "mlx5_1:1"}}};
}

std::string refusal(std::string_view body) {
  return refusal_by<MeshMessage>(body);
}
std::string with(std::string body, std::string_view from, std::string_view to) {
  const size_t at = body.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << body;
  return body.replace(at, from.size(), to);
}

TEST(MeshMessage, WhatMakesAMachineSendIsBounded) {
  const std::string good = encode(some_step());
  EXPECT_EQ(refusal(good), "understood");
  const std::pair<std::pair<std::string_view, std::string_view>, std::string_view> cases[] = {
      {{"\"duration_ms\":2000", "\"duration_ms\":60001"}, "spec.duration_ms: a step of a mesh lasts at most 60000 ms"},
      {{"[65536]", "[64,65536]"}, "spec.sizes_bytes: a step of a mesh has one size"},
      {{"\"iterations\":0", "\"iterations\":5"}, "spec.iterations: a step of a mesh has a duration"},
      {{"\"qps\":4", "\"qps\":33"}, "spec.qps: a step of a mesh has at most 32 for each rail"},
      {{"\"verb\":\"write\"", "\"verb\":\"send\""}, "spec.verb: a mesh is measured by writes"},
      {{"\"memory\":\"host\"", "\"memory\":\"gpu:0\""}, "spec.memory: a mesh is measured in ordinary memory"},
      {{"\"rail\":1", "\"rail\":64"}, "tasks[0].rail must be 0 to 63, found 64"},
      {{"\"port\":18600", "\"port\":0"}, "tasks[0].port must be at least 1, found 0"},
      {{"10.1.0.5", "db.example.com"}, "tasks[0].address: \"db.example.com\" is not an IP address"},
      {{"\"tasks\":[", "\"tasks\":[{\"rail\":1,\"address\":\"10.1.0.6\",\"port\":1,\"device\":\"\"},"},
       "tasks: duplicate rail 1"},
  };
  for (const auto& [edit, expected] : cases)
    EXPECT_EQ(refusal(with(good, edit.first, edit.second)), fmt::format("message mesh-step: {}", expected));
  std::string many;
  for (int i = 0; i < 65; ++i) many += R"({"rail":1,"address":"10.1.0.6","port":1,"device":""},)";
  EXPECT_NE(refusal(with(good, "\"tasks\":[", "\"tasks\":[" + many)), "understood");
}

TEST(MeshMessage, NoFigureIsBeyondWhatCanBe) {
  const std::string good = encode(StepDone{.number = 3, .pairs = {{.rail = 0, .gbps = 390.5, .samples = 1}}});
  EXPECT_EQ(refusal(good), "understood");
  EXPECT_EQ(refusal(with(good, "390.5", "1e9")),
            "message mesh-step-done: pairs[0].gbps must be 0 to 10000, found 1000000000");
  EXPECT_EQ(refusal(with(good, "390.5", "-1")), "message mesh-step-done: pairs[0].gbps must be 0 to 10000, found -1");
  EXPECT_EQ(refusal(with(good, "390.5", "null")), "message mesh-step-done: pairs[0].gbps is empty");
  EXPECT_EQ(refusal(with(good, "\"samples\":1", "\"samples\":-1")),
            "message mesh-step-done: pairs[0].samples must be 0 to 1099511627776, found -1");
}

TEST(MeshMessage, IsNoneOfAnotherProtocol) {
  const std::string why =
      R"( where one of "mesh-enlist", "mesh-enlisted", "mesh-step", "mesh-step-done", "mesh-ask", "mesh-member", )"
      R"("mesh-register", "mesh-registered" was due)";
  EXPECT_EQ(refusal(encode(CloseTest{})), R"(the peer sent "close-test")" + why);
  EXPECT_EQ(refusal(R"({"type":"collective-linked"})"), R"(the peer sent "collective-linked")" + why);
  EXPECT_EQ(refusal(encode(Refusal{.message = "no", .hint = ""})), "the peer says: no");
}

TEST(MeshMessage, ComesBackAsItWas) {
  const Enlist enlist{.mesh = {.bytes = {1, 2, 3}},
                      .transport = Transport::kTcp,
                      .rails = {{.rail = 0, .address = *IpAddress::parse("fd00::1"), .device = ""},
                                {.rail = 5, .address = *IpAddress::parse("10.0.0.1"), .device = "mlx5_0"}}};
  const auto enlist_back = decode<MeshMessage>(encode(enlist));
  ASSERT_TRUE(enlist_back) << enlist_back.error().to_string();
  EXPECT_EQ(std::get<Enlist>(*enlist_back).mesh, enlist.mesh);
  EXPECT_EQ(std::get<Enlist>(*enlist_back).transport, Transport::kTcp);
  EXPECT_EQ(std::get<Enlist>(*enlist_back).rails, enlist.rails);
  const Enlisted enlisted{.rails = {{.rail = 0, .problem = "no cable", .device = "a:1", .soft = true},
                                    {.rail = 5, .problem = "", .device = "b:1", .carries_gbps = 391.5}}};
  const auto enlisted_back = decode<MeshMessage>(encode(enlisted));
  ASSERT_TRUE(enlisted_back) << enlisted_back.error().to_string();
  EXPECT_EQ(std::get<Enlisted>(*enlisted_back).rails, enlisted.rails);
  const auto step_back = decode<MeshMessage>(encode(some_step()));
  ASSERT_TRUE(step_back) << step_back.error().to_string();
  EXPECT_EQ(std::get<Step>(*step_back).number, 3);
  EXPECT_EQ(std::get<Step>(*step_back).spec, some_step().spec);
  EXPECT_EQ(std::get<Step>(*step_back).tasks, some_step().tasks);
  const StepDone done{.number = 7,
                      .pairs = {{.rail = 2, .problem = "", .p50_us = 2.5, .p99_us = 3.5, .samples = 999, .outages = 1},
                                {.rail = 1, .problem = "gone", .gbps = 0}}};
  const auto done_back = decode<MeshMessage>(encode(done));
  ASSERT_TRUE(done_back) << done_back.error().to_string();
  EXPECT_EQ(std::get<StepDone>(*done_back).number, 7);
  EXPECT_EQ(std::get<StepDone>(*done_back).pairs, done.pairs);
}

// Peers of other versions read and write these.
TEST(MeshMessage, HasTheFormOnTheWireThatPeersKnow) {
  EXPECT_EQ(encode(AskMesh{*IpAddress::parse("10.1.0.5")}), R"({"type":"mesh-ask","address":"10.1.0.5"})");
  EXPECT_EQ(encode(InMesh{}), R"({"type":"mesh-member","mesh":")" + std::string(64, '0') + "\"}");
  EXPECT_EQ(encode(Registered{.registered = 3, .wanted = 16}),
            R"({"type":"mesh-registered","registered":3,"wanted":16})");
  EXPECT_EQ(encode(Enlist{.mesh = {}, .transport = Transport::kTcp, .rails = {}}),
            R"({"type":"mesh-enlist","mesh":")" + std::string(64, '0') + R"(","transport":"tcp","rails":[]})");
  EXPECT_EQ(encode(Enlisted{}), R"({"type":"mesh-enlisted","rails":[]})");
  EXPECT_EQ(encode(StepDone{.number = 3, .pairs = {}}), R"({"type":"mesh-step-done","number":3,"pairs":[]})");
  EXPECT_TRUE(encode(some_step()).starts_with(R"({"type":"mesh-step","number":3,"spec":{)"));
  EXPECT_EQ(encode(Register{.name = "a", .port = 1, .rail_count = 1, .rails = {}}),
            R"({"type":"mesh-register","name":"a","port":1,"rail_count":1,"rails":[]})");
}

// What each field of each message may be. RAILBED_UPDATE=1 rewrites it.
TEST(MeshMessage, EveryFieldHasItsLimits) {
  const std::vector<MeshMessage> messages = {
      Enlist{.rails = {{.rail = 0, .address = *IpAddress::parse("10.1.0.5"), .device = "mlx5_0"}}},
      Enlisted{
          .rails = {{.rail = 1, .problem = "no cable", .device = "mlx5_0:1", .soft = true, .carries_gbps = 391.5}}},
      some_step(),
      StepDone{
          .number = 3,
          .pairs = {{.rail = 1, .problem = "", .gbps = 1.5, .p50_us = 2.5, .p99_us = 3.5, .samples = 9, .outages = 1}}},
      Register{.name = "node-1",
               .port = 18600,
               .rail_count = 2,
               .rails = {{.rail = 1, .address = *IpAddress::parse("10.1.0.5"), .device = "mlx5_0"}}},
      Registered{.registered = 3, .wanted = 16},
      AskMesh{*IpAddress::parse("10.1.0.5")},
      InMesh{}};
  expect_golden(testdata() / "perf/mesh_message.limits", limits_of_messages(messages));
}

// What is reported of a rail is a line of text, whatever it was.
TEST(MeshMessage, ProblemsSteerNoTerminalAndFitAFrame) {
  EXPECT_EQ(problem_text("\x1b[2Jall\tfine\n"), "\\x1b[2Jall fine\\x0a");
  StepDone done;
  Enlisted enlisted;
  const std::string worst(10000, '\x1b');
  for (uint32_t rail = 0; rail < kMaxRails; ++rail) {
    done.pairs.push_back({.rail = rail, .problem = worst, .gbps = 123.456789012345678, .p50_us = 1.0 / 3});
    enlisted.rails.push_back({.rail = rail, .problem = worst, .device = std::string(64, '"'), .carries_gbps = 1.0 / 3});
  }
  for (const MeshMessage& message : {MeshMessage(done), MeshMessage(enlisted)}) {
    EXPECT_LT(encode(message).size(), kMaxBodyBytes);
    EXPECT_EQ(refusal(encode(message)), "understood");
  }
  // A peer that does not clean its own.
  const std::string raw =
      with(encode(StepDone{.number = 1, .pairs = {{.rail = 0, .problem = "@"}}}), "@", "\\u001b]0;x");
  const auto cleaned = decode<MeshMessage>(raw);
  ASSERT_TRUE(cleaned) << cleaned.error().to_string();
  EXPECT_EQ(std::get<StepDone>(*cleaned).pairs[0].problem, "\\x1b]0;x");
}

}  // namespace
}  // namespace railbed::perf::mesh

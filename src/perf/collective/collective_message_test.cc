// SPDX-License-Identifier: Apache-2.0
// The messages of a collective, and what a rank and a coordinator refuse of each other.
#include "perf/collective/collective_message.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/channel/frame.h"
#include "perf/channel/test_message_limits.h"

namespace railbed::perf::collective {
namespace {

RdmaAddress some_rdma() {
  return {.gid = IpAddress::parse("10.1.0.5")->to_gid(),
          .lid = 3,
          .mtu_bytes = 4096,
          .remote_key = 77,
          .address = 0x7f0000001000,
          .pkey = 0xffff,
          .q_key = 0,
          .reads_answered = 1,
          .qps = {{.number = 17, .packet_sequence = 99}}};
}
Join some_join() {
  return {.id = {.bytes = {1, 2, 3}},
          .transport = Transport::kTcp,
          .algorithms = {Algorithm::kTree, Algorithm::kRing},
          .rank = 1,
          .ranks = 4,
          .largest_bytes = 1 << 20,
          .rails = {{.rail = 3, .address = *IpAddress::parse("10.1.0.5"), .device = "mlx5_1:1"}}};
}
Joined some_joined() {
  return {
      .rails = {{.found = {.rail = 3, .problem = "", .device = "mlx5_1:1", .soft = true, .carries_gbps = 391.5},
                 .links = {{.peer = 0, .name = "", .address = {}, .rdma = some_rdma(), .tcp = {}},
                           {.peer = 2, .name = "", .address = {}, .rdma = {}, .tcp = TcpAddress{4711, UINT64_MAX}}}}}};
}
Link some_link() {
  return {.rails = {{.rail = 3,
                     .links = {{.peer = 2,
                                .name = "node-2",
                                .address = *IpAddress::parse("10.1.0.6"),
                                .serves_at = 18600,
                                .rdma = {},
                                .tcp = TcpAddress{4711, 5}}}}}};
}
Reduce some_reduce() {
  return {.number = 7, .algorithm = Algorithm::kTree, .size_bytes = 4096, .iterations = 20, .warm_up = 5};
}
Reduced some_reduced() {
  return {.number = 7,
          .rails = {{.rail = 3,
                     .mean_us = 12.5,
                     .p50_us = 12,
                     .p99_us = 20,
                     .max_us = 21,
                     .waited_p50_us = 6,
                     .waited_p99_us = 7,
                     .own_p50_us = 5,
                     .own_max_us = 9,
                     .step_waited_us = {1, 2.25},
                     .step_transfer_us = {0.5, 0.5},
                     .step_reduce_us = {3, 0},
                     .sent_us = {0.25, 0.75},
                     .wrong = Wrong{.offset = 12, .wanted = 14, .got = 13.5, .count = 3}}}};
}

std::string refusal(std::string_view body) {
  return refusal_by<CollectiveMessage>(body);
}
std::string with(std::string body, std::string_view from, std::string_view to) {
  const size_t at = body.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << body;
  return body.replace(at, from.size(), to);
}
template <typename T>
T back(const T& message) {
  const auto decoded = decode<CollectiveMessage>(encode(message));
  EXPECT_TRUE(decoded) << decoded.error().to_string();
  return decoded ? std::get<T>(*decoded) : T{};
}

TEST(CollectiveMessage, ComesBackAsItWas) {
  const Join join = back(some_join());
  EXPECT_EQ(join.id, some_join().id);
  EXPECT_EQ(join.transport, Transport::kTcp);
  EXPECT_EQ(join.algorithms, some_join().algorithms);
  EXPECT_EQ(join.rank, 1u);
  EXPECT_EQ(join.ranks, 4u);
  EXPECT_EQ(join.largest_bytes, 1u << 20);
  EXPECT_EQ(join.rails, some_join().rails);
  EXPECT_EQ(back(some_joined()).rails, some_joined().rails);
  EXPECT_EQ(back(some_link()).rails, some_link().rails);
  back(Linked{});
  const Reduce reduce = back(some_reduce());
  EXPECT_EQ(reduce.number, 7);
  EXPECT_EQ(reduce.algorithm, Algorithm::kTree);
  EXPECT_EQ(reduce.size_bytes, 4096u);
  EXPECT_EQ(reduce.iterations, 20u);
  EXPECT_EQ(reduce.warm_up, 5u);
  EXPECT_EQ(back(some_reduced()).number, 7);
  EXPECT_EQ(back(some_reduced()).rails, some_reduced().rails);
  // Where nothing was written there is no number.
  Reduced nothing = some_reduced();
  nothing.rails[0].wrong->got = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(back(nothing).rails[0].wrong->got));
}

TEST(CollectiveMessage, WhatMakesAMachineAllocateAndSendIsBounded) {
  const std::string join = encode(some_join());
  const std::pair<std::pair<std::string_view, std::string_view>, std::string_view> joins[] = {
      {{"\"rank\":1", "\"rank\":4"}, "rank: there are 4 ranks"},
      {{"\"ranks\":4", "\"ranks\":1"}, "ranks must be 2 to 256, found 1"},
      {{"\"ranks\":4", "\"ranks\":257"}, "ranks must be 2 to 256, found 257"},
      {{"[\"tree\",\"ring\"]", "[]"}, "algorithms: one is needed"},
      {{"\"ring\"", "\"star\""}, "algorithms: \"star\" is neither ring nor tree"},
      {{"1048576", "1073741825"}, "largest_bytes must be 4 to 1073741824, found 1073741825"},
      {{"10.1.0.5", "db.example.com"}, "rails[0].address: \"db.example.com\" is not an IP address"},
  };
  for (const auto& [edit, expected] : joins)
    EXPECT_EQ(refusal(with(join, edit.first, edit.second)), fmt::format("message collective-join: {}", expected));
  Join many = some_join();
  for (uint32_t rail = 4; rail < 7; ++rail) many.rails.push_back({.rail = rail, .address = many.rails[0].address});
  many.ranks = 200;
  EXPECT_EQ(refusal(encode(many)),
            "message collective-join: ranks: a collective has at most 512 NICs, and this one 800");
  const std::string reduce = encode(some_reduce());
  EXPECT_EQ(refusal(with(reduce, "4096", "4097")),
            "message collective-reduce: size_bytes: 4097 bytes are not a whole number of float32");
  EXPECT_EQ(refusal(with(reduce, "\"iterations\":20", "\"iterations\":1001")),
            "message collective-reduce: iterations must be 1 to 1000, found 1001");
  EXPECT_EQ(refusal(with(reduce, "\"warm_up\":5", "\"warm_up\":0")),
            "message collective-reduce: warm_up must be 1 to 1000, found 0");
}

TEST(CollectiveMessage, TwoAnswersAboutOneThingAreNone) {
  Joined twice = some_joined();
  twice.rails[0].links[1].peer = 0;
  EXPECT_EQ(refusal(encode(twice)), "message collective-joined: rails[0].links: duplicate peer 0");
  Reduced rails = some_reduced();
  rails.rails.push_back(rails.rails[0]);
  EXPECT_EQ(refusal(encode(rails)), "message collective-reduced: rails: duplicate rail 3");
  Joined pairs = some_joined();
  pairs.rails[0].links[0].rdma->qps.push_back({});
  EXPECT_EQ(refusal(encode(pairs)), "message collective-joined: rails[0].links[0].rdma: a link has one queue pair");
}

// Names and problems of others steer no terminal, and the largest collective fits.
TEST(CollectiveMessage, TheWorstFitsAFrame) {
  Reduced reduced{.number = 1, .rails = {}};
  constexpr uint32_t kRails = 2;
  for (uint32_t rail = 0; rail < kRails; ++rail) {
    RankTimes times{.rail = rail, .mean_us = 1.0 / 3};
    for (auto* steps : {&times.step_waited_us, &times.step_transfer_us, &times.step_reduce_us, &times.sent_us})
      steps->assign(2 * (kMaxNics / kRails - 1), 9999999.0 + 1.0 / 3);
    reduced.rails.push_back(times);
  }
  Joined joined;
  Link link;
  for (uint32_t rail = 0; rail < kMaxRails; ++rail) {
    joined.rails.push_back(
        {.found = {.rail = rail, .problem = std::string(9999, '\x1b'), .device = std::string(64, '"')}, .links = {}});
    link.rails.push_back({.rail = rail, .links = {}});
    for (uint32_t peer = 0; peer < 5; ++peer) {
      joined.rails.back().links.push_back({.peer = peer, .name = "", .address = {}, .rdma = some_rdma(), .tcp = {}});
      link.rails.back().links.push_back({.peer = peer,
                                         .name = std::string(9999, '\x1b'),
                                         .address = *IpAddress::parse("fd00:1111:2222:3333:4444:5555:6666:7777"),
                                         .rdma = some_rdma(),
                                         .tcp = {}});
    }
  }
  for (const CollectiveMessage& message :
       {CollectiveMessage(reduced), CollectiveMessage(joined), CollectiveMessage(link)}) {
    EXPECT_LT(encode(message).size(), kMaxBodyBytes) << encoded(message).type;
    EXPECT_EQ(refusal(encode(message)), "understood");
  }
  EXPECT_EQ(back(link).rails[0].links[0].name.find('\x1b'), std::string::npos);
}

// Peers of other versions read and write these.
TEST(CollectiveMessage, HasTheFormOnTheWireThatPeersKnow) {
  EXPECT_EQ(encode(some_reduce()),
            R"({"type":"collective-reduce","number":7,"algorithm":"tree","size_bytes":4096,"iterations":20,)"
            R"("warm_up":5})");
  EXPECT_EQ(encode(Linked{}), R"({"type":"collective-linked"})");
  EXPECT_EQ(encode(Link{}), R"({"type":"collective-link","rails":[]})");
  EXPECT_EQ(encode(Joined{}), R"({"type":"collective-joined","rails":[]})");
  EXPECT_EQ(encode(Reduced{.number = 7, .rails = {}}), R"({"type":"collective-reduced","number":7,"rails":[]})");
  EXPECT_TRUE(encode(some_join()).starts_with(R"({"type":"collective-join","id":"010203)"));
}

// What each field of each message may be. RAILBED_UPDATE=1 rewrites it.
TEST(CollectiveMessage, EveryFieldHasItsLimits) {
  const std::vector<CollectiveMessage> messages = {some_join(), some_joined(), some_link(), some_reduce(),
                                                   some_reduced()};
  expect_golden(testdata() / "perf/collective_message.limits", limits_of_messages(messages));
}

}  // namespace
}  // namespace railbed::perf::collective

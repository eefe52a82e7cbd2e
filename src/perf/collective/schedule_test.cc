// SPDX-License-Identifier: Apache-2.0
// The lists of all ranks together make an all-reduce, whatever order the ranks run in, and no part is overwritten
// before it was used, also where one rank is already in the next all-reduce.
#include "perf/collective/schedule.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::perf::collective {
namespace {

// Ranks in memory. What is sent is written into the peer's memory at a moment of chance before the peer is notified, as
// RDMA does it; a list is executed op by op, ranks in an order of chance.
class World {
 public:
  World(Algorithm algorithm, uint32_t ranks, uint64_t count, uint32_t rounds, uint64_t seed)
      : ranks_(ranks), rounds_(rounds), random_(seed), all_(ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      all_[rank].ops = schedule_of(algorithm, rank, ranks, count);
      for (auto& area : all_[rank].areas) area.assign(count, -1);
      all_[rank].areas[0].assign(count, 0);
      fill(rank);
    }
  }

  // "" where every rank has the sum after every round.
  std::string run() {
    for (;;) {
      std::vector<uint32_t> able;
      for (uint32_t rank = 0; rank < ranks_; ++rank)
        if (all_[rank].round < rounds_ && can_go_on(rank)) able.push_back(rank);
      if (able.empty()) break;
      go_on(able[random_() % able.size()]);
      if (!problem_.empty()) return problem_;
    }
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      if (all_[rank].round < rounds_) return fmt::format("rank {} waits forever in op {}", rank, all_[rank].next);
    for (const auto& [way, messages] : on_the_way_)
      if (!messages.empty()) return fmt::format("{1} did not receive what {0} sent", way.first, way.second);
    return "";
  }

 private:
  struct Rank {
    std::vector<Op> ops;
    std::array<std::vector<int64_t>, kTreeAreas> areas;
    size_t next = 0;
    uint32_t round = 0;
  };
  struct Sent {
    Area at;
    Span span;
  };
  std::vector<int64_t>& area(uint32_t rank, Area which) { return all_[rank].areas[static_cast<size_t>(which)]; }
  static int64_t value(uint32_t rank, uint32_t round, uint64_t i) {
    return static_cast<int64_t>((i + 1) * 1000003 + (rank + 1ULL) * (rank + 1) * 17 + round * 7919);
  }
  void fill(uint32_t rank) {
    auto& input = area(rank, Area::kInput);
    for (uint64_t i = 0; i < input.size(); ++i) input[i] = value(rank, all_[rank].round, i);
  }
  bool can_go_on(uint32_t rank) {
    const Rank& it = all_[rank];
    if (it.next == it.ops.size()) return true;
    const Op& op = it.ops[it.next];
    return op.act == Act::kSend || !on_the_way_[{op.peer, rank}].empty();
  }
  void go_on(uint32_t rank) {
    Rank& it = all_[rank];
    if (it.next == it.ops.size()) return finish(rank);
    const Op& op = it.ops[it.next++];
    if (op.act == Act::kSend) {
      const auto& from = area(rank, op.own);
      auto& to = area(op.peer, op.at);
      for (uint64_t i = op.span.first; i < op.span.first + op.span.count; ++i) to[i] = from[i];
      on_the_way_[{rank, op.peer}].push_back({op.at, op.span});
      return;
    }
    const Sent sent = on_the_way_[{op.peer, rank}].front();
    on_the_way_[{op.peer, rank}].pop_front();
    if (sent.at != op.at || sent.span != op.span)
      problem_ = fmt::format("rank {} takes another part from {} than that one sent", rank, op.peer);
    if (op.act == Act::kStore) return;
    auto& result = area(rank, Area::kResult);
    for (uint64_t i = op.span.first; i < op.span.first + op.span.count; ++i)
      result[i] = area(rank, op.own)[i] + area(rank, op.at)[i];
  }
  void finish(uint32_t rank) {
    Rank& it = all_[rank];
    const auto& result = area(rank, Area::kResult);
    for (uint64_t i = 0; i < result.size(); ++i) {
      int64_t wanted = 0;
      for (uint32_t other = 0; other < ranks_; ++other) wanted += value(other, it.round, i);
      if (result[i] != wanted) problem_ = fmt::format("rank {} has a wrong sum at {} in round {}", rank, i, it.round);
    }
    ++it.round;
    it.next = 0;
    if (it.round < rounds_) fill(rank);
  }

  uint32_t ranks_;
  uint32_t rounds_;
  std::mt19937_64 random_;
  std::vector<Rank> all_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Sent>> on_the_way_;
  std::string problem_;
};

RC_GTEST_PROP(CollectiveSchedule, EveryRankEndsWithTheSum, ()) {
  const auto algorithm = *rc::gen::element(Algorithm::kRing, Algorithm::kTree);
  const auto ranks = *rc::gen::inRange<uint32_t>(2, 13);
  const auto count = *rc::gen::inRange<uint64_t>(1, 40);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  RC_ASSERT(World(algorithm, ranks, count, 3, seed).run() == "");
}

TEST(CollectiveSchedule, ATreeOfSeveralSlices) {
  for (const uint32_t ranks : {2u, 7u}) EXPECT_EQ(World(Algorithm::kTree, ranks, 131072 + 5, 2, ranks).run(), "");
}

TEST(CollectiveSchedule, ARingMovesTheLeast) {
  for (const uint32_t ranks : {2u, 5u, 64u}) {
    uint64_t sent = 0;
    for (const Op& op : schedule_of(Algorithm::kRing, 1, ranks, 64 * 1000 * 5))
      if (op.act == Act::kSend) sent += op.span.count;
    EXPECT_EQ(sent, 2ULL * (ranks - 1) * 64 * 1000 * 5 / ranks);
  }
}

// Who receives knows who sent, in which step of that one's, for each element.
RC_GTEST_PROP(CollectiveSchedule, SourcesAreThoseThatSend, ()) {
  const auto algorithm = *rc::gen::element(Algorithm::kRing, Algorithm::kTree);
  const auto ranks = *rc::gen::inRange<uint32_t>(2, 40);
  const auto rank = *rc::gen::inRange<uint32_t>(0, ranks);
  const auto peers = peers_of(algorithm, rank, ranks);
  for (const Op& op : schedule_of(algorithm, rank, ranks, 1000)) {
    RC_ASSERT(std::ranges::find(peers, op.peer) != peers.end());
    const StepCount steps = steps_of(algorithm, rank, ranks);
    if (op.act == Act::kSend) {
      RC_ASSERT(op.step < steps.sends);
      continue;
    }
    RC_ASSERT(op.step < steps.receives);
    const Source source = source_of(algorithm, rank, ranks, op.step);
    RC_ASSERT(source.rank == op.peer);
    const auto of_peer = schedule_of(algorithm, source.rank, ranks, 1000);
    RC_ASSERT(std::ranges::any_of(of_peer, [&](const Op& sent) {
      return sent.act == Act::kSend && sent.peer == rank && sent.step == source.step && sent.span == op.span &&
             sent.at == op.at;
    }));
  }
}

TEST(CollectiveSchedule, PhasesHaveTheFieldsNames) {
  EXPECT_EQ(phase_of(Algorithm::kRing, 0, 4, 2), "reduce-scatter");
  EXPECT_EQ(phase_of(Algorithm::kRing, 0, 4, 3), "all-gather");
  EXPECT_EQ(phase_of(Algorithm::kTree, 1, 4, 0), "up");
  EXPECT_EQ(phase_of(Algorithm::kTree, 1, 4, 1), "down");
  EXPECT_EQ(phase_of(Algorithm::kTree, 2, 4, 0), "down");
  EXPECT_EQ(peers_of({Algorithm::kRing, Algorithm::kTree}, 0, 2), std::vector<uint32_t>{1});
  EXPECT_EQ(peers_of({Algorithm::kRing, Algorithm::kTree}, 1, 6), (std::vector<uint32_t>{0, 2, 3, 4}));
}

}  // namespace
}  // namespace railbed::perf::collective

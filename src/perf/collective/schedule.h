// SPDX-License-Identifier: Apache-2.0
// Which rank sends which part of an all-reduce to which rank, and when: with a ring, or with a tree.
//
// Why: training waits for its slowest all-reduce, and its libraries use both patterns: a ring moves the least data
// (2(n-1)/n of it over each link) in 2(n-1) steps, a tree needs few steps. Every rank computes its own list of actions,
// in order, and the lists of all ranks match; there is no central scheduler. The destination of data is part of the
// list, so that RDMA can write it there without asking, and no part is overwritten before it was used: what one rank
// may write in the next all-reduce, the other one has used before it sent what that depends on.
//
// Ring: n chunks; in steps 0 to n-2 rank r sends chunk r-s to r+1 and adds what arrives to its own (reduce-scatter), in
// the others complete sums circulate (all-gather). Tree: rank r's parent is (r-1)/2; slices of 512 KiB go up, are added
// on their way, and come down again.
// Threading: pure.
// Failure: none; limits are the messages' (collective_message.h).
// Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::perf::collective {

inline constexpr uint32_t kMaxRanks = 256;
inline constexpr size_t kMaxSteps = 2 * kMaxRanks;
inline constexpr uint64_t kElement_bytes = 4;             // float32
inline constexpr uint64_t kSegment_bytes = 512ULL << 10;  // what is sent at once, and a slice of the tree

enum class Algorithm : uint8_t { kRing, kTree };
inline constexpr std::array<std::string_view, 2> kAlgorithmNames = {"ring", "tree"};
std::string_view name_of(Algorithm algorithm);

// The parts of a rank's memory, each as large as the largest all-reduce. Only a tree's second child needs the last.
enum class Area : uint8_t { kInput, kResult, kLanding, kSecondLanding };
inline constexpr size_t kRingAreas = 3;
inline constexpr size_t kTreeAreas = 4;

// Elements of an area.
struct Span {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t bytes() const { return count * kElement_bytes; }
  friend bool operator==(const Span&, const Span&) = default;
};

enum class Act : uint8_t {
  kSend,    // from `own` into the peer's area `at`
  kReduce,  // what the peer sends into `at`, added to `own`: the result
  kStore,   // what the peer sends into the result
};

struct Op {
  Act act = Act::kSend;
  uint32_t peer = 0;
  uint32_t step = 0;  // of what is sent and of what is received, numbered apart
  Span span;
  Area own = Area::kInput;
  Area at = Area::kResult;
  friend bool operator==(const Op&, const Op&) = default;
};

// What `rank` of `ranks` (at least two) does for an all-reduce of `count` elements, in this order. Parts without an
// element are left out, on both sides.
std::vector<Op> schedule_of(Algorithm algorithm, uint32_t rank, uint32_t ranks, uint64_t count);

// How many steps its sends and receives are reported in.
struct StepCount {
  uint32_t sends = 0;
  uint32_t receives = 0;
  friend bool operator==(const StepCount&, const StepCount&) = default;
};
StepCount steps_of(Algorithm algorithm, uint32_t rank, uint32_t ranks);

// Whom the rank meets, each once, in order.
std::vector<uint32_t> peers_of(Algorithm algorithm, uint32_t rank, uint32_t ranks);
std::vector<uint32_t> peers_of(const std::vector<Algorithm>& algorithms, uint32_t rank, uint32_t ranks);

// From whom the rank receives in a step, and in which of that one's sending steps.
struct Source {
  uint32_t rank = 0;
  uint32_t step = 0;
  friend bool operator==(const Source&, const Source&) = default;
};
Source source_of(Algorithm algorithm, uint32_t rank, uint32_t ranks, uint32_t step);

// "reduce-scatter", "all-gather"; "up", "down".
// Of a ring, then of a tree.
inline constexpr std::array<std::string_view, 4> kPhases = {"reduce-scatter", "all-gather", "up", "down"};
std::string_view phase_of(Algorithm algorithm, uint32_t rank, uint32_t ranks, uint32_t step);

}  // namespace railbed::perf::collective

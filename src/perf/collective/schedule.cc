// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/schedule.h"

#include <algorithm>
#include <optional>

namespace railbed::perf::collective {
namespace {

constexpr uint64_t kSlice = kSegment_bytes / kElement_bytes;

// As even as can be; the first chunks have one more.
Span chunk_of(uint64_t count, uint32_t chunks, uint32_t number) {
  const uint64_t each = count / chunks;
  const uint64_t rest = count % chunks;
  return {.first = each * number + std::min<uint64_t>(rest, number), .count = each + (number < rest ? 1 : 0)};
}

std::vector<Op> ring(uint32_t rank, uint32_t ranks, uint64_t count) {
  const uint32_t next = (rank + 1) % ranks;
  const uint32_t before = (rank + ranks - 1) % ranks;
  std::vector<Op> ops;
  const auto add = [&](Op op, uint32_t chunk) {
    op.span = chunk_of(count, ranks, chunk % ranks);
    if (op.span.count > 0) ops.push_back(op);
  };
  for (uint32_t s = 0; s + 1 < ranks; ++s) {
    const uint32_t sent = rank + ranks - s;
    add({Act::kSend, next, s, {}, s == 0 ? Area::kInput : Area::kResult, Area::kLanding}, sent);
    add({Act::kReduce, before, s, {}, Area::kInput, Area::kLanding}, sent + ranks - 1);
  }
  for (uint32_t s = 0; s + 1 < ranks; ++s) {
    const uint32_t sent = rank + 1 + ranks - s;
    add({Act::kSend, next, ranks - 1 + s, {}, Area::kResult, Area::kResult}, sent);
    add({Act::kStore, before, ranks - 1 + s, {}, Area::kResult, Area::kResult}, sent + ranks - 1);
  }
  return ops;
}

// Of a rank of the tree. Steps: what comes from its first and second child, then from its parent; what goes to the
// parent, then to the children. Those that it has not are not counted.
struct Family {
  std::optional<uint32_t> parent;
  std::vector<uint32_t> children;

  Family(uint32_t rank, uint32_t ranks) {
    if (rank > 0) parent = (rank - 1) / 2;
    for (const uint32_t child : {2 * rank + 1, 2 * rank + 2})
      if (child < ranks) children.push_back(child);
  }
  uint32_t child_count() const { return static_cast<uint32_t>(children.size()); }
  uint32_t down_step(uint32_t child) const { return (parent ? 1 : 0) + child; }
};

Area landing_of(uint32_t rank) {
  return rank % 2 == 1 ? Area::kLanding : Area::kSecondLanding;  // of a child, at its parent
}

std::vector<Op> tree(uint32_t rank, uint32_t ranks, uint64_t count) {
  const Family family(rank, ranks);
  std::vector<Op> ops;
  const auto send_down = [&](Span slice) {
    for (uint32_t i = 0; i < family.child_count(); ++i)
      ops.push_back({Act::kSend, family.children[i], family.down_step(i), slice, Area::kResult, Area::kResult});
  };
  const auto each_slice = [&](const auto& visit) {
    for (uint64_t first = 0; first < count; first += kSlice) visit(Span{first, std::min(kSlice, count - first)});
  };
  each_slice([&](Span slice) {
    for (uint32_t i = 0; i < family.child_count(); ++i)
      ops.push_back({Act::kReduce, family.children[i], i, slice, i == 0 ? Area::kInput : Area::kResult,
                     landing_of(family.children[i])});
    const Area sum = family.children.empty() ? Area::kInput : Area::kResult;
    if (family.parent)
      ops.push_back({Act::kSend, *family.parent, 0, slice, sum, landing_of(rank)});
    else
      send_down(slice);
  });
  if (!family.parent) return ops;
  each_slice([&](Span slice) {
    ops.push_back({Act::kStore, *family.parent, family.child_count(), slice, Area::kResult, Area::kResult});
    send_down(slice);
  });
  return ops;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<size_t>(algorithm)];
}

std::vector<Op> schedule_of(Algorithm algorithm, uint32_t rank, uint32_t ranks, uint64_t count) {
  return algorithm == Algorithm::kRing ? ring(rank, ranks, count) : tree(rank, ranks, count);
}

StepCount steps_of(Algorithm algorithm, uint32_t rank, uint32_t ranks) {
  if (algorithm == Algorithm::kRing) return {.sends = 2 * (ranks - 1), .receives = 2 * (ranks - 1)};
  const Family family(rank, ranks);
  const uint32_t all = family.child_count() + (family.parent ? 1 : 0);
  return {.sends = all, .receives = all};
}

std::vector<uint32_t> peers_of(Algorithm algorithm, uint32_t rank, uint32_t ranks) {
  std::vector<uint32_t> peers;
  if (algorithm == Algorithm::kRing) {
    peers = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
  } else {
    Family family(rank, ranks);
    peers = std::move(family.children);
    if (family.parent) peers.push_back(*family.parent);
  }
  std::ranges::sort(peers);
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

std::vector<uint32_t> peers_of(const std::vector<Algorithm>& algorithms, uint32_t rank, uint32_t ranks) {
  std::vector<uint32_t> all;
  for (const Algorithm algorithm : algorithms) {
    const std::vector<uint32_t> peers = peers_of(algorithm, rank, ranks);
    all.insert(all.end(), peers.begin(), peers.end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Source source_of(Algorithm algorithm, uint32_t rank, uint32_t ranks, uint32_t step) {
  if (algorithm == Algorithm::kRing) return {.rank = (rank + ranks - 1) % ranks, .step = step};
  const Family family(rank, ranks);
  if (step < family.child_count()) return {.rank = family.children[step], .step = 0};
  const Family parents(*family.parent, ranks);
  return {.rank = *family.parent, .step = parents.down_step(rank % 2 == 1 ? 0 : 1)};
}

std::string_view phase_of(Algorithm algorithm, uint32_t rank, uint32_t ranks, uint32_t step) {
  if (algorithm == Algorithm::kRing) return kPhases[step + 1 < ranks ? 0 : 1];
  return kPhases[step < Family(rank, ranks).child_count() ? 2 : 3];
}

}  // namespace railbed::perf::collective

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace railbed::perf::mesh {
namespace {

constexpr size_t kCodes = size_t{std::numeric_limits<uint16_t>::max()} + 1;

// What distinguishes pairs that are healthy and still differ. Unknown leaves are as if all NICs were on one.
enum class Way : uint8_t { kWithinLeaf, kBetweenLeaves };
constexpr size_t kWays = 2;

uint16_t code_of(const PairResult& result, Metric metric, bool as_first) {
  switch (metric) {
    case Metric::kSend:
      return (as_first ? result.forward_mbps : result.reverse_mbps).code();
    case Metric::kReceive:
      return (as_first ? result.reverse_mbps : result.forward_mbps).code();
    case Metric::kLatency:
      return result.p50_ns.code();
    case Metric::kTail:
      return result.p99_ns.code();
  }
  std::unreachable();
}

// The leaves of all hosts' NICs on `rail`; -1 where it is not known.
std::vector<int32_t> leaves_of(const Fabric& fabric, uint32_t rail) {
  std::vector<int32_t> result;
  result.reserve(fabric.endpoints.size());
  for (const Endpoint& endpoint : fabric.endpoints)
    result.push_back(endpoint.ports[rail].leaf ? *endpoint.ports[rail].leaf : -1);
  return result;
}

// Goes over what NICs of one rail have of one metric.
class RailWalk {
 public:
  RailWalk(const MeshResults& results, uint32_t rail, Metric metric)
      : results_(results), rail_(rail), metric_(metric), own_leaves_(leaves_of(results.fabric(), rail)) {}

  // each(host, rail offset, way, code)
  template <typename Each>
  void go(Each each) {
    Round round;
    for (const auto& [number, pairs] : results_.rounds()) {
      results_.schedule().round(number, round);
      const uint32_t rails = results_.fabric().rail_count();
      enter(round.rail_offset);
      side(round, &pairs[rail_ * round.pairs.size()], far_leaves_up_, true, each);
      const uint32_t from = (rail_ + rails - round.rail_offset) % rails;
      side(round, &pairs[from * round.pairs.size()], far_leaves_down_, false, each);
    }
  }

 private:
  // The leaves of the partners, as second and as first hosts.
  void enter(uint32_t offset) {
    if (offset == offset_) return;
    offset_ = offset;
    const uint32_t rails = results_.fabric().rail_count();
    far_leaves_up_ = leaves_of(results_.fabric(), (rail_ + offset) % rails);
    far_leaves_down_ = leaves_of(results_.fabric(), (rail_ + rails - offset) % rails);
  }

  template <typename Each>
  void side(const Round& round, const PairResult* results, const std::vector<int32_t>& far, bool as_first, Each each) {
    for (size_t i = 0; i < round.pairs.size(); ++i) {
      const uint16_t code = code_of(results[i], metric_, as_first);
      if (code == 0 || results[i].went_wrong()) continue;  // outages are counted, not averaged
      const uint32_t host = as_first ? round.pairs[i].first : round.pairs[i].second;
      const uint32_t partner = as_first ? round.pairs[i].second : round.pairs[i].first;
      const Way way = own_leaves_[host] == far[partner] ? Way::kWithinLeaf : Way::kBetweenLeaves;
      each(host, round.rail_offset, way, code);
    }
  }

  const MeshResults& results_;
  uint32_t rail_;
  Metric metric_;
  uint32_t offset_ = UINT32_MAX;
  std::vector<int32_t> own_leaves_;
  std::vector<int32_t> far_leaves_up_;
  std::vector<int32_t> far_leaves_down_;
};

// What healthy pairs of a rail offset and a way have: the quartile on the good side, which a quarter of bad pairs on
// one way only does not move; medians would take a slow leaf's share of the pairs between leaves (half of them, with
// four leaves) for what is usual.
class Yardsticks {
 public:
  Yardsticks(RailWalk& walk, uint32_t rails, Metric metric) : moves_(size_t{rails} * kWays, 0) {
    std::vector<uint32_t> counts(moves_.size() * kCodes);
    walk.go([&](uint32_t, uint32_t offset, Way way, uint16_t code) { ++counts[index(offset, way) * kCodes + code]; });
    int base = 0;
    for (size_t i = moves_.size(); i-- > 0;) {
      const int good = good_quartile({counts.data() + i * kCodes, kCodes}, metric);
      if (good == 0) continue;
      if (base == 0 || i == index(0, Way::kBetweenLeaves)) base = good;
      moves_[i] = good;
    }
    for (int& move : moves_)
      if (move != 0) move = base - move;
  }

  uint16_t adjusted(uint32_t offset, Way way, uint16_t code) const {
    return static_cast<uint16_t>(std::clamp<int>(code + moves_[index(offset, way)], 1, kCodes - 1));
  }

 private:
  static size_t index(uint32_t offset, Way way) { return offset * kWays + static_cast<size_t>(way); }

  static int good_quartile(std::span<const uint32_t> counts, Metric metric) {
    uint64_t all = 0;
    for (const uint32_t count : counts) all += count;
    if (all == 0) return 0;
    const uint64_t rank = is_bandwidth(metric) ? all - 1 - all / 4 : all / 4;
    uint64_t seen = 0;
    for (size_t code = 0; code < counts.size(); ++code)
      if ((seen += counts[code]) > rank) return static_cast<int>(code);
    return 0;
  }

  std::vector<int> moves_;
};

}  // namespace

uint16_t median_code(std::span<uint16_t> codes, Middle middle) {
  const size_t rank = middle == Middle::kLower ? (codes.size() - 1) / 2 : codes.size() / 2;
  if (codes.size() < 256) {
    std::ranges::nth_element(codes, codes.begin() + static_cast<ptrdiff_t>(rank));
    return codes[rank];
  }
  // By the high bytes, then by the low ones among those with the median's high byte.
  std::array<uint32_t, 256> high{};
  for (const uint16_t code : codes) ++high[code >> 8];
  size_t below = 0;
  size_t top = 0;
  while (below + high[top] <= rank) below += high[top++];
  std::array<uint32_t, 256> low{};
  for (const uint16_t code : codes) low[code & 255] += code >> 8 == static_cast<int>(top);
  size_t end = 0;
  while (below + low[end] <= rank) below += low[end++];
  return static_cast<uint16_t>(top << 8 | end);
}

std::vector<std::optional<int>> row_medians(const MeshResults& results, uint32_t rail, Metric metric) {
  const uint32_t hosts = results.fabric().hosts();
  RailWalk walk(results, rail, metric);
  const Yardsticks yardsticks(walk, results.fabric().rail_count(), metric);
  // A NIC has one partner in a round; in a shift two, to one of which it sends.
  const bool shift = results.schedule().spec().pattern == Pattern::kShift;
  const size_t width = results.rounds().size() * (shift ? 2 : 1);
  std::vector<uint32_t> filled(hosts);
  std::vector<uint16_t> rows(width * hosts);
  walk.go([&](uint32_t host, uint32_t offset, Way way, uint16_t code) {
    rows[host * width + filled[host]++] = yardsticks.adjusted(offset, way, code);
  });
  std::vector<std::optional<int>> medians(hosts);
  // Of two partners, one of which is bad, the other is believed.
  const Middle better = is_bandwidth(metric) ? Middle::kUpper : Middle::kLower;
  for (uint32_t host = 0; host < hosts; ++host)
    if (filled[host] != 0) medians[host] = median_code({rows.data() + host * width, filled[host]}, better);
  return medians;
}

void count_pairs(const MeshResults& results, std::vector<NicFigures>& nics) {
  Round round;
  const uint32_t rails = results.fabric().rail_count();
  for (const auto& [number, pairs] : results.rounds()) {
    results.schedule().round(number, round);
    for (uint32_t rail = 0; rail < rails; ++rail) {
      const uint32_t far_rail = results.schedule().partner_rail(rail, round.rail_offset);
      for (size_t i = 0; i < round.pairs.size(); ++i) {
        const PairResult& pair = pairs[rail * round.pairs.size() + i];
        if (pair.state() != PairState::kMeasured && pair.state() != PairState::kFailed) continue;
        for (NicFigures* nic : {&nics[size_t{round.pairs[i].first} * rails + rail],
                                &nics[size_t{round.pairs[i].second} * rails + far_rail]}) {
          ++nic->tried;
          nic->bad += pair.went_wrong();
          nic->failed += pair.state() == PairState::kFailed;
        }
      }
    }
  }
}

}  // namespace railbed::perf::mesh

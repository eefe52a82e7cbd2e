// SPDX-License-Identifier: Apache-2.0
// Which hosts measure with each other, and when: rounds in which every host has one partner and all rails work at once.
//
// Why: a pair that is measured while one of its ends serves another pair measures the sharing of a NIC and not the
// fabric. The circle method (round-robin tournaments) gives all pairs in the fewest rounds in which every host has only
// one partner: N-1 rounds of N/2 pairs; with an odd number of hosts, N rounds in which one host rests.
//   quick  the first `partners` rounds of the circle, hosts shuffled by `seed`: each host has that many partners
//   full   all rounds
//   shift  one round for each shift k: host i sends to host i+k, all at once. Each host sends and receives once. This
//          loads the spines, since it is the permutation that collective rings make
// Rails: in a round with rail offset d, rail r of the first host of a pair is paired with rail r+d of the second
// (modulo the number of rails): 0 stays on the rail, others cross. The offsets of a spec together are all pairs of
// rails, each once.
//
// A round is computed on demand; nothing grows with the number of pairs. The rounds of a spec are the same on every
// machine and in every version: files refer to pairs by number.
// Threading: a value.
// Failure: Code::kInvalid for a spec that no fabric can have, or that exceeds a coordinator's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "perf/mesh/fabric.h"

namespace railbed::perf::mesh {

enum class Pattern : uint8_t { kQuick, kFull, kShift };
enum class RailPairs : uint8_t { kSame, kCross, kAll };
std::string_view name_of(Pattern pattern);  // "quick", "full", "shift"
std::string_view name_of(RailPairs rails);  // "same-rail", "cross-rail", "all rails"

inline constexpr uint32_t kDefaultPartners = 8;
inline constexpr uint64_t kMaxPairs = uint64_t{1} << 30;  // of NICs: their results take 11 GB

struct ScheduleSpec {
  Pattern pattern = Pattern::kFull;
  RailPairs rails = RailPairs::kSame;
  uint32_t hosts = 0;
  uint32_t rail_count = 0;
  uint32_t partners = kDefaultPartners;  // quick; more than there are counts as all
  uint64_t seed = 1;                     // quick
  std::vector<uint32_t> shifts;          // shift: 1 to hosts-1 each, no two alike; empty: 1, 2, 4, …
  friend bool operator==(const ScheduleSpec&, const ScheduleSpec&) = default;
};

// Two hosts, by number. In a shift, `first` sends to `second`; otherwise both directions are measured.
struct HostPair {
  uint32_t first = 0;
  uint32_t second = 0;
  friend auto operator<=>(const HostPair&, const HostPair&) = default;
};

struct Round {
  std::vector<HostPair> pairs;
  std::optional<uint32_t> resting;  // the host without a partner in this round
  uint32_t rail_offset = 0;
};

class Schedule {
 public:
  static Result<Schedule> make(ScheduleSpec spec);

  const ScheduleSpec& spec() const { return spec_; }
  uint32_t rounds() const { return host_rounds_ * static_cast<uint32_t>(rail_offsets_.size()); }
  uint32_t pairs_per_round() const { return spec_.pattern == Pattern::kShift ? spec_.hosts : spec_.hosts / 2; }
  uint32_t rail_offset(uint32_t round) const { return rail_offsets_[round / host_rounds_]; }
  // `round` is below rounds(). The second form reuses the memory of `into`.
  Round round(uint32_t round) const;
  void round(uint32_t round, Round& into) const;
  // The rail of the second host of a pair when the first one's is `rail`.
  uint32_t partner_rail(uint32_t rail, uint32_t rail_offset) const { return (rail + rail_offset) % spec_.rail_count; }

 private:
  Schedule() = default;

  ScheduleSpec spec_;
  uint32_t host_rounds_ = 0;            // for each rail offset
  std::vector<uint32_t> rail_offsets_;  // one after the other, each with all of its host rounds
  std::vector<uint32_t> order_;         // quick: the hosts, shuffled
};

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/schedule.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace railbed::perf::mesh {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014). Not <random>: its distributions differ between standard libraries, and a file's
// pairs are found again by the seed.
class Shuffler {
 public:
  explicit Shuffler(uint64_t seed) : state_(seed) {}

  std::vector<uint32_t> order(uint32_t count) {
    std::vector<uint32_t> result(count);
    std::iota(result.begin(), result.end(), 0);
    for (uint32_t left = count; left > 1; --left) std::swap(result[left - 1], result[next() % left]);
    return result;
  }

 private:
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

// The rounds of the circle: the last of an even number of seats stays, the others move on by one seat each round. With
// an odd number of hosts, no host sits on the last seat, and who is opposite of it rests.
void circle_round(uint32_t hosts, uint32_t round, Round& into) {
  const uint32_t moving = hosts % 2 == 0 ? hosts - 1 : hosts;
  if (hosts % 2 == 0)
    into.pairs.push_back({hosts - 1, round});
  else
    into.resting = round;
  uint32_t up = round;
  uint32_t down = round;
  for (uint32_t i = 1; i <= (moving - 1) / 2; ++i) {
    up = up + 1 == moving ? 0 : up + 1;
    down = down == 0 ? moving - 1 : down - 1;
    into.pairs.push_back({up, down});
  }
}

uint32_t circle_rounds(uint32_t hosts) {
  return hosts % 2 == 0 ? hosts - 1 : hosts;
}

std::vector<uint32_t> offsets_of(RailPairs rails, uint32_t rail_count) {
  std::vector<uint32_t> offsets(rail_count);
  std::iota(offsets.begin(), offsets.end(), 0);
  if (rails == RailPairs::kSame) offsets.resize(1);
  if (rails == RailPairs::kCross) offsets.erase(offsets.begin());
  return offsets;
}

Result<void> check_shifts(const ScheduleSpec& spec) {
  std::set<uint32_t> seen;
  for (const uint32_t shift : spec.shifts) {
    if (shift == 0 || shift >= spec.hosts)
      return fail(Code::kInvalid, "a shift of {} among {} hosts: 1 to {} are possible", shift, spec.hosts,
                  spec.hosts - 1);
    if (!seen.insert(shift).second) return fail(Code::kInvalid, "duplicate shift {}", shift);
  }
  return {};
}

}  // namespace

std::string_view name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::kQuick:
      return "quick";
    case Pattern::kFull:
      return "full";
    case Pattern::kShift:
      return "shift";
  }
  std::unreachable();
}

std::string_view name_of(RailPairs rails) {
  switch (rails) {
    case RailPairs::kSame:
      return "same-rail";
    case RailPairs::kCross:
      return "cross-rail";
    case RailPairs::kAll:
      return "all rails";
  }
  std::unreachable();
}

Result<Schedule> Schedule::make(ScheduleSpec spec) {
  if (spec.hosts < 2 || spec.hosts > kMaxHosts)
    return fail(Code::kInvalid, "a schedule needs 2 to {} hosts, not {}", kMaxHosts, spec.hosts);
  if (spec.rail_count == 0 || spec.rail_count > kMaxRails)
    return fail(Code::kInvalid, "a schedule needs 1 to {} rails, not {}", kMaxRails, spec.rail_count);
  if (spec.rails == RailPairs::kCross && spec.rail_count == 1)
    return fail(Code::kInvalid, "cross-rail pairs need 2 rails, and the mesh has one");
  if (spec.pattern == Pattern::kQuick && spec.partners == 0)
    return fail(Code::kInvalid, "a quick mesh needs at least 1 partner for each host");
  TRY(check_shifts(spec));

  Schedule schedule;
  schedule.rail_offsets_ = offsets_of(spec.rails, spec.rail_count);
  schedule.host_rounds_ = circle_rounds(spec.hosts);
  if (spec.pattern == Pattern::kQuick) {
    schedule.host_rounds_ = std::min(spec.partners, schedule.host_rounds_);
    schedule.order_ = Shuffler(spec.seed).order(spec.hosts);
  }
  if (spec.pattern == Pattern::kShift) {
    if (spec.shifts.empty())
      for (uint32_t shift = 1; shift < spec.hosts; shift *= 2) spec.shifts.push_back(shift);
    schedule.host_rounds_ = static_cast<uint32_t>(spec.shifts.size());
  }
  schedule.spec_ = std::move(spec);
  const uint64_t pairs = uint64_t{schedule.rounds()} * schedule.pairs_per_round() * schedule.spec_.rail_count;
  if (pairs > kMaxPairs)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("{} hosts with {} rails are {} pairs of NICs in this mesh; {} is the limit",
                                     schedule.spec_.hosts, schedule.spec_.rail_count, pairs, kMaxPairs),
              .hint = "a quick mesh, or one of the same rail, has fewer"});
  return schedule;
}

Round Schedule::round(uint32_t round) const {
  Round result;
  this->round(round, result);
  return result;
}

void Schedule::round(uint32_t round, Round& into) const {
  into.pairs.clear();
  into.resting.reset();
  into.rail_offset = rail_offset(round);
  const uint32_t host_round = round % host_rounds_;
  if (spec_.pattern == Pattern::kShift) {
    const uint32_t shift = spec_.shifts[host_round];
    for (uint32_t host = 0; host < spec_.hosts; ++host) into.pairs.push_back({host, (host + shift) % spec_.hosts});
    return;
  }
  circle_round(spec_.hosts, host_round, into);
  if (order_.empty()) return;
  for (HostPair& pair : into.pairs) pair = {order_[pair.first], order_[pair.second]};
  if (into.resting) into.resting = order_[*into.resting];
}

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/results.h"

#include <algorithm>
#include <utility>

namespace railbed::perf::mesh {

Result<MeshResults> MeshResults::make(Fabric fabric, Schedule schedule) {
  TRY(validate(fabric));
  if (schedule.spec().hosts != fabric.hosts() || schedule.spec().rail_count != fabric.rail_count())
    return fail(Code::kInvalid, "the schedule is for {} hosts with {} rails, the fabric has {} with {}",
                schedule.spec().hosts, schedule.spec().rail_count, fabric.hosts(), fabric.rail_count());
  return MeshResults(std::move(fabric), std::move(schedule));
}

void MeshResults::put(Slot slot, const PairResult& result) {
  if (slot.round >= schedule_.rounds() || slot.pair >= schedule_.pairs_per_round() || slot.rail >= fabric_.rail_count())
    return;
  auto& round = rounds_[slot.round];
  if (round.empty()) round.resize(results_per_round());
  round[size_t{slot.rail} * schedule_.pairs_per_round() + slot.pair] = result;
}

PairResult MeshResults::at(Slot slot) const {
  const auto round = rounds_.find(slot.round);
  if (round == rounds_.end() || slot.pair >= schedule_.pairs_per_round() || slot.rail >= fabric_.rail_count())
    return {};
  return round->second[size_t{slot.rail} * schedule_.pairs_per_round() + slot.pair];
}

void MeshResults::lose(LostHost lost) {
  if (lost.host >= fabric_.hosts() || std::ranges::find(lost_, lost.host, &LostHost::host) != lost_.end()) return;
  if (lost.reason.size() > kMaxReasonBytes) lost.reason.resize(kMaxReasonBytes);
  lost_.push_back(std::move(lost));
}

void MeshResults::put_round(uint32_t round, std::vector<PairResult> results) {
  if (round < schedule_.rounds() && results.size() == results_per_round()) rounds_[round] = std::move(results);
}

bool MeshResults::planned(const HostPair& pair, uint32_t rail, uint32_t rail_offset) const {
  return fabric_.has({pair.first, rail}) && fabric_.has({pair.second, schedule_.partner_rail(rail, rail_offset)});
}

Coverage MeshResults::coverage() const {
  std::vector<uint32_t> lost_from(fabric_.hosts(), UINT32_MAX);
  for (const LostHost& lost : lost_) lost_from[lost.host] = lost.round;
  Coverage result;
  Round round;
  for (uint32_t number = 0; number < schedule_.rounds(); ++number) {
    schedule_.round(number, round);
    const auto found = rounds_.find(number);
    for (uint32_t rail = 0; rail < fabric_.rail_count(); ++rail)
      for (size_t pair = 0; pair < round.pairs.size(); ++pair) {
        const HostPair& hosts = round.pairs[pair];
        if (!planned(hosts, rail, round.rail_offset)) continue;
        ++result.planned;
        PairState state = PairState::kNotRun;
        if (found != rounds_.end()) state = found->second[rail * round.pairs.size() + pair].state();
        if (state == PairState::kNotRun && number >= std::min(lost_from[hosts.first], lost_from[hosts.second]))
          state = PairState::kSkipped;
        switch (state) {
          case PairState::kNotRun:
            ++result.not_run;
            break;
          case PairState::kMeasured:
            ++result.measured;
            break;
          case PairState::kFailed:
            ++result.failed;
            break;
          case PairState::kSkipped:
            ++result.skipped;
            break;
        }
      }
  }
  return result;
}

}  // namespace railbed::perf::mesh

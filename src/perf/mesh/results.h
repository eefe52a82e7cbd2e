// SPDX-License-Identifier: Apache-2.0
// All results of a mesh so far: ten bytes for each pair of NICs of the rounds that were started.
//
// Why: a coordinator runs rounds and stores the results, in any order; analysis, file and report read them. A round
// takes memory when its first result arrives.
// Threading: one thread per instance while it is filled; afterwards any number may read.
// Failure: Code::kInvalid if fabric and schedule do not match.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "perf/mesh/fabric.h"
#include "perf/mesh/pair_result.h"
#include "perf/mesh/schedule.h"

namespace railbed::perf::mesh {

// Which measurement: the pair'th of a round, from the rail `rail` of its first host.
struct Slot {
  uint32_t round = 0;
  uint32_t pair = 0;
  uint32_t rail = 0;
};

// A host that went away while the mesh ran.
struct LostHost {
  uint32_t host = 0;
  uint32_t round = 0;  // the first that it missed
  std::string reason;
  friend bool operator==(const LostHost&, const LostHost&) = default;
};
inline constexpr size_t kMaxReasonBytes = 512;

struct Coverage {
  uint64_t planned = 0;  // without pairs of which an end has no NIC on the rail
  uint64_t measured = 0;
  uint64_t failed = 0;
  uint64_t skipped = 0;
  uint64_t not_run = 0;
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

class MeshResults {
 public:
  static Result<MeshResults> make(Fabric fabric, Schedule schedule);

  const Fabric& fabric() const { return fabric_; }
  const Schedule& schedule() const { return schedule_; }

  // A slot that the schedule does not have is a defect of the caller and is ignored.
  void put(Slot slot, const PairResult& result);
  PairResult at(Slot slot) const;
  // From `lost.round` on, the host's pairs count as skipped. The first loss of a host counts. The reason is cut to
  // kMaxReasonBytes.
  void lose(LostHost lost);
  const std::vector<LostHost>& lost() const { return lost_; }

  // The pairs of a round that were begun, rail after rail: pairs_per_round() results from `rail` * pairs_per_round().
  const std::map<uint32_t, std::vector<PairResult>>& rounds() const { return rounds_; }
  // Takes the place of what the round had. `results` has pairs_per_round() * rails elements.
  void put_round(uint32_t round, std::vector<PairResult> results);

  Coverage coverage() const;
  // Whether the pair is to be measured at all: both ends have their NICs.
  bool planned(const HostPair& pair, uint32_t rail, uint32_t rail_offset) const;

 private:
  MeshResults(Fabric fabric, Schedule schedule) : fabric_(std::move(fabric)), schedule_(std::move(schedule)) {}
  size_t results_per_round() const { return size_t{schedule_.pairs_per_round()} * fabric_.rail_count(); }

  Fabric fabric_;
  Schedule schedule_;
  std::map<uint32_t, std::vector<PairResult>> rounds_;
  std::vector<LostHost> lost_;
};

}  // namespace railbed::perf::mesh

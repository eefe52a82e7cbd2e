// SPDX-License-Identifier: Apache-2.0
// Runs all-reduces over many ranks, and reports their speed, wrong sums, and slow ranks.
//
// Why: training is stalled while its all-reduce runs, and that is as slow as its slowest rank or link. Ranks are
// `railbed perf serve` processes, contacted like those of a mesh; this side exchanges their addresses, starts them
// together, and merges their results. An all-reduce needs every rank: a rank that dies, stalls or sends invalid
// messages ends the run, with the reason and its name; earlier results are kept, and the other ranks are released
// immediately.
// Threading: one thread.
// Failure: if nothing could be measured, with the reason of each rank; `ended_by` reports later failures.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "perf/collective/straggler.h"
#include "perf/mesh/coordinator.h"

namespace railbed::perf::collective {

struct CollectiveRun;

struct CollectiveOptions {
  std::vector<Algorithm> algorithms = {Algorithm::kRing, Algorithm::kTree};
  std::vector<uint64_t> sizes_bytes;
  uint32_t iterations = 20;
  uint32_t warm_up = 5;
  std::chrono::milliseconds longest{10 * 60'000};  // for one size
  std::string label;                               // in reports
  std::string command;                             // as typed by the user
  // After each size, with what there is by then, so that no more than a size is lost; a failure ends the collective.
  std::function<Result<void>(const CollectiveRun& so_far)> on_size;
  mesh::FleetOptions fleet;
};

// Wrong data, at a rank.
struct WrongAt {
  uint32_t rank = 0;
  uint32_t rail = 0;
  Wrong wrong;
};

// One size by one algorithm, on one rail.
struct RailResult {
  uint32_t rail = 0;
  double time_us = 0;  // of an all-reduce, the mean over iterations and ranks
  double algbw_gbytes_per_s = 0;
  double busbw_gbytes_per_s = 0;
  std::vector<RankFigures> ranks;
  std::vector<StepFigures> steps;
  std::optional<Straggler> straggler;
};
struct SizeResult {
  Algorithm algorithm = Algorithm::kRing;
  uint64_t size_bytes = 0;
  std::vector<RailResult> rails;
  std::vector<WrongAt> wrong;
  double algbw_gbytes_per_s() const;  // of all rails together
  double busbw_gbytes_per_s() const;
  double time_us() const;  // of the slowest rail
};

struct CollectiveRun {
  std::string version;             // of the railbed that measured
  std::string started_at;          // UTC, ISO 8601
  std::string command;             // as typed by the user
  std::string label;               // what it is called in reports
  std::vector<std::string> ranks;  // names
  std::vector<std::string> rails;
  Transport transport = Transport::kRdma;
  uint32_t iterations = 0;
  uint32_t warm_up = 0;
  bool soft = false;  // software RDMA: its figures say nothing about a fabric
  std::vector<SizeResult> results;
  std::string ended_by;  // why results are missing; "": none is
  bool is_right() const;
};

Result<CollectiveRun> run_collective(const mesh::MeshSetup& setup, CollectiveOptions options);

}  // namespace railbed::perf::collective

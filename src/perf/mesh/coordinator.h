// SPDX-License-Identifier: Apache-2.0
// Runs a mesh: connects to its endpoints, tests each NIC separately, measures round by round, and re-checks the
// suspects.
//
// Why: schedule, analysis and file are pure; this makes endpoints measure and stores their answers. A round is two or
// three steps, each of which all endpoints start together: latency of all pairs, then bandwidth of the first to the
// second hosts, then back. An endpoint that disconnects is skipped from then on, with the reason, and its partners
// continue. Results are passed to `keep` round by round, as the pieces of a mesh file (mesh_file.h).
//
// Threading: one thread.
// Failure: if nothing can be measured (endpoints that do not answer, an impossible schedule), with the reason of each
// endpoint; a stop, or a `keep` that fails, later than that ends the mesh early, and `ended_by` reports it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "perf/mesh/fleet.h"
#include "perf/mesh/outliers.h"
#include "perf/mesh/results.h"

namespace railbed::perf::mesh {

// Who takes part: by files or by a command line (mesh_setup.h).
struct MeshSetup {
  Fabric fabric;
  std::vector<HostAddress> hosts;  // in the fabric's order
  friend bool operator==(const MeshSetup&, const MeshSetup&) = default;
};

enum class LoopBack : uint8_t { kTried, kNotTried };

struct MeshOptions {
  ScheduleSpec schedule;  // without hosts and rails, which the setup has
  TestSpec latency;
  TestSpec bandwidth;
  Limits analysis;
  FleetOptions fleet;
  LoopBack loop_back = LoopBack::kTried;
  std::function<Result<void>(std::string_view bytes)> keep;
};

// A NIC measured over itself, before it meets others.
struct Canary {
  Nic nic;
  std::string problem;  // "": measured
  double gbps = 0;
  double p50_us = 0;
};
struct SkippedNic {
  Nic nic;
  std::string reason;
};
struct FailedPair {
  uint32_t round = 0;
  Nic from;
  Nic to;
  std::string problem;
};
inline constexpr size_t kMostFailedPairs = 50;  // that are kept with their problems

struct MeshRun {
  MeshResults results;
  Analysis analysis;
  std::vector<Outlier> outliers;          // the largest first
  std::vector<Nic> without_partner = {};  // suspects that could not be measured again
  std::vector<Canary> canaries = {};
  std::vector<SkippedNic> skipped = {};
  std::vector<FailedPair> failed = {};
  std::vector<double> carries_gbps = {};  // per rail, what its slowest link can carry; 0: not known
  bool soft = false;                      // software RDMA: its figures say nothing about a fabric
  std::string ended_by = {};              // why rounds are missing; "": none is
};

Result<MeshRun> run_mesh(MeshSetup setup, MeshOptions options);

// What results say by themselves, without a second pass.
MeshRun analysed(MeshResults results, const Limits& limits);

}  // namespace railbed::perf::mesh

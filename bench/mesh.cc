// SPDX-License-Identifier: Apache-2.0
// A mesh that is simulated: what it costs at the largest size, and how often the outliers found are right.
//   bench_mesh scale HOSTS RAILS     seconds of schedule and analysis (of the processor, and by the clock), peak memory
//   bench_mesh faults TRIALS PATTERN precision and recall, with the confusion matrix; PATTERN: full, quick
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <sys/resource.h>

#include "perf/mesh/outlier_lines.h"
#include "perf/mesh/test_mesh.h"

using namespace railbed::perf::mesh;  // NOLINT

namespace {

// Whether the same thing is accused.
bool same_subject(const Outlier& one, const Outlier& other) {
  return one.scope == other.scope && one.nic == other.nic && one.leaf == other.leaf;
}

// Of all threads: on a busy machine the clock says how busy it is.
double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A healthy mesh with one slow NIC. The noise comes from a table: the figure is the analysis, not the dice.
void fill(MeshResults& results, Nic slow) {
  Dice dice(7);
  std::vector<uint16_t> noise;
  for (int i = 0; i < 4096; ++i) noise.push_back(static_cast<uint16_t>(1000 + std::lround(29 * dice.normal())));
  const int mbps = LogValue::of(391000).code() - 1000;
  const int ns = LogValue::of(2000).code() - 1000;
  uint32_t state = 1;
  const auto jitter = [&] { return noise[(state = state * 1664525 + 1013904223) >> 20]; };
  Round round;
  for (uint32_t number = 0; number < results.schedule().rounds(); ++number) {
    results.schedule().round(number, round);
    std::vector<PairResult> pairs(round.pairs.size() * results.fabric().rail_count());
    for (size_t i = 0; i < pairs.size(); ++i) {
      const HostPair& hosts = round.pairs[i % round.pairs.size()];
      const bool is_slow =
          i / round.pairs.size() == slow.rail && (hosts.first == slow.host || hosts.second == slow.host);
      const int loss = is_slow ? LogValue::kStepsPerOctave / 4 : 0;
      pairs[i] = {.forward_mbps = LogValue(static_cast<uint16_t>(mbps + jitter() - loss)),
                  .reverse_mbps = LogValue(static_cast<uint16_t>(mbps + jitter() - loss)),
                  .p50_ns = LogValue(static_cast<uint16_t>(ns + jitter())),
                  .p99_ns = LogValue(static_cast<uint16_t>(ns + jitter() + 1000))};
      pairs[i].set(PairState::kMeasured, 4000);
    }
    results.put_round(number, std::move(pairs));
  }
}

int scale(uint32_t hosts, uint32_t rails) {
  const Nic slow{hosts / 3, rails / 2};
  double cpu_began = cpu_s();
  const auto schedule = Schedule::make({.hosts = hosts, .rail_count = rails});
  if (!schedule) return 1;
  uint64_t pairs = 0;
  Round round;
  for (uint32_t number = 0; number < schedule->rounds(); ++number) {
    schedule->round(number, round);
    pairs += round.pairs.size() * rails;
  }
  const double schedule_s = cpu_s() - cpu_began;
  auto results = MeshResults::make(rail_fabric(hosts, rails, 64), *schedule);
  if (!results) return 1;
  fill(*results, slow);
  cpu_began = cpu_s();
  const double began = now_s();
  const Analysis analysis = analyse(*results, {}, std::max(1U, std::thread::hardware_concurrency()));
  const auto outliers = find_outliers(results->fabric(), analysis, {});
  const SecondPass second = plan_second_pass(results->fabric(), analysis, outliers);
  const double analysis_s = cpu_s() - cpu_began;
  const double clock_s = now_s() - began;
  if (outliers.size() != 1 || outliers[0].nic != slow || second.rounds.empty()) {
    std::fprintf(stderr, "the slow NIC is not the verdict\n");
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("pairs {}\nschedule_s {:.3f}\nanalysis_s {:.2f}\nclock_s {:.2f}\npeak_mb {:.0f}\n", pairs, schedule_s,
             analysis_s, clock_s, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
  return 0;
}

enum class Truth : uint8_t { kSlowNic, kSlowHost, kSlowLeaf, kFlapping, kJitter };
constexpr std::array kTruths = {Truth::kSlowNic, Truth::kSlowHost, Truth::kSlowLeaf, Truth::kFlapping, Truth::kJitter};
constexpr const char* kTruthNames[] = {"slow NIC", "slow host", "slow leaf", "flapping", "jitter"};

// What is said of a trial, as a column of the matrix.
enum class Said : uint8_t { kNic, kHost, kLeaf, kRail, kFlapping, kNothing };
constexpr const char* kSaidNames[] = {"NIC", "host", "leaf", "rail", "flapping", "nothing"};

Said said_of(const Outlier& outlier) {
  if (outlier.scope == Scope::kNic && outlier.evidence.front().symptom >= Symptom::kOutages) return Said::kFlapping;
  return static_cast<Said>(outlier.scope);
}

// Slow by 8 to 70 % in what it sends, receives or both, or 1.5 to 4 times the latency.
NicFault slow_fault(Dice& dice) {
  NicFault fault;
  const double factor = dice.between(0.3, 0.92);
  const uint32_t kind = dice.below(4);
  if (kind == 0 || kind == 2) fault.send = factor;
  if (kind == 1 || kind == 2) fault.receive = factor;
  if (kind == 3) fault.latency = dice.between(1.5, 4);
  return fault;
}

// Puts a fault into the mesh and says which outlier would be right.
Outlier plant(SimulatedMesh& mesh, Truth truth, Dice& dice) {
  const Fabric& fabric = mesh.fabric();
  Outlier right{.nic = {dice.below(fabric.hosts()), dice.below(fabric.rail_count())}};
  const NicFault fault = slow_fault(dice);
  switch (truth) {
    case Truth::kSlowNic:
      mesh.nic(right.nic) = fault;
      break;
    case Truth::kFlapping:
      mesh.nic(right.nic).flaps = dice.between(0.1, 0.6);
      break;
    case Truth::kSlowHost:
      right.scope = Scope::kHost;
      right.nic.rail = 0;
      for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) mesh.nic({right.nic.host, rail}) = fault;
      break;
    case Truth::kSlowLeaf:
      right = {.scope = Scope::kLeaf, .leaf = dice.below(static_cast<uint32_t>(fabric.leaves.size()))};
      if (dice.below(2) == 0)  // its uplinks
        mesh.uplinks(right.leaf) = dice.between(0.3, 0.92);
      else
        for (uint32_t host = 0; host < fabric.hosts(); ++host)
          for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail)
            if (fabric.port({host, rail}).leaf == right.leaf) mesh.nic({host, rail}) = fault;
      break;
    case Truth::kJitter:
      break;
  }
  return right;
}

struct Tally {
  std::array<std::array<int, std::size(kSaidNames)>, std::size(kTruthNames)> matrix{};
  int right = 0;
  int wrong = 0;   // outliers on what has no fault
  int missed = 0;  // faults without an outlier
};

void trial(uint64_t seed, Pattern pattern, Tally& tally) {
  Dice dice(seed);
  const Truth truth = kTruths[seed % kTruths.size()];
  SimulatedMesh mesh(rail_fabric(64, 4, 16), dice.next());
  const Outlier right = plant(mesh, truth, dice);
  ScheduleSpec spec = mesh.full();
  spec.pattern = pattern;
  spec.seed = seed;
  const MeshResults results = mesh.run(spec);
  const Analysis analysis = analyse(results, {});
  auto outliers = find_outliers(mesh.fabric(), analysis, {});
  conclude(mesh.fabric(), analysis, mesh.retest(plan_second_pass(mesh.fabric(), analysis, outliers)), outliers);
  std::erase_if(outliers, [](const Outlier& outlier) { return outlier.retest == RetestOutcome::kNotReproduced; });
  auto& row = tally.matrix[static_cast<size_t>(truth)];
  bool found = false;
  for (const Outlier& outlier : outliers) {
    ++row[static_cast<size_t>(said_of(outlier))];
    const bool is_right = truth != Truth::kJitter && same_subject(outlier, right);
    found = found || is_right;
    ++(is_right ? tally.right : tally.wrong);
  }
  if (outliers.empty()) ++row[static_cast<size_t>(Said::kNothing)];
  if (truth != Truth::kJitter && !found) ++tally.missed;
}

int faults(int trials, Pattern pattern) {
  Tally tally;
  for (int i = 0; i < trials; ++i) trial(static_cast<uint64_t>(i) + 1, pattern, tally);
  fmt::print("{:<12}", "fault");
  for (const char* said : kSaidNames) fmt::print("{:>10}", said);
  for (size_t i = 0; i < tally.matrix.size(); ++i) {
    fmt::print("\n{:<12}", kTruthNames[i]);
    for (const int count : tally.matrix[i]) fmt::print("{:>10}", count);
  }
  fmt::print("\nprecision {:.2f}\nrecall {:.2f}\n", 100.0 * tally.right / std::max(1, tally.right + tally.wrong),
             100.0 * tally.right / std::max(1, tally.right + tally.missed));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "scale") == 0)
    return scale(static_cast<uint32_t>(std::atoi(argv[2])), static_cast<uint32_t>(std::atoi(argv[3])));
  if (argc == 4 && std::strcmp(argv[1], "faults") == 0)
    return faults(std::atoi(argv[2]), std::strcmp(argv[3], "quick") == 0 ? Pattern::kQuick : Pattern::kFull);
  return 2;
}

// SPDX-License-Identifier: Apache-2.0
// For tests and the benchmark: a fabric with known faults that answers what a mesh would measure.
//
// The model: 400 Gb/s a NIC, 391 reached; a pair carries what its slowest part does; p50 is 2.0 us within a leaf
// and 3.2 us between leaves, p99 1.5 times that; everything is off by 1 % (standard deviation), p99 by 5 %. An outage
// takes the whole pair down (failed) or half of its bandwidth. Threading: one thread per instance. Failure: none.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "perf/mesh/outliers.h"
#include "perf/mesh/results.h"

namespace railbed::perf::mesh {

// Each rail has a leaf for every `hosts_per_leaf` hosts; 0: leaves are not known.
inline Fabric rail_fabric(uint32_t hosts, uint32_t rails, uint32_t hosts_per_leaf) {
  Fabric fabric;
  for (uint32_t rail = 0; rail < rails; ++rail) fabric.rails.push_back(fmt::format("rail{}", rail));
  const uint32_t per_rail = hosts_per_leaf == 0 ? 0 : (hosts + hosts_per_leaf - 1) / hosts_per_leaf;
  for (uint32_t rail = 0; rail < rails; ++rail)
    for (uint32_t i = 0; i < per_rail; ++i) fabric.leaves.push_back(fmt::format("leaf{}-{}", rail, i));
  for (uint32_t host = 0; host < hosts; ++host) {
    Endpoint& endpoint = fabric.endpoints.emplace_back();
    endpoint.host = fmt::format("host{}", host);
    for (uint32_t rail = 0; rail < rails; ++rail) {
      RailPort& port = endpoint.ports.emplace_back();
      if (per_rail != 0) port.leaf = static_cast<uint16_t>(rail * per_rail + host / hosts_per_leaf);
    }
  }
  return fabric;
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(next() % bound); }
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + share() * (high - low); }
  double normal() { return std::sqrt(-2 * std::log(1 - share())) * std::cos(2 * std::numbers::pi * share()); }

 private:
  uint64_t state_;
};

struct NicFault {
  double send = 1;  // of its bandwidth
  double receive = 1;
  double latency = 1;  // times the usual
  double flaps = 0;    // share of the pairs with an outage
};

class SimulatedMesh {
 public:
  SimulatedMesh(Fabric fabric, uint64_t seed)
      : fabric_(std::move(fabric)),
        nics_(size_t{fabric_.hosts()} * fabric_.rail_count()),
        uplinks_(fabric_.leaves.size(), 1),
        dice_(seed) {}

  const Fabric& fabric() const { return fabric_; }
  NicFault& nic(Nic nic) { return nics_[size_t{nic.host} * fabric_.rail_count() + nic.rail]; }
  double& uplinks(uint32_t leaf) { return uplinks_[leaf]; }  // of the bandwidth between leaves

  PairResult measure(Nic a, Nic b) {
    const NicFault& one = nic(a);
    const NicFault& other = nic(b);
    const bool between = fabric_.same_leaf(a, b) == false;
    double links = 1;
    if (between) links = std::min(uplinks_[*fabric_.port(a).leaf], uplinks_[*fabric_.port(b).leaf]);
    const double us = (between ? 3.2 : 2.0) * std::max(one.latency, other.latency);
    PairMeasurement result{.forward_gbps = 391 * std::min({one.send, other.receive, links}) * noise(0.01),
                           .reverse_gbps = 391 * std::min({other.send, one.receive, links}) * noise(0.01),
                           .p50_us = us * noise(0.01),
                           .p99_us = us * 1.5 * noise(0.05),
                           .samples = 4000};
    if (dice_.share() >= std::max(one.flaps, other.flaps)) return compact(result);
    if (dice_.share() < 0.5) return failed_pair(1);
    result.forward_gbps /= 2;
    result.reverse_gbps /= 2;
    result.outages = 1;
    return compact(result);
  }

  MeshResults run(const ScheduleSpec& spec) {
    MeshResults results = *MeshResults::make(fabric_, *Schedule::make(spec));
    for (uint32_t number = 0; number < results.schedule().rounds(); ++number) {
      const Round round = results.schedule().round(number);
      for (uint32_t rail = 0; rail < fabric_.rail_count(); ++rail)
        for (uint32_t i = 0; i < round.pairs.size(); ++i) {
          const HostPair& pair = round.pairs[i];
          if (!results.planned(pair, rail, round.rail_offset)) continue;
          const uint32_t far_rail = results.schedule().partner_rail(rail, round.rail_offset);
          results.put({number, i, rail}, measure({pair.first, rail}, {pair.second, far_rail}));
        }
    }
    return results;
  }
  ScheduleSpec full() const { return {.hosts = fabric_.hosts(), .rail_count = fabric_.rail_count()}; }

  std::vector<Retest> retest(const SecondPass& plan) {
    std::vector<Retest> results;
    for (const auto& round : plan.rounds)
      for (const RetestPair& pair : round) results.push_back({pair, measure(pair.suspect, pair.partner)});
    return results;
  }

 private:
  double noise(double deviation) { return std::max(0.5, 1 + deviation * dice_.normal()); }

  Fabric fabric_;
  std::vector<NicFault> nics_;
  std::vector<double> uplinks_;
  Dice dice_;
};

}  // namespace railbed::perf::mesh

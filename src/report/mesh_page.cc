// SPDX-License-Identifier: Apache-2.0
#include "report/mesh_page.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "perf/mesh/outlier_lines.h"
#include "perf/mesh/rows.h"

namespace railbed::report {
namespace {

using namespace perf::mesh;

constexpr size_t kMostStragglers = 50;

double gbps_of(int code) {
  return LogValue::value_of(code) / 1e3;
}
double us_of_code(int code) {
  return LogValue::value_of(code) / 1e3;
}
double ratio(int code, int usual) {
  return std::exp2((code - usual) / double{LogValue::kStepsPerOctave});
}

std::optional<double> figure(Metric metric, std::optional<int> code) {
  if (!code) return std::nullopt;
  return is_bandwidth(metric) ? gbps_of(*code) : us_of_code(*code);
}

// Which of its NICs' codes are usual.
class Yardstick {
 public:
  explicit Yardstick(const Analysis& analysis) : analysis_(analysis) {}
  std::optional<double> share(uint32_t rail, Metric metric, LogValue value) const {
    const auto& usual = analysis_.usual_of(rail, metric);
    if (!usual || !value.measured()) return std::nullopt;
    return ratio(value.code(), usual->center);
  }

 private:
  const Analysis& analysis_;
};

uint8_t cell_of(double share) {
  const auto steps = std::ranges::upper_bound(kCellSteps, share) - std::begin(kCellSteps);
  return static_cast<uint8_t>(kCellWorst + steps);
}

// The worse of two; the unknown is shown only where nothing else is.
void put(uint8_t& cell, uint8_t level) {
  if (level != kCellUnknown && (cell == kCellUnknown || level < cell)) cell = level;
}

// Hosts on one leaf stand together, so that a leaf's trouble is a square.
std::vector<uint32_t> order_of(const Fabric& fabric) {
  std::vector<uint32_t> order(fabric.hosts());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t host) {
    const std::vector<RailPort>& ports = fabric.endpoints[host].ports;
    return ports.empty() ? 0 : static_cast<int>(ports[0].leaf.value_or(0));
  });
  return order;
}

void draw_maps(const MeshResults& results, const Analysis& analysis, MeshPage& page) {
  const Fabric& fabric = results.fabric();
  const std::vector<uint32_t> order = order_of(fabric);
  const auto most_side = static_cast<uint32_t>(std::sqrt(kMostCells / std::max(1U, fabric.rail_count())));
  page.hosts_per_cell = (fabric.hosts() + most_side - 1) / std::max(1U, most_side);
  page.hosts_per_cell = std::max(1U, page.hosts_per_cell);
  page.side = (fabric.hosts() + page.hosts_per_cell - 1) / page.hosts_per_cell;
  std::vector<uint32_t> place(fabric.hosts());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i / page.hosts_per_cell;
    page.hosts.push_back(fabric.endpoints[order[i]].host);
  }
  for (const std::string& rail : fabric.rails)
    page.maps.push_back({.rail = rail, .cells = std::vector<uint8_t>(size_t{page.side} * page.side)});
  const Yardstick yardstick(analysis);
  const auto draw = [&](Nic from, Nic to, const PairResult& pair, LogValue value) {
    uint8_t level = kCellUnknown;
    if (const auto share = yardstick.share(from.rail, Metric::kSend, value)) level = cell_of(*share);
    if (pair.went_wrong()) level = kCellFailed;
    put(page.maps[from.rail].cells[size_t{place[from.host]} * page.side + place[to.host]], level);
  };
  const bool one_way = results.schedule().spec().pattern == Pattern::kShift;
  each_pair(results, [&](Nic first, Nic second, const PairResult& pair) {
    draw(first, second, pair, pair.forward_mbps);
    if (!one_way) draw(second, first, pair, pair.reverse_mbps);
  });
}

// How much of what is usual a pair has, by its worst figure; 0 where it failed.
double share_of_usual(const Yardstick& yardstick, Nic first, Nic second, const PairResult& pair) {
  if (pair.state() == PairState::kFailed) return 0;
  double share = 1;
  if (const auto one = yardstick.share(first.rail, Metric::kSend, pair.forward_mbps)) share = std::min(share, *one);
  if (const auto one = yardstick.share(second.rail, Metric::kSend, pair.reverse_mbps)) share = std::min(share, *one);
  if (const auto one = yardstick.share(first.rail, Metric::kLatency, pair.p50_ns)) share = std::min(share, 1 / *one);
  return share;
}

void find_worst(const MeshResults& results, const Analysis& analysis, MeshPage& page) {
  struct Found {
    Nic first, second;
    PairResult pair;
    double share;
  };
  constexpr size_t kRoom = 4096;
  const auto key = [](const Found& one) {
    return std::tuple(!one.pair.went_wrong(), one.share, one.first, one.second);
  };
  std::vector<Found> found;
  const auto keep = [&] {
    std::ranges::sort(found, {}, key);
    if (found.size() > kWorstPairs) found.erase(found.begin() + kWorstPairs, found.end());
  };
  const Yardstick yardstick(analysis);
  each_pair(results, [&](Nic first, Nic second, const PairResult& pair) {
    if (pair.state() != PairState::kMeasured && pair.state() != PairState::kFailed) return;
    found.push_back({first, second, pair, share_of_usual(yardstick, first, second, pair)});
    if (found.size() >= kRoom) keep();
  });
  keep();
  const auto value = [](Metric metric, LogValue one) {
    return figure(metric, one.measured() ? std::optional<int>(one.code()) : std::nullopt);
  };
  for (const Found& one : found)
    page.worst.push_back({.first = name_of(results.fabric(), one.first),
                          .second = name_of(results.fabric(), one.second),
                          .failed = one.pair.state() == PairState::kFailed,
                          .outages = one.pair.outages,
                          .forward_gbps = value(Metric::kSend, one.pair.forward_mbps),
                          .reverse_gbps = value(Metric::kSend, one.pair.reverse_mbps),
                          .p50_us = value(Metric::kLatency, one.pair.p50_ns),
                          .p99_us = value(Metric::kLatency, one.pair.p99_ns),
                          .share = one.share});
}

MeshNicRow nic_row(const Fabric& fabric, const Analysis& analysis, Nic nic) {
  const NicFigures& figures = analysis.of(nic);
  MeshNicRow row{.host = fabric.endpoints[nic.host].host, .rail = fabric.rails[nic.rail]};
  if (const auto leaf = fabric.port(nic).leaf) row.leaf = fabric.leaves[*leaf];
  std::optional<double>* values[] = {&row.send_gbps, &row.receive_gbps, &row.p50_us, &row.p99_us};
  std::optional<double>* shares[] = {&row.send_share, &row.receive_share, &row.p50_share, &row.p99_share};
  for (size_t i = 0; i < kMetrics.size(); ++i) {
    const auto code = figures.of(kMetrics[i]);
    *values[i] = figure(kMetrics[i], code);
    const auto& usual = analysis.usual_of(nic.rail, kMetrics[i]);
    if (code && usual) *shares[i] = ratio(*code, usual->center);
  }
  row.tried = figures.tried;
  row.bad = figures.bad;
  return row;
}

void list_nics(const MeshResults& results, const Analysis& analysis, MeshPage& page) {
  const Fabric& fabric = results.fabric();
  for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) {
    MeshRailRow row{.rail = fabric.rails[rail]};
    std::optional<double>* values[] = {&row.send_gbps, &row.receive_gbps, &row.p50_us, &row.p99_us};
    for (size_t i = 0; i < kMetrics.size(); ++i)
      if (const auto& usual = analysis.usual_of(rail, kMetrics[i])) *values[i] = figure(kMetrics[i], usual->center);
    std::set<uint16_t> leaves;
    for (uint32_t host = 0; host < fabric.hosts(); ++host) {
      const Nic nic{host, rail};
      if (!fabric.has(nic)) continue;
      ++row.nics;
      if (const auto leaf = fabric.port(nic).leaf) leaves.insert(*leaf);
      if (!analysis.of(nic).suspect()) continue;
      ++row.suspects;
      page.stragglers.push_back(nic_row(fabric, analysis, nic));
    }
    row.leaves = static_cast<uint32_t>(leaves.size());
    page.rails.push_back(std::move(row));
  }
  std::ranges::stable_sort(page.stragglers, {}, [](const MeshNicRow& row) {
    const double bandwidth = std::min(row.send_share.value_or(1), row.receive_share.value_or(1));
    const double latency = 1 / std::max(row.p50_share.value_or(1), row.p99_share.value_or(1));
    const double reached = row.tried == 0 ? 1.0 : 1 - static_cast<double>(row.bad) / row.tried;
    return std::min({bandwidth, latency, reached});
  });
  page.all_stragglers = page.stragglers.size();
  if (page.stragglers.size() > kMostStragglers)
    page.stragglers.erase(page.stragglers.begin() + kMostStragglers, page.stragglers.end());
}

}  // namespace

MeshPage mesh_page(const MeshResults& results, const Analysis& analysis, std::vector<std::string> findings,
                   bool clean) {
  MeshPage page{.coverage = coverage_lines(results), .findings = std::move(findings), .clean = clean};
  list_nics(results, analysis, page);
  find_worst(results, analysis, page);
  draw_maps(results, analysis, page);
  return page;
}

}  // namespace railbed::report

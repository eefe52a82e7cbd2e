// SPDX-License-Identifier: Apache-2.0
#include "report/rail_figures.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "perf/yardstick.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;
using perf::LatencyPoint;
using perf::Measurement;

constexpr int64_t kLargeEnough_bytes = 32768;  // smaller messages are bound by their number, not by the link

double best_of(const Measurement& m) {
  return std::ranges::max_element(m.bandwidth, {}, &BandwidthPoint::average_gbps)->average_gbps;
}

void take(PathFigures& path, const Measurement& m) {
  if (!m.bandwidth.empty()) {
    path.repeats_gbps.push_back(best_of(m));
    const auto rank = [](const Measurement& one) { return std::pair(one.bandwidth.size(), -best_of(one)); };
    if (path.bandwidth == nullptr || rank(m) > rank(*path.bandwidth)) {
      path.bandwidth = &m;
      path.best = &*std::ranges::max_element(m.bandwidth, {}, &BandwidthPoint::average_gbps);
    }
  }
  if (!m.latency.empty() && (path.latency == nullptr || m.latency.size() >= path.latency->latency.size())) {
    path.latency = &m;
    path.small = &*std::ranges::min_element(m.latency, {}, &LatencyPoint::size_bytes);
  }
}

// In seconds since 1970; nothing where the file does not say.
std::optional<double> started_s(const Measurement& m) {
  std::tm parts{};
  const char* end = strptime(m.started_at.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::nullopt;
  return static_cast<double>(timegm(&parts)) + (*end == '.' ? std::strtod(end, nullptr) : 0);
}

// When it was measured.
struct Interval {
  double from_s = 0;
  double to_s = 0;
};
std::optional<Interval> interval_of(const Measurement& m) {
  const auto from_s = started_s(m);
  if (!from_s) return std::nullopt;
  double duration_s = 0;
  for (const BandwidthPoint& point : m.bandwidth) duration_s += point.duration_s;
  for (const LatencyPoint& point : m.latency) duration_s += point.duration_s;
  return Interval{.from_s = *from_s, .to_s = *from_s + duration_s};
}

std::string ends_of(const Measurement& m) {
  const auto end = [](const perf::Endpoint& e) {
    return fmt::format("{} {}", e.hostname, e.netdev.empty() ? e.address : e.netdev);
  };
  return fmt::format("{} → {}", end(m.client), end(m.server));
}

// Whether another rail was measured during at least half of the time.
bool beside_others(const Measurement& m, const std::vector<Measurement>& all) {
  const auto mine = interval_of(m);
  if (!mine || mine->to_s <= mine->from_s) return false;
  return std::ranges::any_of(all, [&](const Measurement& other) {
    if (other.label == m.label && ends_of(other) == ends_of(m)) return false;
    const auto theirs = interval_of(other);
    if (!theirs) return false;
    const double shared_s = std::min(mine->to_s, theirs->to_s) - std::max(mine->from_s, theirs->from_s);
    return shared_s >= 0.5 * (mine->to_s - mine->from_s);
  });
}

}  // namespace

std::optional<double> share_of_link(const RailFigures& rail) {
  if (rail.rdma.best == nullptr || rail.yardstick_gbps <= 0 || rail.rdma.best->size_bytes < kLargeEnough_bytes)
    return std::nullopt;
  return rail.rdma.best->average_gbps / rail.yardstick_gbps;
}

std::optional<std::chrono::system_clock::time_point> time_of(const Measurement& measurement) {
  constexpr double kLast_s = 9e9;  // before the clock's last day, in 2262
  const auto from_s = started_s(measurement);
  if (!from_s || !(*from_s >= 0 && *from_s <= kLast_s)) return std::nullopt;
  const auto since = std::chrono::milliseconds(static_cast<int64_t>(*from_s * 1000));
  return std::chrono::system_clock::time_point(since);
}

std::string rail_name(const Measurement& m) {
  return m.label.empty() ? ends_of(m) : m.label;
}

std::vector<RailFigures> rails_of(const std::vector<Measurement>& measurements) {
  std::vector<RailFigures> rails;
  for (const Measurement& m : measurements) {
    const std::string ends = ends_of(m);
    const bool together = beside_others(m, measurements);
    auto rail = std::ranges::find_if(rails, [&](const RailFigures& r) {
      return r.label == m.label && r.ends == ends && r.verb == m.spec.verb && r.together == together;
    });
    if (rail == rails.end()) {
      rails.push_back({.name = rail_name(m),
                       .path = fmt::format("{} → {}", m.client.hostname, m.server.hostname),
                       .label = m.label,
                       .ends = ends,
                       .verb = m.spec.verb,
                       .together = together});
      rail = std::prev(rails.end());
    }
    take(m.spec.transport == perf::Transport::kRdma ? rail->rdma : rail->tcp, m);
    rail->soft = rail->soft || m.soft();
    if (!rail->soft && m.spec.transport == perf::Transport::kRdma && rail->rdma.bandwidth == &m)
      rail->yardstick_gbps = perf::yardstick_gbps(m.client, m.server);
  }
  for (RailFigures& rail : rails) {
    const bool shared = !rail.label.empty() && std::ranges::any_of(rails, [&](const RailFigures& other) {
      return other.label == rail.label && other.ends != rail.ends;
    });
    if (shared) rail.name = fmt::format("{} ({})", rail.label, rail.ends);
    if (rail.verb != perf::RdmaVerb::kWrite) rail.name += fmt::format(" ({})", perf::traits_of(rail.verb).text);
    if (rail.together) rail.name += " (among others)";
  }
  return rails;
}

}  // namespace railbed::report

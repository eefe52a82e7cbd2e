// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/bands.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "doc/text.h"

namespace railbed::perf::mesh {
namespace {

struct Part {
  std::string_view start;
  std::optional<double> Bands::* field;
};
constexpr Part kParts[] = {
    {"bw>=", &Bands::min_bandwidth_gbps}, {"p50<=", &Bands::max_p50_us}, {"p99<=", &Bands::max_p99_us}};

Result<void> parse_part(std::string_view part, Bands& bands) {
  for (const Part& known : kParts) {
    if (!part.starts_with(known.start)) continue;
    const std::string_view digits = part.substr(known.start.size());
    double value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || !std::isfinite(value) || value <= 0)
      break;
    if (bands.*known.field) return fail(Code::kInvalid, "--expect: duplicate {}", known.start);
    bands.*known.field = value;
    return {};
  }
  return fail(Error{.code = Code::kInvalid,
                    .message = fmt::format("--expect: \"{}\" is not a band", doc::printable(part)),
                    .hint = "use e.g. bw>=360,p50<=3.5,p99<=20: Gb/s and microseconds"});
}

std::optional<double> bound_of(Metric metric, const Bands& bands) {
  switch (metric) {
    case Metric::kSend:
    case Metric::kReceive:
      return bands.min_bandwidth_gbps;
    case Metric::kLatency:
      return bands.max_p50_us;
    case Metric::kTail:
      return bands.max_p99_us;
  }
  std::unreachable();
}

std::map<std::string_view, uint32_t> numbers_of(const std::vector<std::string>& names) {
  std::map<std::string_view, uint32_t> numbers;
  for (const std::string& name : names) numbers.emplace(name, static_cast<uint32_t>(numbers.size()));
  return numbers;
}

std::map<std::string_view, uint32_t> hosts_of(const Fabric& fabric) {
  std::map<std::string_view, uint32_t> numbers;
  for (const Endpoint& endpoint : fabric.endpoints)
    numbers.emplace(endpoint.host, static_cast<uint32_t>(numbers.size()));
  return numbers;
}

// What is worse on one rail in one metric.
void compare_rail(const MeshView& now, const MeshView& before, Metric metric, std::pair<uint32_t, uint32_t> rails,
                  const Limits& limits, std::vector<Change>& worse) {
  const auto old_hosts = hosts_of(before.fabric);
  std::vector<int> steps;
  std::vector<std::pair<uint32_t, int>> hosts;  // host now, its level before
  for (uint32_t host = 0; host < now.fabric.hosts(); ++host) {
    const auto old = old_hosts.find(now.fabric.endpoints[host].host);
    if (old == old_hosts.end()) continue;
    const auto is = now.analysis.of({host, rails.first}).of(metric);
    const auto was = before.analysis.of({old->second, rails.second}).of(metric);
    if (!is || !was) continue;
    steps.push_back(worse_by(metric, *is, *was));
    hosts.emplace_back(host, *was);
  }
  if (steps.empty()) return;
  const int threshold = worth_reporting(metric, steps, limits).threshold;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const Nic nic{hosts[i].first, rails.first};
    if (steps[i] > threshold)
      worse.push_back({nic, metric, figure_of(hosts[i].second), figure_of(*now.analysis.of(nic).of(metric))});
  }
}

}  // namespace

Result<Bands> parse_bands(std::string_view text) {
  Bands bands;
  for (;;) {
    const size_t comma = text.find(',');
    TRY(parse_part(text.substr(0, comma), bands));
    if (comma == std::string_view::npos) return bands;
    text.remove_prefix(comma + 1);
  }
}

std::vector<OutOfBand> out_of_bands(const Analysis& analysis, const Bands& bands) {
  std::vector<OutOfBand> found;
  for (size_t i = 0; i < analysis.nics.size(); ++i)
    for (const Metric metric : kMetrics) {
      const auto level = analysis.nics[i].of(metric);
      const auto bound = bound_of(metric, bands);
      if (!level || !bound) continue;
      const double measured = figure_of(*level);
      if (is_bandwidth(metric) ? measured >= *bound : measured <= *bound) continue;
      const Nic nic{static_cast<uint32_t>(i / analysis.rails), static_cast<uint32_t>(i % analysis.rails)};
      found.push_back({nic, metric, measured, *bound});
    }
  return found;
}

Comparison compare(const MeshView& now, const MeshView& before, const Limits& limits) {
  Comparison result;
  const auto old_rails = numbers_of(before.fabric.rails);
  for (uint32_t rail = 0; rail < now.fabric.rail_count(); ++rail) {
    const auto old = old_rails.find(now.fabric.rails[rail]);
    if (old == old_rails.end()) continue;
    for (const Metric metric : kMetrics) compare_rail(now, before, metric, {rail, old->second}, limits, result.worse);
  }
  std::ranges::sort(result.worse, {}, [](const Change& change) { return std::pair(change.nic, change.metric); });
  const auto is = hosts_of(now.fabric);
  const auto was = hosts_of(before.fabric);
  for (const Endpoint& endpoint : now.fabric.endpoints)
    if (!was.contains(endpoint.host)) result.new_hosts.push_back(endpoint.host);
  for (const Endpoint& endpoint : before.fabric.endpoints)
    if (!is.contains(endpoint.host)) result.gone_hosts.push_back(endpoint.host);
  return result;
}

}  // namespace railbed::perf::mesh

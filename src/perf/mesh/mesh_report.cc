// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_report.h"

#include <algorithm>

#include "doc/text.h"
#include "perf/mesh/outlier_lines.h"

namespace railbed::perf::mesh {
namespace {

constexpr size_t kMostUnderTitle = 50;  // under a title

// Under a title, and not all of many; without a title as they are.
void append(std::vector<std::string>& lines, const std::string& title, const std::vector<std::string>& more) {
  if (more.empty()) return;
  if (title.empty()) {
    lines.insert(lines.end(), more.begin(), more.end());
    return;
  }
  lines.push_back(title);
  for (size_t i = 0; i < std::min(more.size(), kMostUnderTitle); ++i) lines.push_back("  " + more[i]);
  if (more.size() > kMostUnderTitle) lines.push_back(fmt::format("  and {} more", more.size() - kMostUnderTitle));
}

// NICs that do worse over themselves than the others of their rail: what is slow there is within the host.
std::vector<std::string> canary_lines(const MeshRun& run, const Limits& limits) {
  const Fabric& fabric = run.results.fabric();
  std::vector<std::string> lines;
  for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) {
    std::vector<int> codes;
    for (const Canary& canary : run.canaries)
      if (canary.nic.rail == rail && canary.gbps > 0) codes.push_back(LogValue::of(canary.gbps * 1000).code());
    if (codes.size() < 3) continue;
    const Usual usual = worth_reporting(Metric::kSend, codes, limits);
    for (const Canary& canary : run.canaries)
      if (canary.nic.rail == rail && canary.gbps > 0 &&
          worse_by(Metric::kSend, LogValue::of(canary.gbps * 1000).code(), usual.center) > usual.threshold)
        lines.push_back(fmt::format("{}: {} Gb/s, the rail's median is {} Gb/s", name_of(fabric, canary.nic),
                                    gbps_text(canary.gbps), gbps_text(figure_of(usual.center))));
  }
  return lines;
}

// How the middle NIC of each rail stands to what the links of the rail can carry.
std::vector<std::string> yardstick_lines(const MeshRun& run) {
  const Fabric& fabric = run.results.fabric();
  std::vector<std::string> lines;
  for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) {
    const auto& usual = run.analysis.usual_of(rail, Metric::kSend);
    const auto& p50 = run.analysis.usual_of(rail, Metric::kLatency);
    if (!usual) continue;
    const double gbps = figure_of(usual->center);
    std::string line = fmt::format("{}: usual are {} Gb/s", doc::printable(fabric.rails[rail]), gbps_text(gbps));
    if (p50) line += fmt::format(" and a round trip of {:.2f} us (p50)", figure_of(p50->center));
    if (!run.soft && rail < run.carries_gbps.size() && run.carries_gbps[rail] > 0)
      line += fmt::format("; its links carry {} Gb/s ({:.0f} %)", gbps_text(run.carries_gbps[rail]),
                          gbps / run.carries_gbps[rail] * 100);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> failed_lines(const MeshRun& run) {
  const Fabric& fabric = run.results.fabric();
  std::vector<std::string> lines;
  for (const FailedPair& pair : run.failed)
    lines.push_back(fmt::format("{} to {}: {}", name_of(fabric, pair.from), name_of(fabric, pair.to), pair.problem));
  return lines;
}

// NICs that took part and of which nothing can be said: pairs with outages are in no median.
std::vector<Nic> without_figures(const MeshRun& run) {
  const Fabric& fabric = run.results.fabric();
  std::vector<Nic> result;
  for (uint32_t host = 0; host < fabric.hosts(); ++host)
    for (uint32_t rail = 0; rail < fabric.rail_count(); ++rail) {
      const Nic nic{host, rail};
      const auto has = [&](Metric metric) { return run.analysis.of(nic).of(metric).has_value(); };
      if (fabric.has(nic) && std::ranges::none_of(kMetrics, has)) result.push_back(nic);
    }
  return result;
}

std::vector<std::string> names_of(const Fabric& fabric, const std::vector<Nic>& nics) {
  std::vector<std::string> lines;
  for (const Nic nic : nics) lines.push_back(name_of(fabric, nic));
  return lines;
}

// What was asked for holds for those that have figures only.
void append_held_against(std::vector<std::string>& lines, const MeshRun& run, const HeldAgainst& against) {
  const Fabric& fabric = run.results.fabric();
  if (against.bands)
    lines.emplace_back(against.out_of_bands.empty() ? "all NICs are within --expect" : "outside --expect:");
  append(lines, "", band_lines(fabric, against.out_of_bands));
  if (against.comparison) {
    lines.emplace_back(against.comparison->worse.empty() ? "no NIC is worse than in the baseline"
                                                         : "worse than in the baseline:");
    append(lines, "", comparison_lines(fabric, *against.comparison));
  }
  if (against.bands || against.comparison)
    append(lines, "unknown, because their pairs failed or had outages:", names_of(fabric, without_figures(run)));
}

}  // namespace

bool is_clean(const MeshRun& run, const HeldAgainst& against) {
  const Coverage coverage = run.results.coverage();
  return run.ended_by.empty() && run.outliers.empty() && run.skipped.empty() && run.results.lost().empty() &&
         coverage.measured == coverage.planned && against.out_of_bands.empty() &&
         (!against.comparison || against.comparison->worse.empty()) &&
         ((!against.bands && !against.comparison) || without_figures(run).empty());
}

std::vector<std::string> report_lines(const MeshRun& run, const HeldAgainst& against, const Limits& limits) {
  const Fabric& fabric = run.results.fabric();
  std::vector<std::string> lines = coverage_lines(run.results);
  if (run.soft) lines.emplace_back("soft RDMA: the figures prove function, not the speed of a fabric");
  if (!run.ended_by.empty()) lines.push_back("incomplete: " + doc::printable(run.ended_by));
  std::vector<std::string> skipped;
  for (const SkippedNic& nic : run.skipped) skipped.push_back(name_of(fabric, nic.nic) + ": " + nic.reason);
  append(lines, "NICs that did not take part:", skipped);
  append(lines, "pairs that failed (the first ones):", failed_lines(run));
  append(lines, "", yardstick_lines(run));
  append(lines, "slow in the loopback test, so within the host:", canary_lines(run, limits));
  lines.emplace_back();
  append(lines, "", outlier_lines(fabric, run.analysis, run.outliers, limits));
  append(lines, "not measured again, because no NIC of their rail is known to be good:",
         names_of(fabric, run.without_partner));
  append_held_against(lines, run, against);
  return lines;
}

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/outlier_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "doc/text.h"

namespace railbed::perf::mesh {
namespace {

constexpr size_t kMostNicLines = 50;  // of NICs out of bands, or worse than before

std::string subject(const Fabric& fabric, const Outlier& outlier) {
  switch (outlier.scope) {
    case Scope::kNic:
      return name_of(fabric, outlier.nic);
    case Scope::kHost:
      return doc::printable(fabric.endpoints[outlier.nic.host].host);
    case Scope::kLeaf:
      return doc::printable(fabric.leaves[outlier.leaf]);
    case Scope::kRail:
      return doc::printable(fabric.rails[outlier.nic.rail]);
  }
  std::unreachable();
}

std::string measured_text(const SymptomFigures& evidence) {
  switch (evidence.symptom) {
    case Symptom::kSlowSend:
    case Symptom::kSlowReceive:
      return fmt::format("{} of {} Gb/s ({:+.0f} %)", gbps_text(evidence.measured), gbps_text(evidence.usual),
                         (evidence.measured / evidence.usual - 1) * 100);
    case Symptom::kSlowLatency:
    case Symptom::kSlowTail:
      return fmt::format("{:.2f} us, the median is {:.2f} us ({:.1f}x)", evidence.measured, evidence.usual,
                         evidence.measured / evidence.usual);
    case Symptom::kOutages:
    case Symptom::kUnreachable:
      return fmt::format("{:.0f} % of its pairs", evidence.measured * 100);
  }
  std::unreachable();
}

std::string retest_text(const Outlier& outlier) {
  const RetestCount& within = outlier.within_leaf;
  const RetestCount& between = outlier.between_leaves;
  std::string counts;
  if (within.pairs > 0) counts = fmt::format("{} of {}", within.bad, within.pairs);
  if (between.pairs > 0)
    counts += fmt::format("{}{} of {} with other leaves", counts.empty() ? "" : ", ", between.bad, between.pairs);
  switch (outlier.retest) {
    case RetestOutcome::kNotRetested:
      return counts.empty() ? "not retested" : "not seen again: " + counts;
    case RetestOutcome::kConfirmed:
      return "confirmed: " + counts;
    case RetestOutcome::kNotReproduced:
      return "not reproduced: " + counts;
  }
  std::unreachable();
}

using Cells = std::array<std::string, 6>;

// In columns that are as wide as their widest cell; no blanks at the end.
std::vector<std::string> aligned(const std::vector<Cells>& rows) {
  std::array<size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::vector<std::string> lines;
  for (const Cells& row : rows) {
    std::string& line = lines.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

std::string_view figure_name(Metric metric) {
  switch (metric) {
    case Metric::kSend:
      return "sends";
    case Metric::kReceive:
      return "receives";
    case Metric::kLatency:
      return "round trip p50";
    case Metric::kTail:
      return "round trip p99";
  }
  std::unreachable();
}

std::string figure_text(Metric metric, double value) {
  return is_bandwidth(metric) ? gbps_text(value) + " Gb/s" : fmt::format("{:.2f} us", value);
}

void shorten(std::vector<std::string>& lines) {
  if (lines.size() <= kMostNicLines) return;
  const size_t more = lines.size() - kMostNicLines;
  lines.resize(kMostNicLines);
  lines.push_back(fmt::format("and {} more", more));
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(names.size(), 8); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", doc::printable(names[i]));
  if (names.size() > 8) text += fmt::format(" and {} more", names.size() - 8);
  return text;
}

}  // namespace

std::string gbps_text(double gbps) {
  return gbps < 10 ? fmt::format("{:.2f}", gbps) : fmt::format("{:.1f}", gbps);
}

std::string name_of(const Fabric& fabric, Nic nic) {
  return fmt::format("{} {}", doc::printable(fabric.endpoints[nic.host].host), doc::printable(fabric.rails[nic.rail]));
}

std::vector<std::string> coverage_lines(const MeshResults& results) {
  const Coverage coverage = results.coverage();
  const ScheduleSpec& spec = results.schedule().spec();
  std::vector<std::string> lines = {fmt::format("{} hosts, {} rail{}, {}, {}: {} of {} pairs of NICs measured",
                                                spec.hosts, spec.rail_count, spec.rail_count == 1 ? "" : "s",
                                                name_of(spec.pattern), name_of(spec.rails), coverage.measured,
                                                coverage.planned)};
  if (coverage.failed + coverage.skipped + coverage.not_run > 0)
    lines.push_back(fmt::format("not measured: {} failed, {} skipped, {} not run", coverage.failed, coverage.skipped,
                                coverage.not_run));
  for (const LostHost& lost : results.lost())
    lines.push_back(fmt::format("lost: {} from round {} on: {}",
                                doc::printable(results.fabric().endpoints[lost.host].host), lost.round,
                                doc::printable(lost.reason)));
  return lines;
}

std::vector<std::string> outlier_lines(const Fabric& fabric, const Analysis& analysis,
                                       const std::vector<Outlier>& outliers, const Limits& limits) {
  const auto measured = std::ranges::count_if(analysis.nics, [](const NicFigures& nic) { return nic.tried > 0; });
  if (measured == 0) return {"no verdict: nothing was measured"};
  if (outliers.empty())
    return {
        fmt::format("no outliers among {} NICs (thresholds: {:.0f} % bandwidth loss, p50 above {:.2f}x and p99 above "
                    "{:.2f}x of the median, outages with {} partners)",
                    measured, limits.min_bandwidth_loss * 100, 1 + limits.min_latency_increase,
                    1 + limits.min_tail_increase, limits.min_bad_pairs)};
  std::vector<Cells> rows = {{"WHAT", "NAME", "SYMPTOM", "MEASURED", "NICS", "RETEST"}};
  for (const Outlier& outlier : outliers) {
    bool first = true;
    for (const SymptomFigures& evidence : outlier.evidence) {
      Cells row = {"",
                   "",
                   std::string(name_of(evidence.symptom)),
                   measured_text(evidence),
                   fmt::format("{} of {}", evidence.nics, evidence.of_nics),
                   ""};
      if (std::exchange(first, false)) {
        row[0] = name_of(outlier.scope);
        row[1] = subject(fabric, outlier);
        row[5] = retest_text(outlier);
      }
      rows.push_back(std::move(row));
    }
  }
  return aligned(rows);
}

std::vector<std::string> band_lines(const Fabric& fabric, const std::vector<OutOfBand>& found) {
  std::vector<std::string> lines;
  for (const OutOfBand& one : found)
    lines.push_back(fmt::format("{}: {} {}, expected are {} {}", name_of(fabric, one.nic), figure_name(one.metric),
                                figure_text(one.metric, one.measured),
                                is_bandwidth(one.metric) ? "at least" : "at most", figure_text(one.metric, one.bound)));
  shorten(lines);
  return lines;
}

std::vector<std::string> comparison_lines(const Fabric& fabric, const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const Change& change : comparison.worse)
    lines.push_back(fmt::format("{}: {} {}, was {}", name_of(fabric, change.nic), figure_name(change.metric),
                                figure_text(change.metric, change.now), figure_text(change.metric, change.before)));
  shorten(lines);
  if (!comparison.new_hosts.empty()) lines.push_back("not in the baseline: " + list(comparison.new_hosts));
  if (!comparison.gone_hosts.empty()) lines.push_back("only in the baseline: " + list(comparison.gone_hosts));
  return lines;
}

}  // namespace railbed::perf::mesh

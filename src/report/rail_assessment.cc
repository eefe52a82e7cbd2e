// SPDX-License-Identifier: Apache-2.0
#include "report/rail_assessment.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "report/html_text.h"
#include "report/rail_findings.h"

namespace railbed::report {
namespace {

using findings::Finding;

bool has_rdma(const RailFigures& rail) {
  return rail.rdma.best != nullptr || rail.rdma.small != nullptr;
}

bool is_rail(const RailFigures& /*rail*/) {
  return true;
}

// How many of them there are; one that was measured alone and beside others has two rows.
size_t count_rails(const std::vector<RailFigures>& rails, bool (*which)(const RailFigures& rail)) {
  std::set<std::pair<std::string, std::string>> counted_rails;
  for (const RailFigures& rail : rails)
    if (which(rail)) counted_rails.emplace(rail.label, rail.ends);
  return counted_rails.size();
}

// A figure of each row that has it.
std::vector<double> figures_of(const std::vector<RailFigures>& rails,
                               std::optional<double> (*figure)(const RailFigures& rail)) {
  std::vector<double> out;
  for (const RailFigures& rail : rails)
    if (const std::optional<double> value = figure(rail)) out.push_back(*value);
  return out;
}

std::optional<double> bandwidth_gbps(const RailFigures& rail) {
  return rail.rdma.best == nullptr ? std::nullopt : std::optional(rail.rdma.best->average_gbps);
}

std::optional<double> percent_of_link(const RailFigures& rail) {
  const std::optional<double> share = share_of_link(rail);
  return share ? std::optional(100 * *share) : std::nullopt;
}

std::optional<double> gain_over_tcp(const RailFigures& rail) {
  if (rail.rdma.best == nullptr || rail.tcp.best == nullptr || rail.tcp.best->average_gbps <= 0) return std::nullopt;
  return rail.rdma.best->average_gbps / rail.tcp.best->average_gbps;
}

std::optional<double> one_way_us(const RailFigures& rail) {
  return rail.rdma.small == nullptr ? std::nullopt : rail.rdma.half_p50_us();
}

std::optional<double> tail_us(const RailFigures& rail) {
  return rail.rdma.small == nullptr ? std::nullopt : rail.rdma.p999_us();
}

std::string percent_text(double percent) {
  return fmt::format("{:.0f} %", percent);
}

// "RDMA works on 2 of 3 rails and carries 390 Gb/s to 391 Gb/s on each, 99 % of what the links can."
std::string headline_of(const std::vector<RailFigures>& rails, size_t count, size_t with_rdma) {
  const std::vector<double> bandwidths = figures_of(rails, bandwidth_gbps);
  const std::vector<double> shares = figures_of(rails, percent_of_link);
  std::string text =
      fmt::format("RDMA works on {}", with_rdma == count ? counted(with_rdma, "rail")
                                                         : fmt::format("{} of {}", with_rdma, counted(count, "rail")));
  if (std::ranges::any_of(rails, &RailFigures::soft)) return text + ", in software.";
  if (bandwidths.empty()) return text + ".";
  text += fmt::format(" and carries {}{}", span_text(bandwidths, gbps_text), bandwidths.size() > 1 ? " on each" : "");
  if (shares.size() == bandwidths.size())
    text += fmt::format(", {} of what {} can", span_text(shares, percent_text),
                        shares.size() > 1 ? "the links" : "the link");
  return text + ".";
}

// The usual figures in words.
std::vector<std::string> notes_of(const std::vector<RailFigures>& rails) {
  const bool soft = std::ranges::any_of(rails, &RailFigures::soft);
  const std::vector<double> bandwidths = figures_of(rails, bandwidth_gbps);
  const std::vector<double> gains = figures_of(rails, gain_over_tcp);
  const std::vector<double> one_way = figures_of(rails, one_way_us);
  const std::vector<double> tails = figures_of(rails, tail_us);
  std::vector<std::string> notes;
  if (soft && !bandwidths.empty()) notes.push_back(fmt::format("Bandwidth: {}.", span_text(bandwidths, gbps_text)));
  if (!soft && !gains.empty())
    notes.push_back(fmt::format("That is {} what TCP reaches on the same path.", span_text(gains, ratio_text)));
  if (!one_way.empty())
    notes.push_back(fmt::format(
        "A small message typically takes {} one way{}.", span_text(one_way, us_text),
        tails.empty() ? "" : fmt::format("; 999 of 1000 round trips end within {}", span_text(tails, us_text))));
  return notes;
}

}  // namespace

Assessment assess(const std::vector<RailFigures>& rails) {
  if (rails.empty()) return {.headline = "Nothing was measured."};
  const size_t count = count_rails(rails, is_rail);
  const size_t with_rdma = count_rails(rails, has_rdma);
  if (with_rdma == 0)
    return {.headline = fmt::format("Plain TCP was measured on {}, RDMA was not.", counted(count, "rail")),
            .found = outages(rails)};
  Assessment out{
      .headline = headline_of(rails, count, with_rdma), .found = objections(rails), .notes = notes_of(rails)};
  std::vector<Finding> limits = limits_of_judgement(rails);
  out.tone = !out.found.empty() || with_rdma < count ? Assessment::Tone::kCaution
             : !limits.empty()                       ? Assessment::Tone::kNone
                                                     : Assessment::Tone::kGood;
  std::ranges::move(limits, std::back_inserter(out.found));
  return out;
}

}  // namespace railbed::report

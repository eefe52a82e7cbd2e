// SPDX-License-Identifier: Apache-2.0
#include "report/measurements_section.h"

#include <algorithm>

#include "report/html_charts.h"
#include "report/html_measurements.h"
#include "report/html_rails.h"
#include "report/html_text.h"
#include "report/rail_assessment.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

constexpr size_t kMostCharted = 16;

std::string drawn_name(const RailFigures& rail) {
  return rail.label.empty() ? rail.ends : rail.label;
}

// All pairs of the rail, alone and beside others.
std::string rail_text(const std::string& rail, const std::vector<RailFigures>& figures) {
  const auto path = [&](std::string_view name, PathFigures RailFigures::* which) {
    std::vector<double> gbps;
    std::vector<double> half_us;
    for (const RailFigures& one : figures) {
      if (drawn_name(one) != rail) continue;
      const PathFigures& p = one.*which;
      if (p.best != nullptr) gbps.push_back(p.best->average_gbps);
      if (p.small != nullptr && p.half_p50_us()) half_us.push_back(*p.half_p50_us());
    }
    std::string text = span_text(gbps, gbps_text);
    if (!half_us.empty()) text += (text.empty() ? "" : ", ") + span_text(half_us, us_text);
    return text.empty() ? text : fmt::format("{} {}", name, text);
  };
  const std::string rdma = path("RDMA", &RailFigures::rdma);
  const std::string tcp = path("TCP", &RailFigures::tcp);
  return rdma + (rdma.empty() || tcp.empty() ? "" : "   ·   ") + tcp;
}

Charts charts_of(const std::vector<RailFigures>& rails) {
  const std::vector<const RailFigures*> charted = worst_rails(rails, kMostCharted);
  Charts out{.html = charts_html(charted), .list = "rails", .data = rails_data(charted)};
  if (charted.size() < rails.size())
    out.note = html("<p class=\"quiet\">Charts are of the {} rails of {} with the most notable results.</p>\n",
                    charted.size(), rails.size());
  return out;
}

}  // namespace

Section measurements_section(const std::vector<perf::Measurement>& measurements) {
  const std::vector<RailFigures> rails = rails_of(measurements);
  Assessment assessment = assess(rails);
  std::string summary = fmt::format("{}\n{}\n", assessment.headline, rail_table(rails).to_text());
  Section out{.count = measurements.size(),
              .assessment = std::move(assessment),
              .figures = rails_html(rails),
              .charts = charts_of(rails),
              .environment = environment_html(measurements),
              .tables = measurements_html(measurements),
              .summary = std::move(summary)};
  for (const perf::Measurement& m : measurements) {
    keep_earlier(out.started_at, m.started_at);
    out.paths.push_back({.label = m.label, .rail = rail_name(m), .client = m.client, .server = m.server});
  }
  for (const RailFigures& rail : rails)
    if (const std::string name = drawn_name(rail); !out.rail_texts.contains(name))
      out.rail_texts.emplace(name, rail_text(name, rails));
  return out;
}

}  // namespace railbed::report

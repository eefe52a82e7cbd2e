// SPDX-License-Identifier: Apache-2.0
#include "report/html_jitter.h"

#include <algorithm>

#include "report/html_text.h"
#include "report/rail_table.h"

namespace railbed::report {
namespace {

using perf::JitterCondition;
using perf::JitterReport;
using perf::PathLoad;

constexpr size_t kMostJitters = 128;

std::string load_text(const JitterCondition& condition, PathLoad load) {
  return load == PathLoad::kLoaded ? "under load, " + gbps_text(condition.load_gbps) : "idle";
}

Html side_by_side_row(const JitterReport& report, const JitterCondition& condition, PathLoad load) {
  Html out = html("<tr><th scope=\"row\">{}{}</th><td>{}</td>", report.name(),
                  report.soft ? markup(" <small>soft RDMA</small>") : Html(), load_text(condition, load));
  for (const std::optional<double>& percentile : condition.whole.percentiles_us)
    out += html("<td>{}</td>", us_or_dash(percentile));
  return out + html("<td>{}</td><td>{}</td></tr>\n", us_text(condition.whole.max_us),
                    load == PathLoad::kLoaded ? load_does(report) : "–");
}

Html jitter_side_by_side(const std::vector<JitterReport>& reports) {
  Html out = objects_head("Rails side by side: round trips of probes, each from its due time",
                          {"Rail", "", "p50", "p90", "p99", "p99.9", "p99.99", "Max", "The load makes it"});
  for (size_t i = 0; i < std::min(reports.size(), kMostJitters); ++i) {
    out += side_by_side_row(reports[i], reports[i].idle, PathLoad::kIdle);
    if (reports[i].loaded) out += side_by_side_row(reports[i], *reports[i].loaded, PathLoad::kLoaded);
  }
  out += objects_end();
  if (reports.size() > kMostJitters)
    out += html("<p class=\"quiet\">and {} more, see the result files</p>\n", reports.size() - kMostJitters);
  return out;
}

Html parts_html(const JitterCondition& condition, PathLoad load) {
  Html out = html("<table class=\"figures\"><thead><tr><th>{}</th><th>Probes</th>", load_text(condition, load));
  for (const perf::ReportedPercentile& one : perf::kReportedPercentiles) out += html("<th>{}</th>", one.name);
  out += markup("<th>Max</th></tr></thead><tbody>\n");
  for (const auto& [name, figures] : condition.parts()) {
    out += html("<tr><td>{}</td><td>{}</td>", name, figures->samples);
    for (const std::optional<double>& percentile : figures->percentiles_us)
      out += html("<td>{}</td>", us_or_dash(percentile));
    out += html("<td>{}</td></tr>\n", us_text(figures->max_us));
  }
  return out + markup("</tbody></table>\n");
}

std::string intervals_text(const JitterCondition& condition) {
  std::string out;
  for (const perf::PercentileFigures& one : condition.percentiles)
    out +=
        fmt::format("{}p{} {} to {}", out.empty() ? "" : ", ", one.percent, us_text(one.low_us), us_text(one.high_us));
  return out;
}

std::string drift_text(const JitterCondition& condition) {
  if (!condition.drift) return "";
  return fmt::format("{:+.3f} ± {:.3f} µs a second{}", condition.drift->us_per_s, condition.drift->error,
                     condition.drift->clear ? "" : ": no significant difference");
}

std::string end_text(const perf::Endpoint& end) {
  std::string text = fmt::format("{} {}", end.hostname, end.address);
  if (!end.netdev.empty()) text += " on " + end.netdev;
  text += fmt::format(", {} port {}", end.device, end.port);
  return end.link.empty() ? text : text + ", link " + end.link;
}

Html condition_html(const JitterReport& report, const JitterCondition& condition, PathLoad load) {
  Html out = parts_html(condition, load) + markup("<dl>");
  out += entry_html(fmt::format("With {:.0f} %", 100 * report.confidence), intervals_text(condition));
  out += entry_html("Drift", drift_text(condition));
  if (condition.rounds_with_short_load > 0)
    out +=
        entry_html("Load", fmt::format("ended before the last probe in {} round(s)", condition.rounds_with_short_load));
  return out + markup("</dl>\n");
}

std::string comparisons_text(const JitterReport& report) {
  std::string out;
  for (const perf::Comparison& one : report.comparisons)
    out += fmt::format("{}{} {} to {} idle, {} to {} under load: {}", out.empty() ? "" : "; ", one.name,
                       us_text(one.idle_low_us), us_text(one.idle_high_us), us_text(one.loaded_low_us),
                       us_text(one.loaded_high_us), name_of(one.effect));
  return out;
}

Html windows_html(const JitterReport& report) {
  if (report.worst.empty()) return {};
  Html out = markup(
      "<table class=\"figures\"><caption>Worst windows</caption><thead><tr><th>At (UTC)</th><th>Length</th><th></th>"
      "<th>p50</th><th>Max</th><th>Probes</th></tr></thead><tbody>\n");
  for (const perf::Window& one : report.worst)
    out += html("<tr><td>{}</td><td>{} ms</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", one.at,
                one.length_ms, name_of(one.load), us_text(one.p50_us), us_text(one.max_us), one.samples);
  return out + markup("</tbody></table>\n");
}

Html details_html(const JitterReport& report) {
  Html out = html("<details><summary><b>{}</b> · jitter · RDMA{} · {} probes a second</summary>\n", report.name(),
                  report.soft ? " (soft)" : "", report.rate_per_s);
  out += condition_html(report, report.idle, PathLoad::kIdle);
  if (report.loaded) out += condition_html(report, *report.loaded, PathLoad::kLoaded);
  out += windows_html(report) + markup("<dl>");
  out += entry_html("Load against idle", comparisons_text(report));
  out += entry_html("Incomplete", report.ended_by);
  out += entry_html("Command", report.command) + entry_html("Started", report.started_at);
  out += entry_html("Client", end_text(report.client)) + entry_html("Server", end_text(report.server));
  out +=
      entry_html("Parts", report.clock == perf::ProbeClock::kDevice
                              ? "sending: the client woke late; between: devices and network; noticing: the answer had "
                                "arrived but the client had not noticed it, by the device's clock"
                              : "sending: the client woke late; between: devices and network, and how late the client "
                                "noticed the answer, which a software clock cannot separate");
  out += entry_html("Rounds", fmt::format("{} of {} s each, reads of {} bytes, railbed {}", report.idle.repeats,
                                          report.duration_s, report.size_bytes, report.version));
  return out + markup("</dl></details>\n");
}

}  // namespace

std::string load_does(const JitterReport& report) {
  std::string out;
  for (const perf::LoadEffect effect :
       {perf::LoadEffect::kHigher, perf::LoadEffect::kLower, perf::LoadEffect::kUnclear}) {
    std::vector<std::string> names;
    for (const perf::Comparison& one : report.comparisons)
      if (one.effect == effect) names.push_back(one.name);
    if (!names.empty())
      out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", name_of(effect), fmt::join(names, ", "));
  }
  return out.empty() ? "not compared: too few rounds" : out;
}

Html jitter_html(const std::vector<JitterReport>& reports) {
  if (reports.empty()) return {};
  Html out = markup("<section class=\"jitter\"><h2>Jitter by a schedule</h2>\n") + jitter_side_by_side(reports);
  for (size_t i = 0; i < std::min(reports.size(), kMostJitters); ++i) out += details_html(reports[i]);
  return out + markup("</section>\n");
}

Section jitter_section(const std::vector<JitterReport>& reports) {
  Section out{.count = reports.size(),
              .figures = jitter_html(reports),
              .terminal = fmt::format("{}\n", jitter_table(reports).to_text())};
  for (const JitterReport& one : reports) keep_earlier(out.started_at, one.started_at);
  return out;
}

}  // namespace railbed::report

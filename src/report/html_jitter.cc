// SPDX-License-Identifier: Apache-2.0
#include "report/html_jitter.h"

#include <algorithm>

#include "perf/jitter/jitter_report.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::PathLoad;

constexpr size_t kMostPages = 128;

std::string load_text(const JitterRounds& rounds, PathLoad load) {
  return load == PathLoad::kLoaded ? "under load, " + gbps_text(rounds.load_gbps) : "idle";
}

std::string side_by_side_row(const JitterPage& page, const JitterRounds& rounds, PathLoad load) {
  const JitterPart& whole = rounds.parts.front();
  std::string out = fmt::format("<tr><th scope=\"row\">{}{}</th><td>{}</td>", escaped(page.name()),
                                page.soft ? " <small>soft RDMA</small>" : "", escaped(load_text(rounds, load)));
  for (const std::optional<double>& percentile : whole.percentiles_us)
    out += fmt::format("<td>{}</td>", us_or_dash(percentile));
  return out + fmt::format("<td>{}</td><td>{}</td></tr>\n", us_text(whole.max_us),
                           load == PathLoad::kLoaded ? escaped(load_does(page)) : std::string("–"));
}

std::string pages_side_by_side(const std::vector<JitterPage>& pages) {
  std::string out = objects_head("Rails side by side: round trips of probes, each from its due time",
                                 {"Rail", "", "p50", "p90", "p99", "p99.9", "p99.99", "Max", "The load makes it"});
  for (size_t i = 0; i < std::min(pages.size(), kMostPages); ++i) {
    out += side_by_side_row(pages[i], pages[i].idle, PathLoad::kIdle);
    if (pages[i].loaded) out += side_by_side_row(pages[i], *pages[i].loaded, PathLoad::kLoaded);
  }
  out.append(kObjectsEnd);
  if (pages.size() > kMostPages)
    out += fmt::format("<p class=\"quiet\">and {} more, see the result files</p>\n", pages.size() - kMostPages);
  return out;
}

std::string parts_html(const JitterRounds& rounds, PathLoad load) {
  std::string out =
      fmt::format("<table class=\"figures\"><thead><tr><th>{}</th><th>Probes</th>", escaped(load_text(rounds, load)));
  for (const perf::ToldPercentile& one : perf::kToldPercentiles) out += fmt::format("<th>{}</th>", one.name);
  out += "<th>Max</th></tr></thead><tbody>\n";
  for (const JitterPart& part : rounds.parts) {
    out += fmt::format("<tr><td>{}</td><td>{}</td>", escaped(part.name), part.samples);
    for (const std::optional<double>& percentile : part.percentiles_us)
      out += fmt::format("<td>{}</td>", us_or_dash(percentile));
    out += fmt::format("<td>{}</td></tr>\n", us_text(part.max_us));
  }
  return out + "</tbody></table>\n";
}

std::string intervals_text(const JitterRounds& rounds) {
  std::string out;
  for (const JitterInterval& one : rounds.intervals)
    out +=
        fmt::format("{}p{} {} to {}", out.empty() ? "" : ", ", one.percent, us_text(one.low_us), us_text(one.high_us));
  return out;
}

std::string drift_text(const JitterRounds& rounds) {
  if (!rounds.drift) return "";
  return fmt::format("{:+.3f} ± {:.3f} µs a second{}", rounds.drift->us_per_s, rounds.drift->error,
                     rounds.drift->clear ? "" : ": no significant difference");
}

std::string end_text(const JitterPage::End& end) {
  std::string text = fmt::format("{} {}", end.hostname, end.address);
  if (!end.netdev.empty()) text += " on " + end.netdev;
  text += fmt::format(", {} port {}", end.device, end.port);
  return end.link.empty() ? text : text + ", link " + end.link;
}

std::string rounds_html(const JitterPage& page, const JitterRounds& rounds, PathLoad load) {
  std::string out = parts_html(rounds, load) + "<dl>";
  out += entry_html(fmt::format("With {:.0f} %", 100 * page.confidence), intervals_text(rounds));
  out += entry_html("Drift", drift_text(rounds));
  if (rounds.rounds_with_short_load > 0)
    out += entry_html("Load", fmt::format("ended before the last probe in {} round(s)", rounds.rounds_with_short_load));
  return out + "</dl>\n";
}

std::string comparisons_text(const JitterPage& page) {
  std::string out;
  for (const JitterComparison& one : page.comparisons)
    out += fmt::format("{}{} {} to {} idle, {} to {} under load: {}", out.empty() ? "" : "; ", one.percentile,
                       us_text(one.idle_low_us), us_text(one.idle_high_us), us_text(one.loaded_low_us),
                       us_text(one.loaded_high_us), one.load_is);
  return out;
}

std::string windows_html(const JitterPage& page) {
  if (page.worst.empty()) return "";
  std::string out =
      "<table class=\"figures\"><caption>Worst windows</caption><thead><tr><th>At (UTC)</th><th>Length</th><th></th>"
      "<th>p50</th><th>Max</th><th>Probes</th></tr></thead><tbody>\n";
  for (const JitterWindow& one : page.worst)
    out +=
        fmt::format("<tr><td>{}</td><td>{} ms</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(one.at),
                    one.length_ms, escaped(one.load), us_text(one.p50_us), us_text(one.max_us), one.samples);
  return out + "</tbody></table>\n";
}

std::string page_html(const JitterPage& page) {
  std::string out = fmt::format("<details><summary><b>{}</b> · jitter · RDMA{} · {} probes a second</summary>\n",
                                escaped(page.name()), page.soft ? " (soft)" : "", page.rate_per_s);
  out += rounds_html(page, page.idle, PathLoad::kIdle);
  if (page.loaded) out += rounds_html(page, *page.loaded, PathLoad::kLoaded);
  out += windows_html(page) + "<dl>";
  out += entry_html("Load against idle", comparisons_text(page));
  out += entry_html("Incomplete", page.ended_by);
  out += entry_html("Command", page.command) + entry_html("Started", page.started_at);
  out += entry_html("Client", end_text(page.client)) + entry_html("Server", end_text(page.server));
  out +=
      entry_html("Parts", page.clock == "device"
                              ? "sending: the client woke late; between: devices and network; noticing: the answer had "
                                "arrived but the client had not noticed it, by the device's clock"
                              : "sending: the client woke late; between: devices and network, and how late the client "
                                "noticed the answer, which a software clock cannot separate");
  out += entry_html("Rounds", fmt::format("{} of {} s each, reads of {} bytes, railbed {}", page.idle.repeats,
                                          page.duration_s, page.size_bytes, page.version));
  return out + "</dl></details>\n";
}

}  // namespace

std::string jitter_html(const std::vector<JitterPage>& pages) {
  if (pages.empty()) return "";
  std::string out = "<section class=\"jitter\"><h2>Jitter by a schedule</h2>\n" + pages_side_by_side(pages);
  for (size_t i = 0; i < std::min(pages.size(), kMostPages); ++i) out += page_html(pages[i]);
  return out + "</section>\n";
}

}  // namespace railbed::report

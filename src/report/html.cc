// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <algorithm>
#include <cmath>

#include "perf/json_writer.h"
#include "report/html_assets.h"
#include "report/html_drawing.h"
#include "report/html_summary.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;
using perf::LatencyPoint;
using perf::Measurement;
using perf::Transport;

std::string_view transport_text(const Measurement& m) {
  if (m.spec.transport == Transport::kTcp) return "TCP";
  return m.soft() ? "RDMA (soft)" : "RDMA";
}

std::string verdict_html(const Verdict& verdict) {
  constexpr std::string_view kMarks[] = {"✓", "!", "–"};
  constexpr std::string_view kClasses[] = {"good", "caution", "none"};
  const auto tone = static_cast<size_t>(verdict.tone);
  std::string out =
      fmt::format("<section class=\"verdict {}\"><div class=\"mark\" aria-hidden=\"true\">{}</div><div><h2>{}</h2>\n",
                  kClasses[tone], kMarks[tone], escaped(verdict.headline));
  for (const std::string& remark : verdict.remarks) out += fmt::format("<p>{}</p>\n", escaped(remark));
  return out + "</div></section>\n";
}

// "RDMA 4.1×"; empty where one side was not measured.
std::string gain(double better, double worse) {
  if (better <= 0 || worse <= 0) return "";
  const double ratio = better / worse;
  if (ratio > 0.95 && ratio < 1.05) return "equal";
  return ratio >= 1 ? "RDMA " + ratio_text(ratio) : "TCP " + ratio_text(1 / ratio);
}

std::string figure_row(std::string_view name, std::string_view note, const std::string& rdma, const std::string& tcp,
                       const std::string& compared) {
  return fmt::format(
      "<tr><th>{}<small>{}</small></th><td class=\"rdma\">{}</td><td class=\"tcp\">{}</td><td "
      "class=\"gain\">{}</td></tr>\n",
      name, note, rdma.empty() ? "–" : rdma, tcp.empty() ? "–" : tcp, compared);
}

std::optional<double> half_p50(const PathFigures& path) {
  return path.half_p50_us();
}
std::optional<double> p999(const PathFigures& path) {
  return path.p999_us();
}
std::optional<double> deviation(const PathFigures& path) {
  return path.stddev_us();
}

// "best size, average, 98 % of what the link can carry"
std::string bandwidth_note(const RailFigures& rail) {
  if (rail.soft || rail.rdma.best == nullptr || rail.yardstick_gbps <= 0) return "best size, average";
  return fmt::format("best size, average; RDMA: {:.0f} % of the {} that the link can carry",
                     100 * rail.rdma.best->average_gbps / rail.yardstick_gbps, gbps_text(rail.yardstick_gbps));
}

std::string rail_card(const RailFigures& rail) {
  std::string out = fmt::format("<article class=\"card\"><h3>{}{}</h3><p class=\"quiet\">{}</p>\n", escaped(rail.name),
                                rail.soft ? " <span class=\"badge\">soft RDMA</span>" : "", escaped(rail.path));
  out +=
      "<table class=\"big\"><thead><tr><th></th><th class=\"rdma\">RDMA</th><th "
      "class=\"tcp\">TCP</th><th></th></tr></thead><tbody>\n";
  const BandwidthPoint* rb = rail.rdma.best;
  const BandwidthPoint* tb = rail.tcp.best;
  if (rb != nullptr || tb != nullptr)
    out += figure_row("Bandwidth", bandwidth_note(rail), rb == nullptr ? "" : gbps_text(rb->average_gbps),
                      tb == nullptr ? "" : gbps_text(tb->average_gbps),
                      rb == nullptr || tb == nullptr ? "" : gain(rb->average_gbps, tb->average_gbps));
  const PathFigures& r = rail.rdma;
  const PathFigures& t = rail.tcp;
  if (r.small != nullptr || t.small != nullptr) {
    const bool both = r.small != nullptr && t.small != nullptr;
    const auto row = [&](std::string_view name, std::string_view note,
                         std::optional<double> (*get)(const PathFigures&)) {
      const double rdma = r.small == nullptr ? 0 : get(r).value_or(0);
      const double tcp = t.small == nullptr ? 0 : get(t).value_or(0);
      const auto text = [&](const PathFigures& path, double us) {
        return path.small == nullptr || !get(path) ? std::string() : us_text(us);
      };
      out += figure_row(name, note, text(r, rdma), text(t, tcp), both ? gain(tcp, rdma) : "");
    };
    row("Latency", "one way: half of the middle round trip", half_p50);
    row("Slowest", "1 round trip in 1000 takes longer, p99.9", p999);
    row("Jitter", "standard deviation of round trips", deviation);
  }
  return out + "</tbody></table></article>\n";
}

// For many rails: one row each, with a bar that makes a rail that differs obvious.
std::string rail_rows(const std::vector<RailFigures>& rails) {
  double largest = 0;
  for (const RailFigures& rail : rails)
    for (const PathFigures* path : {&rail.rdma, &rail.tcp})
      if (path->best != nullptr) largest = std::max(largest, path->best->average_gbps);
  std::string out =
      "<div class=\"wide\"><table class=\"rails\"><thead><tr><th>Rail</th><th class=\"rdma\">RDMA bandwidth</th><th "
      "class=\"tcp\">TCP bandwidth</th><th class=\"rdma\">RDMA, one way p50</th><th class=\"rdma\">round trip p99.9</th><th "
      "class=\"rdma\">jitter</th><th class=\"tcp\">TCP, one way p50</th><th class=\"tcp\">round trip p99.9</th></tr></thead><tbody>\n";
  for (const RailFigures& rail : rails) {
    out += fmt::format("<tr><th>{}{}<small>{}</small></th>", escaped(rail.name),
                       rail.soft ? " <span class=\"badge\">soft</span>" : "", escaped(rail.path));
    for (const auto& [path, name] : {std::pair(&rail.rdma, "rdma"), std::pair(&rail.tcp, "tcp")}) {
      const double gbps = path->best == nullptr ? 0 : path->best->average_gbps;
      out += fmt::format("<td>{}<i class=\"bar {}\" style=\"width:{:.0f}%\"></i></td>",
                         path->best == nullptr ? "–" : gbps_text(gbps), name, largest > 0 ? 100 * gbps / largest : 0);
    }
    const auto us = [](const PathFigures& path, std::optional<double> (*get)(const PathFigures&)) {
      const std::optional<double> value = path.small == nullptr ? std::nullopt : get(path);
      return value ? us_text(*value) : std::string("–");
    };
    out += fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", us(rail.rdma, half_p50),
                       us(rail.rdma, p999), us(rail.rdma, deviation), us(rail.tcp, half_p50), us(rail.tcp, p999));
  }
  return out + "</tbody></table></div>\n";
}

std::string rails_html(const std::vector<RailFigures>& rails) {
  constexpr size_t kMostCards = 4;
  std::string out = "<section><h2>Rail by rail</h2>\n";
  if (rails.size() > kMostCards) return out + rail_rows(rails) + "</section>\n";
  out += "<div class=\"grid\">\n";
  for (const RailFigures& rail : rails) out += rail_card(rail);
  return out + "</div></section>\n";
}

std::string chart(std::string_view kind, const std::string& title, std::string_view reference) {
  return fmt::format(
      "<figure><figcaption>{}</figcaption><div class=\"chart\" data-kind=\"{}\" data-rail=\"{}\"></div></figure>\n",
      escaped(title), kind, escaped(reference));
}

std::string charts_html(const std::vector<RailFigures>& rails) {
  std::string out =
      "<noscript><p class=\"quiet\">The charts need scripts; the tables below hold the same figures.</p></noscript>\n";
  std::string bandwidth, latency, distribution;
  for (size_t i = 0; i < rails.size(); ++i) {
    const RailFigures& rail = rails[i];
    const std::string number = std::to_string(i);
    if (rail.rdma.bandwidth != nullptr || rail.tcp.bandwidth != nullptr)
      bandwidth += chart("bandwidth", rail.name, number);
    if (rail.rdma.latency != nullptr)
      latency += chart("latency-rdma", rail.name + (rail.soft ? ", RDMA (soft)" : ", RDMA"), number);
    if (rail.tcp.latency != nullptr) latency += chart("latency-tcp", rail.name + ", TCP", number);
    if (rail.rdma.latency != nullptr || rail.tcp.latency != nullptr)
      distribution += chart("distribution", rail.name, number);
  }
  const auto section = [&](std::string_view title, std::string_view note, const std::string& charts) {
    if (!charts.empty())
      out += fmt::format("<section><h2>{}</h2><p class=\"quiet\">{}</p><div class=\"grid\">{}</div></section>\n", title,
                         note, charts);
  };
  section("Bandwidth by message size", "Average per size. Higher is better.", bandwidth);
  section("Latency over time",
          "Whole round trips of small messages, per slot of time: the line is the median, the band reaches from the "
          "fastest to 99 of 100, the dots are the slowest. Lower and flatter is better; spikes are jitter, red bands "
          "are outages without an answer.",
          latency);
  section(
      "How latency is distributed",
      "Read as: so many percent of all round trips took at most so long, as far as ten samples lie beyond. A flat line to the right means no surprises.",
      distribution);
  return out;
}

std::string bandwidth_table(const Measurement& m) {
  const bool both_ways = m.spec.bidirectional;
  std::string out = fmt::format(
      "<table "
      "class=\"figures\"><thead><tr><th>Size</th><th>Average</th><th>Peak</th>{}<th>Messages/s</th><th>Messages</th><th>Time</th></tr></thead><tbody>\n",
      both_ways ? "<th>Back, average</th>" : "");
  for (const BandwidthPoint& p : m.bandwidth)
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>{}<td>{}</td><td>{}</td><td>{:.2f} s</td></tr>\n",
                       perf::size_text(p.size_bytes), gbps_text(p.average_gbps), gbps_text(p.series.peak_gbps),
                       both_ways ? fmt::format("<td>{}</td>", gbps_text(p.reverse_average_gbps.value_or(0))) : "",
                       rate_text(p.message_rate_per_s), p.messages, p.duration_s);
  return out + "</tbody></table>\n";
}

std::string latency_table(const Measurement& m) {
  std::string out =
      "<table "
      "class=\"figures\"><thead><tr><th>Size</th><th>One way, min</th><th>p50</th><th>Round trip, p50</th><th>p90</th><th>p99</th><th>p99.9</th><th>Max</th><th>Mean</th><th>Deviation</th><th>Samples</th><th>Outages</th></tr></thead><tbody>\n";
  for (const LatencyPoint& p : m.latency) {
    const perf::Histogram& h = p.histogram;
    const auto settled = [&](double percent, double share) {
      const auto ns = h.settled_percentile_ns(percent);
      return ns ? us_text(share * static_cast<double>(*ns) / 1e3) : std::string("–");
    };
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>", perf::size_text(p.size_bytes),
                       us_text(static_cast<double>(h.min_ns()) / 2e3), settled(50, 0.5));
    for (double percent : {50.0, 90.0, 99.0, 99.9}) out += fmt::format("<td>{}</td>", settled(percent, 1));
    out += fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       us_text(static_cast<double>(h.max_ns()) / 1e3), us_text(h.mean_ns() / 1e3),
                       us_text(h.stddev_ns() / 1e3), h.count(), p.outages.size());
  }
  return out + "</tbody></table>\n";
}

std::string end_html(std::string_view role, const perf::Endpoint& end) {
  std::string text = fmt::format("{} {}", end.hostname, end.address);
  if (!end.netdev.empty()) text += fmt::format(" on {}", end.netdev);
  if (!end.device.empty())
    text +=
        fmt::format(", {} port {}{}, path MTU {}", end.device, end.port, end.soft ? " (soft)" : "", end.path_mtu_bytes);
  if (!end.gid_reason.empty()) text += ", " + end.gid_reason;
  if (!end.link.empty()) text += ", link " + end.link;
  if (!end.pcie.empty()) text += ", PCIe " + end.pcie;
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", role, escaped(text));
}

std::string counters_html(std::string_view title, const perf::PortCounters& counters) {
  std::string text;
  for (const auto& [name, value] : counters) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? text : fmt::format("<dt>{}</dt><dd>{}</dd>\n", title, escaped(text));
}

// "16 to 128 writes under way": what each size really had.
std::string depth_text(const Measurement& m) {
  const auto [least, most] = std::ranges::minmax(m.bandwidth, {}, &BandwidthPoint::used_tx_depth);
  return least.used_tx_depth == most.used_tx_depth
             ? fmt::format("{} writes under way", most.used_tx_depth)
             : fmt::format("{} to {} writes under way, by size", least.used_tx_depth, most.used_tx_depth);
}

std::string measurement_html(const Measurement& m) {
  const bool bandwidth = !m.bandwidth.empty();
  std::string out = fmt::format("<details><summary><b>{}</b> · {} · {} · {} size{}</summary>\n", escaped(rail_name(m)),
                                bandwidth ? "bandwidth" : "latency", transport_text(m), m.spec.sizes_bytes.size(),
                                m.spec.sizes_bytes.size() == 1 ? "" : "s");
  out += bandwidth ? bandwidth_table(m) : latency_table(m);
  out += fmt::format("<dl><dt>Command</dt><dd><code>{}</code></dd><dt>Started</dt><dd>{}</dd>\n", escaped(m.command),
                     escaped(m.started_at));
  out += end_html("Client", m.client) + end_html("Server", m.server);
  out += counters_html("Client's port counted", m.client_counters);
  out += counters_html("Server's port counted", m.server_counters);
  const std::string length = m.spec.iterations > 0 ? fmt::format("{} messages per size", m.spec.iterations)
                                                   : fmt::format("{} ms per size", m.spec.duration_ms);
  if (!m.ended_by.empty()) out += fmt::format("<dt>Incomplete</dt><dd>{}</dd>\n", escaped(m.ended_by));
  out += fmt::format("<dt>Parameters</dt><dd>{} {}(s), {}, {}{}</dd></dl></details>\n", m.spec.qps,
                     m.spec.transport == Transport::kTcp ? "stream" : "queue pair", length,
                     bandwidth && m.spec.transport == Transport::kRdma ? depth_text(m)
                     : bandwidth                                       ? "counted where it arrives"
                     : m.spec.rate_per_s > 0 ? fmt::format("{} pings a second by a schedule", m.spec.rate_per_s)
                                             : "ping-pong, each after the answer to the last",
                     m.spec.bidirectional ? ", both ways at once" : "");
  return out;
}

// The slots, with one of nothing (null in JSON) in each outage, so that no line is drawn across it.
std::vector<perf::LatencySlot> with_gaps(const LatencyPoint& point) {
  std::vector<perf::LatencySlot> slots = point.slots;
  for (const perf::Outage& outage : point.outages) {
    const double nothing = std::nan("");
    const double middle_ms = outage.at_ms + outage.duration_ms / 2;
    const auto after = std::ranges::find_if(slots, [&](const perf::LatencySlot& s) { return s.at_ms > middle_ms; });
    slots.insert(after,
                 {.at_ms = middle_ms, .min_us = nothing, .p50_us = nothing, .p99_us = nothing, .max_us = nothing});
  }
  return slots;
}

// The data of the charts, in the order of the rails.
void write_path(perf::JsonWriter& writer, std::string_view name, const PathFigures& path) {
  writer.begin_object(name);
  const auto column = [&](std::string_view field, const auto& points, auto value) {
    writer.begin_array(field);
    for (const auto& point : points) writer.number({}, value(point));
    writer.end_array();
  };
  if (path.bandwidth != nullptr) {
    column("size_bytes", path.bandwidth->bandwidth,
           [](const BandwidthPoint& p) { return static_cast<double>(p.size_bytes); });
    column("gbps", path.bandwidth->bandwidth, [](const BandwidthPoint& p) { return p.average_gbps; });
  }
  if (path.small != nullptr) {
    const std::vector<perf::LatencySlot> slots = with_gaps(*path.small);
    column("outage_from_s", path.small->outages, [](const perf::Outage& o) { return o.at_ms / 1e3; });
    column("outage_to_s", path.small->outages, [](const perf::Outage& o) { return (o.at_ms + o.duration_ms) / 1e3; });
    column("at_s", slots, [](const perf::LatencySlot& s) { return s.at_ms / 1e3; });
    column("min_us", slots, [](const perf::LatencySlot& s) { return s.min_us; });
    column("p50_us", slots, [](const perf::LatencySlot& s) { return s.p50_us; });
    column("p99_us", slots, [](const perf::LatencySlot& s) { return s.p99_us; });
    column("max_us", slots, [](const perf::LatencySlot& s) { return s.max_us; });
    // For n "nines", the time within which 1 - 10^-n of all samples finished, as far as that is settled.
    std::vector<double> nines;
    for (double n = 0; path.small->histogram.settled_percentile_ns(100 * (1 - std::pow(10, -n))); n += 0.05)
      nines.push_back(n);
    column("nines", nines, [](double n) { return n; });
    column("quantile_us", nines, [&](double n) {
      return static_cast<double>(path.small->histogram.percentile_ns(100 * (1 - std::pow(10, -n)))) / 1e3;
    });
  }
  writer.end_object();
}

std::string chart_data(const std::vector<RailFigures>& rails) {
  perf::JsonWriter writer;
  writer.begin_object().begin_array("rails");
  for (const RailFigures& rail : rails) {
    writer.begin_object().text("name", rail.name).flag("soft", rail.soft);
    write_path(writer, "rdma", rail.rdma);
    write_path(writer, "tcp", rail.tcp);
    writer.end_object();
  }
  writer.end_array().end_object();
  return writer.take();
}

std::string started_text(const Report& report) {
  std::string first;
  for (const Measurement& m : report.measurements)
    if (first.empty() || m.started_at < first) first = m.started_at;
  // Shows 2026-01-02T03:04:05.678Z in a form that people write.
  if (first.size() >= 20 && first[10] == 'T' && first.back() == 'Z')
    return fmt::format("{} {} UTC", first.substr(0, 10), first.substr(11, 5));
  return first;
}

}  // namespace

std::string to_html(const Report& report) {
  const auto rails = rails_of(report.measurements);
  const std::string title = report.title.empty() ? "Rail measurements" : report.title;
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src "
      "'unsafe-inline'; img-src data:\">\n<title>{}</title>\n<style>{}\n{}</style></head>\n<body><main>\n",
      escaped(title), uplot_style(), report_style());
  out += fmt::format("<header><h1>{}</h1><p class=\"quiet\">{} · {} measurement{} · railbed {}</p></header>\n",
                     escaped(title), escaped(started_text(report)), report.measurements.size(),
                     report.measurements.size() == 1 ? "" : "s", RAILBED_VERSION);
  out += verdict_html(verdict_of(rails));
  out += rails_html(rails);
  const std::string scene = drawing(scene_of(report), rails);
  if (!scene.empty())
    out += fmt::format("<section><h2>What was measured</h2><div class=\"wide\">{}</div></section>\n", scene);
  out += charts_html(rails);
  out += "<section><h2>All figures and how they were taken</h2>\n";
  for (const Measurement& m : report.measurements) out += measurement_html(m);
  out += fmt::format(
      "</section>\n<footer>Gb/s are 10⁹ bits of payload per second. Latency one way is half of a round trip, which is known only of the fastest "
      "and the middle one; all other times are of whole round trips. Percentiles are of all samples, none dropped, and are "
      "told where ten samples or more lie beyond. Good is {:.0f} to {:.0f} % of what the link can carry (rate, MTU, headers, "
      "PCIe).</footer></main>\n",
      100 * kBandFrom, 100 * kBandTo);
  out += fmt::format(
      "<script type=\"application/json\" "
      "id=\"data\">{}</script>\n<script>/*!\n{}\n*/\n{}</script>\n<script>{}</script>\n</body></html>\n",
      script_safe(chart_data(rails)), uplot_licence(), uplot_script(), report_script());
  return out;
}

}  // namespace railbed::report

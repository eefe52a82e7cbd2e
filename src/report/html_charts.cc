// SPDX-License-Identifier: Apache-2.0
#include "report/html_charts.h"

#include <algorithm>
#include <cmath>

#include "perf/json_writer.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;
using perf::LatencyPoint;

constexpr size_t kMostPoints = 1000;  // of a series: more than a screen has pixels for

struct Chart {
  std::string_view kind;
  std::string title;
  std::string said;  // what it shows, in a sentence
};

Html rail_figure_html(const Chart& chart, size_t rail) {
  return html(
      "<figure><figcaption>{}</figcaption><div class=\"chart\" data-kind=\"{}\" data-rail=\"{}\" role=\"img\" "
      "aria-label=\"{}\"></div></figure>\n",
      chart.title, chart.kind, rail, chart.said);
}

std::string by_size_said(std::string_view name, const perf::Measurement* m) {
  if (m == nullptr || m->bandwidth.empty()) return "";
  const BandwidthPoint& first = m->bandwidth.front();
  const BandwidthPoint& last = m->bandwidth.back();
  return fmt::format("{}: {} with {}, {} with {}. ", name, gbps_text(first.average_gbps),
                     perf::size_text(first.size_bytes), gbps_text(last.average_gbps), perf::size_text(last.size_bytes));
}

std::string flow_said(std::string_view name, const BandwidthPoint* point) {
  if (point == nullptr || point->series.gbps.empty()) return "";
  const auto [low, high] = std::ranges::minmax(point->series.gbps);
  return fmt::format("{}: {} to {} over {:.2g} s, average {}, with messages of {}. ", name, gbps_text(low),
                     gbps_text(high), point->duration_s, gbps_text(point->average_gbps),
                     perf::size_text(point->size_bytes));
}

std::string us_or_unknown(std::optional<uint64_t> ns) {
  return ns ? us_text(static_cast<double>(*ns) / 1e3) : "unknown";
}

std::string latency_said(const LatencyPoint& point) {
  const perf::Histogram& h = point.histogram;
  return fmt::format("{} round trips in {:.2g} s: fastest {}, middle {}, p99 {}, slowest {}; {} outages.", h.count(),
                     point.duration_s, us_or_unknown(h.min_ns()), us_or_unknown(h.settled_percentile_ns(50)),
                     us_or_unknown(h.settled_percentile_ns(99)), us_or_unknown(h.max_ns()), point.outages.size());
}

std::string distribution_said(std::string_view name, const PathFigures& path) {
  if (path.small == nullptr) return "";
  const perf::Histogram& h = path.small->histogram;
  std::string out = fmt::format("{}: ", name);
  for (const double percent : {50.0, 90.0, 99.0, 99.9, 99.99})
    if (const auto ns = h.settled_percentile_ns(percent))
      out += fmt::format("{:g} % within {}, ", percent, us_text(static_cast<double>(*ns) / 1e3));
  return out + fmt::format("all within {}. ", us_or_unknown(h.max_ns()));
}

std::string latency_by_size_said(std::string_view name, const perf::Measurement* m) {
  if (m == nullptr || m->latency.empty()) return "";
  const auto one = [](const LatencyPoint& p) {
    return fmt::format("{} with {}", us_or_unknown(p.histogram.settled_percentile_ns(50)),
                       perf::size_text(p.size_bytes));
  };
  return fmt::format("{}, middle round trip: {}, {}. ", name, one(m->latency.front()), one(m->latency.back()));
}

bool has_sizes(const PathFigures& path) {
  return path.latency != nullptr && path.latency->latency.size() > 1;
}
bool has_bandwidths(const PathFigures& path) {
  return path.bandwidth != nullptr && path.bandwidth->bandwidth.size() > 1;
}
bool has_flow(const PathFigures& path) {
  return path.best != nullptr && path.best->series.gbps.size() > 1;
}

Html section(std::string_view title, std::string_view note, const Html& charts) {
  if (charts.empty()) return {};
  return html("<section class=\"charts\"><h2>{}</h2><p class=\"quiet\">{}</p><div class=\"grid\">{}</div></section>\n",
              title, note, charts);
}

// --- data

using Writer = perf::JsonWriter;

template <typename Points, typename Value>
void column(Writer& writer, std::string_view field, const Points& points, Value value) {
  writer.begin_array(field);
  for (const auto& point : points) writer.number({}, value(point));
  writer.end_array();
}

// Of very long series each point is the mean of several slots.
void write_series(Writer& writer, std::string_view prefix, const perf::ThroughputSeries& series) {
  const size_t together = (series.gbps.size() + kMostPoints - 1) / kMostPoints;
  std::vector<double> means;
  for (size_t i = 0; i < series.gbps.size(); i += together) {
    const size_t end = std::min(i + together, series.gbps.size());
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += series.gbps[k];
    means.push_back(sum / static_cast<double>(end - i));
  }
  writer.number(fmt::format("{}_slot_s", prefix), series.slot_ms * static_cast<double>(together) / 1e3);
  column(writer, fmt::format("{}_gbps", prefix), means, [](double v) { return v; });
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

void write_bandwidth(Writer& writer, const PathFigures& path) {
  if (path.bandwidth != nullptr) {
    column(writer, "size_bytes", path.bandwidth->bandwidth,
           [](const BandwidthPoint& p) { return static_cast<double>(p.size_bytes); });
    column(writer, "gbps", path.bandwidth->bandwidth, [](const BandwidthPoint& p) { return p.average_gbps; });
  }
  if (!has_flow(path)) return;
  write_series(writer, "flow", path.best->series);
  if (path.best->reverse_series) write_series(writer, "back", *path.best->reverse_series);
}

void write_sizes(Writer& writer, const PathFigures& path) {
  if (!has_sizes(path)) return;
  const auto settled = [](double percent) {
    return [percent](const LatencyPoint& p) {
      const auto ns = p.histogram.settled_percentile_ns(percent);
      return ns ? static_cast<double>(*ns) / 1e3 : std::nan("");
    };
  };
  column(writer, "lat_size_bytes", path.latency->latency,
         [](const LatencyPoint& p) { return static_cast<double>(p.size_bytes); });
  column(writer, "lat_p50_us", path.latency->latency, settled(50));
  column(writer, "lat_p99_us", path.latency->latency, settled(99));
}

void write_latency(Writer& writer, const LatencyPoint& point) {
  const std::vector<perf::LatencySlot> slots = with_gaps(point);
  column(writer, "outage_from_s", point.outages, [](const perf::Outage& o) { return o.at_ms / 1e3; });
  column(writer, "outage_to_s", point.outages, [](const perf::Outage& o) { return (o.at_ms + o.duration_ms) / 1e3; });
  column(writer, "at_s", slots, [](const perf::LatencySlot& s) { return s.at_ms / 1e3; });
  column(writer, "min_us", slots, [](const perf::LatencySlot& s) { return s.min_us; });
  column(writer, "p50_us", slots, [](const perf::LatencySlot& s) { return s.p50_us; });
  column(writer, "p99_us", slots, [](const perf::LatencySlot& s) { return s.p99_us; });
  column(writer, "max_us", slots, [](const perf::LatencySlot& s) { return s.max_us; });
  // For n "nines", the time within which 1 - 10^-n of all samples finished, as far as that is settled.
  std::vector<double> nines;
  for (double n = 0; point.histogram.settled_percentile_ns(100 * (1 - std::pow(10, -n))); n += 0.05) nines.push_back(n);
  column(writer, "nines", nines, [](double n) { return n; });
  column(writer, "quantile_us", nines, [&](double n) {
    return static_cast<double>(point.histogram.percentile_ns(100 * (1 - std::pow(10, -n)))) / 1e3;
  });
}

void write_path(Writer& writer, std::string_view name, const PathFigures& path) {
  writer.begin_object(name);
  write_bandwidth(writer, path);
  write_sizes(writer, path);
  if (path.small != nullptr) write_latency(writer, *path.small);
  writer.end_object();
}

}  // namespace

Html charts_html(const std::vector<const RailFigures*>& rails) {
  Html latency, distribution, sizes, bandwidth, flow;
  for (size_t i = 0; i < rails.size(); ++i) {
    const RailFigures& rail = *rails[i];
    const std::string rdma = rail.soft ? "RDMA (soft)" : "RDMA";
    if (rail.rdma.small != nullptr)
      latency += rail_figure_html({"latency-rdma", rail.name + ", " + rdma, latency_said(*rail.rdma.small)}, i);
    if (rail.tcp.small != nullptr)
      latency += rail_figure_html({"latency-tcp", rail.name + ", TCP", latency_said(*rail.tcp.small)}, i);
    if (rail.rdma.small != nullptr || rail.tcp.small != nullptr)
      distribution += rail_figure_html(
          {"distribution", rail.name, distribution_said(rdma, rail.rdma) + distribution_said("TCP", rail.tcp)}, i);
    if (has_sizes(rail.rdma) || has_sizes(rail.tcp))
      sizes += rail_figure_html(
          {"latency-size", rail.name,
           latency_by_size_said(rdma, rail.rdma.latency) + latency_by_size_said("TCP", rail.tcp.latency)},
          i);
    if (has_bandwidths(rail.rdma) || has_bandwidths(rail.tcp))
      bandwidth += rail_figure_html(
          {"bandwidth", rail.name, by_size_said(rdma, rail.rdma.bandwidth) + by_size_said("TCP", rail.tcp.bandwidth)},
          i);
    if (has_flow(rail.rdma) || has_flow(rail.tcp))
      flow +=
          rail_figure_html({"flow", rail.name, flow_said(rdma, rail.rdma.best) + flow_said("TCP", rail.tcp.best)}, i);
  }
  return charts_need_script() +
         section("Latency over time",
                 "Whole round trips of small messages, per slot of time: the line is the median, the band reaches from "
                 "the fastest to 99 of 100, the dots are the slowest. Lower and flatter is better; spikes are jitter, "
                 "red bands are outages without an answer.",
                 latency) +
         section("How latency is distributed",
                 "The percentage of round trips that took at most this long, shown while at least ten samples exceed "
                 "it. A flat line to the right means no outliers.",
                 distribution) +
         section("Latency by message size", "Whole round trips: the middle one, and as a thin line 99 of 100.", sizes) +
         section("Bandwidth by message size",
                 "Average per size. Higher is better; the grey line is what the link can carry, where that is known.",
                 bandwidth) +
         section(
             "Bandwidth over time",
             "Of the best message size, per slot of time. A flat line is a steady link; the grey line is what it can "
             "carry, where that is known.",
             flow);
}

std::string rails_data(const std::vector<const RailFigures*>& rails) {
  Writer writer;
  writer.begin_array();
  for (const RailFigures* rail : rails) {
    writer.begin_object().text("name", rail->name).flag("soft", rail->soft);
    if (!rail->soft && rail->yardstick_gbps > 0) writer.number("link_gbps", rail->yardstick_gbps);
    write_path(writer, "rdma", rail->rdma);
    write_path(writer, "tcp", rail->tcp);
    writer.end_object();
  }
  writer.end_array();
  return writer.take();
}

}  // namespace railbed::report

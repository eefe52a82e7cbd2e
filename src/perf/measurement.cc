// SPDX-License-Identifier: Apache-2.0
#include "perf/measurement.h"

#include <algorithm>

#include "doc/text.h"
#include "rdma/pause_counters.h"

namespace railbed::perf {

namespace {

std::string end_text(const Endpoint& end) {
  std::string text = end.hostname;
  if (end.address != end.hostname) text += fmt::format(" {}", end.address);
  if (!end.netdev.empty()) text += fmt::format(" ({})", end.netdev);
  if (!end.device.empty()) text += fmt::format(", {} port {}{}", end.device, end.port, end.soft ? " [soft]" : "");
  if (!end.gid_reason.empty()) text += fmt::format(", {}", end.gid_reason);
  if (!end.program.empty()) text += fmt::format(", {}", end.program);
  if (!end.memory.empty() && end.memory != kHostMemory) text += fmt::format(", {}", end.memory);
  if (!end.cpus.empty()) text += fmt::format(", CPUs {} of NUMA node {}", end.cpus, end.numa_node);
  return text;
}

std::string pauses_of(const Endpoint& end, const PortCounters& moved) {
  if (!end.counts_pauses)
    return end.netdev.empty() ? "not counted" : fmt::format("not counted by the driver of {}", end.netdev);
  return fmt::format("{} sent, {} received", rdma::pause_frames(moved, rdma::PauseDirection::kSent),
                     rdma::pause_frames(moved, rdma::PauseDirection::kReceived));
}

// Part of the proof of the path, on Ethernet: InfiniBand has credits instead.
std::string pauses_text(const Measurement& m) {
  const auto has_none = [](const Endpoint& end) { return end.device.empty() || end.link_layer == "InfiniBand"; };
  if (has_none(m.client) || has_none(m.server)) return "";
  return fmt::format("  pause frames  client: {}; server: {}\n", pauses_of(m.client, m.client_counters),
                     doc::printable(pauses_of(m.server, m.server_counters)));
}

// Four digits after the point, and more where there would be fewer than three digits that count.
std::string gbps_column(double gbps) {
  return gbps > 0 && gbps < 0.01 ? fmt::format("{:.7f}", gbps) : fmt::format("{:.4f}", gbps);
}

// Only datagrams are.
std::string lost_text(int64_t messages, std::string_view how) {
  return messages == 0 ? "" : fmt::format("{:>10} {} datagrams were {}\n", "", messages, how);
}

std::string bandwidth_rows(const Measurement& measurement) {
  const bool both_ways = measurement.spec.bidirectional;
  std::string out = fmt::format("{:>10} {:>12} {:>12} {:>12} {:>14}{}\n", "size", "messages", "peak Gb/s", "avg Gb/s",
                                "messages/s", both_ways ? "   back avg Gb/s" : "");
  for (const BandwidthPoint& point : measurement.bandwidth) {
    out += fmt::format("{:>10} {:>12} {:>12} {:>12} {:>14.0f}", size_text(point.size_bytes), point.messages,
                       gbps_column(point.series.peak_gbps), gbps_column(point.average_gbps), point.message_rate_per_s);
    if (both_ways) out += fmt::format(" {:>15}", gbps_column(point.reverse_average_gbps.value_or(0)));
    out += '\n';
    out += lost_text(point.lost_messages, "sent but not received");
  }
  return out;
}

std::string outages_text(const LatencyPoint& point) {
  if (point.outages.empty()) return "";
  double sum_ms = 0;
  double longest_ms = 0;
  for (const Outage& outage : point.outages) {
    sum_ms += outage.duration_ms;
    longest_ms = std::max(longest_ms, outage.duration_ms);
  }
  return fmt::format("{:>10} {} outage{} without an answer, {:.1f} ms together, the longest {:.1f} ms\n", "",
                     point.outages.size(), point.outages.size() == 1 ? "" : "s", sum_ms, longest_ms);
}

// A percentile with too few samples beyond it is "-".
std::string latency_rows(const Measurement& measurement) {
  const bool halves = measurement.has_halves();
  std::string out =
      halves ? "  microseconds; one way is half of a round trip, known only of the fastest and the middle one\n"
             : "  microseconds; the peer's device answers, so a round trip has no halves\n";
  out += fmt::format("{:>10} {:>9} {:>11} {:>11} | {:>14} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "size", "samples",
                     "one way min", "one way p50", "round trip p50", "p99", "p99.9", "max", "mean", "stddev");
  const auto us = [](double ns) { return fmt::format("{:.2f}", ns / 1e3); };
  for (const LatencyPoint& point : measurement.latency) {
    const Histogram& h = point.histogram;
    const auto settled = [&](double percent, double share) {
      const auto ns = h.settled_percentile_ns(percent);
      return ns ? us(share * static_cast<double>(*ns)) : std::string("-");
    };
    out += fmt::format("{:>10} {:>9} {:>11} {:>11} | {:>14} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
                       size_text(point.size_bytes), h.count(), halves ? us(0.5 * static_cast<double>(h.min_ns())) : "-",
                       halves ? settled(50, 0.5) : "-", settled(50, 1), settled(99, 1), settled(99.9, 1),
                       us(static_cast<double>(h.max_ns())), us(h.mean_ns()), us(h.stddev_ns()));
    out += outages_text(point);
    out += lost_text(point.lost_messages, "not answered; excluded from all figures");
  }
  return out;
}

}  // namespace

rdma::Port port_of(const Endpoint& end) {
  return {.device = end.device, .port = end.port, .netdev = end.netdev};
}

std::string to_table(const Measurement& measurement) {
  const bool rdma = measurement.spec.transport == Transport::kRdma;
  const bool bandwidth = measurement.spec.kind == TestKind::kBandwidth;
  std::string out =
      fmt::format("{}{} over {}{}\n  client  {}\n  server  {}\n",
                  measurement.label.empty() ? "" : doc::printable(measurement.label) + ": ",
                  bandwidth ? (measurement.spec.bidirectional ? "bandwidth both ways" : "bandwidth") : "latency",
                  rdma ? fmt::format("RDMA ({})", traits_of(measurement.spec.verb).text) : "TCP",
                  measurement.soft() ? ", soft RDMA" : "", doc::printable(end_text(measurement.client)),
                  doc::printable(end_text(measurement.server)));
  if (measurement.spec.rate_per_s > 0)
    out += fmt::format("  {} pings a second on a fixed schedule; each counts from its due time\n",
                       measurement.spec.rate_per_s);
  if (!measurement.client.program.empty() && measurement.bandwidth.empty() && measurement.latency.empty())
    return out + fmt::format("  the client, {}, has the figures; nothing is measured at this end\n",
                             doc::printable(measurement.client.program));
  out += bandwidth ? bandwidth_rows(measurement) : latency_rows(measurement);
  out += pauses_text(measurement);
  if (!measurement.ended_by.empty())
    out += fmt::format("  incomplete, {} of {} sizes: {}\n", measurement.bandwidth.size() + measurement.latency.size(),
                       measurement.spec.sizes_bytes.size(), doc::printable(measurement.ended_by));
  return out;
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/measurement.h"

#include <algorithm>

#include "doc/text.h"

namespace railbed::perf {

std::string_view name_of(TestKind kind) {
  return kind == TestKind::kBandwidth ? "bw" : "lat";
}
std::string_view name_of(Transport transport) {
  return transport == Transport::kRdma ? "rdma" : "tcp";
}
Result<TestKind> kind_from(std::string_view name) {
  for (TestKind kind : {TestKind::kBandwidth, TestKind::kLatency})
    if (name == name_of(kind)) return kind;
  return fail(Code::kInvalid, "\"{}\" is not a kind of test: bw or lat", name);
}
Result<Transport> transport_from(std::string_view name) {
  for (Transport transport : {Transport::kRdma, Transport::kTcp})
    if (name == name_of(transport)) return transport;
  return fail(Code::kInvalid, "\"{}\" is not a transport: rdma or tcp", name);
}

std::vector<int64_t> sweep_sizes(int64_t max_bytes) {
  std::vector<int64_t> sizes;
  for (int64_t size = 2; size <= max_bytes; size *= 2) sizes.push_back(size);
  return sizes;
}

Result<void> validate(const TestSpec& spec) {
  const auto within = [](std::string_view option, int64_t value, int64_t min, int64_t max) -> Result<void> {
    if (value < min || value > max) return fail(Code::kInvalid, "{}: {} is outside {}..{}", option, value, min, max);
    return {};
  };
  if (spec.sizes_bytes.empty() || spec.sizes_bytes.size() > 64)
    return fail(Code::kInvalid, "sizes: {} of them, 1 to 64 are allowed", spec.sizes_bytes.size());
  for (int64_t size : spec.sizes_bytes) TRY(within("size", size, 1, kMaxSize_bytes));
  TRY(within("qps", spec.qps, 1, kMaxQps));
  TRY(within("tx-depth", spec.tx_depth, 1, 8192));
  TRY(within("iterations", spec.iterations, 0, 1'000'000'000'000));
  TRY(within("inline", spec.inline_bytes, -1, 4096));
  TRY(within("rate", spec.rate_per_s, 0, kMaxRate_per_s));
  if (spec.rate_per_s > 0 && spec.kind != TestKind::kLatency)
    return fail(Code::kInvalid, "rate: only for latency; bandwidth is what goes through, not what is asked");
  if (spec.iterations == 0) TRY(within("duration", spec.duration_ms, 10, kMaxDuration_ms));
  if (spec.kind == TestKind::kLatency && spec.qps != 1)
    return fail(Code::kInvalid, "qps: latency is measured on one queue pair, not {}", spec.qps);
  if (spec.bidirectional && (spec.kind != TestKind::kBandwidth || spec.transport != Transport::kRdma))
    return fail(Code::kInvalid, "bidirectional: only for bandwidth over RDMA");
  const int64_t largest = *std::max_element(spec.sizes_bytes.begin(), spec.sizes_bytes.end());
  if (spec.iterations > kMaxTotal_bytes / largest / spec.qps)
    return fail(Code::kInvalid, "iterations: {} messages of {} on each of {} are more than {} bytes", spec.iterations,
                size_text(largest), spec.qps, kMaxTotal_bytes);
  if (2 * largest * spec.qps > kMaxRegion_bytes)
    return fail(Code::kInvalid, "{} queue pairs with {} each need {} of registered memory, at most {} is allowed",
                spec.qps, size_text(largest), size_text(2 * largest * spec.qps), size_text(kMaxRegion_bytes));
  return {};
}

std::string size_text(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

namespace {

std::string end_text(const Endpoint& end) {
  std::string text = fmt::format("{} {}", end.hostname, end.address);
  if (!end.netdev.empty()) text += fmt::format(" ({})", end.netdev);
  if (!end.device.empty()) text += fmt::format(", {} port {}{}", end.device, end.port, end.soft ? " [soft]" : "");
  if (!end.gid_reason.empty()) text += fmt::format(", {}", end.gid_reason);
  return text;
}

// Four digits after the point, and more where there would be fewer than three digits that count.
std::string gbps_column(double gbps) {
  return gbps > 0 && gbps < 0.01 ? fmt::format("{:.7f}", gbps) : fmt::format("{:.4f}", gbps);
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
  std::string out = "  microseconds; one way is half of a round trip, known only of the fastest and the middle one\n";
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
                       size_text(point.size_bytes), h.count(), us(0.5 * static_cast<double>(h.min_ns())),
                       settled(50, 0.5), settled(50, 1), settled(99, 1), settled(99.9, 1),
                       us(static_cast<double>(h.max_ns())), us(h.mean_ns()), us(h.stddev_ns()));
    out += outages_text(point);
  }
  return out;
}

}  // namespace

std::string to_table(const Measurement& measurement) {
  const bool rdma = measurement.spec.transport == Transport::kRdma;
  const bool bandwidth = measurement.spec.kind == TestKind::kBandwidth;
  std::string out =
      fmt::format("{}{} over {}{}\n  client  {}\n  server  {}\n",
                  measurement.label.empty() ? "" : doc::printable(measurement.label) + ": ",
                  bandwidth ? (measurement.spec.bidirectional ? "bandwidth both ways" : "bandwidth") : "latency",
                  rdma ? "RDMA (RC write)" : "TCP", measurement.soft() ? ", soft RDMA" : "",
                  doc::printable(end_text(measurement.client)), doc::printable(end_text(measurement.server)));
  if (measurement.spec.rate_per_s > 0)
    out += fmt::format("  {} pings a second by a schedule; each counts from when it was due\n",
                       measurement.spec.rate_per_s);
  out += bandwidth ? bandwidth_rows(measurement) : latency_rows(measurement);
  if (!measurement.ended_by.empty())
    out += fmt::format("  incomplete, {} of {} sizes: {}\n", measurement.bandwidth.size() + measurement.latency.size(),
                       measurement.spec.sizes_bytes.size(), doc::printable(measurement.ended_by));
  return out;
}

}  // namespace railbed::perf

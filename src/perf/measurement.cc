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
  if (spec.iterations == 0) TRY(within("duration", spec.duration_ms, 10, kMaxDuration_ms));
  if (spec.kind == TestKind::kLatency && spec.qps != 1)
    return fail(Code::kInvalid, "qps: latency is measured on one queue pair, not {}", spec.qps);
  if (spec.bidirectional && (spec.kind != TestKind::kBandwidth || spec.transport != Transport::kRdma))
    return fail(Code::kInvalid, "bidirectional: only for bandwidth over RDMA");
  const int64_t largest = *std::max_element(spec.sizes_bytes.begin(), spec.sizes_bytes.end());
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

std::string bandwidth_rows(const Measurement& measurement) {
  const bool both_ways = measurement.spec.bidirectional;
  std::string out = fmt::format("{:>10} {:>12} {:>12} {:>12} {:>14}{}\n", "size", "messages", "peak Gb/s", "avg Gb/s",
                                "messages/s", both_ways ? "   back avg Gb/s" : "");
  for (const BandwidthPoint& point : measurement.bandwidth) {
    out += fmt::format("{:>10} {:>12} {:>12.4f} {:>12.4f} {:>14.0f}", size_text(point.size_bytes), point.messages,
                       point.series.peak_gbps, point.average_gbps, point.message_rate_per_s);
    if (both_ways) out += fmt::format(" {:>15.4f}", point.reverse_average_gbps.value_or(0));
    out += '\n';
  }
  return out;
}

std::string latency_rows(const Measurement& measurement) {
  std::string out = fmt::format("{:>10} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "size", "samples",
                                "min us", "p50 us", "p99 us", "p99.9 us", "max us", "mean us", "stddev us");
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  for (const LatencyPoint& point : measurement.latency) {
    const Histogram& h = point.histogram;
    out += fmt::format("{:>10} {:>9} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}\n",
                       size_text(point.size_bytes), h.count(), us(h.min_ns()), us(h.percentile_ns(50)),
                       us(h.percentile_ns(99)), us(h.percentile_ns(99.9)), us(h.max_ns()), h.mean_ns() / 1e3,
                       h.stddev_ns() / 1e3);
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
                  bandwidth ? (measurement.spec.bidirectional ? "bandwidth both ways" : "bandwidth")
                            : "latency (half the round trip)",
                  rdma ? "RDMA (RC write)" : "TCP", measurement.soft() ? ", soft RDMA" : "",
                  doc::printable(end_text(measurement.client)), doc::printable(end_text(measurement.server)));
  return out + (bandwidth ? bandwidth_rows(measurement) : latency_rows(measurement));
}

}  // namespace railbed::perf

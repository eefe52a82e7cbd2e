// SPDX-License-Identifier: Apache-2.0
#include "report/html_summary.h"

#include <algorithm>

#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;
using perf::LatencyPoint;
using perf::Measurement;

void take(PathFigures& path, const Measurement& m) {
  if (!m.bandwidth.empty() && (path.bandwidth == nullptr || m.bandwidth.size() >= path.bandwidth->bandwidth.size())) {
    path.bandwidth = &m;
    path.best = &*std::max_element(
        m.bandwidth.begin(), m.bandwidth.end(),
        [](const BandwidthPoint& a, const BandwidthPoint& b) { return a.average_gbps < b.average_gbps; });
  }
  if (!m.latency.empty() && (path.latency == nullptr || m.latency.size() >= path.latency->latency.size())) {
    path.latency = &m;
    path.small =
        &*std::min_element(m.latency.begin(), m.latency.end(),
                           [](const LatencyPoint& a, const LatencyPoint& b) { return a.size_bytes < b.size_bytes; });
  }
}

// The middle value, or the mean of the two middle ones.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::string span_text(const std::vector<double>& values, std::string (*text)(double)) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string first = text(*low);
  const std::string last = text(*high);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Rails are built alike, so a rail that differs needs an explanation.
void compare_rails(const std::vector<RailFigures>& rails, Verdict& verdict) {
  std::vector<double> bandwidths;
  std::vector<double> tails;
  for (const RailFigures& rail : rails) {
    if (rail.rdma.best != nullptr) bandwidths.push_back(rail.rdma.best->average_gbps);
    if (rail.rdma.small != nullptr) tails.push_back(rail.rdma.p999_us());
  }
  for (const RailFigures& rail : rails) {
    if (rail.rdma.best != nullptr && bandwidths.size() > 1) {
      const double usual = median(bandwidths);
      const double mine = rail.rdma.best->average_gbps;
      if (mine < 0.9 * usual)
        verdict.remarks.push_back(
            fmt::format("{} is {:.0f} % slower than the middle of the rails.", rail.name, 100 * (1 - mine / usual)));
    }
    if (rail.rdma.small != nullptr && tails.size() > 2 && rail.rdma.p999_us() > 3 * median(tails))
      verdict.remarks.push_back(fmt::format("{} has a long tail: 1 message in 1000 takes {} or more, others {}.",
                                            rail.name, us_text(rail.rdma.p999_us()), us_text(median(tails))));
  }
}

}  // namespace

std::string rail_name(const Measurement& m) {
  if (!m.label.empty()) return m.label;
  const auto end = [](const perf::Endpoint& e) {
    return fmt::format("{} {}", e.hostname, e.netdev.empty() ? e.address : e.netdev);
  };
  return fmt::format("{} → {}", end(m.client), end(m.server));
}

std::vector<RailFigures> rails_of(const std::vector<Measurement>& measurements) {
  std::vector<RailFigures> rails;
  for (const Measurement& m : measurements) {
    const std::string name = rail_name(m);
    auto rail = std::find_if(rails.begin(), rails.end(), [&](const RailFigures& r) { return r.name == name; });
    if (rail == rails.end()) {
      rails.push_back({.name = name, .path = fmt::format("{} → {}", m.client.hostname, m.server.hostname)});
      rail = std::prev(rails.end());
    }
    take(m.spec.transport == perf::Transport::kRdma ? rail->rdma : rail->tcp, m);
    rail->soft = rail->soft || m.soft();
  }
  return rails;
}

Verdict verdict_of(const std::vector<RailFigures>& rails) {
  Verdict verdict;
  std::vector<double> bandwidths, tcp_bandwidths, typical, tails, gains;
  bool soft = false;
  size_t with_rdma = 0;
  for (const RailFigures& rail : rails) {
    soft = soft || rail.soft;
    if (rail.rdma.best != nullptr || rail.rdma.small != nullptr) ++with_rdma;
    if (rail.rdma.best != nullptr) bandwidths.push_back(rail.rdma.best->average_gbps);
    if (rail.tcp.best != nullptr) tcp_bandwidths.push_back(rail.tcp.best->average_gbps);
    if (rail.rdma.best != nullptr && rail.tcp.best != nullptr && rail.tcp.best->average_gbps > 0)
      gains.push_back(rail.rdma.best->average_gbps / rail.tcp.best->average_gbps);
    if (rail.rdma.small != nullptr) typical.push_back(rail.rdma.p50_us()), tails.push_back(rail.rdma.p999_us());
  }
  if (rails.empty()) return {.tone = Verdict::Tone::kNone, .headline = "Nothing was measured.", .remarks = {}};
  if (with_rdma == 0) {
    verdict.headline = fmt::format("Plain TCP was measured on {}, RDMA was not.", counted(rails.size(), "rail"));
    return verdict;
  }
  verdict.tone = soft ? Verdict::Tone::kCaution : Verdict::Tone::kGood;
  verdict.headline =
      fmt::format("RDMA works on {}", with_rdma == rails.size()
                                          ? counted(with_rdma, "rail")
                                          : fmt::format("{} of {}", with_rdma, counted(rails.size(), "rail")));
  if (soft)
    verdict.headline += ", in software.";
  else if (!bandwidths.empty())
    verdict.headline +=
        fmt::format(" and carries {}{}.", span_text(bandwidths, gbps_text), bandwidths.size() > 1 ? " on each" : "");
  else
    verdict.headline += ".";
  if (soft) {
    verdict.remarks.push_back(
        "These devices are soft RDMA (RoCE made by the processor, no RDMA NIC): the path, the addresses "
        "and the software are proven, but the figures say nothing about a real fabric. RDMA in software "
        "is often slower than TCP.");
    if (!bandwidths.empty()) verdict.remarks.push_back(fmt::format("Bandwidth: {}.", span_text(bandwidths, gbps_text)));
  }
  if (!gains.empty() && !soft)
    verdict.remarks.push_back(
        fmt::format("That is {} what TCP reaches on the same path.", span_text(gains, ratio_text)));
  if (!typical.empty())
    verdict.remarks.push_back(fmt::format("A small message typically takes {}; 999 of 1000 arrive within {}.",
                                          span_text(typical, us_text), span_text(tails, us_text)));
  if (with_rdma < rails.size()) verdict.tone = Verdict::Tone::kCaution;
  const size_t before = verdict.remarks.size();
  compare_rails(rails, verdict);
  if (verdict.remarks.size() > before) verdict.tone = Verdict::Tone::kCaution;
  return verdict;
}

}  // namespace railbed::report

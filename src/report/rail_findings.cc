// SPDX-License-Identifier: Apache-2.0
#include "report/rail_findings.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/median.h"
#include "rdma/pause_counters.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

using findings::Evidence;
using findings::Finding;
using findings::Subject;
using perf::BandwidthPoint;
using perf::Measurement;

Finding about(const RailFigures& rail, std::string_view id, std::string message) {
  return {.id = std::string(id),
          .severity = doc::Severity::kWarning,
          .subject = {Subject::Kind::kRail, rail.name},
          .message = std::move(message)};
}

// A member of a measurement.
Evidence in_result(const Measurement& m, std::string member, std::string value) {
  return {.source = "result", .what = std::move(member), .value = std::move(value), .at = time_of(m)};
}

Evidence of_bandwidth(const Measurement& m, const BandwidthPoint& point) {
  return in_result(m, fmt::format("bandwidth of {} bytes, average_gbps", point.size_bytes),
                   fmt::format("{:.6g}", point.average_gbps));
}

// Measured against possible.
void judge_bandwidth(const RailFigures& rail, std::vector<Finding>& out) {
  const std::optional<double> share = share_of_link(rail);
  if (!share || (*share >= kBandFrom && *share <= kBandTo)) return;
  const Measurement& m = *rail.rdma.bandwidth;
  const perf::Endpoint& end = m.client;
  const std::string carries = fmt::format("{} carries {}", rail.name, gbps_text(rail.rdma.best->average_gbps));
  Finding found = *share < kBandFrom
                      ? about(rail, "RB-RESULT-001",
                              fmt::format("{}, {:.0f} % of the {} that its link can ({}{}, MTU {}).", carries,
                                          100 * *share, gbps_text(rail.yardstick_gbps), end.link,
                                          end.pcie.empty() ? "" : ", PCIe " + end.pcie, end.path_mtu_bytes))
                      : about(rail, "RB-RESULT-002",
                              fmt::format("{}, more than the {} that its link ({}) should be able to.", carries,
                                          gbps_text(rail.yardstick_gbps), end.link));
  found.evidence = {of_bandwidth(m, *rail.rdma.best), in_result(m, "client.link", end.link),
                    in_result(m, "server.link", m.server.link)};
  out.push_back(std::move(found));
}

void judge_repeats(const RailFigures& rail, std::vector<Finding>& out) {
  const std::vector<double>& runs = rail.rdma.repeats_gbps;
  if (runs.size() < 2) return;
  const auto [low, high] = std::ranges::minmax(runs);
  if (low >= 0.9 * high) return;
  Finding found = about(
      rail, "RB-RESULT-003",
      fmt::format("{} was measured {} times, with {} to {}.", rail.name, runs.size(), gbps_text(low), gbps_text(high)));
  for (const double gbps : runs)
    found.evidence.push_back({.source = "result",
                              .what = "bandwidth, the largest average_gbps of a sweep",
                              .value = fmt::format("{:.6g}", gbps)});
  out.push_back(std::move(found));
}

// Also of software: a path that was dead is no noise of the processor.
void judge_outages(const RailFigures& rail, std::vector<Finding>& out) {
  for (const auto& [path, name] : {std::pair(&rail.rdma, "RDMA"), std::pair(&rail.tcp, "TCP")}) {
    if (path->small == nullptr || path->small->outages.empty()) continue;
    const std::vector<perf::Outage>& all = path->small->outages;
    const perf::Outage& longest = *std::ranges::max_element(all, {}, &perf::Outage::duration_ms);
    Finding found = about(rail, "RB-RESULT-004",
                          fmt::format("{} gave no answer over {} {} time{}, for up to {}.", rail.name, name, all.size(),
                                      all.size() == 1 ? "" : "s", us_text(1000 * longest.duration_ms)));
    found.evidence = {in_result(*path->latency, fmt::format("outages, the longest, at {:.0f} ms", longest.at_ms),
                                fmt::format("{:.6g} ms", longest.duration_ms))};
    out.push_back(std::move(found));
  }
}

// Whether the bytes went over the port.
void judge_way(const RailFigures& rail, std::vector<Finding>& out) {
  const Measurement& m = *rail.rdma.bandwidth;
  double sent_bytes = 0;
  for (const BandwidthPoint& point : m.bandwidth)
    sent_bytes += static_cast<double>(point.messages) * static_cast<double>(point.size_bytes);
  const auto counted = m.client_counters.find("port_xmit_data_bytes");
  if (counted == m.client_counters.end() || static_cast<double>(counted->second) >= 0.9 * sent_bytes) return;
  Finding found =
      about(rail, "RB-RESULT-005",
            fmt::format("{} sent {:.3g} bytes, but its port {} counted {:.3g}: the traffic used another path.",
                        rail.name, sent_bytes, m.client.device, static_cast<double>(counted->second)));
  found.evidence = {in_result(m, "client_counters.port_xmit_data_bytes", std::to_string(counted->second))};
  out.push_back(std::move(found));
}

struct PortTrouble {
  std::string name;
  int64_t count = 0;
  std::string_view side;
};

// What the ports say: what had to be sent again, or was slowed down on the way.
std::vector<PortTrouble> port_troubles(const Measurement& m) {
  constexpr std::string_view kTroubles[] = {"local_ack_timeout_err",
                                            "out_of_sequence",
                                            "packet_seq_err",
                                            "rnr_nak_retry_err",
                                            "roce_adp_retrans",
                                            "np_cnp_sent",
                                            "np_ecn_marked_roce_packets",
                                            "rp_cnp_handled",
                                            "port_xmit_discards",
                                            "link_downed",
                                            "link_error_recovery",
                                            "symbol_error",
                                            "port_rcv_errors",
                                            "rx_icrc_encapsulated"};
  const std::pair<std::string_view, const perf::PortCounters*> sides[] = {{"client", &m.client_counters},
                                                                          {"server", &m.server_counters}};
  std::vector<PortTrouble> out;
  for (const auto& [side, counters] : sides)
    for (const std::string_view name : kTroubles)
      if (const auto found = counters->find(std::string(name)); found != counters->end())
        out.push_back({.name = std::string(name), .count = found->second, .side = side});
  for (const auto& [side, counters] : sides)
    for (const auto& [name, direction] :
         {std::pair("sent", rdma::PauseDirection::kSent), std::pair("received", rdma::PauseDirection::kReceived)})
      if (const int64_t frames = rdma::pause_frames(*counters, direction); frames > 0)
        out.push_back({.name = fmt::format("pause frames {}", name), .count = frames, .side = side});
  return out;
}

void judge_losses(const RailFigures& rail, std::vector<Finding>& out) {
  const Measurement& m = *rail.rdma.bandwidth;
  std::string text;
  std::vector<Evidence> evidence;
  for (const PortTrouble& one : port_troubles(m)) {
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", one.name, one.count, one.side);
    evidence.push_back(in_result(m, fmt::format("{}_counters, {}", one.side, one.name), std::to_string(one.count)));
  }
  if (text.empty()) return;
  Finding found =
      about(rail, "RB-RESULT-006", fmt::format("{} had losses or congestion meanwhile: {}.", rail.name, text));
  found.evidence = std::move(evidence);
  out.push_back(std::move(found));
}

void judge_completeness(const RailFigures& rail, std::vector<Finding>& out) {
  for (const PathFigures* path : {&rail.rdma, &rail.tcp})
    for (const Measurement* m : {path->bandwidth, path->latency}) {
      if (m == nullptr || m->ended_by.empty()) continue;
      Finding found =
          about(rail, "RB-RESULT-007", fmt::format("The measurement of {} is incomplete: {}.", rail.name, m->ended_by));
      found.evidence = {in_result(*m, "ended_by", m->ended_by)};
      out.push_back(std::move(found));
    }
}

// What those have that are measured alike: all alone, or all beside others. What software makes is not compared.
struct Usual {
  std::vector<double> bandwidths_gbps;
  std::vector<double> tails_us;
};

Usual usual_of(const std::vector<const RailFigures*>& rails) {
  Usual out;
  for (const RailFigures* rail : rails) {
    if (rail->rdma.best != nullptr) out.bandwidths_gbps.push_back(rail->rdma.best->average_gbps);
    if (rail->rdma.small != nullptr && rail->rdma.p999_us()) out.tails_us.push_back(*rail->rdma.p999_us());
  }
  return out;
}

// Rails are built alike, so a rail that differs needs an explanation. Of two the better one is the measure, of more the
// middle one.
void compare_bandwidth(const RailFigures& rail, const Usual& all, std::vector<Finding>& out) {
  const std::vector<double>& others = all.bandwidths_gbps;
  if (rail.rdma.best == nullptr || others.size() < 2) return;
  const bool of_two = others.size() == 2;
  const double usual = of_two ? std::ranges::max(others) : median_mean(others);
  const double mine = rail.rdma.best->average_gbps;
  if (mine >= 0.9 * usual) return;
  Finding found = about(rail, "RB-RESULT-008",
                        fmt::format("{} is {:.0f} % slower than the {}.", rail.name, 100 * (1 - mine / usual),
                                    of_two ? "other rail" : "middle of the rails"));
  found.evidence = {of_bandwidth(*rail.rdma.bandwidth, *rail.rdma.best),
                    {.source = "results", .what = "what the others carry", .value = fmt::format("{:.6g}", usual)}};
  out.push_back(std::move(found));
}

void compare_tail(const RailFigures& rail, const Usual& all, std::vector<Finding>& out) {
  const auto tail = rail.rdma.small == nullptr ? std::nullopt : rail.rdma.p999_us();
  if (!tail || all.tails_us.size() < 3 || *tail <= 3 * median_mean(all.tails_us)) return;
  const std::string usual = us_text(median_mean(all.tails_us));
  Finding found = about(rail, "RB-RESULT-009",
                        fmt::format("{} has a long tail: 1 round trip in 1000 takes {} or more, others {}.", rail.name,
                                    us_text(*tail), usual));
  found.evidence = {
      in_result(*rail.rdma.latency,
                fmt::format("latency of {} bytes, p99.9 of round trips", rail.rdma.small->size_bytes), us_text(*tail)),
      {.source = "results", .what = "p99.9 of the others", .value = usual}};
  out.push_back(std::move(found));
}

void compare_rails(const std::vector<RailFigures>& rails, std::vector<Finding>& out) {
  for (const bool together : {false, true}) {
    std::vector<const RailFigures*> alike;
    for (const RailFigures& rail : rails)
      if (!rail.soft && rail.together == together) alike.push_back(&rail);
    const Usual usual = usual_of(alike);
    for (const RailFigures* rail : alike) {
      compare_bandwidth(*rail, usual, out);
      compare_tail(*rail, usual, out);
    }
  }
}

}  // namespace

std::vector<Finding> objections(const std::vector<RailFigures>& rails) {
  std::vector<Finding> out;
  for (const RailFigures& rail : rails) {
    if (!rail.soft) {
      judge_bandwidth(rail, out);
      judge_repeats(rail, out);
      if (rail.rdma.bandwidth != nullptr) {
        judge_way(rail, out);
        judge_losses(rail, out);
      }
    }
    judge_outages(rail, out);
    judge_completeness(rail, out);
  }
  compare_rails(rails, out);
  return out;
}

std::vector<Finding> outages(const std::vector<RailFigures>& rails) {
  std::vector<Finding> out;
  for (const RailFigures& rail : rails) judge_outages(rail, out);
  return out;
}

std::vector<Finding> limits_of_judgement(const std::vector<RailFigures>& rails) {
  const auto note = [](std::string_view id, std::string names, std::string message) -> std::vector<Finding> {
    return {{.id = std::string(id),
             .severity = doc::Severity::kNote,
             .subject = {Subject::Kind::kRail, std::move(names)},
             .message = std::move(message)}};
  };
  const auto names_of = [&](const auto& which) {
    std::vector<std::string_view> names;
    for (const RailFigures& rail : rails)
      if (which(rail)) names.push_back(rail.name);
    return fmt::format("{}", fmt::join(names, ", "));
  };
  if (std::ranges::any_of(rails, &RailFigures::soft))
    return note("RB-RESULT-010", names_of([](const RailFigures& rail) { return rail.soft; }),
                "These devices are soft RDMA (RoCE in software, no RDMA NIC): the path, the addresses and the software "
                "work, but the figures say nothing about a real fabric, so there is no verdict. RDMA in software is "
                "often slower than TCP.");
  const auto is_unknown = [](const RailFigures& rail) { return !share_of_link(rail); };
  if (std::ranges::any_of(rails, is_unknown))
    return note("RB-RESULT-011", names_of(is_unknown),
                "There is no verdict for every rail: it requires the bandwidth of large messages and the rate of both "
                "links.");
  return {};
}

}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
#include "report/html_summary.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <set>

#include "perf/yardstick.h"
#include "rdma/pause_counters.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;
using perf::LatencyPoint;
using perf::Measurement;

double best_of(const Measurement& m) {
  return std::ranges::max_element(m.bandwidth, {}, &BandwidthPoint::average_gbps)->average_gbps;
}

void take(PathFigures& path, const Measurement& m) {
  if (!m.bandwidth.empty()) {
    path.repeats_gbps.push_back(best_of(m));
    const auto rank = [](const Measurement& one) { return std::pair(one.bandwidth.size(), -best_of(one)); };
    if (path.bandwidth == nullptr || rank(m) > rank(*path.bandwidth)) {
      path.bandwidth = &m;
      path.best = &*std::ranges::max_element(m.bandwidth, {}, &BandwidthPoint::average_gbps);
    }
  }
  if (!m.latency.empty() && (path.latency == nullptr || m.latency.size() >= path.latency->latency.size())) {
    path.latency = &m;
    path.small = &*std::ranges::min_element(m.latency, {}, &LatencyPoint::size_bytes);
  }
}

// When it was measured, in seconds since 1970; nothing where the file does not say.
struct Interval {
  double from_s = 0;
  double to_s = 0;
};
std::optional<Interval> interval_of(const Measurement& m) {
  std::tm parts{};
  const char* end = strptime(m.started_at.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::nullopt;
  const double from_s = static_cast<double>(timegm(&parts)) + (*end == '.' ? std::strtod(end, nullptr) : 0);
  double duration_s = 0;
  for (const BandwidthPoint& point : m.bandwidth) duration_s += point.duration_s;
  for (const LatencyPoint& point : m.latency) duration_s += point.duration_s;
  return Interval{.from_s = from_s, .to_s = from_s + duration_s};
}

std::string ends_of(const Measurement& m) {
  const auto end = [](const perf::Endpoint& e) {
    return fmt::format("{} {}", e.hostname, e.netdev.empty() ? e.address : e.netdev);
  };
  return fmt::format("{} → {}", end(m.client), end(m.server));
}

// Whether another rail was measured during at least half of the time.
bool beside_others(const Measurement& m, const std::vector<Measurement>& all) {
  const auto mine = interval_of(m);
  if (!mine || mine->to_s <= mine->from_s) return false;
  return std::ranges::any_of(all, [&](const Measurement& other) {
    if (other.label == m.label && ends_of(other) == ends_of(m)) return false;
    const auto theirs = interval_of(other);
    if (!theirs) return false;
    const double shared_s = std::min(mine->to_s, theirs->to_s) - std::max(mine->from_s, theirs->from_s);
    return shared_s >= 0.5 * (mine->to_s - mine->from_s);
  });
}

// The middle value, or the mean of the two middle ones.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

enum class Together : uint8_t { kNo, kYes };

std::string span_text(const std::vector<double>& values, std::string (*text)(double)) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string first = text(*low);
  const std::string last = text(*high);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Rails are built alike, so a rail that differs needs an explanation. Of two the better one is the measure, of more the
// middle one. What software makes says nothing about a fabric.
void compare_rails(const std::vector<RailFigures>& rails, Together together, Verdict& verdict) {
  std::vector<double> bandwidths;
  std::vector<double> tails;
  const auto counts = [&](const RailFigures& rail) {
    return !rail.soft && rail.together == (together == Together::kYes);
  };
  for (const RailFigures& rail : rails) {
    if (!counts(rail)) continue;
    if (rail.rdma.best != nullptr) bandwidths.push_back(rail.rdma.best->average_gbps);
    if (rail.rdma.small != nullptr && rail.rdma.p999_us()) tails.push_back(*rail.rdma.p999_us());
  }
  for (const RailFigures& rail : rails) {
    if (!counts(rail)) continue;
    if (rail.rdma.best != nullptr && bandwidths.size() > 1) {
      const double usual = bandwidths.size() == 2 ? std::ranges::max(bandwidths) : median(bandwidths);
      const double mine = rail.rdma.best->average_gbps;
      if (mine < 0.9 * usual)
        verdict.remarks.push_back(fmt::format("{} is {:.0f} % slower than the {}.", rail.name, 100 * (1 - mine / usual),
                                              bandwidths.size() == 2 ? "other rail" : "middle of the rails"));
    }
    if (rail.rdma.small != nullptr && rail.rdma.p999_us() && tails.size() > 2 &&
        *rail.rdma.p999_us() > 3 * median(tails))
      verdict.remarks.push_back(fmt::format("{} has a long tail: 1 round trip in 1000 takes {} or more, others {}.",
                                            rail.name, us_text(*rail.rdma.p999_us()), us_text(median(tails))));
  }
}

// Measured over possible, where both are known.
std::optional<double> share_of_link(const RailFigures& rail) {
  if (rail.rdma.best == nullptr || rail.yardstick_gbps <= 0 || rail.rdma.best->size_bytes < kLargeEnough_bytes)
    return std::nullopt;
  return rail.rdma.best->average_gbps / rail.yardstick_gbps;
}

// A remark per rail that is out of the band.
void judge_bandwidth(const RailFigures& rail, Verdict& verdict) {
  const std::optional<double> share = share_of_link(rail);
  if (!share) return;
  const perf::Endpoint& end = rail.rdma.bandwidth->client;
  if (*share < kBandFrom)
    verdict.remarks.push_back(fmt::format("{} carries {}, {:.0f} % of the {} that its link can ({}{}, MTU {}).",
                                          rail.name, gbps_text(rail.rdma.best->average_gbps), 100 * *share,
                                          gbps_text(rail.yardstick_gbps), end.link,
                                          end.pcie.empty() ? "" : ", PCIe " + end.pcie, end.path_mtu_bytes));
  if (*share > kBandTo)
    verdict.remarks.push_back(fmt::format("{} carries {}, more than the {} that its link ({}) should be able to.",
                                          rail.name, gbps_text(rail.rdma.best->average_gbps),
                                          gbps_text(rail.yardstick_gbps), end.link));
}

void judge_repeats(const RailFigures& rail, Verdict& verdict) {
  const std::vector<double>& runs = rail.rdma.repeats_gbps;
  if (runs.size() < 2) return;
  const auto [low, high] = std::ranges::minmax(runs);
  if (low < 0.9 * high)
    verdict.remarks.push_back(fmt::format("{} was measured {} times, with {} to {}.", rail.name, runs.size(),
                                          gbps_text(low), gbps_text(high)));
}

// Also of software: a path that was dead is no noise of the processor.
void judge_outages(const RailFigures& rail, Verdict& verdict) {
  for (const auto& [path, name] : {std::pair(&rail.rdma, "RDMA"), std::pair(&rail.tcp, "TCP")}) {
    if (path->small == nullptr || path->small->outages.empty()) continue;
    double longest_ms = 0;
    for (const perf::Outage& outage : path->small->outages) longest_ms = std::max(longest_ms, outage.duration_ms);
    verdict.remarks.push_back(fmt::format("{} gave no answer over {} {} time{}, for up to {}.", rail.name, name,
                                          path->small->outages.size(), path->small->outages.size() == 1 ? "" : "s",
                                          us_text(1000 * longest_ms)));
  }
}

// What the ports say: whether the bytes went over them, and what had to be sent again or was slowed down on the way.
void judge_counters(const RailFigures& rail, Verdict& verdict) {
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
  const Measurement* m = rail.rdma.bandwidth;
  if (m == nullptr) return;
  double sent_bytes = 0;
  for (const BandwidthPoint& point : m->bandwidth)
    sent_bytes += static_cast<double>(point.messages) * static_cast<double>(point.size_bytes);
  const auto counted = m->client_counters.find("port_xmit_data_bytes");
  if (counted != m->client_counters.end() && static_cast<double>(counted->second) < 0.9 * sent_bytes)
    verdict.remarks.push_back(
        fmt::format("{} sent {:.3g} bytes, but its port {} counted {:.3g}: the traffic used another path.", rail.name,
                    sent_bytes, m->client.device, static_cast<double>(counted->second)));
  std::string troubles;
  for (const auto& [side, counters] :
       {std::pair("client", &m->client_counters), std::pair("server", &m->server_counters)})
    for (const std::string_view name : kTroubles)
      if (const auto found = counters->find(std::string(name)); found != counters->end())
        troubles += fmt::format("{}{} {} ({})", troubles.empty() ? "" : ", ", name, found->second, side);
  for (const auto& [side, counters] :
       {std::pair("client", &m->client_counters), std::pair("server", &m->server_counters)})
    for (const auto& [name, direction] :
         {std::pair("sent", rdma::PauseDirection::kSent), std::pair("received", rdma::PauseDirection::kReceived)})
      if (const int64_t frames = rdma::pause_frames(*counters, direction); frames > 0)
        troubles += fmt::format("{}pause frames {} {} ({})", troubles.empty() ? "" : ", ", name, frames, side);
  if (!troubles.empty())
    verdict.remarks.push_back(fmt::format("{} had losses or congestion meanwhile: {}.", rail.name, troubles));
}

void judge_completeness(const RailFigures& rail, Verdict& verdict) {
  for (const PathFigures* path : {&rail.rdma, &rail.tcp})
    for (const Measurement* m : {path->bandwidth, path->latency})
      if (m != nullptr && !m->ended_by.empty())
        verdict.remarks.push_back(fmt::format("The measurement of {} is incomplete: {}.", rail.name, m->ended_by));
}

bool has_rdma(const RailFigures& rail) {
  return rail.rdma.best != nullptr || rail.rdma.small != nullptr;
}

// How many of them there are; one that was measured alone and beside others has two rows.
size_t count_rails(const std::vector<RailFigures>& rails, bool (*which)(const RailFigures& rail)) {
  std::set<std::pair<std::string, std::string>> counted;
  for (const RailFigures& rail : rails)
    if (which(rail)) counted.emplace(rail.label, rail.ends);
  return counted.size();
}

// "RDMA works on 2 of 3 rails and carries 390 Gb/s to 391 Gb/s on each, 99 % of what the links can."
std::string headline_of(const std::vector<RailFigures>& rails, size_t count, size_t with_rdma, bool soft) {
  std::vector<double> bandwidths;
  std::vector<double> shares;
  for (const RailFigures& rail : rails) {
    if (rail.rdma.best != nullptr) bandwidths.push_back(rail.rdma.best->average_gbps);
    if (const auto share = share_of_link(rail)) shares.push_back(100 * *share);
  }
  std::string text =
      fmt::format("RDMA works on {}", with_rdma == count ? counted(with_rdma, "rail")
                                                         : fmt::format("{} of {}", with_rdma, counted(count, "rail")));
  if (soft) return text + ", in software.";
  if (bandwidths.empty()) return text + ".";
  text += fmt::format(" and carries {}{}", span_text(bandwidths, gbps_text), bandwidths.size() > 1 ? " on each" : "");
  if (shares.size() == bandwidths.size())
    text += fmt::format(", {} of what {} can",
                        span_text(shares, [](double share) { return fmt::format("{:.0f} %", share); }),
                        shares.size() > 1 ? "the links" : "the link");
  return text + ".";
}

}  // namespace

std::string rail_name(const Measurement& m) {
  return m.label.empty() ? ends_of(m) : m.label;
}

std::vector<RailFigures> rails_of(const std::vector<Measurement>& measurements) {
  std::vector<RailFigures> rails;
  for (const Measurement& m : measurements) {
    const std::string ends = ends_of(m);
    const bool together = beside_others(m, measurements);
    auto rail = std::ranges::find_if(rails, [&](const RailFigures& r) {
      return r.label == m.label && r.ends == ends && r.verb == m.spec.verb && r.together == together;
    });
    if (rail == rails.end()) {
      rails.push_back({.name = rail_name(m),
                       .path = fmt::format("{} → {}", m.client.hostname, m.server.hostname),
                       .label = m.label,
                       .ends = ends,
                       .verb = m.spec.verb,
                       .together = together});
      rail = std::prev(rails.end());
    }
    take(m.spec.transport == perf::Transport::kRdma ? rail->rdma : rail->tcp, m);
    rail->soft = rail->soft || m.soft();
    if (!rail->soft && m.spec.transport == perf::Transport::kRdma && rail->rdma.bandwidth == &m)
      rail->yardstick_gbps = perf::yardstick_gbps(m.client, m.server);
  }
  for (RailFigures& rail : rails) {
    const bool shared = !rail.label.empty() && std::ranges::any_of(rails, [&](const RailFigures& other) {
      return other.label == rail.label && other.ends != rail.ends;
    });
    if (shared) rail.name = fmt::format("{} ({})", rail.label, rail.ends);
    if (rail.verb != perf::RdmaVerb::kWrite) rail.name += fmt::format(" ({})", perf::traits_of(rail.verb).text);
    if (rail.together) rail.name += " (among others)";
  }
  return rails;
}

Verdict verdict_of(const std::vector<RailFigures>& rails) {
  Verdict verdict;
  std::vector<double> bandwidths, typical, tails, gains;
  bool soft = false;
  bool all_measured = true;
  const size_t count = count_rails(rails, [](const RailFigures&) { return true; });
  const size_t with_rdma = count_rails(rails, has_rdma);
  for (const RailFigures& rail : rails) {
    soft = soft || rail.soft;
    all_measured = all_measured && share_of_link(rail).has_value();
    if (rail.rdma.best != nullptr) bandwidths.push_back(rail.rdma.best->average_gbps);
    if (rail.rdma.best != nullptr && rail.tcp.best != nullptr && rail.tcp.best->average_gbps > 0)
      gains.push_back(rail.rdma.best->average_gbps / rail.tcp.best->average_gbps);
    if (rail.rdma.small == nullptr) continue;
    if (const auto half = rail.rdma.half_p50_us()) typical.push_back(*half);
    if (const auto tail = rail.rdma.p999_us()) tails.push_back(*tail);
  }
  if (rails.empty()) return {.tone = Verdict::Tone::kNone, .headline = "Nothing was measured.", .remarks = {}};
  if (with_rdma == 0) {
    verdict.headline = fmt::format("Plain TCP was measured on {}, RDMA was not.", counted(count, "rail"));
    for (const RailFigures& rail : rails) judge_outages(rail, verdict);
    return verdict;
  }
  verdict.headline = headline_of(rails, count, with_rdma, soft);
  for (const RailFigures& rail : rails) {
    if (!rail.soft) judge_bandwidth(rail, verdict);
    if (!rail.soft) judge_repeats(rail, verdict);
    if (!rail.soft) judge_counters(rail, verdict);
    judge_outages(rail, verdict);
    judge_completeness(rail, verdict);
  }
  for (const Together together : {Together::kNo, Together::kYes}) compare_rails(rails, together, verdict);
  const bool objections = !verdict.remarks.empty() || with_rdma < count;
  verdict.tone = objections              ? Verdict::Tone::kCaution
                 : soft || !all_measured ? Verdict::Tone::kNone
                                         : Verdict::Tone::kGood;
  if (soft) {
    verdict.remarks.push_back(
        "These devices are soft RDMA (RoCE in software, no RDMA NIC): the path, the addresses and the software work, "
        "but the figures say nothing about a real fabric, so there is no verdict. RDMA in software is often slower "
        "than TCP.");
    if (!bandwidths.empty()) verdict.remarks.push_back(fmt::format("Bandwidth: {}.", span_text(bandwidths, gbps_text)));
  } else if (!all_measured) {
    verdict.remarks.push_back(
        "There is no verdict for every rail: it requires the bandwidth of large messages and the rate of both links.");
  }
  if (!gains.empty() && !soft)
    verdict.remarks.push_back(
        fmt::format("That is {} what TCP reaches on the same path.", span_text(gains, ratio_text)));
  if (!typical.empty())
    verdict.remarks.push_back(fmt::format(
        "A small message typically takes {} one way{}.", span_text(typical, us_text),
        tails.empty() ? "" : fmt::format("; 999 of 1000 round trips end within {}", span_text(tails, us_text))));
  return verdict;
}

}  // namespace railbed::report

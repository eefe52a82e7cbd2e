// SPDX-License-Identifier: Apache-2.0
#include "report/html_measurements.h"

#include <algorithm>
#include <set>

#include "report/html_text.h"
#include "report/rail_figures.h"

namespace railbed::report {
namespace {

using perf::BandwidthPoint;
using perf::LatencyPoint;
using perf::Measurement;
using perf::Transport;

constexpr size_t kMostMeasurements = 200;
constexpr size_t kMostEnds = 128;

std::string_view transport_of(const Measurement& m) {
  if (m.spec.transport == Transport::kTcp) return "TCP";
  return m.soft() ? "RDMA (soft)" : "RDMA";
}

Html bandwidth_table(const Measurement& m) {
  const bool both_ways = m.spec.bidirectional;
  Html out = html(
      "<table "
      "class=\"figures\"><thead><tr><th>Size</th><th>Average</th><th>Peak</th>{}<th>Messages/s</th><th>Messages</th><th>Time</th></tr></thead><tbody>\n",
      both_ways ? markup("<th>Back, average</th>") : Html());
  for (const BandwidthPoint& p : m.bandwidth)
    out += html("<tr><td>{}</td><td>{}</td><td>{}</td>{}<td>{}</td><td>{}</td><td>{:.2f} s</td></tr>\n",
                perf::size_text(p.size_bytes), gbps_text(p.average_gbps), gbps_text(p.series.peak_gbps),
                both_ways ? html("<td>{}</td>", gbps_text(p.reverse_average_gbps.value_or(0))) : Html(),
                rate_text(p.message_rate_per_s), p.messages, p.duration_s);
  return out + markup("</tbody></table>\n");
}

Html latency_table(const Measurement& m) {
  Html out = markup(
      "<table "
      "class=\"figures\"><thead><tr><th>Size</th><th>One way, min</th><th>p50</th><th>Round trip, p50</th><th>p90</th><th>p99</th><th>p99.9</th><th>Max</th><th>Mean</th><th>Deviation</th><th>Samples</th><th>Outages</th></tr></thead><tbody>\n");
  for (const LatencyPoint& p : m.latency) {
    const perf::Histogram& h = p.histogram;
    const auto settled = [&](double percent, double share) {
      const auto ns = h.settled_percentile_ns(percent);
      return ns ? us_text(share * static_cast<double>(*ns) / 1e3) : std::string("–");
    };
    out += html("<tr><td>{}</td><td>{}</td><td>{}</td>", perf::size_text(p.size_bytes),
                us_text(static_cast<double>(h.min_ns()) / 2e3), settled(50, 0.5));
    for (double percent : {50.0, 90.0, 99.0, 99.9}) out += html("<td>{}</td>", settled(percent, 1));
    out += html("<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                us_text(static_cast<double>(h.max_ns()) / 1e3), us_text(h.mean_ns() / 1e3),
                us_text(h.stddev_ns() / 1e3), h.count(), p.outages.size());
  }
  return out + markup("</tbody></table>\n");
}

Html end_html(std::string_view role, const perf::Endpoint& end) {
  std::string text = fmt::format("{} {}", end.hostname, end.address);
  if (!end.netdev.empty()) text += fmt::format(" on {}", end.netdev);
  if (!end.device.empty())
    text +=
        fmt::format(", {} port {}{}, path MTU {}", end.device, end.port, end.soft ? " (soft)" : "", end.path_mtu_bytes);
  if (!end.gid_reason.empty()) text += ", " + end.gid_reason;
  if (!end.program.empty()) text += ", " + end.program;
  if (!end.link.empty()) text += ", link " + end.link;
  if (!end.pcie.empty()) text += ", PCIe " + end.pcie;
  if (!end.device.empty() && end.link_layer == "Ethernet" && !end.counts_pauses) text += ", pause frames not counted";
  return entry_html(role, text);
}

Html counters_html(const Html& title, const perf::PortCounters& counters) {
  std::string text;
  for (const auto& [name, value] : counters) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? Html() : html("<dt>{}</dt><dd>{}</dd>\n", title, text);
}

// "16 to 128 writes under way": what each size really had.
std::string depth_text(const Measurement& m) {
  const auto [least, most] = std::ranges::minmax(m.bandwidth, {}, &BandwidthPoint::used_tx_depth);
  return least.used_tx_depth == most.used_tx_depth
             ? fmt::format("{} outstanding writes", most.used_tx_depth)
             : fmt::format("{} to {} outstanding writes, by size", least.used_tx_depth, most.used_tx_depth);
}

Html measurement_html(const Measurement& m) {
  const bool bandwidth = !m.bandwidth.empty();
  Html out = html("<details><summary><b>{}</b> · {} · {} · {} size{}</summary>\n", rail_name(m),
                  bandwidth ? "bandwidth" : "latency", transport_of(m), m.spec.sizes_bytes.size(),
                  m.spec.sizes_bytes.size() == 1 ? "" : "s");
  out += bandwidth ? bandwidth_table(m) : latency_table(m);
  out += html("<dl><dt>Command</dt><dd><code>{}</code></dd><dt>Started</dt><dd>{}</dd>\n", m.command, m.started_at);
  out += end_html("Client", m.client) + end_html("Server", m.server);
  out += counters_html(markup("Client's port counted"), m.client_counters);
  out += counters_html(markup("Server's port counted"), m.server_counters);
  const std::string length = m.spec.iterations > 0 ? fmt::format("{} messages per size", m.spec.iterations)
                                                   : fmt::format("{} ms per size", m.spec.duration_ms);
  out += entry_html("Incomplete", m.ended_by);
  out += html("<dt>Parameters</dt><dd>{} {}(s), {}, {}{}</dd></dl></details>\n", m.spec.qps,
              m.spec.transport == Transport::kTcp ? "stream" : "queue pair", length,
              bandwidth && m.spec.transport == Transport::kRdma ? depth_text(m)
              : bandwidth                                       ? "counted where it arrives"
              : m.spec.rate_per_s > 0 ? fmt::format("{} pings a second by a schedule", m.spec.rate_per_s)
                                      : "ping-pong, each after the answer to the last",
              m.spec.bidirectional ? ", both ways at once" : "");
  return out;
}

}  // namespace

Html measurements_html(const std::vector<Measurement>& measurements) {
  Html out;
  for (size_t i = 0; i < std::min(measurements.size(), kMostMeasurements); ++i)
    out += measurement_html(measurements[i]);
  if (measurements.size() > kMostMeasurements)
    out += html("<p class=\"quiet\">and {} more measurements, see the result files</p>\n",
                measurements.size() - kMostMeasurements);
  return out;
}

Html environment_html(const std::vector<Measurement>& measurements) {
  if (measurements.empty()) return {};
  std::set<std::string> versions;
  std::set<std::vector<std::string>> ends;
  for (const Measurement& m : measurements) {
    if (!m.version.empty()) versions.insert(m.version);
    for (const perf::Endpoint* end : {&m.client, &m.server}) {
      if (end->device.empty()) continue;
      std::string port = fmt::format("{} port {}{}", end->device, end->port, end->soft ? " (soft)" : "");
      ends.insert({end->hostname, end->netdev, end->address, std::move(port), end->link_layer, end->link, end->pcie,
                   std::to_string(end->path_mtu_bytes)});
    }
  }
  Html out =
      html("<section><h2>Environment</h2><p class=\"quiet\">Measured by railbed {}, report by railbed {}.</p>\n",
           versions.empty() ? "of an unknown version" : fmt::format("{}", fmt::join(versions, ", ")), RAILBED_VERSION);
  if (ends.empty()) return out + markup("</section>\n");
  out += objects_head("Measured ends",
                      {"Host", "Interface", "Address", "RDMA device", "Link layer", "Link", "PCIe", "Path MTU"});
  size_t rows = 0;
  for (const std::vector<std::string>& end : ends) {
    if (++rows > kMostEnds) break;
    out += markup("<tr>");
    for (const std::string& text : end) out += html("<td>{}</td>", text_or_dash(text));
    out += markup("</tr>\n");
  }
  out += objects_end();
  if (ends.size() > kMostEnds) out += html("<p class=\"quiet\">and {} more ends</p>\n", ends.size() - kMostEnds);
  return out + markup("</section>\n");
}

}  // namespace railbed::report

// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/ping_report.h"

#include <span>

#include "base/utc.h"
#include "doc/text.h"
#include "perf/latency_figures.h"
#include "perf/test_spec.h"

namespace railbed::perf {
namespace {

std::string_view name_of(PingRole role) {
  return role == PingRole::kMover ? "mover" : "source";
}

std::span<const ResultMember> ping_members() {
  using enum ResultMember::What;
  static constexpr ResultMember kAll[] = {{kVersion}, {kStartedAt}, {kCommand}, {kComplete}, {kSoft}, {kPeer}};
  return kAll;
}

}  // namespace

std::string_view name_of(PingPeer peer) {
  return peer == PingPeer::kRping ? "rping" : "railbed";
}

void PingReport::add(const PingTimes& times) {
  ++pings;
  if (times.message_ns) message.record(*times.message_ns);
  read.record(times.read_ns);
  write.record(times.write_ns);
}

PingReport report_of(PingConnection& connection, PingRole role) {
  PingReport report;
  report.version = RAILBED_VERSION;
  report.started_at = utc_text(std::chrono::system_clock::now());
  report.role = role;
  report.local_address = connection.local_address().to_string();
  report.peer_address = connection.peer_address().to_string();
  report.device = connection.end().device();
  report.device_port = connection.port_number();
  report.soft = connection.end().is_soft();
  report.opening = connection.times();
  return report;
}

std::string to_json(const PingReport& report) {
  JsonWriter writer(JsonWriter::Style::kPretty);
  writer.begin_object();
  write_name(writer, kPingName);
  write_envelope(writer, ping_members(),
                 {.version = report.version,
                  .started_at = report.started_at,
                  .command = report.command,
                  .peer = report.peer,
                  .ended_by = report.ended_by,
                  .soft = report.soft});
  writer.text("peer_speaks", name_of(report.speaks)).text("role", name_of(report.role));
  writer.text("local_address", report.local_address).text("peer_address", report.peer_address);
  writer.text("device", report.device).integer("device_port", report.device_port);
  writer.integer("size_bytes", report.size_bytes).integer("pings", report.pings);
  writer.begin_object("opening").number("address_us", us(report.opening.address_ns));
  writer.number("route_us", us(report.opening.route_ns)).number("connect_us", us(report.opening.connect_ns));
  writer.end_object();
  if (report.message.count() > 0) write_figures(writer, "message", figures_of(report.message));
  write_figures(writer, "read", figures_of(report.read));
  write_figures(writer, "write", figures_of(report.write));
  writer.end_object();
  return writer.take() + "\n";
}

std::string to_table(const PingReport& report) {
  const bool mover = report.role == PingRole::kMover;
  std::string out = fmt::format("ping over RDMA{}, {} port {} {} to {}, protocol {}\n",
                                report.soft ? ", soft RDMA" : "", doc::printable(report.device), report.device_port,
                                report.local_address, report.peer_address, name_of(report.speaks));
  out += fmt::format("  address {:.3f} ms, route {:.3f} ms, connect {:.3f} ms\n", us(report.opening.address_ns) / 1e3,
                     us(report.opening.route_ns) / 1e3, us(report.opening.connect_ns) / 1e3);
  if (report.pings == 0) return out + "  no ping was complete\n";
  const bool checks = !mover || report.speaks == PingPeer::kRailbed;
  out += fmt::format("  {} pings of {}{}\n", report.pings, size_text(report.size_bytes),
                     checks ? ", all data intact" : "; rping checks the data (-V)");
  out += mover ? "  microseconds; a message and its answer by the peer's program; READ and WRITE are answered by its "
                 "device\n"
               : "  microseconds; READ and WRITE are the peer's, each with a message there and one back\n";
  out += figures_heading("");
  if (mover) out += figures_row("message", figures_of(report.message));
  return out + figures_row("READ", figures_of(report.read)) + figures_row("WRITE", figures_of(report.write));
}

}  // namespace railbed::perf

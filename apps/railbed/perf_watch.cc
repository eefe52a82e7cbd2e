// SPDX-License-Identifier: Apache-2.0
// railbed perf watch: what RDMA ports count, per interval, until it is stopped.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "base/utc.h"
#include "command/exit_status.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/text.h"
#include "os/ports/kernel.h"
#include "perf/bounds.h"
#include "perf/json_writer.h"
#include "perf/measurement.h"
#include "perf_verb.h"
#include "rdma/port_watch.h"

namespace railbed {
namespace {

using rdma::PortFigure;
using rdma::PortInterval;
using rdma::PortState;

constexpr int64_t kRowsPerHeading = 20;

struct WatchArguments {
  std::vector<std::string> ports;
  std::chrono::milliseconds interval{1000};
  int64_t count = 0;  // of intervals; 0: without end
  std::string output = "table";
};

std::string per_second(std::optional<int64_t> count, double interval_s, double unit) {
  if (!count || interval_s <= 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(*count) * unit / interval_s);
}

std::string count_text(std::optional<int64_t> count) {
  return count ? std::to_string(*count) : "-";
}

// False when it was instructed to stop.
bool wait(std::stop_token stop, std::chrono::steady_clock::time_point until) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  return !changed.wait_until(lock, stop, until, [&] { return stop.stop_requested(); });
}

std::string watch_heading() {
  return fmt::format("{:<13} {:<14} {:<10} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
                     "UTC", "PORT", "INTERFACE", "TX Gb/s", "RX Gb/s", "TX Mpkt/s", "RX Mpkt/s", "RETRANS", "OUT SEQ",
                     "CNP SENT", "CNP GOT", "ECN MARK", "DISCARDS", "PAUSE TX", "PAUSE RX");
}

std::string watch_row(const PortInterval& one, const std::string& at) {
  constexpr double kGb = 8e-9;
  constexpr double kMillion = 1e-6;
  // The time of day; the date is in JSON.
  const std::string time = at.size() > 12 ? at.substr(11, 12) : at;
  std::string row = fmt::format("{:<13} {:<14} {:<10}", time, doc::printable(text_of(one.port)),
                                one.port.netdev.empty() ? "-" : doc::printable(one.port.netdev));
  if (one.state == PortState::kGone) return row + " the device was removed\n";
  if (one.state == PortState::kCameBack) return row + " the device is back; counting restarts now\n";
  row += fmt::format(" {:>9} {:>9} {:>9} {:>9}", per_second(one[PortFigure::kSentBytes], one.interval_s, kGb),
                     per_second(one[PortFigure::kReceivedBytes], one.interval_s, kGb),
                     per_second(one[PortFigure::kSentPackets], one.interval_s, kMillion),
                     per_second(one[PortFigure::kReceivedPackets], one.interval_s, kMillion));
  row += fmt::format(" {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", count_text(one[PortFigure::kRetransmits]),
                     count_text(one[PortFigure::kOutOfSequence]), count_text(one[PortFigure::kCnpsSent]),
                     count_text(one[PortFigure::kCnpsHandled]), count_text(one[PortFigure::kEcnMarked]),
                     count_text(one[PortFigure::kDiscards]), count_text(one[PortFigure::kPausesSent]),
                     count_text(one[PortFigure::kPausesReceived]));
  return row;
}

std::string watch_json(const PortInterval& one, const std::string& at) {
  perf::JsonWriter writer;
  writer.begin_object().text("at", at).number("interval_s", one.interval_s);
  writer.text("device", one.port.device).integer("port", one.port.port).text("netdev", one.port.netdev);
  writer.text("state", name_of(one.state)).begin_object("figures");
  for (size_t i = 0; i < rdma::kPortFigures; ++i) {
    const auto figure = static_cast<PortFigure>(i);
    if (const auto count = one[figure])
      writer.integer(name_of(figure), *count);
    else
      writer.absent(name_of(figure));
  }
  writer.end_object();
  perf::write_counters(writer, "counters", one.counters);
  writer.end_object();
  return writer.take() + "\n";
}

Result<int> watch_ports(const WatchArguments& arguments, const PerfCall& /*call*/) {
  const bool json = arguments.output == "json";
  const StopSignal signal;  // must exist before any thread does
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto due = std::chrono::steady_clock::now();
  const std::unique_ptr<os::LinkStatistics> interfaces = os::real_link_statistics();
  rdma::PortWatch watch = TRY(rdma::PortWatch::start(kernel->files(), interfaces.get(), arguments.ports, due));
  int64_t rows = 0;
  for (int64_t done = 0; arguments.count == 0 || done < arguments.count; ++done) {
    due += arguments.interval;
    if (!wait(signal.token(), due)) break;
    const auto now = std::chrono::steady_clock::now();
    due = std::max(due, now - arguments.interval);  // intervals that were slept through are not made up for
    const std::string at = utc_text(std::chrono::system_clock::now());
    for (const PortInterval& one : watch.look(now)) {
      if (!json && rows++ % kRowsPerHeading == 0) print("{}", watch_heading());
      if (json)
        print_document(watch_json(one, at));
      else
        print("{}", watch_row(one, at));
    }
    flush_output();
    if (std::ferror(stdout) != 0) break;  // reported at the end of the program
  }
  return kExitOk;
}

void add_watch_options(CommandLine& line, WatchArguments& a) {
  line.option("DEVICE", &a.ports, "RDMA devices or ports, e.g. mlx5_0 or mlx5_0:2 (default: all)");
  line.option("--interval", &a.interval, "seconds between two readings")
      .within(perf::bounds::kWatchInterval_ms)
      .show_default();
  line.option("-n,--count", &a.count, "number of intervals (default: until Ctrl-C)").positive();
  line.option("-o,--output", &a.output, "table, or json: one line per port and interval").one_of({"table", "json"});
}

}  // namespace

PerfVerb perf_watch() {
  return perf_row("watch", "show the counters of RDMA ports, also while a job runs", add_watch_options, watch_ports);
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// A report for people.
#include "doc/text.h"
#include "perf/jitter/jitter_report.h"

namespace railbed::perf {
namespace {

std::string parts_text(const JitterReport& report) {
  return report.clock == ProbeClock::kDevice
             ? "  sending: this host woke late; between: devices and network; noticing: the answer was there, this "
               "host not yet\n"
               "  (by the device's clock; the detection time of the fastest answer counts as between)\n"
             : "  sending: this host woke late; between: devices and network, and how late this host noticed the "
               "answer:\n"
               "  a software clock cannot separate them\n";
}

std::string condition_text(std::string_view name, const JitterCondition& condition, double confidence) {
  std::string out = figures_heading(name);
  for (const auto& [part, figures] : condition.parts()) out += figures_row(part, *figures);
  std::string intervals;
  for (const PercentileFigures& one : condition.percentiles)
    intervals +=
        fmt::format("{}p{} {:.2f} to {:.2f}", intervals.empty() ? "" : ", ", one.percent, one.low_us, one.high_us);
  if (!intervals.empty()) out += fmt::format("{:>14} {} (whole, with {:.0f} %)\n", "", intervals, 100 * confidence);
  if (condition.drift)
    out += fmt::format("{:>14} drift {:+.3f} ± {:.3f} us a second{}\n", "", condition.drift->us_per_s,
                       condition.drift->error, condition.drift->clear ? "" : ": no significant difference");
  return out;
}

std::string comparison_text(const JitterReport& report) {
  std::string out = fmt::format("  load against idle, over {} repeats of each in turns\n", report.idle.repeats);
  for (const Comparison& one : report.comparisons)
    out += fmt::format("{:>14} {:.2f} to {:.2f} idle, {:.2f} to {:.2f} loaded: {}\n", one.name, one.idle_low_us,
                       one.idle_high_us, one.loaded_low_us, one.loaded_high_us, name_of(one.effect));
  return out;
}

}  // namespace

std::string to_table(const JitterReport& report) {
  std::string out =
      fmt::format("{}jitter over RDMA (reads of {}){}\n  client  {} {}, {}\n  server  {} {}, {}\n",
                  report.label.empty() ? "" : doc::printable(report.label) + ": ", size_text(report.size_bytes),
                  report.soft ? ", soft RDMA" : "", doc::printable(report.client.hostname), report.client.address,
                  doc::printable(report.client.device), doc::printable(report.server.hostname),
                  doc::printable(report.server.address), doc::printable(report.server.device));
  out += fmt::format("  {} probes a second by a schedule, {} x {:.3g} s{}; {} clock\n", report.rate_per_s,
                     report.idle.repeats, report.duration_s,
                     report.loaded ? " idle and as often under load, in turns" : "", name_of(report.clock));
  out += report.polls_us > 0 ? fmt::format("  answers are polled for, and slept for after {} us\n", report.polls_us)
                             : "  answers are slept for, so wake-up times are included\n";
  out += "  microseconds, from when a probe was due\n" + parts_text(report);
  out += condition_text("idle", report.idle, report.confidence);
  if (report.loaded) {
    out += condition_text("loaded", *report.loaded, report.confidence);
    out += fmt::format("{:>14} the load: writes of {}, {:.2f} Gb/s\n", "", size_text(report.load_size_bytes),
                       report.loaded->load_gbps);
    if (report.loaded->rounds_with_short_load > 0)
      out += fmt::format("{:>14} in {} round(s) it ended before the last probe\n", "",
                         report.loaded->rounds_with_short_load);
    out += comparison_text(report);
  }
  out += fmt::format("  worst windows of {} ms\n", kWindow_ns / 1'000'000);
  for (const Window& one : report.worst)
    out += fmt::format("{:>14} {}  p50 {:.2f}, max {:.2f}, {} probes\n", name_of(one.load), one.at, one.p50_us,
                       one.max_us, one.samples);
  return out +
         fmt::format("  the probing thread took {:.2f} % of a processor idle{}\n", report.idle.cpu_percent,
                     report.loaded ? fmt::format(", {:.2f} % under load", report.loaded->cpu_percent) : std::string());
}

}  // namespace railbed::perf

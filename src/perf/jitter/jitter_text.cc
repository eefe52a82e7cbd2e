// SPDX-License-Identifier: Apache-2.0
// A report for people and for programs.
#include "doc/text.h"
#include "perf/jitter/jitter_report.h"
#include "perf/latency_figures.h"

namespace railbed::perf {
namespace {

void write_percentiles(JsonWriter& writer, const Histogram& durations) {
  writer.begin_array("percentiles");
  for (const ToldPercentile& one : kToldPercentiles) {
    const auto interval = percentile_interval(durations, one.percent);
    if (!interval) continue;
    writer.begin_object().number("percent", one.percent).number("us", us(interval->value_ns));
    writer.number("low_us", us(interval->low_ns)).number("high_us", us(interval->high_ns)).end_object();
  }
  writer.end_array();
}

void write_condition(JsonWriter& writer, std::string_view field, const JitterCondition& condition, ProbeClock clock) {
  writer.begin_object(field).integer("repeats", static_cast<int64_t>(condition.repeats.size()));
  write_figures(writer, "whole", condition.whole);
  write_percentiles(writer, condition.whole);
  write_figures(writer, "sending", condition.sending);
  write_figures(writer, "between", condition.between);
  if (clock == ProbeClock::kDevice) write_figures(writer, "noticing", condition.noticing);
  if (condition.drift) {
    writer.begin_object("drift").number("us_per_s", condition.drift->slope).number("error", condition.drift->error);
    writer.flag("clear", condition.drift->is_clear()).end_object();
  }
  writer.number("cpu_percent", condition.cpu_percent).number("load_gbps", condition.load_gbps);
  writer.integer("rounds_with_short_load", condition.rounds_with_short_load).end_object();
}

std::string parts_text(const JitterReport& report) {
  return report.clock == ProbeClock::kDevice
             ? "  sending: this host woke late; between: devices and network; noticing: the answer was there, this "
               "host not yet\n"
               "  (by the device's clock; the detection time of the fastest answer counts as between)\n"
             : "  sending: this host woke late; between: devices and network, and how late this host noticed the "
               "answer:\n"
               "  a software clock cannot separate them\n";
}

std::string condition_text(std::string_view name, const JitterCondition& condition, ProbeClock clock) {
  std::string out = figures_heading(name);
  out += figures_row("whole", condition.whole) + figures_row("sending", condition.sending);
  out += figures_row("between", condition.between);
  if (clock == ProbeClock::kDevice) out += figures_row("noticing", condition.noticing);
  std::string intervals;
  for (const ToldPercentile& one : kToldPercentiles)
    if (const auto interval = percentile_interval(condition.whole, one.percent))
      intervals += fmt::format("{}{} {:.2f} to {:.2f}", intervals.empty() ? "" : ", ", one.name, us(interval->low_ns),
                               us(interval->high_ns));
  if (!intervals.empty()) out += fmt::format("{:>14} {} (whole, with {:.0f} %)\n", "", intervals, 100 * kConfidence);
  if (condition.drift)
    out += fmt::format("{:>14} drift {:+.3f} ± {:.3f} us a second{}\n", "", condition.drift->slope,
                       condition.drift->error, condition.drift->is_clear() ? "" : ": no significant difference");
  return out;
}

std::string comparison_text(const JitterReport& report) {
  std::string out = fmt::format("  load against idle, over {} repeats of each in turns\n", report.idle.repeats.size());
  for (const Comparison& one : report.comparisons)
    out += fmt::format("{:>14} {:.2f} to {:.2f} idle, {:.2f} to {:.2f} loaded: {}\n", one.name, one.idle_low_us,
                       one.idle_high_us, one.loaded_low_us, one.loaded_high_us, name_of(one.verdict));
  return out;
}

}  // namespace

std::string to_json(const JitterReport& report) {
  JsonWriter writer(JsonWriter::Style::kPretty);
  writer.begin_object().text("apiVersion", "railbed.dev/v1").text("kind", "Jitter").text("schema", "railbed.jitter/v1");
  writer.text("version", report.version).text("started_at", report.started_at).text("command", report.command);
  writer.text("label", report.label).text("peer", report.peer).flag("complete", report.ended_by.empty());
  if (!report.ended_by.empty()) writer.text("ended_by", report.ended_by);
  writer.flag("soft", report.soft()).text("clock", name_of(report.clock));
  writer.integer("polls_us", report.polls_us);
  writer.integer("size_bytes", report.size_bytes).integer("rate_per_s", report.rate_per_s);
  writer.number("duration_s", report.duration_s).integer("repeats", report.repeats);
  writer.integer("load_size_bytes", report.load_size_bytes).number("confidence", kConfidence);
  for (const auto& [field, end] : {std::pair("client", &report.client), std::pair("server", &report.server)}) {
    writer.begin_object(field).text("hostname", end->hostname).text("address", end->address);
    writer.text("netdev", end->netdev).text("device", end->device).integer("port", end->port);
    writer.text("gid", end->gid).flag("soft", end->soft).text("link", end->link).end_object();
  }
  write_condition(writer, "idle", report.idle, report.clock);
  if (report.has_load()) write_condition(writer, "loaded", report.loaded, report.clock);
  writer.begin_array("comparisons");
  for (const Comparison& one : report.comparisons) {
    writer.begin_object().text("percentile", one.name);
    writer.number("idle_low_us", one.idle_low_us).number("idle_high_us", one.idle_high_us);
    writer.number("loaded_low_us", one.loaded_low_us).number("loaded_high_us", one.loaded_high_us);
    writer.text("load_is", name_of(one.verdict)).end_object();
  }
  writer.end_array().begin_array("worst_windows");
  for (const Window& one : report.worst) {
    writer.begin_object().text("at", one.at).number("length_ms", static_cast<double>(kWindow_ns) / 1e6);
    writer.text("load", name_of(one.load)).number("p50_us", one.p50_us).number("max_us", one.max_us);
    writer.integer("samples", static_cast<int64_t>(one.samples)).end_object();
  }
  writer.end_array().end_object();
  return writer.take() + "\n";
}

std::string to_table(const JitterReport& report) {
  std::string out =
      fmt::format("{}jitter over RDMA (reads of {}){}\n  client  {} {}, {}\n  server  {} {}, {}\n",
                  report.label.empty() ? "" : doc::printable(report.label) + ": ", size_text(report.size_bytes),
                  report.soft() ? ", soft RDMA" : "", doc::printable(report.client.hostname), report.client.address,
                  doc::printable(report.client.device), doc::printable(report.server.hostname),
                  doc::printable(report.server.address), doc::printable(report.server.device));
  out += fmt::format("  {} probes a second by a schedule, {} x {:.3g} s{}; {} clock\n", report.rate_per_s,
                     report.idle.repeats.size(), report.duration_s,
                     report.has_load() ? " idle and as often under load, in turns" : "", name_of(report.clock));
  out += report.polls_us > 0 ? fmt::format("  answers are polled for, and slept for after {} us\n", report.polls_us)
                             : "  answers are slept for, so wake-up times are included\n";
  out += "  microseconds, from when a probe was due\n" + parts_text(report);
  out += condition_text("idle", report.idle, report.clock);
  if (report.has_load()) {
    out += condition_text("loaded", report.loaded, report.clock);
    out += fmt::format("{:>14} the load: writes of {}, {:.2f} Gb/s\n", "", size_text(report.load_size_bytes),
                       report.loaded.load_gbps);
    if (report.loaded.rounds_with_short_load > 0)
      out += fmt::format("{:>14} in {} round(s) it ended before the last probe\n", "",
                         report.loaded.rounds_with_short_load);
    out += comparison_text(report);
  }
  out += fmt::format("  worst windows of {} ms\n", kWindow_ns / 1'000'000);
  for (const Window& one : report.worst)
    out += fmt::format("{:>14} {}  p50 {:.2f}, max {:.2f}, {} probes\n", name_of(one.load), one.at, one.p50_us,
                       one.max_us, one.samples);
  return out + fmt::format("  the probing thread took {:.2f} % of a processor idle{}\n", report.idle.cpu_percent,
                           report.has_load() ? fmt::format(", {:.2f} % under load", report.loaded.cpu_percent) : "");
}

}  // namespace railbed::perf

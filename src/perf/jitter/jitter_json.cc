// SPDX-License-Identifier: Apache-2.0
// A report's form in files and for programs, both ways.
#include <span>
#include <utility>

#include "doc/fields.h"
#include "perf/jitter/jitter_report.h"

namespace railbed::perf {
namespace {

using doc::Fields;

constexpr doc::Limits kJitterText{.bytes = 256};
constexpr doc::Limits kNotNegative{.min = 0};
constexpr size_t kMostEntries = 256;

std::span<const ResultMember> jitter_members() {
  using enum ResultMember::What;
  using enum ResultMember::Read;
  static constexpr ResultMember kAll[] = {
      {kVersion, kAlways}, {kStartedAt, kAlways}, {kCommand, kAlways, kMaxCommand_bytes},
      {kLabel, kIfThere},  {kPeer, kIfThere},     {kComplete},
      {kSoft, kAlways}};
  return kAll;
}

void write_condition(JsonWriter& writer, std::string_view field, const JitterCondition& condition) {
  writer.begin_object(field).integer("repeats", condition.repeats);
  write_figures(writer, "whole", condition.whole);
  writer.begin_array("percentiles");
  for (const PercentileFigures& one : condition.percentiles) {
    writer.begin_object().number("percent", one.percent).number("us", one.us);
    writer.number("low_us", one.low_us).number("high_us", one.high_us).end_object();
  }
  writer.end_array();
  write_figures(writer, "sending", condition.sending);
  write_figures(writer, "between", condition.between);
  if (condition.noticing) write_figures(writer, "noticing", *condition.noticing);
  if (condition.drift) {
    writer.begin_object("drift").number("us_per_s", condition.drift->us_per_s).number("error", condition.drift->error);
    writer.flag("clear", condition.drift->clear).end_object();
  }
  writer.number("cpu_percent", condition.cpu_percent).number("load_gbps", condition.load_gbps);
  writer.integer("rounds_with_short_load", condition.rounds_with_short_load).end_object();
}

void write_end(JsonWriter& writer, std::string_view field, const Endpoint& end) {
  writer.begin_object(field).text("hostname", end.hostname).text("address", end.address);
  writer.text("netdev", end.netdev).text("device", end.device).integer("port", end.port);
  writer.text("gid", end.gid).flag("soft", end.soft).text("link", end.link).end_object();
}

void need_figures(Fields& fields, std::string_view key, Figures& figures) {
  fields.require(key);
  fields.inside(key, [&](Fields& inner) { read_figures(inner, figures); });
}

void read_percentile(Fields& fields, PercentileFigures& percentile) {
  fields.need("percent", percentile.percent, {.min = 0, .max = 100});
  fields.read("us", percentile.us, kNotNegative);
  fields.need("low_us", percentile.low_us, kNotNegative);
  fields.need("high_us", percentile.high_us, kNotNegative);
}

void read_condition(Fields& fields, JitterCondition& condition) {
  fields.need("repeats", condition.repeats, kNotNegative);
  need_figures(fields, "whole", condition.whole);
  need_figures(fields, "sending", condition.sending);
  need_figures(fields, "between", condition.between);
  fields.inside("noticing", [&](Fields& inner) { read_figures(inner, condition.noticing.emplace()); });
  fields.each("percentiles", condition.percentiles, read_percentile, kMostEntries);
  fields.inside("drift", [&](Fields& inner) {
    Drift& drift = condition.drift.emplace();
    inner.need("us_per_s", drift.us_per_s);
    inner.need("error", drift.error, kNotNegative);
    inner.need("clear", drift.clear);
  });
  fields.need("cpu_percent", condition.cpu_percent, kNotNegative);
  fields.need("load_gbps", condition.load_gbps, kNotNegative);
  fields.need("rounds_with_short_load", condition.rounds_with_short_load, kNotNegative);
}

void read_comparison(Fields& fields, Comparison& comparison) {
  fields.need("percentile", comparison.name, kJitterText);
  fields.need("idle_low_us", comparison.idle_low_us, kNotNegative);
  fields.need("idle_high_us", comparison.idle_high_us, kNotNegative);
  fields.need("loaded_low_us", comparison.loaded_low_us, kNotNegative);
  fields.need("loaded_high_us", comparison.loaded_high_us, kNotNegative);
  fields.require("load_is");
  fields.choose("load_is", kLoadEffectNames, comparison.effect);
}

void read_window(Fields& fields, Window& window) {
  fields.need("at", window.at, kJitterText);
  fields.require("load");
  fields.choose("load", kPathLoadNames, window.load);
  fields.need("length_ms", window.length_ms, kNotNegative);
  fields.need("p50_us", window.p50_us, kNotNegative);
  fields.need("max_us", window.max_us, kNotNegative);
  fields.need("samples", window.samples, kNotNegative);
}

void need_end(Fields& fields, std::string_view key, Endpoint& end) {
  fields.require(key);
  fields.inside(key, [&](Fields& inner) {
    inner.need("hostname", end.hostname, kJitterText);
    inner.need("address", end.address, kJitterText);
    inner.read("netdev", end.netdev, kJitterText);
    inner.need("device", end.device, kJitterText);
    inner.read("port", end.port, {.min = 0, .max = 255});
    inner.read("gid", end.gid, kJitterText);
    inner.read("soft", end.soft);
    inner.read("link", end.link, kJitterText);
  });
}

// What earlier versions did not write keeps its default.
void read_jitter(Fields& fields, JitterReport& report) {
  ResultEnvelope envelope = read_envelope(fields, jitter_members());
  report.version = std::move(envelope.version);
  report.started_at = std::move(envelope.started_at);
  report.command = std::move(envelope.command);
  report.label = std::move(envelope.label);
  report.peer = std::move(envelope.peer);
  report.ended_by = std::move(envelope.ended_by);
  report.soft = envelope.soft;
  fields.require("clock");
  fields.choose("clock", kProbeClockNames, report.clock);
  fields.read("polls_us", report.polls_us, kNotNegative);
  fields.need("size_bytes", report.size_bytes, kNotNegative);
  fields.need("rate_per_s", report.rate_per_s, kNotNegative);
  fields.need("load_size_bytes", report.load_size_bytes, kNotNegative);
  fields.need("duration_s", report.duration_s, kNotNegative);
  fields.read("repeats", report.repeats, kNotNegative);
  fields.need("confidence", report.confidence, {.min = 0, .max = 1});
  need_end(fields, "client", report.client);
  need_end(fields, "server", report.server);
  fields.require("idle");
  fields.inside("idle", [&](Fields& inner) { read_condition(inner, report.idle); });
  fields.inside("loaded", [&](Fields& inner) { read_condition(inner, report.loaded.emplace()); });
  fields.each("comparisons", report.comparisons, read_comparison, kMostEntries);
  fields.each("worst_windows", report.worst, read_window, kMostEntries);
}

}  // namespace

std::string to_json(const JitterReport& report) {
  JsonWriter writer(JsonWriter::Style::kPretty);
  writer.begin_object();
  write_name(writer, kJitterName);
  write_envelope(writer, jitter_members(),
                 {.version = report.version,
                  .started_at = report.started_at,
                  .command = report.command,
                  .label = report.label,
                  .peer = report.peer,
                  .ended_by = report.ended_by,
                  .soft = report.soft});
  writer.text("clock", name_of(report.clock)).integer("polls_us", report.polls_us);
  writer.integer("size_bytes", report.size_bytes).integer("rate_per_s", report.rate_per_s);
  writer.number("duration_s", report.duration_s).integer("repeats", report.repeats);
  writer.integer("load_size_bytes", report.load_size_bytes).number("confidence", report.confidence);
  write_end(writer, "client", report.client);
  write_end(writer, "server", report.server);
  write_condition(writer, "idle", report.idle);
  if (report.loaded) write_condition(writer, "loaded", *report.loaded);
  writer.begin_array("comparisons");
  for (const Comparison& one : report.comparisons) {
    writer.begin_object().text("percentile", one.name);
    writer.number("idle_low_us", one.idle_low_us).number("idle_high_us", one.idle_high_us);
    writer.number("loaded_low_us", one.loaded_low_us).number("loaded_high_us", one.loaded_high_us);
    writer.text("load_is", name_of(one.effect)).end_object();
  }
  writer.end_array().begin_array("worst_windows");
  for (const Window& one : report.worst) {
    writer.begin_object().text("at", one.at).number("length_ms", one.length_ms);
    writer.text("load", name_of(one.load)).number("p50_us", one.p50_us).number("max_us", one.max_us);
    writer.integer("samples", static_cast<int64_t>(one.samples)).end_object();
  }
  writer.end_array().end_object();
  return writer.take() + "\n";
}

Result<JitterReport> jitter_from(const doc::Value& result) {
  TRY(check_schema(result, kJitterName));
  doc::Diagnostics found;
  Fields fields(result, "", doc::kNoFamily, found);
  JitterReport report;
  read_jitter(fields, report);
  TRY(doc::first_error(found));
  return report;
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// A report's form in files and for programs, both ways.
#include "doc/fields.h"
#include "perf/jitter/jitter_report.h"

namespace railbed::perf {
namespace {

using doc::Fields;

constexpr std::string_view kJitterSchema = "railbed.jitter/v1";
constexpr std::string_view kAnyJitterSchema = "railbed.jitter/";
constexpr doc::Limits kJitterText{.bytes = 256};
constexpr doc::Limits kNotNegative{.min = 0};
constexpr size_t kMostEntries = 256;

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
  fields.choose("load_is", kLoadVerdictNames, comparison.verdict);
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
  fields.need("version", report.version, kJitterText);
  fields.need("started_at", report.started_at, kJitterText);
  fields.need("command", report.command, {.bytes = kMaxCommand_bytes});
  fields.read("label", report.label, kJitterText);
  fields.read("peer", report.peer, kJitterText);
  fields.read("ended_by", report.ended_by, {.bytes = kMaxReason_bytes});
  fields.need("soft", report.soft);
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
  writer.begin_object().text("apiVersion", "railbed.dev/v1").text("kind", "Jitter").text("schema", kJitterSchema);
  writer.text("version", report.version).text("started_at", report.started_at).text("command", report.command);
  writer.text("label", report.label).text("peer", report.peer).flag("complete", report.ended_by.empty());
  if (!report.ended_by.empty()) writer.text("ended_by", report.ended_by);
  writer.flag("soft", report.soft).text("clock", name_of(report.clock));
  writer.integer("polls_us", report.polls_us);
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
    writer.text("load_is", name_of(one.verdict)).end_object();
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

bool is_jitter(const doc::Value& result) {
  const doc::Value* schema = result.find("schema");
  return schema != nullptr && schema->is_string() && schema->as_string()->starts_with(kAnyJitterSchema);
}

Result<JitterReport> jitter_from(const doc::Value& result) {
  doc::Diagnostics found;
  Fields fields(result, "", doc::kNoFamily, found);
  std::string schema;
  fields.need("schema", schema, kJitterText);
  TRY(doc::first_error(found));
  if (schema != kJitterSchema)
    return fail(Code::kInvalid, "schema: \"{}\" is not {}, the one this version reads", schema, kJitterSchema);
  JitterReport report;
  read_jitter(fields, report);
  TRY(doc::first_error(found));
  return report;
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "report/jitter_page.h"

#include "doc/fields.h"
#include "perf/measurement.h"

namespace railbed::report {
namespace {

using doc::Fields;

constexpr std::string_view kSchema = "railbed.jitter/v1";
constexpr std::string_view kAnySchema = "railbed.jitter/";
constexpr doc::Limits kPageText{.bytes = 256};
constexpr doc::Limits kCount{.min = 0};
constexpr size_t kMaxEntries = 256;

void read_part(Fields& fields, JitterPart& part) {
  fields.need("samples", part.samples, kCount);
  for (size_t i = 0; i < kPercentiles; ++i) fields.read(perf::kToldPercentiles[i].key, part.percentiles_us[i], kCount);
  fields.need("max_us", part.max_us, kCount);
}

void read_interval(Fields& fields, JitterInterval& interval) {
  fields.need("percent", interval.percent, {.min = 0, .max = 100});
  fields.need("low_us", interval.low_us, kCount);
  fields.need("high_us", interval.high_us, kCount);
}

void read_rounds(Fields& fields, JitterRounds& rounds) {
  fields.need("repeats", rounds.repeats, kCount);
  fields.require("whole");
  for (const std::string_view part : {"whole", "sending", "between", "noticing"})
    fields.inside(part, [&](Fields& inner) {
      rounds.parts.push_back({.name = std::string(part), .percentiles_us = {}});
      read_part(inner, rounds.parts.back());
    });
  fields.each("percentiles", rounds.intervals, read_interval, kMaxEntries);
  fields.inside("drift", [&](Fields& inner) {
    JitterDrift& drift = rounds.drift.emplace();
    inner.need("us_per_s", drift.us_per_s);
    inner.need("error", drift.error, kCount);
    inner.need("clear", drift.clear);
  });
  fields.need("cpu_percent", rounds.cpu_percent, kCount);
  fields.need("load_gbps", rounds.load_gbps, kCount);
  fields.need("rounds_with_short_load", rounds.rounds_with_short_load, kCount);
}

void read_comparison(Fields& fields, JitterComparison& comparison) {
  fields.need("percentile", comparison.percentile, kPageText);
  fields.need("idle_low_us", comparison.idle_low_us, kCount);
  fields.need("idle_high_us", comparison.idle_high_us, kCount);
  fields.need("loaded_low_us", comparison.loaded_low_us, kCount);
  fields.need("loaded_high_us", comparison.loaded_high_us, kCount);
  fields.need("load_is", comparison.load_is, kPageText);
}

void read_window(Fields& fields, JitterWindow& window) {
  fields.need("at", window.at, kPageText);
  fields.need("load", window.load, kPageText);
  fields.need("length_ms", window.length_ms, kCount);
  fields.need("p50_us", window.p50_us, kCount);
  fields.need("max_us", window.max_us, kCount);
  fields.need("samples", window.samples, kCount);
}

void read_end(Fields& fields, JitterPage::End& end) {
  fields.need("hostname", end.hostname, kPageText);
  fields.need("address", end.address, kPageText);
  fields.read("netdev", end.netdev, kPageText);
  fields.need("device", end.device, kPageText);
  fields.read("port", end.port, {.min = 0, .max = 255});
  fields.read("link", end.link, kPageText);
}

void read_page(Fields& fields, JitterPage& page) {
  fields.need("version", page.version, kPageText);
  fields.need("started_at", page.started_at, kPageText);
  fields.need("command", page.command, {.bytes = perf::kMaxCommand_bytes});
  fields.read("label", page.label, kPageText);
  fields.need("clock", page.clock, kPageText);
  fields.read("ended_by", page.ended_by, {.bytes = perf::kMaxReason_bytes});
  fields.need("soft", page.soft);
  fields.need("size_bytes", page.size_bytes, kCount);
  fields.need("rate_per_s", page.rate_per_s, kCount);
  fields.need("load_size_bytes", page.load_size_bytes, kCount);
  fields.need("duration_s", page.duration_s, kCount);
  fields.need("confidence", page.confidence, {.min = 0, .max = 1});
  for (const auto& [key, end] : {std::pair("client", &page.client), std::pair("server", &page.server)}) {
    fields.require(key);
    fields.inside(key, [end](Fields& inner) { read_end(inner, *end); });
  }
  fields.require("idle");
  fields.inside("idle", [&](Fields& inner) { read_rounds(inner, page.idle); });
  fields.inside("loaded", [&](Fields& inner) { read_rounds(inner, page.loaded.emplace()); });
  fields.each("comparisons", page.comparisons, read_comparison, kMaxEntries);
  fields.each("worst_windows", page.worst, read_window, kMaxEntries);
}

}  // namespace

std::string JitterPage::name() const {
  return label.empty() ? fmt::format("{} {} → {} {}", client.hostname, client.device, server.hostname, server.device)
                       : label;
}

std::string load_does(const JitterPage& page) {
  std::string out;
  for (const std::string_view verdict : {"higher", "lower", "unclear"}) {
    std::vector<std::string> names;
    for (const JitterComparison& one : page.comparisons)
      if (one.load_is == verdict) names.push_back(one.percentile);
    if (!names.empty()) out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", verdict, fmt::join(names, ", "));
  }
  return out.empty() ? "not compared: too few rounds" : out;
}

bool is_jitter(const doc::Value& result) {
  const doc::Value* schema = result.find("schema");
  return schema != nullptr && schema->is_string() && schema->as_string()->starts_with(kAnySchema);
}

Result<JitterPage> jitter_from(const doc::Value& result) {
  doc::Diagnostics found;
  Fields fields(result, "", doc::kNoFamily, found);
  std::string schema;
  fields.need("schema", schema, kPageText);
  TRY(doc::first_error(found));
  if (schema != kSchema)
    return fail(Code::kInvalid, "schema: \"{}\" is not {}, the one this version reads", schema, kSchema);
  JitterPage page;
  read_page(fields, page);
  TRY(doc::first_error(found));
  return page;
}

}  // namespace railbed::report

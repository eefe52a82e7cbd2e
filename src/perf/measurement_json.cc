// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <utility>

#include "doc/fields.h"
#include "perf/bounds.h"
#include "perf/json_writer.h"
#include "perf/measurement.h"

namespace railbed::perf {
namespace {

using doc::Fields;

constexpr size_t kMaxSlotsOfFile = 1 << 16;
constexpr size_t kMaxOutages = 4096;
constexpr int64_t kMaxGbps = 10'000'000;
constexpr int64_t kMaxUs = 1'000'000'000'000;
constexpr int64_t kMaxTotal = 1'000'000'000'000'000;
constexpr int64_t kMaxDuration_s = 1'000'000'000;
constexpr int64_t kMaxExact = int64_t{1} << 53;

// Each measurement of a file has them.
std::span<const ResultMember> measurement_members() {
  using enum ResultMember::What;
  using enum ResultMember::Read;
  static constexpr ResultMember kAll[] = {{kVersion, kAlways, 64},
                                          {kStartedAt, kAlways, 64},
                                          {kCommand, kAlways, kMaxCommand_bytes},
                                          {kLabel, kAlways},
                                          {kPeer, kAlways},
                                          {kSoft},
                                          {kComplete}};
  return kAll;
}

ResultEnvelope envelope_of(const Measurement& m) {
  return {.version = m.version,
          .started_at = m.started_at,
          .command = m.command,
          .label = m.label,
          .peer = m.peer,
          .ended_by = m.ended_by,
          .soft = m.soft()};
}

// Applies `read` to the object in `field`.
template <typename T, typename Read>
void need_inner(Fields& fields, std::string_view field, T& out, const Read& read) {
  fields.require(field);
  fields.inside(field, [&](Fields& inner) { out = read(inner); });
}

// The objects of the list in `field`.
template <typename T>
void need_each(Fields& fields, std::string_view field, std::vector<T>& out, T (*read)(Fields&), size_t most) {
  fields.require(field);
  fields.each(field, out, [&](Fields& inner, T& one) { one = read(inner); }, most);
}

void write_bandwidth(JsonWriter& writer, const BandwidthPoint& point) {
  writer.begin_object();
  writer.integer("size_bytes", point.size_bytes).integer("messages", point.messages);
  writer.number("duration_s", point.duration_s).number("average_gbps", point.average_gbps);
  writer.number("peak_gbps", point.series.peak_gbps).number("message_rate_per_s", point.message_rate_per_s);
  writer.begin_object("series");
  write_throughput(writer, point.series);
  writer.end_object();
  if (point.reverse_average_gbps) writer.number("reverse_average_gbps", *point.reverse_average_gbps);
  if (point.reverse_series) {
    writer.begin_object("reverse_series");
    write_throughput(writer, *point.reverse_series);
    writer.end_object();
  }
  writer.integer("used_tx_depth", point.used_tx_depth).integer("used_post_batch", point.used_post_batch);
  writer.flag("used_inline", point.used_inline).integer("lost_messages", point.lost_messages).end_object();
}

ThroughputSeries read_slots(Fields& fields) {
  return read_throughput(fields, kMaxSlotsOfFile);
}

BandwidthPoint read_bandwidth(Fields& fields) {
  BandwidthPoint point;
  fields.need("size_bytes", point.size_bytes, bounds::kSizes_bytes);
  fields.need("messages", point.messages, {.min = 0, .max = kMaxExact});
  fields.need("duration_s", point.duration_s, {.min = 0, .max = kMaxDuration_s});
  fields.need("average_gbps", point.average_gbps, {.min = 0, .max = kMaxGbps});
  fields.need("message_rate_per_s", point.message_rate_per_s, {.min = 0, .max = kMaxTotal});
  need_inner(fields, "series", point.series, read_slots);
  fields.read("reverse_average_gbps", point.reverse_average_gbps, {.min = 0, .max = kMaxGbps});
  fields.inside("reverse_series", [&](Fields& series) { point.reverse_series = read_slots(series); });
  fields.need("used_tx_depth", point.used_tx_depth, {.min = 0, .max = kMaxDepth});
  fields.need("used_post_batch", point.used_post_batch, bounds::kPostList);
  fields.need("used_inline", point.used_inline);
  fields.read("lost_messages", point.lost_messages, {.min = 0, .max = kMaxExact});
  return point;
}

constexpr std::pair<std::string_view, double> kPercentiles[] = {{"round_trip_p50_us", 50},
                                                                {"round_trip_p90_us", 90},
                                                                {"round_trip_p99_us", 99},
                                                                {"round_trip_p99_9_us", 99.9},
                                                                {"round_trip_p99_99_us", 99.99}};

enum class Halves : bool { kUnknown, kAlike };

void write_latency(JsonWriter& writer, const LatencyPoint& point, Halves halves) {
  const Histogram& h = point.histogram;
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  writer.begin_object();
  writer.integer("size_bytes", point.size_bytes).integer("samples", static_cast<int64_t>(h.count()));
  writer.number("duration_s", point.duration_s);
  // Only the fastest and the typical exchange are alike both ways, so only they are halved.
  if (halves == Halves::kAlike) {
    writer.number("half_min_us", us(h.min_ns()) / 2);
    if (const auto p50 = h.settled_percentile_ns(50)) writer.number("half_p50_us", us(*p50) / 2);
  }
  writer.number("round_trip_min_us", us(h.min_ns()));
  for (const auto& [name, percent] : kPercentiles)
    if (const auto value = h.settled_percentile_ns(percent)) writer.number(name, us(*value));
  writer.number("round_trip_max_us", us(h.max_ns())).number("round_trip_mean_us", h.mean_ns() / 1e3);
  writer.number("round_trip_stddev_us", h.stddev_ns() / 1e3).flag("used_inline", point.used_inline);
  writer.integer("lost_messages", point.lost_messages);
  const Histogram::Compact compact = h.compact();
  writer.begin_object("round_trip_histogram");
  writer.integer("precision_bits", compact.precision_bits).integer("count", static_cast<int64_t>(compact.count));
  writer.integer("min_ns", static_cast<int64_t>(compact.min_ns))
      .integer("max_ns", static_cast<int64_t>(compact.max_ns));
  writer.number("mean_ns", compact.mean_ns).number("stddev_ns", compact.stddev_ns);
  writer.begin_array("steps", JsonWriter::Array::kOnOneLine);
  for (uint64_t step : compact.steps) writer.integer({}, static_cast<int64_t>(step));
  writer.end_array().end_object();
  // Column by column, which takes a tenth of the space of an object per slot.
  writer.begin_object("round_trip_series");
  const auto column = [&](std::string_view name, auto value) {
    writer.begin_array(name, JsonWriter::Array::kOnOneLine);
    for (const LatencySlot& slot : point.slots) writer.number({}, value(slot));
    writer.end_array();
  };
  column("at_ms", [](const LatencySlot& s) { return s.at_ms; });
  column("min_us", [](const LatencySlot& s) { return s.min_us; });
  column("p50_us", [](const LatencySlot& s) { return s.p50_us; });
  column("p99_us", [](const LatencySlot& s) { return s.p99_us; });
  column("max_us", [](const LatencySlot& s) { return s.max_us; });
  column("samples", [](const LatencySlot& s) { return static_cast<double>(s.samples); });
  writer.end_object().begin_array("outages");
  for (const Outage& outage : point.outages)
    writer.begin_object().number("at_ms", outage.at_ms).number("duration_ms", outage.duration_ms).end_object();
  writer.end_array().end_object();
}

Histogram read_histogram(Fields& fields) {
  Histogram::Compact compact;
  fields.need("precision_bits", compact.precision_bits, {.min = 1, .max = 16});
  fields.need("count", compact.count, {.min = 0, .max = kMaxExact});
  fields.need("min_ns", compact.min_ns, {.min = 0, .max = kMaxExact});
  fields.need("max_ns", compact.max_ns, {.min = 0, .max = kMaxExact});
  fields.need("mean_ns", compact.mean_ns, {.min = 0, .max = kMaxTotal});
  fields.need("stddev_ns", compact.stddev_ns, {.min = 0, .max = kMaxTotal});
  fields.need("steps", compact.steps, {.min = 0, .max = kMaxExact, .entries = 1 << 21});
  Histogram histogram;
  if (!Histogram::restore(compact, histogram)) fields.wrong("", "the counts contradict the totals");
  return histogram;
}

std::vector<LatencySlot> read_latency_slots(Fields& fields) {
  const doc::Limits limits{.min = 0, .max = kMaxUs, .entries = kMaxSlotsOfFile};
  std::vector<double> at_ms;
  fields.need("at_ms", at_ms, limits);
  std::vector<LatencySlot> slots(at_ms.size());
  for (size_t i = 0; i < at_ms.size(); ++i) slots[i].at_ms = at_ms[i];
  const auto column = [&](std::string_view name, auto set) {
    std::vector<double> values;
    fields.need(name, values, limits);
    if (values.size() != slots.size())
      fields.wrong(name, fmt::format("{} entries, at_ms has {}", values.size(), slots.size()));
    else
      for (size_t i = 0; i < values.size(); ++i) set(slots[i], values[i]);
  };
  column("min_us", [](LatencySlot& s, double v) { s.min_us = v; });
  column("p50_us", [](LatencySlot& s, double v) { s.p50_us = v; });
  column("p99_us", [](LatencySlot& s, double v) { s.p99_us = v; });
  column("max_us", [](LatencySlot& s, double v) { s.max_us = v; });
  column("samples", [](LatencySlot& s, double v) { s.samples = static_cast<uint64_t>(v); });
  return slots;
}

Outage read_outage(Fields& fields) {
  Outage outage;
  fields.need("at_ms", outage.at_ms, {.min = 0, .max = kMaxUs});
  fields.need("duration_ms", outage.duration_ms, {.min = 0, .max = kMaxUs});
  return outage;
}

LatencyPoint read_latency(Fields& fields) {
  LatencyPoint point;
  fields.need("size_bytes", point.size_bytes, bounds::kSizes_bytes);
  fields.need("duration_s", point.duration_s, {.min = 0, .max = kMaxDuration_s});
  need_inner(fields, "round_trip_histogram", point.histogram, read_histogram);
  need_inner(fields, "round_trip_series", point.slots, read_latency_slots);
  need_each(fields, "outages", point.outages, read_outage, kMaxOutages);
  fields.need("used_inline", point.used_inline);
  fields.read("lost_messages", point.lost_messages, {.min = 0, .max = kMaxExact});
  return point;
}

Measurement read_measurement(Fields& fields) {
  ResultEnvelope envelope = read_envelope(fields, measurement_members());
  Measurement m{.version = std::move(envelope.version),
                .started_at = std::move(envelope.started_at),
                .command = std::move(envelope.command),
                .label = std::move(envelope.label),
                .peer = std::move(envelope.peer),
                .ended_by = std::move(envelope.ended_by)};
  need_inner(fields, "parameters", m.spec, read_spec);
  need_inner(fields, "client", m.client, read_endpoint);
  need_inner(fields, "server", m.server, read_endpoint);
  need_each(fields, "bandwidth", m.bandwidth, read_bandwidth, kMaxSizes);
  need_each(fields, "latency", m.latency, read_latency, kMaxSizes);
  m.client_counters = read_counters(fields, "client_counters");
  m.server_counters = read_counters(fields, "server_counters");
  return m;
}

// A value with a text of its own, which stays as it is where results of an earlier version say nothing.
template <typename T>
void read_named(Fields& fields, std::string_view key, T& out, Result<T> (*from)(std::string_view)) {
  std::optional<std::string> name;
  fields.read(key, name, {.bytes = 16});
  if (!name) return;
  if (Result<T> named = from(*name))
    out = *named;
  else
    fields.wrong(key, named.error().story());
}
template <typename T>
void need_named(Fields& fields, std::string_view key, T& out, Result<T> (*from)(std::string_view)) {
  fields.require(key);
  read_named(fields, key, out, from);
}

}  // namespace

void write_spec(JsonWriter& writer, const TestSpec& spec) {
  writer.text("kind", name_of(spec.kind)).text("transport", name_of(spec.transport));
  writer.begin_array("sizes_bytes", JsonWriter::Array::kOnOneLine);
  for (int64_t size : spec.sizes_bytes) writer.integer({}, size);
  writer.end_array();
  writer.integer("qps", spec.qps).integer("tx_depth", spec.tx_depth).integer("iterations", spec.iterations);
  writer.integer("duration_ms", spec.duration_ms)
      .integer("rate_per_s", spec.rate_per_s)
      .integer("inline_bytes", spec.inline_bytes);
  writer.flag("bidirectional", spec.bidirectional).text("remote_device", spec.remote_device);
  writer.text("verb", traits_of(spec.verb).name).integer("post_list", spec.post_list);
  writer.integer("traffic_class", spec.traffic_class).integer("service_level", spec.service_level);
  writer.integer("pkey_index", spec.pkey_index).integer("flow_label", spec.flow_label);
  writer.text("relaxed_ordering", name_of(spec.relaxed_ordering)).text("yield", name_of(spec.yield));
  writer.text("pin", name_of(spec.pin)).text("memory", text_of(spec.memory));
  writer.text("remote_memory", text_of(spec.remote_memory)).integer("threads", spec.threads);
}

TestSpec read_spec(Fields& fields) {
  TestSpec spec;
  need_named(fields, "kind", spec.kind, kind_from);
  need_named(fields, "transport", spec.transport, transport_from);
  fields.need("sizes_bytes", spec.sizes_bytes, bounds::kSizes_bytes);
  fields.need("qps", spec.qps, bounds::kQps);
  fields.need("tx_depth", spec.tx_depth, bounds::kTxDepth);
  fields.need("iterations", spec.iterations, bounds::kIterations);
  fields.need("duration_ms", spec.duration_ms, {.min = 0, .max = kMaxDuration_ms});
  fields.need("rate_per_s", spec.rate_per_s, bounds::kRate_per_s);
  fields.need("inline_bytes", spec.inline_bytes, bounds::kInline_bytes);
  fields.need("bidirectional", spec.bidirectional);
  fields.need("remote_device", spec.remote_device, {.bytes = 64});
  read_named(fields, "verb", spec.verb, verb_from);
  fields.read("post_list", spec.post_list, bounds::kPostList);
  fields.read("traffic_class", spec.traffic_class, bounds::kTrafficClass);
  fields.read("service_level", spec.service_level, bounds::kServiceLevel);
  fields.read("pkey_index", spec.pkey_index, bounds::kPkeyIndex);
  fields.read("flow_label", spec.flow_label, bounds::kFlowLabel);
  read_named(fields, "relaxed_ordering", spec.relaxed_ordering, choice_from);
  read_named(fields, "yield", spec.yield, choice_from);
  read_named(fields, "pin", spec.pin, choice_from);
  read_named(fields, "memory", spec.memory, memory_from);
  read_named(fields, "remote_memory", spec.remote_memory, memory_from);
  fields.read("threads", spec.threads, bounds::kThreads);
  if (const auto valid = validate(spec); !valid) fields.wrong("", valid.error().story()).with_fix(valid.error().hint);
  return spec;
}

void write_endpoint(JsonWriter& writer, const Endpoint& end) {
  writer.text("hostname", end.hostname).text("address", end.address).text("netdev", end.netdev);
  writer.text("device", end.device).integer("port", end.port).text("gid", end.gid);
  writer.integer("gid_index", end.gid_index).text("gid_reason", end.gid_reason);
  writer.text("link_layer", end.link_layer).integer("path_mtu_bytes", end.path_mtu_bytes).flag("soft", end.soft);
  writer.text("link", end.link).number("link_gbps", end.link_gbps);
  writer.text("pcie", end.pcie).number("pcie_gbps", end.pcie_gbps);
  writer.integer("numa_node", end.numa_node).text("cpus", end.cpus).text("memory", end.memory).text("pkey", end.pkey);
  writer.flag("relaxed_ordering", end.relaxed_ordering).flag("yields", end.yields);
  writer.integer("read_depth", end.read_depth);
  writer.integer("threads", end.threads).flag("thread_domains", end.thread_domains).text("post", end.post);
  writer.flag("counts_pauses", end.counts_pauses);
  if (!end.program.empty()) writer.text("program", end.program);
}

Endpoint read_endpoint(Fields& fields) {
  Endpoint end;
  fields.need("hostname", end.hostname, {.bytes = 256});
  fields.need("address", end.address, {.bytes = 64});
  fields.need("netdev", end.netdev, {.bytes = 64});
  fields.need("device", end.device, {.bytes = 64});
  fields.need("port", end.port, {.min = 0, .max = 255});
  fields.need("gid", end.gid, {.bytes = 64});
  fields.need("gid_index", end.gid_index, {.min = -1, .max = 65535});
  fields.need("gid_reason", end.gid_reason, {.bytes = 256});
  fields.need("link_layer", end.link_layer, {.bytes = 32});
  fields.need("path_mtu_bytes", end.path_mtu_bytes, {.min = 0, .max = 65536});
  fields.need("soft", end.soft);
  fields.need("link", end.link, {.bytes = 64});
  fields.need("link_gbps", end.link_gbps, {.min = 0, .max = kMaxGbps});
  fields.need("pcie", end.pcie, {.bytes = 64});
  fields.need("pcie_gbps", end.pcie_gbps, {.min = 0, .max = kMaxGbps});
  fields.read("numa_node", end.numa_node, {.min = -1, .max = 65535});
  fields.read("cpus", end.cpus, {.bytes = 256});
  fields.read("memory", end.memory, {.bytes = 256});
  fields.read("pkey", end.pkey, {.bytes = 16});
  fields.read("relaxed_ordering", end.relaxed_ordering);
  fields.read("yields", end.yields);
  fields.read("read_depth", end.read_depth, {.min = 0, .max = 255});
  fields.read("threads", end.threads, bounds::kThreads);
  fields.read("thread_domains", end.thread_domains);
  fields.read("post", end.post, {.bytes = 32});
  fields.read("counts_pauses", end.counts_pauses);
  fields.read("program", end.program, {.bytes = 64});
  return end;
}

void write_counters(JsonWriter& writer, std::string_view field, const PortCounters& counters) {
  writer.begin_object(field);
  for (const auto& [name, value] : counters) writer.integer(name, value);
  writer.end_object();
}

PortCounters read_counters(Fields& fields, std::string_view field) {
  PortCounters counters;
  fields.read(field, counters, {.min = 0, .entries = kMaxCounters});
  return counters;
}

void write_throughput(JsonWriter& writer, const ThroughputSeries& series) {
  writer.number("slot_ms", series.slot_ms).number("peak_gbps", series.peak_gbps);
  writer.begin_array("gbps", JsonWriter::Array::kOnOneLine);
  for (double gbps : series.gbps) writer.number({}, gbps);
  writer.end_array();
}

ThroughputSeries read_throughput(Fields& fields, size_t max_slots) {
  ThroughputSeries series;
  fields.need("slot_ms", series.slot_ms, {.min = 0, .max = kMaxDuration_s});
  fields.need("peak_gbps", series.peak_gbps, {.min = 0, .max = kMaxGbps});
  fields.need("gbps", series.gbps, {.min = 0, .max = kMaxGbps, .entries = max_slots});
  return series;
}

std::string to_json(const std::vector<Measurement>& measurements) {
  JsonWriter writer(JsonWriter::Style::kPretty);
  writer.begin_object();
  write_name(writer, kMeasurementsName);
  writer.begin_array("measurements");
  for (const Measurement& m : measurements) {
    writer.begin_object();
    write_envelope(writer, measurement_members(), envelope_of(m));
    writer.begin_object("parameters");
    write_spec(writer, m.spec);
    writer.end_object().begin_object("client");
    write_endpoint(writer, m.client);
    writer.end_object().begin_object("server");
    write_endpoint(writer, m.server);
    writer.end_object().begin_array("bandwidth");
    for (const BandwidthPoint& point : m.bandwidth) write_bandwidth(writer, point);
    writer.end_array().begin_array("latency");
    const Halves halves = m.has_halves() ? Halves::kAlike : Halves::kUnknown;
    for (const LatencyPoint& point : m.latency) write_latency(writer, point, halves);
    writer.end_array();
    write_counters(writer, "client_counters", m.client_counters);
    write_counters(writer, "server_counters", m.server_counters);
    writer.end_object();
  }
  writer.end_array().end_object();
  return writer.take();
}

namespace {

// What to do about a file whose schema this reader does not know.
std::string hint_of_schema(const doc::Value& result) {
  const doc::Value* schema = result.find("schema");
  if (schema == nullptr || !schema->is_string()) return "only results of `railbed perf` can be read";
  if (*schema->as_string() == "railbed.perf/v1") return "its latencies are half round trips; measure again";
  if (schema->as_string()->starts_with("railbed.mesh/"))
    return "reports show the file that `perf mesh --save` wrote, not its -o json";
  return "";
}

}  // namespace

Result<std::vector<Measurement>> measurements_from(const doc::Value& result) {
  TRY(check_schema(result, kMeasurementsName).hint(hint_of_schema(result)));
  doc::Diagnostics found;
  Fields fields(result, "", doc::kNoFamily, found);
  std::vector<Measurement> measurements;
  need_each(fields, "measurements", measurements, read_measurement, 4096);
  TRY(doc::first_error(found));
  return measurements;
}

}  // namespace railbed::perf

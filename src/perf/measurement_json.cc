// SPDX-License-Identifier: Apache-2.0
#include "perf/json.h"
#include "perf/measurement.h"

namespace railbed::perf {
namespace {

constexpr std::string_view kSchema = "railbed.perf/v1";
constexpr size_t kMaxFile_bytes = size_t{256} << 20;
constexpr size_t kMaxSlots = 1 << 16;
constexpr double kMaxGbps = 1e7;
constexpr double kMaxUs = 1e12;
constexpr int64_t kMaxCount = int64_t{1} << 53;

// What `read` makes of the object in `field`.
template <typename Read>
auto read_inner(const JsonObject& object, std::string_view field, Read read) -> decltype(read(object)) {
  const JsonObject inner = TRY(object.object(field));
  return read(inner);
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
  writer.end_object();
}

Result<ThroughputSeries> read_slots(const JsonObject& object) {
  return read_throughput(object, kMaxSlots);
}

Result<BandwidthPoint> read_bandwidth(const JsonObject& object) {
  BandwidthPoint point;
  point.size_bytes = TRY(object.integer("size_bytes", 1, kMaxSize_bytes));
  point.messages = TRY(object.integer("messages", 0, kMaxCount));
  point.duration_s = TRY(object.number("duration_s", 0, 1e9));
  point.average_gbps = TRY(object.number("average_gbps", 0, kMaxGbps));
  point.message_rate_per_s = TRY(object.number("message_rate_per_s", 0, 1e15));
  point.series = TRY(read_inner(object, "series", read_slots));
  if (object.has("reverse_average_gbps"))
    point.reverse_average_gbps = TRY(object.number("reverse_average_gbps", 0, kMaxGbps));
  if (object.has("reverse_series")) point.reverse_series = TRY(read_inner(object, "reverse_series", read_slots));
  return point;
}

void write_latency(JsonWriter& writer, const LatencyPoint& point) {
  const Histogram& h = point.histogram;
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  writer.begin_object();
  writer.integer("size_bytes", point.size_bytes).integer("samples", static_cast<int64_t>(h.count()));
  writer.number("duration_s", point.duration_s);
  writer.number("min_us", us(h.min_ns())).number("p50_us", us(h.percentile_ns(50)));
  writer.number("p90_us", us(h.percentile_ns(90))).number("p99_us", us(h.percentile_ns(99)));
  writer.number("p99_9_us", us(h.percentile_ns(99.9))).number("p99_99_us", us(h.percentile_ns(99.99)));
  writer.number("max_us", us(h.max_ns())).number("mean_us", h.mean_ns() / 1e3);
  writer.number("stddev_us", h.stddev_ns() / 1e3);
  const Histogram::Compact compact = h.compact();
  writer.begin_object("histogram");
  writer.integer("precision_bits", compact.precision_bits).integer("count", static_cast<int64_t>(compact.count));
  writer.integer("min_ns", static_cast<int64_t>(compact.min_ns))
      .integer("max_ns", static_cast<int64_t>(compact.max_ns));
  writer.number("mean_ns", compact.mean_ns).number("stddev_ns", compact.stddev_ns);
  writer.begin_array("steps", true);
  for (uint64_t step : compact.steps) writer.integer({}, static_cast<int64_t>(step));
  writer.end_array().end_object();
  // Column by column, which takes a tenth of the space of an object per slot.
  writer.begin_object("series");
  const auto column = [&](std::string_view name, auto value) {
    writer.begin_array(name, true);
    for (const LatencySlot& slot : point.slots) writer.number({}, value(slot));
    writer.end_array();
  };
  column("at_ms", [](const LatencySlot& s) { return s.at_ms; });
  column("min_us", [](const LatencySlot& s) { return s.min_us; });
  column("p50_us", [](const LatencySlot& s) { return s.p50_us; });
  column("p99_us", [](const LatencySlot& s) { return s.p99_us; });
  column("max_us", [](const LatencySlot& s) { return s.max_us; });
  column("samples", [](const LatencySlot& s) { return static_cast<double>(s.samples); });
  writer.end_object().end_object();
}

Result<Histogram> read_histogram(const JsonObject& object) {
  Histogram::Compact compact;
  compact.precision_bits = static_cast<int>(TRY(object.integer("precision_bits", 1, 16)));
  compact.count = static_cast<uint64_t>(TRY(object.integer("count", 0, kMaxCount)));
  compact.min_ns = static_cast<uint64_t>(TRY(object.integer("min_ns", 0, kMaxCount)));
  compact.max_ns = static_cast<uint64_t>(TRY(object.integer("max_ns", 0, kMaxCount)));
  compact.mean_ns = TRY(object.number("mean_ns", 0, 1e15));
  compact.stddev_ns = TRY(object.number("stddev_ns", 0, 1e15));
  for (int64_t step : TRY(object.integers("steps", 1 << 21, 0, kMaxCount)))
    compact.steps.push_back(static_cast<uint64_t>(step));
  Histogram histogram;
  if (!Histogram::restore(compact, histogram))
    return fail(Code::kInvalid, "{}: the counts contradict the totals", object.path());
  return histogram;
}

Result<LatencyPoint> read_latency(const JsonObject& object) {
  LatencyPoint point;
  point.size_bytes = TRY(object.integer("size_bytes", 1, kMaxSize_bytes));
  point.duration_s = TRY(object.number("duration_s", 0, 1e9));
  point.histogram = TRY(read_inner(object, "histogram", read_histogram));
  const JsonObject series = TRY(object.object("series"));
  const auto at_ms = TRY(series.numbers("at_ms", kMaxSlots, 0, kMaxUs));
  point.slots.resize(at_ms.size());
  for (size_t i = 0; i < at_ms.size(); ++i) point.slots[i].at_ms = at_ms[i];
  const auto column = [&](std::string_view name, auto set) -> Result<void> {
    const auto values = TRY(series.numbers(name, kMaxSlots, 0, kMaxUs));
    if (values.size() != at_ms.size())
      return fail(Code::kInvalid, "{}.{}: {} entries, at_ms has {}", series.path(), name, values.size(), at_ms.size());
    for (size_t i = 0; i < values.size(); ++i) set(point.slots[i], values[i]);
    return {};
  };
  TRY(column("min_us", [](LatencySlot& s, double v) { s.min_us = v; }));
  TRY(column("p50_us", [](LatencySlot& s, double v) { s.p50_us = v; }));
  TRY(column("p99_us", [](LatencySlot& s, double v) { s.p99_us = v; }));
  TRY(column("max_us", [](LatencySlot& s, double v) { s.max_us = v; }));
  TRY(column("samples", [](LatencySlot& s, double v) { s.samples = static_cast<uint64_t>(v); }));
  return point;
}

Result<Measurement> read_measurement(const JsonObject& object) {
  Measurement m;
  m.started_at = TRY(object.text("started_at", 64));
  m.command = TRY(object.text("command", 16384));
  m.label = TRY(object.text("label", 256));
  m.peer = TRY(object.text("peer", 256));
  m.spec = TRY(read_inner(object, "parameters", read_spec));
  m.client = TRY(read_inner(object, "client", read_endpoint));
  m.server = TRY(read_inner(object, "server", read_endpoint));
  for (const JsonObject& point : TRY(object.objects("bandwidth", 64)))
    m.bandwidth.push_back(TRY(read_bandwidth(point)));
  for (const JsonObject& point : TRY(object.objects("latency", 64))) m.latency.push_back(TRY(read_latency(point)));
  return m;
}

}  // namespace

void write_spec(JsonWriter& writer, const TestSpec& spec) {
  writer.text("kind", name_of(spec.kind)).text("transport", name_of(spec.transport));
  writer.begin_array("sizes_bytes", true);
  for (int64_t size : spec.sizes_bytes) writer.integer({}, size);
  writer.end_array();
  writer.integer("qps", spec.qps).integer("tx_depth", spec.tx_depth).integer("iterations", spec.iterations);
  writer.integer("duration_ms", spec.duration_ms).integer("inline_bytes", spec.inline_bytes);
  writer.flag("bidirectional", spec.bidirectional).text("remote_device", spec.remote_device);
}

Result<TestSpec> read_spec(const JsonObject& object) {
  TestSpec spec;
  const std::string kind = TRY(object.text("kind", 16));
  spec.kind = TRY(kind_from(kind));
  const std::string transport = TRY(object.text("transport", 16));
  spec.transport = TRY(transport_from(transport));
  spec.sizes_bytes = TRY(object.integers("sizes_bytes", 64, 1, kMaxSize_bytes));
  spec.qps = TRY(object.integer("qps", 1, kMaxQps));
  spec.tx_depth = TRY(object.integer("tx_depth", 1, 8192));
  spec.iterations = TRY(object.integer("iterations", 0, kMaxCount));
  spec.duration_ms = TRY(object.integer("duration_ms", 0, kMaxDuration_ms));
  spec.inline_bytes = TRY(object.integer("inline_bytes", -1, 4096));
  spec.bidirectional = TRY(object.flag("bidirectional"));
  spec.remote_device = TRY(object.text("remote_device", 64));
  TRY(validate(spec));
  return spec;
}

void write_endpoint(JsonWriter& writer, const Endpoint& end) {
  writer.text("hostname", end.hostname).text("address", end.address).text("netdev", end.netdev);
  writer.text("device", end.device).integer("port", end.port).text("gid", end.gid);
  writer.integer("gid_index", end.gid_index).text("gid_reason", end.gid_reason);
  writer.text("link_layer", end.link_layer).integer("path_mtu_bytes", end.path_mtu_bytes).flag("soft", end.soft);
}

Result<Endpoint> read_endpoint(const JsonObject& object) {
  Endpoint end;
  end.hostname = TRY(object.text("hostname", 256));
  end.address = TRY(object.text("address", 64));
  end.netdev = TRY(object.text("netdev", 64));
  end.device = TRY(object.text("device", 64));
  end.port = TRY(object.integer("port", 0, 255));
  end.gid = TRY(object.text("gid", 64));
  end.gid_index = TRY(object.integer("gid_index", -1, 65535));
  end.gid_reason = TRY(object.text("gid_reason", 256));
  end.link_layer = TRY(object.text("link_layer", 32));
  end.path_mtu_bytes = TRY(object.integer("path_mtu_bytes", 0, 65536));
  end.soft = TRY(object.flag("soft"));
  return end;
}

void write_throughput(JsonWriter& writer, const ThroughputSeries& series) {
  writer.number("slot_ms", series.slot_ms).number("peak_gbps", series.peak_gbps);
  writer.begin_array("gbps", true);
  for (double gbps : series.gbps) writer.number({}, gbps);
  writer.end_array();
}

Result<ThroughputSeries> read_throughput(const JsonObject& object, size_t max_slots) {
  ThroughputSeries series;
  series.slot_ms = TRY(object.number("slot_ms", 0, 1e9));
  series.peak_gbps = TRY(object.number("peak_gbps", 0, kMaxGbps));
  series.gbps = TRY(object.numbers("gbps", max_slots, 0, kMaxGbps));
  return series;
}

std::string to_json(const std::vector<Measurement>& measurements) {
  JsonWriter writer(true);
  writer.begin_object().text("schema", kSchema).begin_array("measurements");
  for (const Measurement& m : measurements) {
    writer.begin_object();
    writer.text("started_at", m.started_at).text("command", m.command).text("label", m.label).text("peer", m.peer);
    writer.flag("soft", m.soft());
    writer.begin_object("parameters");
    write_spec(writer, m.spec);
    writer.end_object().begin_object("client");
    write_endpoint(writer, m.client);
    writer.end_object().begin_object("server");
    write_endpoint(writer, m.server);
    writer.end_object().begin_array("bandwidth");
    for (const BandwidthPoint& point : m.bandwidth) write_bandwidth(writer, point);
    writer.end_array().begin_array("latency");
    for (const LatencyPoint& point : m.latency) write_latency(writer, point);
    writer.end_array().end_object();
  }
  writer.end_array().end_object();
  return writer.take();
}

Result<std::vector<Measurement>> measurements_from_json(std::string_view text) {
  const JsonObject document = TRY(JsonObject::parse(text, kMaxFile_bytes));
  const std::string schema = TRY(document.text("schema", 64).hint("only results of `railbed perf` can be read"));
  if (schema != kSchema)
    return fail(Code::kInvalid, "schema: \"{}\" is not {}, the one this version reads", schema, kSchema);
  std::vector<Measurement> result;
  for (const JsonObject& object : TRY(document.objects("measurements", 4096)))
    result.push_back(TRY(read_measurement(object)));
  return result;
}

}  // namespace railbed::perf

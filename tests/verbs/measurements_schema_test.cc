// SPDX-License-Identifier: Apache-2.0
// The schema of measurements is made of what their writer writes: of a sample in which nothing is empty. It is held
// against a measurement of this machine's loopback, too.
#include <filesystem>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/json.h"
#include "json_schema.h"
#include "perf/measurement.h"
#include "run_verb.h"

namespace railbed {
namespace {

using doc::Value;
using testing::IsEmpty;

std::filesystem::path schema_path() {
  return std::filesystem::path(source_dir()) / "docs/schemas/Measurements.json";
}

// Members that are only there for some measurements: of two directions, percentiles with enough samples beyond them,
// halves of round trips that have two alike, of one that was ended, of an end that is no railbed.
bool is_optional(std::string_view key) {
  return key.starts_with("reverse_") || key.starts_with("round_trip_p") || key.starts_with("half_") ||
         key == "ended_by" || key == "program";
}

// The schema of a value: numbers are integers where the writer's are.
Value schema_of_sample(const Value& value) {
  Value out = Value::object();
  out.set("type", JsonSchema::type_of(value));
  if (const Value::Object* members = value.as_object()) {
    Value required = Value::array();
    Value properties = Value::object();
    for (const Value::Member& member : *members) {
      if (!is_optional(member.key)) required.push(member.key);
      properties.set(member.key, schema_of_sample(member.value));
    }
    out.set("required", std::move(required));
    out.set("properties", std::move(properties));
  } else if (const Value::Array* items = value.as_array()) {
    EXPECT_FALSE(items->empty()) << "the sample has an empty list";
    if (!items->empty()) out.set("items", schema_of_sample(items->front()));
  }
  return out;
}

perf::Measurement sample() {
  using namespace perf;
  Measurement m{.spec = {.sizes_bytes = {64}, .bidirectional = true}};
  m.client.program = m.server.program = "perftest 6.06";
  const ThroughputSeries series{.slot_ms = 10.5, .gbps = {5.25}, .peak_gbps = 6.25};
  m.bandwidth.push_back({.size_bytes = 64,
                         .messages = 1000,
                         .duration_s = 0.5,
                         .average_gbps = 5.25,
                         .message_rate_per_s = 10000.5,
                         .series = series,
                         .reverse_average_gbps = 4.5,
                         .reverse_series = series});
  LatencyPoint point{.size_bytes = 2, .duration_s = 1.5};
  LatencyMeter meter(10'000'000);
  for (uint64_t i = 0; i < 200'000; ++i) meter.add(i * 1'003, 1003 + 7 * (i % 100));  // enough for each percentile
  point.histogram = meter.histogram();
  LatencySlot slot;
  slot.at_ms = slot.min_us = slot.p50_us = slot.p99_us = slot.max_us = 1.5;
  point.slots = {slot};
  point.outages = {{.at_ms = 1.5, .duration_ms = 2.5}};
  m.latency.push_back(std::move(point));
  m.ended_by = "asked to stop";
  return m;
}

TEST(MeasurementsSchema, NamesEveryFieldThatIsWritten) {
  const Value written = parsed(perf::to_json({sample()}));
  Value schema = Value::object();
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("$comment", "SPDX-License-Identifier: Apache-2.0");
  schema.set("title", "Measurements");
  schema.set("description", "railbed perf bw, lat -o json and --save; fields are explained in docs/perf.md");
  const Value of_sample = schema_of_sample(written);
  for (const Value::Member& member : *of_sample.as_object()) schema.set(member.key, member.value);
  for (const char* fixed : {"apiVersion", "kind", "schema"}) {
    Value constant = Value::object();
    constant.set("const", *written.find(fixed));
    schema.find("properties")->set(fixed, std::move(constant));
  }
  expect_golden(schema_path(), doc::to_json(schema, 2) + "\n");
}

// What `perf KIND` prints for a measurement over the loopback.
std::string measured(const std::string& kind) {
  // Others may have a port: then it is tried with another one.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::string port = std::to_string(20000 + (getpid() * 7 + attempt * 1009) % 10000);
    auto serving = std::async(std::launch::async, [&] {
      return run_verb({"perf", "serve", "--bind", "127.0.0.1", "--port", port, "--once"});
    });
    // The server listens some time after it was started; a client that is refused asks again.
    while (serving.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      const os::RunResult ran =
          run_verb({"perf", kind, "127.0.0.1", "--port", port, "--tcp", "--iterations", "50", "-o", "json"});
      if (ran.exit_status == 0) return ran.output;
    }
  }
  ADD_FAILURE() << "perf " << kind << " over the loopback does not work";
  return "{}";
}

TEST(MeasurementsSchema, HoldsWhatPerfMeasures) {
  JsonSchema schema(parsed(content(schema_path())));
  for (const std::string kind : {"bw", "lat"}) EXPECT_THAT(schema.problems(parsed(measured(kind))), IsEmpty());
}

}  // namespace
}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_message.h"

#include <array>
#include <set>

#include "doc/fields.h"
#include "doc/text.h"
#include "perf/json_writer.h"

namespace railbed::perf::mesh {
namespace {

using doc::Fields;

constexpr size_t kMaxDevice_bytes = 64;
constexpr int64_t kMaxNumber = int64_t{1} << 31;
constexpr int64_t kMost_gbps = 10'000;     // beyond any path between two machines
constexpr int64_t kMost_us = 120'000'000;  // longer than a step
constexpr int64_t kMaxSamples = int64_t{1} << 40;

constexpr std::array<std::string_view, 2> kTransports = {"rdma", "tcp"};

void read_rail_number(Fields& fields, uint32_t& rail) {
  fields.need("rail", rail, {.min = 0, .max = kMaxRails - 1});
}

void read_device(Fields& fields, std::string& device) {
  fields.need("device", device, {.bytes = kMaxDevice_bytes});
}

// Each rail once: of two answers about one, which is right is unknown.
template <typename T>
void need_distinct(Fields& fields, std::string_view key, const std::vector<T>& entries) {
  std::set<uint32_t> seen;
  for (const T& entry : entries)
    if (!seen.insert(entry.rail).second) {
      fields.wrong(key, fmt::format("duplicate rail {}", entry.rail));
      return;
    }
}

// The same with one list of objects in it, in each of the four messages.
template <typename T, typename Visit>
void need_rails(Fields& fields, std::string_view key, std::vector<T>& entries, const Visit& visit) {
  fields.require(key);
  fields.each(key, entries, visit, kMaxRails);
  need_distinct(fields, key, entries);
}

}  // namespace

std::string problem_text(std::string_view text) {
  std::string clean = doc::printable(doc::as_utf8(text.substr(0, kMaxProblem_bytes)));
  if (clean.size() > kMaxProblem_bytes) clean.resize(kMaxProblem_bytes);
  for (char& c : clean)
    if (c == '\t') c = ' ';
  return doc::as_utf8(clean);
}

void write_own_rails(JsonWriter& writer, const std::vector<OwnRail>& rails) {
  writer.begin_array("rails");
  for (const OwnRail& own : rails)
    writer.begin_object()
        .integer("rail", own.rail)
        .text("address", own.address.to_string())
        .text("device", own.device)
        .end_object();
  writer.end_array();
}

std::vector<OwnRail> read_own_rails(Fields& fields) {
  std::vector<OwnRail> rails;
  need_rails(fields, "rails", rails, [](Fields& from, OwnRail& own) {
    read_rail_number(from, own.rail);
    from.need("address", own.address, {.bytes = 64});
    read_device(from, own.device);
  });
  return rails;
}

void write_found(JsonWriter& writer, const RailFound& found) {
  writer.integer("rail", found.rail)
      .text("problem", problem_text(found.problem))
      .text("device", found.device)
      .flag("soft", found.soft)
      .number("carries_gbps", found.carries_gbps);
}

void read_found(Fields& fields, RailFound& found) {
  read_rail_number(fields, found.rail);
  fields.need("problem", found.problem, {.bytes = 4 * kMaxProblem_bytes});
  found.problem = problem_text(found.problem);
  read_device(fields, found.device);
  fields.need("soft", found.soft);
  fields.need("carries_gbps", found.carries_gbps, {.min = 0, .max = kMost_gbps});
}

void write_body(JsonWriter& writer, const Enlist& message) {
  writer.text("mesh", message.mesh.to_string()).text("transport", name_of(message.transport));
  write_own_rails(writer, message.rails);
}

void write_body(JsonWriter& writer, const Enlisted& message) {
  writer.begin_array("rails");
  for (const RailFound& found : message.rails) {
    writer.begin_object();
    write_found(writer, found);
    writer.end_object();
  }
  writer.end_array();
}

void write_body(JsonWriter& writer, const Step& message) {
  writer.integer("number", message.number).begin_object("spec");
  write_spec(writer, message.spec);
  writer.end_object().begin_array("tasks");
  for (const PairTask& task : message.tasks)
    writer.begin_object()
        .integer("rail", task.rail)
        .text("address", task.address.to_string())
        .integer("port", task.port)
        .text("device", task.device)
        .end_object();
  writer.end_array();
}

void write_body(JsonWriter& writer, const StepDone& message) {
  writer.integer("number", message.number).begin_array("pairs");
  for (const PairFigures& pair : message.pairs)
    writer.begin_object()
        .integer("rail", pair.rail)
        .text("problem", problem_text(pair.problem))
        .number("gbps", pair.gbps)
        .number("p50_us", pair.p50_us)
        .number("p99_us", pair.p99_us)
        .integer("samples", static_cast<int64_t>(pair.samples))
        .integer("outages", pair.outages)
        .end_object();
  writer.end_array();
}

void write_body(JsonWriter& writer, const AskMesh& message) {
  writer.text("address", message.address.to_string());
}

void write_body(JsonWriter& writer, const InMesh& message) {
  writer.text("mesh", message.mesh.to_string());
}

void read_body(Fields& fields, Enlist& message) {
  fields.need("mesh", message.mesh, {.bytes = 64});
  fields.require("transport");
  fields.choose("transport", kTransports, message.transport);
  message.rails = read_own_rails(fields);
}

void read_body(Fields& fields, Enlisted& message) {
  need_rails(fields, "rails", message.rails, read_found);
}

void read_body(Fields& fields, Step& message) {
  fields.need("number", message.number, {.min = 0, .max = kMaxNumber});
  fields.require("spec");
  fields.inside("spec", [&](Fields& spec) {
    message.spec = read_spec(spec);
    if (message.spec.sizes_bytes.size() != 1) spec.wrong("sizes_bytes", "a step of a mesh has one size");
    if (message.spec.iterations != 0) spec.wrong("iterations", "a step of a mesh has a duration");
    if (message.spec.duration_ms > kMaxStep_ms)
      spec.wrong("duration_ms", fmt::format("a step of a mesh lasts at most {} ms", kMaxStep_ms));
    if (message.spec.qps > kMaxStepQps)
      spec.wrong("qps", fmt::format("a step of a mesh has at most {} for each rail", kMaxStepQps));
    if (message.spec.verb != RdmaVerb::kWrite) spec.wrong("verb", "a mesh is measured by writes");
    if (message.spec.memory != MemoryChoice{} || message.spec.remote_memory != MemoryChoice{})
      spec.wrong("memory", "a mesh is measured in ordinary memory");
  });
  need_rails(fields, "tasks", message.tasks, [](Fields& from, PairTask& task) {
    read_rail_number(from, task.rail);
    from.need("address", task.address, {.bytes = 64});
    from.need("port", task.port, {.min = 1, .max = 65535});
    read_device(from, task.device);
  });
}

void read_body(Fields& fields, StepDone& message) {
  fields.need("number", message.number, {.min = 0, .max = kMaxNumber});
  need_rails(fields, "pairs", message.pairs, [](Fields& from, PairFigures& pair) {
    read_rail_number(from, pair.rail);
    from.need("problem", pair.problem, {.bytes = 4 * kMaxProblem_bytes});
    pair.problem = problem_text(pair.problem);
    from.need("gbps", pair.gbps, {.min = 0, .max = kMost_gbps});
    from.need("p50_us", pair.p50_us, {.min = 0, .max = kMost_us});
    from.need("p99_us", pair.p99_us, {.min = 0, .max = kMost_us});
    from.need("samples", pair.samples, {.min = 0, .max = kMaxSamples});
    from.need("outages", pair.outages, {.min = 0, .max = 1'000'000});
  });
}

void read_body(Fields& fields, AskMesh& message) {
  fields.need("address", message.address, {.bytes = 64});
}

void read_body(Fields& fields, InMesh& message) {
  fields.need("mesh", message.mesh, {.bytes = 64});
}

}  // namespace railbed::perf::mesh

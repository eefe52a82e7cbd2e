// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/message.h"

#include "doc/fields.h"
#include "perf/bounds.h"
#include "perf/json_writer.h"

namespace railbed::perf {
namespace {

using doc::Fields;

constexpr size_t kMaxSlotsOfMessage = 1024;
constexpr size_t kMaxHex_bytes = 64;  // what is longer is not even looked at
constexpr int64_t kMaxSequence = int64_t{1} << 31;

void read_end(Fields& parent, Endpoint& endpoint) {
  parent.require("endpoint");
  parent.inside("endpoint", [&](Fields& fields) { endpoint = read_endpoint(fields); });
}

void write_end(JsonWriter& writer, const Endpoint& endpoint) {
  writer.begin_object("endpoint");
  write_endpoint(writer, endpoint);
  writer.end_object();
}

void read_sequence(Fields& fields, int64_t& sequence) {
  fields.need("sequence", sequence, {.min = 0, .max = kMaxSequence});
}

}  // namespace

void write_body(JsonWriter& writer, const Hello& message) {
  writer.integer("protocol", message.protocol).text("version", message.version).text("hostname", message.hostname);
  if (message.nonce) writer.text("nonce", message.nonce->to_string());
  if (message.proof) writer.text("proof", message.proof->to_string());
}

void read_body(Fields& fields, Hello& message) {
  fields.need("protocol", message.protocol, {.min = 1, .max = 1000});
  fields.need("version", message.version, {.bytes = 64});
  fields.need("hostname", message.hostname, {.bytes = 256});
  fields.read("nonce", message.nonce, {.bytes = kMaxHex_bytes});
  fields.read("proof", message.proof, {.bytes = kMaxHex_bytes});
}

void write_body(JsonWriter& writer, const Proof& message) {
  writer.text("proof", message.proof.to_string());
}

void read_body(Fields& fields, Proof& message) {
  fields.need("proof", message.proof, {.bytes = kMaxHex_bytes});
}

void write_body(JsonWriter& writer, const OpenTest& message) {
  write_spec(writer, message.spec);
  if (!message.load) return;
  writer.begin_object("load");
  write_spec(writer, *message.load);
  writer.end_object();
}

void read_body(Fields& fields, OpenTest& message) {
  message.spec = read_spec(fields);
  fields.inside("load", [&](Fields& load) { message.load = read_spec(load); });
}

void write_body(JsonWriter& writer, const Wait& message) {
  writer.integer("ahead", message.ahead).text("reason", message.reason);
}

void read_body(Fields& fields, Wait& message) {
  fields.need("ahead", message.ahead, {.min = 0, .max = 1'000'000});
  fields.need("reason", message.reason, {.bytes = 512});
}

void write_body(JsonWriter& writer, const Offer& message) {
  write_end(writer, message.endpoint);
  if (message.rdma) write_rdma(writer, *message.rdma);
  if (message.load) write_rdma(writer, *message.load, "load");
  if (message.tcp) write_tcp(writer, *message.tcp);
}

void read_body(Fields& fields, Offer& message) {
  read_end(fields, message.endpoint);
  read_rdma(fields, message.rdma);
  read_rdma(fields, message.load, "load");
  read_tcp(fields, message.tcp);
}

void write_body(JsonWriter& writer, const Connect& message) {
  write_end(writer, message.endpoint);
  if (message.rdma) write_rdma(writer, *message.rdma);
  if (message.load) write_rdma(writer, *message.load, "load");
}

void read_body(Fields& fields, Connect& message) {
  read_end(fields, message.endpoint);
  read_rdma(fields, message.rdma);
  read_rdma(fields, message.load, "load");
}

void write_body(JsonWriter& writer, const Start& message) {
  writer.integer("sequence", message.sequence).integer("size_bytes", message.size_bytes);
}

void read_body(Fields& fields, Start& message) {
  read_sequence(fields, message.sequence);
  fields.need("size_bytes", message.size_bytes, bounds::kSizes_bytes);
}

void write_body(JsonWriter& writer, const Started& message) {
  writer.integer("sequence", message.sequence);
}

void read_body(Fields& fields, Started& message) {
  read_sequence(fields, message.sequence);
}

void write_body(JsonWriter& writer, const Done& message) {
  writer.integer("sequence", message.sequence).integer("messages", message.messages);
}

void read_body(Fields& fields, Done& message) {
  read_sequence(fields, message.sequence);
  fields.need("messages", message.messages, {.min = 0, .max = kMaxTotal_bytes});
}

void write_body(JsonWriter& writer, const Outcome& message) {
  writer.integer("sequence", message.sequence).integer("bytes", message.bytes).number("duration_s", message.duration_s);
  write_throughput(writer, message.series);
  write_counters(writer, "counters", message.counters);
}

void read_body(Fields& fields, Outcome& message) {
  read_sequence(fields, message.sequence);
  fields.need("bytes", message.bytes, {.min = 0, .max = kMaxTotal_bytes});
  fields.need("duration_s", message.duration_s, {.min = 0, .max = 1'000'000'000});
  message.series = read_throughput(fields, kMaxSlotsOfMessage);
  message.counters = read_counters(fields, "counters");
}

void write_body(JsonWriter& writer, const Refusal& message) {
  writer.text("message", message.message.substr(0, 4096)).text("hint", message.hint.substr(0, 4096));
}

void read_body(Fields& fields, Refusal& message) {
  fields.need("message", message.message, {.bytes = 8192});
  fields.need("hint", message.hint, {.bytes = 8192});
}

}  // namespace railbed::perf

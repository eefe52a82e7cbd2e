// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/message.h"

#include <algorithm>
#include <array>

#include "doc/fields.h"
#include "perf/bounds.h"
#include "perf/channel/frame.h"
#include "perf/json_writer.h"
#include "perf/ping/rping_wire.h"

namespace railbed::perf {
namespace {

using doc::Fields;

constexpr size_t kMaxSlotsOfMessage = 1024;
constexpr size_t kMaxHex_bytes = 64;  // what is longer is not even looked at
constexpr int64_t kMaxSequence = int64_t{1} << 31;

Endpoint read_end(Fields& parent) {
  Endpoint endpoint;
  parent.require("endpoint");
  parent.inside("endpoint", [&](Fields& fields) { endpoint = read_endpoint(fields); });
  return endpoint;
}

void write_end(JsonWriter& writer, const Endpoint& endpoint) {
  writer.begin_object("endpoint");
  write_endpoint(writer, endpoint);
  writer.end_object();
}

struct BodyWriter {
  JsonWriter& writer;

  void operator()(const Hello& m) const {
    writer.integer("protocol", m.protocol).text("version", m.version).text("hostname", m.hostname);
    if (m.nonce) writer.text("nonce", m.nonce->to_string());
    if (m.proof) writer.text("proof", m.proof->to_string());
  }
  void operator()(const OpenTest& m) const {
    write_spec(writer, m.spec);
    if (!m.load) return;
    writer.begin_object("load");
    write_spec(writer, *m.load);
    writer.end_object();
  }
  void operator()(const Wait& m) const { writer.integer("ahead", m.ahead).text("reason", m.reason); }
  void operator()(const Offer& m) const {
    write_end(writer, m.endpoint);
    if (m.rdma) write_rdma(writer, *m.rdma);
    if (m.load) write_rdma(writer, *m.load, "load");
    if (m.tcp) write_tcp(writer, *m.tcp);
  }
  void operator()(const Connect& m) const {
    write_end(writer, m.endpoint);
    if (m.rdma) write_rdma(writer, *m.rdma);
    if (m.load) write_rdma(writer, *m.load, "load");
  }
  void operator()(const Ready&) const {}
  void operator()(const Start& m) const { writer.integer("sequence", m.sequence).integer("size_bytes", m.size_bytes); }
  void operator()(const Started& m) const { writer.integer("sequence", m.sequence); }
  void operator()(const Heartbeat&) const {}
  void operator()(const Done& m) const { writer.integer("sequence", m.sequence).integer("messages", m.messages); }
  void operator()(const Outcome& m) const {
    writer.integer("sequence", m.sequence).integer("bytes", m.bytes).number("duration_s", m.duration_s);
    write_throughput(writer, m.series);
    write_counters(writer, "counters", m.counters);
  }
  void operator()(const CloseTest&) const {}
  void operator()(const Refusal& m) const {
    writer.text("message", m.message.substr(0, 4096)).text("hint", m.hint.substr(0, 4096));
  }
  void operator()(const mesh::Enlist& m) const { mesh::write(writer, m); }
  void operator()(const mesh::Enlisted& m) const { mesh::write(writer, m); }
  void operator()(const mesh::Step& m) const { mesh::write(writer, m); }
  void operator()(const mesh::StepDone& m) const { mesh::write(writer, m); }
  void operator()(const collective::Join& m) const { collective::write(writer, m); }
  void operator()(const collective::Joined& m) const { collective::write(writer, m); }
  void operator()(const collective::Link& m) const { collective::write(writer, m); }
  void operator()(const collective::Linked& m) const { collective::write(writer, m); }
  void operator()(const collective::Reduce& m) const { collective::write(writer, m); }
  void operator()(const collective::Reduced& m) const { collective::write(writer, m); }
  void operator()(const mesh::Register& m) const { mesh::write(writer, m); }
  void operator()(const mesh::Registered& m) const { mesh::write(writer, m); }
  void operator()(const OpenPing& m) const { writer.integer("size_bytes", m.size_bytes); }
  void operator()(const PingOffer& m) const { writer.integer("port", m.port).hex("cookie", m.cookie); }
  void operator()(const Proof& m) const { writer.text("proof", m.proof.to_string()); }
  void operator()(const Welcome&) const {}
  void operator()(const mesh::AskMesh& m) const { mesh::write(writer, m); }
  void operator()(const mesh::InMesh& m) const { mesh::write(writer, m); }
};

Message read_hello(Fields& fields) {
  Hello m;
  fields.need("protocol", m.protocol, {.min = 1, .max = 1000});
  fields.need("version", m.version, {.bytes = 64});
  fields.need("hostname", m.hostname, {.bytes = 256});
  fields.read("nonce", m.nonce, {.bytes = kMaxHex_bytes});
  fields.read("proof", m.proof, {.bytes = kMaxHex_bytes});
  return m;
}

Message read_wait(Fields& fields) {
  Wait m;
  fields.need("ahead", m.ahead, {.min = 0, .max = 1'000'000});
  fields.need("reason", m.reason, {.bytes = 512});
  return m;
}

Message read_open_test(Fields& fields) {
  OpenTest m{.spec = read_spec(fields), .load = {}};
  fields.inside("load", [&](Fields& load) { m.load = read_spec(load); });
  return m;
}

Message read_offer(Fields& fields) {
  Offer m;
  m.endpoint = read_end(fields);
  read_rdma(fields, m.rdma);
  read_rdma(fields, m.load, "load");
  read_tcp(fields, m.tcp);
  return m;
}

Message read_connect(Fields& fields) {
  Connect m;
  m.endpoint = read_end(fields);
  read_rdma(fields, m.rdma);
  read_rdma(fields, m.load, "load");
  return m;
}

template <typename T>
Message read_nothing(Fields& /*fields*/) {
  return T{};
}

int64_t read_sequence(Fields& fields) {
  int64_t sequence = 0;
  fields.need("sequence", sequence, {.min = 0, .max = kMaxSequence});
  return sequence;
}

Message read_start(Fields& fields) {
  Start m{.sequence = read_sequence(fields)};
  fields.need("size_bytes", m.size_bytes, bounds::kSizes_bytes);
  return m;
}

Message read_started(Fields& fields) {
  return Started{.sequence = read_sequence(fields)};
}

Message read_done(Fields& fields) {
  Done m{.sequence = read_sequence(fields)};
  fields.need("messages", m.messages, {.min = 0, .max = kMaxTotal_bytes});
  return m;
}

Message read_outcome(Fields& fields) {
  Outcome m;
  m.sequence = read_sequence(fields);
  fields.need("bytes", m.bytes, {.min = 0, .max = kMaxTotal_bytes});
  fields.need("duration_s", m.duration_s, {.min = 0, .max = 1'000'000'000});
  m.series = read_throughput(fields, kMaxSlotsOfMessage);
  m.counters = read_counters(fields, "counters");
  return m;
}

Message read_refusal(Fields& fields) {
  Refusal m;
  fields.need("message", m.message, {.bytes = 8192});
  fields.need("hint", m.hint, {.bytes = 8192});
  return m;
}

Message read_open_ping(Fields& fields) {
  OpenPing m;
  fields.need("size_bytes", m.size_bytes, {.min = 1, .max = kMostPing_bytes});
  return m;
}

Message read_ping_offer(Fields& fields) {
  PingOffer m;
  fields.need("port", m.port, {.min = 1, .max = 65535});
  fields.require("cookie");
  fields.hex("cookie", m.cookie);
  return m;
}

Message read_proof(Fields& fields) {
  Proof m;
  fields.need("proof", m.proof, {.bytes = kMaxHex_bytes});
  return m;
}

// Of those that are read elsewhere.
template <auto read>
Message read_by(Fields& fields) {
  return read(fields);
}

struct Kind {
  std::string_view name;
  Message (*read)(Fields&);
};
// In the order of the variant.
constexpr std::array<Kind, std::variant_size_v<Message>> kKinds = {
    {{"hello", read_hello},
     {"open-test", read_open_test},
     {"wait", read_wait},
     {"offer", read_offer},
     {"connect", read_connect},
     {"ready", read_nothing<Ready>},
     {"start", read_start},
     {"started", read_started},
     {"heartbeat", read_nothing<Heartbeat>},
     {"done", read_done},
     {"outcome", read_outcome},
     {"close-test", read_nothing<CloseTest>},
     {"refusal", read_refusal},
     {"mesh-enlist", read_by<mesh::read_enlist>},
     {"mesh-enlisted", read_by<mesh::read_enlisted>},
     {"mesh-step", read_by<mesh::read_step>},
     {"mesh-step-done", read_by<mesh::read_step_done>},
     {"collective-join", read_by<collective::read_join>},
     {"collective-joined", read_by<collective::read_joined>},
     {"collective-link", read_by<collective::read_link>},
     {"collective-linked", read_by<collective::read_linked>},
     {"collective-reduce", read_by<collective::read_reduce>},
     {"collective-reduced", read_by<collective::read_reduced>},
     {"mesh-register", read_by<mesh::read_register>},
     {"mesh-registered", read_by<mesh::read_registered>},
     {"open-ping", read_open_ping},
     {"ping-offer", read_ping_offer},
     {"proof", read_proof},
     {"welcome", read_nothing<Welcome>},
     {"mesh-ask", read_by<mesh::read_ask_mesh>},
     {"mesh-member", read_by<mesh::read_in_mesh>}}};

}  // namespace

std::string_view name_of(const Message& message) {
  return kKinds[message.index()].name;
}

std::string encode(const Message& message) {
  JsonWriter writer;
  writer.begin_object().text("type", name_of(message));
  std::visit(BodyWriter{writer}, message);
  writer.end_object();
  return writer.take();
}

Result<Message> decode(std::string_view body) {
  if (body.size() > kMaxBodyBytes)
    return fail(Code::kInvalid, "{} bytes of JSON, at most {} are allowed", body.size(), kMaxBodyBytes);
  const doc::Value object = TRY(doc::read_object("", body).context("this is no message"));
  doc::Diagnostics found;
  Fields fields(object, "", doc::kNoFamily, found);
  std::string type;
  fields.need("type", type, {.bytes = 64});
  TRY(doc::first_error(found));
  const auto kind = std::ranges::find(kKinds, type, &Kind::name);
  if (kind == kKinds.end())
    return fail(Code::kInvalid, "type: \"{}\" is not a message of protocol {}", type, kProtocol);
  Message message = kind->read(fields);
  TRY(doc::first_error(found).context("message {}", type));
  return message;
}

}  // namespace railbed::perf

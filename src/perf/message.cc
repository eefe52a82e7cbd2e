// SPDX-License-Identifier: Apache-2.0
#include "perf/message.h"

#include <array>

#include "perf/frame.h"
#include "perf/json.h"

namespace railbed::perf {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<Message>> kNames = {
    "hello",   "open-test", "offer", "connect", "ready",      "start",
    "started", "heartbeat", "done",  "outcome", "close-test", "refusal"};
constexpr size_t kMaxSlots = 1024;
constexpr int64_t kMaxSequence = int64_t{1} << 31;
constexpr int64_t kMaxTotal = int64_t{1} << 53;

void write_rdma(JsonWriter& writer, const RdmaAddress& rdma) {
  writer.begin_object("rdma");
  writer.text("gid", rdma.gid.to_string()).integer("lid", rdma.lid).integer("mtu_bytes", rdma.mtu_bytes);
  writer.integer("remote_key", rdma.remote_key).hex("address", rdma.address).begin_array("qps");
  for (const QpAddress& qp : rdma.qps)
    writer.begin_object().integer("number", qp.number).integer("packet_sequence", qp.packet_sequence).end_object();
  writer.end_array().end_object();
}

Result<std::optional<RdmaAddress>> read_rdma(const JsonObject& parent) {
  if (!parent.has("rdma")) return std::optional<RdmaAddress>();
  const JsonObject object = TRY(parent.object("rdma"));
  RdmaAddress rdma;
  const std::string gid = TRY(object.text("gid", 64));
  rdma.gid = TRY(Gid::parse(gid).context("rdma.gid"));
  rdma.lid = static_cast<uint32_t>(TRY(object.integer("lid", 0, 0xffff)));
  rdma.mtu_bytes = static_cast<uint32_t>(TRY(object.integer("mtu_bytes", 256, 4096)));
  rdma.remote_key = static_cast<uint32_t>(TRY(object.integer("remote_key", 0, 0xffffffff)));
  rdma.address = TRY(object.hex("address"));
  for (const JsonObject& qp : TRY(object.objects("qps", kMaxQps))) {
    const int64_t number = TRY(qp.integer("number", 0, 0xffffff));
    const int64_t sequence = TRY(qp.integer("packet_sequence", 0, 0xffffff));
    rdma.qps.push_back({static_cast<uint32_t>(number), static_cast<uint32_t>(sequence)});
  }
  return std::optional(std::move(rdma));
}

Result<Endpoint> read_end(const JsonObject& parent) {
  const JsonObject object = TRY(parent.object("endpoint"));
  return read_endpoint(object);
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
  }
  void operator()(const OpenTest& m) const { write_spec(writer, m.spec); }
  void operator()(const Offer& m) const {
    write_end(writer, m.endpoint);
    if (m.rdma) write_rdma(writer, *m.rdma);
    if (m.tcp) writer.begin_object("tcp").integer("port", m.tcp->port).hex("cookie", m.tcp->cookie).end_object();
  }
  void operator()(const Connect& m) const {
    write_end(writer, m.endpoint);
    if (m.rdma) write_rdma(writer, *m.rdma);
  }
  void operator()(const Ready&) const {}
  void operator()(const Start& m) const { writer.integer("sequence", m.sequence).integer("size_bytes", m.size_bytes); }
  void operator()(const Started& m) const { writer.integer("sequence", m.sequence); }
  void operator()(const Heartbeat&) const {}
  void operator()(const Done& m) const { writer.integer("sequence", m.sequence).integer("messages", m.messages); }
  void operator()(const Outcome& m) const {
    writer.integer("sequence", m.sequence).integer("bytes", m.bytes).number("duration_s", m.duration_s);
    write_throughput(writer, m.series);
  }
  void operator()(const CloseTest&) const {}
  void operator()(const Refusal& m) const {
    writer.text("message", m.message.substr(0, 4096)).text("hint", m.hint.substr(0, 4096));
  }
};

Result<Message> read_hello(const JsonObject& object) {
  Hello m;
  m.protocol = TRY(object.integer("protocol", 1, 1000));
  m.version = TRY(object.text("version", 64));
  m.hostname = TRY(object.text("hostname", 256));
  return m;
}

Result<Message> read_open_test(const JsonObject& object) {
  OpenTest m;
  m.spec = TRY(read_spec(object));
  return m;
}

Result<Message> read_offer(const JsonObject& object) {
  Offer m;
  m.endpoint = TRY(read_end(object));
  m.rdma = TRY(read_rdma(object));
  if (object.has("tcp")) {
    const JsonObject tcp = TRY(object.object("tcp"));
    const int64_t port = TRY(tcp.integer("port", 1, 65535));
    m.tcp = TcpAddress{.port = static_cast<uint32_t>(port), .cookie = TRY(tcp.hex("cookie"))};
  }
  return m;
}

Result<Message> read_connect(const JsonObject& object) {
  Connect m;
  m.endpoint = TRY(read_end(object));
  m.rdma = TRY(read_rdma(object));
  return m;
}

Result<Message> read_outcome(const JsonObject& object) {
  Outcome m;
  m.sequence = TRY(object.integer("sequence", 0, kMaxSequence));
  m.bytes = TRY(object.integer("bytes", 0, kMaxTotal));
  m.duration_s = TRY(object.number("duration_s", 0, 1e9));
  m.series = TRY(read_throughput(object, kMaxSlots));
  return m;
}

Result<Message> read_rest(std::string_view type, const JsonObject& object) {
  if (type == "ready") return Ready{};
  if (type == "heartbeat") return Heartbeat{};
  if (type == "close-test") return CloseTest{};
  if (type == "start") {
    const int64_t sequence = TRY(object.integer("sequence", 0, kMaxSequence));
    return Start{.sequence = sequence, .size_bytes = TRY(object.integer("size_bytes", 1, kMaxSize_bytes))};
  }
  if (type == "started") return Started{.sequence = TRY(object.integer("sequence", 0, kMaxSequence))};
  if (type == "done") {
    const int64_t sequence = TRY(object.integer("sequence", 0, kMaxSequence));
    return Done{.sequence = sequence, .messages = TRY(object.integer("messages", 0, kMaxTotal))};
  }
  if (type == "refusal") {
    Refusal m;
    m.message = TRY(object.text("message", 8192));
    m.hint = TRY(object.text("hint", 8192));
    return m;
  }
  return fail(Code::kInvalid, "type: \"{}\" is not a message of protocol {}", type, kProtocol);
}

}  // namespace

std::string_view name_of(const Message& message) {
  return kNames[message.index()];
}

std::string encode(const Message& message) {
  JsonWriter writer;
  writer.begin_object().text("type", name_of(message));
  std::visit(BodyWriter{writer}, message);
  writer.end_object();
  return writer.take();
}

Result<Message> decode(std::string_view body) {
  const JsonObject object = TRY(JsonObject::parse(body, kMaxBodyBytes));
  const std::string type = TRY(object.text("type", 64));
  if (type == "hello") return read_hello(object).context("message hello");
  if (type == "open-test") return read_open_test(object).context("message open-test");
  if (type == "offer") return read_offer(object).context("message offer");
  if (type == "connect") return read_connect(object).context("message connect");
  if (type == "outcome") return read_outcome(object).context("message outcome");
  return read_rest(type, object).context("message {}", type.substr(0, 20));
}

}  // namespace railbed::perf

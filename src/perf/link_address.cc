// SPDX-License-Identifier: Apache-2.0
#include "perf/link_address.h"

#include "perf/bounds.h"

namespace railbed::perf {

using doc::Fields;

namespace {

void need_hex(Fields& fields, std::string_view key, uint64_t& out) {
  fields.require(key);
  fields.hex(key, out);
}

}  // namespace

void write_rdma(JsonWriter& writer, const RdmaAddress& rdma, std::string_view field) {
  writer.begin_object(field);
  writer.text("gid", rdma.gid.to_string()).integer("lid", rdma.lid).integer("mtu_bytes", rdma.mtu_bytes);
  writer.integer("remote_key", rdma.remote_key).hex("address", rdma.address).integer("pkey", rdma.pkey);
  writer.integer("q_key", rdma.q_key).integer("reads_answered", rdma.reads_answered).begin_array("qps");
  for (const QpAddress& qp : rdma.qps)
    writer.begin_object().integer("number", qp.number).integer("packet_sequence", qp.packet_sequence).end_object();
  writer.end_array().end_object();
}

void write_tcp(JsonWriter& writer, const TcpAddress& tcp) {
  writer.begin_object("tcp").integer("port", tcp.port).hex("cookie", tcp.cookie).end_object();
}

void read_rdma(Fields& parent, std::optional<RdmaAddress>& out, std::string_view field) {
  parent.inside(field, [&](Fields& fields) {
    RdmaAddress& rdma = out.emplace();
    fields.need("gid", rdma.gid, {.bytes = 64});
    fields.need("lid", rdma.lid, {.min = 0, .max = 0xffff});
    fields.need("mtu_bytes", rdma.mtu_bytes, {.min = 256, .max = 4096});
    fields.need("remote_key", rdma.remote_key);
    need_hex(fields, "address", rdma.address);
    fields.need("pkey", rdma.pkey, {.min = 0, .max = 0xffff});
    fields.need("q_key", rdma.q_key);
    fields.need("reads_answered", rdma.reads_answered, {.min = 0, .max = 255});
    fields.require("qps");
    const auto read_qp = [](Fields& from, QpAddress& qp) {
      from.need("number", qp.number, {.min = 0, .max = 0xffffff});
      from.need("packet_sequence", qp.packet_sequence, {.min = 0, .max = 0xffffff});
    };
    fields.each("qps", rdma.qps, read_qp, kMaxQps);
  });
}

void read_tcp(Fields& parent, std::optional<TcpAddress>& out) {
  parent.inside("tcp", [&](Fields& fields) {
    TcpAddress& tcp = out.emplace();
    fields.need("port", tcp.port, {.min = 1, .max = 65535});
    need_hex(fields, "cookie", tcp.cookie);
  });
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// The destination at the other end of a link: queue pairs and memory, or a port.
//
// Why: both ends must agree on these before the first byte, for every way of exchange: client and server directly, or
// the coordinator of a collective between two ranks.
// Threading: plain values.
// Failure: Code::kInvalid with the field's path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "doc/fields.h"
#include "perf/json_writer.h"

namespace railbed::perf {

struct QpAddress {
  uint32_t number = 0;           // 24 bits
  uint32_t packet_sequence = 0;  // 24 bits
  friend bool operator==(const QpAddress&, const QpAddress&) = default;
};

// The target of an RDMA verb: queue pair n of the peer writes into [address + 2 n span + span, … + span), where span is
// the largest size (of UD with room for a GRH) rounded up to whole pages; the owner sends from the other half, which
// the peer's reads take.
struct RdmaAddress {
  Gid gid;
  uint32_t lid = 0;
  uint32_t mtu_bytes = 0;
  uint32_t remote_key = 0;
  uint64_t address = 0;
  uint32_t pkey = 0;            // 0: not known
  uint32_t q_key = 0;           // UD: what datagrams must carry
  uint32_t reads_answered = 0;  // reads and atomics at once, per queue pair
  std::vector<QpAddress> qps;
  friend bool operator==(const RdmaAddress&, const RdmaAddress&) = default;
};

// The target of TCP streams; the cookie keeps strangers out of the measurement.
struct TcpAddress {
  uint32_t port = 0;
  uint64_t cookie = 0;
  friend bool operator==(const TcpAddress&, const TcpAddress&) = default;
};

// As the members "rdma" and "tcp" of the object that is being written; read where they are there.
void write_rdma(JsonWriter& writer, const RdmaAddress& rdma, std::string_view field = "rdma");
void write_tcp(JsonWriter& writer, const TcpAddress& tcp);
void read_rdma(doc::Fields& parent, std::optional<RdmaAddress>& out, std::string_view field = "rdma");
void read_tcp(doc::Fields& parent, std::optional<TcpAddress>& out);

}  // namespace railbed::perf

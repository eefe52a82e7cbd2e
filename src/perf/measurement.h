// SPDX-License-Identifier: Apache-2.0
// A measurement's parameters, ends and results: the values that the engine, the table, the JSON file and the HTML
// report share.
//
// Why: one value type with JSON input and output (schema railbed.perf/v2, docs/perf.md), so that a result can be saved,
// compared and drawn later. Units are in the names; Gb is 10^9 bits, MiB 2^20 bytes.
// Threading: plain values.
// Failure: Code::kInvalid with the field's path.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doc/value.h"
#include "perf/histogram.h"
#include "perf/result_envelope.h"
#include "perf/series.h"
#include "perf/test_spec.h"
#include "rdma/port_counters.h"

namespace railbed::doc {
class Fields;
}

namespace railbed::perf {

// One end of the measured path.
struct Endpoint {
  std::string hostname;
  std::string address;  // of the interface that carries the data
  std::string netdev;
  std::string device;  // RDMA device; "" for TCP
  int64_t port = 0;
  std::string gid;
  int64_t gid_index = -1;
  std::string gid_reason;  // "GID 1, RoCE v2, 10.1.0.5, by rule"
  std::string link_layer;  // "Ethernet", "InfiniBand"
  int64_t path_mtu_bytes = 0;
  bool soft = false;     // software RDMA: its figures say nothing about a fabric
  std::string link;      // "400 Gb/sec (4X NDR)", as the kernel says it; "": unknown
  double link_gbps = 0;  // data rate of the port, after line coding; 0: unknown
  std::string pcie;      // "32 GT/s x16"; "": unknown
  double pcie_gbps = 0;  // payload that the PCIe link carries one way; 0: unknown
  // What was really used there; the test's figures are wishes.
  int64_t numa_node = -1;         // of the device; -1: unknown
  std::string cpus;               // that the measuring thread was pinned to: "0-15,32-47"; "": it was not
  std::string memory;             // "host", "huge pages of 2 MiB", "GPU 0 (NVIDIA H200) by DMA-BUF"; "" for TCP
  std::string pkey;               // "0xffff"
  bool relaxed_ordering = false;  // the memory was registered with it
  bool yields = false;            // its processor while it polls in vain
  int64_t read_depth = 0;         // reads and atomics under way per queue pair; 0: not the verb's
  int64_t threads = 0;            // that send, each a group of queue pairs; 0: not said
  bool thread_domains = false;    // each group of queue pairs is in one: the device needs no locks
  std::string post;               // "ibv_wr" or "ibv_post_send", by which messages were posted; "" for TCP
  bool counts_pauses = false;     // its interface's driver counts pause frames (rdma/pause_counters.h)
  std::string program;  // that ran there, where it was no railbed: "perftest 6.06"; it reports little of the above
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
// Whose counters and rates are its.
rdma::Port port_of(const Endpoint& end);

using rdma::kMaxCounters;
using rdma::PortCounters;

struct BandwidthPoint {
  int64_t size_bytes = 0;
  int64_t messages = 0;
  double duration_s = 0;
  double average_gbps = 0;
  double message_rate_per_s = 0;
  ThroughputSeries series;                     // with the peak
  std::optional<double> reverse_average_gbps;  // bidirectional: server to client
  std::optional<ThroughputSeries> reverse_series;
  // What was really done: the test's figures are wishes, and a device or the size may allow less.
  int64_t used_tx_depth = 0;    // messages under way per queue pair; 0 over TCP
  int64_t used_post_batch = 0;  // messages per post
  bool used_inline = false;
  int64_t lost_messages = 0;  // datagrams that were sent and did not come
};

struct LatencyPoint {
  int64_t size_bytes = 0;
  double duration_s = 0;
  Histogram histogram;  // whole round trips; by a schedule each counts from when it was due
  std::vector<LatencySlot> slots;
  std::vector<Outage> outages;
  bool used_inline = false;
  int64_t lost_messages = 0;  // datagrams without an answer, which are in no figure
};

struct Measurement {
  std::string version;     // of the railbed that measured
  std::string started_at;  // UTC, ISO 8601
  std::string command;     // as typed by the user
  std::string label;       // "rail0"
  std::string peer;        // the server's address as given to the client
  TestSpec spec;
  Endpoint client;
  Endpoint server;
  std::vector<BandwidthPoint> bandwidth;
  std::vector<LatencyPoint> latency;
  PortCounters client_counters;  // what moved on the port of each end meanwhile; empty over TCP
  PortCounters server_counters;
  std::string ended_by;  // why sizes are missing; "": none is
  bool soft() const { return client.soft || server.soft; }
  // Whether a round trip is two ways of one kind. A read is answered by the device, and its request has no data.
  bool has_halves() const {
    return spec.transport == Transport::kTcp || traits_of(spec.verb).answered_by == AnsweredBy::kProgram;
  }
};

inline constexpr ResultName kMeasurementsName{"Measurements", "railbed.perf/v2"};

std::string to_json(const std::vector<Measurement>& measurements);
Result<std::vector<Measurement>> measurements_from(const doc::Value& result);
// For people: one line about the ends, one per size.
std::string to_table(const Measurement& measurement);

// For the control channel, which carries the same pieces; what is wrong in them is reported to `fields`.
class JsonWriter;
void write_spec(JsonWriter& writer, const TestSpec& spec);
TestSpec read_spec(doc::Fields& fields);
void write_endpoint(JsonWriter& writer, const Endpoint& endpoint);
Endpoint read_endpoint(doc::Fields& fields);
void write_counters(JsonWriter& writer, std::string_view field, const PortCounters& counters);
PortCounters read_counters(doc::Fields& fields, std::string_view field);
void write_throughput(JsonWriter& writer, const ThroughputSeries& series);
ThroughputSeries read_throughput(doc::Fields& fields, size_t max_slots);

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// What was asked, between whom, and what came out: the values that the engine, the table, the JSON file and
// the HTML report share.
//
// Why: one value type with JSON both ways (schema railbed.perf/v2, docs/perf.md), so that a result can be
// kept, compared and drawn later. Units are in the names; Gb is 10^9 bits, MiB 2^20 bytes. Threading: plain
// values. Failure: Code::kInvalid with the field's path.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "perf/histogram.h"
#include "perf/series.h"

namespace railbed::doc {
class Fields;
}

namespace railbed::perf {

enum class TestKind { kBandwidth, kLatency };
enum class Transport { kRdma, kTcp };
std::string_view name_of(TestKind kind);        // "bw", "lat"
std::string_view name_of(Transport transport);  // "rdma", "tcp"
Result<TestKind> kind_from(std::string_view name);
Result<Transport> transport_from(std::string_view name);

inline constexpr int64_t kMaxSize_bytes = int64_t{1} << 26;
inline constexpr int64_t kMaxQps = 256;
inline constexpr int64_t kMaxDuration_ms = 24 * 3600 * 1000LL;
inline constexpr int64_t kMaxRegion_bytes = int64_t{1} << 30;
inline constexpr int64_t kMaxTotal_bytes = int64_t{1} << 53;  // of a round; what a double can count
inline constexpr int64_t kMaxRate_per_s = 1'000'000;

struct TestSpec {
  TestKind kind = TestKind::kBandwidth;
  Transport transport = Transport::kRdma;
  std::vector<int64_t> sizes_bytes;  // 1 to kMaxSize_bytes each, measured in this order
  int64_t qps = 1;                   // queue pairs, or TCP streams
  int64_t tx_depth = 128;            // writes under way per queue pair
  int64_t iterations = 0;            // per size; 0: for `duration_ms`
  int64_t duration_ms = 2000;        // per size
  int64_t rate_per_s = 0;            // latency: pings by a schedule; 0: each after the answer to the last
  int64_t inline_bytes = -1;         // -1: as much as fits for latency, 0 for bandwidth
  bool bidirectional = false;        // bandwidth over RDMA only
  std::string remote_device;         // "": chosen by the server
  friend bool operator==(const TestSpec&, const TestSpec&) = default;
};
// The sizes of a sweep: 2, 4, 8, … up to `max_bytes`.
std::vector<int64_t> sweep_sizes(int64_t max_bytes);
// Fails with the option's name for what contradicts itself or exceeds the limits.
Result<void> validate(const TestSpec& spec);

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
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// By the kernel's names (port_counters.h).
using PortCounters = std::map<std::string, int64_t>;
inline constexpr size_t kMaxCounters = 256;

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
  int64_t used_tx_depth = 0;    // writes under way per queue pair; 0 over TCP
  int64_t used_post_batch = 0;  // writes per post
  bool used_inline = false;
};

struct LatencyPoint {
  int64_t size_bytes = 0;
  double duration_s = 0;
  Histogram histogram;  // whole round trips; by a schedule each counts from when it was due
  std::vector<LatencySlot> slots;
  std::vector<Outage> outages;
  bool used_inline = false;
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
};

std::string to_json(const std::vector<Measurement>& measurements);
// One or more measurements as to_json() wrote them.
Result<std::vector<Measurement>> measurements_from_json(std::string_view text);
// For people: one line about the ends, one per size.
std::string to_table(const Measurement& measurement);

// "64 KiB", "2 B"; sizes that are not a whole number of KiB or MiB are in bytes.
std::string size_text(int64_t bytes);

// For the control channel, which carries the same pieces; what is wrong in them is told to `fields`.
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

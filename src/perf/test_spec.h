// SPDX-License-Identifier: Apache-2.0
// The parameters of a test, and which of them a verb supports.
//
// Why: a client's options, the message that opens a test and the parameters in a result are one value, checked in one
// place: a server calls validate() on what came over the network. Differences between verbs are one row of a table.
// Threading: plain values.
// Failure: validate() names the option. What its numbers may be is in bounds.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::perf {

enum class TestKind { kBandwidth, kLatency };
enum class Transport { kRdma, kTcp };
std::string_view name_of(TestKind kind);        // "bw", "lat"
std::string_view name_of(Transport transport);  // "rdma", "tcp"
Result<TestKind> kind_from(std::string_view name);
Result<Transport> transport_from(std::string_view name);

enum class RdmaVerb : uint8_t { kWrite, kWriteImm, kRead, kSend, kFetchAdd, kSendUd };
// Who sends the answer to a ping.
enum class AnsweredBy : uint8_t { kProgram, kDevice };

struct VerbTraits {
  RdmaVerb verb;
  std::string_view name;  // of --verb
  std::string_view text;  // for people: "RC write"
  AnsweredBy answered_by = AnsweredBy::kProgram;
  bool takes_receives = false;  // each message needs a posted receive of the peer
  bool is_datagram = false;     // UD: nothing is acknowledged, and messages may be lost
  bool sends_data = true;       // false: the requester sends none of the measured bytes, so none can go inline
};
const VerbTraits& traits_of(RdmaVerb verb);
std::vector<std::string_view> verb_names();
Result<RdmaVerb> verb_from(std::string_view name);

// An option that the test decides by itself unless it is set.
enum class Choice : uint8_t { kAuto, kOn, kOff };
inline constexpr std::array<std::string_view, 3> kChoiceNames = {"auto", "on", "off"};
std::string_view name_of(Choice choice);
Result<Choice> choice_from(std::string_view name);

enum class MemoryKind : uint8_t { kPages, kHugePages, kGpu };
struct MemoryChoice {
  MemoryKind kind = MemoryKind::kPages;
  int64_t gpu = 0;  // its number by CUDA
  friend bool operator==(const MemoryChoice&, const MemoryChoice&) = default;
};
inline constexpr const char* kHostMemory = "host";  // ordinary pages
std::string text_of(const MemoryChoice& memory);    // "host", "huge", "gpu:3"
Result<MemoryChoice> memory_from(std::string_view text);

struct TestSpec {
  TestKind kind = TestKind::kBandwidth;
  Transport transport = Transport::kRdma;
  std::vector<int64_t> sizes_bytes;  // 1 to kMaxSize_bytes each, measured in this order
  int64_t qps = 1;                   // queue pairs, or TCP streams
  int64_t tx_depth = 128;            // messages under way per queue pair
  int64_t iterations = 0;            // per size; 0: for `duration_ms`
  int64_t duration_ms = 2000;        // per size
  int64_t rate_per_s = 0;            // latency: pings by a schedule; 0: each after the answer to the last
  int64_t inline_bytes = -1;         // -1: as much as fits for latency, 0 for bandwidth
  bool bidirectional = false;        // bandwidth over RDMA only
  std::string remote_device;         // "": chosen by the server
  // RDMA only, for both ends:
  RdmaVerb verb = RdmaVerb::kWrite;
  int64_t post_list = 0;      // messages per post (one doorbell, one completion); 0: by the size
  int64_t traffic_class = 0;  // of the GRH; on RoCE v2 the DSCP and ECN bits
  int64_t service_level = 0;
  int64_t pkey_index = 0;
  int64_t flow_label = 0;                   // of the GRH; on RoCE v2 the UDP source port is made of it
  Choice relaxed_ordering = Choice::kAuto;  // on for bandwidth, off for latency
  Choice yield = Choice::kAuto;             // of the processor while polling in vain; on for soft devices
  Choice pin = Choice::kAuto;               // the measuring thread to the NUMA node of the device
  MemoryChoice memory, remote_memory;       // of the client, of the server
  int64_t threads = 0;                      // that send, each a group of queue pairs; 0: as threads_for() says
  friend bool operator==(const TestSpec&, const TestSpec&) = default;
};
// How many threads send on a device that `processors` may serve: as many as are asked for; else one for each four queue
// pairs, on at most half of the processors. One for latency, and where a thread receives while it sends.
int64_t threads_for(const TestSpec& spec, int64_t processors);
// The sizes of a sweep: 2, 4, 8, … up to `max_bytes`.
std::vector<int64_t> sweep_sizes(int64_t max_bytes);
// Fails with the option's name for what contradicts itself or exceeds the limits.
Result<void> validate(const TestSpec& spec);

// "64 KiB", "2 B"; sizes that are not a whole number of KiB or MiB are in bytes.
std::string size_text(int64_t bytes);

}  // namespace railbed::perf

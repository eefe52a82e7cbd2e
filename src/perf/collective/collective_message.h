// SPDX-License-Identifier: Apache-2.0
// The requests of a coordinator of a collective to its ranks, and their answers.
//
// Why: ranks send traffic to each other because a third party's message requests it, and allocate the requested memory.
// So all permitted requests are here, with their limits. The coordinator exchanges addresses between ranks; these ask
// each other only whether they are in the same collective (mesh/membership.h). One session, coordinator (C) and rank
// (E), after the Hello messages; served only if there is a token:
//   C Join → E Wait each second while a mesh or another collective uses this endpoint → E Joined
//   C Link → E Linked
//   for each size: C Reduce → E Heartbeat each second → E Reduced
//   C Heartbeat while others are at work; C closes the connection
// A Refusal may come from the rank instead of any message.
// Threading: plain values.
// Failure: Code::kInvalid with the field's path. Wire: channel/envelope.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "perf/channel/envelope.h"
#include "perf/collective/bandwidth.h"
#include "perf/collective/pattern.h"
#include "perf/collective/schedule.h"
#include "perf/link_address.h"
#include "perf/mesh/mesh_message.h"

namespace railbed::perf::collective {

inline constexpr uint32_t kMaxRails = 16;
inline constexpr uint32_t kMaxNics = 512;  // ranks × rails: the times of all steps fit into one message
inline constexpr uint32_t kMaxIterations = 1000;

struct Join {
  static constexpr std::string_view kName = "collective-join";
  MeshId id;  // of this collective
  Transport transport = Transport::kRdma;
  std::vector<Algorithm> algorithms;
  uint32_t rank = 0;
  uint32_t ranks = 2;
  uint64_t largest_bytes = kElement_bytes;  // of the sizes that come
  std::vector<mesh::OwnRail> rails;
};

// Where one peer of the schedule reaches this rank: a queue pair of its own, or the port of the rail.
struct LinkAddress {
  uint32_t peer = 0;
  std::string name;  // of the peer, for messages; "" in what a rank reports of itself
  std::optional<IpAddress> address;
  uint16_t serves_at = 0;  // the port of its `perf serve`; 0 in what a rank reports of itself
  std::optional<RdmaAddress> rdma;
  std::optional<TcpAddress> tcp;
  friend bool operator==(const LinkAddress&, const LinkAddress&) = default;
};
struct JoinedRail {
  mesh::RailFound found;
  std::vector<LinkAddress> links;  // one for each peer; none where the rail cannot be used
  friend bool operator==(const JoinedRail&, const JoinedRail&) = default;
};
struct Joined {
  static constexpr std::string_view kName = "collective-joined";
  std::vector<JoinedRail> rails;
};

struct LinkedRail {
  uint32_t rail = 0;
  std::vector<LinkAddress> links;  // of each peer, what it reported about this rank
  friend bool operator==(const LinkedRail&, const LinkedRail&) = default;
};
struct Link {
  static constexpr std::string_view kName = "collective-link";
  std::vector<LinkedRail> rails;
};
struct Linked {
  static constexpr std::string_view kName = "collective-linked";
};

// All rails begin at once, each with a buffer of this size.
struct Reduce {
  static constexpr std::string_view kName = "collective-reduce";
  int64_t number = 0;
  Algorithm algorithm = Algorithm::kRing;
  uint64_t size_bytes = kElement_bytes;
  uint32_t iterations = 20;
  uint32_t warm_up = 5;  // that are not counted; the first lets ranks meet
};

// Of one rank on one rail. Medians over iterations; what is called `step` is reported for each step of what it receives
// (StepCount::receives), and `sent_us` for each of what it sends.
struct RankTimes {
  uint32_t rail = 0;
  double mean_us = 0;  // of an all-reduce
  double p50_us = 0;
  double p99_us = 0;  // 0: fewer than 100 iterations
  double max_us = 0;
  double waited_p50_us = 0;  // for data, in an all-reduce
  double waited_p99_us = 0;  // 0: fewer than 100 iterations
  double own_p50_us = 0;     // neither waiting for data nor for its own sends: adding, posting, and being held up
  double own_max_us = 0;
  // Until all of the step's data was there: the mean, since who is held up now and then is what others wait for.
  std::vector<double> step_waited_us;
  std::vector<double> step_transfer_us;  // of it, from the first byte on; 0 where the network card takes what comes
  std::vector<double> step_reduce_us;
  std::vector<double> sent_us;  // until the peer's network card had it; 0 over sockets
  std::optional<Wrong> wrong;
  friend bool operator==(const RankTimes&, const RankTimes&) = default;
};
struct Reduced {
  static constexpr std::string_view kName = "collective-reduced";
  int64_t number = 0;
  std::vector<RankTimes> rails;
};

using CollectiveMessage = std::variant<Join, Joined, Link, Linked, Reduce, Reduced>;
static_assert(HasDistinctNames<CollectiveMessage>::value);

void write_body(JsonWriter& writer, const Join& message);
void write_body(JsonWriter& writer, const Joined& message);
void write_body(JsonWriter& writer, const Link& message);
void write_body(JsonWriter& writer, const Reduce& message);
void write_body(JsonWriter& writer, const Reduced& message);
void read_body(doc::Fields& fields, Join& message);
void read_body(doc::Fields& fields, Joined& message);
void read_body(doc::Fields& fields, Link& message);
void read_body(doc::Fields& fields, Reduce& message);
void read_body(doc::Fields& fields, Reduced& message);

}  // namespace railbed::perf::collective

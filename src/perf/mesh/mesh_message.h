// SPDX-License-Identifier: Apache-2.0
// The requests of a coordinator of a mesh to its endpoints, and their answers.
//
// Why: an endpoint sends traffic because a third party's message requests it. So all permitted requests are here, with
// their limits: rails by their own addresses, one test with one size for a minute at most, and addresses (no names to
// resolve) of the partners. One session, coordinator (C) and endpoint (E), after the Hello messages; the endpoint
// serves it only if it has a token:
//   C Enlist → E Wait each second while another mesh uses this endpoint → E Enlisted
//   for each step: C Step → E Heartbeat each second → E StepDone
//   where E asks each target for its mesh before it sends (membership.h), on a connection of its own: AskMesh → InMesh
//   C Heartbeat while others are at work; C closes the connection
// A Refusal may come from the endpoint instead of any message.
// Threading: plain values.
// Failure: Code::kInvalid with the field's path. Wire: channel/envelope.h. register_message.h has the rest of the list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ip.h"
#include "perf/channel/envelope.h"
#include "perf/channel/hmac.h"
#include "perf/measurement.h"
#include "perf/mesh/fabric.h"

namespace railbed::perf {
using MeshId = Bytes32<struct MeshIdTag>;  // of one run of a mesh, or of a collective
}

namespace railbed::perf::mesh {

inline constexpr int64_t kMaxStep_ms = 60'000;    // of measuring
inline constexpr int64_t kMaxStepQps = 32;        // of each rail
inline constexpr size_t kMaxProblem_bytes = 200;  // of what is reported about a rail

// A NIC of the endpoint itself.
struct OwnRail {
  uint32_t rail = 0;
  IpAddress address;
  std::string device;  // RDMA device; "": the one that the address belongs to
  friend bool operator==(const OwnRail&, const OwnRail&) = default;
};
struct Enlist {
  static constexpr std::string_view kName = "mesh-enlist";
  MeshId mesh;
  Transport transport = Transport::kRdma;
  std::vector<OwnRail> rails;
};

// Whether the rail can be used, and what it is.
struct RailFound {
  uint32_t rail = 0;
  std::string problem;  // "": none
  std::string device;
  bool soft = false;
  double carries_gbps = 0;  // payload between two such NICs; 0: not known
  friend bool operator==(const RailFound&, const RailFound&) = default;
};
struct Enlisted {
  static constexpr std::string_view kName = "mesh-enlisted";
  std::vector<RailFound> rails;
};

// Measures from an own rail to a rail of another endpoint.
struct PairTask {
  uint32_t rail = 0;  // own
  IpAddress address;  // of the other one
  uint16_t port = 0;  // where it serves
  std::string device;
  friend bool operator==(const PairTask&, const PairTask&) = default;
};
// All tasks begin at once. Without tasks it asks whether the endpoint lives.
struct Step {
  static constexpr std::string_view kName = "mesh-step";
  int64_t number = 0;
  TestSpec spec{.sizes_bytes = {1}};
  std::vector<PairTask> tasks;
};

// What came out of a task: of a bandwidth test `gbps`, of latency whole round trips.
struct PairFigures {
  uint32_t rail = 0;
  std::string problem;  // "": measured
  double gbps = 0;
  double p50_us = 0;
  double p99_us = 0;  // 0: too few samples for it
  uint64_t samples = 0;
  uint32_t outages = 0;
  friend bool operator==(const PairFigures&, const PairFigures&) = default;
};
struct StepDone {
  static constexpr std::string_view kName = "mesh-step-done";
  int64_t number = 0;
  std::vector<PairFigures> pairs;
};

// From one endpoint to another one, before it measures to it: the mesh in which an address takes part.
struct AskMesh {
  static constexpr std::string_view kName = "mesh-ask";
  IpAddress address;  // as the coordinator says it
};
struct InMesh {
  static constexpr std::string_view kName = "mesh-member";
  MeshId mesh;
};

void write_body(JsonWriter& writer, const Enlist& message);
void write_body(JsonWriter& writer, const Enlisted& message);
void write_body(JsonWriter& writer, const Step& message);
void write_body(JsonWriter& writer, const StepDone& message);
void write_body(JsonWriter& writer, const AskMesh& message);
void write_body(JsonWriter& writer, const InMesh& message);
void read_body(doc::Fields& fields, Enlist& message);
void read_body(doc::Fields& fields, Enlisted& message);
void read_body(doc::Fields& fields, Step& message);
void read_body(doc::Fields& fields, StepDone& message);
void read_body(doc::Fields& fields, AskMesh& message);
void read_body(doc::Fields& fields, InMesh& message);

// For messages of others that speak of rails, too.
void write_own_rails(JsonWriter& writer, const std::vector<OwnRail>& rails);  // as the member "rails"
std::vector<OwnRail> read_own_rails(doc::Fields& fields);
void write_found(JsonWriter& writer, const RailFound& found);  // the members of an object
void read_found(doc::Fields& fields, RailFound& found);

// A problem as it is reported: one line, no control characters, not longer than the limit.
std::string problem_text(std::string_view text);

}  // namespace railbed::perf::mesh

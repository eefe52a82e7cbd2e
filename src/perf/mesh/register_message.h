// SPDX-License-Identifier: Apache-2.0
// How an endpoint registers with the coordinator of a future mesh.
//
// Why: in a cluster the addresses of pods are not known in advance; the endpoints know their own, and where the
// coordinator is. Endpoint (E) and coordinator (C), on a separate connection, after the Hello messages:
//   E Register → C Registered; E keeps the connection open while it can be measured, C until the mesh is over
// A Refusal may come instead of Registered. The endpoint's serving address is the one that it connects from: a client
// cannot register another machine.
// Threading: plain values.
// Failure: Code::kInvalid with the field's path. Wire: channel/envelope.h.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "perf/mesh/mesh_message.h"

namespace railbed::perf::mesh {

struct Register {
  static constexpr std::string_view kName = "mesh-register";
  std::string name;            // of the host in the mesh
  uint16_t port = 0;           // where it serves
  uint32_t rail_count = 1;     // with those on which it has no NIC
  std::vector<OwnRail> rails;  // those on which it has one
};
struct Registered {
  static constexpr std::string_view kName = "mesh-registered";
  uint32_t registered = 0;  // endpoints, with this one
  uint32_t wanted = 0;      // before the mesh begins; 0: as many as come in its time
};

// All messages of a mesh.
using MeshMessage = std::variant<Enlist, Enlisted, Step, StepDone, AskMesh, InMesh, Register, Registered>;
static_assert(HasDistinctNames<MeshMessage>::value);

void write_body(JsonWriter& writer, const Register& message);
void write_body(JsonWriter& writer, const Registered& message);
void read_body(doc::Fields& fields, Register& message);
void read_body(doc::Fields& fields, Registered& message);

// What came after Registered, where both sides are silent.
Error unexpected(const Envelope& message);

}  // namespace railbed::perf::mesh

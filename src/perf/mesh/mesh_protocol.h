// SPDX-License-Identifier: Apache-2.0
// What a server takes part in as an endpoint of a mesh, as rows for its sessions.
//
// Threading: Membership: any thread; the rows: that of the session.
// Failure: kDenied without a token; as the channel.
#pragma once

#include "perf/mesh/membership.h"
#include "perf/session/session.h"

namespace railbed::perf::mesh {

// The turn of a mesh or a collective, of which a server has one at a time: two would measure each other. The token is
// checked first.
Result<Turns::Turn> turn_of_all_rails(Session& session, int64_t memory_bytes);

// A coordinator enlists this server (mesh_message.h). `membership` is the server's, and outlives it.
Protocol mesh_protocol(Membership& membership);
// Another endpoint asks for the mesh of an address.
Protocol membership_protocol(const Membership& membership);

}  // namespace railbed::perf::mesh

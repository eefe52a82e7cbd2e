// SPDX-License-Identifier: Apache-2.0
// The endpoint's side of a mesh: measures to other endpoints on a coordinator's request.
//
// Why: in a mesh every server is a client, too, and all rails of a machine measure at once. Requests make a machine
// send traffic, so they are served only for clients with the token, from rails that were checked, to one address for
// each rail, which must have enlisted in the same mesh (membership.h). When the coordinator disconnects, measurements
// end within a quarter of a second.
// Threading: one thread per instance, which starts a thread for each rail and joins them.
// Failure: as the channel; a rail that cannot be measured is an answer and not a failure.
#pragma once

#include <stop_token>
#include <vector>

#include "os/ports/kernel.h"
#include "perf/channel/control.h"
#include "perf/channel/watch.h"
#include "perf/mesh/membership.h"
#include "perf/mesh/mesh_message.h"
#include "perf/stream/rdma_place.h"

namespace railbed::perf::mesh {

// Whether a server with this token takes part in a mesh.
Result<void> may_take_part(const std::string& token);

struct EndpointOptions {
  rdma::GidRule gid_rule;
  perf::Limits limits;
  std::string token;                 // of this server and of all others
  Membership* membership = nullptr;  // of the server; outlives the endpoint
};

class MeshEndpoint {
 public:
  MeshEndpoint(os::Kernel& kernel, Channel& channel, const EndpointOptions& options, Enlist enlist);
  // Until the coordinator closes the connection.
  Result<void> run();

 private:
  RailFound look_at(const OwnRail& own) const;
  Result<void> check(const Step& step) const;
  Result<StepDone> carry_out(const Step& step);
  PairFigures measure_pair(const TestSpec& spec, const PairTask& task, std::stop_token stop) const;

  os::Kernel& kernel_;
  Channel& channel_;
  EndpointOptions options_;
  Enlist enlist_;
  std::vector<RailFound> found_;  // one for each of enlist_.rails
};

}  // namespace railbed::perf::mesh

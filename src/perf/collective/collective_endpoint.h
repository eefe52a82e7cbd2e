// SPDX-License-Identifier: Apache-2.0
// The rank's side of a collective: links to other ranks, and all-reduces on a coordinator's request.
//
// Why: as for a mesh (mesh_endpoint.h), whose rules apply here, too: only for clients with the token, only from own
// addresses of this network namespace, and nothing continues when the coordinator has disconnected.
// Threading: one thread per instance, which has a thread for each rail and joins them.
// Failure: as the channel and the links; it is reported to the coordinator.
#pragma once

#include <list>
#include <memory>
#include <stop_token>
#include <vector>

#include "os/ports/kernel.h"
#include "perf/channel/control.h"
#include "perf/collective/rail_links.h"
#include "perf/collective/rail_thread.h"
#include "perf/mesh/membership.h"
#include "perf/session/session.h"

namespace railbed::perf::collective {

struct EndpointOptions {
  rdma::GidRule gid_rule;
  perf::Limits limits;
  uint16_t data_port = 0;
  std::string token;                       // of this server and of all others
  mesh::Membership* membership = nullptr;  // of the server; outlives the endpoint
};

class CollectiveEndpoint {
 public:
  CollectiveEndpoint(os::Kernel& kernel, Channel& channel, const TickClock& clock, const EndpointOptions& options,
                     Join join);
  ~CollectiveEndpoint();
  // What the buffers of all rails take.
  static int64_t memory_bytes(const Join& join);
  // Until the coordinator closes the connection.
  Result<void> run();

 private:
  struct Rail;
  Result<void> open(Rail& rail);
  Result<Joined> join();
  // Whether those whom this rank would send to are in the same collective.
  Result<void> check_peers(const Rail& rail, const std::vector<LinkAddress>& links) const;
  Result<void> connect(Rail& rail, const Link& link);
  Result<void> serve(const Reduce& wanted);
  Result<void> check(const Reduce& wanted) const;
  // Has each rail do it at once, and looks after the coordinator meanwhile. What came of it is in the rails.
  Result<void> on_all_rails(const std::function<Result<void>(Rail&)>& work);
  // The same, where no rail goes on without the others. The error of the rail that had one first.
  Result<void> on_all_rails_together(const std::function<Result<void>(Rail&)>& work);

  os::Kernel& kernel_;
  Channel& channel_;
  const TickClock& clock_;
  EndpointOptions options_;
  Join join_;
  std::stop_source stop_;
  std::list<Rail> rails_;
};

// A coordinator has this server join a collective (collective_message.h). `membership` is the server's, and outlives
// it.
Protocol collective_protocol(mesh::Membership& membership);

}  // namespace railbed::perf::collective

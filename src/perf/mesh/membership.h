// SPDX-License-Identifier: Apache-2.0
// Which addresses of a server take part in which mesh, and how another endpoint queries that.
//
// Why: a coordinator names the addresses that endpoints send to, and an attacker with a stolen token can be a
// coordinator. So an endpoint sends only to an address whose server confirms, over a connection on which it has proved
// the token, that this very address enlisted in the same mesh: an API server, a storage server, or an endpoint of
// another mesh does not. Over Ethernet the destination address of RDMA writes must be that address, too, since it comes
// from a message.
// Threading: Membership: any thread; the rest: that of the channel.
// Failure: kDenied with the address, and which condition it does not meet.
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "perf/channel/control.h"
#include "perf/channel/watch.h"
#include "perf/mesh/mesh_message.h"

namespace railbed::perf::mesh {

// Of one server, which takes part in one mesh at a time (mesh_protocol.h).
class Membership {
 public:
  // Ends with its destruction. The Membership outlives it.
  class Entry {
   public:
    explicit Entry(Membership& all) : all_(&all) {}
    Entry(Entry&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}
    Entry& operator=(Entry&&) = delete;
    ~Entry() {
      if (all_ != nullptr) all_->leave();
    }

   private:
    Membership* all_;
  };
  [[nodiscard]] Entry enter(const MeshId& mesh, std::vector<IpAddress> addresses);
  std::optional<MeshId> mesh_of(const IpAddress& address) const;

 private:
  void leave();

  mutable std::mutex mutex_;
  std::optional<MeshId> mesh_;
  std::vector<IpAddress> addresses_;
};

// The server's answer.
Result<InMesh> answer(const Membership& membership, const AskMesh& asked);

// Asks the server, after the greeting, whether `target` enlisted in `mesh`.
Result<void> check_target(Channel& channel, const IpAddress& target, const MeshId& mesh, const perf::Limits& limits);

// The same over a connection of its own: for ranks of a collective, which have no other one to each other.
struct Target {
  IpAddress address;
  uint16_t port = 0;  // where it serves
  IpAddress from;     // this side's
  std::string hostname;
  std::string token;
  std::stop_token stop;
};
Result<void> ask_target(const Target& target, const MeshId& mesh, const perf::Limits& limits);

// Whether RDMA writes for `target` would go there. InfiniBand has addresses of its own, which reach no IP network.
Result<void> check_rdma_target(const IpAddress& target, const RdmaAddress& offered, bool is_infiniband);

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/membership.h"

#include <algorithm>

#include "perf/channel/client_talk.h"
#include "rdma/gid.h"

namespace railbed::perf::mesh {

Membership::Entry Membership::enter(const MeshId& mesh, std::vector<IpAddress> addresses) {
  const std::lock_guard lock(mutex_);
  mesh_ = mesh;
  addresses_ = std::move(addresses);
  return Entry(*this);
}

void Membership::leave() {
  const std::lock_guard lock(mutex_);
  mesh_.reset();
  addresses_.clear();
}

std::optional<MeshId> Membership::mesh_of(const IpAddress& address) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::count(addresses_, address) > 0 ? mesh_ : std::nullopt;
}

Result<InMesh> answer(const Membership& membership, const AskMesh& asked) {
  const auto mesh = membership.mesh_of(asked.address);
  if (!mesh)
    return fail(Error{.code = Code::kDenied,
                      .message = fmt::format("{} does not belong to a mesh of this server", asked.address),
                      .hint = "endpoints send only to addresses of the same mesh"});
  return InMesh{*mesh};
}

Result<void> check_target(Channel& channel, const IpAddress& target, const MeshId& mesh, const perf::Limits& limits) {
  TRY(channel.send(AskMesh{target}, limits.after(limits.answer)));
  const InMesh member = TRY(channel.expect<InMesh>(limits.answer).context("asking {} for its mesh", target));
  if (member.mesh != mesh)
    return fail(Error{.code = Code::kDenied,
                      .message = fmt::format("{} belongs to another mesh", target),
                      .hint = "wait until the other coordinator has finished"});
  return {};
}

Result<void> ask_target(const Target& target, const MeshId& mesh, const perf::Limits& limits) {
  Socket socket =
      TRY(Socket::connect(target.address.to_string(), target.port, limits.after(limits.connect), target.from));
  Channel channel(std::move(socket), target.stop, *limits.clock);
  TRY(channel.socket().set_no_delay());
  TRY(greet_server(channel, {.hostname = target.hostname, .token = target.token, .peer = "rank"}, limits));
  return check_target(channel, target.address, mesh, limits);
}

Result<void> check_rdma_target(const IpAddress& target, const RdmaAddress& offered, bool is_infiniband) {
  const IpAddress address = rdma::address_of(offered.gid);
  if (is_infiniband || address == target) return {};
  return fail(
      Error{.code = Code::kDenied,
            .message = fmt::format("{} offers {} for RDMA, which does not belong to this mesh", target, address),
            .hint = "give the mesh the address that the GID of this rail has, or start the server without "
                    "another --gid-rule"});
}

}  // namespace railbed::perf::mesh

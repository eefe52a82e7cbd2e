// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_protocol.h"

#include <algorithm>

#include "perf/mesh/mesh_endpoint.h"

namespace railbed::perf::mesh {
namespace {

// How long an endpoint that another mesh uses lets a coordinator wait. Not for long, since two of them may have what
// the other one waits for.
constexpr std::chrono::milliseconds kEnlistPatience{10'000};

Result<Served> serve_mesh(Session& session, const Envelope& opening, Membership& membership) {
  Enlist enlist = TRY(decode_as<Enlist>(opening));
  const Turns::Turn turn = TRY(turn_of_all_rails(session, 0));
  TRY(session.announce(fmt::format("a mesh over {}, {} rail(s)", name_of(enlist.transport), enlist.rails.size())));
  const SessionOptions& options = session.options();
  MeshEndpoint endpoint(
      session.kernel(), session.channel(),
      {.gid_rule = options.place.gid_rule, .limits = options.limits, .token = options.token, .membership = &membership},
      std::move(enlist));
  TRY(endpoint.run());
  return Served::kLastTest;
}

Result<Served> serve_question(Session& session, const Envelope& opening, const Membership& membership) {
  const AskMesh asked = TRY(decode_as<AskMesh>(opening));
  const InMesh member = TRY(answer(membership, asked));
  TRY(session.send(member));
  return Served::kQuestion;
}

}  // namespace

Result<Turns::Turn> turn_of_all_rails(Session& session, int64_t memory_bytes) {
  TRY(may_take_part(session.options().token));
  const auto patience = std::min(session.options().limits.turn, kEnlistPatience);
  return session.wait_for_turn({.device = "all rails, for a mesh", .memory_bytes = memory_bytes, .streams = 0},
                               patience);
}

Protocol mesh_protocol(Membership& membership) {
  return {.opens_with = Enlist::kName, .serve = [&membership](Session& session, const Envelope& opening) {
            return serve_mesh(session, opening, membership);
          }};
}

Protocol membership_protocol(const Membership& membership) {
  return {.opens_with = AskMesh::kName, .serve = [&membership](Session& session, const Envelope& opening) {
            return serve_question(session, opening, membership);
          }};
}

}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/rail_links.h"

#include <algorithm>

namespace railbed::perf::collective {

std::string RailLinks::name_of_peer(uint32_t peer) const {
  const auto name = names_.find(peer);
  return name == names_.end() || name->second.empty() ? fmt::format("rank {}", peer)
                                                      : fmt::format("rank {} ({})", peer, name->second);
}

void RailLinks::note_sent(uint32_t step, uint64_t ticks) {
  if (sending_.steps.size() <= step) sending_.steps.resize(step + 1);
  sending_.steps[step] += ticks;
}

RailLinks::Sending RailLinks::take_sending(size_t steps) {
  Sending taken = std::exchange(sending_, {});
  taken.steps.resize(steps);
  return taken;
}

Result<void> RailLinks::Wait::in_vain() {
  if (rail_.request_.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
  const auto quiet_ns = rail_.clock_.between_ns(last_progress_, rail_.clock_.now());
  const auto stall = rail_.request_.limits.stall;
  if (quiet_ns < static_cast<uint64_t>(stall.count()) * 1'000'000) return {};
  return fail(Code::kTimeout, "{} {} for {} ms", what_, rail_.name_of_peer(peer_), stall.count());
}

Result<const LinkAddress*> link_to(const std::vector<LinkAddress>& links, uint32_t peer) {
  const auto link = std::ranges::find(links, peer, &LinkAddress::peer);
  if (link == links.end()) return fail(Code::kInvalid, "the coordinator does not send the link to rank {}", peer);
  return &*link;
}

}  // namespace railbed::perf::collective

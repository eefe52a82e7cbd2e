// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/collective_endpoint.h"

#include <algorithm>
#include <optional>

#include <unistd.h>

#include "perf/collective/rail_run.h"
#include "perf/mesh/mesh_protocol.h"
#include "rdma/local_network.h"

namespace railbed::perf::collective {
namespace {

constexpr std::chrono::milliseconds kHeartbeatEvery{1000};
constexpr std::chrono::milliseconds kLongestPause{15 * 60'000};  // while other ranks are at work

Result<Served> serve_collective(Session& session, const Envelope& opening, mesh::Membership& membership) {
  Join join = TRY(decode_as<Join>(opening));
  const Turns::Turn turn = TRY(mesh::turn_of_all_rails(session, CollectiveEndpoint::memory_bytes(join)));
  TRY(session.announce(fmt::format("a collective over {}, rank {} of {}, {} rail(s)", name_of(join.transport),
                                   join.rank, join.ranks, join.rails.size())));
  const SessionOptions& options = session.options();
  CollectiveEndpoint endpoint(session.kernel(), session.channel(), session.clock(),
                              {.gid_rule = options.place.gid_rule,
                               .limits = options.limits,
                               .data_port = options.data_port,
                               .token = options.token,
                               .membership = &membership},
                              std::move(join));
  TRY(endpoint.run());
  return Served::kLastTest;
}

size_t areas_of(const Join& join) {
  return std::ranges::count(join.algorithms, Algorithm::kTree) > 0 ? kTreeAreas : kRingAreas;
}

uint64_t area_bytes(const Join& join) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (join.largest_bytes + page - 1) / page * page;
}

}  // namespace

struct CollectiveEndpoint::Rail {
  mesh::OwnRail own;
  mesh::RailFound found;
  std::unique_ptr<RailLinks> links;  // made and used in the thread, and ended with it
  Result<void> done;                 // of what the thread was asked last
  RankTimes times;
  RailThread thread;
};

CollectiveEndpoint::CollectiveEndpoint(os::Kernel& kernel, Channel& channel, const TickClock& clock,
                                       const EndpointOptions& options, Join join)
    : kernel_(kernel), channel_(channel), clock_(clock), options_(options), join_(std::move(join)) {}

CollectiveEndpoint::~CollectiveEndpoint() {
  stop_.request_stop();
  for (Rail& rail : rails_) {
    while (!rail.thread.wait_for(*options_.limits.clock, kHeartbeatEvery)) {
    }
    rail.thread.ask([&rail] { rail.links.reset(); });  // what a device has ends where it began
  }
  for (Rail& rail : rails_)
    while (!rail.thread.wait_for(*options_.limits.clock, kHeartbeatEvery)) {
    }
}

int64_t CollectiveEndpoint::memory_bytes(const Join& join) {
  return static_cast<int64_t>(join.rails.size() * areas_of(join) * area_bytes(join));
}

Result<void> CollectiveEndpoint::open(Rail& rail) {
  const rdma::LocalNetwork network = TRY(rdma::read_local_network(kernel_));
  if (rdma::interface_of(network, rail.own.address) == nullptr)
    return fail(Code::kNotFound, "{} is not an address of this network namespace", rail.own.address);
  RailRequest request{.own = rail.own,
                      .rank = join_.rank,
                      .peers = peers_of(join_.algorithms, join_.rank, join_.ranks),
                      .areas = areas_of(join_),
                      .area_bytes = area_bytes(join_),
                      .gid_rule = options_.gid_rule,
                      .data_port = options_.data_port,
                      .limits = options_.limits,
                      .stop = stop_.get_token()};
  if (join_.transport == Transport::kTcp)
    rail.links = TRY(open_tcp_rail(kernel_, std::move(request), clock_));
  else
    rail.links = TRY(open_rdma_rail(kernel_, std::move(request), clock_, rail.found));
  return {};
}

Result<void> CollectiveEndpoint::on_all_rails(const std::function<Result<void>(Rail&)>& work) {
  for (Rail& rail : rails_) rail.thread.ask([&rail, &work] { rail.done = work(rail); });
  Clock& clock = *options_.limits.clock;
  auto heartbeat_at = clock.now();
  Result<void> alive;
  for (Rail& rail : rails_)
    while (!rail.thread.wait_for(clock, options_.limits.check)) {
      if (!alive) continue;  // all threads see the stop, and are waited for
      alive = channel_.interrupted();
      const auto now = clock.now();
      if (alive && now - heartbeat_at >= std::min(kHeartbeatEvery, options_.limits.answer / 4)) {
        heartbeat_at = now;
        alive = channel_.send_heartbeat();
      }
      if (!alive) stop_.request_stop();
    }
  TRY(std::move(alive));
  return {};
}

Result<void> CollectiveEndpoint::on_all_rails_together(const std::function<Result<void>(Rail&)>& work) {
  TRY(on_all_rails([&](Rail& rail) -> Result<void> {
    Result<void> done = work(rail).context("rail {}", rail.own.rail);
    if (!done) stop_.request_stop();
    return done;
  }));
  // Those that were stopped only followed.
  for (const Rail& rail : rails_)
    if (!rail.done && rail.done.error().code != Code::kCanceled) return rail.done;
  for (const Rail& rail : rails_) TRY(Result<void>(rail.done));
  return {};
}

// Over sockets only those that it calls: who calls proves with a cookie that it got this rank's address.
Result<void> CollectiveEndpoint::check_peers(const Rail& rail, const std::vector<LinkAddress>& links) const {
  const bool rdma = join_.transport == Transport::kRdma;
  for (const LinkAddress& link : links) {
    if (!rdma && link.peer > join_.rank) continue;
    if (!link.address || link.serves_at == 0)
      return fail(Code::kInvalid, "the coordinator does not send the address of rank {}", link.peer);
    const mesh::Target target{.address = *link.address,
                              .port = link.serves_at,
                              .from = rail.own.address,
                              .hostname = kernel_.host_name(),
                              .token = options_.token,
                              .stop = stop_.get_token()};
    TRY(mesh::ask_target(target, join_.id, options_.limits).context("rank {} ({})", link.peer, link.name));
  }
  return {};
}

Result<void> CollectiveEndpoint::connect(Rail& rail, const Link& link) {
  const auto own = std::ranges::find(link.rails, rail.own.rail, &LinkedRail::rail);
  if (own == link.rails.end())
    return fail(Code::kInvalid, "the coordinator does not send the links of rail {}", rail.own.rail);
  if (!rail.links) return fail(Code::kInvalid, "{}", rail.found.problem);
  TRY(check_peers(rail, own->links));
  return rail.links->connect(own->links);
}

Result<Joined> CollectiveEndpoint::join() {
  for (const mesh::OwnRail& own : join_.rails) {
    Rail& rail = rails_.emplace_back();
    rail.own = own;
    rail.found = {.rail = own.rail, .problem = "", .device = own.device};
    if (auto started = rail.thread.start(); !started) {
      rails_.pop_back();
      return fail(started.error());
    }
  }
  TRY(on_all_rails([this](Rail& rail) { return open(rail); }));
  Joined joined;
  for (Rail& rail : rails_) {
    if (!rail.done) rail.found.problem = mesh::problem_text(rail.done.error().story());
    joined.rails.push_back(
        {.found = rail.found, .links = rail.done ? rail.links->offers() : std::vector<LinkAddress>()});
  }
  return joined;
}

Result<void> CollectiveEndpoint::run() {
  const Joined joined = TRY(join());
  std::vector<IpAddress> usable;
  for (const Rail& rail : rails_)
    if (rail.done) usable.push_back(rail.own.address);
  const mesh::Membership::Entry entry = options_.membership->enter(join_.id, std::move(usable));
  TRY(channel_.send(joined, options_.limits.after(options_.limits.answer)));
  auto message = channel_.receive(options_.limits.idle, kLongestPause);
  if (!message && message.error().code == Code::kCanceled) return {};  // a rank cannot take part
  if (!message) return fail(std::move(message.error()));
  const Link link = TRY(decode_as<Link>(*message));
  TRY(on_all_rails_together([this, &link](Rail& rail) { return connect(rail, link); }));
  TRY(channel_.send(Linked{}, options_.limits.after(options_.limits.answer)));
  for (;;) {
    auto next = channel_.receive(options_.limits.idle, kLongestPause);
    if (!next && next.error().code == Code::kCanceled) return {};  // the coordinator has finished
    if (!next) return fail(std::move(next.error()));
    const Reduce wanted = TRY(decode_as<Reduce>(*next));
    TRY(serve(wanted));
  }
}

Protocol collective_protocol(mesh::Membership& membership) {
  return {.opens_with = Join::kName, .serve = [&membership](Session& session, const Envelope& opening) {
            return serve_collective(session, opening, membership);
          }};
}

Result<void> CollectiveEndpoint::check(const Reduce& wanted) const {
  if (wanted.size_bytes > join_.largest_bytes)
    return fail(Code::kInvalid, "the coordinator requests {} bytes, but announced {}", wanted.size_bytes,
                join_.largest_bytes);
  if (std::ranges::count(join_.algorithms, wanted.algorithm) == 0)
    return fail(Code::kInvalid, "the coordinator requests a {}, which it did not announce", name_of(wanted.algorithm));
  return {};
}

Result<void> CollectiveEndpoint::serve(const Reduce& wanted) {
  TRY(check(wanted));
  const auto reduce = [&](Rail& rail) -> Result<void> {
    rail.times = TRY(run_rail(*rail.links, {.rank = join_.rank, .ranks = join_.ranks}, wanted));
    rail.times.rail = rail.own.rail;
    return {};
  };
  TRY(on_all_rails_together(reduce));
  Reduced reduced{.number = wanted.number, .rails = {}};
  for (const Rail& rail : rails_) reduced.rails.push_back(rail.times);
  return channel_.send(reduced, options_.limits.after(options_.limits.answer));
}

}  // namespace railbed::perf::collective

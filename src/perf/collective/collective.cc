// SPDX-License-Identifier: Apache-2.0
#include "perf/collective/collective.h"

#include <algorithm>
#include <set>

#include "base/utc.h"
#include "doc/text.h"

namespace railbed::perf::collective {
namespace {

constexpr size_t kMostReasons = 8;  // of ranks, in an error

// What a rank may not answer. Its reader has looked at each value by itself.
Result<void> check_times(const Reduce& wanted, uint32_t rank, uint32_t ranks, const std::vector<mesh::OwnRail>& rails,
                         const Reduced& reduced) {
  if (reduced.number != wanted.number)
    return fail(Code::kInvalid, "it answers all-reduce {} in {}", reduced.number, wanted.number);
  if (!std::ranges::equal(reduced.rails, rails, {}, &RankTimes::rail, &mesh::OwnRail::rail))
    return fail(Code::kInvalid, "it does not answer for the requested rails");
  const StepCount steps = steps_of(wanted.algorithm, rank, ranks);
  for (const RankTimes& times : reduced.rails) {
    if (times.step_waited_us.size() != steps.receives || times.step_transfer_us.size() != steps.receives ||
        times.step_reduce_us.size() != steps.receives || times.sent_us.size() != steps.sends)
      return fail(Code::kInvalid, "it reports {} steps on rail {}, expected {}", times.step_waited_us.size(),
                  times.rail, steps.receives);
    if (times.mean_us <= 0)
      return fail(Code::kInvalid, "it reports rail {} as measured, but without a time", times.rail);
    if (times.wrong && times.wrong->offset + times.wrong->count > wanted.size_bytes / kElement_bytes)
      return fail(Code::kInvalid, "it reports wrong data beyond the end of the reduced data on rail {}", times.rail);
  }
  return {};
}

class Coordinator {
 public:
  Coordinator(const mesh::MeshSetup& setup, CollectiveOptions options)
      : setup_(setup),
        options_(std::move(options)),
        fleet_(setup_.hosts, options_.fleet),
        joined_(setup_.hosts.size()) {
    for (const mesh::HostAddress& host : setup_.hosts) {
      rails_.emplace_back();
      for (const auto& rail : host.rails)
        if (rail) rails_.back().push_back(*rail);
    }
  }

  Result<CollectiveRun> run() {
    TRY(check_setup());
    id_ = TRY(random_one<MeshId>());
    TRY(fleet_.gather([this](uint32_t rank, Channel& channel) { return join(rank, channel); }));
    TRY(all_there());
    progress("links between ranks");
    TRY(link());
    CollectiveRun run{.version = RAILBED_VERSION,
                      .started_at = utc_text(std::chrono::system_clock::now()),
                      .command = options_.command,
                      .label = options_.label,
                      .ranks = {},
                      .rails = setup_.fabric.rails,
                      .transport = options_.fleet.transport,
                      .iterations = options_.iterations,
                      .warm_up = options_.warm_up,
                      .results = {},
                      .ended_by = {}};
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      run.ranks.push_back(name(rank));
      for (const JoinedRail& rail : joined_[rank].rails) run.soft = run.soft || rail.found.soft;
    }
    if (const auto done = all_sizes(run); !done) run.ended_by = done.error().story();
    if (!run.ended_by.empty() && run.results.empty()) return fail(Code::kIo, "{}", run.ended_by);
    return run;
  }

 private:
  uint32_t ranks() const { return static_cast<uint32_t>(setup_.hosts.size()); }
  std::string name(uint32_t rank) const { return doc::printable(setup_.fabric.endpoints[rank].host); }
  void progress(const std::string& text) const {
    if (options_.fleet.on_progress) options_.fleet.on_progress(text);
  }

  Result<void> check_setup() const {
    if (ranks() < 2 || ranks() > kMaxRanks)
      return fail(Code::kInvalid, "a collective has 2 to {} ranks, and this one {}", kMaxRanks, ranks());
    const size_t rail_count = setup_.fabric.rails.size();
    if (rail_count > kMaxRails || rail_count * ranks() > kMaxNics)
      return fail(Code::kInvalid, "a collective has at most {} rails and {} NICs, and this one {} and {}", kMaxRails,
                  kMaxNics, rail_count, rail_count * ranks());
    for (uint32_t rank = 0; rank < ranks(); ++rank)
      for (size_t rail = 0; rail < rail_count; ++rail)
        if (!setup_.hosts[rank].rails[rail])
          return fail(Error{.code = Code::kInvalid,
                            .message = fmt::format("{} has no NIC on {}, but every rank must take part on every rail",
                                                   name(rank), doc::printable(setup_.fabric.rails[rail])),
                            .hint = "leave out the rail, or the host"});
    return {};
  }

  Result<void> join(uint32_t rank, Channel& channel) {
    const auto answer = options_.fleet.limits.answer;
    const Join join{.id = id_,
                    .transport = options_.fleet.transport,
                    .algorithms = options_.algorithms,
                    .rank = rank,
                    .ranks = ranks(),
                    .largest_bytes = std::ranges::max(options_.sizes_bytes),
                    .rails = rails_[rank]};
    TRY(channel.send(join, options_.fleet.limits.after(answer)));
    const Deadline turn = options_.fleet.limits.after(options_.fleet.step_slack);
    for (;;) {
      const Envelope message = TRY(channel.receive(2 * answer, options_.fleet.step_slack));
      if (message.type == Wait::kName && !turn.passed()) continue;
      joined_[rank] = TRY(decode_as<Joined>(message));
      return check_joined(rank);
    }
  }

  Result<void> check_joined(uint32_t rank) const {
    const auto rail_of = [](const JoinedRail& rail) { return rail.found.rail; };
    if (!std::ranges::equal(joined_[rank].rails, rails_[rank], {}, rail_of, &mesh::OwnRail::rail))
      return fail(Code::kInvalid, "it does not answer for the requested rails");
    const auto peers = peers_of(options_.algorithms, rank, ranks());
    for (const JoinedRail& rail : joined_[rank].rails) {
      if (!rail.found.problem.empty())
        return fail(Code::kInvalid, "{}: {}", doc::printable(setup_.fabric.rails[rail.found.rail]), rail.found.problem);
      for (const uint32_t peer : peers) {
        const LinkAddress& link = *TRY(offer_to(rail, peer));
        const bool rdma = options_.fleet.transport == Transport::kRdma;
        if (rdma ? !link.rdma : !link.tcp)
          return fail(Code::kInvalid, "it reports no address for rank {} on rail {}", peer, rail.found.rail);
      }
    }
    return {};
  }
  static Result<const LinkAddress*> offer_to(const JoinedRail& rail, uint32_t peer) {
    const auto link = std::ranges::find(rail.links, peer, &LinkAddress::peer);
    if (link == rail.links.end())
      return fail(Code::kInvalid, "it reports no address for rank {} on rail {}", peer, rail.found.rail);
    return &*link;
  }

  // The reasons of ranks that are lost; "" where none is.
  std::string losses() const {
    std::string reasons;
    size_t reported = 0;
    for (uint32_t rank = 0; rank < ranks() && reported < kMostReasons; ++rank)
      if (fleet_.lost(rank)) {
        reasons +=
            fmt::format("{}{}: {}", reported == 0 ? "" : "; ", name(rank), doc::printable(fleet_.lost_because(rank)));
        ++reported;
      }
    return reasons;
  }
  Result<void> all_there() const {
    const std::string reasons = losses();
    if (reasons.empty()) return {};
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("a collective needs all its ranks; {}", reasons),
                      .hint = "`railbed perf serve --token-file FILE` has to run on each of them, of this version"});
  }
  Result<void> still_all_there() const {
    if (const std::string reasons = losses(); !reasons.empty()) return fail(Code::kIo, "{}", reasons);
    return {};
  }

  // Each rank gets what its peers reported about it.
  Result<void> link() {
    mesh::Fleet::Asks asks(ranks());
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      Link link;
      for (size_t rail = 0; rail < rails_[rank].size(); ++rail) {
        LinkedRail& linked = link.rails.emplace_back();
        linked.rail = rails_[rank][rail].rail;
        for (const uint32_t peer : peers_of(options_.algorithms, rank, ranks())) {
          LinkAddress& address = linked.links.emplace_back(*TRY(offer_to(joined_[peer].rails[rail], rank)));
          address.peer = peer;
          address.name = name(peer);
          address.address = rails_[peer][rail].address;
          address.serves_at = setup_.hosts[peer].port;
        }
      }
      asks[rank] = encoded(link);
    }
    const auto linked = [](uint32_t, const Envelope& answer) -> Result<void> {
      TRY(decode_as<Linked>(answer));
      return {};
    };
    TRY(fleet_.exchange(asks, "its links", options_.fleet.step_slack, linked, mesh::Fleet::OnLoss::kAllEnd));
    return still_all_there();
  }

  Result<void> all_sizes(CollectiveRun& run) {
    int64_t number = 0;
    for (const Algorithm algorithm : options_.algorithms)
      for (const uint64_t size : options_.sizes_bytes) {
        progress(fmt::format("{}, {}", name_of(algorithm), size_text(static_cast<int64_t>(size))));
        run.results.push_back(TRY(measure({.number = ++number,
                                           .algorithm = algorithm,
                                           .size_bytes = size,
                                           .iterations = options_.iterations,
                                           .warm_up = options_.warm_up})));
        if (options_.on_size) TRY(options_.on_size(run));
      }
    return {};
  }

  Result<SizeResult> measure(const Reduce& wanted) {
    const mesh::Fleet::Asks asks(ranks(), encoded(wanted));
    std::vector<Reduced> answers(ranks());
    const auto reduced = [&](uint32_t rank, const Envelope& answer) -> Result<void> {
      answers[rank] = TRY(decode_as<Reduced>(answer));
      return check_times(wanted, rank, ranks(), rails_[rank], answers[rank]);
    };
    TRY(fleet_.exchange(asks, "an all-reduce", options_.longest, reduced, mesh::Fleet::OnLoss::kAllEnd));
    TRY(still_all_there());
    return result_of(wanted, answers);
  }

  SizeResult result_of(const Reduce& wanted, const std::vector<Reduced>& answers) const {
    SizeResult result{.algorithm = wanted.algorithm, .size_bytes = wanted.size_bytes, .rails = {}, .wrong = {}};
    for (uint32_t rail = 0; rail < rails_[0].size(); ++rail) {
      std::vector<RankTimes> all;
      RailResult& one = result.rails.emplace_back();
      one.rail = rail;
      for (uint32_t rank = 0; rank < ranks(); ++rank) {
        const RankTimes& times = all.emplace_back(answers[rank].rails[rail]);
        one.time_us += times.mean_us / ranks();
        if (times.wrong) result.wrong.push_back({rank, rail, *times.wrong});
      }
      one.algbw_gbytes_per_s = algbw_gbytes_per_s(wanted.size_bytes, one.time_us);
      one.busbw_gbytes_per_s = busbw_gbytes_per_s(one.algbw_gbytes_per_s, ranks());
      one.ranks = rank_figures(wanted.algorithm, all);
      one.steps = step_figures(wanted.algorithm, all);
      one.straggler = find_straggler(wanted.algorithm, all);
    }
    return result;
  }

  const mesh::MeshSetup& setup_;
  CollectiveOptions options_;
  mesh::Fleet fleet_;
  std::vector<std::vector<mesh::OwnRail>> rails_;  // of each rank
  std::vector<Joined> joined_;                     // of each rank
  MeshId id_;
};

}  // namespace

double SizeResult::algbw_gbytes_per_s() const {
  double sum = 0;
  for (const RailResult& rail : rails) sum += rail.algbw_gbytes_per_s;
  return sum;
}

double SizeResult::busbw_gbytes_per_s() const {
  double sum = 0;
  for (const RailResult& rail : rails) sum += rail.busbw_gbytes_per_s;
  return sum;
}

double SizeResult::time_us() const {
  return rails.empty() ? 0 : std::ranges::max(rails, {}, &RailResult::time_us).time_us;
}

bool CollectiveRun::is_right() const {
  return std::ranges::all_of(results, [](const SizeResult& result) { return result.wrong.empty(); });
}

Result<CollectiveRun> run_collective(const mesh::MeshSetup& setup, CollectiveOptions options) {
  return Coordinator(setup, std::move(options)).run();
}

}  // namespace railbed::perf::collective

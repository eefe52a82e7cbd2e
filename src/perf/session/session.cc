// SPDX-License-Identifier: Apache-2.0
#include "perf/session/session.h"

#include <algorithm>

#include "base/command.h"
#include "perf/bounds.h"
#include "perf/channel/greeting.h"
#include "perf/collective/collective_endpoint.h"
#include "perf/mesh/mesh_endpoint.h"
#include "perf/ping/ping_session.h"
#include "rdma/pause_counters.h"
#include "rdma/port_counters.h"

namespace railbed::perf {
namespace {

constexpr std::chrono::milliseconds kToldEvery{1000};

// What this side has to say of a round that is over.
Outcome outcome_of(const StreamResult& sent, int64_t size_bytes) {
  return {.bytes = sent.messages * size_bytes,
          .duration_s = static_cast<double>(sent.duration_ns) / 1e9,
          .series = sent.meter.series()};
}

Outcome outcome_of(const Receiver& receiver, int64_t size_bytes) {
  return {.bytes = receiver.messages() * size_bytes,
          .duration_s = receiver.duration_s(),
          .series = receiver.meter().series()};
}

}  // namespace

Result<int> Session::run() {
  TRY(channel_.socket().set_keepalive());
  TRY(channel_.socket().set_no_delay());
  auto served = serve_tests();
  if (!served && served.error().code != Code::kCanceled) {
    // A failure does not matter: a peer that sends nonsense may not read either.
    (void)channel_.send(Refusal{.message = served.error().story(), .hint = served.error().hint},
                        options_.limits.after(std::min(options_.limits.answer, std::chrono::milliseconds(1000))));
  }
  return served;
}

Result<void> Session::greet() {
  ServerGreeting greeting(options_.token, kernel_.host_name());
  while (!greeting.done()) {
    Message message = TRY(channel_.receive(options_.limits.greet));
    const Message answer = TRY(greeting.answer(std::move(message)));
    greeted_ = greeting.done();  // before the client reads that it is
    TRY(send(answer));
  }
  return greeting.seal(channel_);
}

Result<int> Session::serve_tests() {
  TRY(greet());
  for (int served = 0;;) {
    auto message = channel_.receive(options_.limits.idle);
    if (!message && message.error().code == Code::kCanceled) return served;  // the client has finished
    if (!message) return fail(std::move(message.error()));
    if (auto* enlist = std::get_if<mesh::Enlist>(&*message)) {
      TRY(serve_mesh(std::move(*enlist)));
      return served + 1;
    }
    if (auto* join = std::get_if<collective::Join>(&*message)) {
      TRY(serve_collective(std::move(*join)));
      return served + 1;
    }
    if (const auto* wanted = std::get_if<OpenPing>(&*message)) {
      TRY(serve_ping(*wanted));
      ++served;
      continue;
    }
    if (const auto* asked = std::get_if<mesh::AskMesh>(&*message)) {
      const mesh::InMesh member = TRY(mesh::answer(membership_, *asked));
      TRY(send(member));
      continue;
    }
    const auto* open = std::get_if<OpenTest>(&*message);
    if (open == nullptr)
      return fail(Code::kInvalid, "the client sent \"{}\" where a test was to be opened", name_of(*message));
    TRY(serve(*open));
    ++served;
  }
}

Result<void> Session::serve(const OpenTest& open) {
  const TestSpec& spec = open.spec;
  const IpAddress client = TRY(channel_.socket().peer_address());
  const bool rdma = spec.transport == Transport::kRdma;
  tell(fmt::format("{}: {} over {}, {} size(s), {} {}(s)", client, name_of(spec.kind),
                   rdma ? traits_of(spec.verb).text : name_of(spec.transport), spec.sizes_bytes.size(), spec.qps,
                   rdma ? "queue pair" : "stream"));
  return rdma ? serve_rdma(spec, open.load) : serve_tcp(spec);
}

// One mesh or collective at a time: two would measure each other.
Result<Turns::Turn> Session::turn_of_all_rails(int64_t memory_bytes) {
  TRY(mesh::may_take_part(options_.token));
  const auto patience = std::min(options_.limits.turn, mesh::kEnlistPatience);
  return wait_for_turn({.device = "all rails, for a mesh", .memory_bytes = memory_bytes, .streams = 0}, patience);
}

Result<void> Session::serve_mesh(mesh::Enlist enlist) {
  const Turns::Turn turn = TRY(turn_of_all_rails(0));
  tell(fmt::format("{}: a mesh over {}, {} rail(s)", TRY(channel_.socket().peer_address()), name_of(enlist.transport),
                   enlist.rails.size()));
  mesh::MeshEndpoint endpoint(kernel_, channel_,
                              {.gid_rule = options_.place.gid_rule,
                               .limits = options_.limits,
                               .token = options_.token,
                               .membership = &membership_},
                              std::move(enlist));
  return endpoint.run();
}

Result<void> Session::serve_collective(collective::Join join) {
  const Turns::Turn turn = TRY(turn_of_all_rails(collective::CollectiveEndpoint::memory_bytes(join)));
  tell(fmt::format("{}: a collective over {}, rank {} of {}, {} rail(s)", TRY(channel_.socket().peer_address()),
                   name_of(join.transport), join.rank, join.ranks, join.rails.size()));
  collective::CollectiveEndpoint endpoint(kernel_, channel_, clock_,
                                          {.gid_rule = options_.place.gid_rule,
                                           .limits = options_.limits,
                                           .data_port = options_.data_port,
                                           .token = options_.token,
                                           .membership = &membership_},
                                          std::move(join));
  return endpoint.run();
}

Result<void> Session::serve_ping(const OpenPing& wanted) {
  const Endpoint end = TRY(tcp_endpoint(kernel_, channel_));
  const Turns::Turn turn = TRY(wait_for_turn({.device = end.netdev.empty() ? end.address : end.netdev,
                                              .memory_bytes = int64_t{2} * kMostPing_bytes,
                                              .streams = 0}));
  tell(fmt::format("{}: pings of {}", TRY(channel_.socket().peer_address()), size_text(wanted.size_bytes)));
  return perf::serve_ping(channel_, clock_, options_.limits, wanted);
}

Result<void> Session::rounds(const TestSpec& spec, const std::function<Result<Outcome>(const Start&)>& one) {
  for (int64_t sequence = 1;; ++sequence) {
    Message message = TRY(channel_.receive(options_.limits.idle));
    if (std::holds_alternative<CloseTest>(message)) return {};
    const auto* start = std::get_if<Start>(&message);
    if (start == nullptr)
      return fail(Code::kInvalid, "the client sent \"{}\" where \"start\" was due", name_of(message));
    if (start->sequence != sequence)
      return fail(Code::kInvalid, "the client starts round {}, round {} was due", start->sequence, sequence);
    if (std::find(spec.sizes_bytes.begin(), spec.sizes_bytes.end(), start->size_bytes) == spec.sizes_bytes.end())
      return fail(Code::kInvalid, "the client starts a round of {} bytes, which it did not announce",
                  start->size_bytes);
    Outcome outcome = TRY(one(*start));
    outcome.sequence = start->sequence;
    TRY(send(outcome));
  }
}

// What a round can last.
std::chrono::milliseconds Session::longest(const TestSpec& spec) const {
  const int64_t longest_ms = spec.iterations > 0 ? kMaxDuration_ms : spec.duration_ms;
  return std::chrono::milliseconds(longest_ms) + 2 * options_.limits.stall;
}

// The client's heartbeats extend the wait, but no further than the round can last.
Result<Done> Session::await_done(const TestSpec& spec, const Start& start) {
  const Done done = TRY(channel_.expect<Done>(options_.limits.stall, longest(spec)));
  if (done.sequence != start.sequence)
    return fail(Code::kInvalid, "the client ends round {} in round {}", done.sequence, start.sequence);
  if (done.messages > kMaxTotal_bytes / start.size_bytes)
    return fail(Code::kInvalid, "the peer says that it sent {} messages of {}, more than {} bytes", done.messages,
                size_text(start.size_bytes), kMaxTotal_bytes);
  return done;
}

Result<Turns::Turn> Session::wait_for_turn(const TurnNeed& need, std::chrono::milliseconds patience) {
  bool told = false;
  Clock& clock = *options_.limits.clock;
  auto told_at = clock.now();
  const auto tell_client = [&](int64_t ahead, const std::string& reason) -> Result<void> {
    TRY(channel_.interrupted());
    const auto now = clock.now();
    // Well before the client, which waits for an answer as long as this side, gives up.
    if (told && now - told_at < std::min(kToldEvery, options_.limits.answer / 2)) return {};
    told = true;
    told_at = now;
    return send(Wait{.ahead = ahead, .reason = reason});
  };
  return turns_.take(need, patience, options_.limits.check, tell_client);
}

Result<void> Session::refuse_memory(const TestSpec& spec) const {
  const MemoryKind kind = spec.remote_memory.kind;
  if (kind == MemoryKind::kPages || std::ranges::count(options_.offered_memory, kind) > 0) return {};
  return fail(Error{.code = Code::kDenied,
                    .message = fmt::format("remote-memory: this server does not offer {} to its clients",
                                           kind == MemoryKind::kGpu ? "the memory of GPUs" : "huge pages"),
                    .hint = fmt::format("start it with `{}`", Command{"railbed", "perf", "serve", "--offer"}.value(
                                                                  kind == MemoryKind::kGpu ? "gpu" : "huge"))});
}

Result<Outcome> Session::serve_round(const TestSpec& spec, RdmaLink& link, const Start& start) {
  const VerbTraits& verb = link.verb();
  const int64_t size = start.size_bytes;
  Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kNone, spec.transport);
  watch.end_after(longest(spec));
  link.prepare(spec, size);
  TRY(send(Started{start.sequence}));
  if (spec.kind == TestKind::kLatency) {
    int64_t answered = 0;
    if (verb.answered_by == AnsweredBy::kProgram) answered = TRY(answer_pings(link, size, watch));
    TRY(await_done(spec, start));
    return Outcome{.bytes = answered * size};
  }
  Receiver receiver(link, size, clock_);
  StreamResult sent;
  if (spec.bidirectional)
    sent = TRY(stream(link, round_of(spec, size), verb.takes_receives ? &receiver : nullptr, watch));
  if (verb.takes_receives) TRY(receiver.take_until_told(watch));
  const Done done = TRY(await_done(spec, start));
  if (!verb.is_datagram) return outcome_of(sent, size);
  TRY(receiver.take_rest(done.messages, watch));
  return outcome_of(receiver, size);
}

// A load beside a test must not need this side's processor, which serves the test.
Result<void> Session::refuse_load(const TestSpec& load) const {
  const VerbTraits& verb = traits_of(load.verb);
  if (load.transport != Transport::kRdma || load.bidirectional || verb.takes_receives)
    return fail(Code::kInvalid, "load: it must be RDMA that the device alone takes, in one direction");
  return refuse_memory(load);
}

Result<std::optional<RdmaLink>> Session::open_load(const std::optional<TestSpec>& load, const PlaceRequest& request) {
  if (!load) return std::optional<RdmaLink>();
  const IpAddress toward = TRY(channel_.socket().local_address());
  return RdmaLink::open(kernel_.files(), TRY(find_place(kernel_, request, toward)), *load, Side::kServer);
}

Result<void> Session::serve_rdma(const TestSpec& spec, const std::optional<TestSpec>& load_spec) {
  TRY(refuse_memory(spec));
  if (load_spec) TRY(refuse_load(*load_spec));
  PlaceRequest request = options_.place;
  if (!spec.remote_device.empty()) request.device = spec.remote_device;
  const IpAddress toward = TRY(channel_.socket().local_address());
  RdmaPlace place = TRY(find_place(kernel_, request, toward));
  const std::string device = place.endpoint.netdev.empty() ? place.endpoint.device : place.endpoint.netdev;
  const int64_t load_bytes = load_spec ? RdmaLink::memory_bytes(*load_spec, Side::kServer) : 0;
  const Turns::Turn turn = TRY(wait_for_turn(
      {.device = device, .memory_bytes = RdmaLink::memory_bytes(spec, Side::kServer) + load_bytes, .streams = 0}));
  RdmaLink link = TRY(RdmaLink::open(kernel_.files(), std::move(place), spec, Side::kServer));
  const std::unique_ptr<os::LinkStatistics> interfaces = os::real_link_statistics();
  std::optional<RdmaLink> load = TRY(open_load(load_spec, request));
  const PortCounters before = rdma::read_counters(kernel_.files(), interfaces.get(), port_of(link.endpoint()));
  Offer offer{.endpoint = link.endpoint(), .rdma = link.address(), .tcp = {}, .load = {}};
  offer.endpoint.counts_pauses = rdma::counts_pauses(before);
  if (load) offer.load = load->address();
  TRY(send(offer));
  const Connect client = TRY(channel_.expect<Connect>(options_.limits.answer));
  if (!client.rdma) return fail(Code::kInvalid, "rdma: the field is missing from the client's \"connect\"");
  TRY(link.connect(*client.rdma));
  if (load && !client.load) return fail(Code::kInvalid, "load: the field is missing from the client's \"connect\"");
  if (load) TRY(load->connect(*client.load).context("for the load"));
  TRY(send(Ready{}));
  return rounds(spec, [&](const Start& start) -> Result<Outcome> {
    Outcome done = TRY(serve_round(spec, link, start));
    done.counters =
        rdma::moved(before, rdma::read_counters(kernel_.files(), interfaces.get(), port_of(link.endpoint())));
    return done;
  });
}

Result<void> Session::serve_tcp(const TestSpec& spec) {
  const Endpoint end = TRY(tcp_endpoint(kernel_, channel_));
  const Turns::Turn turn = TRY(wait_for_turn({.device = end.netdev.empty() ? end.address : end.netdev,
                                              .memory_bytes = TcpLink::memory_bytes(spec),
                                              .streams = spec.qps}));
  TcpLink link = TRY(TcpLink::open(end, channel_, spec, options_.data_port));
  TRY(send(Offer{.endpoint = link.endpoint(), .rdma = {}, .tcp = link.address()}));
  TRY(channel_.expect<Connect>(options_.limits.answer));
  TRY(link.accept(options_.limits.after(options_.limits.connect)));
  TRY(send(Ready{}));
  return rounds(spec, [&](const Start& start) -> Result<Outcome> {
    Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kNone, spec.transport);
    TRY(send(Started{start.sequence}));
    if (spec.kind == TestKind::kBandwidth) return link.receive(start, channel_, watch);
    const int64_t answered = TRY(link.pong(start.size_bytes, watch));
    TRY(await_done(spec, start));
    return Outcome{.bytes = answered * start.size_bytes};
  });
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/session/point_to_point.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/command.h"
#include "perf/bounds.h"
#include "perf/stream/rdma_loops.h"
#include "perf/stream/tcp_link.h"
#include "rdma/pause_counters.h"
#include "rdma/port_counters.h"

namespace railbed::perf {
namespace {

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

class PointToPoint {
 public:
  explicit PointToPoint(Session& session)
      : session_(session),
        kernel_(session.kernel()),
        channel_(session.channel()),
        options_(session.options()),
        clock_(session.clock()) {}
  Result<void> serve(const OpenTest& open);

 private:
  Result<void> serve_rdma(const TestSpec& spec, const std::optional<TestSpec>& load_spec);
  Result<void> refuse_load(const TestSpec& load) const;
  Result<std::optional<RdmaLink>> open_load(const std::optional<TestSpec>& load, const PlaceRequest& request);
  Result<void> refuse_memory(const TestSpec& spec) const;
  // One size over RDMA, up to the client's Done.
  Result<Outcome> serve_round(const TestSpec& spec, RdmaLink& link, const Start& start);
  Result<void> serve_tcp(const TestSpec& spec);
  // Calls `one` for each Start until the client closes the test.
  Result<void> rounds(const TestSpec& spec, const std::function<Result<Outcome>(const Start&)>& one);
  std::chrono::milliseconds longest(const TestSpec& spec) const;
  Result<Done> await_done(const TestSpec& spec, const Start& start);

  Session& session_;
  os::Kernel& kernel_;
  Channel& channel_;
  const SessionOptions& options_;
  const TickClock& clock_;
};

Result<void> PointToPoint::serve(const OpenTest& open) {
  const TestSpec& spec = open.spec;
  const bool rdma = spec.transport == Transport::kRdma;
  TRY(session_.announce(fmt::format("{} over {}, {} size(s), {} {}(s)", name_of(spec.kind),
                                    rdma ? traits_of(spec.verb).text : name_of(spec.transport), spec.sizes_bytes.size(),
                                    spec.qps, rdma ? "queue pair" : "stream")));
  return rdma ? serve_rdma(spec, open.load) : serve_tcp(spec);
}

Result<void> PointToPoint::rounds(const TestSpec& spec, const std::function<Result<Outcome>(const Start&)>& one) {
  for (int64_t sequence = 1;; ++sequence) {
    const auto message = TRY((channel_.receive_one_of<Start, CloseTest>(options_.limits.idle)));
    if (std::holds_alternative<CloseTest>(message)) return {};
    const Start& start = std::get<Start>(message);
    if (start.sequence != sequence)
      return fail(Code::kInvalid, "the client starts round {}, round {} was due", start.sequence, sequence);
    if (std::ranges::count(spec.sizes_bytes, start.size_bytes) == 0)
      return fail(Code::kInvalid, "the client starts a round of {} bytes, which it did not announce", start.size_bytes);
    Outcome outcome = TRY(one(start));
    outcome.sequence = start.sequence;
    TRY(session_.send(outcome));
  }
}

// What a round can last.
std::chrono::milliseconds PointToPoint::longest(const TestSpec& spec) const {
  const int64_t longest_ms = spec.iterations > 0 ? kMaxDuration_ms : spec.duration_ms;
  return std::chrono::milliseconds(longest_ms) + 2 * options_.limits.stall;
}

// The client's heartbeats extend the wait, but no further than the round can last.
Result<Done> PointToPoint::await_done(const TestSpec& spec, const Start& start) {
  const Done done = TRY(channel_.expect<Done>(options_.limits.stall, longest(spec)));
  if (done.sequence != start.sequence)
    return fail(Code::kInvalid, "the client ends round {} in round {}", done.sequence, start.sequence);
  if (done.messages > kMaxTotal_bytes / start.size_bytes)
    return fail(Code::kInvalid, "the peer says that it sent {} messages of {}, more than {} bytes", done.messages,
                size_text(start.size_bytes), kMaxTotal_bytes);
  return done;
}

Result<void> PointToPoint::refuse_memory(const TestSpec& spec) const {
  const MemoryKind kind = spec.remote_memory.kind;
  if (kind == MemoryKind::kPages || std::ranges::count(options_.offered_memory, kind) > 0) return {};
  return fail(Error{.code = Code::kDenied,
                    .message = fmt::format("remote-memory: this server does not offer {} to its clients",
                                           kind == MemoryKind::kGpu ? "the memory of GPUs" : "huge pages"),
                    .hint = fmt::format("start it with `{}`", Command{"railbed", "perf", "serve", "--offer"}.value(
                                                                  kind == MemoryKind::kGpu ? "gpu" : "huge"))});
}

Result<Outcome> PointToPoint::serve_round(const TestSpec& spec, RdmaLink& link, const Start& start) {
  const VerbTraits& verb = link.verb();
  const int64_t size = start.size_bytes;
  Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kNone, spec.transport);
  watch.end_after(longest(spec));
  link.prepare(spec, size);
  TRY(session_.send(Started{start.sequence}));
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
  if (verb.takes_receives) TRY(receiver.take_until_stopped(watch));
  const Done done = TRY(await_done(spec, start));
  if (!verb.is_datagram) return outcome_of(sent, size);
  TRY(receiver.take_rest(done.messages, watch));
  return outcome_of(receiver, size);
}

// A load beside a test must not need this side's processor, which serves the test.
Result<void> PointToPoint::refuse_load(const TestSpec& load) const {
  const VerbTraits& verb = traits_of(load.verb);
  if (load.transport != Transport::kRdma || load.bidirectional || verb.takes_receives)
    return fail(Code::kInvalid, "load: it must be RDMA that the device alone takes, in one direction");
  return refuse_memory(load);
}

Result<std::optional<RdmaLink>> PointToPoint::open_load(const std::optional<TestSpec>& load,
                                                        const PlaceRequest& request) {
  if (!load) return std::optional<RdmaLink>();
  const IpAddress toward = TRY(channel_.socket().local_address());
  return RdmaLink::open(kernel_.files(), TRY(find_place(kernel_, request, toward)), *load, Side::kServer);
}

Result<void> PointToPoint::serve_rdma(const TestSpec& spec, const std::optional<TestSpec>& load_spec) {
  TRY(refuse_memory(spec));
  if (load_spec) TRY(refuse_load(*load_spec));
  PlaceRequest request = options_.place;
  if (!spec.remote_device.empty()) request.device = spec.remote_device;
  const IpAddress toward = TRY(channel_.socket().local_address());
  RdmaPlace place = TRY(find_place(kernel_, request, toward));
  const std::string device = place.endpoint.netdev.empty() ? place.endpoint.device : place.endpoint.netdev;
  const int64_t load_bytes = load_spec ? RdmaLink::memory_bytes(*load_spec, Side::kServer) : 0;
  const Turns::Turn turn = TRY(session_.wait_for_turn(
      {.device = device, .memory_bytes = RdmaLink::memory_bytes(spec, Side::kServer) + load_bytes, .streams = 0}));
  RdmaLink link = TRY(RdmaLink::open(kernel_.files(), std::move(place), spec, Side::kServer));
  const std::unique_ptr<os::LinkStatistics> interfaces = os::real_link_statistics();
  std::optional<RdmaLink> load = TRY(open_load(load_spec, request));
  const PortCounters before = rdma::read_counters(kernel_.files(), interfaces.get(), port_of(link.endpoint()));
  Offer offer{.endpoint = link.endpoint(), .rdma = link.address(), .tcp = {}, .load = {}};
  offer.endpoint.counts_pauses = rdma::counts_pauses(before);
  if (load) offer.load = load->address();
  TRY(session_.send(offer));
  const Connect client = TRY(channel_.expect<Connect>(options_.limits.answer));
  if (!client.rdma) return fail(Code::kInvalid, "rdma: the field is missing from the client's \"connect\"");
  TRY(link.connect(*client.rdma));
  if (load && !client.load) return fail(Code::kInvalid, "load: the field is missing from the client's \"connect\"");
  if (load) TRY(load->connect(*client.load).context("for the load"));
  TRY(session_.send(Ready{}));
  return rounds(spec, [&](const Start& start) -> Result<Outcome> {
    Outcome done = TRY(serve_round(spec, link, start));
    done.counters =
        rdma::moved(before, rdma::read_counters(kernel_.files(), interfaces.get(), port_of(link.endpoint())));
    return done;
  });
}

Result<void> PointToPoint::serve_tcp(const TestSpec& spec) {
  const Endpoint end = TRY(tcp_endpoint(kernel_, channel_));
  const Turns::Turn turn = TRY(session_.wait_for_turn({.device = end.netdev.empty() ? end.address : end.netdev,
                                                       .memory_bytes = TcpLink::memory_bytes(spec),
                                                       .streams = spec.qps}));
  TcpLink link = TRY(TcpLink::open(end, channel_, spec, options_.data_port));
  TRY(session_.send(Offer{.endpoint = link.endpoint(), .rdma = {}, .tcp = link.address()}));
  TRY(channel_.expect<Connect>(options_.limits.answer));
  TRY(link.accept(options_.limits.after(options_.limits.connect)));
  TRY(session_.send(Ready{}));
  return rounds(spec, [&](const Start& start) -> Result<Outcome> {
    Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kNone, spec.transport);
    TRY(session_.send(Started{start.sequence}));
    if (spec.kind == TestKind::kBandwidth) return link.receive(start, channel_, watch);
    const int64_t answered = TRY(link.pong(start.size_bytes, watch));
    TRY(await_done(spec, start));
    return Outcome{.bytes = answered * start.size_bytes};
  });
}

Result<Served> serve_point_to_point(Session& session, const Envelope& opening) {
  const OpenTest open = TRY(decode_as<OpenTest>(opening));
  TRY(PointToPoint(session).serve(open));
  return Served::kTest;
}

}  // namespace

Protocol point_to_point_protocol() {
  return {.opens_with = OpenTest::kName, .serve = serve_point_to_point};
}

}  // namespace railbed::perf

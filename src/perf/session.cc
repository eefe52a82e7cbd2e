// SPDX-License-Identifier: Apache-2.0
#include "perf/session.h"

#include <algorithm>

namespace railbed::perf {

Result<int> Session::run() {
  TRY(channel_.socket().set_keepalive());
  TRY(channel_.socket().set_no_delay());
  auto served = serve_tests();
  if (!served && served.error().code != Code::kCanceled) {
    // A failure does not matter: a peer that sends nonsense may not read either.
    (void)channel_.send(Refusal{.message = served.error().story(), .hint = served.error().hint},
                        Deadline::after(std::min(options_.limits.answer, std::chrono::milliseconds(1000))));
  }
  return served;
}

Result<void> Session::greet() {
  const Hello hello = TRY(channel_.expect<Hello>(options_.limits.answer));
  if (hello.protocol != kProtocol)
    return fail(Code::kUnsupported, "the client speaks protocol {}, this server (railbed {}) speaks {}", hello.protocol,
                RAILBED_VERSION, kProtocol);
  return send(Hello{.protocol = kProtocol, .version = RAILBED_VERSION, .hostname = kernel_.host_name()});
}

Result<int> Session::serve_tests() {
  TRY(greet());
  for (int served = 0;; ++served) {
    auto message = channel_.receive(options_.limits.idle);
    if (!message && message.error().code == Code::kCanceled) return served;  // the client has finished
    if (!message) return fail(std::move(message.error()));
    const auto* open = std::get_if<OpenTest>(&*message);
    if (open == nullptr)
      return fail(Code::kInvalid, "the client sent \"{}\" where a test was to be opened", name_of(*message));
    TRY(serve(open->spec));
  }
}

Result<void> Session::serve(const TestSpec& spec) {
  const IpAddress client = TRY(channel_.socket().peer_address());
  tell(fmt::format("{}: {} over {}, {} size(s), {} {}(s)", client, name_of(spec.kind), name_of(spec.transport),
                   spec.sizes_bytes.size(), spec.qps, spec.transport == Transport::kRdma ? "queue pair" : "stream"));
  return spec.transport == Transport::kRdma ? serve_rdma(spec) : serve_tcp(spec);
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
    const Outcome outcome = TRY(one(*start));
    TRY(send(outcome));
  }
}

// The client's heartbeats extend the wait.
Result<Outcome> Session::await_done(const Start& start, Outcome outcome) {
  const Done done = TRY(channel_.expect<Done>(options_.limits.stall));
  if (done.sequence != start.sequence)
    return fail(Code::kInvalid, "the client ends round {} in round {}", done.sequence, start.sequence);
  outcome.sequence = start.sequence;
  return outcome;
}

Result<void> Session::serve_rdma(const TestSpec& spec) {
  PlaceRequest request = options_.place;
  if (!spec.remote_device.empty()) request.device = spec.remote_device;
  const IpAddress toward = TRY(channel_.socket().local_address());
  RdmaPlace place = TRY(find_place(kernel_, request, toward));
  RdmaLink link = TRY(RdmaLink::open(std::move(place), spec));
  TRY(send(Offer{.endpoint = link.endpoint(), .rdma = link.address(), .tcp = {}}));
  const Connect client = TRY(channel_.expect<Connect>(options_.limits.answer));
  if (!client.rdma) return fail(Code::kInvalid, "rdma: the field is missing from the client's \"connect\"");
  TRY(link.connect(*client.rdma));
  TRY(send(Ready{}));
  return rounds(spec, [&](const Start& start) -> Result<Outcome> {
    Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kNone);
    Outcome outcome;
    if (spec.kind == TestKind::kLatency) {
      link.prepare_pings(start.size_bytes);
      TRY(send(Started{start.sequence}));
      const int64_t answered = TRY(link.pong(start.size_bytes, watch));
      outcome.bytes = answered * start.size_bytes;
    } else {
      TRY(send(Started{start.sequence}));
      if (spec.bidirectional) {
        const StreamResult sent = TRY(link.stream(round_of(spec, start.size_bytes), watch));
        outcome.bytes = sent.messages * start.size_bytes;
        outcome.duration_s = static_cast<double>(sent.duration_ns) / 1e9;
        outcome.series = sent.meter.series();
      }
    }
    return await_done(start, std::move(outcome));
  });
}

Result<void> Session::serve_tcp(const TestSpec& spec) {
  TcpLink link = TRY(TcpLink::open(kernel_, channel_, spec));
  TRY(send(Offer{.endpoint = link.endpoint(), .rdma = {}, .tcp = link.address()}));
  TRY(channel_.expect<Connect>(options_.limits.answer));
  TRY(link.accept(Deadline::after(options_.limits.connect)));
  TRY(send(Ready{}));
  return rounds(spec, [&](const Start& start) -> Result<Outcome> {
    Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kNone);
    TRY(send(Started{start.sequence}));
    if (spec.kind == TestKind::kBandwidth) return link.receive(start, channel_, watch);
    const int64_t answered = TRY(link.pong(start.size_bytes, watch));
    return await_done(start,
                      Outcome{.sequence = 0, .bytes = answered * start.size_bytes, .duration_s = 0, .series = {}});
  });
}

}  // namespace railbed::perf

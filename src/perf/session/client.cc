// SPDX-License-Identifier: Apache-2.0
#include "perf/session/client.h"

#include <algorithm>

#include "base/utc.h"
#include "perf/channel/client_talk.h"
#include "perf/channel/control.h"
#include "perf/stream/points.h"
#include "perf/stream/rdma_loops.h"
#include "perf/stream/tcp_link.h"
#include "rdma/local_network.h"
#include "rdma/pause_counters.h"
#include "rdma/port_counters.h"

namespace railbed::perf {
namespace {

// What the server says of a round, against what this side saw of it: a wrong clock, a defect or a lie there must not
// become a record here.
Result<void> check_outcome(const Outcome& outcome, double sent_s, double whole_s) {
  constexpr double kMost_gbps = 10'000;  // beyond any path between two machines
  constexpr double kSlack_s = 1;         // how far the two sides' views may be apart on busy machines
  if (outcome.duration_s > whole_s + kSlack_s || outcome.duration_s + kSlack_s < sent_s)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("the server says that {} bytes took {:.9g} s, here the round took {:.3f} s",
                                     outcome.bytes, outcome.duration_s, whole_s),
              .hint = "its clock or its railbed is wrong: measure with another server"});
  const double gbps = outcome.duration_s > 0 ? 8e-9 * static_cast<double>(outcome.bytes) / outcome.duration_s : 0;
  const auto most = std::ranges::max_element(outcome.series.gbps);
  const double highest = std::max({gbps, outcome.series.peak_gbps, most == outcome.series.gbps.end() ? 0 : *most});
  if (highest > kMost_gbps)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("the server says that {:.3g} Gb/s came, more than any path carries", highest),
              .hint = "its clock or its railbed is wrong: measure with another server"});
  return {};
}

// One run of one test.
class Test {
 public:
  Test(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec, Channel channel)
      : kernel_(kernel),
        options_(options),
        spec_(spec),
        channel_(std::move(channel)),
        clock_(kernel.files(), *options.limits.clock) {
    result_.version = RAILBED_VERSION;
    result_.started_at = utc_text(std::chrono::system_clock::now());
    result_.command = options.command;
    result_.label = options.label;
    result_.peer = options.host;
    result_.spec = spec;
  }

  Result<Measurement> run() {
    TRY(channel_.socket().set_keepalive());
    TRY(channel_.socket().set_no_delay());
    TRY(greet_server(channel_, {.hostname = kernel_.host_name(), .token = options_.token}, options_.limits));
    if (options_.check_server) TRY(options_.check_server(channel_));
    TRY(spec_.transport == Transport::kRdma ? over_rdma() : over_tcp());
    TRY(send(CloseTest{}));
    return std::move(result_);
  }

 private:
  template <ChannelMessage T>
  Result<void> send(const T& message) {
    return channel_.send(message, options_.limits.after(options_.limits.answer));
  }

  Result<Offer> open_test() {
    const EncodedMessage open = encoded(OpenTest{.spec = spec_, .load = {}});
    return decode_as<Offer>(TRY(take_turn(channel_, open, options_.limits, options_.on_progress)));
  }

  Result<void> over_rdma() {
    const IpAddress toward = TRY(channel_.socket().local_address());
    RdmaPlace place = TRY(find_place(kernel_, options_.place, toward));
    RdmaLink link = TRY(RdmaLink::open(kernel_.files(), std::move(place), spec_, Side::kClient));
    const Offer offer = TRY(open_test().context("at the server"));
    if (!offer.rdma) return fail(Code::kInvalid, "rdma: the field is missing from the server's \"offer\"");
    if (options_.check_offer) TRY(options_.check_offer(*offer.rdma, link.endpoint().link_layer == "InfiniBand"));
    TRY(send(Connect{.endpoint = link.endpoint(), .rdma = link.address(), .load = {}}));
    // Both sides connect at the same time. Without a path both fail, and this side's own error is clearer.
    TRY(link.connect(*offer.rdma));
    TRY(channel_.expect<Ready>(2 * options_.limits.answer).context("at the server"));
    begin(link.endpoint(), offer.endpoint);
    return rounds(
        [&](const Start& start, const Round& round, Watch& watch) {
          return spec_.kind == TestKind::kLatency ? rdma_pings(link, start, round, watch)
                                                  : rdma_stream(link, start, round, watch);
        },
        [&](int64_t size) { link.prepare(spec_, size); });
  }

  Result<void> rdma_pings(RdmaLink& link, const Start& start, const Round& round, Watch& watch) {
    auto pings = TRY(ping(link, round, watch));
    TRY(finish(start, static_cast<int64_t>(pings.meter.histogram().count())));
    result_.latency.push_back(latency_point(start.size_bytes, std::move(pings)));
    return {};
  }

  Result<void> rdma_stream(RdmaLink& link, const Start& start, const Round& round, Watch& watch) {
    const bool receives = spec_.bidirectional && link.verb().takes_receives;
    Receiver receiver(link, start.size_bytes, clock_);
    const uint64_t began = clock_.now();
    const StreamResult sent = TRY(stream(link, round, receives ? &receiver : nullptr, watch));
    TRY(send(Done{.sequence = start.sequence, .messages = sent.messages}));
    // The server's messages still come.
    if (receives) TRY(receiver.take_until_stopped(watch));
    const Outcome outcome = TRY(take_outcome(start));
    // The server's own messages may be through much sooner.
    TRY(check_outcome(outcome, 0, seconds_since(began)));
    const double sent_s = static_cast<double>(sent.duration_ns) / 1e9;
    BandwidthPoint point = link.verb().is_datagram
                               ? TRY(datagrams(start, sent.messages, sent_s, outcome))
                               : bandwidth_point(start.size_bytes, sent.messages, sent_s, sent.meter.series());
    set_used(sent, point);
    if (spec_.bidirectional) {
      // The end that knows what arrived: of datagrams the receiver, of all others the sender.
      const bool here = link.verb().is_datagram;
      const double duration_s = here ? receiver.duration_s() : outcome.duration_s;
      const int64_t bytes = here ? receiver.messages() * start.size_bytes : outcome.bytes;
      point.reverse_average_gbps = duration_s > 0 ? 8e-9 * static_cast<double>(bytes) / duration_s : 0;
      point.reverse_series = here ? receiver.meter().series() : outcome.series;
    }
    result_.bandwidth.push_back(std::move(point));
    return {};
  }

  // Only what came counts. Where too few came for a duration of their own, that of sending counts.
  static Result<BandwidthPoint> datagrams(const Start& start, int64_t sent, double sent_s, const Outcome& outcome) {
    const int64_t came = outcome.bytes / start.size_bytes;
    if (came > sent) return fail(Code::kIo, "{} datagrams were sent, the server received {}", sent, came);
    BandwidthPoint point =
        bandwidth_point(start.size_bytes, came, outcome.duration_s > 0 ? outcome.duration_s : sent_s, outcome.series);
    point.lost_messages = sent - came;
    return point;
  }

  Result<void> over_tcp() {
    const Offer offer = TRY(open_test().context("at the server"));
    if (!offer.tcp) return fail(Code::kInvalid, "tcp: the field is missing from the server's \"offer\"");
    TcpLink link =
        TRY(TcpLink::connect(kernel_, channel_, spec_, *offer.tcp, options_.limits.after(options_.limits.connect)));
    TRY(send(Connect{.endpoint = link.endpoint(), .rdma = {}, .load = {}}));
    TRY(channel_.expect<Ready>(2 * options_.limits.answer).context("at the server"));
    begin(link.endpoint(), offer.endpoint);
    return rounds(
        [&](const Start& start, const Round& round, Watch& watch) -> Result<void> {
          if (spec_.kind == TestKind::kLatency) {
            auto pings = TRY(link.ping(round, watch));
            TRY(finish(start, static_cast<int64_t>(pings.meter.histogram().count())));
            result_.latency.push_back(latency_point(start.size_bytes, std::move(pings)));
            return {};
          }
          const uint64_t began = clock_.now();
          const int64_t messages = TRY(link.send(round, watch));
          const double sent_s = seconds_since(began);
          Outcome outcome = TRY(finish(start, messages));
          if (outcome.bytes != messages * start.size_bytes)
            return fail(Code::kIo, "{} bytes were sent, the server received {}", messages * start.size_bytes,
                        outcome.bytes);
          const double whole_s = seconds_since(began);
          TRY(check_outcome(outcome, sent_s, whole_s));
          // All of it arrived at one time, so only the whole exchange has a duration.
          if (outcome.duration_s <= 0) outcome.duration_s = whole_s;
          result_.bandwidth.push_back(bandwidth_point(start.size_bytes, messages, outcome.duration_s, outcome.series));
          result_.bandwidth.back().used_post_batch = 1;
          return {};
        },
        [](int64_t) {});
  }

  void begin(const Endpoint& client, const Endpoint& server) {
    result_.started_at = utc_text(std::chrono::system_clock::now());
    result_.client = client;
    result_.server = server;
    counters_before_ = rdma::read_counters(kernel_.files(), interfaces_.get(), port_of(client));
    result_.client.counts_pauses = rdma::counts_pauses(counters_before_);
  }

  double seconds_since(uint64_t began) const {
    return static_cast<double>(clock_.between_ns(began, clock_.now())) / 1e9;
  }

  Result<Outcome> finish(const Start& start, int64_t messages) {
    TRY(send(Done{.sequence = start.sequence, .messages = messages}));
    return take_outcome(start);
  }

  Result<Outcome> take_outcome(const Start& start) {
    const Outcome outcome = TRY(channel_.expect<Outcome>(2 * options_.limits.stall).context("at the server"));
    if (outcome.sequence != start.sequence)
      return fail(Code::kInvalid, "the server ends round {} in round {}", outcome.sequence, start.sequence);
    result_.server_counters = outcome.counters;
    result_.client_counters =
        rdma::moved(counters_before_, rdma::read_counters(kernel_.files(), interfaces_.get(), port_of(result_.client)));
    return outcome;
  }

  template <typename One, typename Prepare>
  Result<void> rounds(One one, Prepare prepare) {
    Start start;
    for (int64_t size : spec_.sizes_bytes) {
      clock_.refine();
      start = {.sequence = start.sequence + 1, .size_bytes = size};
      prepare(size);
      TRY(send(start));
      const Started started = TRY(channel_.expect<Started>(2 * options_.limits.answer).context("at the server"));
      if (started.sequence != start.sequence)
        return fail(Code::kInvalid, "the server starts round {} in round {}", started.sequence, start.sequence);
      // Pings that a program answers keep the server informed, so it gets no heartbeats.
      const bool informed = spec_.kind == TestKind::kLatency && result_.has_halves();
      Watch watch(channel_, clock_, options_.limits, informed ? Watch::Heartbeats::kNone : Watch::Heartbeats::kSent,
                  spec_.transport);
      watch.show(options_.live);
      if (options_.live != nullptr) options_.live->begin(spec_, size, start.sequence, std::chrono::steady_clock::now());
      auto measured = one(start, round_of(spec_, size), watch);
      if (options_.live != nullptr) options_.live->end();
      TRY(std::move(measured).context("measuring {}", size_text(size)));
      if (options_.on_size) TRY(options_.on_size(result_));
      if (options_.on_progress)
        options_.on_progress(fmt::format("{} over {}: {} done ({}/{})", name_of(spec_.kind), name_of(spec_.transport),
                                         size_text(size), start.sequence, spec_.sizes_bytes.size()));
    }
    return {};
  }

  os::Kernel& kernel_;
  const ClientOptions& options_;
  const TestSpec& spec_;
  Channel channel_;
  TickClock clock_;
  const std::unique_ptr<os::LinkStatistics> interfaces_ = os::real_link_statistics();
  PortCounters counters_before_;
  Measurement result_;
};

}  // namespace

Result<Measurement> measure(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec) {
  TRY(validate(spec));
  Socket socket =
      TRY(Socket::connect(options.host, options.port, options.limits.after(options.limits.connect), options.from));
  Test test(kernel, options, spec, Channel(std::move(socket), options.stop, *options.limits.clock));
  return test.run().context("perf {} with {}", name_of(spec.kind), options.host);
}

}  // namespace railbed::perf

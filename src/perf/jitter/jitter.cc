// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/jitter.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "base/utc.h"
#include "perf/channel/client_talk.h"
#include "perf/stream/rdma_loops.h"

namespace railbed::perf {
namespace {

// The load is there before the first probe, and still there at the last.
constexpr std::chrono::milliseconds kBefore{200};
constexpr std::chrono::milliseconds kAfter{300};

TestSpec probe_spec(const JitterOptions& options) {
  return {.kind = TestKind::kLatency,
          .transport = Transport::kRdma,
          .sizes_bytes = {options.size_bytes},
          .tx_depth = 1,
          .duration_ms = options.duration_ms,
          .rate_per_s = options.rate_per_s,
          .remote_device = options.remote_device,
          .verb = RdmaVerb::kRead};
}

TestSpec load_spec(const JitterOptions& options) {
  return {.kind = TestKind::kBandwidth,
          .transport = Transport::kRdma,
          .sizes_bytes = {options.load_size_bytes},
          .qps = options.load_qps,
          .duration_ms = options.duration_ms + kBefore.count() + kAfter.count(),
          .remote_device = options.remote_device};
}

// A stream in a thread of its own, which ends by itself, and with this object at the latest.
class Load {
 public:
  Load(RdmaLink& link, const TestSpec& spec, const TickClock& clock, const Limits& limits)
      : clock_(clock), thread_([this, &link, spec, limits](const std::stop_token& stop) {
          Watch watch(stop, clock_, limits, Transport::kRdma);
          result_ = stream(link, round_of(spec, spec.sizes_bytes[0]), nullptr, watch);
          ended_ = clock_.now();
        }) {}

  struct Ended {
    StreamResult stream;
    uint64_t at = 0;  // ticks
  };
  Result<Ended> join() {
    thread_.join();
    if (!result_) return fail(std::move(result_.error()));
    return Ended{.stream = std::move(*result_), .at = ended_};
  }

 private:
  const TickClock& clock_;
  Result<StreamResult> result_;
  uint64_t ended_ = 0;
  std::jthread thread_;  // last member, so it ends before what it uses
};

class Measuring {
 public:
  Measuring(os::Kernel& kernel, const JitterOptions& options, Channel channel)
      : kernel_(kernel),
        options_(options),
        channel_(std::move(channel)),
        clock_(kernel.files(), *options.limits.clock),
        probe_spec_(probe_spec(options)),
        load_spec_(load_spec(options)) {}

  Result<JitterOutcome> run() {
    TRY(channel_.socket().set_keepalive());
    TRY(channel_.socket().set_no_delay());
    TRY(greet_server(channel_, {.hostname = kernel_.host_name(), .token = options_.token}, options_.limits));
    TRY(open());
    JitterOutcome outcome;
    fill_in(outcome.report);
    auto measured = rounds();
    if (polled_) outcome.report.polls_us = polled_->count();
    summarise(rounds_, outcome.report);
    if (rounds_.empty() && !measured) return fail(std::move(measured.error()));
    if (measured) measured = channel_.send(CloseTest{}, options_.limits.after(options_.limits.answer));
    if (!measured) {
      outcome.report.ended_by = measured.error().story();
      outcome.error = std::move(measured.error());
    }
    return outcome;
  }

 private:
  Result<RdmaLink> open_link(const TestSpec& spec, const MakeQueue& make_queue) {
    const IpAddress toward = TRY(channel_.socket().local_address());
    RdmaPlace place = TRY(find_place(kernel_, options_.place, toward));
    return RdmaLink::open(kernel_.files(), std::move(place), spec, Side::kClient, make_queue);
  }

  Result<void> open() {
    probes_.emplace(TRY(open_link(probe_spec_, port_.maker())));
    if (options_.with_load) load_.emplace(TRY(open_link(load_spec_, {})));
    OpenTest wanted{.spec = probe_spec_, .load = {}};
    if (load_) wanted.load = load_spec_;
    const Envelope answer = TRY(take_turn(channel_, encoded(wanted), options_.limits, options_.on_progress));
    const Offer offer = TRY(decode_as<Offer>(answer).context("at the server"));
    if (!offer.rdma || (load_ && !offer.load))
      return fail(Error{
          .code = Code::kInvalid,
          .message = fmt::format("{}: the field is missing from the server's \"offer\"", offer.rdma ? "load" : "rdma"),
          .hint = "an older railbed knows no jitter under load: use the same on both sides"});
    Connect own{.endpoint = probes_->endpoint(), .rdma = probes_->address(), .load = {}};
    if (load_) own.load = load_->address();
    TRY(channel_.send(own, options_.limits.after(options_.limits.answer)));
    TRY(probes_->connect(*offer.rdma));
    if (load_) TRY(load_->connect(*offer.load).context("for the load"));
    TRY(channel_.expect<Ready>(2 * options_.limits.answer).context("at the server"));
    server_ = offer.endpoint;
    return {};
  }

  void fill_in(JitterReport& report) const {
    report.version = RAILBED_VERSION;
    report.started_at = utc_text(std::chrono::system_clock::now());
    report.command = options_.command;
    report.label = options_.label;
    report.peer = options_.host;
    report.client = probes_->endpoint();
    report.server = server_;
    report.soft = report.client.soft || report.server.soft;
    report.clock = port_.clock();
    report.size_bytes = options_.size_bytes;
    report.rate_per_s = options_.rate_per_s;
    report.duration_s = static_cast<double>(options_.duration_ms) / 1e3;
    report.repeats = options_.repeats;
    report.load_size_bytes = options_.with_load ? options_.load_size_bytes : 0;
  }

  // In turns, so that what changes by itself meets both alike.
  Result<void> rounds() {
    began_ = clock_.now();
    for (int64_t repeat = 0; repeat < options_.repeats; ++repeat) {
      for (const PathLoad load : {PathLoad::kIdle, PathLoad::kLoaded}) {
        if (load == PathLoad::kLoaded && !load_) continue;
        if (options_.on_progress)
          options_.on_progress(fmt::format("jitter: {} {} of {}", name_of(load), repeat + 1, options_.repeats));
        TRY(round(load).context("{} round {}", name_of(load), repeat + 1));
      }
    }
    return {};
  }

  Result<void> round(PathLoad load) {
    clock_.refine();  // no load runs yet
    const Start start{.sequence = static_cast<int64_t>(rounds_.size()) + 1, .size_bytes = options_.size_bytes};
    TRY(channel_.send(start, options_.limits.after(options_.limits.answer)));
    const Started started = TRY(channel_.expect<Started>(2 * options_.limits.answer).context("at the server"));
    if (started.sequence != start.sequence)
      return fail(Code::kInvalid, "the server starts round {} in round {}", started.sequence, start.sequence);
    std::optional<Load> beside;
    try {
      if (load == PathLoad::kLoaded) beside.emplace(*load_, load_spec_, clock_, options_.limits);
    } catch (const std::system_error&) {
      return fail(no_thread_error("the load"));
    }
    JitterRound one{.load = load};
    TRY(wait_for_load(load));
    Watch watch(channel_, clock_, options_.limits, Watch::Heartbeats::kSent, Transport::kRdma);
    const ProbePath path{*probes_, port_, channel_.socket().fd(), watch};
    if (!polled_)
      polled_ = TRY(is_polling_worth_it(path, options_.size_bytes)) ? kPolled : std::chrono::microseconds(0);
    one.started_at = std::chrono::system_clock::now();
    one.since_start_s = static_cast<double>(clock_.between_ns(began_, clock_.now())) / 1e9;
    one.probes = TRY(send_probes(path, round_of(probe_spec_, options_.size_bytes), *polled_));
    const uint64_t probed = clock_.now();
    if (beside) TRY(take_load(*beside, probed, one));
    const auto sent = static_cast<int64_t>(one.probes.probes.size());
    rounds_.push_back(std::move(one));
    TRY(channel_.send(Done{.sequence = start.sequence, .messages = sent},
                      options_.limits.after(options_.limits.answer)));
    TRY(channel_.expect<Outcome>(2 * options_.limits.stall).context("at the server"));
    return {};
  }

  Result<void> wait_for_load(PathLoad load) {
    if (load == PathLoad::kIdle) return {};
    options_.limits.clock->sleep_until(options_.limits.clock->now() + kBefore);
    return channel_.interrupted();
  }

  Result<void> take_load(Load& load, uint64_t probed, JitterRound& round) const {
    const Load::Ended ended = TRY(load.join().context("the load"));
    const double duration_s = static_cast<double>(ended.stream.duration_ns) / 1e9;
    const double bytes = static_cast<double>(ended.stream.messages) * static_cast<double>(options_.load_size_bytes);
    if (duration_s > 0) round.load_gbps = 8e-9 * bytes / duration_s;
    round.load_ended_early = ended.at < probed;
    return {};
  }

  os::Kernel& kernel_;
  const JitterOptions& options_;
  Channel channel_;
  TickClock clock_;
  TestSpec probe_spec_;
  TestSpec load_spec_;
  CompletionPort port_;  // outlives the link
  std::optional<RdmaLink> probes_;
  std::optional<RdmaLink> load_;
  Endpoint server_;
  uint64_t began_ = 0;
  std::optional<std::chrono::microseconds> polled_;  // the first round, which is idle, finds out
  std::vector<JitterRound> rounds_;
};

}  // namespace

Result<JitterOutcome> measure_jitter(os::Kernel& kernel, const JitterOptions& options) {
  if (options.rate_per_s * options.duration_ms / 1000 > kMostProbes)
    return fail(Code::kInvalid, "rate, duration: {} probes a round, at most {} are kept",
                options.rate_per_s * options.duration_ms / 1000, kMostProbes);
  TRY(validate(probe_spec(options)));
  TRY(validate(load_spec(options)));
  Socket socket = TRY(Socket::connect(options.host, options.port, options.limits.after(options.limits.connect)));
  Measuring measuring(kernel, options, Channel(std::move(socket), options.stop, *options.limits.clock));
  return measuring.run();
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/perftest.h"

#include <algorithm>

#include <unistd.h>

#include "base/utc.h"
#include "perf/bounds.h"
#include "perf/perftest/exchange.h"
#include "perf/perftest/pings.h"
#include "perf/stream/points.h"
#include "rdma/pause_counters.h"
#include "rdma/port_counters.h"

namespace railbed::perf::perftest {
namespace {

constexpr double kMiB_per_Gb = 1e9 / 8 / (1 << 20);
constexpr double kMost_gbps = 10'000;  // beyond any path between two machines
constexpr std::chrono::milliseconds kLongest{kMaxDuration_ms};

// In perftest's usual unit. Its own does not say in which one the other's are.
Report wire_report_of(const BandwidthPoint& point) {
  return {.size_bytes = static_cast<uint64_t>(point.size_bytes),
          .messages = static_cast<uint64_t>(point.messages),
          .peak = point.series.peak_gbps * kMiB_per_Gb,
          .average = point.average_gbps * kMiB_per_Gb,
          .million_messages_per_s = point.message_rate_per_s / 1e6};
}

// By the message rate, whose unit is known; the peak by what it is to the average.
Result<BandwidthPoint> point_of(const Report& report, double most_s) {
  const double rate_per_s = report.million_messages_per_s * 1e6;
  const double gbps = 8e-9 * static_cast<double>(report.size_bytes) * rate_per_s;
  const double peak_gbps = report.average > 0 ? gbps * report.peak / report.average : 0;
  if (report.size_bytes > static_cast<uint64_t>(kMaxSize_bytes) || std::max(gbps, peak_gbps) > kMost_gbps)
    return fail(Code::kInvalid,
                "the peer says that {:.3g} Gb/s went with messages of {} bytes, more than any path carries",
                std::max(gbps, peak_gbps), report.size_bytes);
  const double duration_s = rate_per_s > 0 ? static_cast<double>(report.messages) / rate_per_s : 0;
  if (duration_s > most_s)
    return fail(Code::kInvalid, "the peer says that {} messages took {:.3f} s, but the whole test took {:.3f} s",
                report.messages, duration_s, most_s);
  return bandwidth_point(static_cast<int64_t>(report.size_bytes), static_cast<int64_t>(report.messages), duration_s,
                         {.slot_ms = 0, .gbps = {}, .peak_gbps = peak_gbps});
}

// One test with one peer.
class Run {
 public:
  Run(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec, Role role, Socket socket)
      : kernel_(kernel),
        options_(options),
        spec_(spec),
        role_(role),
        line_(std::move(socket), options.stop, *options.limits.clock),
        exchange_(line_, role, options.limits.answer),
        clock_(kernel.files(), *options.limits.clock) {}

  Result<void> find() {
    TRY(line_.socket().set_keepalive());
    TRY(line_.socket().set_no_delay());
    const IpAddress toward = TRY(line_.socket().local_address());
    place_.emplace(TRY(find_place(kernel_, options_.place, toward)));
    return {};
  }

  // Whether a perftest is there.
  Result<void> greet() {
    greeting_ = TRY(exchange_.greet(static_cast<uint32_t>(sysconf(_SC_PAGESIZE)), place_->port.mtu_bytes));
    return {};
  }

  Result<Measurement> measure() {
    TestSpec layout = spec_;  // small messages walk through a page, which may be the peer's
    layout.sizes_bytes.push_back(greeting_.page_bytes);
    const Side side = role_ == Role::kClient ? Side::kClient : Side::kServer;
    RdmaLink link = TRY(RdmaLink::open(kernel_.files(), std::move(*place_), layout, side));
    TRY(connect(link));
    TRY(begin(link));
    if (spec_.kind == TestKind::kLatency)
      TRY(latency(link));
    else if (role_ == Role::kServer && !is_counted(spec_))
      TRY(await_stream());
    else
      TRY(bandwidth(link));
    take_counters();
    return std::move(result_);
  }

 private:
  Keys keys_of(const RdmaLink& link, const RdmaAddress& own, size_t lane) const {
    Keys keys{.lid = static_cast<uint16_t>(own.lid),
              .reads = static_cast<uint16_t>(std::max(1u, own.reads_answered)),
              .qp = own.qps[lane].number,
              .sequence = own.qps[lane].packet_sequence,
              .remote_key = own.remote_key,
              .address = reinterpret_cast<uintptr_t>(link.receive_area(lane)),
              .shared_queue = 0,
              .gid = {}};
    // Within a subnet of InfiniBand perftest sends no GID unless an option requests it; a server's are cut to what its
    // client has.
    const bool ethernet = link.endpoint().link_layer == "Ethernet";
    if (ethernet || role_ == Role::kServer) keys.gid = own.gid;
    return keys;
  }

  Result<void> connect(RdmaLink& link) {
    const RdmaAddress own = link.address();
    std::vector<Keys> keys;
    for (size_t i = 0; i < own.qps.size(); ++i) keys.push_back(keys_of(link, own, i));
    TRY(exchange_.swap_keys(std::move(keys)));
    const Manner manner = manner_of(spec_);
    if (manner.keys_before) TRY(exchange_.sync());
    const Keys& first = exchange_.remote().front();
    RdmaAddress remote{.gid = first.gid.value_or(own.gid),  // without one: in this subnet, reached by its LID
                       .lid = first.lid,
                       .mtu_bytes = static_cast<uint32_t>(greeting_.mtu_bytes),
                       .remote_key = first.remote_key,
                       .address = first.address,
                       .pkey = 0,
                       .q_key = 0,
                       .reads_answered = first.reads,
                       .qps = {}};
    std::vector<LaneTarget> targets;
    for (const Keys& pair : exchange_.remote()) {
      remote.qps.push_back({pair.qp, pair.sequence});
      targets.push_back({pair.address, pair.remote_key});
    }
    TRY(link.connect(remote, targets));
    if (manner.sync_first) {
      TRY(exchange_.sync());
      return exchange_.repeat_keys();
    }
    TRY(exchange_.repeat_keys());
    return exchange_.sync();
  }

  Result<void> begin(const RdmaLink& link) {
    result_.version = RAILBED_VERSION;
    result_.started_at = utc_text(std::chrono::system_clock::now());
    result_.command = options_.command;
    result_.label = options_.label;
    const std::string peer = TRY(line_.socket().peer_address()).to_string();
    result_.peer = options_.host.empty() ? peer : options_.host;
    result_.spec = spec_;
    own() = link.endpoint();
    other().hostname = peer;
    other().program = fmt::format("perftest {}", greeting_.version);
    const auto& gid = exchange_.remote().front().gid;
    other().gid = gid ? gid->to_string() : "";
    other().address = gid && own().link_layer == "Ethernet" ? rdma::address_of(*gid).to_string() : peer;
    other().link_layer = own().link_layer;
    other().path_mtu_bytes = own().path_mtu_bytes;
    counters_before_ = rdma::read_counters(kernel_.files(), interfaces_.get(), port_of(own()));
    own().counts_pauses = rdma::counts_pauses(counters_before_);
    return {};
  }

  Endpoint& own() { return role_ == Role::kClient ? result_.client : result_.server; }
  Endpoint& other() { return role_ == Role::kClient ? result_.server : result_.client; }

  void take_counters() {
    PortCounters& counters = role_ == Role::kClient ? result_.client_counters : result_.server_counters;
    counters = rdma::moved(counters_before_, rdma::read_counters(kernel_.files(), interfaces_.get(), port_of(own())));
  }

  Result<void> keep() {
    take_counters();
    if (options_.on_size) TRY(options_.on_size(result_));
    const size_t done = result_.bandwidth.size() + result_.latency.size();
    if (options_.on_progress)
      options_.on_progress(fmt::format("{} with perftest: {} of {} sizes done", name_of(spec_.kind), done,
                                       result_.spec.sizes_bytes.size()));
    return {};
  }

  // The peer's part of a size may take longer than this side's.
  std::chrono::milliseconds patience_for(double duration_s) const {
    const auto peers = std::chrono::milliseconds(static_cast<int64_t>(duration_s * 10'000));
    return std::min(kLongest, options_.limits.stall + peers);
  }
  double seconds_since(uint64_t began) const {
    return static_cast<double>(clock_.between_ns(began, clock_.now())) / 1e9;
  }
  Watch watch() { return Watch(line_, clock_, options_.limits, Watch::Heartbeats::kNone, Transport::kRdma); }

  Round round_for(int64_t size) const {
    Round round = round_of(spec_, size);
    round.warms_up = !is_counted(spec_);
    return round;
  }

  Result<void> bandwidth(RdmaLink& link) {
    const Manner manner = manner_of(spec_);
    for (const int64_t size : spec_.sizes_bytes) {
      clock_.refine();
      if (manner.sync_each) TRY(exchange_.sync());
      TRY((sends() ? send_size(link, size) : receive_size(link, size)).context("measuring {}", size_text(size)));
      TRY(keep());
    }
    const double last_s = result_.bandwidth.back().duration_s;
    if (manner.reports && !spec_.bidirectional) {
      TRY(exchange_.sync());
      TRY(exchange_.swap_report(wire_report_of(result_.bandwidth.back()), options_.limits.answer));
    }
    return exchange_.close(patience_for(last_s));
  }
  bool sends() const { return role_ == Role::kClient || spec_.bidirectional; }
  bool is_sweep() const { return spec_.sizes_bytes.size() > 1; }

  Result<void> send_size(RdmaLink& link, int64_t size) {
    const bool receives = spec_.bidirectional && link.verb().takes_receives;
    Receiver receiver(link, size, clock_);
    Watch guard = watch();
    const uint64_t began = clock_.now();
    const StreamResult sent = TRY(stream(link, round_for(size), receives ? &receiver : nullptr, guard));
    if (receives) TRY(receive_all(receiver, spec_.iterations * spec_.qps, link, guard));
    BandwidthPoint point =
        bandwidth_point(size, sent.messages, static_cast<double>(sent.duration_ns) / 1e9, sent.meter.series());
    set_used(sent, point);
    if (spec_.bidirectional)
      TRY(swap_figures(point, began));
    else if (link.verb().takes_receives && is_sweep())
      TRY(exchange_.sync(patience_for(point.duration_s)));
    result_.bandwidth.push_back(std::move(point));
    return {};
  }

  // Of both directions. The order of barrier and figures is each program's own; without a sweep there is no barrier.
  Result<void> swap_figures(BandwidthPoint& point, uint64_t began) {
    const auto patience = patience_for(point.duration_s);
    const bool send = traits_of(spec_.verb).takes_receives;
    if (!send && is_sweep()) TRY(exchange_.sync(patience));
    const std::string came = TRY(exchange_.swap_report(wire_report_of(point), patience));
    const Report report = TRY(read_report(came));
    const BandwidthPoint reverse = TRY(point_of(report, seconds_since(began) + 1));
    if (reverse.size_bytes != point.size_bytes)
      return fail(Code::kConflict, "the peer measured messages of {}, this side of {}", size_text(reverse.size_bytes),
                  size_text(point.size_bytes));
    point.reverse_average_gbps = reverse.average_gbps;
    point.reverse_series = reverse.series;
    if (send && is_sweep()) TRY(exchange_.sync(patience));
    return {};
  }

  // What a client sends, until it says that it has.
  Result<void> receive_size(RdmaLink& link, int64_t size) {
    Receiver receiver(link, size, clock_);
    Watch guard = watch();
    TRY(receiver.take_until_stopped(guard));
    while (TRY(receiver.take()) > 0) {
    }
    if (const int64_t other = receiver.other_size_bytes(); other > 0)
      return fail(Code::kConflict, "the peer sends messages of {}, this side expects {}", size_text(other),
                  size_text(size));
    if (is_sweep()) TRY(exchange_.sync());
    result_.bandwidth.push_back(
        bandwidth_point(size, receiver.messages(), receiver.duration_s(), receiver.meter().series()));
    return {};
  }

  // Writes, reads and atomics of the client, in which no program takes part here: it reports what it measured.
  Result<void> await_stream() {
    const uint64_t began = clock_.now();
    TRY(exchange_.sync(kLongest));
    const std::string came = TRY(exchange_.swap_report({}, options_.limits.answer));
    const Report report = TRY(read_report(came));
    BandwidthPoint point = TRY(point_of(report, seconds_since(began) + 1));
    result_.spec.sizes_bytes = {point.size_bytes};  // of a sweep it reports the last size only
    result_.bandwidth.push_back(std::move(point));
    TRY(keep());
    return exchange_.close(options_.limits.answer);
  }

  Result<void> latency(RdmaLink& link) {
    const bool send = spec_.verb == RdmaVerb::kSend;
    const bool device_answers = link.verb().answered_by == AnsweredBy::kDevice;
    if (device_answers && role_ == Role::kServer) return exchange_.close(kLongest);
    for (const int64_t size : spec_.sizes_bytes) {
      clock_.refine();
      if (send) TRY(exchange_.sync());
      Watch guard = watch();
      // Of writes the server sends the first one, of messages the client.
      const Turn turn = (role_ == Role::kClient) == send ? Turn::kFirst : Turn::kSecond;
      auto pings =
          device_answers ? ping(link, round_for(size), guard) : counted_pings(link, round_for(size), turn, guard);
      result_.latency.push_back(latency_point(size, TRY(std::move(pings).context("measuring {}", size_text(size)))));
      TRY(keep());
    }
    return manner_of(spec_).closes ? exchange_.close(options_.limits.answer) : Result<void>();
  }

  os::Kernel& kernel_;
  const ClientOptions& options_;
  const TestSpec& spec_;
  Role role_;
  PeerLine line_;
  Exchange exchange_;
  TickClock clock_;
  std::optional<RdmaPlace> place_;
  Greeting greeting_;
  const std::unique_ptr<os::LinkStatistics> interfaces_ = os::real_link_statistics();
  PortCounters counters_before_;
  Measurement result_;
};

Result<Socket> await_client(Listener& listener, const Limits& limits, const std::stop_token& stop) {
  for (;;) {
    auto socket = listener.accept(limits.after(kLookForStop));
    if (socket || socket.error().code != Code::kTimeout) return socket;
    if (stop.stop_requested()) return fail(Code::kCanceled, "stopped");
  }
}

Result<Measurement> as_server(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec) {
  Listener listener = TRY(Listener::open(options.from, options.port));
  if (options.on_notice) options.on_notice("waiting for: " + command_line(spec, listener.port(), kernel.host_name()));
  for (;;) {
    Run run(kernel, options, spec, Role::kServer, TRY(await_client(listener, options.limits, options.stop)));
    TRY(run.find());
    const auto met = run.greet();
    if (met) return run.measure();
    // Who connects and is no perftest does not end this.
    if (options.stop.stop_requested()) return fail(met.error());
    if (options.on_notice) options.on_notice("client rejected: " + met.error().story());
  }
}

Result<Measurement> as_client(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec) {
  if (options.on_notice) options.on_notice("run on the other end: " + command_line(spec, options.port, ""));
  auto socket = Socket::connect(options.host, options.port, options.limits.after(options.limits.connect), options.from);
  if (!socket) {
    if (socket.error().code != Code::kNotFound) socket.error().hint.clear();  // which names a railbed
    return fail(std::move(socket.error()));
  }
  Run run(kernel, options, spec, Role::kClient, std::move(*socket));
  TRY(run.find());
  TRY(run.greet());
  return run.measure();
}

}  // namespace

Result<Measurement> measure_with_perftest(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec) {
  const bool client = !options.host.empty();
  auto result = client ? as_client(kernel, options, spec) : as_server(kernel, options, spec);
  if (result) return result;
  Error& error = result.error();
  error.context.push_back(
      fmt::format("perf {} with perftest{}", name_of(spec.kind), client ? " on " + options.host : ""));
  const std::string peer = command_line(spec, options.port, client ? "" : kernel.host_name());
  error.hint += fmt::format("{}run on the other end: {}", error.hint.empty() ? "" : "; ", peer);
  return result;
}

}  // namespace railbed::perf::perftest

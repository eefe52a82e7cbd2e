// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_endpoint.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "perf/session/client.h"
#include "perf/yardstick.h"
#include "rdma/local_network.h"

namespace railbed::perf::mesh {
namespace {

constexpr std::chrono::milliseconds kHeartbeatEvery{1000};
constexpr std::chrono::milliseconds kLongestPause{15 * 60'000};  // while other endpoints are at work
constexpr std::chrono::milliseconds kTurnPatience{20'000};       // somebody else measures on the other end's device

PairFigures figures_of_pair(const Measurement& measured, uint32_t rail) {
  PairFigures figures{.rail = rail};
  if (!measured.bandwidth.empty()) figures.gbps = measured.bandwidth.front().average_gbps;
  if (measured.latency.empty()) return figures;
  const LatencyPoint& point = measured.latency.front();
  const Histogram& all = point.histogram;
  const auto us = [&](double percent) {
    return static_cast<double>(all.settled_percentile_ns(percent).value_or(0)) / 1e3;
  };
  figures.samples = all.count();
  figures.outages = static_cast<uint32_t>(point.outages.size());
  // Of few pings, too: that there were few is in `samples`, and a path on which they take so long must not go without.
  if (all.count() > 0) figures.p50_us = static_cast<double>(all.percentile_ns(50)) / 1e3;
  figures.p99_us = us(99);
  return figures;
}

// Answers of threads, and how many are due.
class Answers {
 public:
  explicit Answers(size_t due) : due_(due) {}
  void put(PairFigures figures) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(figures));
    changed_.notify_all();
  }
  bool wait_for(Clock& clock, std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return clock.wait(lock, changed_, clock.now() + time, {}, [&] { return all_.size() >= due_; });
  }
  std::vector<PairFigures> take() {
    const std::lock_guard lock(mutex_);
    return std::move(all_);
  }

 private:
  size_t due_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<PairFigures> all_;
};

}  // namespace

Result<void> may_take_part(const std::string& token) {
  if (token.empty())
    return fail(Error{.code = Code::kDenied,
                      .message = "mesh requires --token-file: without a token any client that reaches this server "
                                 "could make it send traffic",
                      .hint = "start it with --token-file, and give `railbed perf mesh` the same file"});
  return {};
}

MeshEndpoint::MeshEndpoint(os::Kernel& kernel, Channel& channel, const EndpointOptions& options, Enlist enlist)
    : kernel_(kernel), channel_(channel), options_(options), enlist_(std::move(enlist)) {
  options_.limits.turn = std::min(options_.limits.turn, kTurnPatience);
}

RailFound MeshEndpoint::look_at(const OwnRail& own) const {
  RailFound found{.rail = own.rail, .device = own.device};
  const auto looked = [&]() -> Result<void> {
    const rdma::LocalNetwork network = TRY(rdma::read_local_network(kernel_));
    if (rdma::interface_of(network, own.address) == nullptr)
      return fail(Code::kNotFound, "{} is not an address of this network namespace", own.address);
    if (enlist_.transport == Transport::kTcp) return {};
    const RdmaPlace place =
        TRY(find_place(kernel_, {.device = own.device, .gid_rule = options_.gid_rule}, own.address));
    found.device = fmt::format("{}:{}", place.endpoint.device, place.endpoint.port);
    found.soft = place.endpoint.soft;
    found.carries_gbps = yardstick_gbps(place.endpoint, place.endpoint);
    return {};
  }();
  if (!looked) found.problem = problem_text(looked.error().story());
  return found;
}

Result<void> MeshEndpoint::run() {
  for (const OwnRail& own : enlist_.rails) found_.push_back(look_at(own));
  std::vector<IpAddress> usable;
  for (size_t i = 0; i < found_.size(); ++i)
    if (found_[i].problem.empty()) usable.push_back(enlist_.rails[i].address);
  const Membership::Entry entry = options_.membership->enter(enlist_.mesh, std::move(usable));
  TRY(channel_.send(Enlisted{found_}, options_.limits.after(options_.limits.answer)));
  for (;;) {
    auto message = channel_.receive(options_.limits.idle, kLongestPause);
    if (!message && message.error().code == Code::kCanceled) return {};  // the coordinator has finished
    if (!message) return fail(std::move(message.error()));
    const Step step = TRY(decode_as<Step>(*message));
    TRY(check(step));
    const StepDone done = TRY(carry_out(step));
    TRY(channel_.send(done, options_.limits.after(options_.limits.answer)));
  }
}

Result<void> MeshEndpoint::check(const Step& step) const {
  if (step.spec.transport != enlist_.transport)
    return fail(Code::kInvalid, "the coordinator requests a step over {}, but joined for {}",
                name_of(step.spec.transport), name_of(enlist_.transport));
  for (const PairTask& task : step.tasks) {
    const auto found = std::ranges::find(found_, task.rail, &RailFound::rail);
    if (found == found_.end())
      return fail(Code::kInvalid, "the coordinator requests rail {}, which it did not announce", task.rail);
    if (!found->problem.empty())
      return fail(Code::kInvalid, "the coordinator requests rail {}, which cannot be used: {}", task.rail,
                  found->problem);
  }
  return {};
}

PairFigures MeshEndpoint::measure_pair(const TestSpec& spec, const PairTask& task, std::stop_token stop) const {
  const size_t own = static_cast<size_t>(std::ranges::find(found_, task.rail, &RailFound::rail) - found_.begin());
  ClientOptions options;
  options.host = task.address.to_string();
  options.port = task.port;
  options.from = enlist_.rails[own].address;
  options.place = {.device = found_[own].device, .gid_rule = options_.gid_rule};
  options.limits = options_.limits;
  options.token = options_.token;
  options.check_server = [&](Channel& channel) {
    return check_target(channel, task.address, enlist_.mesh, options_.limits);
  };
  options.check_offer = [&](const RdmaAddress& offered, bool is_infiniband) {
    return check_rdma_target(task.address, offered, is_infiniband);
  };
  options.stop = std::move(stop);
  TestSpec wanted = spec;
  wanted.remote_device = task.device;
  const auto measured = measure(kernel_, options, wanted);
  if (measured) {
    PairFigures figures = figures_of_pair(*measured, task.rail);
    // No lie, which the coordinator would take it for, and no figure either.
    if (spec.kind == TestKind::kBandwidth ? figures.gbps <= 0 : figures.samples == 0)
      figures.problem = fmt::format("no data arrived in the {} ms of the test", spec.duration_ms);
    return figures;
  }
  return {.rail = task.rail, .problem = problem_text(measured.error().story())};
}

Result<StepDone> MeshEndpoint::carry_out(const Step& step) {
  std::stop_source stop;
  Answers answers(step.tasks.size());
  std::vector<std::jthread> threads;
  threads.reserve(step.tasks.size());
  for (const PairTask& task : step.tasks) {
    try {
      threads.emplace_back([this, &step, &task, &answers, token = stop.get_token()] {
        answers.put(measure_pair(step.spec, task, token));
      });
    } catch (const std::system_error&) {
      answers.put(
          {.rail = task.rail, .problem = "starting a thread for this rail failed: too many threads on this machine"});
    }
  }
  Clock& clock = *options_.limits.clock;
  auto heartbeat_at = clock.now();
  while (!answers.wait_for(clock, options_.limits.check)) {
    auto alive = channel_.interrupted();
    if (alive && clock.now() - heartbeat_at >= std::min(kHeartbeatEvery, options_.limits.answer / 4)) {
      heartbeat_at = clock.now();
      alive = channel_.send_heartbeat();
    }
    if (alive) continue;
    stop.request_stop();  // the threads are joined below
    return fail(std::move(alive.error()));
  }
  return StepDone{.number = step.number, .pairs = answers.take()};
}

}  // namespace railbed::perf::mesh

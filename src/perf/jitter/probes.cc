// SPDX-License-Identifier: Apache-2.0
#include "perf/jitter/probes.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "perf/stream/post.h"

namespace railbed::perf {
namespace {

constexpr uint64_t kSecond_ns = 1'000'000'000;
constexpr uint64_t kLongestSleep_ns = 250'000'000;  // then the peer is looked after

uint64_t cpu_time_ns() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  const auto ns = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * kSecond_ns + static_cast<uint64_t>(time.tv_usec) * 1000;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// The kernel may wake a thread up to 50 us late, to save power; here that would be measured.
class PromptTimers {
 public:
  PromptTimers() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1); }
  ~PromptTimers() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, before_);
  }
  PromptTimers(const PromptTimers&) = delete;
  PromptTimers& operator=(const PromptTimers&) = delete;

 private:
  int before_;
};

class Prober {
 public:
  Prober(const ProbePath& path, int64_t size_bytes, std::chrono::nanoseconds polled)
      : link_(path.link),
        port_(path.port),
        control_(path.control),
        watch_(path.watch),
        clock_(path.watch.clock()),
        polled_ticks_(clock_.to_ticks(static_cast<uint64_t>(polled.count()))),
        request_(link_.request(0, size_bytes, 0, piece_)) {
    request_.send_flags |= IBV_SEND_SIGNALED;
  }
  Prober(const Prober&) = delete;  // request_ points into the object
  Prober& operator=(const Prober&) = delete;

  Result<void> sleep_until(uint64_t due) {
    for (uint64_t now = clock_.now(); now < due; now = clock_.now()) {
      TRY(look(now, now));  // no probe is under way, so nothing stands still
      // Deaf, which between probes costs less than to listen to the peer as well: the next look hears it.
      clock_.sleep_ns(std::min(clock_.to_ns(due - now), kLongestSleep_ns));
    }
    return {};
  }
  Result<void> send() {
    const RdmaLink::Lane& lane = link_.lanes()[0];
    if (const int status = post_chain(lane.qp.get(), lane.api, &request_); status != 0)
      return failed(system_error(status, fmt::format("posting a probe on {}", link_.device())));
    return {};
  }
  Result<Arrival> await(uint64_t sent) {
    while (polled_ticks_ > 0 && clock_.now() - sent < polled_ticks_)
      if (const auto arrival = TRY(take())) return *arrival;
    for (;;) {
      // Only what completes after this is notified, so the queue is looked at between this and falling asleep.
      TRY(port_.arm());
      if (const auto arrival = TRY(take())) return *arrival;
      if (TRY(sleep(kLongestSleep_ns, port_.fd()))) port_.take_event();
      if (const auto arrival = TRY(take())) return *arrival;
      TRY(look(clock_.now(), sent));
    }
  }

 private:
  Result<std::optional<Arrival>> take() {
    std::optional<Arrival> arrival = TRY(port_.poll());
    if (arrival && arrival->completion.status != IBV_WC_SUCCESS)
      TRY(failed(link_.completion_error(arrival->completion, "a probe")));
    return arrival;
  }
  // A peer that goes takes its end of the path with it first, and says so a moment later: that is the better reason.
  Result<void> failed(Error error) {
    constexpr uint64_t kMoment_ns = 200'000'000;
    TRY(sleep(kMoment_ns, -1));
    return fail(std::move(error));
  }
  static timespec time_of(uint64_t ns) {
    return {.tv_sec = static_cast<time_t>(ns / kSecond_ns), .tv_nsec = static_cast<long>(ns % kSecond_ns)};
  }
  // Whether `fd` became readable.
  Result<bool> sleep(uint64_t ns, int fd) {
    pollfd entries[] = {{.fd = control_, .events = POLLIN, .revents = 0}, {.fd = fd, .events = POLLIN, .revents = 0}};
    const timespec time = time_of(ns);
    const int ready = ppoll(entries, fd < 0 ? 1 : 2, &time, nullptr);
    if (ready < 0 && errno != EINTR) return fail(system_error(errno, "poll"));
    // What the peer says during a round is that it failed, or that it has gone.
    if (ready > 0 && entries[0].revents != 0 && TRY(watch_.peer_spoke()))
      return fail(Code::kInvalid, "the server sends a message in the middle of a round");
    return ready > 0 && entries[1].revents != 0;
  }
  Result<void> look(uint64_t now, uint64_t progress) {
    if (now < next_look_) return {};
    next_look_ = now + watch_.interval_ticks();
    TRY(watch_.tick(now, progress));
    TRY(sleep(0, -1));
    return {};
  }

  RdmaLink& link_;
  CompletionPort& port_;
  int control_;
  Watch& watch_;
  const TickClock& clock_;
  const uint64_t polled_ticks_;
  ibv_sge piece_{};
  ibv_send_wr request_;
  uint64_t next_look_ = 0;
};

}  // namespace

Result<bool> is_polling_worth_it(const ProbePath& path, int64_t size_bytes) {
  constexpr int kTrials = 33;
  constexpr std::chrono::milliseconds kLongest{1};  // polled for each
  const TickClock& clock = path.watch.clock();
  Prober prober(path, size_bytes, kLongest);
  const auto soon_ns = static_cast<uint64_t>(std::chrono::nanoseconds(kPolled).count());
  int quick = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const uint64_t sent = clock.now();
    TRY(prober.send());
    TRY(prober.await(sent));
    if (clock.between_ns(sent, clock.now()) <= soon_ns) ++quick;
  }
  return quick > kTrials / 2;
}

Result<ProbeRound> send_probes(const ProbePath& path, const Round& round, std::chrono::microseconds polled) {
  const TickClock& clock = path.watch.clock();
  const PromptTimers prompt;
  Prober prober(path, round.size_bytes, polled);
  for (int warm_up = 0; warm_up < 4; ++warm_up) {
    TRY(prober.send());
    TRY(prober.await(clock.now()));
  }
  ProbeRound result;
  std::vector<ClockPair> clocks;
  const uint64_t cpu_before_ns = cpu_time_ns();
  const uint64_t start = clock.now();
  const PingSchedule schedule(round, clock, start);
  uint64_t seen = start;
  for (int64_t number = 0;; ++number) {
    const bool last = schedule.last(number, seen);
    const uint64_t due = schedule.due(number, clock.now());
    TRY(prober.sleep_until(due));
    // One that waits for the answer to those before it is late for the path's sake, not for this thread's.
    const uint64_t could_go = std::max(due, seen);
    const uint64_t sent = clock.now();
    TRY(prober.send());
    const Arrival arrival = TRY(prober.await(sent));
    seen = clock.now();
    result.probes.push_back({.due_ns = clock.between_ns(start, due),
                             .whole_ns = clock.between_ns(due, seen),
                             .sending_ns = clock.between_ns(could_go, sent),
                             .noticing_ns = 0});
    if (arrival.device_ns) clocks.push_back({clock.between_ns(start, seen), *arrival.device_ns});
    if (last) break;
  }
  result.duration_ns = clock.between_ns(start, seen);
  result.cpu_ns = cpu_time_ns() - cpu_before_ns;
  if (clocks.size() == result.probes.size())
    if (const auto late = noticed_late_ns(clocks))
      for (size_t i = 0; i < late->size(); ++i) {
        Probe& probe = result.probes[i];
        // What was noticed late cannot be more than the probe was under way.
        probe.noticing_ns = std::min((*late)[i], probe.whole_ns - std::min(probe.sending_ns, probe.whole_ns));
      }
  return result;
}

std::optional<std::vector<uint64_t>> noticed_late_ns(const std::vector<ClockPair>& pairs) {
  constexpr size_t kFewest = 20;
  if (pairs.size() < kFewest) return std::nullopt;
  // Differences to those of the first pair, so that a double holds them to the nanosecond.
  const auto at = [&](size_t i) { return static_cast<double>(pairs[i].seen_ns - pairs[0].seen_ns); };
  const auto apart = [&](size_t i) {
    return at(i) - static_cast<double>(static_cast<int64_t>(pairs[i].device_ns - pairs[0].device_ns));
  };
  // The fastest of the first and of the last tenth say how steadily the clocks run apart.
  const size_t tenth = pairs.size() / 10;
  const auto fastest = [&](size_t first, size_t end) {
    size_t best = first;
    for (size_t i = first; i < end; ++i)
      if (apart(i) < apart(best)) best = i;
    return best;
  };
  const size_t early = fastest(0, tenth);
  const size_t late = fastest(pairs.size() - tenth, pairs.size());
  const double span = at(late) - at(early);
  const double slope = span > 0 ? (apart(late) - apart(early)) / span : 0;
  std::vector<double> rest(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) rest[i] = apart(i) - slope * at(i);
  const double least = *std::ranges::min_element(rest);
  std::vector<uint64_t> result(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) result[i] = static_cast<uint64_t>(std::llround(rest[i] - least));
  return result;
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// The probes of one round, sent on a schedule, and the parts of each latency.
//
// Why: jitter is what differs from probe to probe, and one number is not useful: a thread that was woken late, a slow
// network, and an answer that was noticed late are different people's problems. A probe is an RDMA read of a few bytes,
// which the peer's device answers; its time starts when it was due (PingSchedule), so an outage affects all probes that
// were due in it. The thread sleeps between probes. For an answer it first polls if that is worthwhile, then sleeps: a
// NIC answers in less time than a wake-up takes.
// Threading: one thread.
// Failure: as the Watch and the completion channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "perf/channel/watch.h"
#include "perf/jitter/completion_port.h"

namespace railbed::perf {

struct Probe {
  uint64_t due_ns = 0;       // since the round's start
  uint64_t whole_ns = 0;     // from when it was due until its answer was seen
  uint64_t sending_ns = 0;   // of it: this thread woke up late
  uint64_t noticing_ns = 0;  // of it: the answer was there, and this thread not yet; known by the device's clock
  // Between: the network with both devices.
  uint64_t between_ns() const { return whole_ns - sending_ns - noticing_ns; }
  friend bool operator==(const Probe&, const Probe&) = default;
};

struct ProbeRound {
  std::vector<Probe> probes;
  uint64_t duration_ns = 0;
  uint64_t cpu_ns = 0;  // that this thread took
};

// How long an answer is polled for. At a probe a millisecond it is 1 % of a processor at most.
inline constexpr std::chrono::microseconds kPolled{10};

// What a round is made with; all outlive the call.
struct ProbePath {
  RdmaLink& link;
  CompletionPort& port;
  int control = -1;  // becomes readable when the peer says something, and wakes the thread
  Watch& watch;
};

// Whether most answers come within kPolled: some probes find out, which are not part of any round. All rounds that are
// compared need the same, as the time to be woken is in what is measured.
Result<bool> is_polling_worth_it(const ProbePath& path, int64_t size_bytes);
// `polled`: zero sleeps at once.
Result<ProbeRound> send_probes(const ProbePath& path, const Round& round, std::chrono::microseconds polled);

// When a probe's answer was seen, by this machine's clock and, in the device, by its own.
struct ClockPair {
  uint64_t seen_ns = 0;
  uint64_t device_ns = 0;
};
// How much later than the fastest each answer was noticed. The clocks may have any distance, and may run apart
// steadily: the line below all differences is taken off. Pure. Nothing for fewer than 20 pairs.
std::optional<std::vector<uint64_t>> noticed_late_ns(const std::vector<ClockPair>& pairs);

}  // namespace railbed::perf

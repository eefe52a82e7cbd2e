// SPDX-License-Identifier: Apache-2.0
// Latency as perftest's two ends measure it: both know the number of pings, and count them.
//
// Why: railbed's own writes carry a byte that marks the last one; perftest's carry the count, of which the receiver
// polls the low byte, and its messages carry nothing. Every ping is counted. The side that pings second measures one
// round trip less, since nothing was in flight before its first answer.
// Threading: one thread per link.
// Failure: as rdma_loops.h.
#pragma once

#include "perf/stream/rdma_loops.h"

namespace railbed::perf::perftest {

enum class Turn : uint8_t { kFirst, kSecond };

// For write and send. `round` has a number of messages, two or more.
Result<PingResult> counted_pings(RdmaLink& link, const Round& round, Turn turn, Watch& watch);

// Takes what comes until `messages` are there.
Result<void> receive_all(Receiver& receiver, int64_t messages, const RdmaLink& link, Watch& watch);

}  // namespace railbed::perf::perftest

// SPDX-License-Identifier: Apache-2.0
// The loops that measure over a connected RdmaLink: one for bandwidth, and one per kind of answer for latency.
//
// Why: comparable with the standard tools (128 messages in flight, page-aligned buffers, half the round trip if its two
// halves are alike), but with a bounded wait everywhere and every sample kept.
// Threading: one thread per link.
// Failure: verbs' own (verbs.h), and the Watch's.
#pragma once

#include "perf/channel/watch.h"
#include "perf/stream/rdma_link.h"
#include "perf/stream/rdma_receiver.h"

namespace railbed::perf {

// Sends as fast as possible, until the round's messages or time are used up and all are complete. Takes what comes
// meanwhile where there is a receiver.
Result<StreamResult> stream(RdmaLink& link, const Round& round, Receiver* receiver, Watch& watch);

// Both sides have called RdmaLink::prepare() before.
Result<PingResult> ping(RdmaLink& link, const Round& round, Watch& watch);
// The peer of ping() for verbs that a program answers: until the last ping of writes, else until the peer has sent a
// message on the control channel. Returns how many were answered.
Result<int64_t> answer_pings(RdmaLink& link, int64_t size_bytes, Watch& watch);

// The loops behind ping() and answer_pings().
Result<PingResult> ping_by_memory(RdmaLink& link, const Round& round, Watch& watch);
Result<int64_t> answer_by_memory(RdmaLink& link, int64_t size_bytes, Watch& watch);
Result<PingResult> ping_by_messages(RdmaLink& link, const Round& round, Watch& watch);
Result<int64_t> answer_by_messages(RdmaLink& link, int64_t size_bytes, Watch& watch);
Result<PingResult> ping_by_completions(RdmaLink& link, const Round& round, Watch& watch);

}  // namespace railbed::perf

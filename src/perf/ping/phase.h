// SPDX-License-Identifier: Apache-2.0
// The phases of a ping over the connection manager, and the message for the failure of each.
//
// Why: "it does not connect" has six causes that look alike, and each has a different remedy. The sentences are pure
// functions, tested without a device.
// Threading: plain values.
// Failure: none.
// Source: rdma_cm(7), rdma_get_cm_event(3); the reasons of a rejection: InfiniBand Architecture, volume 1, table of REJ
// reasons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed::perf {

enum class PingPhase : uint8_t { kAddress, kRoute, kConnect, kMessage, kRead, kWrite };

std::string_view name_of(PingPhase phase);  // "address", "route", …

// A phase of opening that failed with an errno, of the call itself or reported by its event. `peer`: "10.1.0.1 port
// 7174".
Error opening_failed(PingPhase phase, int sys_errno, const std::string& peer);
// Nothing came within the time for it.
Error opening_timed_out(PingPhase phase, int64_t patience_ms, const std::string& peer);
// The peer, or the connection manager of its machine, said no.
Error connection_rejected(int reason, const std::string& peer);
// A completion that reports an error, or none at all, in a phase of data: the error of `cause` with the phase's words.
Error data_phase_failed(PingPhase phase, Error cause, const std::string& peer);

}  // namespace railbed::perf

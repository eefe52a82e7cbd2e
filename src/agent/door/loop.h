// SPDX-License-Identifier: Apache-2.0
// The common part of the event loops of the two listeners: the agent's socket (server.cc) and the pages (http.cc).
//
// Threading: pure.
// Failure: none.
#pragma once

#include <chrono>
#include <cstdint>

namespace railbed::agent {

// What a loop's poller knows its descriptors by; clients follow.
inline constexpr uint64_t kListenerKey = 0;
inline constexpr uint64_t kWakerKey = 1;
inline constexpr uint64_t kFirstFreeKey = 2;

// How long a loop sleeps that has nothing to do.
inline constexpr std::chrono::milliseconds kLoopIdle{60'000};
// How long to stop accepting when descriptors or memory have run out.
inline constexpr std::chrono::milliseconds kAcceptRest{100};

}  // namespace railbed::agent

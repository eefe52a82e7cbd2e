// SPDX-License-Identifier: Apache-2.0
// Whether and when a request that failed is made again.
//
// Why: an API server that restarts or is overloaded is normal; a thousand clients that ask again at the same moment
// keep it down. So pauses double, are spread by chance, and are never shorter than what the server asked for. What must
// not be done twice is made again only where it was surely not done: no server saw it, or one said 429, with which API
// priority and fairness turns requests away before they are worked on.
// Threading: pure. Failure: none.
#pragma once

#include <optional>

#include "kube/api_error.h"

namespace railbed::kube {

// Whether doing it twice is the same as doing it once.
enum class Repeat : uint8_t { kSafe, kUnsafe };

struct RetrySettings {
  int tries = 6;
  milliseconds first{100};
  milliseconds longest{10000};
};

// The pause before try `tried` + 1, or nothing where it is not to be made. `chance` is from 0 to below 1.
std::optional<milliseconds> pause_before_retry(const ApiError& error, Repeat repeat, int tried, double chance,
                                               const RetrySettings& settings);

// Pauses that double from `first` to `longest`, each between half of it and the whole.
milliseconds backoff(int failures, double chance, milliseconds first, milliseconds longest);

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
// Whether and when a failed request is retried.
//
// Why: an API server that restarts or is overloaded is normal; a thousand clients that retry at the same moment keep it
// down. So the backoff is exponential, has jitter, and is never shorter than what the server asked for. Requests that
// must not be repeated are retried only if they were certainly not carried out: no server received them, or one
// answered 429, with which API priority and fairness rejects requests before processing.
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>

#include "kube/api_error.h"

namespace railbed::kube {

// Whether doing it twice is the same as doing it once.
enum class Repeat : uint8_t {
  kSafe,
  kUnsafe,
  kNotAnswered,  // only where no server received it: each answer is the caller's to judge, 429 too
};

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

// SPDX-License-Identifier: Apache-2.0
#include "kube/retry.h"

#include <algorithm>

namespace railbed::kube {
namespace {

bool may_be_repeated(const ApiError& error, Repeat repeat) {
  if (error.code == Code::kCanceled) return false;
  switch (error.delivery) {
    case Delivery::kNotSent:
      return error.code == Code::kIo || error.code == Code::kTimeout;  // wrong certificates stay wrong
    case Delivery::kUnknown:
      // What cannot be read, or is too large, is so the next time, too.
      return repeat == Repeat::kSafe && error.code != Code::kInvalid && error.code != Code::kExhausted;
    case Delivery::kAnswered:
      break;
  }
  if (repeat == Repeat::kNotAnswered) return false;
  if (error.status == 429) return true;
  // A server that is going down, or a proxy before one that is gone. 500 with a time to come back: the API server's
  // own timeouts in etcd.
  const bool passing = error.status == 502 || error.status == 503 || error.status == 504 ||
                       (error.status == 500 && error.retry_after.has_value());
  return passing && repeat == Repeat::kSafe;
}

}  // namespace

milliseconds backoff(int failures, double chance, milliseconds first, milliseconds longest) {
  const int doublings = std::clamp(failures - 1, 0, 20);
  const milliseconds whole = std::min(first * (1 << doublings), longest);
  return whole / 2 + std::chrono::duration_cast<milliseconds>(whole / 2 * chance);
}

std::optional<milliseconds> pause_before_retry(const ApiError& error, Repeat repeat, int tried, double chance,
                                               const RetrySettings& settings) {
  if (tried >= settings.tries || !may_be_repeated(error, repeat)) return std::nullopt;
  const milliseconds pause = backoff(tried, chance, settings.first, settings.longest);
  // Those who were sent away together must not come back together.
  if (error.retry_after) return *error.retry_after + pause;
  return pause;
}

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
// Whether a test is built with one of clang's sanitizers. It then takes ten times as long, so sweeps whose cases all
// run the same code run only a part of them.
// Threading: constants and pure functions.
// Failure: none.
#pragma once

#include <cstddef>
#include <vector>

namespace railbed {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// Of a sweep, every n-th case.
inline constexpr size_t kSweepStep = kSanitized ? 8 : 1;

// With which errors a sweep refuses each call of a sequence: under a sanitizer with the first one.
inline std::vector<int> refusals(std::vector<int> errors) {
  if (kSanitized) errors.resize(1);
  return errors;
}

}  // namespace railbed

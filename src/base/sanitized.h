// SPDX-License-Identifier: Apache-2.0
// Whether a test is built with one of clang's sanitizers. It then takes ten times as long, so sweeps whose cases all
// run the same code run only a part of them.
// Threading: constants.
// Failure: none.
#pragma once

#include <cstddef>

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

}  // namespace railbed

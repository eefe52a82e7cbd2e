// SPDX-License-Identifier: Apache-2.0
// How a verb ends: its exit status, and the error that it gives up on.
//
// Threading: the main thread. Failure: none.
#pragma once

#include "base/error.h"

namespace railbed {

// The exit statuses that all verbs share; 2 means that there is something to change (`plan`) or to fix (`check`).
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitChange = 2;

// Prints "railbed: <the error with its whole context>" on stderr; returns kExitError.
int give_up(const Error& error);
// The result's value, or give_up() with its error.
int status_of(const Result<int>& result);

}  // namespace railbed

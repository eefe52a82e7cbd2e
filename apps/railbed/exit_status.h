// SPDX-License-Identifier: Apache-2.0
// How a verb ends: its exit status, and the error that it gives up on.
//
// Threading: the main thread. Failure: none.
#pragma once

#include "base/error.h"

namespace railbed {

// The exit statuses that all verbs share; 2 is for "there is something to change" (`plan`) or to mend (`check`).
inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitChange = 2;

// "railbed: <the error's whole story>" on stderr; kExitError.
int give_up(const Error& error);
// The result's exit status; an error is given up on.
int status_of(const Result<int>& result);

}  // namespace railbed

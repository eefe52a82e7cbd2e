// SPDX-License-Identifier: Apache-2.0
// How a verb ends: its exit status, and the error that it gives up on.
//
// Why a table: scripts branch on the number, so it means the same in all verbs, and no verb returns one without a name
// (tests/tidy). What a verb finds is in its --help and its manual page (CommandLine::exit_status); docs/README.md has
// the table, too.
// Threading: the main thread. Failure: none.
#pragma once

#include <string_view>

#include "base/error.h"

namespace railbed {

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitFound = 2;
inline constexpr int kExitUnknown = 3;
// Of `exec`, which otherwise ends as its command does; shells, env(1) and `kubectl exec` have the same.
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNoCommand = 127;

struct ExitStatus {
  int status;
  std::string_view meaning;
  bool of_every_verb = false;
};
inline constexpr ExitStatus kExitStatuses[] = {
    {kExitOk, "success", true},
    {kExitError, "failure or invalid command line; the reason is on standard error", true},
    {kExitFound, "something to change, to fix, or not as expected"},
    {kExitUnknown, "too little is known to say 0 or 2"},
};

// Prints "railbed: <the error with its whole context>" on stderr; returns kExitError.
int give_up(const Error& error);
// The result's value, or give_up() with its error.
int status_of(const Result<int>& result);

}  // namespace railbed

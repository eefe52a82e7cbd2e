// SPDX-License-Identifier: Apache-2.0
// What all verbs do with their command line and with the error they give up on.
//
// Why: CLI11 ends with numbers of its own (109 for an unknown option); railbed's exit statuses are those of
// verb.h. Threading: the main thread. Failure: none.
#pragma once

#include <optional>
#include <span>

#include "base/error.h"

namespace CLI {
class App;
}

namespace railbed {

// Nothing when the verb can go on; otherwise the status to end with: kExitOk after --help, kExitError after a
// wrong option, which is told on stderr.
std::optional<int> parse_command_line(CLI::App& app, std::span<char*> arguments);

// "railbed: <the error's whole story>" on stderr; kExitError.
int give_up(const Error& error);
// The result's exit status; an error is given up on.
int status_of(const Result<int>& result);

}  // namespace railbed

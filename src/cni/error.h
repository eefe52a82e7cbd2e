// SPDX-License-Identifier: Apache-2.0
// How a CNI request fails: the error codes of the specification, and the JSON of an Error.
//
// Why: a runtime acts on the code (11: retry later, 50: no pods here now), a user on the text. railbed's errors already
// carry a code that means an action, from which the specification's is derived; where that is not enough, wire_code has
// it. Inside of the agent a request's failure is an Error like any other; its JSON is written once, by the server.
// Threading: plain values.
// Failure: none.
// Source: CNI specification 1.1.0, "Error".
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "base/error.h"

namespace railbed::cni {

inline constexpr int kIncompatibleVersion = 1;
inline constexpr int kUnsupportedField = 2;
inline constexpr int kUnknownContainer = 3;
inline constexpr int kInvalidEnvironment = 4;
inline constexpr int kIo = 5;
inline constexpr int kDecode = 6;
inline constexpr int kInvalidConfig = 7;
inline constexpr int kInvalidNetns = 8;  // of the reference library: CNI_NETNS is the host's own
inline constexpr int kTryAgainLater = 11;
inline constexpr int kUnavailable = 50;         // no ADD can be served
inline constexpr int kUnavailableLimited = 51;  // and running pods have limited connectivity
// railbed's own codes, from 100 on.
inline constexpr int kGone = 100;       // a device, interface or namespace does not exist
inline constexpr int kTaken = 101;      // a device, name or address belongs to another owner
inline constexpr int kExhausted = 102;  // no address or VF is left
inline constexpr int kKernel = 103;     // the kernel or the driver refused
inline constexpr int kInternal = 104;
inline constexpr int kStarved = 105;  // the machine or the agent has no memory, open files or threads left

// An error whose code on the wire is `code`.
Error error_with(int code, std::string message, std::string hint = {});
// return fail_with(kDecode, fmt::format("plugin {}: the answer has no address", type));
std::unexpected<Error> fail_with(int code, std::string message, std::string hint = {});

// Of what the standard library throws: memory, threads, or a defect of railbed.
Error error_of(const std::exception& thrown);

// What goes on the wire: the code ("code"); Error::story() ("msg"); the hint, or what is to be done about an exhausted
// machine ("details").
int code_of(const Error& error);
std::string hint_of(const Error& error);
// Adds a sentence to what hint_of() says.
void add_hint(Error& error, const std::string& text);

// The error in an answer; nothing where the text is none: it has no "code" or no "msg".
std::optional<Error> read_error(const std::string& json);

// {"cniVersion": …, "code": …, "msg": …, "details": …}, indented as the reference library prints it. An empty version
// is the latest.
std::string to_json(const Error& error, const std::string& cni_version);

}  // namespace railbed::cni

// SPDX-License-Identifier: Apache-2.0
// RAILBED_CHECK: an invariant of the program, such as that a turn is held where the state changes.
//
// Why: a program that continues past a broken invariant writes wrong records or changes another pod's interface, and is
// found out much later. It ends instead, with the place; what it recorded is finished by the next one, as after a kill.
// Not for input, files, devices or peers: those are errors (error.h).
// Threading: any thread.
// Failure: none; the process aborts.
#pragma once

#include <source_location>

namespace railbed::detail {

[[noreturn]] void check_failed(const char* condition, std::source_location place = std::source_location::current());

}  // namespace railbed::detail

#define RAILBED_CHECK(condition) ((condition) ? static_cast<void>(0) : ::railbed::detail::check_failed(#condition))

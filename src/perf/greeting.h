// SPDX-License-Identifier: Apache-2.0
// Whether who says hello may go on: the protocol, and the token where there is one.
//
// Why: a server, and a coordinator that listens, let in the same. Threading: pure. Failure: kUnsupported or kDenied,
// for the other side to read.
#pragma once

#include "perf/message.h"

namespace railbed::perf {

// `token`: "": nobody needs one.
Result<void> check_hello(const Hello& hello, std::string_view token);

}  // namespace railbed::perf

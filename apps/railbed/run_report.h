// SPDX-License-Identifier: Apache-2.0
// What `up` and `down` print at their end, as text and as JSON. Threading: pure functions. Failure: none.
#pragma once

#include <string>

#include "doc/value.h"
#include "node/standalone.h"

namespace railbed {

// The text for standard output.
std::string done_text(const node::UpReport& report);
std::string done_text(const node::DownReport& report);
// Each failure with its context, for standard error; empty when nothing failed.
std::string failures_text(const apply::Report& applied, const node::PodsReport& pods);

doc::Value to_value(const node::UpReport& report);
doc::Value to_value(const node::DownReport& report);

}  // namespace railbed

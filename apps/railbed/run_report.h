// SPDX-License-Identifier: Apache-2.0
// What `up` and `down` tell at their end, as text and as JSON. Threading: pure functions. Failure: none.
#pragma once

#include <string>

#include "agent/standalone.h"
#include "doc/value.h"

namespace railbed {

// Results for standard output.
std::string done_text(const agent::UpReport& report);
std::string done_text(const agent::DownReport& report);
// What failed, each with its story, for standard error; empty when nothing did.
std::string failures_text(const apply::Report& applied, const agent::PodsReport& pods);

doc::Value to_value(const agent::UpReport& report);
doc::Value to_value(const agent::DownReport& report);

}  // namespace railbed

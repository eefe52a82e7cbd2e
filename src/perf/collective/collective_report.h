// SPDX-License-Identifier: Apache-2.0
// The result of a collective: for people as lines, for programs as a value and back (schema railbed.collective/v1,
// docs/collective.md).
//
// Why: the table is the one that users know from nccl-tests; the information about slow ranks follows it. Texts from
// ranks have been sanitized.
// Threading: pure.
// Failure: of reading, Code::kInvalid with the field's path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"
#include "perf/collective/collective.h"

namespace railbed::perf::collective {

enum class Steps : uint8_t { kLeftOut, kShown };
std::vector<std::string> report_lines(const CollectiveRun& run, Steps steps);
// Of one rail: "node-2 is the slow one: …", or that nobody is.
std::string straggler_text(const CollectiveRun& run, const RailResult& rail);

inline constexpr std::string_view kSchema = "railbed.collective/v1";
doc::Value to_value(const CollectiveRun& run);
// Whether a result is of `perf collective`, of whatever version.
bool is_collective(const doc::Value& result);
Result<CollectiveRun> run_from(const doc::Value& result);

}  // namespace railbed::perf::collective

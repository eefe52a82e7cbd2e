// SPDX-License-Identifier: Apache-2.0
// The result of a collective: for people as lines, for programs as a value and back (schema railbed.collective/v1,
// docs/collective.md).
//
// Why: the table is the one that users know from nccl-tests; the information about slow ranks follows it. Texts from
// ranks have been sanitized.
// Threading: pure.
// Failure: of reading, Code::kInvalid with the field's path.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doc/value.h"
#include "perf/collective/collective.h"
#include "perf/result_envelope.h"

namespace railbed::perf::collective {

enum class Steps : uint8_t { kLeftOut, kShown };
std::vector<std::string> report_lines(const CollectiveRun& run, Steps steps);
// Of one rail: "node-2 is the slow one: …", or that none is.
std::string straggler_text(const CollectiveRun& run, const RailResult& rail);

inline constexpr ResultName kCollectiveName{"Collective", "railbed.collective/v1"};
// Of its envelope. Results from before reports showed them have no label and no time.
std::span<const ResultMember> collective_members();
doc::Value to_value(const CollectiveRun& run);
Result<CollectiveRun> run_from(const doc::Value& result);

}  // namespace railbed::perf::collective

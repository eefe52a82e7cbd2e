// SPDX-License-Identifier: Apache-2.0
// What a collective came to: for people as lines, for programs as a value (schema railbed.collective/v1,
// docs/collective.md).
//
// Why: the table is the one that people know from nccl-tests; what that does not say follows it, who was slow. Texts
// from ranks have been cleaned. Threading: pure. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"
#include "perf/collective/collective.h"

namespace railbed::perf::collective {

enum class Steps : uint8_t { kLeftOut, kShown };
std::vector<std::string> report_lines(const CollectiveRun& run, Steps steps);
doc::Value to_value(const CollectiveRun& run);

}  // namespace railbed::perf::collective

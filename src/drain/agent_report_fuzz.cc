// SPDX-License-Identifier: Apache-2.0
// Any text as the annotation railbed.dev/drain-report: no crash; what is read is written as it was read.
#include "drain/agent_report.h"

using namespace railbed;  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto report = drain::read_agent_report({reinterpret_cast<const char*>(data), size});
  if (!report.has_value()) return 0;
  const auto back = drain::read_agent_report(drain::to_text(*report));
  if (!back.has_value() || !(*back == *report)) __builtin_trap();
  return 0;
}

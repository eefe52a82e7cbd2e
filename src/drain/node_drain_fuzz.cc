// SPDX-License-Identifier: Apache-2.0
// Any text as the annotation railbed.dev/drain: no crash; what is read is written as it was read.
#include "drain/state.h"

using namespace railbed;  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto state = drain::read_node_drain({reinterpret_cast<const char*>(data), size});
  if (!state.has_value()) return 0;
  const auto back = drain::read_node_drain(drain::to_text(*state));
  if (!back.has_value() || !(*back == *state)) __builtin_trap();
  return 0;
}

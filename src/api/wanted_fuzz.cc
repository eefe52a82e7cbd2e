// SPDX-License-Identifier: Apache-2.0
// Any text as the annotation railbed.dev/wanted: no crash; what is read is written as it was read.
#include "api/wanted.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto wanted = api::read_wanted({reinterpret_cast<const char*>(data), size});
  if (!wanted.has_value()) return 0;
  const auto back = api::read_wanted(api::to_text(*wanted));
  if (!back.has_value() || !(*back == *wanted)) __builtin_trap();
  return 0;
}

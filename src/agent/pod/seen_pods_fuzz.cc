// SPDX-License-Identifier: Apache-2.0
// Any bytes as the file of pods that had networks: no crash, and whatever is read is written as it was.
#include "agent/pod/seen_pods.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto seen = agent::read_seen_pods({reinterpret_cast<const char*>(data), size});
  if (!seen) {
    if (seen.error().message.empty()) __builtin_trap();
    return 0;
  }
  const auto again = agent::read_seen_pods(agent::seen_pods_text(*seen));
  if (!again || *again != *seen) __builtin_trap();
  return 0;
}

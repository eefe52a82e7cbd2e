// SPDX-License-Identifier: Apache-2.0
// A fuzz target with a planted defect. tests/fuzz passes only when libFuzzer finds it: a harness that cannot
// fail proves nothing.
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size >= 4 && std::memcmp(data, "RAIL", 4) == 0) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// IPPool objects in any shape that a file can have.
#include "agent/addresses/adopt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)railbed::agent::read_pools("pools.yaml", {reinterpret_cast<const char*>(data), size});
  return 0;
}

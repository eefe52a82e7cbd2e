// SPDX-License-Identifier: Apache-2.0
// The kubelet's checkpoint, whatever stands in the file.
#include <cstdint>

#include "kubelet/checkpoint.h"

using namespace railbed;  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)kubelet::read_checkpoint(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

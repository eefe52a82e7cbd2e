// SPDX-License-Identifier: Apache-2.0
// Any bytes as a page: no crash, no hang; every place lies in the text.
#include "check/read/reading_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  railbed::check::fuzzing::read_any("a.adoc", data, size);
  return 0;
}

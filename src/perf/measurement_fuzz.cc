// SPDX-License-Identifier: Apache-2.0
// Any bytes as saved measurements, which people send each other: refused, or read so that what is written of them is
// read as the same again; the table for the terminal has no line per byte and no control characters.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "perf/test_results.h"

using namespace railbed::perf;  // NOLINT

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = measurements_from_json({reinterpret_cast<const char*>(data), size});
  if (!read) {
    if (read.error().message.empty()) std::abort();
    return 0;
  }
  const std::string once = to_json(*read);
  const auto again = measurements_from_json(once);
  if (!again || to_json(*again) != once) std::abort();
  for (const Measurement& one : *read)
    if (to_table(one).size() > (64 << 10) + 64 * size) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any message of a ping's peer: what is taken for an advert is within the limits, and the same when it is sent again.
#include <algorithm>
#include <cstdlib>

#include "perf/ping/rping_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::perf;
  std::array<std::byte, kAdvert_bytes> bytes{};
  std::transform(data, data + std::min(size, bytes.size()), bytes.begin(), [](uint8_t one) { return std::byte{one}; });
  const auto advert = decode_advert(bytes, size);
  if (!advert) return 0;
  if (advert->size_bytes == 0 || advert->size_bytes > kMostPing_bytes || encode(*advert) != bytes) std::abort();
  return 0;
}

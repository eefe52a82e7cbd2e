// SPDX-License-Identifier: Apache-2.0
// Any text as a result: what was read is written in every version and read back; 1.x loses nothing.
#include "cni/add_result.h"

using namespace railbed::cni;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto result = read_result(text, "1.0.0");
  if (!result) {
    if (result.error().message.empty()) __builtin_trap();
    return 0;
  }
  for (std::string_view version : kSupportedVersions) {
    const std::string once = to_json(*result, *supported_version(version));
    const auto back = read_result(once, "0.1.0");
    if (!back || to_json(*back, *supported_version(version)) != once) __builtin_trap();
    if (version.starts_with("1.") && !(*back == *result)) __builtin_trap();
  }
  return 0;
}

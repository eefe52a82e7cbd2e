// SPDX-License-Identifier: Apache-2.0
// A pod chooses the paths of the mounts in its own view.
#include <cstdlib>
#include <string_view>

#include "os/real/find_netns.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (railbed::os::nsfs_mount_in(line).size() > size) std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A file of the cache in any shape that a disk can leave it in, and what is read of its objects.
#include "agent/cluster/cluster_objects.h"
#include "agent/cluster/object_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed::agent;
  const auto kept = read_object_file({reinterpret_cast<const char*>(data), size}, "");
  if (!kept.has_value()) return 0;
  for (const railbed::doc::Value& object : kept->objects) {
    (void)pod_of(object, "uid");
    (void)is_pod(object, "uid");
    (void)network_of(object);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A mesh file from anybody. The checksums of its sections are made right first, since a fuzzer does not find them; what
// can be read is written again with the same result.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fnv1a.h"
#include "perf/mesh/mesh_file.h"

namespace {

constexpr size_t kHead = 12;     // magic and version
constexpr size_t kSection = 16;  // kind, number, size
constexpr size_t kChecksum = 8;

void mend_checksums(std::string& bytes) {
  for (size_t at = kHead; at + kSection + kChecksum <= bytes.size();) {
    uint64_t size = 0;
    for (size_t i = 0; i < 8; ++i) size |= uint64_t{static_cast<unsigned char>(bytes[at + 8 + i])} << (8 * i);
    if (size > bytes.size() - at - kSection - kChecksum) return;
    const uint64_t sum = railbed::fnv1a(std::string_view(bytes).substr(at, kSection + size));
    for (size_t i = 0; i < 8; ++i) bytes[at + kSection + size + i] = static_cast<char>(sum >> (8 * i));
    at += kSection + size + kChecksum;
  }
}

void read_and_write(std::string_view bytes) {
  using namespace railbed::perf::mesh;
  const auto file = read_mesh_file(bytes);
  if (!file.has_value()) return;
  const std::string once = mesh_file(file->results);
  const auto again = read_mesh_file(once);
  if (!again.has_value() || again->damage || mesh_file(again->results) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  read_and_write(bytes);
  mend_checksums(bytes);
  read_and_write(bytes);
  return 0;
}

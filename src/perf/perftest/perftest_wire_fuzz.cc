// SPDX-License-Identifier: Apache-2.0
// Any bytes where perftest's were due: no parser may crash, and what one accepts must be written as it came.
#include <cstdlib>
#include <string_view>

#include "perf/perftest/wire.h"

namespace {

using namespace railbed::perf::perftest;

void same(std::string_view came, const std::string& written) {
  if (came != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto version = read_version(bytes)) same(bytes, version_bytes(*version));
  if (const auto page = read_page(bytes)) same(bytes, number_bytes(*page));
  if (const auto line = read_cache_line(bytes)) same(bytes, number_bytes(*line));
  if (const auto mtu = read_mtu(bytes)) same(bytes, mtu_bytes(*mtu));
  if (const auto keys = read_keys(bytes)) same(bytes, keys_bytes(*keys));
  if (const auto report = read_report(bytes)) same(bytes, report_bytes(*report));
  // Keys come in two pieces, of which the first says whether there is a second.
  const size_t due = has_gid(bytes.substr(0, kKeys_bytes)) ? kKeysWithGid_bytes : kKeys_bytes;
  if (bytes.size() >= due)
    if (const auto keys = read_keys(bytes.substr(0, due))) same(bytes.substr(0, due), keys_bytes(*keys));
  return 0;
}

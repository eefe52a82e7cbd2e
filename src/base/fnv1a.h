// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: a hash of a text that is the same on every machine, in every version.
//
// Why: it distinguishes names that were shortened, or whose characters are not allowed in their place. It does not
// protect against deliberate collisions: callers that rely on the hash also compare the text.
// Threading: pure.
// Failure: none.
// Spec: draft-eastlake-fnv.
#pragma once

#include <cstdint>
#include <string_view>

namespace railbed {

constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: a number of a text that is the same on every machine, in every version.
//
// Why: names that are too long, or have characters that their place does not allow, are told apart by it. It is no
// defence against somebody who looks for two texts of one number: who relies on the number compares the text, too.
// Threading: pure. Failure: none. Spec: draft-eastlake-fnv.
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

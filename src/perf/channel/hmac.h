// SPDX-License-Identifier: Apache-2.0
// Random numbers and message authentication codes (HMAC-SHA256), for what a token protects.
//
// Why: libcrypto does the computation. It is loaded when a token is first used: as a shared library of railbed it would
// be resolved at every start, and only `railbed perf` with a token needs it.
// Spec: RFC 2104, FIPS 180-4; hmac.h of OpenSSL 3 (libcrypto.so.3); getrandom(2).
// Threading: any thread.
// Failure: NotFound with the package if libcrypto is missing; kIo if the kernel has no random numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hex.h"

namespace railbed::perf {

// 32 bytes, in text 64 hexadecimal digits. `What` makes a type of its own of each use.
template <typename What>
struct Bytes32 {
  std::array<uint8_t, 32> bytes{};

  static Result<Bytes32> parse(std::string_view text);
  std::string to_string() const;
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  friend bool operator==(const Bytes32&, const Bytes32&) = default;  // not in constant time: see same_mac()
};
using Nonce = Bytes32<struct NonceTag>;  // a number that is used once
using Mac = Bytes32<struct MacTag>;      // a message authentication code

// To be asked early, so that a server without libcrypto does not start.
Result<void> load_hmac();
Result<Mac> hmac_sha256(std::string_view key, std::string_view text);
// Takes the same time for a wrong first byte and for a wrong last one. False for another size.
Result<bool> same_mac(const Mac& wanted, std::string_view given);

Result<std::array<uint8_t, 32>> random_bytes32();
template <typename T>
Result<T> random_one() {
  return T{TRY(random_bytes32())};
}

// Of hexadecimal digits in lower case.
Result<std::array<uint8_t, 32>> bytes32_from_hex(std::string_view text);

template <typename What>
Result<Bytes32<What>> Bytes32<What>::parse(std::string_view text) {
  return Bytes32{TRY(bytes32_from_hex(text))};
}
template <typename What>
std::string Bytes32<What>::to_string() const {
  return hex_text(bytes);
}

}  // namespace railbed::perf

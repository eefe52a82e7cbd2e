// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/hmac.h"

#include <algorithm>
#include <cerrno>

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace railbed::perf {
namespace {

constexpr const char* kLibrary = "libcrypto.so.3";

#define RAILBED_CRYPTO(X) \
  X(CRYPTO_memcmp)        \
  X(EVP_sha256)           \
  X(HMAC)

struct CryptoLibrary {
#define RAILBED_DECLARE(name) decltype(&::name) name = nullptr;
  RAILBED_CRYPTO(RAILBED_DECLARE)
#undef RAILBED_DECLARE
};

Error missing(const char* what) {
  const char* why = ::dlerror();
  return {
      .code = Code::kNotFound,
      .message = fmt::format("tokens require libcrypto of OpenSSL 3, but {}: {}", what, why ? why : "unknown reason"),
      .hint = "apt-get install libssl3 (its file is libcrypto.so.3 on other systems, too)"};
}

Result<CryptoLibrary> found_library() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(missing("it cannot be loaded"));
  CryptoLibrary out;
#define RAILBED_FIND(name)                                                 \
  out.name = reinterpret_cast<decltype(&::name)>(::dlsym(library, #name)); \
  if (out.name == nullptr) return fail(missing("the one found has no " #name));
  RAILBED_CRYPTO(RAILBED_FIND)
#undef RAILBED_FIND
  return out;
}

Result<const CryptoLibrary*> crypto_library() {
  static const Result<CryptoLibrary> loaded = found_library();
  if (!loaded) return fail(Error(loaded.error()));
  return &*loaded;
}

}  // namespace

Result<void> load_hmac() {
  TRY(crypto_library());
  return {};
}

Result<Mac> hmac_sha256(std::string_view key, std::string_view text) {
  const CryptoLibrary& library = *TRY(crypto_library());
  Mac mac;
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* done = library.HMAC(library.EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes,
                                           text.size(), mac.bytes.data(), &size);
  if (done == nullptr || size != mac.bytes.size())
    return fail(Error{.code = Code::kUnsupported,
                      .message = "libcrypto does not compute HMAC-SHA256",
                      .hint = "check the providers in openssl.cnf of this machine"});
  return mac;
}

Result<bool> same_mac(const Mac& wanted, std::string_view given) {
  const CryptoLibrary& library = *TRY(crypto_library());
  return given.size() == wanted.bytes.size() &&
         library.CRYPTO_memcmp(wanted.bytes.data(), given.data(), given.size()) == 0;
}

Result<std::array<uint8_t, 32>> random_bytes32() {
  std::array<uint8_t, 32> bytes;
  for (;;) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count == static_cast<ssize_t>(bytes.size())) return bytes;  // up to 256 bytes come whole
    if (count < 0 && errno != EINTR) return fail(system_error(errno, "getrandom"));
  }
}

Result<std::array<uint8_t, 32>> bytes32_from_hex(std::string_view text) {
  std::array<uint8_t, 32> bytes;
  const auto read = bytes_of_hex(text);
  // Without the text: it may be half of a secret.
  if (!read || read->size() != bytes.size())
    return fail(Code::kInvalid, "{} characters, expected {} hexadecimal digits in lower case", text.size(),
                2 * bytes.size());
  std::ranges::copy(*read, bytes.begin());
  return bytes;
}

}  // namespace railbed::perf

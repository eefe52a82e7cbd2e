// SPDX-License-Identifier: Apache-2.0
// Any text as a kubeconfig, and as base64: no crash, what is accepted is an address with credentials that may be sent
// there, and decoded bytes are those that were encoded.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kube/config.h"

using namespace railbed;  // NOLINT

namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (int i = 3; i >= 0; --i) {
      const bool pads = at + static_cast<size_t>(3 - i) > bytes.size();
      out += pads ? '=' : kAlphabet[three >> (6 * i) & 0x3F];
    }
  }
  return out;
}

void check_base64(std::string_view text) {
  if (kube::decode_base64(base64(text)).value() != text) std::abort();
  const auto decoded = kube::decode_base64(text);
  if (decoded && (decoded->size() > text.size() / 4 * 3 || kube::decode_base64(base64(*decoded)).value() != *decoded))
    std::abort();
}

void check_access(const kube::ClusterAccess& access, kube::TlsCheck least) {
  const bool plain = access.server.starts_with("http://");
  if (!plain && !access.server.starts_with("https://")) std::abort();
  if (access.server.ends_with('/')) std::abort();
  if (plain && (access.token.given() || access.client_certificate.given())) std::abort();
  if (access.client_certificate.given() != access.client_key.given()) std::abort();
  if (access.tls_check == kube::TlsCheck::kNone && least == kube::TlsCheck::kVerify) std::abort();
  for (const kube::Secret* one : {&access.ca, &access.client_certificate, &access.client_key, &access.token})
    if (!one->file.empty() && (one->file.front() != '/' || !one->data.empty())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_base64(text);
  for (const auto least : {kube::TlsCheck::kVerify, kube::TlsCheck::kNone})
    for (const char* context : {"", "b"}) {
      const auto access = kube::read_kubeconfig("/etc/railbed/kubeconfig", text, {context, least});
      if (access)
        check_access(*access, least);
      else if (access.error().message.empty())
        std::abort();
    }
  return 0;
}

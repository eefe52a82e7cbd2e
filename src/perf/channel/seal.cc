// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/seal.h"

#include <tuple>

namespace railbed::perf {
namespace {

Result<Mac> mac_of(const Mac& key, uint64_t number, std::string_view message) {
  std::string text;
  text.reserve(sizeof(number) + message.size());
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
  text += message;
  return hmac_sha256(key.view(), text);
}

}  // namespace

Result<std::string> Seal::seal(std::string_view message) {
  const Mac mac = TRY(mac_of(out_, sent_, message));
  ++sent_;
  return std::string(message).append(mac.view());
}

Result<std::string> Seal::open(std::string_view body) {
  const size_t size = body.size() - std::min(body.size(), std::tuple_size_v<decltype(Mac::bytes)>);
  const std::string_view message = body.substr(0, size);
  const Mac wanted = TRY(mac_of(in_, received_, message));
  if (!TRY(same_mac(wanted, body.substr(size))))
    return fail(Error{.code = Code::kDenied,
                      .message = fmt::format("message {} of this connection has a wrong MAC", received_ + 1),
                      .hint = "a device between the two sides changes, adds or replays messages"});
  ++received_;
  return std::string(message);
}

}  // namespace railbed::perf

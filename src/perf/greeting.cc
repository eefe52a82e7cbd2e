// SPDX-License-Identifier: Apache-2.0
#include "perf/greeting.h"

namespace railbed::perf {
namespace {

// What is compared takes as long for a wrong first character as for a wrong last one.
bool same_token(std::string_view given, std::string_view wanted) {
  unsigned different = given.size() != wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i)
    different |= static_cast<unsigned char>(wanted[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : 0);
  return different == 0;
}

}  // namespace

Result<void> check_hello(const Hello& hello, std::string_view token) {
  if (hello.protocol != kProtocol)
    return fail(
        Error{.code = Code::kUnsupported,
              .message = fmt::format("the client (railbed {}) speaks protocol {}, this server (railbed {}) speaks {}",
                                     hello.version, hello.protocol, RAILBED_VERSION, kProtocol),
              .hint = "use the same railbed on both sides"});
  if (!token.empty() && !same_token(hello.token, token))
    return fail(Error{.code = Code::kDenied,
                      .message = hello.token.empty() ? "this server wants a token" : "the token is not this server's",
                      .hint = "give the client the server's token with --token-file"});
  return {};
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// The real way to an API server: HTTP/2 over TLS, by libcurl.
//
// Why: all requests and watches share one connection (a watch costs a stream, not a connection), and one thread moves
// them all, so that a caller who is slow holds up nobody else. Credentials are asked for at each request; after a 401
// with ones that were renewed meanwhile, it is made once more. A stream that its reader does not empty is cut at a
// bound: pausing it would not do, since libcurl (7.88, HTTP/2) then holds another 32 MiB per stream. Answers are not
// compressed: none is asked for in another encoding. A dead peer is found out by TCP (TCP_USER_TIMEOUT, keep-alive)
// where packets vanish, by a request's deadline or a stream's silence where the peer lives and says nothing; after that
// the next request takes a connection of its own. Redirects are not followed, proxies come from the kubeconfig only,
// answers are bounded. Threading: any thread; one thread of its own. Failure: as Transport says. Source:
// libcurl-multi(3).
#pragma once

#include <memory>

#include "kube/credentials.h"
#include "kube/transport.h"

namespace railbed::kube {

struct CurlSettings {
  std::string user_agent = "railbed/" RAILBED_VERSION;
  milliseconds connect_timeout{5000};
  milliseconds unacknowledged{10000};  // TCP_USER_TIMEOUT
};

// `credentials` outlives it.
Result<std::unique_ptr<Transport>> make_curl_transport(Credentials& credentials, const CurlSettings& settings = {});

}  // namespace railbed::kube

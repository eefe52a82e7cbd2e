// SPDX-License-Identifier: Apache-2.0
// The real transport to an API server: HTTP/2 over TLS, with libcurl.
//
// Why: all requests and watches share one connection (a watch costs a stream, not a connection), and one thread drives
// them all, so that a slow caller does not block others. Credentials are queried at each request; after a 401, if they
// were renewed in the meantime, the request is sent once more. A stream whose reader does not drain it is cut at a
// limit: pausing it would not help, since libcurl (7.88, HTTP/2) then holds another 32 MiB per stream. Answers are not
// compressed: no encoding is requested. A dead peer is detected by TCP (TCP_USER_TIMEOUT, keep-alive) if packets are
// lost, and by a request's deadline or a stream's silence if the peer is alive and silent; after that the next request
// opens a new connection. Redirects are not followed, proxies come from the kubeconfig only, answers are limited in
// size.
// Threading: any thread; has one thread of its own.
// Failure: as Transport says.
// Source: libcurl-multi(3).
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

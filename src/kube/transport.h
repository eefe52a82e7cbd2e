// SPDX-License-Identifier: Apache-2.0
// Carries requests to an API server and returns the answers.
//
// Why: everything above it (retries, watches, caches, leases) is tested against an API server in memory (fake/), and
// the HTTP library has one user (curl_transport.h). Addresses, certificates and tokens are handled by the transport: a
// request has only its path.
// Threading: any thread; a call blocks its caller until the answer, the deadline or `stop`, regardless of the server.
// Failure: an answer with a status other than 2xx is an ApiError with that status; without an answer its status is 0
// and the code Timeout, Canceled, Denied (certificates), Invalid (configuration), Exhausted (too large), Busy (next())
// or Io.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "kube/api_error.h"
#include "kube/clock.h"

namespace railbed::kube {

enum class Method : uint8_t { kGet, kPost, kPut, kPatch, kDelete };
std::string_view method_name(Method method);

struct Request {
  Method method = Method::kGet;
  std::string target;        // path and query
  std::string content_type;  // of the body
  std::string body;
  milliseconds timeout{30000};    // until the whole answer is there; of a stream, until it begins
  milliseconds silence{90000};    // of a stream, how long it may say nothing
  size_t most_bytes = 64u << 20;  // of an answer: Exhausted; of a stream, that wait to be read: Busy

  std::string to_string() const;  // "GET /api/v1/pods", without the query
};

struct Response {
  int status = 0;
  std::string body;
};

// An answer that goes on. Closed by its destructor.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // The next bytes, as they came, cut anywhere; empty at the orderly end. One thread.
  // After Busy, the server sends faster than this is called, the same may be asked for again.
  virtual Answer<std::string> next(std::stop_token stop) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Answer<Response> send(const Request& request, std::stop_token stop) = 0;
  virtual Answer<std::unique_ptr<ByteStream>> open(const Request& request, std::stop_token stop) = 0;
};

}  // namespace railbed::kube

// SPDX-License-Identifier: Apache-2.0
// A few pages over HTTP: metrics, and whether the agent is healthy.
//
//   GET /metrics HTTP/1.1  ─►  one thread, one epoll  ─►  the page, at most a second old  ─►  the connection is closed
//
// Why not a web server library: the packaged ones (civetweb behind prometheus-cpp) give a thread to each connection for
// an unlimited time, and any user of the machine may connect: one that sends a byte a second would block a kubelet's
// probe. Here a client has five seconds for everything, and if there are too many the oldest one is closed, so that
// idle clients cost nothing. Pages are built at most once a second, regardless of the number of requests. Bodies,
// headers and second requests on a connection are not supported.
// Threading: open() and the destructor from one thread; pages are called in the server's.
// Failure: of listening.
// Source: RFC 9112.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/ip.h"

namespace railbed::agent {

struct HttpReply {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};
using HttpPages = std::map<std::string, std::function<HttpReply()>, std::less<>>;  // by path: "/metrics"

struct HttpOptions {
  size_t most_clients = 64;
  std::chrono::milliseconds client_time{5'000};
  std::chrono::milliseconds page_age{1'000};
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> open(const IpAddress& address, uint16_t port, HttpPages pages,
                                                  HttpOptions options = {});
  ~HttpServer();
  uint16_t port() const;

 private:
  struct Loop;
  explicit HttpServer(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

// The first line of a request; `head` goes up to the empty line behind the headers.
struct HttpRequestLine {
  std::string method;
  std::string path;  // without the query
  friend bool operator==(const HttpRequestLine&, const HttpRequestLine&) = default;
};
std::optional<HttpRequestLine> read_request_line(std::string_view head);

}  // namespace railbed::agent

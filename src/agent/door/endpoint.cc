// SPDX-License-Identifier: Apache-2.0
#include "agent/door/endpoint.h"

#include <cerrno>

#include "base/command.h"
#include "base/number.h"

namespace railbed::agent {

namespace {

struct Endpoint {
  IpAddress address;
  uint16_t port = 0;
};

// "127.0.0.1:9470", "[::1]:9470".
Result<Endpoint> endpoint_of(const std::string& text) {
  const char* form = "use ADDRESS:PORT, as in 127.0.0.1:9470 or [::1]:9470, or off";
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return fail(Error{.code = Code::kInvalid, .message = fmt::format("\"{}\" has no port", text), .hint = form});
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  auto address = IpAddress::parse(host);
  if (!address.has_value() || bracketed != (address->family == IpFamily::kV6))
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("\"{}\" is not an IP address", text.substr(0, colon)),
                      .hint = form});
  Endpoint endpoint{.address = *address};
  const auto port = whole_number<uint16_t>(std::string_view(text).substr(colon + 1));
  if (!port)
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("\"{}\" is not a port: a port is a number up to 65535", text.substr(colon + 1)),
              .hint = form});
  endpoint.port = *port;
  return endpoint;
}

std::string why_not_listening(int sys_errno, uint16_t port) {
  switch (sys_errno) {
    case EADDRINUSE:
      return fmt::format("`{}` shows its process; use another port, or off",
                         Command{"ss", "-ltnp", "sport", "="}.value(fmt::format(":{}", port)));
    case EADDRNOTAVAIL:
      return "no interface of this machine has that address; 127.0.0.1 always works";
    case EACCES:
      return "ports below 1024 require CAP_NET_BIND_SERVICE; use another one, or off";
    default:
      return "use another address, or off";
  }
}

}  // namespace

Result<std::unique_ptr<HttpServer>> serve_at(const std::string& address, HttpPages pages) {
  const Endpoint endpoint = TRY(endpoint_of(address));
  auto server = HttpServer::open(endpoint.address, endpoint.port, std::move(pages));
  if (!server.has_value()) server.error().hint = why_not_listening(server.error().sys_errno, endpoint.port);
  return server;
}

Result<std::unique_ptr<HttpServer>> serve_metrics(const Metrics& metrics, const std::string& address, HttpPages pages) {
  pages["/metrics"] = [&metrics] {
    return HttpReply{.body = metrics.text(), .content_type = std::string(kMetricsFormat)};
  };
  return serve_at(address, std::move(pages)).context("--metrics {}", address);
}

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// An API server in memory behind a socket on loopback, with a kubeconfig: for verbs that ask one. Only included by
// tests.
//
// Threading: its own thread answers, one connection after the other. Failure: none; a request that cannot be read gets
// no answer.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/format.h"
#include "kube/fake/api_server.h"

namespace railbed {

class FakeCluster {
 public:
  // The kubeconfig is written to `kubeconfig`.
  explicit FakeCluster(const std::filesystem::path& kubeconfig) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    listen(listener_, 16);
    std::ofstream(kubeconfig) << fmt::format(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n"
        "users: [{{name: u, user: {{}}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n",
        ntohs(address.sin_port));
    thread_ = std::jthread([this] { serve(); });
  }
  ~FakeCluster() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  FakeCluster(const FakeCluster&) = delete;
  FakeCluster& operator=(const FakeCluster&) = delete;

  kube::fake::ApiServer server;

 private:
  static kube::Method method_of(const std::string& name) {
    for (const kube::Method one :
         {kube::Method::kPost, kube::Method::kPut, kube::Method::kPatch, kube::Method::kDelete})
      if (kube::method_name(one) == name) return one;
    return kube::Method::kGet;
  }

  void serve() {
    for (int connection = 0; (connection = accept(listener_, nullptr, nullptr)) >= 0; close(connection))
      answer(connection);
  }

  void answer(int connection) {
    std::string text;
    size_t end = 0;  // of the head
    for (size_t body = 0; end == 0 || text.size() < end + body;) {
      char piece[65536];
      const ssize_t count = read(connection, piece, sizeof piece);
      if (count <= 0) return;
      text.append(piece, static_cast<size_t>(count));
      if (end != 0 || text.find("\r\n\r\n") == std::string::npos) continue;
      end = text.find("\r\n\r\n") + 4;
      if (const size_t length = text.find("Content-Length: "); length < end)
        body = std::stoul(text.substr(length + 16));
    }
    const size_t space = text.find(' ');
    kube::Request request{.method = method_of(text.substr(0, space)),
                          .target = text.substr(space + 1, text.find(' ', space + 1) - space - 1),
                          .content_type = "application/json",
                          .body = text.substr(end)};
    const auto answered = server.send(request, {});
    const std::string body = answered ? answered->body : R"({"kind": "Status", "message": "refused"})";
    const std::string out = fmt::format(
        "HTTP/1.1 {} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
        answered ? answered->status : answered.error().status, body.size(), body);
    if (write(connection, out.data(), out.size()) < 0) return;
  }

  int listener_;
  std::jthread thread_;
};

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// The pages with real sockets, and clients that misbehave.
#include "agent/door/http.h"

#include <atomic>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/real/descriptor.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

class Browser {
 public:
  explicit Browser(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    const timeval patience{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  bool send(std::string_view text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  std::string read_all() const {
    std::string all;
    char part[4096];
    for (ssize_t got; (got = ::recv(socket_.get(), part, sizeof part, 0)) > 0;)
      all.append(part, static_cast<size_t>(got));
    return all;
  }

 private:
  os::Descriptor socket_;
};

std::string ask(uint16_t port, std::string_view request) {
  const Browser browser(port);
  browser.send(request);
  return browser.read_all();
}

std::unique_ptr<HttpServer> serve(HttpPages pages, HttpOptions options = {}) {
  auto server = HttpServer::open(*IpAddress::parse("127.0.0.1"), 0, std::move(pages), options);
  EXPECT_TRUE(server.has_value()) << server.error().to_string();
  return *std::move(server);
}

TEST(HttpRequestLine, IsReadOrRefused) {
  EXPECT_EQ(read_request_line("GET /readyz?verbose=1 HTTP/1.1\r\nHost: x\r\n\r\n"),
            (HttpRequestLine{"GET", "/readyz"}));
  EXPECT_EQ(read_request_line("HEAD / HTTP/1.0\n\n"), (HttpRequestLine{"HEAD", "/"}));
  for (const char* head : {"", "\r\n\r\n", "GET", "GET /", "GET / ", "GET  HTTP/1.1", " / HTTP/1.1", "GET / FTP/1.1",
                           "GET a HTTP/1.1", "GET /a b HTTP/1.1", "GET http://x/ HTTP/1.1", "PRI * HTTP/2.0"})
    EXPECT_FALSE(read_request_line(head).has_value()) << head;
}

TEST(HttpServer, AnswersWhatItHas) {
  const auto server = serve({{"/readyz", [] { return HttpReply{.status = 503, .body = "the disk is full\n"}; }},
                             {"/odd", []() -> HttpReply { throw std::runtime_error("a defect"); }}});
  const std::string ready = ask(server->port(), "GET /readyz?x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(ready.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << ready;
  EXPECT_NE(ready.find("\r\nContent-Length: 17\r\n"), std::string::npos) << ready;
  EXPECT_TRUE(ready.ends_with("\r\n\r\nthe disk is full\n")) << ready;
  EXPECT_TRUE(ask(server->port(), "HEAD /readyz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
  const std::pair<std::string, const char*> refused[] = {
      {"GET /nothing HTTP/1.1\r\n\r\n", "404 Not Found"},
      {"POST /readyz HTTP/1.1\r\n\r\n", "405 Method Not Allowed"},
      {"nonsense\r\n\r\n", "400 Bad Request"},
      {"GET /odd HTTP/1.1\r\n\r\n", "500 Internal Server Error"},
      {"GET /" + std::string(9000, 'x'), "431 Request Header Fields Too Large"}};
  for (const auto& [request, status] : refused)
    EXPECT_TRUE(ask(server->port(), request).starts_with(std::string("HTTP/1.1 ") + status)) << status;
}

TEST(HttpServer, MakesAPageOnceHoweverOftenItIsAskedFor) {
  std::atomic<int> made = 0;
  const auto server =
      serve({{"/", [&] { return HttpReply{.body = std::to_string(++made)}; }}}, {.page_age = std::chrono::hours(1)});
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(ask(server->port(), "GET / HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n1"));
  EXPECT_EQ(made, 1);
}

TEST(HttpServer, GoesOnWhenThereAreDescriptorsAgain) {
  const auto server = serve({{"/", [] { return HttpReply{.body = "here"}; }}});
  const Browser early(server->port());  // accepted before the next one, which has its answer
  early.send("GET / HT");
  EXPECT_TRUE(ask(server->port(), "GET / HTTP/1.1\r\n\r\n").ends_with("here"));
  const int next = os::Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next) + 1;  // one for the browser, none for the server
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Browser browser(server->port());
  browser.send("GET / HTTP/1.1\r\n\r\n");
  // Clients are served in the order in which they come: the other one could not be accepted when this one is answered.
  early.send("TP/1.1\r\n\r\n");
  EXPECT_TRUE(early.read_all().ends_with("here"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(browser.read_all().ends_with("\r\n\r\nhere"));
}

TEST(HttpServer, SlowClientsCostNothing) {
  std::atomic<std::chrono::steady_clock::time_point> now = std::chrono::steady_clock::now();
  const auto server = serve({{"/", [] { return HttpReply{.body = std::string(8 << 20, 'x')}; }}},
                            {.most_clients = 8, .client_time = milliseconds(2000), .now = [&] { return now.load(); }});
  std::vector<std::unique_ptr<Browser>> slow;
  for (int i = 0; i < 40; ++i) {  // many more than are kept
    slow.push_back(std::make_unique<Browser>(server->port()));
    slow.back()->send(i % 2 == 0 ? "GET / HT" : "GET / HTTP/1.1\r\n\r\n");  // half of it, or the answer is not taken
  }
  EXPECT_GT(ask(server->port(), "GET / HTTP/1.1\r\n\r\n").size(), 8U << 20);
  EXPECT_EQ(slow.front()->read_all(), "");  // it had to go
  now = now.load() + milliseconds(2000);
  EXPECT_GT(ask(server->port(), "GET / HTTP/1.1\r\n\r\n").size(), 8U << 20);  // whose coming wakes the server
  EXPECT_LT(slow.back()->read_all().size(), 8U << 20);                        // its time was up
}

}  // namespace
}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// The transport against a server on loopback that answers as each test says; TLS and HTTP/2 are tests/cluster's.
#include "kube/curl_transport.h"

#include <algorithm>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace railbed::kube {
namespace {

using std::chrono::seconds;

// Gives each connection that comes the next of the prepared answers, once its request's head is there; then the
// connection stays open until the server ends, or is closed where the answer is empty.
class Server {
 public:
  explicit Server(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    listen(listener_, 16);
    url = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
    thread_ = std::jthread([this] { serve(); });
  }
  ~Server() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url;
  std::vector<std::string> heads;  // of requests; read it after the server's end or the answer

 private:
  void serve() {
    std::vector<int> open;
    for (size_t next = 0;; ++next) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) break;
      std::string head;
      char piece[4096];
      while (head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = read(connection, piece, sizeof piece);
        if (count <= 0) break;
        head.append(piece, static_cast<size_t>(count));
      }
      heads.push_back(head);
      const std::string& answer = answers_[std::min(next, answers_.size() - 1)];
      if (answer.empty()) {
        close(connection);
        continue;
      }
      EXPECT_EQ(send(connection, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
      open.push_back(connection);
    }
    for (const int each : open) close(each);
  }
  std::vector<std::string> answers_;
  int listener_ = -1;
  std::jthread thread_;
};

std::string answer(const std::string& status, const std::string& body, const std::string& headers = "") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}", status, body.size(), headers,
                     body);
}

struct Way {
  explicit Way(const std::string& url, CurlSettings settings = {}, Secret token = {}, ReadFile read = {})
      : credentials({.server = url, .token = std::move(token)}, std::move(read), *clock),
        transport(make_curl_transport(credentials, settings).value()) {}
  std::unique_ptr<Clock> clock = real_clock();
  Credentials credentials;
  std::unique_ptr<Transport> transport;
};

TEST(CurlTransport, SendsAndAnswers) {
  Server server({answer("201 Created", "{\"a\":1}")});
  Way way(server.url + "/prefix", {}, {.data = "secret"});
  const auto got = way.transport->send(
      {.method = Method::kPost, .target = "/api/v1/x?y=1", .content_type = "application/json", .body = "{}"}, {});
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(got->status, 201);
  EXPECT_EQ(got->body, "{\"a\":1}");
  const std::string& head = server.heads.at(0);
  EXPECT_TRUE(head.starts_with("POST /prefix/api/v1/x?y=1 HTTP/1.1\r\n")) << head;
  for (const char* line : {"Authorization: Bearer secret\r\n", "Content-Type: application/json\r\n",
                           "Accept: application/json\r\n", "User-Agent: railbed/", "Content-Length: 2\r\n"})
    EXPECT_NE(head.find(line), std::string::npos) << line << head;
}

TEST(CurlTransport, TellsRefusalsWithTheTimeToComeBack) {
  Server server({answer("429 Too Many Requests", "slow down", "Retry-After: 7\r\n")});
  Way way(server.url);
  const auto got = way.transport->send({.target = "/x"}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "GET /x: 429: slow down");
  EXPECT_EQ(got.error().retry_after, seconds(7));
  EXPECT_EQ(got.error().delivery, Delivery::kAnswered);
}

TEST(CurlTransport, WaitsMinutesAtMost) {
  Server server({answer("429 Too Many Requests", "slow down", "Retry-After: 1000000\r\n")});
  Way way(server.url);
  const auto got = way.transport->send({.target = "/x"}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().retry_after, kLongestRetryAfter);
}

TEST(CurlTransport, KnowsWhatWasNotSent) {
  std::string url;
  {
    url = Server({""}).url;
  }
  Way nobody(url);
  const auto got = nobody.transport->send({.target = "/x"}, {});
  EXPECT_EQ(got.error().delivery, Delivery::kNotSent);
  EXPECT_EQ(got.error().hint, "is the API server running, and its address right?");
  Server hangs_up({""});
  Way way(hangs_up.url);
  EXPECT_EQ(way.transport->send({.target = "/x"}, {}).error().delivery, Delivery::kUnknown);
}

TEST(CurlTransport, EndsByItsDeadlineAndWhenAsked) {
  Server silent({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"});
  Way way(silent.url);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(way.transport->send({.target = "/x", .timeout = milliseconds(200)}, {}).error().code, Code::kTimeout);
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(way.transport->send({.target = "/x", .timeout = seconds(600)}, stop.get_token()).error().code,
            Code::kCanceled);
  // Wide, for real sockets on a slow machine: its own deadline is ten minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(120));
}

TEST(CurlTransport, StreamsAsBytesCome) {
  const std::string begin = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  Server server({begin + "5\r\nhello\r\n", begin + "5\r\nhello\r\n0\r\n\r\n", begin});
  Way way(server.url);
  const Request request{.target = "/x?watch=true", .timeout = seconds(60), .silence = milliseconds(200)};
  for (const bool ends : {false, true}) {
    const auto stream = way.transport->open(request, {});
    ASSERT_TRUE(stream) << stream.error().to_string();
    EXPECT_EQ((*stream)->next({}).value(), "hello");
    const auto after = (*stream)->next({});
    if (ends)
      EXPECT_EQ(after.value(), "");
    else
      EXPECT_EQ(after.error().message, "GET /x: the server said nothing for 200 ms");
  }
  // Only the headers: the stream has begun, and nobody waits for its first event.
  const Request patient{.target = "/x?watch=true", .timeout = seconds(600), .silence = milliseconds(200)};
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(way.transport->open(patient, {}).has_value());
  // Wide, for real sockets on a slow machine: who waited for an event would wait for ten minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(120));
}

TEST(CurlTransport, AStreamThatDoesNotBeginEndsByItsDeadlineAndWhenAsked) {
  Server silent({"HTTP/1.1 200 OK\r\n"});
  Way way(silent.url);
  const Request request{.target = "/x?watch=true", .timeout = milliseconds(100)};
  EXPECT_EQ(way.transport->open(request, {}).error().message, "GET /x: no answer within 100 ms");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(way.transport->open(request, stop.get_token()).error().message, "GET /x: asked to stop");
}

TEST(CurlTransport, BoundsWhatItKeeps) {
  Server server({answer("200 OK", std::string(5000, 'x'))});
  Way way(server.url, {.max_answer_bytes = 1000});
  const auto got = way.transport->send({.target = "/x"}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kExhausted) << got.error().to_string();
}

TEST(CurlTransport, AsksAgainWithARenewedToken) {
  Server server({answer("401 Unauthorized", ""), answer("200 OK", "{}")});
  std::string token = "old";
  const ReadFile read = [&](const std::string&) -> Result<std::string> { return std::exchange(token, "new"); };
  Way way(server.url, {}, {.file = "/token"}, read);
  const auto got = way.transport->send({.target = "/x"}, {});
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_NE(server.heads.at(0).find("Bearer old"), std::string::npos);
  EXPECT_NE(server.heads.at(1).find("Bearer new"), std::string::npos);
}

TEST(CurlTransport, ManyCallersAtOnce) {
  Server server({answer("200 OK", "{}")});
  Way way(server.url);
  std::vector<std::jthread> callers;
  std::atomic<int> good = 0;
  for (int i = 0; i < 50; ++i)
    callers.emplace_back([&] { good += way.transport->send({.target = "/x"}, {}).has_value() ? 1 : 0; });
  callers.clear();
  EXPECT_EQ(good, 50);
}

}  // namespace
}  // namespace railbed::kube

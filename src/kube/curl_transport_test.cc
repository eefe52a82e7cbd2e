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
      // A client that has had enough closes before all of it is sent.
      (void)send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
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

TEST(CurlTransport, ReportsRefusalsWithTheTimeToComeBack) {
  Server server({answer("429 Too Many Requests", "slow down", "Retry-After: 7\r\n")});
  Way way(server.url);
  const auto got = way.transport->send({.target = "/x"}, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "GET /x: 429: slow down");
  EXPECT_EQ(got.error().retry_after, seconds(7));
  EXPECT_EQ(got.error().delivery, Delivery::kAnswered);
}

TEST(CurlTransport, WaitsMinutesAtMost) {
  const struct {
    const char* header;
    std::optional<milliseconds> wanted;
  } cases[] = {
      {"299", seconds(299)},
      {"1000000", kLongestRetryAfter},
      {"9223372036854775807", kLongestRetryAfter},
      {"99999999999999999999999999", std::nullopt},
      {"Fri, 31 Dec 9999 23:59:59 GMT", kLongestRetryAfter},
      {"Fri, 31 Dec 1999 23:59:59 GMT", std::nullopt},
      {"0", std::nullopt},
      {"-5", std::nullopt},
      {"-9223372036854775808", std::nullopt},
      {"soon", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& each : cases) {
    Server server({answer("429 Too Many Requests", "slow down", fmt::format("Retry-After: {}\r\n", each.header))});
    Way way(server.url);
    const auto got = way.transport->send({.target = "/x"}, {});
    ASSERT_FALSE(got) << each.header;
    EXPECT_EQ(got.error().retry_after, each.wanted) << each.header;
  }
}

TEST(CurlTransport, KnowsWhatWasNotSent) {
  std::string url;
  {
    url = Server({""}).url;
  }
  Way unserved(url);
  const auto got = unserved.transport->send({.target = "/x"}, {});
  EXPECT_EQ(got.error().delivery, Delivery::kNotSent);
  EXPECT_EQ(got.error().hint, "check that the API server is running and its address is correct");
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
      EXPECT_EQ(after.error().message, "GET /x: no data from the server for 200 ms");
  }
  // Only the headers: the stream has begun, and its first event is not waited for.
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
  std::string headers;
  for (int i = 0; i < 100; ++i) headers += fmt::format("X-{}: {}\r\n", i, std::string(8000, 'y'));
  const struct {
    std::string answer;
    Code code;
    std::string message;
  } cases[] = {
      {answer("200 OK", std::string(5000, 'x')), Code::kExhausted,
       "GET /x: the answer is too large: more than 1000 bytes; check the API server and any proxy in front of it"},
      {answer("200 OK", "{}", headers), Code::kExhausted,
       "GET /x: the answer has headers that are too large: more than 262144 bytes; check the API server and any proxy "
       "in front of it"},
      {answer("403 Forbidden", std::string(5000, 'x')), Code::kDenied, "GET /x: 403: " + std::string(300, 'x')},
  };
  for (const auto& each : cases) {
    Server server({each.answer});
    Way way(server.url);
    const auto got = way.transport->send({.target = "/x", .most_bytes = 1000}, {});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, each.code) << got.error().to_string();
    EXPECT_EQ(got.error().message, each.message);
    EXPECT_EQ(server.heads.at(0).find("Accept-Encoding"), std::string::npos) << "answers are not compressed";
  }
}

// The server sends faster than it is read. What came before the cut is there, whole and in its order.
TEST(CurlTransport, CutsAStreamThatIsNotReadAtItsBound) {
  std::string lines;
  for (int i = 0; lines.size() < (4 << 20); ++i) lines += fmt::format("line {}\n", i);
  Server server({answer("200 OK", lines)});
  Way way(server.url);
  const auto stream =
      way.transport->open({.target = "/x?watch=true", .timeout = seconds(60), .most_bytes = 20'000}, {});
  ASSERT_TRUE(stream) << stream.error().to_string();
  // All of another answer goes through the thread that moves both; the stream is cut meanwhile.
  ASSERT_TRUE(way.transport->send({.target = "/x", .most_bytes = 8u << 20}, {}).has_value());
  std::string got;
  size_t most_held = 0;
  while (true) {
    const auto piece = (*stream)->next({});
    if (!piece) {
      EXPECT_EQ(piece.error().code, Code::kBusy);
      EXPECT_EQ(piece.error().message,
                "GET /x: the server sends faster than it is read: more than 20000 bytes wait; check the "
                "API server and any proxy in front of it");
      break;
    }
    ASSERT_FALSE(piece->empty()) << "it is not the orderly end";
    most_held = std::max(most_held, piece->size());
    got += *piece;
  }
  EXPECT_EQ(most_held, 20'000U);
  EXPECT_TRUE(lines.starts_with(got));
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

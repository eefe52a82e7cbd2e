// SPDX-License-Identifier: Apache-2.0
#include "agent/door/http.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "agent/door/loop.h"
#include "os/real/tcp_port.h"
#include "os/real/unix_socket.h"

namespace railbed::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMostHeadBytes = 8 << 10;
constexpr int kMostReadersAtOnce = 16;

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

bool head_is_whole(std::string_view text) {
  return text.find("\r\n\r\n") != std::string_view::npos || text.find("\n\n") != std::string_view::npos;
}

}  // namespace

std::optional<HttpRequestLine> read_request_line(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || first == 0) return std::nullopt;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!line.substr(last + 1).starts_with("HTTP/1.") || !target.starts_with('/') ||
      target.find(' ') != std::string_view::npos)
    return std::nullopt;
  return HttpRequestLine{std::string(line.substr(0, first)), std::string(target.substr(0, target.find('?')))};
}

struct HttpServer::Loop {
  struct Client {
    os::Connection connection;
    Clock::time_point deadline;
    std::string in;
    std::string out;  // empty: the request is still being read
    size_t written = 0;
  };
  struct Made {
    HttpReply reply;
    Clock::time_point at;
  };

  os::TcpListener listener;
  HttpPages pages;
  HttpOptions options;
  os::Poller poller;
  os::Waker waker;
  std::map<uint64_t, Client> clients;  // the oldest first
  std::map<std::string, Made, std::less<>> made;
  uint64_t next_key = kFirstFreeKey;
  Clock::time_point rest_until{};
  std::vector<char> buffer = std::vector<char>(4096);
  std::jthread thread;  // last member, because it uses the others

  void run(const std::stop_token& stop);
  void accept_some();
  void read(uint64_t key, Client& client);
  void answer(uint64_t key, Client& client, int status);
  void answer(uint64_t key, Client& client, const HttpReply& reply, bool with_body);
  void write(uint64_t key, Client& client);
  void drop(uint64_t key);
  void drop_late(Clock::time_point now);
  milliseconds until_next(Clock::time_point now) const;
  const HttpReply& page(const std::string& path, const std::function<HttpReply()>& make);
};

const HttpReply& HttpServer::Loop::page(const std::string& path, const std::function<HttpReply()>& make) {
  const auto known = made.find(path);
  if (known != made.end() && options.now() - known->second.at < options.page_age) return known->second.reply;
  HttpReply reply;
  try {
    reply = make();
  } catch (const std::exception& thrown) {
    reply = {.status = 500, .body = fmt::format("{}\n", thrown.what())};
  }
  return made.insert_or_assign(path, Made{std::move(reply), options.now()}).first->second.reply;
}

void HttpServer::Loop::accept_some() {
  for (int i = 0; i < kMostReadersAtOnce; ++i) {
    auto next = listener.accept();
    if (!next.has_value()) {
      poller.remove(listener.fd());
      rest_until = options.now() + kAcceptRest;
      return;
    }
    if (!next->has_value()) return;
    if (clients.size() >= options.most_clients) drop(clients.begin()->first);
    const uint64_t key = next_key++;
    Client& client = clients.emplace(key, Client{.connection = std::move(**next)}).first->second;
    client.deadline = options.now() + options.client_time;
    if (!poller.add(client.connection.fd(), key, os::Await::kRead)) drop(key);
  }
}

void HttpServer::Loop::read(uint64_t key, Client& client) {
  const auto got = client.connection.read_some(buffer);
  if (got.has_value() && !got->has_value()) return;
  if (!got.has_value() || **got == 0) return drop(key);
  client.in.append(buffer.data(), **got);
  if (!head_is_whole(client.in)) {
    if (client.in.size() > kMostHeadBytes) answer(key, client, 431);
    return;
  }
  const auto line = read_request_line(client.in);
  if (!line.has_value()) return answer(key, client, 400);
  if (line->method != "GET" && line->method != "HEAD") return answer(key, client, 405);
  const auto found = pages.find(line->path);
  if (found == pages.end()) return answer(key, client, 404);
  answer(key, client, page(found->first, found->second), line->method == "GET");
}

void HttpServer::Loop::answer(uint64_t key, Client& client, int status) {
  answer(key, client, {.status = status, .body = fmt::format("{}\n", reason(status))}, true);
}

void HttpServer::Loop::answer(uint64_t key, Client& client, const HttpReply& reply, bool with_body) {
  client.out = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n{}",
      reply.status, reason(reply.status), reply.content_type, reply.body.size(), with_body ? reply.body : "");
  write(key, client);
}

void HttpServer::Loop::write(uint64_t key, Client& client) {
  const auto put = client.connection.write_some(std::string_view(client.out).substr(client.written));
  if (!put.has_value()) return drop(key);
  client.written += *put;
  if (client.written == client.out.size()) return drop(key);
  if (!poller.add(client.connection.fd(), key, os::Await::kWrite)) drop(key);
}

void HttpServer::Loop::drop(uint64_t key) {
  const auto found = clients.find(key);
  if (found == clients.end()) return;
  poller.remove(found->second.connection.fd());
  clients.erase(found);
}

// All have the same time, so the oldest are the late ones.
void HttpServer::Loop::drop_late(Clock::time_point now) {
  while (!clients.empty() && clients.begin()->second.deadline <= now) drop(clients.begin()->first);
}

milliseconds HttpServer::Loop::until_next(Clock::time_point now) const {
  Clock::time_point next = now + kLoopIdle;
  if (!clients.empty()) next = std::min(next, clients.begin()->second.deadline);
  if (rest_until > now) next = std::min(next, rest_until);
  return std::max(std::chrono::ceil<milliseconds>(next - now), milliseconds(0));
}

void HttpServer::Loop::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const uint64_t key : poller.wait(until_next(options.now()))) {
      if (key == kListenerKey) accept_some();
      if (key == kWakerKey) waker.clear();
      const auto found = clients.find(key);
      if (found == clients.end()) continue;
      if (found->second.out.empty())
        read(key, found->second);
      else
        write(key, found->second);
    }
    const auto now = options.now();
    drop_late(now);
    if (rest_until == Clock::time_point{} || rest_until > now) continue;
    rest_until = poller.add(listener.fd(), kListenerKey, os::Await::kRead) ? Clock::time_point{} : now + kAcceptRest;
  }
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const IpAddress& address, uint16_t port, HttpPages pages,
                                                     HttpOptions options) {
  os::TcpListener listener = TRY(os::TcpListener::open(address, port));
  auto loop = std::unique_ptr<Loop>(
      new Loop{.listener = std::move(listener), .pages = std::move(pages), .options = std::move(options)});
  TRY(loop->poller.add(loop->listener.fd(), kListenerKey, os::Await::kRead));
  TRY(loop->poller.add(loop->waker.fd(), kWakerKey, os::Await::kRead));
  try {
    loop->thread = std::jthread([own = loop.get()](const std::stop_token& stop) { own->run(stop); });
  } catch (const std::system_error&) {
    return fail(no_thread_error("the HTTP endpoint"));
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

HttpServer::~HttpServer() {
  loop_->thread.request_stop();
  loop_->waker.wake();
}

uint16_t HttpServer::port() const {
  return loop_->listener.port();
}

}  // namespace railbed::agent

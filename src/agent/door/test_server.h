// SPDX-License-Identifier: Apache-2.0
// The agent's socket in a directory of its own, clients of it, and handlers that wait. Only included by tests.
#pragma once

#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/door/server.h"
#include "cni/wire.h"

namespace railbed::agent::server_tests {

// Blocks the handler until open().
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void await_waiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class SocketFolder {
 public:
  SocketFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-serve.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~SocketFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Agent {
 public:
  explicit Agent(Handler handler, ServerOptions options = {}) : path_(folder_ / "agent.sock") {
    if (options.uid == 0) options.uid = getuid();
    auto listener = os::UnixListener::open(path_);
    EXPECT_TRUE(listener.has_value()) << listener.error().to_string();
    server_ = std::make_unique<Server>(std::move(*listener), std::move(handler), std::move(options));
    thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->run(stop).has_value()); });
  }
  void stop() { thread_.request_stop(); }
  void join() { thread_.join(); }
  const std::string& path() const { return path_; }

 private:
  SocketFolder folder_;
  std::string path_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

class Client {
 public:
  explicit Client(const std::string& path) : connection_(*os::Connection::connect(path)) {}
  // False when the agent closed the connection meanwhile.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto put = connection_.write_some(bytes);
      if (!put) return false;
      bytes.remove_prefix(*put);
      if (*put == 0) wait(POLLOUT);
    }
    return true;
  }
  std::string read_all() {
    std::string out;
    char buffer[4096];
    for (;;) {
      auto got = connection_.read_some(buffer);
      if (!got || (*got && **got == 0)) return out;
      if (*got)
        out.append(buffer, **got);
      else
        wait(POLLIN);
    }
  }
  // The descriptors go with the first byte, as the shim's (cni/wire.h).
  void send_with(std::string_view bytes, const std::vector<int>& descriptors) {
    std::vector<char> control(CMSG_SPACE(sizeof(int) * descriptors.size()));
    iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* passed = CMSG_FIRSTHDR(&message);
    passed->cmsg_level = SOL_SOCKET;
    passed->cmsg_type = SCM_RIGHTS;
    passed->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(passed), descriptors.data(), sizeof(int) * descriptors.size());
    ASSERT_EQ(sendmsg(connection_.fd(), &message, 0), static_cast<ssize_t>(bytes.size()));
  }
  void await_answer() { wait(POLLIN); }
  void finish_writing() { shutdown(connection_.fd(), SHUT_WR); }
  cni::WireAnswer answer() {
    const std::string frame = read_all();
    std::string why;
    auto answer = frame.size() < cni::kFrameHeadBytes
                      ? std::nullopt
                      : cni::read_wire_answer(std::string_view(frame).substr(cni::kFrameHeadBytes), why);
    return answer.value_or(cni::WireAnswer{255, "no answer"});
  }

 private:
  void wait(short what) {
    pollfd one{connection_.fd(), what, 0};
    ASSERT_EQ(poll(&one, 1, 20'000), 1) << "the agent neither takes nor gives anything";
  }
  os::Connection connection_;
};

inline std::string frame(const std::string& command, const std::string& id = "c", std::string config = "{}",
                         const std::string& type = "macvlan") {
  return cni::to_frame(cni::WireRequest{
      type,
      {"CNI_COMMAND=" + command, "CNI_CONTAINERID=" + id, "CNI_NETNS=/n", "CNI_IFNAME=e", "CNI_PATH=/p"},
      std::move(config)});
}
// A client that goes again: what is late is looked for when anything happens.
inline void wake(const Agent& agent) {
  const Client unused(agent.path());
}
inline Reply echo(const cni::Request& request) {
  return {.result = request.container_id + ":" + request.config};
}

// What a handler was asked, in order.
class Book {
 public:
  void write(const cni::Request& request) {
    std::lock_guard lock(mutex_);
    lines_.push_back(fmt::format("{} {}", cni::command_name(request.command), request.container_id));
    changed_.notify_all();
  }
  std::vector<std::string> await(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return lines_.size() >= count; }));
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

}  // namespace railbed::agent::server_tests

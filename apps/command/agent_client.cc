// SPDX-License-Identifier: Apache-2.0
#include "command/agent_client.h"

#include <algorithm>
#include <array>

#include "cni/error.h"
#include "cni/wire.h"
#include "doc/json.h"
#include "node/netns_name.h"
#include "os/real/unix_socket.h"

namespace railbed {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswerTime{120'000};
constexpr milliseconds kLockTime{60'000};
// No default network: a pod from manifests has its own namespace and only the networks that it asks for.
constexpr const char* kConfig =
    R"({"cniVersion": "1.1.0", "name": "railbed", "type": "railbed", "unknownPod": "fail"})";

// One request and its answer over one connection.
class Conversation {
 public:
  Conversation(os::Connection connection, os::Clock& clock, const std::string& socket, milliseconds time)
      : connection_(std::move(connection)), clock_(clock), socket_(socket), time_(time), end_(clock.now() + time) {}

  Result<cni::WireAnswer> run(const cni::WireRequest& request) {
    TRY(send(cni::to_frame(request)));
    TRY(receive(cni::kFrameHeadBytes));
    std::string why;
    std::optional<cni::FrameHead> head = cni::read_frame_head(got_, why);
    if (!head.has_value()) return fail(Code::kIo, "{}: {}", socket_, why);
    if (head->kind != cni::FrameKind::kAnswer) return fail(Code::kIo, "{}: the frame is not an answer", socket_);
    got_.clear();
    TRY(receive(head->payload_bytes));
    std::optional<cni::WireAnswer> answer = cni::read_wire_answer(got_, why);
    if (!answer.has_value()) return fail(Code::kIo, "{}: {}", socket_, why);
    return std::move(*answer);
  }

 private:
  Result<void> send(std::string_view bytes) {
    while (!bytes.empty()) {
      size_t taken = TRY(connection_.write_some(bytes));
      bytes.remove_prefix(taken);
      if (taken == 0) TRY(wait(os::Await::kWrite));
    }
    return {};
  }

  Result<void> receive(size_t bytes) {
    std::array<char, 8192> part{};
    while (got_.size() < bytes) {
      std::optional<size_t> count =
          TRY(connection_.read_some(std::span(part.data(), std::min(part.size(), bytes - got_.size()))));
      if (count == 0u) return fail(Code::kIo, "the agent at {} closed the connection before it answered", socket_);
      if (count.has_value())
        got_.append(part.data(), *count);
      else
        TRY(wait(os::Await::kRead));
    }
    return {};
  }

  Result<void> wait(os::Await what) {
    auto left = std::chrono::duration_cast<milliseconds>(end_ - clock_.now());
    if (left.count() <= 0)
      return fail(Code::kTimeout, "the agent at {} did not answer for {} s", socket_, time_.count() / 1000);
    os::Poller poller;
    TRY(poller.add(connection_.fd(), 0, what));
    poller.wait(left);
    return {};
  }

  os::Connection connection_;
  os::Clock& clock_;
  const std::string& socket_;
  milliseconds time_;
  os::Deadline end_;
  std::string got_;
};

// The error in a failed answer.
Error error_of(const std::string& output, const std::string& socket) {
  Error error = cni::read_error(output).value_or(
      Error{.message = fmt::format("the agent at {} refused the request without a reason", socket)});
  error.code = Code::kConflict;
  error.context.emplace_back("the agent");
  return error;
}

}  // namespace

bool agent_listens(const std::string& socket) {
  return os::Connection::connect(socket).has_value();
}

Result<doc::Value> ask_for_report(const std::string& socket, os::Clock& clock, milliseconds time) {
  os::Connection connection = TRY(os::Connection::connect(socket));
  const cni::WireAnswer answer =
      TRY(Conversation(std::move(connection), clock, socket, time)
              .run({.type = std::string(cni::kAgentReport), .environment = {}, .config = {}}));
  if (answer.status != 0) return fail(error_of(answer.output, socket));
  doc::Diagnostics unread;
  auto report = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{socket, answer.output}), unread);
  if (!report.has_value() || !report->is_object())
    return fail(Code::kIo, "the answer of the agent at {} is not a report", socket);
  return std::move(*report);
}

Result<std::unique_ptr<AgentClient>> AgentClient::open(const std::string& socket, state::Store& store, os::Clock& clock,
                                                       milliseconds wait) {
  std::unique_ptr<AgentClient> client(new AgentClient(socket, store, clock));
  client->hold_ = TRY(store.hold(wait).hint("--wait SECONDS waits for the other one"));
  return client;
}

Result<void> AgentClient::attach(const std::string& pod, const std::string& netns_path) {
  return ask("ADD", pod, netns_path);
}

Result<void> AgentClient::detach(const std::string& pod, const std::string& netns_path) {
  return ask("DEL", pod, netns_path);
}

Result<void> AgentClient::ask(const std::string& command, const std::string& pod, const std::string& netns_path) {
  size_t slash = pod.find('/');
  cni::WireRequest request{.type = "railbed", .config = kConfig};
  request.environment = {"CNI_COMMAND=" + command,
                         "CNI_CONTAINERID=" + node::netns_name(pod),
                         "CNI_NETNS=" + netns_path,
                         "CNI_IFNAME=eth0",
                         "CNI_PATH=/opt/cni/bin",
                         fmt::format("CNI_ARGS=K8S_POD_NAMESPACE={};K8S_POD_NAME={}", pod.substr(0, slash),
                                     slash == std::string::npos ? "" : pod.substr(slash + 1))};
  os::Connection connection = TRY(os::Connection::connect(socket_));
  hold_.reset();
  Result<cni::WireAnswer> answer = Conversation(std::move(connection), clock_, socket_, kAnswerTime).run(request);
  hold_ = TRY(store_.hold(kLockTime));
  if (!answer.has_value()) return fail(std::move(answer.error()));
  if (answer->status != 0) return fail(error_of(answer->output, socket_));
  return {};
}

}  // namespace railbed

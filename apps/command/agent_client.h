// SPDX-License-Identifier: Apache-2.0
// `up` and `down` as clients of the running agent.
//
// Why: the state's lock is theirs while they work; the agent needs it to attach a pod. So the lock is let go
// for the time of a request and taken again behind it. Threading: one thread. Failure: what the agent
// answered, with its hint; Timeout when it does not answer.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "doc/value.h"
#include "node/pod_server.h"
#include "os/ports/clock.h"
#include "state/store.h"

namespace railbed {

inline constexpr const char* kAgentSocket = "/run/railbed/agent.sock";

// Whether an agent accepts connections on this socket.
bool agent_listens(const std::string& socket);

// How the agent is, in its own words: {"version", "pid", "notReady": […], "unfenced": […], "events":
// […]}. NotFound where none listens.
Result<doc::Value> ask_for_report(const std::string& socket, os::Clock& clock,
                                  std::chrono::milliseconds time = std::chrono::seconds(5));

class AgentClient : public node::PodServer {
 public:
  // `store` must have been opened with `shared`. Takes its lock, waiting for at most `wait`, and keeps it.
  static Result<std::unique_ptr<AgentClient>> open(const std::string& socket, state::Store& store, os::Clock& clock,
                                                   std::chrono::milliseconds wait);

  Result<void> attach(const std::string& pod, const std::string& netns_path) override;
  Result<void> detach(const std::string& pod, const std::string& netns_path) override;

 private:
  AgentClient(std::string socket, state::Store& store, os::Clock& clock)
      : socket_(std::move(socket)), store_(store), clock_(clock) {}
  Result<void> ask(const std::string& command, const std::string& pod, const std::string& netns_path);

  std::string socket_;
  state::Store& store_;
  os::Clock& clock_;
  std::unique_ptr<state::Hold> hold_;
};

}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// `railbed perf serve`: accepts clients, one session and thread each.
//
// Threading: run() in one thread; stop() from any thread. run() returns when all sessions have ended: finished ones are
// joined as new clients connect, the others are interrupted by stop().
// Failure: of a session: reported to the client and to on_event, and the server continues; the same without file
// descriptors, memory or threads for one more client; of listening: returned.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "perf/session/session.h"

namespace railbed::perf {

struct ServerOptions {
  std::vector<Protocol> protocols;  // what clients can open
  std::optional<IpAddress> bind;
  uint16_t port = 18600;
  bool once = false;  // end after the first session that completed a test
  Turns::Budget budget;
  SessionOptions session;
  std::function<void(const std::string& line)> on_event;  // from the thread of any session
};

// What this machine and its limits leave: half of the free memory, and streams for half of the file descriptors.
Turns::Budget budget_of(const os::FileTree& files);

class Server {
 public:
  // `kernel` outlives the server.
  static Result<std::unique_ptr<Server>> open(os::Kernel& kernel, ServerOptions options);
  uint16_t port() const { return listener_.port(); }
  Result<void> run();
  void stop() {
    stopping_.store(true);
    listener_.interrupt();
  }

 private:
  struct Guest {
    Guest(os::Kernel& kernel, Socket socket, const SessionOptions& options, const Session::Shared& shared)
        : session(kernel, std::move(socket), options, shared) {}
    Session session;
    std::atomic<bool> finished{false};
    std::jthread thread;  // last member, so joined before the session is destroyed
  };
  Server(os::Kernel& kernel, ServerOptions options, Listener listener)
      : kernel_(kernel),
        options_(std::move(options)),
        listener_(std::move(listener)),
        clock_(kernel.files(), *options_.session.limits.clock),
        turns_(options_.budget, *options_.session.limits.clock) {}
  void welcome(Socket socket);
  void refuse(Socket socket, std::string message) const;
  void make_room_for_strangers();
  void report(const std::string& line) const {
    if (options_.on_event) options_.on_event(line);
  }
  void host(Guest& guest, const std::string& name);

  os::Kernel& kernel_;
  ServerOptions options_;
  Listener listener_;
  TickClock clock_;
  Turns turns_;
  std::atomic<bool> stopping_{false};
  std::list<Guest> guests_;
};

}  // namespace railbed::perf

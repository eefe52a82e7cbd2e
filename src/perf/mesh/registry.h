// SPDX-License-Identifier: Apache-2.0
// Where endpoints register for a mesh: `railbed perf mesh --listen`.
//
// Why: pods get their addresses when they start, so the coordinator waits for them instead of searching for them. It
// waits for a number of endpoints or for a time, and the mesh consists of those that are registered then. A connecting
// client is untrusted until the token is verified: untrusted clients are limited in number and time, and delay no
// others. An endpoint that disconnects while others are awaited is removed.
// Threading: one thread.
// Failure: kTimeout with fewer than two endpoints, kCanceled if a stop was requested; an endpoint's error is reported
// to it and to on_event.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "perf/channel/control.h"
#include "perf/channel/greeting.h"
#include "perf/channel/watch.h"
#include "perf/mesh/roster.h"

namespace railbed::perf::mesh {

inline constexpr uint16_t kRegistryPort = 18601;

struct RegistryOptions {
  std::optional<IpAddress> bind;
  uint16_t port = kRegistryPort;
  std::string token;
  perf::Limits limits;
  uint32_t wanted = 0;                      // endpoints; 0: as many as come
  std::chrono::milliseconds wait{300'000};  // no longer than this
  std::stop_token stop;
  std::function<void(const std::string& line)> on_event;     // who came, went and was refused
  std::function<void(const std::string& line)> on_progress;  // how many there are
};

struct Gathered {
  MeshSetup setup;
  uint32_t missing = 0;  // of those that were wanted
};

class Registry {
 public:
  static Result<std::unique_ptr<Registry>> open(RegistryOptions options);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  uint16_t port() const { return port_; }

  // Once. Endpoints believe that they are registered until this object ends, and it listens no more.
  Result<Gathered> gather();

 private:
  struct Guest {
    Guest(Roster::Id number, std::string whence, Socket socket, const RegistryOptions& options)
        : id(number),
          name(std::move(whence)),
          channel(std::move(socket), {}, *options.limits.clock),
          greeting(options.token, "mesh"),
          came(options.limits.clock->now()) {}
    Roster::Id id;
    std::string name;  // for events: its address, then its name
    Channel channel;
    ServerGreeting greeting;
    Clock::Time came;
    bool greeted = false;
    bool registered = false;
    bool gone = false;
  };
  Registry(RegistryOptions options, Listener listener);
  bool complete() const { return options_.wanted > 0 && roster_.size() >= options_.wanted; }
  Result<void> wait(Deadline deadline) const;
  void welcome();
  void admit(Socket socket);
  void make_room_for_strangers();
  void listen(Guest& guest);
  Result<void> take(Guest& guest);
  Result<void> enroll(Guest& guest, const Register& message);
  void drop(Guest& guest, const Error& error);
  void remove_gone();
  void report(const std::string& line);
  void report_progress() const;

  RegistryOptions options_;
  std::optional<Listener> listener_;
  uint16_t port_;
  Roster roster_;
  std::list<Guest> guests_;
  Roster::Id next_id_ = 1;
  int reported_errors_ = 0;  // with clients that are no endpoints
};

}  // namespace railbed::perf::mesh

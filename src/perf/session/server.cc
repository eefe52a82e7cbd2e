// SPDX-License-Identifier: Apache-2.0
#include "perf/session/server.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/resource.h>

#include "perf/stream/free_memory.h"

namespace railbed::perf {
namespace {

bool lacks_means(int sys_errno) {
  return sys_errno == EMFILE || sys_errno == ENFILE || sys_errno == ENOBUFS || sys_errno == ENOMEM;
}

}  // namespace

Turns::Budget budget_of(const os::FileTree& files) {
  Turns::Budget budget;
  if (const auto free_bytes = free_memory_bytes(files))
    budget.memory_bytes = std::min(budget.memory_bytes, *free_bytes / 2);
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur / 2 < static_cast<rlim_t>(budget.streams))
    budget.streams = static_cast<int64_t>(descriptors.rlim_cur / 2);
  return budget;
}

Result<std::unique_ptr<Server>> Server::open(os::Kernel& kernel, ServerOptions options) {
  if (!options.session.token.empty()) TRY(load_hmac());
  Listener listener = TRY(Listener::open(options.bind, options.port));
  options.session.on_test = options.on_event;
  return std::unique_ptr<Server>(new Server(kernel, std::move(options), std::move(listener)));
}

void Server::host(Guest& guest, const std::string& name) {
  const auto served = guest.session.run();
  if (served)
    report(fmt::format("{}: {} test(s) done", name, *served));
  else
    report(fmt::format("{}: {}", name, served.error().to_string()));
  if (served && *served > 0 && options_.once) stop();
  guest.session.interrupt();  // its socket is closed when the next client connects
  guest.finished = true;
}

void Server::refuse(Socket socket, std::string message) const {
  const Limits& limits = options_.session.limits;
  Channel channel(std::move(socket), {}, *limits.clock);
  (void)channel.send(
      Refusal{.message = std::move(message), .hint = "wait for them, or start another server on another --port"},
      limits.after(std::chrono::milliseconds(100)));
}

// Who connects and says nothing cannot keep out others: of those the oldest goes.
void Server::make_room_for_strangers() {
  const auto is_silent = [](const Guest& guest) { return !guest.finished && !guest.session.greeted(); };
  if (std::ranges::count_if(guests_, is_silent) < options_.session.limits.max_silent) return;
  std::ranges::find_if(guests_, is_silent)->session.interrupt();
}

void Server::welcome(Socket socket) {
  const auto peer = socket.peer_address();
  const std::string name = peer ? peer->to_string() : "a client";
  const auto clients =
      std::ranges::count_if(guests_, [](const Guest& guest) { return guest.session.greeted() && !guest.finished; });
  if (clients >= options_.session.limits.max_sessions) {
    refuse(std::move(socket), fmt::format("the server has {} clients already", clients));
    return;
  }
  make_room_for_strangers();
  Guest& guest = guests_.emplace_back(kernel_, std::move(socket), options_.session,
                                      Session::Shared{clock_, turns_, options_.protocols});
  try {
    guest.thread = std::jthread([this, &guest, name] { host(guest, name); });
  } catch (const std::system_error&) {
    report(fmt::format("{}: starting a thread for this client failed: too many threads on this machine", name));
    guests_.pop_back();
  }
}

Result<void> Server::run() {
  constexpr std::chrono::milliseconds kPause{100};
  Clock& clock = *options_.session.limits.clock;
  bool reported = false;
  while (!stopping_) {
    auto socket = listener_.accept(options_.session.limits.after(std::chrono::hours(1)));
    guests_.remove_if([](const Guest& guest) { return guest.finished.load(); });
    if (stopping_) break;
    if (socket) {
      reported = false;
      welcome(std::move(*socket));
    } else if (lacks_means(socket.error().sys_errno)) {
      // The client waits in the backlog until a session ends.
      if (!std::exchange(reported, true)) report("a client must wait: " + socket.error().to_string());
      clock.sleep_until(clock.now() + kPause);
    } else if (socket.error().code != Code::kTimeout) {
      return fail(std::move(socket.error()));
    }
  }
  for (const Guest& guest : guests_) guest.session.interrupt();
  guests_.clear();
  return {};
}

}  // namespace railbed::perf

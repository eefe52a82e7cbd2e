// SPDX-License-Identifier: Apache-2.0
#include "perf/server.h"

namespace railbed::perf {

Result<std::unique_ptr<Server>> Server::open(os::Kernel& kernel, ServerOptions options) {
  Listener listener = TRY(Listener::open(options.bind, options.port));
  options.session.on_test = options.on_event;
  return std::unique_ptr<Server>(new Server(kernel, std::move(options), std::move(listener)));
}

void Server::host(Guest& guest, const std::string& name) {
  const auto served = guest.session.run();
  if (options_.on_event) {
    if (served)
      options_.on_event(fmt::format("{}: {} test(s) done", name, *served));
    else
      options_.on_event(fmt::format("{}: {}", name, served.error().to_string()));
  }
  if (served && *served > 0 && options_.once) stop();
  guest.session.interrupt();  // its socket is closed when the next client connects
  guest.finished = true;
}

void Server::welcome(Socket socket) {
  const auto peer = socket.peer_address();
  const std::string name = peer ? peer->to_string() : "a client";
  if (static_cast<int>(guests_.size()) >= options_.session.limits.max_sessions) {
    Channel channel(std::move(socket));
    (void)channel.send(Refusal{.message = fmt::format("the server has {} clients already", guests_.size()),
                               .hint = "wait for them, or start another server on another --port"},
                       Deadline::after(std::chrono::milliseconds(100)));
    return;
  }
  Guest& guest = guests_.emplace_back(kernel_, std::move(socket), options_.session, clock_);
  guest.thread = std::jthread([this, &guest, name] { host(guest, name); });
}

Result<void> Server::run() {
  while (!stopping_) {
    auto socket = listener_.accept(Deadline::after(std::chrono::hours(1)));
    guests_.remove_if([](const Guest& guest) { return guest.finished.load(); });
    if (stopping_) break;
    if (socket)
      welcome(std::move(*socket));
    else if (socket.error().code != Code::kTimeout)
      return fail(std::move(socket.error()));
  }
  for (const Guest& guest : guests_) guest.session.interrupt();
  guests_.clear();
  return {};
}

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/registry.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <poll.h>

#include "doc/text.h"

namespace railbed::perf::mesh {
namespace {

constexpr std::chrono::milliseconds kAnswer{100};  // what is sent fits into the socket, so none of it waits
constexpr int kMostAtOnce = 64;                    // connections that are taken before those there are heard again
constexpr int kMostReported = 50;

Registered registered_message(const Roster& roster, uint32_t wanted) {
  return {.registered = static_cast<uint32_t>(roster.size()), .wanted = wanted};
}

}  // namespace

Registry::Registry(RegistryOptions options, Listener listener)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      port_(listener_->port()),
      roster_(options_.wanted > 0 ? options_.wanted : kMaxHosts) {}

Result<std::unique_ptr<Registry>> Registry::open(RegistryOptions options) {
  if (!options.token.empty()) TRY(load_hmac());
  Listener listener = TRY(Listener::open(options.bind, options.port));
  return std::unique_ptr<Registry>(new Registry(std::move(options), std::move(listener)));
}

// The number of unknown clients is not limited; what is reported of them is.
void Registry::report(const std::string& line) {
  if (!options_.on_event || reported_errors_ > kMostReported) return;
  options_.on_event(++reported_errors_ > kMostReported ? "further messages are suppressed" : line);
}

void Registry::report_progress() const {
  if (!options_.on_progress) return;
  options_.on_progress(options_.wanted > 0
                           ? fmt::format("{} of {} endpoints registered", roster_.size(), options_.wanted)
                           : fmt::format("{} endpoint(s) registered", roster_.size()));
}

Result<void> Registry::wait(Deadline deadline) const {
  if (options_.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
  std::vector<pollfd> entries = {{.fd = listener_->fd(), .events = POLLIN, .revents = 0}};
  for (const Guest& guest : guests_)
    entries.push_back({.fd = guest.channel.socket().fd(), .events = POLLIN, .revents = 0});
  if (deadline.or_after(kLookForStop).poll(entries) < 0 && errno != EINTR) return fail(system_error(errno, "poll"));
  return {};
}

void Registry::welcome() {
  for (int taken = 0; taken < kMostAtOnce; ++taken) {
    auto socket = listener_->accept(options_.limits.after(std::chrono::milliseconds(0)));
    if (!socket) {
      // Who finds no room waits in the backlog until others have gone.
      if (socket.error().code == Code::kTimeout) return;
      report("an endpoint must wait: " + socket.error().to_string());
      options_.limits.clock->sleep_until(options_.limits.clock->now() + kAnswer);
      return;
    }
    admit(std::move(*socket));
  }
}

void Registry::admit(Socket socket) {
  const auto from = socket.peer_address();
  const auto prepared = [&]() -> Result<void> {
    TRY(socket.set_keepalive());
    return socket.set_no_delay();
  }();
  if (!from || !prepared) return;  // it has gone again
  make_room_for_strangers();
  guests_.emplace_back(next_id_++, from->to_string(), std::move(socket), options_);
}

// Of those who have not said who they are the oldest goes.
void Registry::make_room_for_strangers() {
  const auto is_silent = [](const Guest& guest) { return !guest.gone && !guest.greeted; };
  if (std::ranges::count_if(guests_, is_silent) < options_.limits.max_silent) return;
  Guest& oldest = *std::ranges::find_if(guests_, is_silent);
  drop(oldest, {.code = Code::kExhausted, .message = "it sent nothing while others were waiting"});
}

void Registry::drop(Guest& guest, const Error& error) {
  if (guest.gone) return;
  guest.gone = true;
  if (error.code != Code::kCanceled)
    (void)guest.channel.send(Refusal{.message = error.story(), .hint = error.hint}, options_.limits.after(kAnswer));
  if (guest.registered) roster_.remove(guest.id);
  // A client that only probed the port is not reported.
  if (guest.greeted || error.code != Code::kCanceled)
    report(fmt::format("{}: {}", guest.name, error.code == Code::kCanceled ? "disconnected" : error.story()));
  if (guest.registered) report_progress();
}

Result<void> Registry::enroll(Guest& guest, const Register& message) {
  const IpAddress from = TRY(guest.channel.socket().peer_address());
  const auto replaced = TRY(roster_.add(guest.id, from, message));
  for (Guest& other : guests_) {
    if (other.id != replaced) continue;
    other.registered = false;  // its place is taken, not free
    other.gone = true;
  }
  guest.registered = true;
  guest.name = doc::printable(message.name);
  TRY(guest.channel.send(registered_message(roster_, options_.wanted), options_.limits.after(kAnswer)));
  report_progress();
  return {};
}

Result<void> Registry::take(Guest& guest) {
  while (const auto message = TRY(guest.channel.take())) {
    if (guest.registered) return fail(unexpected(*message));
    if (guest.greeted) {
      const Register said = TRY(decode_as<Register>(*message));
      TRY(enroll(guest, said));
      continue;
    }
    const ServerGreeting::Answer answer = TRY(guest.greeting.answer(*message));
    TRY(guest.channel.send(encoded(answer), options_.limits.after(kAnswer)));
    if (!guest.greeting.done()) continue;
    TRY(guest.greeting.seal(guest.channel));
    guest.greeted = true;
  }
  if (!guest.registered && options_.limits.clock->now() - guest.came > options_.limits.greet)
    return fail(Code::kTimeout, "no message from the peer for {} ms", options_.limits.greet.count());
  return {};
}

void Registry::listen(Guest& guest) {
  if (guest.gone) return;
  if (const auto taken = take(guest); !taken) drop(guest, taken.error());
}

void Registry::remove_gone() {
  guests_.remove_if([](const Guest& guest) { return guest.gone; });
}

Result<Gathered> Registry::gather() {
  const Deadline deadline = options_.limits.after(options_.wait);
  report_progress();
  while (!complete() && !deadline.passed()) {
    TRY(wait(deadline));
    welcome();
    for (Guest& guest : guests_) {
      listen(guest);
      if (complete()) break;
    }
    remove_gone();
  }
  listener_.reset();
  guests_.remove_if([](const Guest& guest) { return !guest.registered; });
  if (roster_.size() < 2)
    return fail(
        Error{.code = Code::kTimeout,
              .message = fmt::format("a mesh needs two endpoints, {} registered at port {} within {} s", roster_.size(),
                                     port_, std::chrono::duration<double>(options_.wait).count()),
              .hint = "`railbed perf serve --register COORDINATOR --rail … --token-file FILE` on each of them"});
  const auto there = static_cast<uint32_t>(roster_.size());
  return Gathered{.setup = TRY(roster_.setup()), .missing = options_.wanted > there ? options_.wanted - there : 0};
}

}  // namespace railbed::perf::mesh

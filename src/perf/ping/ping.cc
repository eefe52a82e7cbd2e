// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/ping.h"

#include "os/ports/kernel.h"
#include "perf/channel/client_talk.h"
#include "perf/channel/socket_address.h"
#include "perf/ping/ping_message.h"
#include "perf/ping/ping_session.h"

namespace railbed::perf {
namespace {

// Where the peer waits, and what the request must begin with.
struct Meeting {
  IpAddress peer;
  uint16_t port = kRpingPort;
  std::optional<IpAddress> from;
  std::vector<uint8_t> private_data;
};

class Pinging {
 public:
  Pinging(os::Kernel& kernel, const PingOptions& options)
      : kernel_(kernel), options_(options), clock_(kernel.files(), *options.limits.clock) {}

  Result<PingOutcome> run() {
    const Meeting meeting = TRY(meet());
    const PingRole role = options_.speaks == PingPeer::kRping ? PingRole::kSource : PingRole::kMover;
    auto connection = TRY(PingConnection::open(clock_, {.peer = meeting.peer,
                                                        .port = meeting.port,
                                                        .from = meeting.from,
                                                        .private_data = meeting.private_data,
                                                        .role = role,
                                                        .patience = options_.limits.connect,
                                                        .stall = options_.limits.stall,
                                                        .look = [this] { return look(); }}));
    clock_.refine();  // nothing uses it meanwhile
    PingOutcome outcome{.report = report_of(*connection, role), .error = {}};
    outcome.report.command = options_.command;
    outcome.report.peer = options_.host;
    outcome.report.speaks = options_.speaks;
    outcome.report.size_bytes = options_.size_bytes;
    auto pinged = ping(*connection, outcome.report);
    connection.reset();  // says good-bye, before the server learns that this was all
    if (pinged && channel_) pinged = channel_->send(CloseTest{}, options_.limits.after(options_.limits.answer));
    if (!pinged) {
      outcome.report.ended_by = pinged.error().story();
      outcome.error = std::move(pinged.error());
    }
    return outcome;
  }

 private:
  Result<void> look() {
    if (options_.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
    return channel_ ? channel_->interrupted() : Result<void>();
  }

  Result<Meeting> meet() {
    const uint16_t port = options_.port;
    if (options_.speaks == PingPeer::kRping)
      return Meeting{.peer = TRY(first_address_of(options_.host)), .port = port, .from = {}, .private_data = {}};
    Socket socket = TRY(Socket::connect(options_.host, port, options_.limits.after(options_.limits.connect)));
    channel_.emplace(std::move(socket), options_.stop, *options_.limits.clock);
    TRY(channel_->socket().set_keepalive());
    TRY(channel_->socket().set_no_delay());
    TRY(greet_server(*channel_, {.hostname = kernel_.host_name(), .token = options_.token}, options_.limits));
    const EncodedMessage open = encoded(OpenPing{options_.size_bytes});
    const Envelope answer = TRY(take_turn(*channel_, open, options_.limits, options_.on_progress));
    const PingOffer offer = TRY(decode_as<PingOffer>(answer).context("at the server"));
    return Meeting{.peer = TRY(channel_->socket().peer_address()),
                   .port = static_cast<uint16_t>(offer.port),
                   .from = TRY(channel_->socket().local_address()),
                   .private_data = private_data_of(offer.cookie)};
  }

  Result<PingTimes> one(PingConnection& connection, uint64_t number) {
    const auto size = static_cast<uint32_t>(options_.size_bytes);
    if (options_.speaks == PingPeer::kRping) {
      auto times = ping_as_source(connection, number, size);
      // It reads and writes what it is offered, and ends the connection where that is more than it has room for.
      if (!times && number == 0 && size > kRpingRoom_bytes)
        times.error().hint =
            fmt::format("an rping server accepts {} bytes by default; start it with a larger size: rping -s -S {}",
                        kRpingRoom_bytes, size);
      return times;
    }
    auto times = TRY(ping_as_mover(connection, number, KnownSource{size}));
    if (!times) return fail(Code::kCanceled, "the peer has ended the connection after {} pings", number);
    return *times;
  }

  Result<void> ping(PingConnection& connection, PingReport& report) {
    Clock::Time due = options_.limits.clock->now();
    for (int64_t number = 0; number < options_.count; ++number) {
      TRY(wait_until(due));
      report.add(TRY(one(connection, static_cast<uint64_t>(number))));
      due += options_.interval;
      if (options_.on_progress && options_.interval.count() > 0)
        options_.on_progress(fmt::format("ping {} of {}", number + 1, options_.count));
    }
    return {};
  }

  Result<void> wait_until(Clock::Time due) {
    if (options_.interval.count() == 0) return {};
    options_.limits.clock->sleep_until(due, options_.stop);
    return look();
  }

  os::Kernel& kernel_;
  const PingOptions& options_;
  TickClock clock_;
  std::optional<Channel> channel_;
};

}  // namespace

Result<PingOutcome> run_ping(os::Kernel& kernel, const PingOptions& options) {
  Pinging pinging(kernel, options);
  return pinging.run();
}

}  // namespace railbed::perf

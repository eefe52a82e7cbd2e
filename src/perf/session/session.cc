// SPDX-License-Identifier: Apache-2.0
#include "perf/session/session.h"

#include <algorithm>

#include "doc/text.h"
#include "perf/channel/greeting.h"

namespace railbed::perf {
namespace {

constexpr std::chrono::milliseconds kNoticeEvery{1000};

}  // namespace

Result<int> Session::run() {
  TRY(channel_.socket().set_keepalive());
  TRY(channel_.socket().set_no_delay());
  auto served = serve_all();
  if (!served && served.error().code != Code::kCanceled) {
    // A failure does not matter: a peer that sends nonsense may not read either.
    (void)channel_.send(Refusal{.message = served.error().story(), .hint = served.error().hint},
                        options_.limits.after(std::min(options_.limits.answer, std::chrono::milliseconds(1000))));
  }
  return served;
}

Result<void> Session::greet() {
  ServerGreeting greeting(options_.token, kernel_.host_name());
  while (!greeting.done()) {
    const Envelope message = TRY(channel_.receive(options_.limits.greet));
    const ServerGreeting::Answer answer = TRY(greeting.answer(message));
    greeted_ = greeting.done();  // before the client reads that it is
    TRY(channel_.send(encoded(answer), options_.limits.after(options_.limits.answer)));
  }
  return greeting.seal(channel_);
}

Result<int> Session::serve_all() {
  TRY(greet());
  for (int tests = 0;;) {
    const auto message = channel_.receive(options_.limits.idle);
    if (!message && message.error().code == Code::kCanceled) return tests;  // the client has finished
    if (!message) return fail(message.error());
    const Served served = TRY(serve(*message));
    if (served != Served::kQuestion) ++tests;
    if (served == Served::kLastTest) return tests;
  }
}

Result<Served> Session::serve(const Envelope& opening) {
  const auto protocol = std::ranges::find(shared_.protocols, opening.type, &Protocol::opens_with);
  if (protocol == shared_.protocols.end())
    return fail(Code::kInvalid, "the client sent \"{}\" where a test was to be opened", doc::printable(opening.type));
  return protocol->serve(*this, opening);
}

Result<void> Session::announce(const std::string& what) const {
  const IpAddress client = TRY(channel_.socket().peer_address());
  if (options_.on_test) options_.on_test(fmt::format("{}: {}", client, what));
  return {};
}

Result<Turns::Turn> Session::wait_for_turn(const TurnNeed& need, std::chrono::milliseconds patience) {
  bool reported = false;
  Clock& clock = *options_.limits.clock;
  auto notified_at = clock.now();
  const auto notify_client = [&](int64_t ahead, const std::string& reason) -> Result<void> {
    TRY(channel_.interrupted());
    const auto now = clock.now();
    // Well before the client, which waits for an answer as long as this side, gives up.
    if (reported && now - notified_at < std::min(kNoticeEvery, options_.limits.answer / 2)) return {};
    reported = true;
    notified_at = now;
    return send(Wait{.ahead = ahead, .reason = reason});
  };
  return shared_.turns.take(need, patience, options_.limits.check, notify_client);
}

}  // namespace railbed::perf

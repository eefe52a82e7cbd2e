// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/fleet.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>

#include <poll.h>

#include "perf/channel/client_talk.h"

namespace railbed::perf::mesh {
namespace {

constexpr uint32_t kMostThreads = 64;  // that connect
constexpr std::chrono::milliseconds kWakeEvery{5000};
constexpr std::chrono::milliseconds kLastWords{1000};  // of others, when one is lost without whom there is no result

// An answer names the rails that were asked for, each at most once (its reader sees to that), and nothing that is not a
// figure of this test.
Result<void> check_answer(const Step& step, const std::vector<PairTask>& tasks, const StepDone& done) {
  if (done.number != step.number)
    return fail(Code::kInvalid, "it answers step {} in step {}", done.number, step.number);
  if (done.pairs.size() != tasks.size())
    return fail(Code::kInvalid, "it answers {} pairs, {} were requested", done.pairs.size(), tasks.size());
  for (const PairFigures& figures : done.pairs) {
    if (std::ranges::find(tasks, figures.rail, &PairTask::rail) == tasks.end())
      return fail(Code::kInvalid, "it answers rail {}, which was not requested", figures.rail);
    if (!figures.problem.empty()) continue;
    const bool bandwidth = step.spec.kind == TestKind::kBandwidth;
    if (bandwidth ? figures.gbps <= 0 : figures.samples == 0)
      return fail(Code::kInvalid, "it reports rail {} as measured, but without a figure", figures.rail);
    if (!bandwidth && figures.p99_us > 0 && figures.p99_us < figures.p50_us)
      return fail(Code::kInvalid, "its p99 of rail {} is below its p50", figures.rail);
  }
  return {};
}

}  // namespace

Fleet::Fleet(const std::vector<HostAddress>& hosts, FleetOptions options)
    : addresses_(hosts), options_(std::move(options)), clock_(*options_.limits.clock), hosts_(hosts.size()) {}

void Fleet::lose(uint32_t host, const Error& error) {
  hosts_[host].lost_because = problem_text(error.story());
  hosts_[host].channel.reset();
  hosts_[host].busy = false;
}

Result<void> Fleet::greet(uint32_t host) {
  const HostAddress& address = addresses_[host];
  Socket socket = TRY(Socket::connect(address.control, address.port, options_.limits.after(options_.limits.connect)));
  Channel& channel = hosts_[host].channel.emplace(std::move(socket), options_.stop, clock_);
  TRY(channel.socket().set_keepalive());
  TRY(channel.socket().set_no_delay());
  return greet_server(channel, {.hostname = "mesh", .token = options_.token, .peer = "endpoint"}, options_.limits);
}

Result<void> Fleet::enlist(uint32_t host, Channel& channel) {
  const auto answer = options_.limits.answer;
  Enlist enlist{.mesh = mesh_, .transport = options_.transport, .rails = {}};
  for (const auto& rail : addresses_[host].rails)
    if (rail) enlist.rails.push_back(*rail);
  TRY(channel.send(enlist, options_.limits.after(answer)));
  const Deadline turn = options_.limits.after(options_.step_slack);
  for (;;) {
    const Envelope message = TRY(channel.receive(2 * answer));
    if (message.type == Wait::kName && !turn.passed()) continue;
    const Enlisted enlisted = TRY(decode_as<Enlisted>(message));
    if (!std::ranges::equal(enlisted.rails, enlist.rails, {}, &RailFound::rail, &OwnRail::rail))
      return fail(Code::kInvalid, "it does not answer for the requested rails");
    hosts_[host].found = enlisted.rails;
    return {};
  }
}

Result<void> Fleet::gather() {
  mesh_ = TRY(random_one<MeshId>());
  return gather([this](uint32_t host, Channel& channel) { return enlist(host, channel); });
}

Result<void> Fleet::gather(const Join& join) {
  const auto gathered = [&](uint32_t host) -> Result<void> {
    TRY(greet(host));
    return join(host, *hosts_[host].channel);
  };
  std::atomic<uint32_t> next = 0;
  std::mutex mutex;
  uint32_t done = 0;
  const auto count = static_cast<uint32_t>(hosts_.size());
  const auto work = [&] {
    for (uint32_t host = next++; host < count && !options_.stop.stop_requested(); host = next++) {
      if (const auto joined = gathered(host); !joined) lose(host, joined.error());
      const std::lock_guard lock(mutex);
      if (options_.on_progress) options_.on_progress(fmt::format("{} of {} endpoints answered", ++done, count));
    }
  };
  {
    std::vector<std::jthread> crew;
    try {
      while (crew.size() + 1 < std::min(count, kMostThreads)) crew.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those there are do it
    }
    work();
  }
  if (options_.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
  return {};
}

void Fleet::ask(uint32_t host, const EncodedMessage& message) {
  const auto sent = hosts_[host].channel->send(message, options_.limits.after(options_.limits.answer));
  hosts_[host].busy = true;
  hosts_[host].heard = clock_.now();
  if (!sent) lose(host, sent.error());
}

void Fleet::listen(uint32_t host, const Taken& taken) {
  Host& it = hosts_[host];
  const auto listened = [&]() -> Result<void> {
    const auto message = TRY(it.channel->take());
    if (it.channel->heard()) it.heard = clock_.now();
    if (!message) return {};
    TRY(taken(host, *message));
    it.busy = false;
    return {};
  }();
  if (!listened) lose(host, listened.error());
}

std::vector<uint32_t> Fleet::busy() const {
  std::vector<uint32_t> all;
  for (uint32_t host = 0; host < hosts_.size(); ++host)
    if (hosts_[host].busy) all.push_back(host);
  return all;
}

// Until one of them says something.
Result<void> Fleet::wait(const std::vector<uint32_t>& busy) const {
  if (options_.stop.stop_requested()) return fail(Code::kCanceled, "stopped");
  std::vector<pollfd> entries;
  for (const uint32_t host : busy)
    entries.push_back({.fd = hosts_[host].channel->socket().fd(), .events = POLLIN, .revents = 0});
  if (clock_.poll(entries, clock_.now() + kLookForStop) < 0 && errno != EINTR) return fail(system_error(errno, "poll"));
  return {};
}

// Endpoints that have answered wait for those at work, and give up on a coordinator that is silent.
void Fleet::keep_others_awake() {
  if (clock_.now() - woke_others_ < std::min(kWakeEvery, options_.limits.idle / 3)) return;
  woke_others_ = clock_.now();
  for (uint32_t host = 0; host < hosts_.size(); ++host) {
    Host& it = hosts_[host];
    if (!it.channel || it.busy) continue;
    if (const auto sent = it.channel->send_heartbeat(); !sent) lose(host, sent.error());
  }
}

Result<Fleet::Figures> Fleet::step(const TestSpec& spec, const Tasks& tasks) {
  Step wanted{.number = ++number_, .spec = spec, .tasks = {}};
  Asks asks(hosts_.size());
  for (uint32_t host = 0; host < hosts_.size(); ++host) {
    if (lost(host)) continue;
    wanted.tasks = tasks[host];
    asks[host] = encoded(wanted);
  }
  Figures figures(hosts_.size());
  const auto taken = [&](uint32_t host, const Envelope& answer) -> Result<void> {
    StepDone done = TRY(decode_as<StepDone>(answer));
    TRY(check_answer(wanted, tasks[host], done));
    figures[host] = std::move(done.pairs);
    return {};
  };
  TRY(exchange(asks, "a step", std::chrono::milliseconds(spec.duration_ms) + options_.step_slack, taken));
  return figures;
}

Result<void> Fleet::exchange(const Asks& asks, std::string_view what, std::chrono::milliseconds longest,
                             const Taken& taken, OnLoss on_loss) {
  for (uint32_t host = 0; host < hosts_.size(); ++host)
    if (!lost(host) && asks[host]) ask(host, *asks[host]);
  const auto losses = [&] {
    return std::ranges::count_if(hosts_, [](const Host& it) { return !it.lost_because.empty(); });
  };
  const auto before = losses();
  std::optional<Deadline> last_words;
  const Deadline deadline = options_.limits.after(longest);
  for (;;) {
    const std::vector<uint32_t> due = busy();
    if (due.empty() || (last_words && last_words->passed())) return {};
    TRY(wait(due));
    for (const uint32_t host : due) {
      listen(host, taken);
      if (!hosts_[host].busy) continue;
      if (clock_.now() - hosts_[host].heard > options_.limits.answer)
        lose(host,
             {.code = Code::kTimeout, .message = fmt::format("no message for {} ms", options_.limits.answer.count())});
      else if (deadline.passed())
        lose(host,
             {.code = Code::kTimeout, .message = fmt::format("{} did not finish within {} ms", what, longest.count())});
    }
    keep_others_awake();
    if (on_loss == OnLoss::kAllEnd && !last_words && losses() > before) last_words = options_.limits.after(kLastWords);
  }
}

}  // namespace railbed::perf::mesh

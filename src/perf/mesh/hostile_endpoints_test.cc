// SPDX-License-Identifier: Apache-2.0
// A coordinator and two honest endpoints with a third one that dies, stalls, lies or talks nonsense at each place of
// the conversation; and an endpoint whose coordinator does. No process hangs or crashes, and the honest are measured.
#include <array>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "perf/channel/test_greeting.h"
#include "perf/mesh/test_endpoints.h"
#include "perf/test_resting_clock.h"

namespace railbed::perf::mesh {
namespace {

// Of the coordinator: only who stalls reaches them, by a clock that goes on when all rest.
constexpr milliseconds kAnswer{4000};
constexpr milliseconds kSlack{9000};

// Plays an endpoint of one rail: answers what is before `place`, and there does what the test wants.
enum class Place : uint8_t { kHello, kEnlist, kStep };
class PlayedEndpoint {
 public:
  using Deed = std::function<void(Channel& channel, const Step& step)>;
  PlayedEndpoint(Place place, Deed deed)
      : listener_(*Listener::open(*IpAddress::parse("127.0.0.1"), 0)),
        thread_([this, place, deed = std::move(deed)] { play(place, deed); }) {}
  uint16_t port() const { return listener_.port(); }

 private:
  void play(Place place, const Deed& deed) {
    auto socket = listener_.accept(Deadline::after(milliseconds(60000)));
    ASSERT_TRUE(socket) << socket.error().to_string();
    Channel channel(std::move(*socket));
    const auto hello = channel.receive(milliseconds(20000));
    ASSERT_TRUE(hello);
    if (place == Place::kHello) return deed(channel, {});
    ASSERT_TRUE(greet_as_server(channel, kToken, &*hello));
    ASSERT_TRUE(channel.expect<Enlist>(milliseconds(20000)));
    if (place == Place::kEnlist) return deed(channel, {});
    ASSERT_TRUE(channel.send(Enlisted{{RailFound{.rail = 0}}}, soon()));
    const auto step = channel.expect<Step>(milliseconds(20000));
    ASSERT_TRUE(step) << step.error().to_string();
    deed(channel, *step);
  }

  Listener listener_;
  std::jthread thread_;
};

// Until the coordinator has given up.
void wait_for_end(Channel& channel) {
  while (const auto message = channel.receive(milliseconds(60000))) continue;
}
PlayedEndpoint::Deed die() {
  return [](Channel&, const Step&) {};
}
PlayedEndpoint::Deed stall() {
  return [](Channel& channel, const Step&) { wait_for_end(channel); };
}
PlayedEndpoint::Deed write_raw(std::string bytes) {
  return [bytes = std::move(bytes)](Channel& channel, const Step&) {
    (void)const_cast<Socket&>(channel.socket()).write_all(std::as_bytes(std::span(bytes)), soon());
    wait_for_end(channel);
  };
}
PlayedEndpoint::Deed say(const auto& message) {
  return [text = encoded(message)](Channel& channel, const Step&) {
    (void)channel.send(text, soon());
    wait_for_end(channel);
  };
}
// As from a host in the middle, which does not know the key.
PlayedEndpoint::Deed say_without_mac(const auto& message) {
  return write_raw(frame(encoded(message).json));
}
PlayedEndpoint::Deed live_forever(Clock& clock) {
  return [&clock](Channel& channel, const Step&) {
    const Deadline deadline = Deadline::after(milliseconds(60000), clock);
    while (channel.send_heartbeat() && channel.interrupted() && !deadline.passed())
      clock.sleep_until(clock.now() + milliseconds(200));
    EXPECT_FALSE(deadline.passed());
  };
}
// An answer to the step, with one thing wrong.
PlayedEndpoint::Deed answer(std::function<void(StepDone&)> lie) {
  return [lie = std::move(lie)](Channel& channel, const Step& step) {
    StepDone done{.number = step.number, .pairs = {}};
    for (const PairTask& task : step.tasks)
      done.pairs.push_back({.rail = task.rail, .p50_us = 1, .p99_us = 2, .samples = 2000});
    lie(done);
    (void)channel.send(done, soon());
    wait_for_end(channel);
  };
}

struct Misdeed {
  std::string what;
  Place place;
  PlayedEndpoint::Deed deed;
  std::string reason;
};

std::vector<Misdeed> cases(Clock& clock) {
  const std::string closed = "the peer closed the connection";
  const std::string silent = "no message from the peer for ";
  const std::string http = "HTTP/1.1 400 Bad Request\r\n\r\n";
  const std::string no_railbed = R"(the peer does not speak railbed's control protocol: it sent "HTTP/1.1")";
  const std::string cut("RBP1\x00\x00\x10\x00{\"type\":\"he", 19);
  const Refusal refusal{.message = "\x1b[2Jon fire", .hint = ""};
  return {
      {"dies at hello", Place::kHello, die(), closed},
      {"dies at enlist", Place::kEnlist, die(), closed},
      {"dies at a step", Place::kStep, die(), closed},
      {"stalls at hello", Place::kHello, stall(), silent + "4000 ms"},
      {"stalls at enlist", Place::kEnlist, stall(), silent + "8000 ms"},
      {"stalls at a step", Place::kStep, stall(), "no message for 4000 ms"},
      {"lives forever at enlist", Place::kEnlist, live_forever(clock), silent + "8000 ms"},
      {"lives forever at a step", Place::kStep, live_forever(clock), "a step did not finish within 9020 ms"},
      {"nonsense at hello", Place::kHello, write_raw(http), no_railbed},
      {"nonsense at a step", Place::kStep, write_raw(http), no_railbed},
      {"half a message", Place::kStep, write_raw(cut), "no message for 4000 ms"},
      {"another message", Place::kStep, say(Ready{}), R"(the peer sent "ready" where "mesh-step-done" was due)"},
      {"refuses", Place::kEnlist, say(refusal), "the peer says: \\x1b[2Jon fire"},
      {"another protocol", Place::kHello, say(Hello{.protocol = 77, .version = "9", .hostname = "x"}),
       fmt::format("the endpoint (railbed 9) speaks protocol 77, this railbed {}", kProtocol)},
      {"no token", Place::kHello, say(Hello{.protocol = kProtocol, .version = "0", .hostname = "x"}),
       "the endpoint has no token and cannot prove its identity"},
      {"another token", Place::kHello,
       say(Hello{.protocol = kProtocol, .version = "0", .hostname = "x", .nonce = Nonce{}, .proof = Mac{}}),
       "the endpoint does not have this token: its proof is wrong"},
      {"no MAC", Place::kStep, say_without_mac(StepDone{.number = 1, .pairs = {}}),
       "message 2 of this connection has a wrong MAC"},
      {"other rails", Place::kEnlist, say(Enlisted{{RailFound{.rail = 1}}}),
       "it does not answer for the requested rails"},
      {"another step", Place::kStep, answer([](StepDone& done) { done.number = 7; }), "it answers step 7 in step 1"},
      {"no pair", Place::kStep, answer([](StepDone& done) { done.pairs.clear(); }),
       "it answers 0 pairs, 1 were requested"},
      {"another rail", Place::kStep, answer([](StepDone& done) { done.pairs[0].rail = 9; }),
       "it answers rail 9, which was not requested"},
      {"no figure", Place::kStep, answer([](StepDone& done) { done.pairs[0].samples = 0; }),
       "it reports rail 0 as measured, but without a figure"},
      {"a tail below the middle", Place::kStep, answer([](StepDone& done) { done.pairs[0].p99_us = 0.5; }),
       "its p99 of rail 0 is below its p50"},
      {"an impossible figure", Place::kStep, answer([](StepDone& done) { done.pairs[0].gbps = 1e9; }),
       "message mesh-step-done: pairs[0].gbps must be 0 to 10000, found 1000000000"},
  };
}

void meet(const Misdeed& one, Clock& clock) {
  SCOPED_TRACE(one.what);
  perf::Limits limits = patient();
  limits.clock = &clock;
  const Endpoints honest(2, limits);
  const PlayedEndpoint played(one.place, one.deed);
  MeshOptions options = brief(Transport::kTcp);
  options.schedule.pattern = Pattern::kFull;  // in its first round, host 1 measures to host 2
  options.fleet.limits.answer = kAnswer;
  options.fleet.limits.clock = &clock;
  options.fleet.step_slack = kSlack;
  const auto run =
      run_mesh(setup_of({on_loopback(honest.port(0)), on_loopback(played.port()), on_loopback(honest.port(1))}),
               std::move(options));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->ended_by, "");
  ASSERT_EQ(run->results.lost().size(), 1u) << one.what;
  EXPECT_EQ(run->results.lost()[0].host, 1u);
  EXPECT_EQ(run->results.lost()[0].reason, one.reason);
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 3, .measured = 1, .skipped = 2}));
}

TEST(Coordinator, OutlivesEveryBadEndpoint) {
  RestingClock clock(std::chrono::microseconds(20));
  const std::vector<Misdeed> table = cases(clock);
  std::vector<std::jthread> waiting;  // for a limit; the others are quick, and honest endpoints want time to measure
  for (const Misdeed& one : table)
    if (one.reason.contains(" ms")) waiting.emplace_back([&] { meet(one, clock); });
  for (const Misdeed& one : table)
    if (!one.reason.contains(" ms")) meet(one, clock);
}

// ---- the endpoint against coordinators

class BadCoordinator : public testing::Test {
 protected:
  // One that has enlisted rail 0 over TCP.
  Channel enlisted() {
    Channel channel = greeted();
    EXPECT_TRUE(channel.send(Enlist{.mesh = {}, .transport = Transport::kTcp, .rails = {own()}}, soon()));
    auto answer = channel.receive(milliseconds(20000));
    while (answer && answer->type == Wait::kName) answer = channel.receive(milliseconds(20000));
    EXPECT_TRUE(answer && decode_as<Enlisted>(*answer));
    return channel;
  }
  Channel greeted() {
    auto socket = Socket::connect("127.0.0.1", endpoints_.port(0), soon());
    EXPECT_TRUE(socket) << socket.error().to_string();
    Channel channel(std::move(*socket));
    greet_as_client(channel, kToken);
    return channel;
  }
  static OwnRail own() { return {.rail = 0, .address = *IpAddress::parse("127.0.0.1"), .device = ""}; }
  Step step(uint32_t rail = 0) const {
    return {.number = 1,
            .spec = brief(Transport::kTcp).latency,
            .tasks = {{.rail = rail, .address = own().address, .port = endpoints_.port(0), .device = ""}}};
  }
  // What the endpoint says to a message, as its last word.
  static std::string answer_to(Channel channel, const auto& message) {
    EXPECT_TRUE(channel.send(message, soon()));
    const auto answer = channel.expect<StepDone>(milliseconds(20000));
    return answer ? "done" : answer.error().message;
  }

  BadCoordinator() : endpoints_((clocks_.emplace_back(std::chrono::microseconds(5)), clocks_)) {}

  std::deque<SimulatedClock> clocks_;
  Endpoints endpoints_;
};

TEST_F(BadCoordinator, IsAnsweredOnlyWhatItMayAsk) {
  EXPECT_EQ(answer_to(enlisted(), step()), "done");
  EXPECT_EQ(answer_to(enlisted(), step(3)),
            "the peer says: the coordinator requests rail 3, which it did not announce");
  Step other = step();
  other.spec.transport = Transport::kRdma;
  EXPECT_EQ(answer_to(enlisted(), other),
            "the peer says: the coordinator requests a step over rdma, but joined for tcp");
  EXPECT_EQ(answer_to(enlisted(), Ready{}), R"(the peer says: the peer sent "ready" where "mesh-step" was due)");
  // A step before anything was enlisted.
  EXPECT_EQ(answer_to(greeted(), step()),
            R"(the peer says: the client sent "mesh-step" where a test was to be opened)");
  // Rails that are none of this machine cannot be used.
  Channel stranger = greeted();
  OwnRail foreign = own();
  foreign.address = *IpAddress::parse("192.0.2.1");
  EXPECT_TRUE(stranger.send(Enlist{.mesh = {}, .transport = Transport::kTcp, .rails = {foreign}}, soon()));
  const auto found = stranger.expect<Enlisted>(milliseconds(20000));
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->rails[0].problem, "192.0.2.1 is not an address of this network namespace");
  EXPECT_EQ(answer_to(std::move(stranger), step()),
            "the peer says: the coordinator requests rail 0, which cannot be used: 192.0.2.1 is not an address of this "
            "network namespace");
  EXPECT_EQ(answer_to(enlisted(), step()), "done");
}

// A coordinator that goes in the middle of a step leaves nothing running: the endpoint is free for the next one. By its
// clock the step would go on for minutes of pings.
TEST_F(BadCoordinator, ThatGoesLeavesTheEndpointFree) {
  {
    Channel channel = enlisted();
    Step longest = step();
    longest.spec.duration_ms = kMaxStep_ms;
    EXPECT_TRUE(channel.send(longest, soon()));
    EXPECT_TRUE(channel.receive(milliseconds(20)).error().code == Code::kTimeout);
  }
  const Clock::Time began = clocks_[0].now();
  EXPECT_EQ(answer_to(enlisted(), step()), "done");
  EXPECT_LT(clocks_[0].now() - began, milliseconds(kMaxStep_ms / 2));
}

}  // namespace
}  // namespace railbed::perf::mesh

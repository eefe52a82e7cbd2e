// SPDX-License-Identifier: Apache-2.0
// A coordinator and an honest rank with another one that dies, stalls, lies or talks nonsense; and a rank whose
// coordinator does. No process hangs or crashes, and the report names the hostile one.
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "perf/channel/test_greeting.h"
#include "perf/collective/collective.h"
#include "perf/mesh/test_endpoints.h"
#include "perf/test_resting_clock.h"

namespace railbed::perf::collective {
namespace {

using mesh::kToken;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr uint64_t kSize_bytes = 8;
constexpr milliseconds kAnswer{1500};  // only who stalls reaches it, by a clock that goes on when all rest

Deadline soon() {
  return Deadline::after(milliseconds(10000));
}

// Rank 1 of a ring of two on loopback, which plays its part up to `place` and there does what the test wants.
enum class Place : uint8_t { kJoin, kLink, kReduce };
struct Scene {
  Channel& channel;
  Socket& data;  // to rank 0, where it is connected
  Reduce reduce;
};
using Deed = std::function<void(Scene& scene)>;

class PlayedRank {
 public:
  PlayedRank(Place place, Deed deed)
      : listener_(*Listener::open(*IpAddress::parse("127.0.0.1"), 0)),
        thread_([this, place, deed = std::move(deed)] { play(place, deed); }) {}
  uint16_t port() const { return listener_.port(); }

 private:
  void play(Place place, const Deed& deed) {
    auto socket = listener_.accept(Deadline::after(milliseconds(60000)));
    ASSERT_TRUE(socket) << socket.error().to_string();
    Channel channel(std::move(*socket));
    Socket data;
    Scene scene{channel, data, {}};
    ASSERT_TRUE(greet_as_server(channel, kToken));
    ASSERT_TRUE(channel.expect<Join>(milliseconds(20000)));
    if (place == Place::kJoin) return deed(scene);
    const LinkAddress own{.peer = 0, .name = "", .address = {}, .rdma = {}, .tcp = TcpAddress{1, 1}};
    ASSERT_TRUE(channel.send(Joined{{{.found = {.rail = 0, .problem = "", .device = ""}, .links = {own}}}}, soon()));
    const auto link = channel.expect<Link>(milliseconds(20000));
    ASSERT_TRUE(link) << link.error().to_string();
    if (place == Place::kLink) return deed(scene);
    data = connected(*link->rails.at(0).links.at(0).tcp);
    ASSERT_TRUE(channel.send(Linked{}, soon()));
    const auto reduce = channel.expect<Reduce>(milliseconds(20000));
    ASSERT_TRUE(reduce) << reduce.error().to_string();
    scene.reduce = *reduce;
    deed(scene);
  }
  static Socket connected(const TcpAddress& address) {
    auto socket = Socket::connect("127.0.0.1", static_cast<uint16_t>(address.port), soon());
    EXPECT_TRUE(socket) << socket.error().to_string();
    const uint64_t greeting[] = {address.cookie, 1};
    EXPECT_TRUE(socket->write_all(std::as_bytes(std::span(greeting)), soon()));
    return std::move(*socket);
  }

  Listener listener_;
  std::jthread thread_;
};

// Until the coordinator has given up.
void wait_for_end(Channel& channel) {
  while (const auto message = channel.receive(milliseconds(60000))) continue;
}
Deed die() {
  return [](Scene&) {};
}
Deed stall() {
  return [](Scene& scene) { wait_for_end(scene.channel); };
}
// Is there for the coordinator, and does nothing for the other rank.
Deed only_heartbeats(Clock& clock) {
  return [&clock](Scene& scene) {
    while (scene.channel.send_heartbeat()) clock.sleep_until(clock.now() + milliseconds(100));
  };
}
Deed say(const auto& message) {
  return [text = encoded(message)](Scene& scene) {
    (void)scene.channel.send(text, soon());
    wait_for_end(scene.channel);
  };
}

struct Segment {
  uint32_t number = 0;
  uint32_t bytes = 4;
  float value = 1;
};
void send(Socket& data, const Segment& segment) {
  EXPECT_TRUE(data.write_all(std::as_bytes(std::span(&segment, 1)), soon()));
}
// What an honest rank would send, but for `change`.
Reduced reported(const Reduce& reduce, const std::function<void(RankTimes& times)>& change = {}) {
  RankTimes times{.rail = 0,
                  .mean_us = 5,
                  .p50_us = 5,
                  .max_us = 5,
                  .step_waited_us = {1, 1},
                  .step_transfer_us = {1, 1},
                  .step_reduce_us = {1, 0},
                  .sent_us = {0, 0},
                  .wrong = {}};
  if (change) change(times);
  return {.number = reduce.number, .rails = {times}};
}
// Does its part in time, with 1 for each sum.
Deed answer(const std::function<void(RankTimes& times)>& change) {
  return [change](Scene& scene) {
    const uint32_t all_reduces = scene.reduce.warm_up + scene.reduce.iterations + 1;
    for (uint32_t i = 0; i < 2 * all_reduces; ++i) send(scene.data, {.number = i});
    (void)scene.channel.send(reported(scene.reduce, change), soon());
    wait_for_end(scene.channel);
  };
}

Result<CollectiveRun> meet(Place place, const Deed& deed, Clock& clock) {
  perf::Limits limits = mesh::patient();
  limits.clock = &clock;
  limits.connect = limits.stall = milliseconds(1500);
  const mesh::Endpoints honest(1, limits);
  const PlayedRank played(place, deed);
  mesh::MeshSetup setup = mesh::setup_of({mesh::on_loopback(honest.port(0)), mesh::on_loopback(played.port())});
  setup.fabric.endpoints[1].host = "bad\x1b[2J";
  CollectiveOptions options;
  options.algorithms = {Algorithm::kRing};
  options.sizes_bytes = {kSize_bytes};
  options.iterations = options.warm_up = 1;
  options.fleet.transport = Transport::kTcp;
  options.fleet.token = kToken;
  options.fleet.limits = mesh::patient();
  options.fleet.limits.answer = kAnswer;
  options.fleet.limits.clock = &clock;
  auto run = run_collective(setup, options);
  // The honest one is free again, at once.
  const mesh::Endpoints another(1, limits);
  setup.hosts[1] = mesh::on_loopback(another.port(0));
  const auto after = run_collective(setup, options);
  EXPECT_TRUE(after) << (after ? "" : after.error().to_string());
  return run;
}

struct Case {
  const char* what;
  Place place;
  Deed deed;
  std::string reason;  // in it
};

std::vector<Case> cases(Clock& clock) {
  return {
      {"dies before it joins", Place::kJoin, die(), "bad\\x1b[2J: the peer closed the connection"},
      {"dies before it is linked", Place::kLink, die(), "bad\\x1b[2J: the peer closed the connection"},
      {"dies in an all-reduce", Place::kReduce, die(), "bad\\x1b[2J: the peer closed the connection"},
      {"stalls before it joins", Place::kJoin, stall(), "bad\\x1b[2J: no message from the peer for 3000 ms"},
      {"stalls in an all-reduce", Place::kReduce, stall(),
       "host0: the peer says: rail 0: no data arrived from rank 1 "
       "(bad\\x1b[2J) for 1500 ms"},
      {"does nothing", Place::kReduce, only_heartbeats(clock),
       "host0: the peer says: rail 0: no data arrived from rank 1 "
       "(bad\\x1b[2J) for 1500 ms"},
      {"never connects", Place::kLink, only_heartbeats(clock),
       "host0: the peer says: rail 0: rank 1 (bad\\x1b[2J) did not "
       "connect within 1500 ms"},
      {"another message", Place::kReduce, say(Ready{}),
       R"(bad\x1b[2J: the peer sent "ready" where "collective-reduced" was due)"},
      {"other rails", Place::kJoin, say(Joined{{{.found = {.rail = 1, .problem = "", .device = ""}, .links = {}}}}),
       "it does not answer for the requested rails"},
      {"no address", Place::kJoin, say(Joined{{{.found = {.rail = 0, .problem = "", .device = ""}, .links = {}}}}),
       "it reports no address for rank 0 on rail 0"},
      {"a problem", Place::kJoin,
       say(Joined{{{.found = {.rail = 0, .problem = "no\x1b cable", .device = ""}, .links = {}}}}),
       "bad\\x1b[2J: rail0: no\\x1b cable"},
      {"another segment", Place::kReduce,
       [](Scene& scene) {
         send(scene.data, {.number = 7});
         wait_for_end(scene.channel);
       },
       "rail 0: rank 1 (bad\\x1b[2J) sends segment 7 of 4 bytes, and segment 0 of 4 bytes was due"},
      {"a segment that is too large", Place::kReduce,
       [](Scene& scene) {
         send(scene.data, {.number = 0, .bytes = 1U << 30});
         wait_for_end(scene.channel);
       },
       "sends segment 0 of 1073741824 bytes, and segment 0 of 4 bytes was due"},
      {"another all-reduce", Place::kReduce, say(Reduced{.number = 9, .rails = {}}), "it answers all-reduce 9 in 1"},
      {"fewer steps", Place::kReduce, answer([](RankTimes& times) { times.step_waited_us.pop_back(); }),
       "it reports 1 steps on rail 0, expected 2"},
      {"no time", Place::kReduce, answer([](RankTimes& times) { times.mean_us = 0; }),
       "it reports rail 0 as measured, but without a time"},
      {"wrong data that cannot be", Place::kReduce,
       answer([](RankTimes& times) { times.wrong = Wrong{.offset = 2, .wanted = 1, .got = 2, .count = 1}; }),
       "it reports wrong data beyond the end of the reduced data on rail 0"},
  };
}

TEST(HostileRanks, EndItAreNamedAndLeaveTheHonestFree) {
  RestingClock clock(std::chrono::microseconds(1));
  const auto expect = [&clock](const Case& one) {
    const auto run = meet(one.place, one.deed, clock);
    ASSERT_FALSE(run) << one.what;
    EXPECT_THAT(run.error().story(), HasSubstr(one.reason)) << one.what;
  };
  const std::vector<Case> table = cases(clock);
  std::vector<std::jthread> waiting;  // for a limit; the others are quick
  for (const Case& one : table)
    if (one.reason.contains(" ms")) waiting.emplace_back([&] { expect(one); });
  for (const Case& one : table)
    if (!one.reason.contains(" ms")) expect(one);
}

// Who does all in time and sends other numbers is found out at the sums.
TEST(HostileRanks, WrongDataIsReportedWithPlaceAndNumbers) {
  RestingClock clock(std::chrono::microseconds(1));
  const auto run = meet(Place::kReduce, answer({}), clock);
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_FALSE(run->is_right());
  ASSERT_EQ(run->results.size(), 1u);
  ASSERT_EQ(run->results[0].wrong.size(), 1u);
  const WrongAt& at = run->results[0].wrong[0];
  float inputs[2] = {};
  for (uint32_t rank = 0; rank < 2; ++rank) fill_input({&inputs[rank], 1}, rank, 2);
  EXPECT_EQ(at.rank, 0u);
  EXPECT_EQ(at.wrong, (Wrong{.offset = 0, .wanted = inputs[0] + inputs[1], .got = 1, .count = 2}));
}

// One that says why and closes at once is reported with its words, also where both come together.
TEST(HostileRanks, ARefusalJustBeforeTheEndIsHeard) {
  auto listener = Listener::open(*IpAddress::parse("127.0.0.1"), 0);
  ASSERT_TRUE(listener);
  auto socket = Socket::connect("127.0.0.1", listener->port(), soon());
  ASSERT_TRUE(socket);
  {
    Channel peer(std::move(*listener->accept(soon())));
    ASSERT_TRUE(peer.send(Refusal{.message = "no", .hint = ""}, soon()));
  }
  pollfd end{.fd = socket->fd(), .events = POLLRDHUP, .revents = 0};
  ASSERT_EQ(poll(&end, 1, 10000), 1);
  Channel channel(std::move(*socket));
  const auto alive = channel.interrupted();
  ASSERT_FALSE(alive);
  EXPECT_EQ(alive.error().message, "the peer says: no");
}

// ---- a rank against coordinators

class BadCollectiveCoordinator : public testing::Test {
 protected:
  Channel greeted() {
    auto socket = Socket::connect("127.0.0.1", endpoints_.port(0), soon());
    EXPECT_TRUE(socket) << socket.error().to_string();
    Channel channel(std::move(*socket));
    greet_as_client(channel, kToken);
    return channel;
  }
  Channel joined(uint32_t rank = 0) {
    Channel channel = greeted();
    const Join join{.transport = Transport::kTcp,
                    .algorithms = {Algorithm::kRing},
                    .rank = rank,
                    .ranks = 2,
                    .largest_bytes = 64,
                    .rails = {{.rail = 0, .address = *IpAddress::parse("127.0.0.1"), .device = ""}}};
    EXPECT_TRUE(channel.send(join, soon()));
    auto answer = channel.receive(milliseconds(20000));
    while (answer && answer->type == Wait::kName) answer = channel.receive(milliseconds(20000));
    EXPECT_TRUE(answer) << answer.error().to_string();
    const auto at = decode_as<Joined>(*answer);
    EXPECT_TRUE(at) << at.error().to_string();
    if (at) port_ = *at->rails.at(0).links.at(0).tcp;
    return channel;
  }
  Channel linked() {
    Channel channel = joined();
    data_ = std::move(*Socket::connect("127.0.0.1", static_cast<uint16_t>(port_.port), soon()));
    const uint64_t greeting[] = {port_.cookie, 1};
    EXPECT_TRUE(data_.write_all(std::as_bytes(std::span(greeting)), soon()));
    const LinkAddress peer{.peer = 1, .name = "peer", .address = {}, .rdma = {}, .tcp = TcpAddress{1, 1}};
    EXPECT_TRUE(channel.send(Link{{{.rail = 0, .links = {peer}}}}, soon()));
    EXPECT_TRUE(channel.expect<Linked>(milliseconds(20000)));
    return channel;
  }
  static std::string answer_to(Channel channel, const auto& message) {
    EXPECT_TRUE(channel.send(message, soon()));
    const auto answer = channel.expect<Reduced>(milliseconds(20000));
    return answer ? "done" : answer.error().message;
  }

  std::deque<SimulatedClock> clocks_ = std::deque<SimulatedClock>(1);
  mesh::Endpoints endpoints_{clocks_};
  TcpAddress port_;
  Socket data_;
};

TEST_F(BadCollectiveCoordinator, IsAnsweredOnlyWhatItMayAsk) {
  EXPECT_EQ(answer_to(greeted(), Reduce{}),
            R"(the peer says: the client sent "collective-reduce" where a test was to be opened)");
  EXPECT_EQ(answer_to(joined(), Reduce{}),
            R"(the peer says: the peer sent "collective-reduce" where "collective-link" was due)");
  EXPECT_EQ(answer_to(joined(), Link{}), "the peer says: rail 0: the coordinator does not send the links of rail 0");
  EXPECT_EQ(answer_to(joined(), Link{{{.rail = 0, .links = {}}}}),
            "the peer says: rail 0: the coordinator does not send the link to rank 1");
  EXPECT_EQ(answer_to(linked(), Reduce{.number = 1, .size_bytes = 128}),
            "the peer says: the coordinator requests 128 bytes, but announced 64");
  EXPECT_EQ(answer_to(linked(), Reduce{.number = 1, .algorithm = Algorithm::kTree, .size_bytes = 64}),
            "the peer says: the coordinator requests a tree, which it did not announce");
}

// A coordinator with the token cannot make ranks send to what is no rank.
TEST_F(BadCollectiveCoordinator, CanNameOnlyRanksOfTheSameCollective) {
  const mesh::Endpoints others(1);
  const auto said = [&](uint16_t serves_at) {
    const LinkAddress peer{.peer = 0,
                           .name = "peer",
                           .address = *IpAddress::parse("127.0.0.1"),
                           .serves_at = serves_at,
                           .rdma = {},
                           .tcp = TcpAddress{others.port(0), 1}};
    return answer_to(joined(1), Link{{{.rail = 0, .links = {peer}}}});
  };
  EXPECT_EQ(said(0), "the peer says: rail 0: the coordinator does not send the address of rank 0");
  EXPECT_EQ(said(others.port(0)),
            "the peer says: rail 0: rank 0 (peer): asking 127.0.0.1 for its mesh: the peer says: 127.0.0.1 does not "
            "belong to a mesh of this server");
}

// A coordinator that goes in the middle leaves nothing running: the rank is free for the next one. Its clock stands, so
// no limit of its own ends what it did.
TEST_F(BadCollectiveCoordinator, ThatGoesLeavesTheRankFree) {
  {
    Channel channel = linked();
    EXPECT_TRUE(channel.send(Reduce{.number = 1, .size_bytes = 64}, soon()));
    EXPECT_EQ(channel.receive(milliseconds(20)).error().code, Code::kTimeout);
  }
  linked();
}

}  // namespace
}  // namespace railbed::perf::collective

// SPDX-License-Identifier: Apache-2.0
// A coordinator that endpoints register with: many at once, and those that hang, go away, lie or know no token.
#include "perf/mesh/registry.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/channel/test_greeting.h"
#include "perf/mesh/registrant.h"
#include "perf/mesh/test_endpoints.h"
#include "perf/test_resting_clock.h"

namespace railbed::perf::mesh {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Lines that somebody says, which a test can wait for.
class Heard {
 public:
  std::function<void(const std::string&)> ear() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
      changed_.notify_all();
    };
  }
  bool wait_for(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      return std::ranges::any_of(lines_, [&](const std::string& line) { return line.contains(part); });
    });
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

Register host(const std::string& name, uint16_t port) {
  return {.name = name,
          .port = port,
          .rail_count = 1,
          .rails = {{.rail = 0, .address = *IpAddress::parse("127.0.0.1"), .device = {}}}};
}

class RegistryTest : public testing::Test {
 protected:
  ~RegistryTest() override {
    stop_.request_stop();
    if (gathering_.joinable()) gathering_.join();
    for (std::jthread& one : registrants_) one.request_stop();
    registrants_.clear();
  }
  void listen(uint32_t wanted, milliseconds wait = milliseconds(60000), uint16_t port = 0) {
    auto registry = Registry::open({.bind = IpAddress::parse("127.0.0.1").value(),
                                    .port = port,
                                    .token = kToken,
                                    .limits = limits_,
                                    .wanted = wanted,
                                    .wait = wait,
                                    .stop = stop_.get_token(),
                                    .on_event = events_.ear(),
                                    .on_progress = progress_.ear()});
    ASSERT_TRUE(registry) << registry.error().to_string();
    registry_ = std::move(*registry);
    port_ = registry_->port();
    gathering_ = std::jthread([this] { gathered_ = registry_->gather(); });
  }
  // The names of those that take part, or why there is no mesh.
  std::string gathered() {
    gathering_.join();
    if (!*gathered_) return gathered_->error().to_string();
    std::string names;
    for (const Endpoint& one : (*gathered_)->setup.fabric.endpoints) names += one.host + " ";
    return names;
  }
  void start_registrant(const std::string& name, uint16_t port) {
    registrants_.emplace_back([this, name, port, at = port_](const std::stop_token& stop) {
      keep_registered({.coordinator = {"127.0.0.1", at},
                       .message = host(name, port),
                       .token = kToken,
                       .limits = patient(),
                       .first_pause = milliseconds(5),
                       .longest_pause = milliseconds(20),
                       .on_event = said_.ear()},
                      stop);
    });
  }
  Channel connect() {
    auto socket = Socket::connect("127.0.0.1", port_, soon());
    EXPECT_TRUE(socket) << socket.error().to_string();
    return Channel(std::move(*socket));
  }
  Channel greeted() {
    Channel channel = connect();
    greet_as_client(channel, kToken);
    return channel;
  }
  // One that answers the coordinator's proof without the token.
  Channel intruder() {
    Channel channel = connect();
    const Hello hello{.protocol = kProtocol, .version = "0", .hostname = "x", .nonce = Nonce{}, .proof = {}};
    EXPECT_TRUE(channel.send(hello, soon()));
    const auto answer = channel.expect<Hello>(milliseconds(20000));
    EXPECT_TRUE(channel.send(Proof{answer.value().proof.value()}, soon()));
    return channel;
  }
  // What the coordinator answers to one that asks by hand.
  std::string answer(Channel& channel, const auto& message) {
    EXPECT_TRUE(channel.send(message, soon()));
    const auto done = channel.expect<Registered>(milliseconds(20000));
    return done ? fmt::format("{} of {}", done->registered, done->wanted) : done.error().to_string();
  }

  perf::Limits limits_ = patient();
  SimulatedClock clock_;
  std::stop_source stop_;
  Heard events_, progress_, said_;
  std::unique_ptr<Registry> registry_;
  uint16_t port_ = 0;
  std::optional<Result<Gathered>> gathered_;
  std::jthread gathering_;
  std::list<std::jthread> registrants_;
};

TEST_F(RegistryTest, FiftyAtOnceAmongStrangers) {
  limits_.greet = milliseconds(60000);  // none of these is waited for
  listen(50);
  Channel silent = connect();
  Channel nonsense = connect();
  const std::string http = "GET / HTTP/1.0\r\n\r\n";
  EXPECT_TRUE(const_cast<Socket&>(nonsense.socket()).write_all(std::as_bytes(std::span(http)), soon()));
  Channel stranger = intruder();
  Channel half = greeted();
  for (int i = 0; i < 50; ++i) start_registrant(fmt::format("host{:02}", i), static_cast<uint16_t>(20000 + i));
  const std::string names = gathered();
  EXPECT_THAT(names, testing::StartsWith("host00 host01 "));
  EXPECT_EQ((*gathered_)->setup.hosts.size(), 50u);
  EXPECT_EQ((*gathered_)->missing, 0u);
  EXPECT_EQ((*gathered_)->setup.hosts[49], on_loopback(20049));
  EXPECT_THAT(events_.lines(), Contains("127.0.0.1: the token is not this server's"));
  EXPECT_THAT(events_.lines(), Contains(HasSubstr("does not speak railbed's control protocol")));
  EXPECT_EQ(stranger.expect<Welcome>(milliseconds(20000)).error().to_string(),
            "the peer says: the token is not this server's\n  give the client the server's token with --token-file");
  EXPECT_THAT(progress_.lines(), Contains("50 of 50 endpoints registered"));
}

TEST_F(RegistryTest, WhoHangsIsSentAway) {
  limits_.greet = milliseconds(50);
  limits_.clock = &clock_;
  listen(2);
  Channel silent = connect();
  Channel half = greeted();
  clock_.advance(milliseconds(51));
  EXPECT_EQ(half.expect<Registered>(milliseconds(20000)).error().to_string(),
            "the peer says: no message from the peer for 50 ms");
  EXPECT_EQ(silent.expect<Hello>(milliseconds(20000)).error().to_string(),
            "the peer says: no message from the peer for 50 ms");
  // Who registers in time stays, however long it is silent then.
  Channel first = greeted();
  EXPECT_EQ(answer(first, host("a", 1)), "1 of 2");
  Channel again = connect();
  Channel looker = greeted();  // who is answered after `again` was let in
  clock_.advance(milliseconds(51));
  EXPECT_FALSE(again.expect<Hello>(milliseconds(20000)));
  Channel second = greeted();
  EXPECT_EQ(answer(second, host("b", 2)), "2 of 2");
  EXPECT_EQ(gathered(), "a b ");
}

TEST_F(RegistryTest, OfManyStrangersTheOldestGoes) {
  limits_.max_silent = 3;
  limits_.greet = milliseconds(60000);
  listen(2);
  std::list<Channel> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(connect());
  EXPECT_EQ(strangers.front().expect<Hello>(milliseconds(20000)).error().to_string(),
            "the peer says: it sent nothing while others were waiting");
  Channel first = greeted();
  EXPECT_EQ(answer(first, host("a", 1)), "1 of 2");
  Channel second = greeted();
  EXPECT_EQ(answer(second, host("b", 2)), "2 of 2");
  EXPECT_EQ(gathered(), "a b ");
}

TEST_F(RegistryTest, WhoHasGoneIsNoneOfThem) {
  listen(2);
  {
    Channel gone = greeted();
    EXPECT_EQ(answer(gone, host("gone", 1)), "1 of 2");
  }
  EXPECT_TRUE(events_.wait_for("gone: disconnected"));
  Channel first = greeted();
  EXPECT_EQ(answer(first, host("a", 1)), "1 of 2");
  Channel second = greeted();
  EXPECT_EQ(answer(second, host("b", 2)), "2 of 2");
  EXPECT_EQ(gathered(), "a b ");
}

TEST_F(RegistryTest, WhoLiesIsReportedAndRefused) {
  listen(2);
  Channel honest = greeted();
  EXPECT_EQ(answer(honest, host("a", 1)), "1 of 2");
  const auto said = [&](const auto& message) {
    Channel liar = greeted();
    return this->answer(liar, message);
  };
  EXPECT_EQ(said(host("a", 2)),
            "the peer says: a is already registered from 127.0.0.1 port 1\n  rename one of them with --name");
  EXPECT_EQ(said(host("b", 1)),
            "the peer says: 127.0.0.1 port 1 is already registered as a\n  one server is one host of a mesh");
  EXPECT_EQ(said(Ready{}), R"(the peer says: the peer sent "ready" where "mesh-register" was due)");
  EXPECT_EQ(said(Register{.name = "c", .port = 3, .rail_count = 1, .rails = {}}),
            "the peer says: message mesh-register: rails: a host of a mesh has a NIC");
  Register far = host("c", 3);
  far.rails[0].rail = 1;
  EXPECT_EQ(said(far), "the peer says: message mesh-register: rails: rail 1 of 1, counted from 0");
  EXPECT_EQ(said(host("", 3)), "the peer says: message mesh-register: name: a host of a mesh has a name");
  // One that goes on talking when it has registered.
  Channel talks = greeted();
  Register control = host("\x1b[2J", 4);
  EXPECT_TRUE(talks.send(control, soon()));
  EXPECT_EQ(gathered(), "\x1b[2J a ");
  EXPECT_TRUE(events_.lines().size() >= 6);
  for (const std::string& line : events_.lines()) EXPECT_FALSE(line.contains('\x1b')) << line;
}

TEST_F(RegistryTest, WhoTalksOnIsSentAway) {
  listen(2);
  Channel talks = greeted();
  EXPECT_EQ(answer(talks, host("a", 1)), "1 of 2");
  EXPECT_TRUE(talks.send(Ready{}, soon()));
  EXPECT_TRUE(events_.wait_for(R"(a: it sent "ready" when no message was expected)"));
  Channel first = greeted();
  EXPECT_EQ(answer(first, host("a", 1)), "1 of 2");
}

TEST_F(RegistryTest, ItsTimeIsBounded) {
  limits_.clock = &clock_;
  listen(3, milliseconds(400));
  Channel first = greeted();
  EXPECT_EQ(answer(first, host("a", 1)), "1 of 3");
  Channel second = greeted();
  EXPECT_EQ(answer(second, host("b", 2)), "2 of 3");
  clock_.advance(milliseconds(400));
  EXPECT_EQ(gathered(), "a b ");
  EXPECT_EQ((*gathered_)->missing, 1u);
  listen(0, milliseconds(10));
  EXPECT_TRUE(progress_.wait_for("0 endpoint(s) registered"));
  clock_.advance(milliseconds(10));
  EXPECT_EQ(gathered(),
            fmt::format("a mesh needs two endpoints, 0 registered at port {} within 0.01 s\n  `railbed perf "
                        "serve --register COORDINATOR --rail … --token-file FILE` on each of them",
                        port_));
}

TEST_F(RegistryTest, AStopEndsIt) {
  listen(2);
  stop_.request_stop();
  EXPECT_EQ(gathered(), "stopped");
}

TEST_F(RegistryTest, EndpointsKeepTryingAndSayWhyOnce) {
  listen(2, milliseconds(1));
  gathering_.join();
  registry_.reset();  // a port without a listener
  start_registrant("a", 1);
  start_registrant("b", 2);
  EXPECT_TRUE(said_.wait_for("not registered, retrying: connecting to 127.0.0.1"));
  gathered_.reset();
  listen(2, milliseconds(60000), port_);
  EXPECT_EQ(gathered(), "a b ");
  EXPECT_TRUE(said_.wait_for(fmt::format("127.0.0.1 port {}: registered as a, ", port_)));
  const auto reasons = said_.lines();
  EXPECT_LE(std::ranges::count_if(reasons, [](const auto& line) { return line.contains("connecting to"); }), 2);
  // The mesh is over: they are there for the next one.
  registry_.reset();
  EXPECT_TRUE(said_.wait_for("the peer closed the connection"));
  gathered_.reset();
  listen(2, milliseconds(60000), port_);
  EXPECT_EQ(gathered(), "a b ");
}

TEST_F(RegistryTest, WhatRegistersIsMeasured) {
  const Endpoints servers(2);
  listen(2);
  start_registrant("a", servers.port(0));
  start_registrant("b", servers.port(1));
  EXPECT_EQ(gathered(), "a b ");
  const auto run = run_mesh((*gathered_)->setup, brief(Transport::kTcp));
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->results.coverage(), (Coverage{.planned = 1, .measured = 1, .skipped = 0}));
}

// A coordinator may be anything that answers there.
TEST(Registrant, OutlivesBadCoordinators) {
  auto listener = Listener::open(*IpAddress::parse("127.0.0.1"), 0);
  ASSERT_TRUE(listener);
  Heard said;
  RestingClock clock;
  const RegistrantOptions options{.coordinator = {"127.0.0.1", listener->port()},
                                  .message = host("a", 1),
                                  .token = kToken,
                                  .limits = {.answer = milliseconds(50), .clock = &clock},
                                  .first_pause = milliseconds(1),
                                  .longest_pause = milliseconds(2),
                                  .on_event = said.ear()};
  const std::jthread registrant([&](const std::stop_token& stop) { keep_registered(options, stop); });
  const auto meet = [&](const std::function<void(Channel&, const Envelope&)>& play, const std::string& reason) {
    auto socket = listener->accept(soon());
    ASSERT_TRUE(socket);
    Channel channel(std::move(*socket));
    const auto hello = channel.receive(milliseconds(20000));
    ASSERT_TRUE(hello);
    play(channel, *hello);
    EXPECT_TRUE(said.wait_for(reason)) << reason;
  };
  meet([](Channel&, const Envelope&) {}, "no message from the peer for 50 ms");
  meet([](Channel& channel, const Envelope&) { EXPECT_TRUE(channel.send(Ready{}, soon())); },
       R"(the peer sent "ready" where "hello")");
  meet([](Channel& channel,
          const Envelope&) { EXPECT_TRUE(channel.send(Hello{.protocol = 77, .version = "9"}, soon())); },
       "the coordinator (railbed 9) speaks protocol 77");
  meet([](Channel& channel, const Envelope&) { EXPECT_TRUE(channel.send(Hello{.version = "0"}, soon())); },
       "the coordinator has no token and cannot prove its identity\n"
       "  start it with --token-file, or leave out --token-file here");
  meet([](Channel& channel, const Envelope& hello) { EXPECT_FALSE(greet_as_server(channel, "another", &hello)); },
       "the coordinator does not have this token: its proof is wrong\n  check the address, and that both sides have "
       "the same --token-file; nothing that depends on the token was sent to the coordinator");
  meet([](Channel& channel,
          const Envelope&) { EXPECT_TRUE(channel.send(Refusal{.message = "\x1b[2Jno", .hint = ""}, soon())); },
       "the peer says: \\x1b[2Jno");
  meet(
      [](Channel& channel, const Envelope& hello) {
        EXPECT_TRUE(greet_as_server(channel, kToken, &hello));
        EXPECT_TRUE(channel.expect<Register>(milliseconds(20000)));
        EXPECT_TRUE(channel.send(Registered{.registered = 1, .wanted = 0}, soon()));
        EXPECT_TRUE(channel.send(Ready{}, soon()));
      },
      R"(it sent "ready" when no message was expected)");
  EXPECT_THAT(said.lines(), Contains(HasSubstr("registered as a, 1 endpoint(s)")));
}

TEST(CoordinatorFrom, TakesAddressesAndNames) {
  const auto of = [](const std::string& text) {
    const auto address = coordinator_from(text);
    return address ? fmt::format("{} {}", address->host, address->port) : address.error().message;
  };
  EXPECT_EQ(of("10.0.0.9"), "10.0.0.9 18601");
  EXPECT_EQ(of("10.0.0.9:4711"), "10.0.0.9 4711");
  EXPECT_EQ(of("fd00::9"), "fd00::9 18601");
  EXPECT_EQ(of("[fd00::9]"), "fd00::9 18601");
  EXPECT_EQ(of("[fd00::9]:4711"), "fd00::9 4711");
  EXPECT_EQ(of("coordinator.example.com:1"), "coordinator.example.com 1");
  for (const char* wrong : {"", ":1", "a:", "a:0", "a:65536", "a:1x", "[fd00::9", "[fd00::9]1", "[]:1"})
    EXPECT_EQ(of(wrong), fmt::format("--register: \"{}\" is not an address of a coordinator", wrong));
}

TEST(RegisterFor, RailsAreInterfacesOrAddresses) {
  const auto kernel = os::real_kernel();
  const auto said = register_for(*kernel, "a", 7, {"lo", "", "127.0.0.1"});
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(said->rail_count, 3u);
  EXPECT_EQ(said->rails, (std::vector<OwnRail>{{.rail = 0, .address = *IpAddress::parse("127.0.0.1"), .device = {}},
                                               {.rail = 2, .address = *IpAddress::parse("127.0.0.1"), .device = {}}}));
  const auto why = [&](const std::vector<std::string>& rails) {
    return register_for(*kernel, "a", 7, rails).error().message;
  };
  EXPECT_EQ(why({}), "--register requires --rail: the endpoint decides what is measured");
  EXPECT_EQ(why({""}), "--rail: this host has no NIC on any rail");
  EXPECT_EQ(why({"net77"}), "--rail net77: no such interface here, and no address");
  EXPECT_EQ(why({"192.0.2.1"}), "--rail 192.0.2.1: not an address of this network namespace");
  EXPECT_EQ(why(std::vector<std::string>(65, "lo")), "--rail: 65 rails, at most 64 are possible");
  EXPECT_EQ(register_for(*kernel, "", 7, {"lo"}).error().message,
            "--name: a host of a mesh has a name of 1 to 253 bytes");
}

}  // namespace
}  // namespace railbed::perf::mesh

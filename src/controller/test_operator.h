// SPDX-License-Identifier: Apache-2.0
// The whole operator against an API server in memory, with its threads, for tests. Its clock goes on when a test says
// so, and only when all threads have done what is due: how fast the machine is decides nothing.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "controller/operator.h"
#include "controller/test_cluster.h"
#include "controller/test_rights.h"
#include "doc/members.h"
#include "kube/fake/clock.h"
#include "kube/fake/roles.h"

namespace railbed::controller::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kP0 = R"("numVfs": 4, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {})";
constexpr const char* kP1 = R"("numVfs": 2, "nicSelector": {"pfNames": ["p1"]}, "nodeSelector": {})";
constexpr const char* kOperatorPod = "/api/v1/namespaces/sriov/pods/sriov-network-operator";

constexpr milliseconds kStep{10};
constexpr int kWriters = 4;
constexpr size_t kCaches = 11;

// An API server with the definitions and the operator's namespace.
struct OperatorWorld {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock{kube::fake::FakeClock::Goes::kOnAdvance};
  DrainRules drains{.period = milliseconds(20), .limits = {.between = seconds(1)}};
  size_t threads = 0;  // of all operators, that wait for a time or for news when nothing is to be done
  std::mutex mutex;
  std::vector<std::string> log;

  OperatorWorld() {
    for (const char* plural : {"sriovnetworknodepolicies", "sriovnetworks", "sriovibnetworks"})
      server.put(crd_path(plural), object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural));
    server.put("/api/v1/namespaces/op", object("v1", "Namespace", "", "op"));
    server.put("/api/v1/namespaces/llm", object("v1", "Namespace", "", "llm"));
  }
  static std::string crd_path(const std::string& plural) {
    return "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + plural + ".sriovnetwork.openshift.io";
  }

  // Until all that is due is done.
  void come_to_rest() {
    const auto patience = std::chrono::steady_clock::now() + seconds(60);
    while (clock.waiting() + server.waiting_streams() < threads && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  // Time goes on until it holds; what is not of this clock has a minute.
  bool comes(const std::function<bool()>& holds) {
    for (const auto patience = std::chrono::steady_clock::now() + seconds(60);; clock.advance(kStep)) {
      come_to_rest();
      if (holds()) return true;
      if (std::chrono::steady_clock::now() > patience) return false;
    }
  }
  // For a second of its time.
  bool stays(const std::function<bool()>& holds) {
    for (milliseconds passed{0}; passed < seconds(1); passed += kStep) {
      come_to_rest();
      if (!holds()) return false;
      clock.advance(kStep);
    }
    return true;
  }

  void put(const Value& policy) { server.put(policy_path(kube::key_of(policy).name), policy); }
  void put_node(const std::string& name, const graph::Labels& labels = {}) {
    server.put(node_path(name), node(name, labels));
  }
  // What the agent of a node reports, once there is a node state.
  void report(const std::string& name, std::vector<facts::Nic> nics, const std::string& sync_status = "") {
    Value state = stored(state_path(name));
    state.set("status", status_of(name, std::move(nics), sync_status));
    server.put(state_path(name), std::move(state));
  }
  Value stored(const std::string& path) {
    const auto all = server.objects();
    const auto found = all.find(path);
    return found != all.end() ? found->second : Value();
  }
  std::string spec(const std::string& name) {
    const Value state = stored(state_path(name));
    const Value* at = state.find("spec");
    return at != nullptr ? doc::to_json(*at) : "none";
  }
  bool has_vfs(const std::string& name, int count) {
    return spec(name).find(fmt::format("\"numVfs\":{}", count)) != std::string::npos;
  }
  int writes_of(const std::string& path) {
    int out = 0;
    for (const std::string& request : server.requests())
      out += !request.starts_with("GET") && !request.starts_with("WATCH") && request.find(path) != std::string::npos;
    return out;
  }
  std::string events() {
    std::string out;
    for (const auto& [path, one] : server.objects())
      if (path.find("/events/") != std::string::npos)
        out += doc::text_in(one, "reason") + ": " + doc::text_in(one, "note") + "\n";
    return out;
  }
  std::string reported() {
    const std::lock_guard lock(mutex);
    std::string out;
    for (const std::string& line : log) out += line + "\n";
    return out;
  }
};

struct Running {
  explicit Running(OperatorWorld& the_world, const std::string& identity = "me", seconds keep = seconds(1800))
      : world(the_world),
        work(world.server, world.clock,
             {.ns = "op",
              .identity = identity,
              .writers = kWriters,
              .settle = milliseconds(60),
              .status_pause = milliseconds(20),
              .look_period = milliseconds(10),
              .upstream_quiet = milliseconds(100),
              .keep_states = keep,
              .cells_gather = milliseconds(5),
              .identities_period = milliseconds(2000),
              .drains = world.drains},
             [this](Importance, const std::string& line) {
               const std::lock_guard lock(world.mutex);
               world.log.push_back(line);
             }),
        thread([this](std::stop_token stop) { work.run(stop); }) {
    world.threads += kThreads;
  }
  ~Running() {
    thread.request_stop();
    thread.join();
    world.threads -= kThreads;
  }
  bool settled() const { return work.snapshot().closed.empty() && work.idle(); }

  static constexpr size_t kThreads = kCaches + kWriters + 1;  // and the one of the Lease
  OperatorWorld& world;
  Operator work;
  std::jthread thread;
};

struct OperatorTest : ::testing::Test {
  OperatorWorld world;
  std::optional<Running> running;

  void TearDown() override {
    running.reset();
    EXPECT_EQ(kube::fake::beyond(operator_rights(), world.server.requests(), "op"), "");
  }
  void start(const std::string& identity = "me") { running.emplace(world, identity); }
  // A node whose agent has reported two NICs.
  void node_with_nics(const std::string& name, const graph::Labels& labels = {}) {
    world.put_node(name, labels);
    ASSERT_TRUE(world.comes([&] { return !world.stored(state_path(name)).is_null(); })) << world.reported();
    world.report(name, two_nics());
  }
  void expect(const std::string& what, const std::function<bool()>& holds) {
    EXPECT_TRUE(world.comes(holds)) << what << "\n" << world.reported() << world.events();
  }
  void expect_event(const std::string& text) {
    expect("an Event: " + text, [&] { return world.events().find(text) != std::string::npos; });
  }
  // For what must not happen.
  void expect_stays(const std::string& what, const std::function<bool()>& holds) {
    EXPECT_TRUE(world.stays(holds)) << what << "\n" << world.reported();
  }
};

}  // namespace railbed::controller::testing

// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_keeper.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/cluster/test_cells.h"
#include "agent/cluster/test_cluster.h"

namespace railbed::agent {
namespace {

using ipam::ip;
using std::chrono::seconds;

// A machine of CellMachine whose leases are a CellKeeper's.
class CellKeeperTest : public testing::Test {
 protected:
  kube::fake::ApiServer server_;
  CellMachine machine_{server_, "node1", "uuid-1"};
  CellMachine other_{server_, "node2", "uuid-2"};
  Events events_;
  api::IpamConfig rail_ = one_range("10.0.0.0/24");
  std::optional<std::vector<ipam::CellWant>> wants_ = std::vector<ipam::CellWant>();
  std::function<Result<std::vector<PoolBeside>>(kube::Client&, std::stop_token)> pools_;
  std::vector<std::string> reported_;
  std::mutex turns_;
  std::optional<CellKeeper> keeper_;

  // The state of a machine is not for two threads: a turn is one thread's.
  class Book : public CellBook {
   public:
    Book(CellMachine& machine, std::mutex& turns) : machine_(machine), turns_(turns) {}
    int taken = 0;
    Result<void> in_turn(const std::function<Result<void>(state::Store&, const InUse&)>& work) override {
      const std::lock_guard lock(turns_);
      ++taken;
      return machine_.in_turn(work);
    }

   private:
    CellMachine& machine_;
    std::mutex& turns_;
  };
  Book book_{machine_, turns_};

  void SetUp() override {
    for (const auto& [node, uuid] : {std::pair("node1", "uuid-1"), std::pair("node2", "uuid-2")}) put_node(node, uuid);
    start();
  }
  void TearDown() override { EXPECT_EQ(beyond_the_role(server_), ""); }
  void put_node(const std::string& name, const std::string& uuid) {
    doc::Value node = kube::fake::object("Node", "", name), status = doc::Value::object(), info = doc::Value::object();
    info.set("systemUUID", uuid);
    status.set("nodeInfo", std::move(info));
    node.set("status", std::move(status));
    server_.put("/api/v1/nodes/" + name, node);
  }
  void start() {
    keeper_.emplace(CellKeeper::Dependencies{.client = *machine_.client,
                                             .book = book_,
                                             .blocks = *machine_.blocks,
                                             .events = events_,
                                             .wants = [this] { return wants_; },
                                             .pools = pools_,
                                             .report =
                                                 [this](const char* reason, const std::string& one) {
                                                   reported_.push_back(fmt::format("{}: {}", reason, one));
                                                 }},
                    CellKeeper::Settings{.node = "node1",
                                         .machine = {.uuids = {"uuid-1"}, .boot_id = machine_.boot_id()},
                                         .quiet_seconds = kQuietSeconds,
                                         .process = "p"});
  }
  static ipam::CellWant want(const api::IpamConfig& config, uint64_t addresses) {
    return ipam::wants_of(config, addresses).front();
  }
  // What an ADD gets that waits for it.
  std::string more(const api::IpamConfig& config, std::vector<IpAddress> by_name = {}, seconds wait = seconds(60)) {
    const std::jthread thread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        keeper_->pass(stop);
        std::this_thread::yield();
      }
    });
    const auto supplied = keeper_->more({{config, std::move(by_name)}}, std::chrono::steady_clock::now() + wait);
    return supplied.why_not ? supplied.why_not->story() : "leased";
  }
  uint64_t free_here(const api::IpamConfig& config) {
    return ipam::usable_of(want(config, 0), stored_cells(*machine_.store).value()[config.network_name]);
  }
};

TEST_F(CellKeeperTest, LeasesWhatIsWantedAndGivesItBack) {
  wants_ = {want(rail_, 20)};
  keeper_->pass({});
  EXPECT_GE(free_here(rail_), 20u);
  CellKeeper::Snapshot now = keeper_->snapshot();
  EXPECT_EQ(fmt::format("{} {} {}", now.cells, now.addresses, now.nodes), "2 32 2");
  EXPECT_FALSE(now.error.has_value());
  wants_ = std::vector<ipam::CellWant>();
  for (int i = 0; i < 4; ++i) {
    machine_.clock.advance(seconds(40));
    keeper_->pass({});
  }
  EXPECT_EQ(cells_in(server_), "");
  EXPECT_EQ(keeper_->snapshot().cells, 0u);
}

// A pod after the other: at each look at what is left over the last one has just gone.
TEST_F(CellKeeperTest, KeepsWhatPodsThatComeAndGoWant) {
  for (int i = 0; i < 6; ++i) {
    wants_ = {want(rail_, 1)};
    machine_.clock.advance(seconds(1));
    keeper_->pass({});
    const std::string leased = cells_in(server_);
    EXPECT_NE(leased, "");
    wants_ = std::vector<ipam::CellWant>();
    machine_.clock.advance(seconds(40));
    keeper_->pass({});
    EXPECT_EQ(cells_in(server_), leased) << i;
  }
}

// A round comes with each pod that starts or ends on the node, and a turn keeps ADDs waiting.
TEST_F(CellKeeperTest, TakesNoTurnWhereNothingIsToBeLeased) {
  wants_ = {want(rail_, 20)};
  keeper_->pass({});
  const int before = book_.taken;
  for (int i = 0; i < 10; ++i) {
    keeper_->wake();
    keeper_->pass({});
  }
  EXPECT_EQ(book_.taken, before);
}

TEST_F(CellKeeperTest, GivesNothingBackBeforePodsAreKnown) {
  wants_ = {want(rail_, 1)};
  keeper_->pass({});
  wants_.reset();
  for (int i = 0; i < 5; ++i) {
    machine_.clock.advance(seconds(40));
    keeper_->pass({});
  }
  EXPECT_NE(cells_in(server_), "");
}

TEST_F(CellKeeperTest, LeasesNothingAsAnotherMachinesNode) {
  put_node("node1", "uuid-9");
  wants_ = {want(rail_, 1)};
  keeper_->pass({});
  EXPECT_EQ(cells_in(server_), "");
  ASSERT_TRUE(keeper_->snapshot().error.has_value());
  EXPECT_EQ(keeper_->snapshot().error->story(),
            "the Node node1 belongs to another machine with the system UUID uuid-9; this one has uuid-1");
  EXPECT_FALSE(machine_.blocks->may_give({ip("10.0.0.1"), ip("10.0.0.1")}).has_value());
  put_node("node1", "uuid-1");
  machine_.clock.advance(seconds(2));
  keeper_->pass({});
  EXPECT_NE(cells_in(server_), "");
  EXPECT_FALSE(keeper_->snapshot().error.has_value());
}

TEST_F(CellKeeperTest, GivesNothingBeforeThePoolsOfWhereaboutsAreKnown) {
  bool known = false;
  pools_ = [&](kube::Client&, std::stop_token) -> Result<std::vector<PoolBeside>> {
    if (!known) return fail(Code::kDenied, "ippools is forbidden");
    return std::vector<PoolBeside>{{"10.0.0.0-25", {ip("10.0.0.0"), ip("10.0.0.127")}}};
  };
  start();
  wants_ = {want(rail_, 1), want(one_range("10.0.1.0/24"), 1)};
  keeper_->pass({});
  EXPECT_EQ(keeper_->snapshot().error->story(), "pools of whereabouts: ippools is forbidden");
  EXPECT_FALSE(machine_.blocks->may_give({ip("10.0.1.1"), ip("10.0.1.1")}).has_value());
  known = true;
  machine_.clock.advance(seconds(2));
  keeper_->pass({});
  EXPECT_THAT(cells_in(server_), testing::StartsWith("10.0.1.")) << "the other range is whereabouts' own";
  EXPECT_THAT(keeper_->snapshot().lacking,
              testing::ElementsAre(testing::StartsWith("the range 10.0.0.0-10.0.0.255 overlaps with the IPPool")));
}

// Whereabouts begins to give addresses of ranges between two looks at the API server.
TEST_F(CellKeeperTest, LooksAtThePoolsOfWhereaboutsBeforeItLeases) {
  std::vector<PoolBeside> beside;
  int looks = 0;
  pools_ = [&](kube::Client&, std::stop_token) -> Result<std::vector<PoolBeside>> {
    ++looks;
    return beside;
  };
  start();
  wants_ = {want(one_range("10.0.1.0/24"), 1)};
  keeper_->pass({});
  EXPECT_EQ(looks, 1);
  EXPECT_THAT(cells_in(server_), testing::StartsWith("10.0.1."));
  beside = {{"10.0.0.0-24", {ip("10.0.0.0"), ip("10.0.0.255")}}};
  machine_.clock.advance(seconds(15));
  wants_->push_back(want(rail_, 1));
  keeper_->pass({});
  EXPECT_EQ(looks, 2);
  EXPECT_THAT(cells_in(server_), testing::Not(testing::HasSubstr("10.0.0.")));
  EXPECT_THAT(keeper_->snapshot().lacking, testing::SizeIs(1));
  // And before an ADD's, where nothing of the network is held here.
  beside = {{"rail1-10.2.0.0-24", {ip("10.2.0.0"), ip("10.2.0.255")}}};
  wants_->pop_back();
  machine_.clock.advance(seconds(15));
  EXPECT_THAT(more(one_range("10.2.0.0/24", "rail1")),
              testing::StartsWith("the range 10.2.0.0-10.2.0.255 overlaps with the IPPool rail1-10.2.0.0-24"));
  EXPECT_EQ(looks, 3);
  machine_.clock.advance(seconds(15));
  EXPECT_EQ(more(one_range("10.0.1.0/24"), {ip("10.0.1.200")}), "leased");
  EXPECT_EQ(looks, 3) << "an ADD costs two requests";
}

TEST_F(CellKeeperTest, GetsAnAddMoreThanWasWanted) {
  keeper_->pass({});
  const int asked = machine_.way.requests;
  EXPECT_EQ(more(rail_), "leased");
  EXPECT_LE(machine_.way.requests, asked + 2);
  EXPECT_GE(free_here(rail_), 1u);
}

TEST_F(CellKeeperTest, GetsAnAddTheAddressThatItAsksFor) {
  keeper_->pass({});
  const int asked = machine_.way.requests;
  EXPECT_EQ(more(rail_, {ip("10.0.0.77")}), "leased");
  EXPECT_EQ(machine_.way.requests, asked + 2);
  EXPECT_EQ(cells_in(server_), "10.0.0.64 node1 2000");
  ASSERT_TRUE(other_.leaser->sync({}).has_value());
  ASSERT_TRUE(other_.leaser->lease_address("", ip("10.0.0.200"), {}).has_value());
  EXPECT_EQ(more(rail_, {ip("10.0.0.200")}), "another node has leased 10.0.0.200 (network_name \"\")");
}

TEST_F(CellKeeperTest, SaysAtOnceThatNothingIsLeft) {
  const api::IpamConfig small = one_range("10.0.0.0/28");
  ASSERT_TRUE(other_.leaser->sync({}).has_value());
  ASSERT_TRUE(other_.leaser->lease(want(small, 14), {}).has_value());
  EXPECT_EQ(more(small),
            "all addresses of 10.0.0.0-10.0.0.15 are in use or reserved for pods of a node (network_name \"\")");
}

TEST_F(CellKeeperTest, SaysAtTheDeadlineSinceWhenTheApiServerIsSilent) {
  keeper_->pass({});
  machine_.way.trouble = Way::Trouble::kAway;
  // No thread runs the keeper yet.
  const auto supplied = keeper_->more({{rail_, {}}}, std::chrono::steady_clock::now());
  ASSERT_TRUE(supplied.why_not.has_value());
  EXPECT_EQ(supplied.why_not->message,
            "this node has no free leased address, and leasing another one from the API server timed out; its last "
            "list of this node's leases is 0 s old");
  machine_.clock.advance(seconds(5));
  wants_ = {want(rail_, 1)};
  keeper_->pass({});
  EXPECT_THAT(more(rail_, {}, seconds(0)),
              testing::EndsWith("its last list of this node's leases is 5 s old: connection refused"));
  machine_.clock.advance(seconds(1));
  wants_ = std::vector<ipam::CellWant>();
  machine_.way.trouble = Way::Trouble::kNone;
  EXPECT_EQ(more(rail_), "leased") << "an ADD that waits is why the API server is asked again at once";
}

// What it has leased may be another node's by now: that is another reason than that there is nothing.
TEST_F(CellKeeperTest, SaysThatItGivesNothingAfterALongOutage) {
  wants_ = {want(rail_, 1)};
  keeper_->pass({});
  machine_.way.trouble = Way::Trouble::kAway;
  machine_.clock.advance(seconds(kQuietSeconds));
  keeper_->pass({});
  EXPECT_EQ(more(rail_, {}, seconds(0)),
            "this node has not reached the API server for 43200 s; other nodes may lease its addresses if it counts as "
            "deleted; connection refused");
}

TEST_F(CellKeeperTest, LetsEverybodyGoWhenTheAgentEnds) {
  machine_.way.trouble = Way::Trouble::kAway;
  std::jthread thread([this](const std::stop_token& stop) { keeper_->run(stop); });
  const std::jthread ends([&] {
    (void)eventually([&] { return keeper_->snapshot().waiting == 1; });
    thread.request_stop();
  });
  const auto supplied = keeper_->more({{rail_, {}}}, std::chrono::steady_clock::now() + seconds(600));
  EXPECT_TRUE(supplied.why_not.has_value());
}

// Each that gets "leased" keeps an address until it has taken it, so that fifty do not count on the same one.
TEST_F(CellKeeperTest, ServesFiftyAtOnce) {
  const std::jthread thread([this](const std::stop_token& stop) { keeper_->run(stop); });
  std::mutex mutex;
  std::set<IpAddress> addresses;
  std::vector<std::string> failures;
  {
    std::vector<std::jthread> pods;
    for (int i = 0; i < 50; ++i)
      pods.emplace_back([&, i] {
        const ipam::Owner owner{fmt::format("ns/p{}", i), "net1"};
        const auto supplied = keeper_->more({{rail_, {}}}, std::chrono::steady_clock::now() + seconds(60));
        const std::lock_guard turn(turns_);
        const auto given = machine_.addresses->allocate(rail_, "ns/net", {}, owner);
        const std::lock_guard lock(mutex);
        if (given.has_value())
          addresses.insert(given->front().address.address);
        else
          failures.push_back(given.error().story());
      });
  }
  EXPECT_EQ(addresses.size(), 50u) << fmt::format("{}", fmt::join(failures, "\n"));
  EXPECT_EQ(keeper_->snapshot().waiting, 0u);
}

TEST_F(CellKeeperTest, ReportsAddressesThatAnotherNodeHas) {
  wants_ = {want(rail_, 1)};
  keeper_->pass({});
  const IpAddress given = machine_.addresses->allocate(rail_, "ns/net", {}, {"ns/a", "net1"})->front().address.address;
  const auto objects = server_.objects();
  for (const auto& [path, object] : objects)
    if (auto cell = api::read_address_cell(object); cell.has_value()) {
      cell->leases[0].holder = {"node2", "uuid-2", "b"};
      server_.put(path, api::to_value(*cell));
    }
  machine_.clock.advance(seconds(3600));
  keeper_->pass({});
  const std::string story = fmt::format(
      "{} of network_name \"\" is in use on this node, but according to the API server node node2 has leased it",
      given);
  EXPECT_THAT(reported_, testing::ElementsAre("AddressConflict: " + story));
  EXPECT_THAT(keeper_->snapshot().conflicts, testing::ElementsAre(story));
  EXPECT_EQ(events_.all().front().about, "conflict");
}

TEST_F(CellKeeperTest, ReportsLeasesThatSomebodyTookAway) {
  wants_ = {want(rail_, 1)};
  keeper_->pass({});
  const auto objects = server_.objects();
  for (const auto& [path, object] : objects)
    if (api::read_address_cell(object).has_value()) server_.erase(path);
  machine_.clock.advance(seconds(3600));
  keeper_->pass({});
  EXPECT_THAT(reported_, testing::ElementsAre(
                             testing::StartsWith("AddressLeaseLost: the API server no longer has this node's lease")));
  EXPECT_THAT(keeper_->snapshot().conflicts, testing::IsEmpty()) << "no other node has the addresses";
  EXPECT_EQ(events_.all().front().about, "lost");
}

}  // namespace
}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "controller/cell_reclaim.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <malloc.h>

#include "controller/node_states.h"
#include "controller/test_cells.h"
#include "kube/fake/clock.h"

namespace railbed::controller {
namespace {

using namespace testing;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kDay = 86400;

struct ReclaimWorld {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  std::map<std::string, kube::ObjectPtr> cached;  // Nodes, as an informer had them last
  int writes = 0;

  void put_node(const std::string& name, const Machine& machine) {
    server.put(node_path(name), node_of(name, machine));
    hear();
  }
  void delete_node(const std::string& name) {
    server.erase(node_path(name));
    hear();
  }
  void hear() {
    cached.clear();
    for (auto [path, object] : server.objects())
      if (path.starts_with("/api/v1/nodes/")) {
        node_trim()(object);
        const std::string name = kube::key_of(object).name;
        cached[name] = std::make_shared<const Value>(std::move(object));
      }
  }
  int requests(const std::string& of) const {
    int out = 0;
    for (const std::string& one : server.requests()) out += one.starts_with(of);
    return out;
  }
};

// An operator's process.
struct Process {
  ReclaimWorld& world;
  std::function<bool()> leads;
  std::vector<std::string> reported;
  kube::Client client;
  CellReclaimer cells;

  explicit Process(
      ReclaimWorld& in, ReclaimSettings settings = {}, std::function<bool()> leading = [] { return true; })
      : world(in),
        leads(std::move(leading)),
        client(in.server, in.clock, {.retry = {.tries = 1}, .page = 3}),
        cells({.reader = client,
               .writer = client,
               .clock = in.clock,
               .node =
                   [this](const std::string& name) {
                     const auto found = world.cached.find(name);
                     return found != world.cached.end() ? found->second : nullptr;
                   },
               .may_write = [this] { return leads(); },
               .wrote = [this](const std::string&, const kube::ApiError* error) { world.writes += error == nullptr; },
               .ended =
                   [this](const EndedLeases& one) {
                     reported.push_back(fmt::format("{} {}: {} in {}: {}", one.holder.node, one.reason, one.addresses,
                                                    one.cells, one.why));
                   }},
              settings) {}
  void look() {
    const auto looked = cells.look({});
    EXPECT_TRUE(looked.has_value()) << looked.error().to_string();
  }
  // As the operator does: again when it said so, for this long.
  void run(seconds period) {
    for (const kube::Instant end = world.clock.now() + period; world.clock.now() < end;) {
      const auto next = cells.look({});
      world.clock.advance(next.has_value() ? *next : milliseconds(60000));
    }
  }
};

TEST(CellReclaim, LeavesLeasesOfMachinesThatAreThere) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1"});
  world.put_node("n2", {.uuid = "u2", .ready = Ready::kNo});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", 0xff00)}));
  Process process(world);
  process.run(hours(100));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 00ff n2/u2 ff00\n");
  EXPECT_EQ(world.writes, 0);
  EXPECT_EQ(world.requests("GET /api/v1/nodes/"), 0) << "the cache is enough where nothing would change";
  EXPECT_LE(world.requests("GET /apis/railbed.dev"), 101) << "a list of all an hour";
}

TEST(CellReclaim, EndsLeasesOfANodeThatIsGoneForADay) {
  ReclaimWorld world;
  world.put_node("n2", {.uuid = "u2"});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", 0xff00)}));
  put(world.server, cell("10.0.0.16", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(23));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 00ff gone 79201 n2/u2 ff00\n10.0.0.16: n1/u1 ffff gone 79201\n");
  EXPECT_TRUE(process.reported.empty());
  process.run(hours(3));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n2/u2 ff00\n") << "the empty one is deleted";
  ASSERT_EQ(process.reported.size(), 1U);
  EXPECT_EQ(process.reported[0], "n1 NodeGone: 24 in 2: it has had no Node for 86401 s");
  EXPECT_EQ(process.cells.status().ended, (std::map<std::string, uint64_t>{{"NodeGone", 2}}));
  EXPECT_LE(world.writes, 52) << "a write of each lease an hour";
}

TEST(CellReclaim, NeverEndsThemWhereConfiguredSo) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world, {.rules = {.after_seconds = std::nullopt}});
  process.run(hours(2400));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 8636401\n");
}

TEST(CellReclaim, CountsForAMachineWhoseNameAnotherOneHas) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u9"});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(20));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 68401\n");
  process.run(hours(6));
  EXPECT_EQ(leases_in(world.server), "");
  ASSERT_EQ(process.reported.size(), 1U);
  EXPECT_EQ(process.reported[0], "n1 NameTaken: 16 in 1: another machine has had the name of its Node for 86401 s");
}

TEST(CellReclaim, EndsThemAtOnceWhenTheNodeIsOutOfService) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1"});
  for (int i = 0; i < 16; ++i) put(world.server, cell(fmt::format("10.0.1.{}", 16 * i), {lease("n8", "u8")}));
  world.put_node("n8", {.uuid = "u8"});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.look();
  EXPECT_EQ(world.writes, 0);
  const int before = world.requests("GET /apis/railbed.dev");
  // It is not ready, then somebody says that it is off.
  world.put_node("n1", {.uuid = "u1", .ready = Ready::kNo});
  const kube::ObjectPtr unready = world.cached["n1"];
  world.put_node("n1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true});
  const std::set<std::string> machines =
      machines_gone_by({kube::Change::Type::kChanged, {"", "n1"}, unready, world.cached["n1"]});
  EXPECT_EQ(machines, (std::set<std::string>{"u1"}));
  process.cells.concern(machines);
  process.look();
  EXPECT_EQ(leases_in(world.server).find("n1/u1"), std::string::npos) << leases_in(world.server);
  EXPECT_EQ(process.reported,
            (std::vector<std::string>{"n1 OutOfService: 16 in 1: its Node is tainted as out of service"}));
  EXPECT_EQ(world.requests("GET /apis/railbed.dev") - before, 1) << "only the cells of that machine are listed";
}

TEST(CellReclaim, AsksTheApiServerBeforeItEndsALease) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  put(world.server, cell("10.0.0.16", {lease("n2", "u2")}));
  Process process(world);
  // The cache has not heard of it yet: the taint is gone, and n2 is there.
  world.server.put(node_path("n1"), node_of("n1", {.uuid = "u1"}));
  world.server.put(node_path("n2"), node_of("n2", {.uuid = "u2"}));
  process.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff\n10.0.0.16: n2/u2 ffff\n");
  EXPECT_EQ(world.writes, 0);
}

TEST(CellReclaim, KnowsNothingWhileTheApiServerDoesNotReportTheNode) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1"), lease("n2", "u2", 0)}));
  put(world.server, cell("10.0.0.16", {lease("n2", "u2")}));
  world.server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("/nodes/n1") == std::string::npos) return std::nullopt;
    return kube::refused(request.to_string(), 403, R"({"kind":"Status","message":"nodes is forbidden"})");
  };
  Process process(world);
  const auto looked = process.cells.look({});
  ASSERT_FALSE(looked.has_value());
  EXPECT_EQ(looked.error().code, Code::kDenied);
  EXPECT_NE(process.cells.status().error.find("nodes is forbidden"), std::string::npos);
  process.run(hours(30));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff\n") << "the others are looked at all the same";
}

TEST(CellReclaim, AHolderThatWritesMeanwhileKeepsItsLease) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(23));
  // Between the operator's read and its write, the agent writes: it is there.
  bool wrote = false;
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("/nodes/n1") != std::string::npos && !std::exchange(wrote, true)) {
      api::AddressCell now = cell("10.0.0.0", {lease("n1", "u1")});
      put(world.server, now);
    }
    return std::nullopt;
  };
  process.run(hours(2));
  EXPECT_TRUE(wrote);
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 1\n") << "it is counted again";
  EXPECT_TRUE(process.reported.empty());
}

TEST(CellReclaim, AConflictAtTheLastWriteEndsNothing) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(23));
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kDelete) {
      world.server.before = nullptr;
      put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
    }
    return std::nullopt;
  };
  process.run(hours(3));
  EXPECT_EQ(world.server.before, nullptr) << "there was such a write";
  EXPECT_TRUE(leases_in(world.server).starts_with("10.0.0.0: n1/u1 ffff")) << leases_in(world.server);
  EXPECT_TRUE(process.reported.empty());
}

TEST(CellReclaim, ANodeThatComesBackEndsTheCount) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(20));
  world.put_node("n1", {.uuid = "u1"});
  process.run(hours(1));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff\n");
  world.delete_node("n1");
  process.run(hours(20));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 68401\n");
}

// A suspended machine, a process that was stopped, an operator that could not reach the API server: no scan ran.
TEST(CellReclaim, TimeInWhichNoOneLookedDoesNotCount) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(10));
  world.clock.advance(hours(100));
  process.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 32401\n");
  process.run(hours(2));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 36001\n") << "it goes on";
}

TEST(CellReclaim, AnotherOperatorGoesOnCounting) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  bool first_leads = true;
  Process first(world, {}, [&] { return first_leads; });
  Process second(world, {}, [&] { return !first_leads; });
  first.run(hours(12));
  first_leads = false;
  second.run(hours(12));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 79201\n") << "12 looks each, of which 11 show a time";
  // The first leads again: what it knew is of another count.
  first_leads = true;
  first.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 79201\n");
  first.run(hours(3));
  EXPECT_EQ(leases_in(world.server), "");
  EXPECT_EQ(first.reported.size(), 1U);
  EXPECT_TRUE(second.reported.empty());
}

TEST(CellReclaim, WhoDoesNotLeadWritesNothing) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  int asked = 0;
  // It leads while it reads, and no more when it would write.
  Process process(world, {}, [&] { return ++asked == 1; });
  process.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff\n");
  EXPECT_EQ(world.writes, 0);
}

TEST(CellReclaim, TwoThatWriteTogetherEndALeaseOnce) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true});
  world.put_node("n2", {.uuid = "u2"});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", 0xff00)}));
  Process first(world), second(world);
  bool once = false;
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kPut && !std::exchange(once, true)) second.look();
    return std::nullopt;
  };
  first.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n2/u2 ff00\n");
  EXPECT_EQ(first.reported.size() + second.reported.size(), 2U) << "the first finds it as it wanted it to be";
  EXPECT_TRUE(once);
}

TEST(CellReclaim, ALostAnswerIsLookedUp) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true});
  world.put_node("n2", {.uuid = "u2"});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", 0xff00)}));
  put(world.server, cell("10.0.0.16", {lease("n1", "u1")}));
  world.server.lose_answer = [](const kube::Request& request) { return request.method != kube::Method::kGet; };
  Process process(world);
  process.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n2/u2 ff00\n");
  ASSERT_EQ(process.reported.size(), 1U);
  EXPECT_EQ(process.reported[0], "n1 OutOfService: 24 in 2: its Node is tainted as out of service");
}

// What was counted since is lost with it, and so is nothing else: the machine is gone for at least as long as counted.
TEST(CellReclaim, AnOlderSnapshotOfTheApiServerOnlyMakesItLater) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.run(hours(10));
  const Value old = world.server.objects().at(cell_path(cell("10.0.0.0", {})));
  process.run(hours(10));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 68401\n");
  world.server.put(cell_path(cell("10.0.0.0", {})), old);
  process.look();
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 32401\n");
  process.run(hours(14));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 79201\n");
  process.run(hours(4));
  EXPECT_EQ(leases_in(world.server), "");
}

// A snapshot from before a Node joined: the Node is missing until its kubelet registers it again, its lease is there.
TEST(CellReclaim, ANodeThatASnapshotForgotCountsUntilItIsThereAgain) {
  ReclaimWorld world;
  world.put_node("n1", {.uuid = "u1"});
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));
  Process process(world);
  process.look();
  world.delete_node("n1");
  process.run(hours(5));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 10801\n");
  put(world.server, cell("10.0.0.0", {lease("n1", "u1")}));  // the agent heard of it, and wrote
  process.run(hours(22));
  EXPECT_TRUE(leases_in(world.server).starts_with("10.0.0.0: n1/u1 ffff gone")) << leases_in(world.server);
}

TEST(CellReclaim, DeletesWhatIsLeasedByNoOneAndLeavesWhatItCannotRead) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {}));
  Value broken = api::to_value(cell("10.0.0.16", {lease("n1", "u1")}));
  broken.find("spec")->set("base", "10.0.0.17");
  world.server.put(cell_path(cell("10.0.0.16", {})), broken);
  Process process(world);
  process.run(hours(30));
  const auto left = world.server.objects();
  EXPECT_EQ(left.size(), 1U);
  EXPECT_EQ(process.cells.status().unreadable, 1U);
  EXPECT_EQ(process.cells.status().cells, 1U);
}

TEST(CellReclaim, ANameThatNoNodeCanHaveIsGoneAsAnyOther) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("../pods/x", "u1")}));
  Process process(world);
  process.run(hours(27));
  EXPECT_EQ(leases_in(world.server), "");
  EXPECT_EQ(process.cells.status().error, "");
}

TEST(CellReclaim, WaitsTwiceTheTimeForWhichItsHolderStillGivesAddresses) {
  ReclaimWorld world;
  put(world.server, cell("10.0.0.0", {lease("n1", "u1", 0xffff, kDay)}));
  put(world.server, cell("10.0.0.16", {lease("n1", "u1", 0xffff, 0)}));  // that one never stops
  Process process(world);
  process.run(hours(47));
  EXPECT_EQ(leases_in(world.server), "10.0.0.0: n1/u1 ffff gone 165601\n10.0.0.16: n1/u1 ffff gone 165601\n");
  process.run(hours(3));
  EXPECT_TRUE(leases_in(world.server).starts_with("10.0.0.16: n1/u1 ffff")) << leases_in(world.server);
}

// An API server of very many cells, which it makes when a page of them is asked for; of all machines there are Nodes.
class ManyCells : public kube::Transport {
 public:
  static constexpr size_t kCells = 8'000, kNodes = 500;
  size_t pages = 0;
  size_t most_bytes = 0;  // on the heap when a page was asked for, beyond those at the first one

  kube::Answer<kube::Response> send(const kube::Request& request, std::stop_token /*stop*/) override {
    const struct mallinfo2 heap = mallinfo2();
    const size_t bytes = heap.uordblks + heap.hblkhd;
    if (pages++ == 0) first_bytes_ = bytes;
    most_bytes = std::max(most_bytes, bytes - std::min(bytes, first_bytes_));
    const size_t limit = number_behind(request.target, "limit=");
    const size_t begin = number_behind(request.target, "continue="), end = std::min(begin + limit, kCells);
    Value items = Value::array();
    for (size_t i = begin; i < end; ++i) {
      const std::string name = fmt::format("n{}", i % kNodes), uuid = "u" + name;
      Value object = api::to_value(cell(fmt::format("10.{}.{}.{}", i / 4096, i / 16 % 256, i % 16 * 16),
                                        {lease(name, uuid, 0x00ff), lease("n0", "un0", 0xff00)}));
      object.find("metadata")->set("resourceVersion", "7");
      items.push(std::move(object));
    }
    Value list = Value::object();
    Value& metadata = list.set("metadata", Value::object());
    metadata.set("resourceVersion", "7");
    if (end < kCells) metadata.set("continue", std::to_string(end));
    list.set("items", std::move(items));
    return kube::Response{200, doc::to_json(list)};
  }
  kube::Answer<std::unique_ptr<kube::ByteStream>> open(const kube::Request&, std::stop_token) override {
    return std::unexpected(kube::unanswered(Code::kIo, kube::Delivery::kNotSent, "no watch here"));
  }

 private:
  static size_t number_behind(const std::string& target, const std::string& key) {
    const size_t at = target.find(key);
    return at == std::string::npos ? 0 : std::stoul(target.substr(at + key.size()));
  }
  size_t first_bytes_ = 0;
};

TEST(CellReclaim, HoldsAPageOfCellsAtATime) {
  ManyCells server;
  kube::fake::FakeClock clock;
  kube::Client client(server, clock);
  std::map<std::string, kube::ObjectPtr> nodes;
  for (size_t i = 0; i < ManyCells::kNodes; ++i) {
    const std::string name = fmt::format("n{}", i);
    nodes[name] = std::make_shared<const Value>(node_of(name, {.uuid = "u" + name}));
  }
  CellReclaimer cells({.reader = client,
                       .writer = client,
                       .clock = clock,
                       .node = [&](const std::string& name) { return nodes.at(name); },
                       .may_write = [] { return true; },
                       .wrote = [](const std::string& what, const kube::ApiError*) { ADD_FAILURE() << what; },
                       .ended = [](const EndedLeases&) { ADD_FAILURE(); }},
                      {});
  const auto looked = cells.look({});
  ASSERT_TRUE(looked.has_value()) << looked.error().to_string();
  EXPECT_EQ(cells.status().cells, ManyCells::kCells);
  EXPECT_EQ(server.pages, ManyCells::kCells / 500);
  EXPECT_LT(server.most_bytes, 4'000'000U);
}

TEST(CellReclaim, ReportsWhichChangesOfANodeAreWorthALook) {
  const auto object = [](const Machine& machine) { return std::make_shared<const Value>(node_of("n1", machine)); };
  const kube::ObjectPtr runs = object({.uuid = "u1"});
  const kube::ObjectPtr unready = object({.uuid = "u1", .ready = Ready::kNo});
  const kube::ObjectPtr tainted = object({.uuid = "u1", .ready = Ready::kNo, .out_of_service = true});
  const kube::ObjectPtr other = object({.uuid = "u2"});
  using Machines = std::set<std::string>;
  const auto gone = [](kube::ObjectPtr before, kube::ObjectPtr after) {
    return machines_gone_by({kube::Change::Type::kChanged, {"", "n1"}, std::move(before), std::move(after)});
  };
  EXPECT_EQ(gone(runs, unready), Machines{});
  EXPECT_EQ(gone(unready, tainted), Machines{"u1"});
  EXPECT_EQ(gone(tainted, tainted), Machines{});
  EXPECT_EQ(gone(nullptr, tainted), Machines{"u1"});
  EXPECT_EQ(gone(nullptr, runs), Machines{});
  EXPECT_EQ(gone(runs, nullptr), Machines{"u1"});
  EXPECT_EQ(gone(runs, other), Machines{"u1"});
}

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_leaser.h"

#include <gtest/gtest.h>

#include "agent/cluster/test_cells.h"
#include "agent/cluster/test_rights.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using api::kWholeCell;
using ipam::ip;

class CellLeases : public ::testing::Test {
 protected:
  kube::fake::ApiServer server_;
  CellMachine one_{server_, "node1", "uuid-1"};
  CellMachine two_{server_, "node2", "uuid-2"};
  api::IpamConfig rail_ = one_range("10.0.0.0/24");

  void SetUp() override {
    ASSERT_TRUE(one_.leaser->sync({}).has_value());
    ASSERT_TRUE(two_.leaser->sync({}).has_value());
  }
  void TearDown() override { EXPECT_EQ(beyond_the_role(server_), ""); }
  static std::string given(const Result<IpAddress>& address) {
    return address.has_value() ? address->to_string() : address.error().story();
  }
  static ipam::CellWant want(const api::IpamConfig& config, uint64_t addresses) {
    return ipam::wants_of(config, addresses).front();
  }
};

TEST_F(CellLeases, AreHeldBeforePodsNeedThem) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 20), {}).has_value());
  ASSERT_TRUE(two_.leaser->lease(want(rail_, 3), {}).has_value());
  const int asked = one_.way.requests + two_.way.requests;
  std::set<std::string> addresses;
  for (int i = 0; i < 20; ++i) addresses.insert(given(one_.add(rail_, fmt::format("ns/a{}", i))));
  for (int i = 0; i < 3; ++i) addresses.insert(given(two_.add(rail_, fmt::format("ns/b{}", i))));
  EXPECT_EQ(addresses.size(), 23u) << fmt::format("{}", fmt::join(addresses, " "));
  EXPECT_EQ(one_.way.requests + two_.way.requests, asked) << "a pod's start asks for nothing";
}

// During an upgrade a later version's agent has written the same cell.
TEST_F(CellLeases, OfALaterVersionKeepWhatThisOneDoesNotKnow) {
  const api::IpamConfig small = one_range("10.0.0.0/28");
  ASSERT_TRUE(two_.leaser->lease_address("", ip("10.0.0.5"), {}).has_value());
  const std::string path = "/apis/railbed.dev/v1/addresscells/" + api::cell_name("", ip("10.0.0.0"));
  const auto spec = [&](doc::Value& object) { return object.find("spec"); };
  doc::Value object = server_.objects().at(path);
  spec(object)->set("scheme", "next");
  spec(object)->find("leases")->as_array()->front().set("spare", "later");
  server_.put(path, object);
  EXPECT_EQ(given(one_.add(small, "ns/a", {"10.0.0.6"})), "10.0.0.6");
  one_.del("ns/a");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({}, {}).has_value());
  EXPECT_EQ(cells_in(server_), "10.0.0.0 node2 0020");
  object = server_.objects().at(path);
  EXPECT_EQ(doc::text_in(*spec(object), "scheme"), "next");
  EXPECT_EQ(doc::text_in(spec(object)->find("leases")->as_array()->front(), "spare"), "later");
}

TEST_F(CellLeases, CostOneCallWhereNoOneHasTheCell) {
  const int asked = one_.way.requests;
  EXPECT_TRUE(one_.add(rail_, "ns/a").has_value());
  EXPECT_EQ(one_.way.requests, asked + 1);
}

TEST_F(CellLeases, OfSpecificAddressesCostTwoCalls) {
  int asked = one_.way.requests;
  EXPECT_EQ(given(one_.add(rail_, "ns/a", {"10.0.0.77"})), "10.0.0.77");
  EXPECT_EQ(one_.way.requests, asked + 2);
  asked = two_.way.requests;
  EXPECT_EQ(given(two_.add(rail_, "ns/b", {"10.0.0.78"})), "10.0.0.78");
  EXPECT_EQ(two_.way.requests, asked + 2) << "beside another node's in the same cell";
  EXPECT_EQ(given(two_.add(rail_, "ns/c", {"10.0.0.77"})), "another node has leased 10.0.0.77 (network_name \"\")");
  EXPECT_EQ(cells_in(server_), "10.0.0.64 node1 2000 node2 4000");
}

TEST_F(CellLeases, OfRangesThatOverlapMeetInTheSameCells) {
  api::IpamConfig part = one_range("10.0.0.0/28");
  EXPECT_TRUE(one_.add(part, "ns/a").has_value());
  EXPECT_EQ(given(two_.add(part, "ns/b")),
            "all addresses of 10.0.0.0-10.0.0.15 are in use or reserved for pods of a node (network_name \"\")");
  EXPECT_TRUE(two_.add(rail_, "ns/b").has_value()) << "elsewhere in the wider range";
  EXPECT_TRUE(two_.add(one_range("10.0.0.0/28", "rail1"), "ns/c").has_value()) << "another network_name is another one";
}

TEST_F(CellLeases, OfIpv6AreTheSame) {
  const api::IpamConfig rail = one_range("fd00::/64");
  const auto a = one_.add(rail, "ns/a"), b = two_.add(rail, "ns/b");
  ASSERT_TRUE(a.has_value() && b.has_value());
  EXPECT_NE(ipam::cell_of(*a), ipam::cell_of(*b));
}

TEST_F(CellLeases, OfFewAddressesAreSharedByTheNodes) {
  const api::IpamConfig tight = one_range("10.0.0.0/28");
  one_.leaser->nodes(2);
  two_.leaser->nodes(2);
  std::set<std::string> addresses;
  for (int i = 0; i < 7; ++i) {
    addresses.insert(given(one_.add(tight, fmt::format("ns/a{}", i))));
    addresses.insert(given(two_.add(tight, fmt::format("ns/b{}", i))));
  }
  EXPECT_EQ(addresses.size(), 14u) << fmt::format("{}", fmt::join(addresses, " "));
  EXPECT_EQ(given(one_.add(tight, "ns/more")),
            "all addresses of 10.0.0.0-10.0.0.15 are in use or reserved for pods of a node (network_name \"\")");
  two_.del("ns/b3");
  ASSERT_TRUE(two_.leaser->give_back({want(tight, 0)}, {}).has_value());
  EXPECT_FALSE(one_.add(tight, "ns/more").has_value()) << "what is left over must be so twice";
  ASSERT_TRUE(two_.leaser->give_back({want(tight, 0)}, {}).has_value());
  EXPECT_TRUE(one_.add(tight, "ns/more").has_value());
}

TEST_F(CellLeases, AreGivenBackWithTheLastPod) {
  ASSERT_TRUE(one_.add(rail_, "ns/a").has_value());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({want(rail_, 0)}, {}).has_value());
  EXPECT_NE(cells_in(server_), "");
  one_.del("ns/a");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({want(rail_, 1)}, {}).has_value());
  EXPECT_NE(cells_in(server_), "") << "it is wanted";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({want(rail_, 0)}, {}).has_value());
  EXPECT_EQ(cells_in(server_), "");
}

TEST_F(CellLeases, AreKnownToTheNextAgentWithoutAnApiServer) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 2), {}).has_value());
  one_.way.trouble = Way::Trouble::kAway;
  one_.start_agent();
  EXPECT_TRUE(one_.add(rail_, "ns/a").has_value());
  one_.boot();
  EXPECT_EQ(given(one_.add(rail_, "ns/a")),
            "this node has not reached the API server since boot and does not know its leased addresses")
      << "meanwhile an administrator may have given them to others";
}

TEST_F(CellLeases, OfAnEarlierBootAreFreeAgain) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 2), {}).has_value());
  one_.boot();
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(cells_in(server_), "");
}

TEST_F(CellLeases, OfAnEarlierBootUnderAnotherNameAreFreeWithoutANodeOfThatName) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 2), {}).has_value());
  server_.put("/api/v1/nodes/node1", kube::fake::object("Node", "", "node1"));
  one_.node = "renamed";
  one_.boot();
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_NE(cells_in(server_), "") << "the Node may be of a clone of this machine";
  server_.erase("/api/v1/nodes/node1");
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(cells_in(server_), "");
}

// As deploy/rbac/agent-limits.yaml has it: what it had under another name is the operator's to end. A policy denies by
// 422 unless it gives a reason.
TEST_F(CellLeases, UnderAnotherNameStayWhereAPolicySaysSo) {
  for (const int status : {403, 422})
    for (const bool reboots : {true, false}) {
      kube::fake::ApiServer server;
      CellMachine machine(server, "node1", "uuid-1");
      ASSERT_TRUE(machine.leaser->sync({}).has_value());
      ASSERT_TRUE(machine.leaser->lease(want(rail_, 2), {}).has_value());
      const std::string before = cells_in(server);
      machine.node = "renamed";
      reboots ? machine.boot() : machine.start_agent();
      server.before = [status](const kube::Request& request) -> std::optional<kube::ApiError> {
        if (request.method == kube::Method::kGet) return std::nullopt;
        return kube::refused(request.to_string(), status, R"({"message":"only of its own node"})");
      };
      EXPECT_TRUE(machine.leaser->sync({}).has_value()) << status << reboots;
      EXPECT_EQ(cells_in(server), before);
      server.before = nullptr;
      EXPECT_TRUE(machine.add(rail_, "ns/a").has_value()) << "from another cell";
      EXPECT_TRUE(cells_in(server).starts_with(before)) << cells_in(server);
    }
}

// Somebody with another node's token wrote this machine's UUID and boot into a lease of that node.
TEST_F(CellLeases, OneThatMayNotBeWrittenKeepsNoOtherFromBeingCompared) {
  api::AddressCell forged = cells::unleased("", ip("10.0.0.0"));
  forged.leases.push_back({.holder = {"node3", "uuid-1", one_.boot_id()}, .claim = "c", .offsets = 1});
  const std::string path = "/apis/railbed.dev/v1/addresscells/";
  server_.put(path + api::cell_name("", forged.base), api::to_value(forged));
  api::AddressCell earlier = cells::unleased("", ip("10.0.0.32"));
  earlier.leases.push_back({.holder = {"node1", "uuid-1", "earlier boot"}, .claim = "c", .offsets = 1});
  server_.put(path + api::cell_name("", earlier.base), api::to_value(earlier));
  server_.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kGet || !request.target.ends_with(api::cell_name("", forged.base)))
      return std::nullopt;
    return kube::refused(request.to_string(), 422, R"({"message":"only of its own node"})");
  };
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(cells_in(server_), "10.0.0.0 node3 0001") << "what the earlier boot had is free";
  EXPECT_TRUE(one_.add(rail_, "ns/a").has_value());
}

TEST_F(CellLeases, ArePutRightByTheirHolder) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 2), {}).has_value());
  const auto before = server_.objects();
  auto [path, object] = *before.begin();
  // The operator counts; the node lives.
  api::AddressCell cell = api::read_address_cell(object).value();
  cell.leases[0].gone_seconds = 80000;
  server_.put(path, api::to_value(cell));
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(api::read_address_cell(server_.objects().at(path)).value().leases[0].gone_seconds, 0);
  // Somebody deleted it.
  server_.erase(path);
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(cells_in(server_), fmt::format("{} node1 ffff", cell.base));
  EXPECT_TRUE(one_.leaser->take_conflicts().empty());
  EXPECT_EQ(
      fmt::format("{}", fmt::join(one_.leaser->take_lost(), "; ")),
      fmt::format("the API server no longer has this node's lease of 16 addresses of the AddressCell {} (network_name "
                  "\"\"): another client changed or deleted the object, or an older backup was restored; leasing them "
                  "again",
                  api::cell_name("", cell.base)));
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_TRUE(one_.leaser->take_lost().empty()) << "once";
}

// Somebody put a finalizer on it: its leases end when that is taken off.
TEST_F(CellLeases, AreNotMadeInACellThatIsBeingDeleted) {
  const api::IpamConfig narrow = one_range("10.0.0.0/27");
  ASSERT_TRUE(one_.leaser->lease_address("", ip("10.0.0.1"), {}).has_value());
  const std::string path = "/apis/railbed.dev/v1/addresscells/" + api::cell_name("", ip("10.0.0.0"));
  const auto begin_deletion = [&] {
    doc::Value object = server_.objects().at(path);
    object.find("metadata")->set("deletionTimestamp", "2026-11-23T00:00:00Z");
    server_.put(path, object);
  };
  begin_deletion();
  EXPECT_EQ(
      given(two_.add(narrow, "ns/b", {"10.0.0.2"})),
      "10.0.0.2 (network_name \"\") cannot be leased: the AddressCell 10-0-0-0-cbf29ce484222325 is being deleted");
  const auto elsewhere = two_.add(narrow, "ns/b");
  ASSERT_TRUE(elsewhere.has_value()) << elsewhere.error().story();
  EXPECT_EQ(ipam::cell_of(*elsewhere), ip("10.0.0.16"));
  two_.del("ns/b");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(two_.leaser->give_back({}, {}).has_value());
  EXPECT_EQ(cells_in(server_), "10.0.0.0 node1 0002");
  EXPECT_FALSE(one_.leaser->lease_address("", ip("10.0.0.3"), {}).has_value()) << "nor does its holder lease more";
}

TEST_F(CellLeases, InACellThatIsBeingDeletedStayAsLongAsPodsUseThem) {
  const IpAddress used = one_.add(rail_, "ns/a").value();
  const std::string path = "/apis/railbed.dev/v1/addresscells/" + api::cell_name("", ipam::cell_of(used));
  doc::Value object = server_.objects().at(path);
  object.find("metadata")->set("deletionTimestamp", "2026-11-23T00:00:00Z");
  server_.put(path, object);
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  const auto own = static_cast<api::CellOffsets>(1U << *used.minus(ipam::cell_of(used)));
  EXPECT_EQ(cells_in(server_), fmt::format("{} node1 {:04x}", ipam::cell_of(used), own));
  EXPECT_EQ(stored_cells(*one_.store).value().at("").at(ipam::cell_of(used)), own);
  const auto next = one_.add(rail_, "ns/b");
  ASSERT_TRUE(next.has_value()) << next.error().story();
  EXPECT_NE(ipam::cell_of(*next), ipam::cell_of(used)) << "nothing more is given of it";
  server_.erase(path);  // the finalizer was taken off
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(stored_cells(*one_.store).value().at("").at(ipam::cell_of(used)), own);
  EXPECT_EQ(one_.leaser->take_lost().size(), 1u);
  EXPECT_EQ(given(two_.add(rail_, "ns/c", {used.to_string()})),
            fmt::format("another node has leased {} (network_name \"\")", used));
}

// With the token of a third node, from before the policies.
TEST_F(CellLeases, StayWhereALaterOneClaimsTheSameAddress) {
  const IpAddress used = one_.add(rail_, "ns/a").value();
  const auto [path, object] = *server_.objects().begin();
  api::AddressCell cell = api::read_address_cell(object).value();
  cell.leases.push_back({.holder = {"node3", "uuid-3", "b"}, .claim = "c", .offsets = api::kWholeCell});
  server_.put(path, api::to_value(cell));
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_TRUE(one_.leaser->take_conflicts().empty());
  const auto next = one_.add(rail_, "ns/b");
  ASSERT_TRUE(next.has_value()) << next.error().story();
  EXPECT_EQ(ipam::cell_of(*next), ipam::cell_of(used)) << "all of it is still this node's";
  EXPECT_EQ(cells_in(server_), fmt::format("{} node1 ffff node3 0000", cell.base));
}

// Without it a node that lost its state would not find the cell.
TEST_F(CellLeases, ThatALabelHidesAreLabelledAgain) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 2), {}).has_value());
  auto [path, object] = *server_.objects().begin();
  const doc::Value before = *object.find("metadata")->find("labels");
  object.find("metadata")->set("labels", doc::Value::object());
  server_.put(path, object);
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(*server_.objects().at(path).find("metadata")->find("labels"), before);
}

// The lease of another node with this machine and boot came after the last comparison.
TEST_F(CellLeases, ThatAreForgedKeepNoPodFromStarting) {
  const api::IpamConfig narrow = one_range("10.0.0.0/28");
  api::AddressCell forged = cells::unleased("", ip("10.0.0.0"));
  forged.leases.push_back({.holder = {"node3", "uuid-1", one_.boot_id()}, .claim = "c", .offsets = 2});
  server_.put("/apis/railbed.dev/v1/addresscells/" + api::cell_name("", forged.base), api::to_value(forged));
  server_.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method != kube::Method::kPut || request.body.contains("node3")) return std::nullopt;
    return kube::refused(request.to_string(), 403, R"({"message":"only of its own node"})");
  };
  const auto address = one_.add(narrow, "ns/a");
  ASSERT_TRUE(address.has_value()) << address.error().story();
  EXPECT_NE(*address, ip("10.0.0.1"));
  EXPECT_TRUE(cells_in(server_).starts_with("10.0.0.0 node3 0002 node1 ")) << cells_in(server_);
}

TEST_F(CellLeases, ThatAnotherNodeHasAfterARestoreAreReported) {
  const IpAddress given_here = one_.add(rail_, "ns/a").value();
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  const auto [path, object] = *server_.objects().begin();
  api::AddressCell cell = api::read_address_cell(object).value();
  cell.leases[0].holder = {"node2", "uuid-2", two_.boot_id()};
  server_.put(path, api::to_value(cell));
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(fmt::format("{}", fmt::join(one_.leaser->take_conflicts(), "; ")),
            fmt::format("{} of network_name \"\" is in use on this node, but according to the API server node node2 "
                        "has leased it",
                        given_here));
  const auto next = one_.add(rail_, "ns/b");
  ASSERT_TRUE(next.has_value());
  EXPECT_NE(ipam::cell_of(*next), cell.base) << "nothing more is given of it";
}

// The file of the state was lost, or moved away; what interfaces have is known from looking (leftovers/in_use.h).
// This machine was cut off, taken for gone although it ran, and another one has its name now.
TEST_F(CellLeases, ThatAMachineOfTheSameNameHasAreReportedWithTheMachine) {
  const std::string given = this->given(one_.add(rail_, "ns/a"));
  ASSERT_TRUE(given.starts_with("10.")) << given;
  ASSERT_TRUE(one_.store->put_attachment({.pod = "ns/a", .interface = "net1", .type = "macvlan"}).has_value());
  for (const auto& [path, object] : server_.objects()) server_.erase(path);
  CellMachine other(server_, one_.node, "uuid-of-another");
  ASSERT_TRUE(other.leaser->sync({}).has_value());
  const auto named = other.add(rail_, "ns/b", {given});
  ASSERT_TRUE(named.has_value()) << named.error().story();
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(fmt::format("{}", fmt::join(one_.leaser->take_conflicts(), "; ")),
            fmt::format("{} of network_name \"\" is in use on this node, but according to the API server node {}, the "
                        "machine uuid-of-another, has leased it",
                        given, one_.node))
      << "once";
}

TEST_F(CellLeases, OfPodsThatRunStayAlsoWithoutTheState) {
  const IpAddress in_use = one_.add(rail_, "ns/a").value();
  one_.store = state::memory_store();
  one_.start_agent();
  one_.addresses->set_in_use({{in_use, {"in namespace a", "net1"}}});
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  const auto own = static_cast<api::CellOffsets>(1U << *in_use.minus(ipam::cell_of(in_use)));
  EXPECT_EQ(cells_in(server_), fmt::format("{} node1 {:04x}", ipam::cell_of(in_use), own));
  EXPECT_EQ(stored_cells(*one_.store).value().at("").at(ipam::cell_of(in_use)), own);
  one_.addresses->set_in_use({});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({}, {}).has_value());
  EXPECT_EQ(cells_in(server_), "");
}

// An agent with --alone gave them.
TEST_F(CellLeases, AreMadeOfAddressesThatPodsHadBefore) {
  const auto attach = [&](const char* address, const char* pod) {
    ASSERT_TRUE(one_.store->put_lease({"whereabouts", ip(address), pod, "net1"}).has_value());
    ASSERT_TRUE(one_.store->put_attachment({.pod = pod, .interface = "net1", .type = "macvlan"}).has_value());
  };
  attach("10.0.0.20", "ns/a");
  attach("10.0.0.40", "ns/b");
  ASSERT_TRUE(one_.store->put_lease({"whereabouts", ip("10.0.0.60"), "ns/elsewhere", "net1"}).has_value());
  one_.start_agent();
  ASSERT_TRUE(two_.leaser->lease_address("", ip("10.0.0.40"), {}).has_value());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_EQ(cells_in(server_), "10.0.0.16 node1 0010, 10.0.0.32 node2 0100");
  EXPECT_EQ(fmt::format("{}", fmt::join(one_.leaser->take_conflicts(), "; ")),
            "10.0.0.40 of network_name \"\" is in use on this node, but according to the API server node node2 has "
            "leased it")
      << "once";
}

TEST_F(CellLeases, AreOfNoUseAfterALongOutage) {
  ASSERT_TRUE(one_.leaser->lease(want(rail_, 4), {}).has_value());
  one_.way.trouble = Way::Trouble::kAway;
  one_.clock.advance(std::chrono::seconds(kQuietSeconds - 1));
  EXPECT_TRUE(one_.add(rail_, "ns/a").has_value());
  one_.clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(given(one_.add(rail_, "ns/b")),
            "this node has not reached the API server for 43200 s; other nodes may lease its addresses if it counts as "
            "deleted");
  EXPECT_TRUE(one_.add(rail_, "ns/a").has_value()) << "an interface keeps what it has";
  one_.start_agent();
  EXPECT_FALSE(one_.add(rail_, "ns/b").has_value()) << "nor does the next agent give any";
  one_.way.trouble = Way::Trouble::kNone;
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_TRUE(one_.add(rail_, "ns/b").has_value());
  // A machine that was stopped by its hypervisor for a day.
  one_.clock.wall_beside = std::chrono::hours(24);
  EXPECT_FALSE(one_.add(rail_, "ns/c").has_value());
}

TEST_F(CellLeases, AreNotTakenFromWhereabouts) {
  one_.blocks->beside({{"10.0.0.0-25", {ip("10.0.0.0"), ip("10.0.0.127")}}});
  EXPECT_EQ(given(one_.add(rail_, "ns/a")),
            "the range 10.0.0.0-10.0.0.255 overlaps with the IPPool 10.0.0.0-25, from which whereabouts allocates "
            "addresses; the two may allocate the same address");
  EXPECT_TRUE(one_.add(one_range("10.0.1.0/24"), "ns/a").has_value());
}

TEST_F(CellLeases, AreNotTakenFromAnObjectThatCannotBeRead) {
  const api::IpamConfig small = one_range("10.0.0.0/28");
  doc::Value object = kube::fake::object("AddressCell", "", api::cell_name("", ip("10.0.0.0")));
  object.set("spec", "of another version");
  server_.put("/apis/railbed.dev/v1/addresscells/" + api::cell_name("", ip("10.0.0.0")), object);
  EXPECT_EQ(given(one_.add(small, "ns/a")),
            "all addresses of 10.0.0.0-10.0.0.15 are in use or reserved for pods of a node (network_name \"\")");
}

// A create, an update and a deletion whose answers are lost, are late, or are a gateway's: at each request.
struct Lost {
  Way::Trouble trouble;
  int spared;
};

class CellLeasesWithTrouble : public CellLeases, public ::testing::WithParamInterface<Lost> {};

TEST_P(CellLeasesWithTrouble, ComeToTheSameEnd) {
  const auto with_trouble = [&](const auto& work) {
    one_.way.trouble = GetParam().trouble;
    one_.way.spared = GetParam().spared;
    (void)work();
    one_.way.trouble = Way::Trouble::kNone;
  };
  with_trouble([&] { return one_.leaser->lease(want(rail_, 2), {}); });                // create
  with_trouble([&] { return one_.leaser->lease_address("", ip("10.0.0.200"), {}); });  // create
  with_trouble([&] { return one_.leaser->lease_address("", ip("10.0.0.201"), {}); });  // update
  ASSERT_TRUE(two_.add(rail_, "ns/b").has_value());
  with_trouble([&] { return one_.leaser->sync({}); });
  const auto first = one_.add(rail_, "ns/a");
  ASSERT_TRUE(first.has_value()) << first.error().story();
  one_.way.deliver_late();
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  EXPECT_TRUE(one_.leaser->take_conflicts().empty());
  // What the state has is what the API server has.
  std::string state;
  const auto stored = stored_cells(*one_.store).value();
  for (const auto& [network, cells] : stored)
    for (const auto& [base, offsets] : cells) state += fmt::format("{} node1 {:04x}\n", base, offsets);
  std::string api;
  for (const auto& [path, object] : server_.objects())
    for (const auto& cell = api::read_address_cell(object); const api::CellLease& lease : cell.value().leases)
      if (lease.holder.node == "node1") api += fmt::format("{} node1 {:04x}\n", cell->base, lease.offsets);
  EXPECT_EQ(state, api);
  // And all of it can go.
  one_.del("ns/a");
  for (int i = 0; i < 2; ++i) with_trouble([&] { return one_.leaser->give_back({}, {}); });  // delete
  one_.way.deliver_late();
  ASSERT_TRUE(one_.leaser->sync({}).has_value());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one_.leaser->give_back({}, {}).has_value());
  two_.del("ns/b");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(two_.leaser->give_back({}, {}).has_value());
  EXPECT_EQ(cells_in(server_), "");
}

std::vector<Lost> troubles() {
  std::vector<Lost> all;
  for (const Way::Trouble trouble :
       {Way::Trouble::kAway, Way::Trouble::kLost, Way::Trouble::kLate, Way::Trouble::kServer})
    for (int spared = 0; spared < 4; ++spared) all.push_back({trouble, spared});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, CellLeasesWithTrouble, ::testing::ValuesIn(troubles()));

}  // namespace
}  // namespace railbed::agent

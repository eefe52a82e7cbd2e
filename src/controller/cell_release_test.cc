// SPDX-License-Identifier: Apache-2.0
#include "controller/cell_release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/test_cells.h"
#include "kube/fake/clock.h"

namespace railbed::controller {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct CellRelease : ::testing::Test {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  kube::Client client{server, clock, {.retry = {.tries = 1}, .page = 2}};

  CellRelease() {
    server.put(node_path("n2"), node_of("n2", {.uuid = "u2"}));
    put(server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", 0xff00)}));
    put(server, cell("10.0.0.16", {lease("n1", "u1")}));
    put(server, cell("10.0.0.32", {lease("n2", "u2")}));
  }
  Result<ReleasePlan> plan(const std::string& who) {
    const auto listed = list_addresses(client, {});
    const auto nodes = list_nodes(client, {});
    return plan_release(listed.value(), nodes.value(), who);
  }
  std::string why_not(const std::string& who) {
    const auto planned = plan(who);
    return planned.has_value() ? "it is planned" : planned.error().to_string();
  }
  std::string released(const std::string& who) {
    const auto planned = plan(who);
    if (!planned.has_value()) return planned.error().to_string();
    const auto freed = release(client, *planned, {});
    return freed.has_value() ? fmt::format("{}", *freed) : freed.error().to_string();
  }
};

TEST_F(CellRelease, FreesWhatAMachineWithoutANodeHad) {
  EXPECT_EQ(released("n1"), "24");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 ff00\n10.0.0.32: n2/u2 ffff\n");
}

TEST_F(CellRelease, TakesTheMachineByItsUuid) {
  EXPECT_EQ(released("u1"), "24");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 ff00\n10.0.0.32: n2/u2 ffff\n");
}

TEST_F(CellRelease, TakesANodeThatIsNotReady) {
  server.put(node_path("n1"), node_of("n1", {.uuid = "u1", .ready = Ready::kNo}));
  EXPECT_EQ(released("n1"), "24");
}

TEST_F(CellRelease, RefusesWhatRuns) {
  EXPECT_EQ(why_not("n2"),
            "Node n2 is Ready: its machine, u2, is running and may have allocated its addresses to pods\n"
            "  a running machine releases its addresses itself when its pods are deleted");
  EXPECT_EQ(why_not("u2"),
            "machine u2 is running: it is Node n2, which is Ready\n"
            "  a running machine releases its addresses itself when its pods are deleted");
}

TEST_F(CellRelease, OfANameThatAnotherMachineHasItTakesTheUuidAlone) {
  server.put(node_path("n1"), node_of("n1", {.uuid = "u9"}));
  put(server, cell("10.0.0.48", {lease("n1", "u9")}));
  EXPECT_EQ(why_not("n1"),
            "Node n1 is Ready: its machine, u9, is running and may have allocated its addresses to pods\n"
            "  another machine had this name: railbed addresses release u1");
  EXPECT_EQ(released("u1"), "24");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 ff00\n10.0.0.32: n2/u2 ffff\n10.0.0.48: n1/u9 ffff\n");
}

// Its agent has not written its leases under the new name yet.
// n2 claims what n1 has leased: that goes although n2 runs, and nothing else of n2's does.
TEST_F(CellRelease, TakesClaimsOfLeasedAddressesFromAMachineThatRuns) {
  put(server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", 0xff01)}));
  put(server, cell("10.0.0.16", {lease("n1", "u1"), lease("n2", "u2", 0x0003)}));
  const auto listed = list_addresses(client, {}).value();
  EXPECT_THAT(
      listed.odd,
      ElementsAre("AddressCell 10-0-0-0-cbf29ce484222325: node n2 (machine u2) claims 10.0.0.0, leased to n1; "
                  "to remove the claim: railbed addresses release n2",
                  "AddressCell 10-0-0-16-cbf29ce484222325: node n2 (machine u2) claims 10.0.0.16-10.0.0.17, leased to "
                  "n1; to remove the claim: railbed addresses release n2"));
  EXPECT_EQ(plan("n2").value().what, ReleasePlan::What::kOverlaps);
  EXPECT_EQ(released("n2"), "3");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n1/u1 00ff n2/u2 ff00\n10.0.0.16: n1/u1 ffff\n10.0.0.32: n2/u2 ffff\n");
  EXPECT_THAT(list_addresses(client, {}).value().odd, IsEmpty());
  EXPECT_EQ(plan("n2").error().code, Code::kConflict) << "it runs";
}

TEST_F(CellRelease, FreesEachOfSeveralLeasesOfAHolder) {
  put(server, cell("10.0.0.0", {lease("n1", "u1", 0x000f), lease("n1", "u1", 0x00f0), lease("n2", "u2", 0xff00)}));
  EXPECT_EQ(released("n1"), "24");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 ff00\n10.0.0.32: n2/u2 ffff\n");
}

TEST_F(CellRelease, ListsWhatNoAgentWrites) {
  Value object = api::to_value(cell("10.0.0.48", {lease("n2", "u2")}));
  Value& metadata = *object.find("metadata");
  metadata.set("finalizers", json(R"(["thief.example/hold"])"));
  metadata.set("ownerReferences", json(R"([{"kind": "Node", "name": "none"}])"));
  metadata.set("deletionTimestamp", "2026-11-23T00:00:00Z");
  server.put(cell_path(cell("10.0.0.48", {})), std::move(object));
  EXPECT_THAT(list_addresses(client, {}).value().odd,
              ElementsAre(StartsWith("AddressCell 10-0-0-48-cbf29ce484222325 is being deleted"),
                          StartsWith("AddressCell 10-0-0-48-cbf29ce484222325 has finalizers"),
                          StartsWith("AddressCell 10-0-0-48-cbf29ce484222325 has ownerReferences")));
}

TEST_F(CellRelease, RefusesAMachineThatRunsUnderAnotherName) {
  server.put(node_path("renamed"), node_of("renamed", {.uuid = "u1"}));
  EXPECT_EQ(why_not("n1"),
            "machine u1 is running: it is Node renamed, which is Ready\n"
            "  a running machine releases its addresses itself when its pods are deleted");
}

// Its kubelet has not reported the machine yet.
TEST_F(CellRelease, RefusesANodeThatReportsNoMachine) {
  server.put(node_path("n1"), node_of("n1", {.uuid = ""}));
  EXPECT_EQ(why_not("u1"),
            "Node n1 is Ready, but its machine is not known yet\n"
            "  a running machine releases its addresses itself when its pods are deleted");
}

TEST_F(CellRelease, ReportsUnknownNodes) {
  EXPECT_EQ(why_not("nowhere"),
            "no node and no machine \"nowhere\" has leased addresses\n  railbed addresses list shows the leases");
  put(server, cell("10.0.0.64", {lease("gpu-node-17", "u17")}));
  EXPECT_EQ(why_not("gpu-nod-17"),
            "no node and no machine \"gpu-nod-17\" has leased addresses (did you mean gpu-node-17?)\n"
            "  railbed addresses list shows the leases");
  EXPECT_EQ(why_not("a\nb"),
            "no node and no machine \"a\\x0ab\" has leased addresses\n  railbed addresses list shows the leases");
}

TEST_F(CellRelease, RefusesAHolderThatWritesMeanwhile) {
  const auto planned = plan("n1");
  ASSERT_TRUE(planned.has_value());
  api::CellLease written = lease("n1", "u1");
  written.claim = "later";
  put(server, cell("10.0.0.16", {written}));
  const auto freed = release(client, *planned, {});
  ASSERT_FALSE(freed.has_value());
  EXPECT_EQ(freed.error().to_string(),
            fmt::format("8 addresses were released before: machine u1 of node n1 has just written its lease of cell "
                        "{}: it is running\n"
                        "  switch it off first",
                        api::cell_name("", IpAddress::parse("10.0.0.16").value())));
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 ff00\n10.0.0.16: n1/u1 ffff\n10.0.0.32: n2/u2 ffff\n");
}

TEST_F(CellRelease, TheOperatorsCountIsNoSignOfLife) {
  const auto planned = plan("n1");
  api::CellLease counted = lease("n1", "u1");
  counted.gone_seconds = 3601;
  put(server, cell("10.0.0.16", {counted}));
  EXPECT_EQ(release(client, planned.value(), {}).value(), 24U);
}

TEST_F(CellRelease, OthersThatWriteTheSameCellKeepTheirs) {
  int written = 0;
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kPut && written++ < 2)
      put(server, cell("10.0.0.0", {lease("n1", "u1", 0x00ff), lease("n2", "u2", written == 1 ? 0x0f00 : 0xf000)}));
    return std::nullopt;
  };
  EXPECT_EQ(released("n1"), "24");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 f000\n10.0.0.32: n2/u2 ffff\n");
}

TEST_F(CellRelease, LooksUpWhatBecameOfAWriteWithoutAnAnswer) {
  server.lose_answer = [](const kube::Request& request) { return request.method != kube::Method::kGet; };
  EXPECT_EQ(released("n1"), "24");
  EXPECT_EQ(leases_in(server), "10.0.0.0: n2/u2 ff00\n10.0.0.32: n2/u2 ffff\n");
}

TEST_F(CellRelease, SaysWhereNoOneKnowsWhatBecameOfAWrite) {
  const auto planned = plan("n1");
  server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kGet) return std::nullopt;
    return kube::unanswered(Code::kIo, kube::Delivery::kUnknown, "the connection was cut");
  };
  const auto freed = release(client, planned.value(), {});
  ASSERT_FALSE(freed.has_value());
  EXPECT_EQ(freed.error().to_string(), "0 addresses were released before: the connection was cut");
  server.before = nullptr;
  EXPECT_EQ(released("n1"), "24");
}

TEST_F(CellRelease, WhatCannotBeReadAnyMoreIsNotTakenForFree) {
  const auto planned = plan("n1");
  Value broken = api::to_value(cell("10.0.0.0", {lease("n1", "u1")}));
  broken.find("spec")->set("base", "10.0.0.1");
  server.put(cell_path(cell("10.0.0.0", {})), broken);
  const auto freed = release(client, planned.value(), {});
  ASSERT_FALSE(freed.has_value());
  EXPECT_EQ(freed.error().to_string(),
            fmt::format("0 addresses were released before: the current AddressCell {} cannot be read\n"
                        "  run `railbed addresses list` for the reason",
                        api::cell_name("", IpAddress::parse("10.0.0.0").value())));
}

TEST_F(CellRelease, ListsByNetworkAndAddressAndSaysWhatItCannotRead) {
  put(server, cell("10.0.0.0", {lease("n1", "u1", 0x0003)}, "rail1"));
  put(server, cell("9.0.0.0", {lease("n1", "u1", 0x8001)}));
  Value broken = api::to_value(cell("10.0.1.0", {}));
  broken.find("spec")->set("base", "10.0.1.1");
  server.put(cell_path(cell("10.0.1.0", {})), broken);
  const auto listed = list_addresses(client, {});
  ASSERT_TRUE(listed.has_value());
  std::string all;
  for (const ListedCell& one : listed->cells) all += fmt::format("{}/{} ", one.cell.network_name, one.cell.base);
  EXPECT_EQ(all, "/9.0.0.0 /10.0.0.0 /10.0.0.16 /10.0.0.32 rail1/10.0.0.0 ");
  ASSERT_EQ(listed->unreadable.size(), 1U);
  EXPECT_NE(listed->unreadable[0].find("spec.base 10.0.1.1 is not a multiple of 16"), std::string::npos);
  const std::string text = doc::to_json(to_value(*listed));
  EXPECT_NE(text.find(R"("held":2,"addresses":["9.0.0.0-9.0.0.0","9.0.0.15-9.0.0.15"]}],"free":14})"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
// The whole operator against an API server in memory: test_operator.h.
#include "controller/operator.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "controller/test_cells.h"
#include "controller/test_operator.h"
#include "doc/members.h"

namespace railbed::controller {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST_F(OperatorTest, MakesSpecsOfPolicies) {
  start();
  node_with_nics("gpu1");
  EXPECT_EQ(world.spec("gpu1"), "{}");
  world.put(policy("rail0", kP0));
  expect("the spec has the policy", [&] { return world.has_vfs("gpu1", 4); });
  expect("the status of the policy is pending", [&] {
    return doc::to_json(world.stored(policy_path("rail0"))).find(R"("reason":"Pending")") != std::string::npos;
  });
  world.report("gpu1", two_nics(), "Succeeded");
  expect("the status of the policy says that it is done", [&] {
    return doc::to_json(world.stored(policy_path("rail0"))).find(R"("summary":"1 of 1")") != std::string::npos;
  });
  EXPECT_EQ(world.writes_of(state_path("gpu1")), 2) << "created, decided";
}

TEST_F(OperatorTest, TouchesOnlyTheNodesThatAChangeConcerns) {
  start();
  for (const char* name : {"a1", "a2", "b1"}) node_with_nics(name, {{"rack", std::string(1, *name)}});
  world.put(policy("all", kP1));
  for (const char* name : {"a1", "a2", "b1"}) expect("all have it", [&] { return world.has_vfs(name, 2); });
  const int before = world.writes_of(state_path("b1"));
  world.put(policy("rail0", R"("numVfs": 4, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {"rack": "a"})"));
  expect("a1 has it", [&] { return world.has_vfs("a1", 4); });
  expect("a2 has it", [&] { return world.has_vfs("a2", 4); });
  EXPECT_EQ(world.writes_of(state_path("b1")), before);
  // A label moves the node.
  world.put_node("b1", {{"rack", "a"}});
  expect("b1 has it by its label", [&] { return world.has_vfs("b1", 4); });
}

TEST_F(OperatorTest, FreesTheAddressesOfANodeThatIsOutOfService) {
  world.server.put(node_path("gpu1"), node_of("gpu1", {.uuid = "u1"}));
  world.server.put(node_path("gpu2"), node_of("gpu2", {.uuid = "u2"}));
  testing::put(world.server, cell("10.0.0.0", {lease("gpu1", "u1", 0x00ff), lease("gpu2", "u2", 0xff00)}));
  testing::put(world.server, cell("10.0.0.16", {lease("gpu1", "u1")}));
  testing::put(world.server, cell("10.0.0.32", {lease("gone", "u3")}));
  start();
  expect("it counts for the one without a Node",
         [&] { return leases_in(world.server).find("gone/u3 ffff gone 1") != std::string::npos; });
  expect("and says so", [&] { return running->work.snapshot().cells.without_node == 1; });
  world.server.put(node_path("gpu1"), node_of("gpu1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true}));
  expect("its addresses are free",
         [&] { return leases_in(world.server) == "10.0.0.0: gpu2/u2 ff00\n10.0.0.32: gone/u3 ffff gone 1\n"; });
  const std::string note =
      "24 addresses in 2 cells leased by node gpu1 (machine u1) were released: its Node is tainted as out of service";
  expect_event("AddressesFreedOutOfService: " + note);
  EXPECT_THAT(world.reported(), HasSubstr(note));
  EXPECT_EQ(running->work.snapshot().cells.ended, (std::map<std::string, uint64_t>{{"OutOfService", 2}}));
}

TEST_F(OperatorTest, LeavesLeasesAloneWhileAnotherOneLeads) {
  start("first");
  expect("the first leads", [&] { return running->settled(); });
  world.server.put(node_path("gpu1"), node_of("gpu1", {.uuid = "u1"}));
  Running second(world, "second");
  expect("the second knows who leads", [&] { return second.work.snapshot().holder == "first"; });
  testing::put(world.server, cell("10.0.0.0", {lease("gpu1", "u1")}));
  world.server.put(node_path("gpu1"), node_of("gpu1", {.uuid = "u1", .ready = Ready::kNo, .out_of_service = true}));
  expect("its addresses are free", [&] { return leases_in(world.server).empty(); });
  expect("the first did it", [&] { return running->work.snapshot().cells.ended.size() == 1; });
  EXPECT_TRUE(second.work.snapshot().cells.ended.empty());
}

TEST_F(OperatorTest, ReportsAMacThatPodsOfTwoNodesHave) {
  const auto put_pod = [this](const std::string& name, const std::string& node) {
    Value pod = object("v1", "Pod", "llm", name);
    pod.find("metadata")
        ->set("annotations", Value::object())
        .set("k8s.v1.cni.cncf.io/network-status",
             Value(R"([{"name":"llm/rail0","interface":"net1","mac":"02:00:00:00:00:09"}])"));
    pod.set("spec", Value::object()).set("nodeName", node);
    world.server.put("/api/v1/namespaces/llm/pods/" + name, std::move(pod));
  };
  put_pod("a", "n1");
  put_pod("b", "n2");
  start();
  expect_event(
      "IdentityShared: MAC 02:00:00:00:00:09 is also that of a pod on another node; the log of railbed's operator "
      "names it");
  EXPECT_EQ(running->work.snapshot().shared_identities, 1u);
  EXPECT_THAT(world.reported(), HasSubstr("pods of two nodes use the same MAC 02:00:00:00:00:09: llm/a (net1 of "
                                          "llm/rail0, n1), llm/b (net1 of llm/rail0, n2)"));
  EXPECT_EQ(world.events().find("llm/"), std::string::npos) << "authors of pods read Events";
  // It is reported once; the third pod is news.
  expect_stays("one Event", [&] { return world.reported().find("llm/c") == std::string::npos; });
  put_pod("c", "n3");
  expect("the third one", [&] { return world.reported().find("llm/c (net1 of llm/rail0, n3)") != std::string::npos; });
  for (const char* name : {"a", "b"}) world.server.erase(fmt::format("/api/v1/namespaces/llm/pods/{}", name));
  expect("none is shared", [&] { return running->work.snapshot().shared_identities == 0; });
}

TEST_F(OperatorTest, WritesNothingBeforeEverythingIsKnown) {
  world.server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("sriovnetworknodepolicies") == std::string::npos) return std::nullopt;
    return kube::refused(request.to_string(), 404, R"({"kind":"Status","reason":"NotFound","message":"no such kind"})");
  };
  world.put_node("gpu1");
  Value state = node_state("gpu1");
  state.set("spec", json(R"({"interfaces": [{"pciAddress": "0000:01:00.0", "numVfs": 4}]})"));
  state.set("status", status_of("gpu1", two_nics()));
  world.server.put(state_path("gpu1"), state);
  start();
  expect("it says why", [&] { return world.reported().find("no such kind") != std::string::npos; });
  EXPECT_EQ(world.writes_of("sriovnetwork.openshift.io"), 0);
  EXPECT_TRUE(world.has_vfs("gpu1", 4));
}

// Kinds that a cluster may lack: without one of them, what does not need it goes on.
struct OptionalKindTest : OperatorTest {
  using Served = kube::fake::ApiServer::Served;

  static std::string network_path(const std::string& plural, const std::string& name) {
    return fmt::format("/apis/sriovnetwork.openshift.io/v1/namespaces/op/{}/{}", plural, name);
  }
  static std::string definition_path(const std::string& name) {
    return "/apis/k8s.cni.cncf.io/v1/namespaces/llm/network-attachment-definitions/" + name;
  }
  void put_network(const std::string& name) {
    Value network = object("sriovnetwork.openshift.io/v1", "SriovNetwork", "op", name);
    network.set("spec", json(R"({"resourceName": "rail0", "networkNamespace": "llm"})"));
    world.server.put(network_path("sriovnetworks", name), network);
  }
  void put_ib_network(const std::string& name) {
    Value network = object("sriovnetwork.openshift.io/v1", "SriovIBNetwork", "op", name);
    network.set("spec", json(R"({"resourceName": "ib0", "networkNamespace": "llm"})"));
    world.server.put(network_path("sriovibnetworks", name), network);
  }
  bool is_defined(const std::string& name) { return !world.stored(definition_path(name)).is_null(); }
  std::string kind_uid_of(const std::string& name) {
    const Value definition = world.stored(definition_path(name));
    const Value* meta = doc::object_in(definition, "metadata");
    const Value* annotations = meta != nullptr ? doc::object_in(*meta, "annotations") : nullptr;
    return annotations != nullptr ? doc::text_in(*annotations, kNetworkKindUid) : "";
  }
  int times_reported(const std::string& text) {
    const std::lock_guard lock(world.mutex);
    int out = 0;
    for (const std::string& line : world.log) out += line.find(text) != std::string::npos;
    return out;
  }
  Availability availability_of(const std::string& kind) {
    const auto all = running->work.snapshot().optional_kinds;
    const auto found = std::ranges::find(all, kind, &OptionalKindStatus::name);
    return found != all.end() ? found->availability : Availability::kPending;
  }
  void follow_a_policy() {
    node_with_nics("gpu1");
    world.put(policy("rail0", kP0));
    expect("policies are followed", [&] { return world.has_vfs("gpu1", 4); });
  }
};

TEST_F(OptionalKindTest, AbsentAtTheStartClosesOnlyWhatReadsIt) {
  world.server.serve(kube::kSriovIbNetworks, Served::kNo);
  world.server.serve(kube::kNetworkDefinitions, Served::kNo);
  put_network("net0");
  start();
  follow_a_policy();
  EXPECT_EQ(running->work.snapshot().closed, "");
  expect("it says so", [&] { return times_reported("NetworkAttachmentDefinition is not available: ") == 1; });
  EXPECT_THAT(world.reported(), HasSubstr("reconciler networks is off until it is listed"));
  expect_stays("no definition", [&] { return !is_defined("net0"); });
  EXPECT_EQ(availability_of("NetworkAttachmentDefinition"), Availability::kAbsent);
  EXPECT_EQ(availability_of("SriovNetwork"), Availability::kListed);
  // It is installed; networks are served then, though one of their kinds is still absent.
  world.server.serve(kube::kNetworkDefinitions, Served::kYes);
  expect("the definition is there", [&] { return is_defined("net0"); });
  EXPECT_EQ(availability_of("SriovIBNetwork"), Availability::kAbsent);
  expect("it says so", [&] {
    return times_reported("NetworkAttachmentDefinition is available again; reconciler networks works with it") == 1;
  });
  put_network("net1");
  expect("another one", [&] { return is_defined("net1"); });
  world.server.erase(network_path("sriovnetworks", "net1"));
  expect("it goes with its network", [&] { return !is_defined("net1"); });
  put_ib_network("ib0");
  world.server.serve(kube::kSriovIbNetworks, Served::kYes);
  expect("that of the other kind", [&] { return is_defined("ib0"); });
  EXPECT_EQ(times_reported("is not available: "), 2) << "each once" << world.reported();
}

TEST_F(OptionalKindTest, ThatGoesAwayTakesNoDefinitionWithIt) {
  const std::string crd_path = OperatorWorld::crd_path("sriovibnetworks");
  put_network("net0");
  put_ib_network("ib0");
  start();
  expect("both are defined", [&] { return is_defined("net0") && is_defined("ib0"); });
  const std::string kind_uid = kube::uid_of(world.stored(crd_path));
  EXPECT_EQ(kind_uid_of("ib0"), kind_uid);
  // The definition of the kind is deleted, with all its objects.
  const Value crd = world.stored(crd_path);
  world.server.erase(network_path("sriovibnetworks", "ib0"));
  world.server.erase(crd_path);
  world.server.serve(kube::kSriovIbNetworks, Served::kNo);
  expect("it says so", [&] { return times_reported("SriovIBNetwork is not available: ") == 1; });
  expect_stays("its definition stays", [&] { return is_defined("ib0"); });
  // The other kind is followed meanwhile, also by an operator that starts now.
  put_network("net1");
  expect("a new one", [&] { return is_defined("net1"); });
  running.reset();
  start("next");
  world.server.erase(network_path("sriovnetworks", "net0"));
  expect("the definition of a network that was deleted goes", [&] { return !is_defined("net0"); });
  expect_stays("that of the absent kind stays", [&] { return is_defined("ib0"); });
  // Installed again: nothing is lost, and nothing is taken for deleted.
  world.server.put(crd_path, crd);
  world.server.serve(kube::kSriovIbNetworks, Served::kYes);
  expect("it is listed", [&] { return availability_of("SriovIBNetwork") == Availability::kListed; });
  expect("it says what it keeps", [&] {
    return world.events().find("KeptWithoutNetwork: its network SriovIBNetwork op/ib0") != std::string::npos;
  });
  expect_stays("its definition stays", [&] { return is_defined("ib0"); });
  put_ib_network("ib0");
  const std::string new_uid = kube::uid_of(world.stored(crd_path));
  EXPECT_NE(new_uid, kind_uid);
  expect("it is of the kind that is there now", [&] { return kind_uid_of("ib0") == new_uid; });
  world.server.erase(network_path("sriovibnetworks", "ib0"));
  expect("and goes with its network", [&] { return !is_defined("ib0"); });
}

// Not served for a while, with its definition unchanged: what was deleted and made meanwhile is found by a list.
TEST_F(OptionalKindTest, ThatComesBackIsListedAgain) {
  for (const char* name : {"ib0", "ib1"}) put_ib_network(name);
  start();
  expect("both are defined", [&] { return is_defined("ib0") && is_defined("ib1"); });
  world.server.serve(kube::kSriovIbNetworks, Served::kNo);
  expect("it is away", [&] { return availability_of("SriovIBNetwork") == Availability::kAbsent; });
  world.server.erase(network_path("sriovibnetworks", "ib0"));
  put_ib_network("ib2");
  expect_stays("what is defined stays", [&] { return is_defined("ib0") && is_defined("ib1") && !is_defined("ib2"); });
  world.server.serve(kube::kSriovIbNetworks, Served::kYes);
  expect("what came is defined", [&] { return is_defined("ib2"); });
  expect("what was deleted is not", [&] { return !is_defined("ib0"); });
  EXPECT_TRUE(is_defined("ib1"));
  EXPECT_EQ(times_reported("SriovIBNetwork is not available: "), 1);
  expect("it says so",
         [&] { return times_reported("SriovIBNetwork is available again; reconciler networks works with it") == 1; });
}

TEST_F(OptionalKindTest, ThatIsForbiddenIsLikeOneThatIsAbsent) {
  std::atomic<bool> forbidden = true;
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (!forbidden || request.target.find("/sriovnetworks?") == std::string::npos) return std::nullopt;
    return kube::refused(request.to_string(), 403, "");
  };
  put_network("net0");
  put_ib_network("ib0");
  start();
  expect("that of the other kind is there", [&] { return is_defined("ib0"); });
  expect("it says so", [&] { return times_reported("SriovNetwork is not available: ") == 1; });
  EXPECT_EQ(availability_of("SriovNetwork"), Availability::kForbidden);
  EXPECT_FALSE(is_defined("net0"));
  forbidden = false;
  expect("with the right, this one, too", [&] { return is_defined("net0"); });
  running.reset();  // the server's troubles are this function's
}

// Leases of addresses have no cache: they are listed when they are looked at.
TEST_F(OptionalKindTest, AddressCellsAreNotNeededEither) {
  world.server.serve(kube::kAddressCells, Served::kNo);
  start();
  follow_a_policy();
  expect("it says so", [&] { return times_reported("leases of addresses: ") == 1; });
  world.server.put(node_path("gpu2"), node_of("gpu2", {.uuid = "u2", .ready = Ready::kNo, .out_of_service = true}));
  testing::put(world.server, cell("10.0.0.0", {lease("gpu2", "u2")}));
  expect_stays("leases stay", [&] { return !leases_in(world.server).empty(); });
  EXPECT_EQ(times_reported("leases of addresses: "), 1);
  world.server.serve(kube::kAddressCells, Served::kYes);
  expect("the lease ends", [&] { return leases_in(world.server).empty(); });
}

TEST_F(OperatorTest, KeepsSpecsWhenAllPoliciesVanish) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  world.put(policy("rail1", kP1));
  expect("both are there", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  world.server.erase(policy_path("rail0"));
  world.server.erase(policy_path("rail1"));
  expect_stays("specs stay", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  expect_event("AllPoliciesGone: all 2 policies disappeared at once: node states stay unchanged");
  expect_event("Held: no policies are left");
  EXPECT_EQ(running->work.snapshot().held.size(), 1u);
  // Another operator holds as well.
  running.reset();
  start("next");
  expect_stays("specs stay", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  Value confirmed = world.stored(state_path("gpu1"));
  confirmed.find("metadata")->set("annotations", Value::object()).set(kConfirmEmpty, "true");
  world.server.put(state_path("gpu1"), confirmed);
  expect("now they go", [&] { return world.spec("gpu1") == R"({"interfaces":[]})"; });
  expect("and the confirmation with them",
         [&] { return doc::to_json(world.stored(state_path("gpu1"))).find(kConfirmEmpty) == std::string::npos; });
  expect("and nothing is held any more", [&] { return running->work.snapshot().held.empty(); });
}

TEST_F(OperatorTest, FollowsTheLastPolicyThatIsDeletedAlone) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  world.server.erase(policy_path("rail0"));
  expect("it is gone", [&] { return world.spec("gpu1") == R"({"interfaces":[]})"; });
}

TEST_F(OperatorTest, KeepsSpecsWhenTheDefinitionGoesWithItsPolicies) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  world.put(policy("rail1", kP1));
  expect("both are there", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  Value crd = world.stored(OperatorWorld::crd_path("sriovnetworknodepolicies"));
  crd.find("metadata")->set("deletionTimestamp", "2026-11-22T15:00:00Z");
  world.server.put(OperatorWorld::crd_path("sriovnetworknodepolicies"), crd);
  world.server.erase(policy_path("rail0"));
  expect("it says so",
         [&] { return world.events().find("PoliciesGone: policies are being deleted with") != std::string::npos; });
  expect_stays("the spec stays", [&] { return world.has_vfs("gpu1", 4); });
  world.server.erase(policy_path("rail1"));
  expect_stays("specs stay", [&] { return world.has_vfs("gpu1", 4) && world.has_vfs("gpu1", 2); });
  // Nodes are looked at again when the policies have settled, and not again and again before.
  expect("only what comes regularly waits", [&] { return running->work.snapshot().waiting == 5; });
}

TEST_F(OperatorTest, KeepsSpecsWhenTheDefinitionIsInstalledAgainAtOnce) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  const Value crd = world.stored(OperatorWorld::crd_path("sriovnetworknodepolicies"));
  world.server.erase(policy_path("rail0"));
  world.server.erase(OperatorWorld::crd_path("sriovnetworknodepolicies"));
  world.server.put(OperatorWorld::crd_path("sriovnetworknodepolicies"), crd);
  expect_stays("the spec stays", [&] { return world.has_vfs("gpu1", 4); });
}

TEST_F(OperatorTest, KeepsDefinitionsWhenNetworksGoWithTheirKind) {
  const std::string crd_path = OperatorWorld::crd_path("sriovnetworks");
  const std::string definition_path = "/apis/k8s.cni.cncf.io/v1/namespaces/llm/network-attachment-definitions/net0";
  const std::string network_path = "/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworks/net0";
  Value network = object("sriovnetwork.openshift.io/v1", "SriovNetwork", "op", "net0");
  network.set("spec", json(R"({"resourceName": "rail0", "networkNamespace": "llm"})"));
  const auto is_there = [&] { return !world.stored(definition_path).is_null(); };
  const auto has_kind_uid = [&] {
    return doc::to_json(world.stored(definition_path)).find(kube::uid_of(world.stored(crd_path))) != std::string::npos;
  };
  world.server.put(network_path, network);
  start();
  expect("the definition is there", is_there);
  EXPECT_TRUE(has_kind_uid());
  // Deleted and installed again at once, with all its objects.
  const Value crd = world.stored(crd_path);
  world.server.erase(network_path);
  world.server.erase(crd_path);
  world.server.put(crd_path, crd);
  expect("it says so", [&] {
    return world.events().find("KeptWithoutNetwork: its network SriovNetwork op/net0") != std::string::npos;
  });
  expect_stays("the definition stays", is_there);
  // Another operator keeps it as well.
  running.reset();
  start("next");
  expect_stays("the definition stays", is_there);
  // The network is made again, and then deleted by somebody who means it.
  world.server.put(network_path, network);
  expect("the definition is of the kind that is there now", has_kind_uid);
  world.server.erase(network_path);
  expect("it goes with its network", [&] { return !is_there(); });
}

TEST_F(OperatorTest, PutsBackWhatAnotherToolChangesAndDoesNotFight) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  const int before = world.writes_of(state_path("gpu1"));
  for (int i = 0; i < 20; ++i) {
    Value state = world.stored(state_path("gpu1"));
    state.set("spec", json(R"({"interfaces": []})"));
    world.server.put(state_path("gpu1"), state);
    world.come_to_rest();
    world.clock.advance(kStep);
  }
  EXPECT_LE(world.writes_of(state_path("gpu1")) - before, 1);
  expect("it is there again", [&] { return world.has_vfs("gpu1", 4); });
}

TEST_F(OperatorTest, WritesAgainWhatWasRefusedOrLost) {
  int conflicts = 0, lost = 0;
  std::mutex mutex;
  world.server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    const std::lock_guard lock(mutex);
    if (request.method != kube::Method::kPatch || request.target.find("nodestates/gpu1?") == std::string::npos ||
        ++conflicts > 2)
      return std::nullopt;
    return kube::refused(request.to_string(), 409, R"({"kind":"Status","reason":"Conflict","message":"changed"})");
  };
  world.server.lose_answer = [&](const kube::Request& request) {
    const std::lock_guard lock(mutex);
    return request.method == kube::Method::kPatch && ++lost % 3 == 0;
  };
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  running.reset();  // the server's troubles are this function's
}

TEST_F(OperatorTest, LooksAtTheClusterAgainAndAgain) {
  start();
  kube::Instant last{};
  const auto looks = [&] { return std::exchange(last, running->work.snapshot().looked) < last; };
  for (int look = 0; look < 8; ++look) EXPECT_TRUE(world.comes(looks)) << look;
}

TEST_F(OperatorTest, KeepsOneOfTwoOperatorsSilent) {
  start("one");
  expect("the first leads", [&] { return running->work.snapshot().leads; });
  EXPECT_GT((running->work.snapshot().requests.requests[{kube::Verb::kCreate, 201}]), 0u) << "its Lease";
  Running second(world, "two");
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  expect("the second knows everything", [&] { return second.work.snapshot().closed == "one leads"; });
  EXPECT_TRUE(second.work.snapshot().writes.empty());
  running.reset();  // gives the Lease back
  world.put(policy("rail1", kP1));
  expect("the second goes on", [&] { return world.has_vfs("gpu1", 2); });
  EXPECT_EQ(second.work.snapshot().held.size(), 0u);
}

TEST_F(OperatorTest, KeepsTheStateOfANodeThatComesBack) {
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there", [&] { return world.has_vfs("gpu1", 4); });
  world.server.erase(node_path("gpu1"));
  const auto is_marked = [&] {
    return doc::to_json(world.stored(state_path("gpu1"))).find("keep-state-until") != std::string::npos;
  };
  expect("it is marked", is_marked);
  EXPECT_TRUE(world.has_vfs("gpu1", 4));
  world.put_node("gpu1");
  expect("it is kept", [&] { return !is_marked(); });
  EXPECT_TRUE(world.has_vfs("gpu1", 4));
}

TEST_F(OperatorTest, DeletesTheStateOfANodeThatStaysAway) {
  running.emplace(world, "me", seconds(0));
  node_with_nics("gpu1");
  world.server.erase(node_path("gpu1"));
  expect("it is gone", [&] { return world.stored(state_path("gpu1")).is_null(); });
  node_with_nics("gpu1");
  world.put(policy("rail0", kP0));
  expect("it is there again", [&] { return world.has_vfs("gpu1", 4); });
}

TEST_F(OperatorTest, WritesNothingBesideTheSriovOperator) {
  Value pod = object("v1", "Pod", "sriov", "sriov-network-operator");
  pod.find("metadata")->set("labels", json(R"({"name": "sriov-network-operator"})"));
  pod.set("status", json(R"({"phase": "Running"})"));
  world.server.put(kOperatorPod, pod);
  world.put_node("gpu1");
  world.put_node("gpu2", {{"railbed.dev/managed", "true"}});
  world.put(policy("rail0", kP0));
  Value network = object("sriovnetwork.openshift.io/v1", "SriovNetwork", "op", "net0");
  network.set("spec", json(R"({"resourceName": "rail0", "networkNamespace": "llm"})"));
  network.find("metadata")->set("finalizers", doc::texts({std::string(kUpstreamFinalizer), "other/one"}));
  const std::string network_path = "/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworks/net0";
  const std::string definition_path = "/apis/k8s.cni.cncf.io/v1/namespaces/llm/network-attachment-definitions/net0";
  world.server.put(network_path, network);
  start();
  expect("the node that was taken over has a state", [&] { return !world.stored(state_path("gpu2")).is_null(); });
  expect("it says so", [&] { return world.events().find("SriovOperatorRuns") != std::string::npos; });
  expect_stays("nothing else is written", [&] {
    return world.stored(state_path("gpu1")).is_null() && world.stored(definition_path).is_null() &&
           doc::to_json(world.stored(network_path)).find("netattdef") != std::string::npos &&
           world.stored(policy_path("rail0")).find("status") == nullptr;
  });
  world.server.erase(kOperatorPod);
  expect("it goes on alone",
         [&] { return !world.stored(state_path("gpu1")).is_null() && !world.stored(definition_path).is_null(); });
  expect("the finalizer is gone, others are not", [&] {
    return doc::to_json(*world.stored(network_path).find("metadata")).find(R"("finalizers":["other/one"])") !=
           std::string::npos;
  });
  expect("the network says that it is ready", [&] {
    return doc::to_json(world.stored(network_path)).find(R"("reason":"NetworkReady")") != std::string::npos;
  });
}

TEST_F(OperatorTest, ReportsByEventsWhereTheStatusIsNotKept) {
  world.server.prune = [](const std::string& path, Value& stored) {
    if (path.find("policies/") != std::string::npos || path.find("sriovnetworks/") != std::string::npos)
      if (stored.find("status") != nullptr) stored.set("status", Value::object());
  };
  Value network = object("sriovnetwork.openshift.io/v1", "SriovNetwork", "op", "net0");
  network.set("spec", json(R"({"resourceName": "rail0", "networkNamespace": "nowhere"})"));
  world.server.put("/apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworks/net0", network);
  start();
  node_with_nics("gpu1");
  world.put(policy("rail0", R"("numVfs": 99, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {})"));
  expect("an Event says why", [&] { return world.events().find("asks for 99 VFs") != std::string::npos; });
  expect("also of the network",
         [&] { return world.events().find("NamespaceNotFound: namespace nowhere not found") != std::string::npos; });
  // Once, not with every look.
  const int writes = world.writes_of("rail0/status");
  world.report("gpu1", two_nics(), "InProgress");
  expect_stays("it is not written again", [&] { return world.writes_of("rail0/status") == writes; });
}

// Both Events are of one time here, since the clock stands still.
TEST_F(OperatorTest, AnEventFollowsAnotherOfTheSamePolicy) {
  world.server.prune = [](const std::string& path, Value& stored) {
    if (path.find("policies/") != std::string::npos && stored.find("status") != nullptr)
      stored.set("status", Value::object());
  };
  start();
  world.put(policy("rail0", R"("numVfs": 99, "nicSelector": {"pfNames": ["p0"]}, "nodeSelector": {})"));
  expect("no node is there", [&] { return world.events().find("NoNodeMatches") != std::string::npos; });
  node_with_nics("gpu1");
  expect("an Event says why", [&] { return world.events().find("asks for 99 VFs") != std::string::npos; });
}

TEST_F(OperatorTest, SurvivesAForgetfulServer) {
  start();
  node_with_nics("gpu1");
  for (int i = 1; i <= 8; ++i) {
    world.put(
        policy("rail0", fmt::format(R"("numVfs": {}, "nicSelector": {{"pfNames": ["p0"]}}, "nodeSelector": {{}})", i)));
    world.server.compact();
    world.server.fail_streams(410, "Expired");
  }
  expect("the last one counts", [&] { return world.has_vfs("gpu1", 8); });
}

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
// The operator in clusters that lack kinds, or that do not let it list them.
#include <algorithm>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/test_operator.h"

namespace railbed::controller {
namespace {

using namespace testing;
using ::testing::HasSubstr;

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
  EXPECT_THAT(world.told(), HasSubstr("reconciler networks is off until it is listed"));
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
  EXPECT_EQ(times_reported("is not available: "), 2) << "each once" << world.told();
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

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
// A state that was lost: addresses that pods have go to no other pod, for as long as the pods have them.
#include "agent/leftovers/in_use.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/test_requests.h"

namespace railbed::agent {
namespace {

using testing::HasSubstr;

constexpr const char* kWhereaboutsIpam = R"({"type":"whereabouts","range":"10.0.0.0/29"})";
constexpr const char* kHostLocalIpam = R"({"type":"host-local","subnet":"10.0.0.0/29"})";

class InUseTest : public RequestTest {
 protected:
  void SetUp() override {}

  Result<std::string> ask(cni::Command command, const std::string& container,
                          const std::string& ipam = kWhereaboutsIpam, const std::string& network = "n") {
    cni::Request request{.command = command,
                         .type = "macvlan",
                         .container_id = container,
                         .netns = "/run/netns/" + container,
                         .ifname = "net1",
                         .path = {"/opt/cni/bin"},
                         .config = fmt::format(R"({{"cniVersion":"1.0.0","name":"{}","type":"macvlan",)"
                                               R"("master":"eth1","ipam":{}}})",
                                               network, ipam)};
    auto config = cni::read_plugin_config(request.config);
    if (!config.has_value()) return std::unexpected(config.error());
    return plugin_request(backends, request, *config);
  }
  std::string add(const std::string& container, const std::string& ipam = kWhereaboutsIpam,
                  const std::string& network = "n") {
    if (!kernel.netns().open("/run/netns/" + container).has_value()) {
      EXPECT_TRUE(kernel.netns().create(container));
    }
    auto answer = ask(cni::Command::kAdd, container, ipam, network);
    if (!answer.has_value()) return answer.error().story();
    const size_t at = answer->find(R"("address": ")") + 12;
    return answer->substr(at, answer->find('"', at) - at);
  }

  // The file was moved away; pods and their interfaces go on.
  void lose_state() {
    auto records = store->attachments();
    for (const state::Attachment& one : *records) {
      ASSERT_TRUE(store->forget_attachment(one.pod, one.interface).has_value());
      ASSERT_TRUE(store->forget_leases(one.pod, one.interface).has_value());
    }
    Engine::Turn turn = std::move(*engine.turn(std::chrono::milliseconds(0)));
    ASSERT_TRUE(turn.read_addresses().has_value());
  }

  // After a start that found the state without a look.
  size_t look(InUse& of) {
    EXPECT_EQ(*of.start(), false);
    auto found = of.look();
    EXPECT_TRUE(found.has_value()) << found.error().to_string();
    return found.value_or(0);
  }

  InUse in_use{engine, disk, pods};
};

// Before the look is over, whatever needs no address of a pool is served.
TEST_F(InUseTest, UntilTheLookOnlyAddressesOfPoolsAreRefused) {
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  lose_state();
  ASSERT_EQ(*in_use.start(), false);
  EXPECT_EQ(
      add("c2"),
      "no addresses are allocated, because the addresses in use are unknown: searching the network namespaces of this "
      "machine for addresses in use");
  EXPECT_EQ(add("c3", R"({"type":"static","addresses":[{"address":"10.9.0.1/24"}]})"), "10.9.0.1/24");
  ASSERT_TRUE(ask(cni::Command::kDel, "c3").has_value());
  ASSERT_EQ(*in_use.look(), 1u);
  EXPECT_EQ(add("c2"), "10.0.0.2/29");
}

TEST_F(InUseTest, WhatPodsHaveIsNotAllocated) {
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  EXPECT_EQ(add("c2"), "10.0.0.2/29");
  lose_state();
  ASSERT_EQ(look(in_use), 2u);
  EXPECT_EQ(add("c3"), "10.0.0.3/29");
  // In every pool: nothing says which network the interfaces belong to.
  EXPECT_EQ(add("c4", kHostLocalIpam, "other"), "10.0.0.3/29");
  EXPECT_THAT(add("c5", R"({"type":"whereabouts","range":"10.0.0.0/29","range_start":"10.0.0.1",)"
                        R"("range_end":"10.0.0.2"})"),
              HasSubstr("in namespace /run/netns/c1"));

  // A restart with the same state does not look again, and keeps what was set aside.
  InUse again(engine, disk, pods);
  EXPECT_EQ(*again.start(), true);
  EXPECT_EQ(*again.look(), 2u);
  // One namespace ends; the DEL of the other pod takes the interface away.
  kernel.vanish_netns("c1");
  ASSERT_TRUE(ask(cni::Command::kDel, "c2").has_value());
  ASSERT_TRUE(again.refresh().has_value());
  EXPECT_EQ(add("c6"), "10.0.0.1/29");
  EXPECT_EQ(add("c7"), "10.0.0.2/29");
  EXPECT_TRUE(store->notes("in use 1")->empty());
}

TEST_F(InUseTest, WhatHasALeaseIsNotSetAside) {
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  ASSERT_EQ(look(in_use), 0u);
  ASSERT_TRUE(ask(cni::Command::kDel, "c1").has_value());
  EXPECT_EQ(add("c2"), "10.0.0.1/29");
}

// A state that was rolled back has a pod that went, and not the one that got its address afterwards.
TEST_F(InUseTest, AnAddressWithALeaseOfAnotherPodIsSetAside) {
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  const auto records = store->attachments();
  const auto leases = store->all_leases();
  ASSERT_TRUE(ask(cni::Command::kDel, "c1").has_value());
  kernel.vanish_netns("c1");
  EXPECT_EQ(add("c2"), "10.0.0.1/29");
  lose_state();
  for (const state::Attachment& record : *records) ASSERT_TRUE(store->put_attachment(record));
  for (const state::AddressLease& lease : *leases) ASSERT_TRUE(store->put_lease(lease));
  ASSERT_EQ(look(in_use), 1u);
  EXPECT_EQ(add("c3"), "10.0.0.2/29");

  ASSERT_TRUE(ask(cni::Command::kDel, "c1").has_value());
  EXPECT_EQ(add("c4"), "10.0.0.3/29");
  kernel.vanish_netns("c2");
  ASSERT_TRUE(in_use.refresh().has_value());
  EXPECT_EQ(add("c5"), "10.0.0.1/29");
}

TEST_F(InUseTest, NoAddressIsGivenOutUntilAllNamespacesCouldBeLookedAt) {
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  lose_state();
  kernel.refuse_netns("/run/netns/c1", EMFILE);
  ASSERT_EQ(*in_use.start(), false);
  ASSERT_FALSE(in_use.look().has_value());
  EXPECT_EQ(add("c2"),
            "no addresses are allocated, because the addresses in use are unknown: open network namespace "
            "/run/netns/c1: EMFILE (Too many open files)");
  ASSERT_FALSE(in_use.look().has_value());
  kernel.refuse_netns("/run/netns/c1", 0);
  ASSERT_TRUE(in_use.look().has_value());
  EXPECT_EQ(add("c2"), "10.0.0.2/29");
}

// gVisor and virtual machines take the address off the interface: no interface shows what these namespaces have.
class HiddenAddresses : public InUseTest {
 protected:
  // What CNI's library keeps of the container's ADD.
  static std::string file_of(const std::string& container) { return "/var/lib/cni/results/n-" + container + "-net1"; }
  void put_result(const std::string& container, const std::string& address,
                  std::optional<int64_t> written = std::nullopt) {
    // {"cniVersion":"0.3.1","name":"n","type":"macvlan"}
    disk.put(file_of(container),
             fmt::format(R"({{"kind":"cniCacheV1","containerId":"{0}","config":)"
                         R"("eyJjbmlWZXJzaW9uIjoiMC4zLjEiLCJuYW1lIjoibiIsInR5cGUiOiJtYWN2bGFuIn0=","ifName":"net1",)"
                         R"("netns":"/run/netns/{0}","cniArgs":[["K8S_POD_NAMESPACE","ns"],["K8S_POD_NAME","{0}"]],)"
                         R"("result":{{"cniVersion":"0.3.1","ips":[{{"version":"4","address":"{1}/29"}}]}}}})",
                         container, address),
             written);
  }
};

TEST_F(HiddenAddresses, WhatTheRuntimesResultSaysIsSetAsideUntilTheNamespaceEnds) {
  ASSERT_TRUE(kernel.netns().create("kata"));
  put_result("kata", "10.0.0.1");
  ASSERT_EQ(look(in_use), 1u);
  EXPECT_EQ(add("c1"), "10.0.0.2/29");
  disk.remove(file_of("kata")).value();  // a runtime may forget it
  ASSERT_TRUE(in_use.refresh().has_value());
  EXPECT_EQ(add("c2"), "10.0.0.3/29");
  kernel.vanish_netns("kata");
  ASSERT_TRUE(in_use.refresh().has_value());
  EXPECT_EQ(add("c3"), "10.0.0.1/29");
}

TEST_F(HiddenAddresses, WithoutANamespaceAtThePathTheyAreSetAsideAsLongAsTheFileIsThere) {
  put_result("gvisor", "10.0.0.1");
  put_result("gone-too", "10.0.0.1");
  ASSERT_EQ(look(in_use), 2u);
  EXPECT_EQ(add("c1"), "10.0.0.2/29");
  InUse again(engine, disk, pods);
  EXPECT_EQ(*again.start(), true);
  ASSERT_TRUE(again.refresh().has_value());
  disk.remove(file_of("gvisor")).value();
  ASSERT_TRUE(again.refresh().has_value());
  EXPECT_EQ(add("c2"), "10.0.0.3/29");
  disk.remove(file_of("gone-too")).value();
  ASSERT_TRUE(again.refresh().has_value());
  EXPECT_EQ(add("c3"), "10.0.0.1/29");
}

// The runtime's DEL comes, and the file is removed after it; the next pod does not wait for that.
TEST_F(HiddenAddresses, TheDelOfTheContainerFreesWhatOnlyTheFileSays) {
  put_result("gone", "10.0.0.1");
  put_result("other", "10.0.0.2");
  ASSERT_EQ(look(in_use), 2u);
  ASSERT_TRUE(ask(cni::Command::kDel, "gone").has_value());
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  EXPECT_EQ(add("c2"), "10.0.0.3/29");
}

// A reboot ends all namespaces, and the runtime sends the DELs of the pods of before later, or never.
TEST_F(HiddenAddresses, ResultsOfBeforeTheBootAreOfNoOne) {
  kernel.put_file("/proc/stat", "cpu 1\nbtime 2000000\nprocesses 1\n");
  put_result("before", "10.0.0.1", 2000000 - 601);
  put_result("since", "10.0.0.2", 2000000 - 599);
  ASSERT_EQ(look(in_use), 1u);
  EXPECT_EQ(add("c1"), "10.0.0.1/29");
  EXPECT_EQ(add("c2"), "10.0.0.3/29");
}

TEST_F(HiddenAddresses, InAClusterTheStatusOfThePodHasThoseOfAllItsNetworks) {
  ASSERT_TRUE(kernel.netns().create("kata"));
  put_result("kata", "10.9.0.1");
  pods.statuses["ns/kata"] =
      R"([{"name":"cluster","interface":"eth0","ips":["10.9.0.1"]},{"name":"ns/n","interface":"net1","ips":["10.0.0.1"]}])";
  pods.known = false;
  ASSERT_EQ(*in_use.start(), false);
  ASSERT_FALSE(in_use.look().has_value());
  EXPECT_EQ(add("c1"),
            "no addresses are allocated, because the addresses in use are unknown: reading which addresses the "
            "runtime's containers have: the pods are not known yet");
  pods.known = true;
  ASSERT_EQ(*in_use.look(), 2u);
  EXPECT_EQ(add("c1"), "10.0.0.2/29");
}

// Who may write a pod's status, or its annotations, must not take a whole range.
TEST_F(HiddenAddresses, AStatusWithMoreAddressesThanAPodHasIsOdd) {
  ASSERT_TRUE(kernel.netns().create("kata"));
  put_result("kata", "10.9.0.1");
  std::string ips;
  for (int i = 0; i < 200; ++i) ips += fmt::format("{}\"10.8.0.{}\"", i == 0 ? "" : ",", i + 1);
  pods.statuses["ns/kata"] = R"([{"interface":"net1","ips":[)" + ips + "]}]";
  ASSERT_EQ(look(in_use), kMostOfInterface);
  EXPECT_THAT(in_use.take_odd(), testing::ElementsAre("/run/netns/kata"));
}

TEST(AddressesOfStatus, AreReadFromElementsWithAnInterface) {
  EXPECT_THAT(addresses_of_status(R"([{"interface":"net1","ips":["10.0.0.1","fd00::1","x",5]},{"ips":["10.0.0.2"]},)"
                                  R"({"interface":"a/b","ips":["10.0.0.3"]},{"interface":"net2"},7])"),
              testing::ElementsAre(std::pair(*IpAddress::parse("10.0.0.1"), "net1"),
                                   std::pair(*IpAddress::parse("fd00::1"), "net1")));
  for (const char* other : {"", "{}", "[", "null", "[[]]"}) EXPECT_TRUE(addresses_of_status(other).empty()) << other;
}

}  // namespace
}  // namespace railbed::agent

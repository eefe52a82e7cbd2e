// SPDX-License-Identifier: Apache-2.0
// Pods with an executed default network and networks of railbed, on a machine in memory: all or nothing, even after
// failures and kills.
#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/test_meta.h"
#include "attach/attach.h"
#include "doc/json.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(MetaTest, GivesAPodAllItsNetworksAndTakesThemBack) {
  auto answer = ask(cni::Command::kAdd);
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_THAT(*answer, HasSubstr("10.1.0.5/16"));
  EXPECT_THAT(interfaces(), ElementsAre("exec:eth0#0", "net1", "second"));
  EXPECT_THAT(links_inside(), testing::UnorderedElementsAre("net1", "second"));
  auto records = store->attachments();
  for (const state::Attachment& record : *records) {
    EXPECT_EQ(record.pod, "ns/a@c1");
    EXPECT_EQ(record.status, state::AttachmentStatus::kAttached);
  }
  ASSERT_TRUE(pods.published.contains("ns/a@c1"));
  EXPECT_THAT(pods.published["ns/a@c1"], HasSubstr(R"("name": "cbr0")"));
  EXPECT_THAT(pods.published["ns/a@c1"], HasSubstr(R"("interface": "second")"));
  EXPECT_EQ(store->pods()->size(), 1u);
  EXPECT_TRUE(ask(cni::Command::kCheck).has_value());

  for (int i = 0; i < 2; ++i) {
    auto gone = ask(cni::Command::kDel);
    ASSERT_TRUE(gone.has_value()) << gone.error().story();
    expect_nothing_left();
  }
  EXPECT_THAT(runs, ElementsAre("bridge ADD", "bridge CHECK", "bridge DEL"));
  EXPECT_TRUE(pods.published.empty());
}

// An address, MAC or GUID that a pod's author chooses may be another pod's.
TEST_F(MetaTest, IdentitiesNeedTheDefinitionsWord) {
  delegates = R"("delegates":[])";
  struct Case {
    const char* asked;
    const char* what;
    const char* capability;
  };
  for (const Case& one :
       {Case{R"("ips":["10.9.0.9/24"])", "ips", "ips"}, Case{R"("mac":"02:00:00:00:00:09")", "mac", "mac"},
        Case{R"("infiniband-guid":"02:00:00:00:00:00:00:09")", "infinibandGUID", "infinibandGUID"},
        Case{R"("cni-args":{"ips":["10.9.0.9"]})", "cni-args.ips", "ips"},
        Case{R"("cni-args":{"mac":"02:00:00:00:00:09"})", "cni-args.mac", "mac"},
        Case{R"("cni-args":{"guid":"02:00:00:00:00:00:00:09"})", "cni-args.guid", "infinibandGUID"}}) {
    pods.add_network("rail", kMacvlan);
    pods.add_pod(fmt::format(R"([{{"name":"rail",{}}}])", one.asked));
    const auto refused = ask(cni::Command::kAdd);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(
        refused.error().story(),
        fmt::format("network ns/rail (net1): the pod requests {}, but no plugin of the network supports it", one.what));
    EXPECT_EQ(cni::code_of(refused.error()), cni::kInvalidConfig);
    expect_nothing_left();
    const std::string declared = kMacvlan;
    pods.add_network("rail", fmt::format(R"({},"capabilities":{{"{}":true}}}})",
                                         declared.substr(0, declared.size() - 1), one.capability));
    const auto added = ask(cni::Command::kAdd);
    EXPECT_TRUE(added.has_value() || added.error().story().find("infiniband") != std::string::npos)
        << added.error().story();
    EXPECT_TRUE(ask(cni::Command::kDel).has_value());
  }
}

// Records of executed plugins are among those that a chosen MAC is compared with.
TEST_F(MetaTest, AMacOfAnotherPodIsRefusedBesideExecutedPlugins) {
  pods.add_network("rail", R"({"cniVersion":"1.0.0","type":"macvlan","master":"eth1","capabilities":{"mac":true}})");
  pods.add_pod(R"([{"name":"rail","mac":"02:00:00:00:00:42"}])");
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  ASSERT_TRUE(kernel.netns().create("b").has_value());
  pods.pods["ns/b"] = pods.pods["ns/a"];
  pods.pods["ns/b"].name = "b";
  pod = "b";
  netns_path = "/run/netns/b";
  const auto refused = ask(cni::Command::kAdd, "", "c2");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(cni::code_of(refused.error()), 101);
  EXPECT_THAT(refused.error().story(),
              HasSubstr("the pod requests MAC 02:00:00:00:00:42, which interface net1 of pod ns/a has on this node"));
  pods.pods["ns/b"].annotations[kNetworksKey] = R"([{"name":"rail","mac":"02:00:00:00:00:43"}])";
  const auto other = ask(cni::Command::kAdd, "", "c2");
  EXPECT_TRUE(other.has_value()) << other.error().story();
}

TEST_F(MetaTest, CheckLooksAtEveryInterfaceOfThePod) {
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  auto netns = kernel.netns().open("/run/netns/a");
  auto links = kernel.netns().links(**netns);
  ASSERT_TRUE((*links)->remove((*links)->find(IfName{"second"}, os::WithVfs::kNo)->index).has_value());
  auto answer = ask(cni::Command::kCheck);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().story(), "pod ns/a@c1: interface second: interface second not found in the pod");
}

// A node says which network all pods have: the first that exists of a definition, a configuration with that name, a
// directory and a file.
TEST_F(MetaTest, TheClusterNetworkIsADefinitionANameADirectoryOrAFile) {
  const auto bridge = [](const std::string& name) {
    return fmt::format(R"({{"cniVersion":"1.0.0","name":"{}","plugins":[{{"type":"bridge"}}]}})", name);
  };
  pods.add_pod("");
  kernel.put_file("/etc/cni/net.d/00-README", "not a configuration");
  kernel.put_file("/etc/cni/net.d/10-first.conflist", bridge("first"));
  kernel.put_file("/etc/cni/net.d/20-second.conflist", bridge("second"));
  kernel.put_file("/etc/cni/empty/README", "");
  kernel.put_file("/etc/cni/multus/net.d/README", bridge("lan"));
  kernel.put_file("/etc/cni/multus/net.d/10-broken.conf", "{");
  kernel.put_file("/etc/cni/multus/net.d/20-other.conf", bridge("other"));
  kernel.put_file("/etc/cni/multus/net.d/30-lan.conf", bridge("lan"));
  const auto network = [&](const std::string& name) {
    delegates = fmt::format(R"("clusterNetwork":"{}")", name);
    auto answer = ask(cni::Command::kAdd);
    if (!answer.has_value()) return answer.error().story();
    doc::Diagnostics unread;
    auto status =
        doc::parse_json(std::make_shared<doc::Source>(doc::Source{"status", pods.published["ns/a@c1"]}), unread);
    EXPECT_TRUE(ask(cni::Command::kDel).has_value());
    return *(*status->as_array())[0].find("name")->as_string();
  };
  EXPECT_EQ(network("/etc/cni/net.d/20-second.conflist"), "second");
  EXPECT_EQ(network("/etc/cni/net.d"), "first");
  EXPECT_EQ(network("/etc/cni/empty"), "no network configuration found in /etc/cni/empty");
  EXPECT_THAT(network("/etc/cni/none.conf"), HasSubstr("reading a network's configuration: read /etc/cni/none.conf"));
  EXPECT_EQ(network("lan"), "lan");
  EXPECT_EQ(network("wan"),
            "network wan not found: neither as a definition in namespace kube-system, nor as a file with that \"name\" "
            "in /etc/cni/multus/net.d");
  pods.networks["kube-system/lan"] = {"kube-system", "lan", parse_network_config(bridge("defined")).value(), ""};
  EXPECT_EQ(network("lan"), "kube-system/lan");
}

// The kubelet may take seconds to answer: no other request waits for it.
TEST_F(MetaTest, AsksTheKubeletOnceAndBeforeTheTurn) {
  struct Source : KubeletDevices {
    Source(os::FakeKernel& kernel, Engine& turns) : KubeletDevices(kernel.files()), engine(turns) {}
    Result<kubelet::GivenDevices> given_to(const PodInfo& asked) override {
      ++times;
      others_go_on = others_go_on && engine.turn(std::chrono::milliseconds(0)).has_value();
      return KubeletDevices::given_to(asked);
    }
    Engine& engine;
    int times = 0;
    bool others_go_on = true;
  } source(kernel, engine);
  kernel.put_file(kubelet::kCheckpoint, R"({"Data":{"PodDeviceEntries":[
    {"PodUID":"u1","ContainerName":"main","ResourceName":"o/one","DeviceIDs":{"0":["0000:02:00.0"]}},
    {"PodUID":"u1","ContainerName":"sidecar","ResourceName":"o/two","DeviceIDs":{"0":["0000:01:00.0"]}}]}})");
  Meta with_source(disk, pods, {&source});
  Backends those{{engine, metrics}, dhcp, host_local, with_source.statuses()};
  pods.add_network("one", R"({"cniVersion":"1.0.0","type":"host-device"})", "o/one");
  pods.add_network("two", R"({"cniVersion":"1.0.0","type":"host-device"})", "o/two");
  const auto add = [&](const std::string& networks) {
    pods.add_pod(networks);
    cni::Request request{.command = cni::Command::kAdd,
                         .type = "railbed",
                         .container_id = "c1",
                         .netns = "/run/netns/a",
                         .ifname = "eth0",
                         .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", "a"}},
                         .path = {"/opt/cni/bin"},
                         .config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed",)" + delegates + "}"};
    return meta_request(those, with_source, request, cni::read_plugin_config(request.config).value());
  };
  ASSERT_TRUE(add("rail").has_value());
  EXPECT_EQ(source.times, 0);  // no network of it has a device
  pods.published.clear();
  const auto answer = add("two, one");
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_EQ(source.times, 1);
  EXPECT_TRUE(source.others_go_on);
  EXPECT_THAT(pods.published["ns/a@c1"], HasSubstr(R"("pci-address": "0000:02:00.0")"));
  EXPECT_THAT(kernel.snapshot(), HasSubstr("net1"));
}

TEST_F(MetaTest, CountsThePhasesOfAnAttachment) {
  pods.add_network("leased", R"({"cniVersion":"1.0.0","type":"macvlan","master":"eth1","ipam":{"type":"dhcp"}})");
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
    ASSERT_TRUE(ask(cni::Command::kDel).has_value());
    for (Phase phase : {Phase::kPrepare, Phase::kWait, Phase::kAddresses, Phase::kKernel, Phase::kExec})
      EXPECT_EQ(counted(phase, "railbed"), i) << phase_name(phase);
  }
  EXPECT_EQ(counted(Phase::kLease, "railbed"), 0);
  pods.add_pod("leased");
  EXPECT_FALSE(ask(cni::Command::kAdd).has_value());  // there is no DHCP server
  EXPECT_EQ(counted(Phase::kLease, "railbed"), 1);
}

// The state's file system was full when an ADD that failed, or an earlier DEL, came to the addresses.
TEST_F(MetaTest, DelReleasesAddressesThatNoInterfaceHas) {
  const state::AddressLease lease{"host-local:rail", *IpAddress::parse("10.9.0.7"), "ns/a@c1", "net1"};
  ASSERT_TRUE(store->put_lease(lease).has_value());
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  expect_nothing_left();

  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  ASSERT_TRUE(
      attach::detach_pod(kernel, *store, "ns/a@c1", kernel.clock().now() + std::chrono::seconds(5)).has_value());
  ASSERT_TRUE(store->put_lease(lease).has_value());
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  expect_nothing_left();
}

TEST_F(MetaTest, DelKnowsTheContainerWithoutThePodAndItsNamespace) {
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  pods.pods.clear();
  pods.networks.clear();
  kernel.vanish_netns("a");
  pod = "another";
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_THAT(interfaces(), ElementsAre());
}

TEST_F(MetaTest, UndoesEverythingWhenOneNetworkFails) {
  pods.add_network("bad", R"({"cniVersion":"1.0.0","type":"macvlan","master":"nowhere"})");
  pods.add_pod("rail, bad");
  std::string before = kernel.snapshot();
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().story(), HasSubstr("nowhere"));
  EXPECT_THAT(runs, ElementsAre("bridge ADD", "bridge DEL"));
  expect_nothing_left();
  EXPECT_EQ(kernel.snapshot(), before);
}

TEST_F(MetaTest, UndoesAnExecutedChainThatFailsHalfWay) {
  install("portmap", {.output = "", .failing = "ADD", .failure = R"({"code":100,"msg":"no"})"});
  delegates = R"("delegates":[{"cniVersion":"1.0.0","name":"cbr0","plugins":[{"type":"bridge"},{"type":"portmap"}]}])";
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(cni::code_of(answer.error()), 100);
  EXPECT_THAT(runs, ElementsAre("bridge ADD", "portmap ADD", "portmap DEL", "bridge DEL"));
  expect_nothing_left();
}

TEST_F(MetaTest, RunsOursInTheMiddleOfAChainWithoutAProgram) {
  delegates = R"("delegates":[{"cniVersion":"1.0.0","name":"m","plugins":[)"
              R"({"type":"macvlan","master":"eth1"},{"type":"portmap"}]}])";
  install("portmap", R"({"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/run/netns/a"}]})");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_THAT(links_inside(), testing::UnorderedElementsAre("eth0", "net1", "second"));
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_THAT(runs, ElementsAre("portmap ADD", "portmap DEL"));
  expect_nothing_left();
}

TEST_F(MetaTest, RefusesWhatNoPluginTakesBeforeAnythingIsDone) {
  pods.add_pod(R"([{"name":"rail","bandwidth":{"ingressRate":1000}}])");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(cni::code_of(answer.error()), cni::kInvalidConfig);
  EXPECT_THAT(answer.error().story(), HasSubstr("bandwidth"));
  EXPECT_TRUE(runs.empty());
}

TEST_F(MetaTest, DefinitionsOfTenantsTakeNothingOfTheNode) {
  pods.may_use_the_node = false;
  const auto refused = [&] {
    const auto answer = ask(cni::Command::kAdd);
    return answer.has_value() ? "added"
                              : fmt::format("{}: {} ({})", cni::code_of(answer.error()), answer.error().story(),
                                            cni::hint_of(answer.error()));
  };
  EXPECT_EQ(refused(),
            "7: network ns/rail: its key master (macvlan) refers to the host: eth1, which is refused in namespace ns "
            "(--tenant-definitions restrict) (use a resource, or have an administrator label the namespace "
            "railbed.dev/host-devices=allowed)");
  expect_nothing_left();
  EXPECT_TRUE(runs.empty());
  // The default network is the node's own configuration, although it is executed.
  pods.add_network("rail",
                   R"({"cniVersion":"1.0.0","type":"dummy","ipam":{"type":"host-local","subnet":"10.9.0.0/24"}})");
  EXPECT_EQ(refused(), "added");
  // What is attached stays attached, and goes.
  EXPECT_TRUE(ask(cni::Command::kCheck).has_value());
  EXPECT_TRUE(ask(cni::Command::kDel).has_value());
  expect_nothing_left();
  pods.networks["ns/rail"].config = doc::Value();
  kernel.put_file("/etc/cni/multus/net.d/rail.conf", R"({"cniVersion":"1.0.0","name":"rail","type":"dummy"})");
  EXPECT_THAT(refused(), HasSubstr("network ns/rail: its configuration is a file of the node, which is refused in "));
  pods.add_network("rail", kMacvlan);
  pods.may_use_the_node = fail(Code::kBusy, "no answer");
  EXPECT_EQ(refused(), "11: network ns/rail: its key master (macvlan) refers to the host: eth1: no answer ()");
  // A definition that loses its namespace's label while a pod runs.
  pods.may_use_the_node = true;
  EXPECT_EQ(refused(), "added");
  pods.may_use_the_node = false;
  EXPECT_TRUE(ask(cni::Command::kCheck).has_value());
  EXPECT_TRUE(ask(cni::Command::kDel).has_value());
  expect_nothing_left();
}

TEST_F(MetaTest, IbKubernetesWordCountsOnlyWhereItIsKeptForIbKubernetes) {
  const auto refused = [&] {
    const auto answer = ask(cni::Command::kAdd);
    return answer.has_value() ? "added"
                              : fmt::format("{}: {} ({})", cni::code_of(answer.error()), answer.error().story(),
                                            cni::hint_of(answer.error()));
  };
  pods.add_network("rail", R"({"cniVersion":"1.0.0","type":"ib-sriov","ibKubernetesEnabled":true})");
  pods.add_pod(R"([{"name":"rail","cni-args":{"guid":"02:00:00:00:00:00:00:09"}}])");
  pods.ib_kubernetes_is_reserved = false;
  EXPECT_THAT(refused(), Not(HasSubstr("as well"))) << "it has not said a word";
  pods.add_pod(
      R"([{"name":"rail","cni-args":{"guid":"02:00:00:00:00:00:00:09","mellanox.infiniband.app":"configured"}}])");
  EXPECT_EQ(refused(),
            "7: network ns/rail: it waits for ib-kubernetes, but the author of a pod can also write "
            "mellanox.infiniband.app (apply deploy/sharing/ib-kubernetes.yaml, which reserves it for ib-kubernetes' "
            "service account)");
  expect_nothing_left();
  pods.ib_kubernetes_is_reserved = fail(Code::kBusy, "no answer");
  EXPECT_EQ(refused(), "11: network ns/rail: it waits for ib-kubernetes: no answer ()");
  pods.ib_kubernetes_is_reserved = true;
  EXPECT_THAT(refused(), HasSubstr("deviceID")) << "it goes on to look for a VF";
  expect_nothing_left();
  // Where no network waits for it, it is a word like any other.
  pods.ib_kubernetes_is_reserved = false;
  pods.add_network("rail", kMacvlan);
  pods.add_pod(R"([{"name":"rail","cni-args":{"mellanox.infiniband.app":"configured"}}])");
  EXPECT_EQ(refused(), "added");
}

// The pod keeps what it was given; what it asks for next is refused with the reason.
TEST_F(MetaTest, ADefinitionThatLosesItsCapabilityWhilePodsRunKeepsThem) {
  pods.add_network("rail", R"({"cniVersion":"1.0.0","type":"macvlan","master":"eth1","capabilities":{"mac":true}})");
  pods.add_pod(R"([{"name":"rail","mac":"02:00:00:00:00:42"}])");
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  pods.add_network("rail", kMacvlan);
  EXPECT_TRUE(ask(cni::Command::kCheck).has_value());
  EXPECT_EQ(links_inside(), std::vector<std::string>{"net1"});
  EXPECT_TRUE(ask(cni::Command::kDel).has_value());
  expect_nothing_left();
  const auto again = ask(cni::Command::kAdd);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().story(),
            "network ns/rail (net1): the pod requests mac, but no plugin of the network supports it");
}

TEST_F(MetaTest, KeepsNamespacesApartWhereConfigured) {
  pods.networks["other/rail"] = {"other", "rail", parse_network_config(kMacvlan).value(), ""};
  pods.add_pod("other/rail");
  EXPECT_FALSE(ask(cni::Command::kAdd, R"(,"namespaceIsolation":true)").has_value());
  EXPECT_TRUE(ask(cni::Command::kAdd, R"(,"namespaceIsolation":true,"globalNamespaces":"default,other")").has_value());
}

TEST_F(MetaTest, GivesAnUnknownPodTheDefaultNetworkOrFails) {
  pod = "unknown";
  EXPECT_FALSE(ask(cni::Command::kAdd, R"(,"unknownPod":"fail")").has_value());
  EXPECT_TRUE(runs.empty());
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  EXPECT_THAT(interfaces(), ElementsAre("exec:eth0#0"));
  EXPECT_TRUE(pods.published.empty());
}

// A pod never starts with fewer networks than its annotation names: if only an API server knows it, ADD fails unless
// the configuration says otherwise.
TEST_F(MetaTest, FailsForAPodThatOnlyAnApiServerKnows) {
  constexpr const char* kCluster = R"(,"kubeconfig":"/etc/cni/net.d/multus.d/multus.kubeconfig")";
  EXPECT_TRUE(ask(cni::Command::kAdd, kCluster).has_value());  // a source of the agent knows it
  ASSERT_TRUE(ask(cni::Command::kDel, kCluster).has_value());
  runs.clear();
  pod = "unknown";
  auto refused = ask(cni::Command::kAdd, kCluster, "c2");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(
      refused.error().story(),
      HasSubstr("the configuration names a kubeconfig (/etc/cni/net.d/multus.d/multus.kubeconfig), but this agent "
                "does not use the API server"));
  EXPECT_THAT(cni::hint_of(refused.error()), HasSubstr("unknownPod"));
  EXPECT_TRUE(runs.empty());
  expect_nothing_left();
  auto status = ask(cni::Command::kStatus, kCluster);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(cni::code_of(status.error()), cni::kUnavailable);
  const std::string decided = std::string(kCluster) + R"(,"unknownPod":"default-network-only")";
  EXPECT_TRUE(ask(cni::Command::kAdd, decided, "c2").has_value());
  EXPECT_TRUE(ask(cni::Command::kStatus, decided).has_value());
}

// Where the source knows all pods of a cluster, the same goes for every configuration.
TEST_F(MetaTest, FailsForAPodThatItsClusterDoesNotHave) {
  pods.cluster = true;
  pod = "unknown";
  for (const char* kubeconfig : {"", R"(,"kubeconfig":"/etc/cni/net.d/multus.d/multus.kubeconfig")"}) {
    auto refused = ask(cni::Command::kAdd, kubeconfig);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().story(), "there is no pod ns/unknown") << "it does ask the API server";
    expect_nothing_left();
    EXPECT_TRUE(ask(cni::Command::kStatus, kubeconfig).has_value());
  }
  EXPECT_TRUE(ask(cni::Command::kAdd, R"(,"unknownPod":"default-network-only")").has_value());
}

TEST_F(MetaTest, SaysWhatIsMissingForADevice) {
  pods.add_network("dev", R"({"cniVersion":"1.0.0","type":"host-device","ipam":{}})", "o/r");
  pods.add_pod("dev");
  EXPECT_EQ(cni::hint_of(ask(cni::Command::kAdd).error()),
            "request it in the pod's resources, or add a policy that creates its VFs");
  pods.pods["ns/a"].requested.emplace();
  EXPECT_EQ(cni::hint_of(ask(cni::Command::kAdd).error()),
            "no container of the pod requests it: add o/r to the limits of one, once for each network that uses it; an "
            "injector of the SR-IOV operator that does this has not seen this pod");
  pods.pods["ns/a"].requested->insert("o/r");
  EXPECT_EQ(
      cni::hint_of(ask(cni::Command::kAdd).error()),
      "its containers request o/r, but kubelet has allocated none; see the logs of kubelet and the device plugin");
  expect_nothing_left();
}

TEST_F(MetaTest, LimitsTheNetworksOfAPod) {
  std::string many = "rail";
  for (int i = 1; i < 64; ++i) many += ",rail";
  pods.add_pod(many);  // one too many, together with the default network
  auto refused = ask(cni::Command::kAdd);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().story(), "pod ns/a requests 65 networks; the limit is 64");
  EXPECT_EQ(cni::hint_of(refused.error()), "maxNetworks in the configuration sets the limit");
  expect_nothing_left();
  EXPECT_FALSE(ask(cni::Command::kAdd, R"(,"maxNetworks":2)").has_value());
  pods.add_pod("rail");
  EXPECT_TRUE(ask(cni::Command::kAdd, R"(,"maxNetworks":2)").has_value());
}

// The name would be in the environment of executed plugins.
TEST_F(MetaTest, AnInterfaceNameThatAShellWouldInterpretIsRefused) {
  for (const char* name : {"a;id", "$(id)", "`id`", "'", "-i", ".a", "_a", "r\xC3\xA9seau", "sixteen-letters0"}) {
    pods.add_pod(fmt::format("rail@{}", name));
    auto refused = ask(cni::Command::kAdd);
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(cni::code_of(refused.error()), cni::kInvalidConfig);
    EXPECT_EQ(
        refused.error().story(),
        fmt::format("pod ns/a: its networks annotation: networks.interface: \"{}\" is not a name that a pod can choose "
                    "for an interface (a letter or digit, then up to 14 letters, digits, '_', '.' and '-')",
                    name));
  }
  expect_nothing_left();
  pods.add_pod("rail@Rail-0_a.b");
  EXPECT_TRUE(ask(cni::Command::kAdd).has_value());
}

// The node's default networks are no part of the annotation, where this is refused before.
TEST_F(MetaTest, ADefaultNetworkAndOneOfThePodCannotBeOneInterface) {
  pods.networks["kube-system/lan"] = {"kube-system", "lan", parse_network_config(kMacvlan).value(), ""};
  pods.add_pod("rail@net1");
  delegates = R"("clusterNetwork":"lan","defaultNetworks":["lan"])";
  auto refused = ask(cni::Command::kAdd);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().story(), "pod ns/a: two networks request the interface name net1");
  expect_nothing_left();
}

TEST_F(MetaTest, GivesThePodOneDefaultRoutePerFamily) {
  std::string config = kMacvlan;
  config.insert(config.find("}}"), R"(,"routes":[{"dst":"0.0.0.0/0","gw":"10.9.0.1"}])");
  pods.add_network("rail", config);
  pods.add_pod(R"([{"name":"rail","default-route":["10.9.0.254"]},{"name":"rail"}])");
  // Without a default network, because the fake bridge program makes no interface.
  delegates = R"("kubeconfig":"")";
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  auto netns = kernel.netns().open("/run/netns/a");
  auto links = kernel.netns().links(**netns);
  std::vector<std::string> gateways;
  auto routes = (*links)->routes();
  for (const Route& route : *routes)
    if (route.is_default()) gateways.push_back(route.gateway->to_string());
  EXPECT_THAT(gateways, ElementsAre("10.9.0.254"));

  pods.add_pod(R"([{"name":"rail","default-route":["10.9.0.254"]},{"name":"rail","default-route":["10.9.0.253"]}])");
  auto two = ask(cni::Command::kAdd, "", "c2");
  ASSERT_FALSE(two.has_value());
  EXPECT_EQ(two.error().story(), "pod ns/a: default-route has two gateways of IPv4: ns/rail and ns/rail");
}

TEST_F(MetaTest, CollectsSandboxesThatTheRuntimeDoesNotKnow) {
  ASSERT_TRUE(ask(cni::Command::kAdd).has_value());
  EXPECT_FALSE(ask(cni::Command::kGc).has_value());  // without a list
  ASSERT_TRUE(
      ask(cni::Command::kGc, R"(,"cni.dev/valid-attachments":[{"containerID":"c1","ifname":"eth0"}])").has_value());
  EXPECT_EQ(interfaces().size(), 3u);
  ASSERT_TRUE(ask(cni::Command::kGc, R"(,"cni.dev/valid-attachments":[])").has_value());
  expect_nothing_left();
}

TEST_F(MetaTest, ReadsWhereaboutsPoolsAgainWhenItCollects) {
  const std::string pool =
      R"({"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"10.9.0.0-24"},)"
      R"("spec":{"range":"10.9.0.0/24","allocations":{"1":{"id":"old","podref":"ns/old","ifname":"net1"},)"
      R"("2":{"id":"far","podref":"ns/far","ifname":"net1"}}}})";
  kernel.put_file("/pools/a.json", pool);
  disk.put("/var/lib/cni/multus/old", "[]");
  {
    auto turn = engine.turn(kTurnWait);
    ASSERT_TRUE(meta.adopt_from(*turn, pools_in_directory(kernel.files(), "/pools")));
  }
  EXPECT_EQ(store->all_leases()->size(), 2u);
  ASSERT_TRUE(ask(cni::Command::kGc, R"(,"cni.dev/valid-attachments":[{"containerID":"old","ifname":"eth0"}])"));
  EXPECT_EQ(store->all_leases()->size(), 2u);
  ASSERT_TRUE(ask(cni::Command::kGc, R"(,"cni.dev/valid-attachments":[])"));
  ASSERT_EQ(store->all_leases()->size(), 1u);
  EXPECT_EQ(store->all_leases()->front().pod, "ns/far@far");
  kernel.put_file("/pools/a.json", "{}");
  ASSERT_TRUE(ask(cni::Command::kGc, R"(,"cni.dev/valid-attachments":[])"));
  EXPECT_TRUE(store->all_leases()->empty());
  kernel.put_file("/pools/a.json", "[");
  auto failed = ask(cni::Command::kGc, R"(,"cni.dev/valid-attachments":[])");
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().story(), HasSubstr("--adopt: /pools/a.json:"));
}

TEST_F(MetaTest, AnswersStatusForTheDefaultNetwork) {
  EXPECT_TRUE(ask(cni::Command::kStatus).has_value());
  auto missing = R"(,"readinessindicatorfile":"/run/ready")";
  auto answer = ask(cni::Command::kStatus, missing);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(cni::code_of(answer.error()), cni::kUnavailable);
  auto add = ask(cni::Command::kAdd, missing);
  ASSERT_FALSE(add.has_value());
  EXPECT_EQ(cni::code_of(add.error()), cni::kTryAgainLater);
}

TEST_F(MetaTest, DoesNotWaitForTheDefaultNetworkOnceTheAgentStops) {
  const os::Deadline begin = kernel.clock().now();
  kernel.before("wait for wait", [&] { engine.stop(); });
  auto add = ask(cni::Command::kAdd, R"(,"readinessindicatorfile":"/run/ready")");
  ASSERT_FALSE(add.has_value());
  EXPECT_EQ(cni::code_of(add.error()), cni::kTryAgainLater);
  EXPECT_EQ(add.error().story(), "the agent is stopping");
  EXPECT_LE(kernel.clock().now() - begin, std::chrono::milliseconds(200));
}

TEST_F(MetaTest, ReportsWhichDeviceIsMissing) {
  pods.add_network("vf", R"({"cniVersion":"1.0.0","type":"sriov"})", "openshift.io/rail0");
  pods.add_pod("vf");
  auto answer = ask(cni::Command::kAdd);
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().story(), HasSubstr("openshift.io/rail0"));
  expect_nothing_left();
}

TEST_F(MetaTest, GivesBackWhatMultusAttached) {
  // {"cniVersion":"0.3.1","name":"n","type":"bridge"}
  disk.put("/var/lib/cni/multus/c1",
           R"([{"Bytes":"eyJjbmlWZXJzaW9uIjoiMC4zLjEiLCJuYW1lIjoibiIsInR5cGUiOiJicmlkZ2UifQ=="}])");
  ASSERT_TRUE(ask(cni::Command::kDel).has_value());
  EXPECT_THAT(runs, ElementsAre("bridge DEL"));
  EXPECT_FALSE(disk.files().contains("/var/lib/cni/multus/c1"));
}

TEST_F(MetaTest, LeavesPodsAloneThatAreBeingAttachedWhenItRecovers) {
  // The agent recovers while this ADD's program runs; the ADD must end well in any case.
  kernel.put_program("/opt/cni/bin/bridge", [this](const os::RunRequest&) -> Result<os::RunResult> {
    recovery = std::thread([this] { recovered = meta.recover(engine).has_value(); });
    return os::RunResult{.output = kBridgeAnswer};
  });
  auto answer = ask(cni::Command::kAdd);
  recovery.join();
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_TRUE(recovered);
  EXPECT_THAT(interfaces(), ElementsAre("exec:eth0#0", "net1", "second"));
}

// kill -9 at every call of the ADD; after the next agent's recovery and DEL nothing is left.
TEST_F(MetaTest, SurvivesAKillAtEveryCall) {
  std::string before = kernel.snapshot();
  for (int calls = 0;; ++calls) {
    ASSERT_LT(calls, 200);
    for (auto kind : {os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered}) {
      kernel.kill_after(calls, kind);
      auto answer = ask(cni::Command::kAdd);
      bool killed = kernel.killed();
      kernel.restart();
      if (!killed) {
        ASSERT_TRUE(answer.has_value()) << answer.error().story();
        return;
      }
      ASSERT_TRUE(meta.recover(engine));
      auto gone = ask(cni::Command::kDel);
      ASSERT_TRUE(gone.has_value()) << gone.error().story();
      expect_nothing_left();
      EXPECT_EQ(kernel.snapshot(), before);
    }
  }
}

// Only default routes give way to the one that the pod asks for.
TEST_F(MetaTest, ADefaultRouteOfThePodLeavesOtherRoutesAlone) {
  std::string config = kMacvlan;
  config.insert(config.find("}}"),
                R"(,"routes":[{"dst":"0.0.0.0/0","gw":"10.9.0.1"},{"dst":"10.88.0.0/16","gw":"10.9.0.1"}])");
  pods.add_network("rail", config);
  pods.add_pod(R"([{"name":"rail","default-route":["10.9.0.254"]}])");
  delegates = R"("kubeconfig":"")";
  auto answer = ask(cni::Command::kAdd);
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  auto netns = kernel.netns().open("/run/netns/a");
  auto links = kernel.netns().links(**netns);
  std::vector<std::string> routes;
  auto all = (*links)->routes();
  for (const Route& route : *all)
    if (route.gateway.has_value())
      routes.push_back(fmt::format("{} via {}", route.is_default() ? "default" : route.destination.to_string(),
                                   route.gateway->to_string()));
  EXPECT_THAT(routes, testing::UnorderedElementsAre("10.88.0.0/16 via 10.9.0.1", "default via 10.9.0.254"));
}

}  // namespace
}  // namespace railbed::agent

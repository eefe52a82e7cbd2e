// SPDX-License-Identifier: Apache-2.0
// A node's own loop over a machine in memory: orders, pods that have VFs, what goes wrong, and what is no order.
#include "agent/cluster/node_keeper.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "agent/cluster/test_node.h"
#include "attach/record.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

class NodeKeeperTest : public testing::Test {
 protected:
  void carried_out(const doc::Value& state) {
    node.pass(state);
    EXPECT_EQ(node.reported("syncStatus"), "Succeeded") << doc::to_json(node.reported());
  }
  std::string reasons() const { return fmt::format("{}", fmt::join(node.keeper->reasons(), "\n")); }

  TestNode node;
};

TEST_F(NodeKeeperTest, CarriesOutWhatTheNodeStateWantsAndReportsIt) {
  carried_out(node.state_of(two_policies(), 7));
  EXPECT_EQ(doc::text_in(node.heard.statuses.front(), "syncStatus"), "InProgress");
  EXPECT_EQ(doc::number_in(node.reported(), "observedGeneration"), 7);
  EXPECT_EQ(doc::to_json(*node.reported().find("policies")),
            R"([{"name":"rail0","state":"Applied"},{"name":"rail1","state":"Applied"}])");
  EXPECT_EQ(node.heard.uids.back(), "uid-1");
  EXPECT_EQ(node.offers.last(),
            "openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n"
            "openshift.io/rail1: 0000:02:10.0 0000:02:10.2 0000:02:10.4\n");
  ASSERT_EQ(node.heard.events.size(), 1U);
  EXPECT_EQ(node.heard.events[0].find("VfsChanged: generation 7: "), 0U) << node.heard.events[0];
  // VFs that no pod can have are made without asking the kubelet.
  EXPECT_EQ(node.offers.calls, std::vector<std::string>{"offer"});
  EXPECT_EQ(reasons(), "");
  EXPECT_TRUE(node.keeper->counters().synced.has_value());
}

TEST_F(NodeKeeperTest, EndsInTheMachineOfUpWithTheSamePolicies) {
  carried_out(node.state_of(two_policies()));
  os::FakeKernel other;
  auto store = state::memory_store();
  Quiet quiet;
  const api::Objects objects = objects_of(two_policies());
  ASSERT_TRUE(node::up(other, *store, node::look(other, store.get(), objects, {}).value(), {}, quiet)->complete());
  EXPECT_EQ(node.kernel.snapshot(), other.snapshot());
}

TEST_F(NodeKeeperTest, ASecondPassAndAnAgentThatStartsAgainChangeNothing) {
  const doc::Value state = node.state_of(two_policies());
  carried_out(state);
  node.kernel.clear_journal();
  const int writes = node.store.writes();
  node.pass(state);
  node.restart();
  carried_out(state);
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.store.writes(), writes) << "the state needs no write either";
}

// The kubelet's devices would all be without an RDMA device, and unhealthy.
TEST_F(NodeKeeperTest, SoftRdmaIsKnownToTheDevicePlugin) {
  node.keeper->pass(
      {.state = std::make_shared<doc::Value>(node.state_of(two_policies())), .current = true, .aside = ""});
  ASSERT_FALSE(node.offers.offers.empty());
  EXPECT_EQ(node.offers.offers.back().soft_rdma, node.settings.options.soft_rdma);
  node.settings.options.soft_rdma = !node.settings.options.soft_rdma;
  node.restart();
  node.keeper->pass(
      {.state = std::make_shared<doc::Value>(node.state_of(two_policies())), .current = true, .aside = ""});
  EXPECT_EQ(node.offers.offers.back().soft_rdma, node.settings.options.soft_rdma);
  EXPECT_EQ(node.keeper->counters().ended, 1u);
}

// --- What is no order

TEST_F(NodeKeeperTest, OffersWhatItHadWithoutAnApiServerAndChangesNothing) {
  carried_out(node.state_of(two_policies()));
  const std::string before = node.everything();
  node.restart();
  node.kernel.clear_journal();
  const size_t reported = node.heard.statuses.size();
  node.offers.offers.clear();
  // Somebody has damaged a VF meanwhile: that waits for the API server, too.
  node.keeper->pass({});
  EXPECT_EQ(node.offers.last(),
            "openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n"
            "openshift.io/rail1: 0000:02:10.0 0000:02:10.2 0000:02:10.4\n");
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.everything(), before);
  EXPECT_EQ(node.heard.statuses.size(), reported);
}

TEST_F(NodeKeeperTest, ChangesNothingWhileTheApiServerIsSilent) {
  node.keeper->pass(
      {.state = std::make_shared<doc::Value>(node.state_of(two_policies())), .current = false, .aside = ""});
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.offers.last(), "nothing");
}

TEST_F(NodeKeeperTest, NothingThatIsAbsentIsAnOrder) {
  carried_out(node.state_of(two_policies()));
  const std::string before = node.everything();
  node.kernel.clear_journal();
  doc::Value spec = doc::Value::object();
  doc::Value no_spec = node.state_with(spec, 2);
  std::erase_if(*no_spec.as_object(), [](const doc::Value::Member& member) { return member.key == "spec"; });
  // Before its agent has reported what the node has, no operator can have decided.
  doc::Value unreported = node.state_with(api::node_state_spec({}), 2);
  unreported.set("status", doc::Value::object());
  const doc::Value rows[] = {no_spec, node.state_with(spec, 2), unreported};
  for (const doc::Value& state : rows) {
    node.pass(state);
    EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{}) << doc::to_json(state);
  }
  node.keeper->pass({.state = nullptr, .current = true, .aside = ""});
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.everything(), before);
  EXPECT_NE(node.offers.last(), "nothing");
}

TEST_F(NodeKeeperTest, ASpecThatSaysSoGivesThePfBack) {
  const std::string start = node.everything();
  carried_out(node.state_of(two_policies()));
  carried_out(node.state_of(policy_text("rail0", "eth0", 2, "  isRdma: true\n"), 2));
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n");
  carried_out(node.state_with(api::node_state_spec({}), 3));
  EXPECT_EQ(node.everything(), start);
  EXPECT_EQ(node.offers.last(), "");
}

TEST_F(NodeKeeperTest, APfThatIsListedWithoutVfsIsGivenBackToo) {
  const std::string start = node.everything();
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  carried_out(node.state_with(api::node_state_spec({{.address = kPf0, .name = "eth0"}}), 2));
  EXPECT_EQ(node.everything(), start);
}

TEST_F(NodeKeeperTest, VfsOfUpAreNoneOfTheNodeStates) {
  Quiet quiet;
  const api::Objects objects = objects_of(two_policies());
  node::Settings settings;
  settings.apply.parallel = false;  // the store of the test is for one thread
  ASSERT_TRUE(node::up(node.kernel, node.store, node::look(node.kernel, node.kept.get(), objects, settings).value(),
                       settings, quiet)
                  ->complete());
  const std::string before = node.everything();
  carried_out(node.state_with(api::node_state_spec({})));
  EXPECT_EQ(node.everything(), before);
}

// --- VFs that pods have

TEST_F(NodeKeeperTest, WithdrawsVfsBeforeTheyChangeAndOffersThemAgain) {
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  node.offers.calls.clear();
  node.offers.when_withdrawn = [&] {
    EXPECT_EQ(node.offers.withdrawn, (std::set{kVf00, kVf01}));
    EXPECT_EQ(node.kernel.snapshot().find("9000"), std::string::npos) << "nothing has changed yet";
  };
  carried_out(node.state_of(policy_text("rail0", "eth0", 2, "  mtu: 9000\n"), 2));
  EXPECT_EQ(node.offers.calls, (std::vector<std::string>{"allocated", "withdraw 2", "allocated", "offer"}));
}

TEST_F(NodeKeeperTest, WhatAPodHasIsHeldBackAndReportedAndCarriedOutWhenItHasGone) {
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  node.attach("ai/vllm-0", kVf00);
  const doc::Value more = node.state_of(policy_text("rail0", "eth0", 4), 2);
  node.kernel.clear_journal();
  EXPECT_EQ(node.pass(more), milliseconds(10'000));
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  const std::string held =
      "eth0: 4 VFs instead of 2: deferred, ai/vllm-0 uses it (policy rail0 requests 4 VFs, found 2)";
  EXPECT_EQ(node.reported("syncStatus"), "InProgress");
  EXPECT_EQ(node.reported("lastSyncError"), held);
  EXPECT_EQ(doc::to_json(*node.reported().find("policies")),
            fmt::format(R"([{{"message":"{}","name":"rail0","state":"Held"}}])", held));
  EXPECT_EQ(node.heard.events.back(), "! ChangeHeldBack: " + held);
  EXPECT_EQ(reasons(), held);
  EXPECT_EQ(node.keeper->counters().held_back, 1U);
  // The other VF can be had meanwhile.
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0: 0000:01:10.0 0000:01:10.2\n");
  const size_t events = node.heard.events.size();
  node.pass(more);
  EXPECT_EQ(node.heard.events.size(), events) << "reported once";
  node.detach("ai/vllm-0");
  carried_out(more);
  EXPECT_EQ(node.keeper->counters().held_back, 0U);
}

TEST_F(NodeKeeperTest, AVfOfAPodWithoutAttachmentIsInUseBecauseTheKubeletSaysSo) {
  const std::string vfio = policy_text("rail0", "eth0", 2, "  deviceType: vfio-pci\n");
  carried_out(node.state_of(vfio));
  node.offers.given = {{kVf01, "ai/dpdk"}};
  node.offers.calls.clear();
  node.pass(node.state_of(policy_text("rail0", "eth0", 2), 2));
  EXPECT_EQ(node.reported("lastSyncError"),
            "eth0: VF 1: bind to the kernel's network driver: deferred, ai/dpdk uses it (policy rail0 has VFs 0-1)");
  // VF 0 is free, and was bound again.
  EXPECT_EQ(node.offers.calls, (std::vector<std::string>{"allocated", "withdraw 1", "allocated", "offer"}));
  EXPECT_EQ(node.kernel.snapshot().find("vfio-pci") != std::string::npos, true);
  EXPECT_EQ(doc::text_in(node.reported().find("policies")->as_array()->front(), "state"), "Held");
}

TEST_F(NodeKeeperTest, AVfThatAPodGetsWhileItIsWithdrawnIsHeldBack) {
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  node.offers.when_withdrawn = [&] { node.offers.given = {{kVf00, "ai/late"}}; };
  node.kernel.clear_journal();
  node.pass(node.state_of(policy_text("rail0", "eth0", 4), 2));
  EXPECT_EQ(node.reported("lastSyncError"),
            "eth0: 4 VFs instead of 2: deferred, ai/late uses it (policy rail0 requests 4 VFs, found 2)");
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.offers.calls.back(), "offer") << "what was withdrawn is offered again";
}

TEST_F(NodeKeeperTest, VfsThatAreThereStayAsTheyAreWhileTheKubeletIsSilent) {
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  node.offers.silent = true;
  node.kernel.clear_journal();
  EXPECT_EQ(node.pass(node.state_of(policy_text("rail0", "eth0", 4) + policy_text("rail1", "eth1", 1), 2)),
            milliseconds(10'000));
  for (const std::string& call : node.kernel.journal()) EXPECT_EQ(call.find("0000:01:"), std::string::npos) << call;
  EXPECT_NE(node.kernel.snapshot().find("0000:02:10.0"), std::string::npos) << "eth1 had none: its VF is made";
  EXPECT_EQ(node.reported("syncStatus"), "InProgress");
  EXPECT_EQ(
      node.reported("lastSyncError"),
      "existing VFs stay unchanged, because the kubelet does not report which of them pods use: the kubelet cannot be "
      "asked; eth0: 4 VFs instead of 2: deferred, (the kubelet does not report its pod) uses it (policy rail0 requests "
      "4 VFs, found 2)");
  node.offers.silent = false;
  carried_out(node.state_of(policy_text("rail0", "eth0", 4) + policy_text("rail1", "eth1", 1), 2));
}

TEST_F(NodeKeeperTest, APodThatComesAndGoesChangesNothingThatIsReported) {
  const doc::Value state = node.state_of(two_policies());
  carried_out(state);
  node.pass(state);
  const doc::Value before = node.reported();
  node.attach("ai/vllm-0", kVf00);
  {
    auto pod = node.kernel.netns().create("x");
    ASSERT_TRUE(pod.has_value());
    auto netns = node.kernel.netns().open("/run/netns/x").value();
    auto links = node.kernel.links().value();
    const std::vector<os::Link> all = links->list(os::WithVfs::kNo).value();
    for (const os::Link& link : all) {
      if (link.parent_device != kVf00.to_string()) continue;
      ASSERT_TRUE(links->change(link.index, {.name = IfName{"net1"}, .netns = netns.get()}).has_value());
    }
  }
  ASSERT_TRUE(node.facts().nics[0].vfs[0].netdev == std::nullopt);
  node.pass(state);
  EXPECT_EQ(node.reported(), before);
  // Its DEL has ended, and the machine was looked at before the interface was back.
  node.detach("ai/vllm-0");
  node.pass(state);
  EXPECT_EQ(node.reported(), before);
}

// The kubelet must not give it to another pod.
TEST_F(NodeKeeperTest, AnOrphanedVfIsOfferedAsSuch) {
  const doc::Value state = node.state_of(two_policies());
  carried_out(state);
  attach::Before before{.device = kVf00, .name = "eth9"};
  before.orphaned_at_s = 1'800'000'000;
  ASSERT_TRUE(node.store.put_attachment({.pod = "ai/vllm-0@c1",
                                         .interface = "net1",
                                         .netns = "/run/netns/x",
                                         .network = "n",
                                         .type = "sriov",
                                         .status = state::AttachmentStatus::kDetaching,
                                         .device = kVf00.to_string(),
                                         .resource = "",
                                         .undo = attach::undo_text({.interface = "net1"}, before),
                                         .result = ""}));
  node.pass(state);
  const std::map<PciAddress, std::string> orphaned = {
      {kVf00, "network namespace /run/netns/x was not found, but still exists"}};
  EXPECT_EQ(node.offers.offers.back().orphaned, orphaned);
  ASSERT_TRUE(node.store.forget_attachment("ai/vllm-0@c1", "net1"));
  node.pass(state);
  EXPECT_TRUE(node.offers.offers.back().orphaned.empty());
}

// While VFs change, the turn is free for pods, and no pod gets what changes.
TEST_F(NodeKeeperTest, PodsAreAttachedMeanwhileButNotWithWhatIsChanging) {
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  int seen = 0;
  node.kernel.before("0000:01:00.0/sriov_numvfs 4", [&] {
    auto turn = node.engine->turn(milliseconds(0));
    ASSERT_TRUE(turn.has_value()) << turn.error().to_string();
    EXPECT_TRUE(turn->is_changing(kPf0));
    EXPECT_TRUE(turn->is_changing(kVf00));
    EXPECT_TRUE(turn->is_changing(*PciAddress::parse("0000:01:10.6"))) << "one that is being made";
    EXPECT_FALSE(turn->is_changing(kPf1));
    ++seen;
  });
  carried_out(node.state_of(policy_text("rail0", "eth0", 4), 2));
  EXPECT_EQ(seen, 1);
  EXPECT_FALSE(node.engine->is_changing(kPf0));
}

// --- What goes wrong

TEST_F(NodeKeeperTest, AFailedStepIsReportedWithItsErrnoAndTriedAgainLessAndLessOften) {
  node.kernel.fail_when("0000:01:00.0/sriov_numvfs", EBUSY, -1);
  const doc::Value state = node.state_of(two_policies());
  node.pass(state);
  EXPECT_EQ(node.reported("syncStatus"), "Failed");
  EXPECT_NE(node.reported("lastSyncError").find("eth0: create 2 VFs: "), std::string::npos)
      << node.reported("lastSyncError");
  EXPECT_NE(node.reported("lastSyncError").find("EBUSY"), std::string::npos) << node.reported("lastSyncError");
  const doc::Value::Array& policies = *node.reported().find("policies")->as_array();
  EXPECT_EQ(doc::text_in(policies[0], "state"), "Failed");
  EXPECT_EQ(doc::text_in(policies[0], "message"), node.reported("lastSyncError"));
  EXPECT_EQ(doc::text_in(policies[1], "state"), "Applied") << "the other PF is done";
  EXPECT_EQ(node.heard.events.back(), "! StepFailed: " + node.reported("lastSyncError"));
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0:\nopenshift.io/rail1: 0000:02:10.0 0000:02:10.2 0000:02:10.4\n");

  std::vector<int> tries;
  for (int at = 30; at <= 1200; at += 30) {
    node.clock.advance(milliseconds(30'000));
    node.kernel.clear_journal();
    node.pass(state);
    if (!node.kernel.journal().empty()) tries.push_back(at);
  }
  EXPECT_EQ(tries, (std::vector<int>{60, 180, 420, 900}));
  EXPECT_EQ(node.reported("syncStatus"), "Failed");
  // Another order is tried at once.
  node.kernel.clear_journal();
  node.pass(node.state_of(two_policies(), 2));
  EXPECT_FALSE(node.kernel.journal().empty());
}

TEST_F(NodeKeeperTest, ASpecThatCannotBeReadChangesNothingAndSaysWhy) {
  carried_out(node.state_of(two_policies()));
  node.kernel.clear_journal();
  doc::Value spec = api::node_state_spec({});
  spec.set("interfaces", 5);
  node.pass(node.state_with(spec, 2));
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_EQ(node.reported("syncStatus"), "Failed");
  EXPECT_EQ(node.reported("lastSyncError"),
            "the node state cannot be read: spec.interfaces must be a list, found an integer");
  EXPECT_EQ(node.heard.events.back(), "! NodeStateUnreadable: " + node.reported("lastSyncError"));
}

TEST_F(NodeKeeperTest, WhatThisNodeRefusesIsFailedWithTheReason) {
  os::FakeMachine machine = os::FakeMachine::lab();
  machine.iommu = false;
  TestNode other(machine);
  const doc::Value state = node.state_of(policy_text("rail0", "eth0", 2, "  deviceType: vfio-pci\n"));
  other.pass(state);
  EXPECT_EQ(other.reported("syncStatus"), "Failed");
  EXPECT_NE(other.reported("lastSyncError").find("policy rail0: "), std::string::npos)
      << other.reported("lastSyncError");
  EXPECT_NE(other.reported("lastSyncError").find("IOMMU"), std::string::npos) << other.reported("lastSyncError");
  EXPECT_EQ(doc::text_in(other.reported().find("policies")->as_array()->front(), "state"), "Failed");
}

TEST_F(NodeKeeperTest, ASpecThatIsEditedWhileItIsCarriedOutIsTheNextPassesOrder) {
  doc::Value first = node.state_of(two_policies());
  const doc::Value second = node.state_of(policy_text("rail0", "eth0", 1), 2);
  node.kernel.before("sriov_numvfs", [&] { first = second; });
  const auto object = std::make_shared<doc::Value>(first);
  node.keeper->pass({.state = object, .current = true, .aside = ""});
  node.pass(first);
  EXPECT_EQ(doc::number_in(node.reported(), "observedGeneration"), 2);
  EXPECT_EQ(node.offers.last(), "openshift.io/rail0: 0000:01:10.0\n");
}

// --- Names of resources

TEST_F(NodeKeeperTest, OffersVfsUnderThePrefixThatTheOperatorSays) {
  carried_out(TestNode::with_prefix(node.state_of(policy_text("rail0", "eth0", 2)), "nvidia.com"));
  EXPECT_EQ(node.offers.last(), "nvidia.com/rail0: 0000:01:10.0 0000:01:10.2\n");
  EXPECT_EQ(reasons(), "");
  // Also an agent that starts without an API server.
  node.restart();
  node.keeper->pass({});
  EXPECT_EQ(node.offers.last(), "nvidia.com/rail0: 0000:01:10.0 0000:01:10.2\n");
}

TEST_F(NodeKeeperTest, AVfOfAPodKeepsItsFormerNameUntilThePodEnds) {
  const doc::Value state = node.state_of(policy_text("rail0", "eth0", 2));
  carried_out(state);
  node.offers.given = {{kVf00, "ai/vllm-0"}};
  const doc::Value renamed = TestNode::with_prefix(state, "nvidia.com");
  const std::string both = "nvidia.com/rail0: 0000:01:10.0! 0000:01:10.2\nopenshift.io/rail0: 0000:01:10.0~\n";
  const std::string line =
      "VFs of openshift.io/rail0 are offered as nvidia.com/rail0 now; until their pods end, those of ai/vllm-0 keep the "
      "former name";
  node.offers.calls.clear();
  node.kernel.clear_journal();
  EXPECT_EQ(node.pass(renamed), milliseconds(10'000));
  // The free one is withdrawn before the kubelet is asked for the last time: no pod gets it under the former name.
  EXPECT_EQ(node.offers.calls, (std::vector<std::string>{"allocated", "withdraw 1", "allocated", "offer"}));
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{}) << "a name is nothing of the machine";
  EXPECT_EQ(node.offers.last(), both);
  EXPECT_EQ(node.offers.offers.back().ending.at("openshift.io/rail0").at(kVf00), "it is nvidia.com/rail0 now");
  EXPECT_EQ(node.offers.offers.back().taken.at(kVf00), "ai/vllm-0 has it as openshift.io/rail0");
  EXPECT_EQ(node.reported("syncStatus"), "Succeeded");
  EXPECT_EQ(reasons(), line);
  EXPECT_EQ(node.heard.events.back(), "ResourceRenamed: " + line);
  const size_t events = node.heard.events.size();
  node.pass(renamed);
  EXPECT_EQ(node.heard.events.size(), events) << "reported once";

  // An agent that starts again knows the former name by its state, and a silent kubelet gives nothing away.
  node.restart();
  node.offers.silent = true;
  node.pass(renamed);
  EXPECT_EQ(node.offers.last(), both);
  node.offers.silent = false;
  node.pass(renamed);
  EXPECT_EQ(node.offers.last(), both);

  node.offers.given.clear();
  carried_out(renamed);
  EXPECT_EQ(node.offers.last(), "nvidia.com/rail0: 0000:01:10.0 0000:01:10.2\n");
  EXPECT_EQ(reasons(), "");
  node.offers.calls.clear();
  node.pass(renamed);
  EXPECT_EQ(node.offers.calls, std::vector<std::string>{}) << "the kubelet is not asked any more";
}

TEST_F(NodeKeeperTest, AVfThatIsGivenWhileNamesChangeKeepsTheFormerOne) {
  const doc::Value state = node.state_of(policy_text("rail0", "eth0", 2));
  carried_out(state);
  node.offers.when_withdrawn = [&] { node.offers.given = {{kVf01, "ai/late"}}; };
  node.pass(TestNode::with_prefix(state, "nvidia.com"));
  EXPECT_EQ(node.offers.offers.back().taken.at(kVf01), "ai/late has it as openshift.io/rail0");
  EXPECT_FALSE(node.offers.offers.back().taken.contains(kVf00));
}

// The SR-IOV operator's device plugin gave VFs to pods before; under which name was not recorded.
TEST_F(NodeKeeperTest, VfsThatAnotherPluginGaveToPodsKeepTheirNameToo) {
  const doc::Value state = node.state_of(policy_text("rail0", "eth0", 2));
  carried_out(state);
  node.keeper->pass({.state = nullptr, .current = true, .aside = "the daemon is there"});
  node.offers.given = {{kVf00, "ai/vllm-0"}};
  node.pass(TestNode::with_prefix(state, "nvidia.com"));
  EXPECT_EQ(node.offers.last(), "nvidia.com/rail0: 0000:01:10.0! 0000:01:10.2\nopenshift.io/rail0: 0000:01:10.0~\n");
}

// The same for a policy that names its resource otherwise.
TEST_F(NodeKeeperTest, AnotherResourceNameIsNoOtherThanAnotherPrefix) {
  carried_out(node.state_of(policy_text("rail0", "eth0", 2)));
  node.offers.given = {{kVf00, "ai/vllm-0"}};
  node.pass(node.state_of(policy_text("fast", "eth0", 2), 2));
  EXPECT_EQ(node.offers.offers.back().taken.at(kVf00), "ai/vllm-0 has it as openshift.io/rail0");
  EXPECT_EQ(node.offers.offers.back().ending.at("openshift.io/rail0").at(kVf00), "it is openshift.io/fast now");
}

TEST_F(NodeKeeperTest, TwoPrefixesAreAConditionAndTheOperatorsCounts) {
  node.settings.said_prefix = node.settings.options.resource_prefix = "intel.com";
  node.restart();
  const doc::Value state = node.state_of(policy_text("rail0", "eth0", 2));
  carried_out(state);
  EXPECT_EQ(node.offers.last(), "intel.com/rail0: 0000:01:10.0 0000:01:10.2\n") << "where no operator says one";
  EXPECT_EQ(node.reported().find("conditions"), nullptr);

  const std::string conflict =
      "the operator says --resource-prefix nvidia.com, this agent was started with intel.com: VFs are offered as "
      "nvidia.com/…; remove the agent's option";
  doc::Value renamed = TestNode::with_prefix(state, "nvidia.com");
  carried_out(renamed);
  EXPECT_EQ(node.offers.last(), "nvidia.com/rail0: 0000:01:10.0 0000:01:10.2\n");
  const doc::Value condition = node.reported().find("conditions")->as_array()->front();
  EXPECT_EQ(doc::text_in(condition, "type"), "ResourcePrefixConflict");
  EXPECT_EQ(doc::text_in(condition, "status"), "True");
  EXPECT_EQ(doc::text_in(condition, "message"), conflict);
  EXPECT_EQ(reasons(), conflict);
  EXPECT_EQ(node.heard.events.back(), "! ResourcePrefixConflict: " + conflict);
  const doc::Value before = node.reported();
  node.clock.advance(milliseconds(30'000));
  node.pass(renamed);
  EXPECT_EQ(node.reported(), before) << "its time is that of the change";

  // The next agent has no such option; what was reported is taken back.
  renamed.find("status")->set("conditions", *before.find("conditions"));
  node.settings.said_prefix.clear();
  node.restart();
  carried_out(renamed);
  EXPECT_EQ(doc::text_in(node.reported().find("conditions")->as_array()->front(), "status"), "False");
  EXPECT_EQ(reasons(), "");
}

TEST_F(NodeKeeperTest, AnAnnotationThatCannotBeReadChangesNothingAndSaysWhy) {
  carried_out(TestNode::with_prefix(node.state_of(policy_text("rail0", "eth0", 2)), "nvidia.com"));
  node.kernel.clear_journal();
  for (const char* text : {R"({"version":2})", "nvidia.com", ""}) {
    doc::Value state = node.state_of(policy_text("rail0", "eth0", 1), 2);
    state.find("metadata")->set("annotations", doc::Value::object()).set(api::kWantedAnnotation, text);
    node.pass(state);
    EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{}) << text;
    EXPECT_EQ(node.reported("syncStatus"), "Failed") << text;
    EXPECT_EQ(node.reported("lastSyncError").find("the node state cannot be read: annotation railbed.dev/wanted: "), 0U)
        << node.reported("lastSyncError");
    EXPECT_EQ(node.offers.last(), "nvidia.com/rail0: 0000:01:10.0 0000:01:10.2\n");
  }
}

// --- Beside the SR-IOV operator

TEST_F(NodeKeeperTest, StandsAsideWhileItMayNotActAndSaysWhy) {
  const auto state = std::make_shared<doc::Value>(node.state_of(two_policies()));
  node.keeper->pass({.state = state, .current = true, .aside = "the SR-IOV operator's config daemon is on this node"});
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  EXPECT_TRUE(node.heard.statuses.empty());
  EXPECT_EQ(node.offers.calls, std::vector<std::string>{}) << "its device plugin has these resources";
  EXPECT_EQ(reasons(), "railbed changes no VFs on this node: the SR-IOV operator's config daemon is on this node");
  EXPECT_EQ(node.heard.events,
            std::vector<std::string>{"StandsAside: the SR-IOV operator's config daemon is on this node"});
  EXPECT_TRUE(node.keeper->counters().aside);
  carried_out(*state);
  EXPECT_FALSE(node.keeper->counters().aside);
}

TEST_F(NodeKeeperTest, AnAgentThatStoodAsideDoesSoAfterARestartUntilItKnowsBetter) {
  carried_out(node.state_of(two_policies()));
  node.keeper->pass({.state = nullptr, .current = true, .aside = "the daemon is there"});
  EXPECT_EQ(node.offers.last(), "") << "what was offered is taken back";
  node.restart();
  node.offers.calls.clear();
  node.keeper->pass({});
  EXPECT_EQ(node.offers.calls, std::vector<std::string>{});
  carried_out(node.state_of(two_policies()));
  EXPECT_NE(node.offers.last(), "");
}

}  // namespace
}  // namespace railbed::agent

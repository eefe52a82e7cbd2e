// SPDX-License-Identifier: Apache-2.0
// up and down on a machine in memory: seed manifests there and back, killed at every call, with reports of what went
// wrong.
#include "node/standalone.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include "api/load.h"
#include "attach/attach.h"
#include "base/sanitized.h"
#include "facts/collect.h"
#include "node/pods.h"
#include "node/status.h"
#include "node/testing_store.h"
#include "os/fake/kernel.h"

namespace railbed::node {
namespace {

constexpr const char* kPolicies = R"(
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: { name: rail0, namespace: net }
spec:
  resourceName: rail0
  nodeSelector: {}
  numVfs: 2
  nicSelector: { pfNames: ["eth0"] }
  isRdma: true
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: { name: rail1, namespace: net }
spec:
  resourceName: rail1
  nodeSelector: {}
  numVfs: 3
  mtu: 3000
  nicSelector: { rootDevices: ["0000:02:00.0"] }
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: { name: rail0, namespace: net }
spec:
  resourceName: rail0
  networkNamespace: llm
  vlan: 100
  spoofChk: "off"
  ipam: '{ "type": "whereabouts", "range": "10.10.0.0/24", "range_start": "10.10.0.10" }'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: { name: rail1, namespace: net }
spec:
  resourceName: rail1
  networkNamespace: llm
  ipam: '{ "type": "whereabouts", "range": "10.11.0.0/24" }'
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: plain, namespace: llm }
spec:
  config: '{ "type": "macvlan", "master": "eth0", "ipam": { "type": "host-local", "subnet": "10.12.0.0/24" } }'
)";

constexpr const char* kPods = R"(
---
apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: llm
  annotations: { k8s.v1.cni.cncf.io/networks: "rail0, rail1" }
spec: { nodeName: node1, containers: [] }
---
apiVersion: v1
kind: Pod
metadata:
  name: b
  namespace: llm
  annotations: { k8s.v1.cni.cncf.io/networks: "rail0, plain" }
spec: { nodeName: node1, containers: [] }
---
apiVersion: v1
kind: Pod
metadata:
  name: c
  namespace: llm
  annotations: { k8s.v1.cni.cncf.io/networks: "rail0" }
spec: { nodeName: node2, containers: [] }
)";

api::Objects read(const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<doc::Source>(doc::Source{.name = "test.yaml", .text = text});
  api::Objects objects = api::load({source}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << doc::render(diagnostics);
  return objects;
}

class Unheard : public Progress {
 public:
  void begins(const plan::PfPlan&, const plan::Step&) override {}
  void ends(const plan::PfPlan&, const plan::Step&, const Error*) override {}
  void says(const std::string&) override {}
};

Settings settings() {
  Settings settings;
  settings.soft_rdma = true;
  settings.apply.parallel = false;
  return settings;
}

template <typename T>
T value_of(Result<T> result) {
  return std::move(result.value());
}

// Counts how often the machine's devices are listed: once in each reading of facts, and never otherwise.
class CountedFiles : public os::FileTree {
 public:
  explicit CountedFiles(os::FileTree& files) : files_(files) {}
  Result<std::string> read(const std::string& path) const override { return files_.read(path); }
  Result<void> write(const std::string& path, std::string_view content) override { return files_.write(path, content); }
  Result<std::vector<std::string>> list(const std::string& path) const override {
    device_lists += path == "/sys/bus/pci/devices" ? 1 : 0;
    return files_.list(path);
  }
  Result<std::string> read_link(const std::string& path) const override { return files_.read_link(path); }
  Result<std::string> real_path(const std::string& path) const override { return files_.real_path(path); }
  bool exists(const std::string& path) const override { return files_.exists(path); }

  mutable int device_lists = 0;

 private:
  os::FileTree& files_;
};

class CountedKernel : public os::FakeKernel {
 public:
  os::FileTree& files() override { return counted; }
  CountedFiles counted{os::FakeKernel::files()};
};

// A machine with a store; a kill ends both at once.
struct Node {
  os::FakeKernel kernel;
  std::unique_ptr<state::Store> kept = state::memory_store();
  MortalStore store{*kept, [this] { return kernel.killed(); }};
  Unheard progress;

  Result<UpReport> up(const api::Objects& objects) {
    return node::up(kernel, store, TRY(look(kernel, &store, objects, settings())), settings(), progress);
  }
  Result<DownReport> down() { return node::down(kernel, store, settings(), progress); }

  // The machine, and the state's view of it.
  std::string everything() {
    std::string text = kernel.snapshot();
    std::set<std::string> attachments;  // sorted, because the store has them in the order of time
    for (const state::Attachment& one : value_of(kept->attachments()))
      attachments.insert(
          fmt::format("attachment {} {} {} {}\n", one.pod, one.interface, one.device, static_cast<int>(one.status)));
    for (const std::string& one : attachments) text += one;
    for (const state::PodRecord& pod : value_of(kept->pods())) text += fmt::format("pod {} {}\n", pod.pod, pod.netns);
    for (const state::AddressLease& lease : value_of(kept->all_leases()))
      text += fmt::format("lease {} {} {} {}\n", lease.pool, lease.address, lease.pod, lease.interface);
    for (const PfBaseline& pf : value_of(kept->baselines()))
      text += fmt::format("baseline {} {} {} {} {}\n", pf.pf, pf.num_vfs, pf.mtu, pf.up, pf.autoprobe);
    for (const state::StepRecord& step : value_of(kept->steps())) text += fmt::format("step {}\n", step.id);
    return text;
  }
};

std::string failures(const UpReport& report) {
  std::string text;
  for (const apply::StepFailure& failure : report.applied.failures) text += failure.error.to_string() + "\n";
  for (const PodFailure& failure : report.pods.failures) text += failure.pod + ": " + failure.error.to_string() + "\n";
  return text + doc::render(report.diagnostics);
}

class StandaloneTest : public testing::Test {
 protected:
  UpReport up(const api::Objects& objects) {
    auto report = node.up(objects);
    EXPECT_TRUE(report.has_value()) << report.error().to_string();
    return report ? std::move(*report) : UpReport{};
  }
  DownReport down() {
    auto report = node.down();
    EXPECT_TRUE(report.has_value()) << report.error().to_string();
    return report ? std::move(*report) : DownReport{};
  }

  const api::Objects all = read(std::string(kPolicies) + kPods);
  const api::Objects no_pods = read(kPolicies);
  Node node;
};

TEST_F(StandaloneTest, ThereAndBack) {
  const std::string before = node.everything();
  UpReport report = up(all);
  ASSERT_TRUE(report.complete()) << failures(report);
  EXPECT_EQ(report.pods.attached,
            (std::vector<std::string>{
                "llm/a: net1 is VF 0 of eth0 (0000:01:10.0), 10.10.0.10/24, MTU 1500, RDMA rxe01v0 (soft)",
                "llm/a: net2 is VF 0 of eth1 (0000:02:10.0), 10.11.0.1/24, MTU 3000",
                "llm/b: net1 is VF 1 of eth0 (0000:01:10.2), 10.10.0.11/24, MTU 1500, RDMA rxe01v1 (soft)",
                "llm/b: net2 is a macvlan, 10.12.0.2/24, MTU 1500"}));
  EXPECT_EQ(report.notes, std::vector<std::string>{"pod llm/c is for node node2"});
  ASSERT_TRUE(down().complete());
  EXPECT_EQ(node.everything(), before);
}

TEST_F(StandaloneTest, UpReadsTheMachineOnce) {
  CountedKernel kernel;
  auto store = state::memory_store();
  Unheard progress;
  const auto read_by = [&](const api::Objects& objects) {
    kernel.counted.device_lists = 0;
    auto seen = value_of(look(kernel, store.get(), objects, settings()));
    EXPECT_EQ(kernel.counted.device_lists, 1);
    EXPECT_TRUE(value_of(node::up(kernel, *store, std::move(seen), settings(), progress)).complete());
    return kernel.counted.device_lists;
  };
  EXPECT_EQ(read_by(all), 1);
  EXPECT_EQ(read_by(all), 1);
  // What is given back by pods that are detached first is known from their records.
  EXPECT_EQ(read_by(no_pods), 1);
  EXPECT_EQ(read_by(no_pods), 1);
}

TEST_F(StandaloneTest, PendingInterfacesAreThoseToMakeAndThoseToTakeAway) {
  const auto pending = [&](state::Store* store, const api::Objects& objects) {
    return pending_interfaces(value_of(look(node.kernel, store, objects, settings()))->plan);
  };
  EXPECT_EQ(pending(nullptr, all), 4U);
  EXPECT_EQ(pending(&node.store, all), 4U);
  ASSERT_TRUE(up(all).complete());
  EXPECT_EQ(pending(&node.store, all), 0U);
  EXPECT_EQ(pending(&node.store, no_pods), 4U);
}

std::vector<std::string> steps_of(const plan::NodePlan& plan) {
  std::vector<std::string> lines;
  for (const plan::PodStep& step : plan.pod_steps)
    lines.push_back(
        fmt::format("{}: {}{}: {}", step.pod, step.disturbs ? "(disturbed) " : "", step.reason, plan::describe(step)));
  return lines;
}

TEST_F(StandaloneTest, PodsAreStepsOfThePlan) {
  using Lines = std::vector<std::string>;
  const auto planned = [&](const api::Objects& objects) {
    return value_of(look(node.kernel, &node.store, objects, settings()))->plan;
  };
  EXPECT_EQ(
      steps_of(planned(all)),
      (Lines{"llm/a: required by the manifests: attach net1 to llm/rail0 (VF 0 of eth0), net2 to llm/rail1 (VF 0 "
             "of eth1)",
             "llm/b: required by the manifests: attach net1 to llm/rail0 (VF 1 of eth0), net2 to llm/plain (eth0)"}));
  EXPECT_TRUE(planned(all).changes());
  ASSERT_TRUE(up(all).complete());
  EXPECT_EQ(steps_of(planned(all)), Lines{});
  EXPECT_FALSE(planned(all).changes());

  std::string text = std::string(kPolicies) + kPods;
  text.replace(text.find("vlan: 100"), 9, "vlan: 200");
  EXPECT_EQ(steps_of(planned(read(text))),
            (Lines{"llm/a: (disturbed) its interfaces differ from the manifests: detach net1 [VF setting vlan 200 "
                   "instead of 100]",
                   "llm/b: (disturbed) its interfaces differ from the manifests: detach net1 [VF setting vlan 200 "
                   "instead of 100]",
                   "llm/a: required by the manifests: attach net1 to llm/rail0 (VF 0 of eth0)",
                   "llm/b: required by the manifests: attach net1 to llm/rail0 (VF 1 of eth0)"}));

  node.kernel.vanish_netns("railbed-llm-b");
  EXPECT_EQ(steps_of(planned(no_pods)),
            (Lines{"llm/b: from an earlier run: release net1 [its network namespace no longer exists], net2 [its "
                   "network namespace no longer exists]",
                   "llm/a: (disturbed) it is in none of the manifests: detach net1, net2, "
                   "remove its network namespace",
                   "llm/b: (disturbed) it is in none of the manifests: remove its network namespace"}));
  EXPECT_TRUE(planned(no_pods).changes());
}

TEST_F(StandaloneTest, APodThatGetsNothingIsAStepWithAProblem) {
  std::string text = std::string(kPolicies) + kPods;
  text.replace(text.find("\"rail0, rail1\""), 14, "\"rail0, absent\"");
  const plan::NodePlan plan = value_of(look(node.kernel, &node.store, read(text), settings()))->plan;
  ASSERT_EQ(plan.pod_steps.size(), 2U);
  EXPECT_EQ(plan.pod_steps[0].problem, "network llm/absent not found");
  EXPECT_EQ(plan::describe(plan.pod_steps[0]), "cannot be attached: network llm/absent not found");
  const UpReport report = up(read(text));
  ASSERT_EQ(report.pods.failures.size(), 1U);
  EXPECT_EQ(report.pods.failures[0].pod, "llm/a");
}

// Interfaces and VFs go from one pod to the other in one run: all that goes is detached before anything is attached.
TEST_F(StandaloneTest, PodsExchangeTheirNetworksInOneRun) {
  ASSERT_TRUE(up(all).complete());
  std::string text = std::string(kPolicies) + kPods;
  text.replace(text.find("\"rail0, rail1\""), 14, "\"rail0, plain\"");
  text.replace(text.find("\"rail0, plain\"", text.find("name: b")), 14, "\"rail0, rail1\"");
  const UpReport report = up(read(text));
  EXPECT_TRUE(report.complete()) << failures(report);
  const plan::NodePlan after = value_of(look(node.kernel, &node.store, read(text), settings()))->plan;
  EXPECT_FALSE(after.changes());
}

TEST_F(StandaloneTest, AHostDeviceThatAPodHasIsKnownToBeLent) {
  os::FakeMachine machine = os::FakeMachine::lab();
  machine.other_links = {"hd0"};
  os::FakeKernel kernel(machine);
  const std::string before = kernel.snapshot();
  auto store = state::memory_store();
  const api::Objects objects = read(R"(
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: host, namespace: llm }
spec: { config: '{ "type": "host-device", "device": "hd0" }' }
---
apiVersion: v1
kind: Pod
metadata: { name: a, namespace: llm, annotations: { k8s.v1.cni.cncf.io/networks: host } }
spec: { nodeName: node1, containers: [] }
)");
  Unheard progress;
  auto seen = value_of(look(kernel, store.get(), objects, settings()));
  EXPECT_EQ(lent_interfaces(seen->there), std::set<std::string>{});
  ASSERT_TRUE(node::up(kernel, *store, std::move(seen), settings(), progress)->complete());
  seen = value_of(look(kernel, store.get(), objects, settings()));
  EXPECT_EQ(lent_interfaces(seen->there), std::set<std::string>{"hd0"});
  EXPECT_TRUE(node::up(kernel, *store, std::move(seen), settings(), progress)->did_nothing());
  ASSERT_TRUE(node::down(kernel, *store, settings(), progress)->complete());
  EXPECT_EQ(kernel.snapshot(), before);
}

// As an agent does it: in its own process, with the records as the answer.
class Server : public PodServer {
 public:
  explicit Server(Node& node, const api::Objects& objects) : node_(node), objects_(objects) {}
  Result<void> attach(const std::string& pod, const std::string&) override {
    attached.push_back(pod);
    Settings own = settings();
    auto seen = TRY(look(node_.kernel, &node_.store, objects_, own));
    std::erase_if(seen->pods.steps, [&](const plan::PodStep& step) { return step.pod != pod; });
    PodsReport report;
    return behind_pfs(node_.kernel, node_.store, seen->pods, own, node_.progress, report);
  }
  Result<void> detach(const std::string& pod, const std::string&) override {
    TRY(attach::detach_pod(node_.kernel, node_.store, pod, node_.kernel.clock().now() + std::chrono::seconds(9)));
    return {};
  }
  std::vector<std::string> attached;

 private:
  Node& node_;
  const api::Objects& objects_;
};

TEST_F(StandaloneTest, AnAgentIsAskedOnlyForWhatChanges) {
  Server server(node, all);
  Settings by_server = settings();
  by_server.pod_server = &server;
  const auto up_by_server = [&](const api::Objects& objects) {
    return value_of(node::up(node.kernel, node.store, value_of(look(node.kernel, &node.store, objects, by_server)),
                             by_server, node.progress));
  };
  UpReport report = up_by_server(all);
  EXPECT_TRUE(report.complete()) << failures(report);
  EXPECT_EQ(server.attached, (std::vector<std::string>{"llm/a", "llm/b"}));
  EXPECT_EQ(report.pods.attached.size(), 4U);
  report = up_by_server(all);
  EXPECT_TRUE(report.did_nothing());
  EXPECT_EQ(server.attached.size(), 2U) << "nothing was to be attached";
  const DownReport back = value_of(node::down(node.kernel, node.store, by_server, node.progress));
  EXPECT_EQ(back.pods.detached,
            (std::vector<std::string>{"llm/a: 2 interfaces detached", "llm/b: 2 interfaces detached"}));
}

TEST_F(StandaloneTest, SecondUpAndSecondDownMakeNoCall) {
  ASSERT_TRUE(up(all).complete());
  node.kernel.clear_journal();
  UpReport again = up(all);
  EXPECT_TRUE(again.did_nothing());
  EXPECT_TRUE(again.complete()) << failures(again);
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
  ASSERT_TRUE(down().complete());
  node.kernel.clear_journal();
  EXPECT_TRUE(down().did_nothing());
  EXPECT_EQ(node.kernel.journal(), std::vector<std::string>{});
}

TEST_F(StandaloneTest, PodsThatLeaveTheManifestsAreDetached) {
  ASSERT_TRUE(up(no_pods).complete());
  const std::string without = node.everything();
  ASSERT_TRUE(up(all).complete());
  UpReport report = up(no_pods);
  EXPECT_EQ(report.pods.detached,
            (std::vector<std::string>{"llm/a: 2 interfaces detached", "llm/b: 2 interfaces detached"}));
  EXPECT_EQ(node.everything(), without);
}

TEST_F(StandaloneTest, AVanishedNamespaceIsMadeAgain) {
  ASSERT_TRUE(up(all).complete());
  const std::string wanted = node.everything();
  node.kernel.vanish_netns("railbed-llm-a");
  UpReport report = up(all);
  EXPECT_TRUE(report.complete()) << failures(report);
  EXPECT_EQ(report.pods.attached.size(), 2U);
  EXPECT_EQ(node.everything(), wanted);
}

TEST_F(StandaloneTest, AVfOfAPodIsUntouchedWhenTheMtuOfFreeOnesChanges) {
  ASSERT_TRUE(up(all).complete());
  node.kernel.clear_journal();
  std::string text = kPolicies;
  text.replace(text.find("mtu: 3000"), 9, "mtu: 2000");
  UpReport report = up(read(text + kPods));
  ASSERT_EQ(report.plan.held_back.size(), 1U);
  EXPECT_EQ(report.plan.held_back[0].change, "VF 0: MTU 2000 instead of 3000");
  EXPECT_EQ(report.plan.held_back[0].pods, std::vector<std::string>{"llm/a"});
  for (const std::string& call : node.kernel.journal()) EXPECT_EQ(call.find("net2"), std::string::npos) << call;
  EXPECT_EQ(report.applied.steps_done, 2U);  // VFs 1 and 2 of eth1
}

TEST_F(StandaloneTest, ANamespaceOfSomebodyElseIsNotTaken) {
  ASSERT_TRUE(node.kernel.netns().create("railbed-llm-a").has_value());
  UpReport report = up(all);
  ASSERT_EQ(report.pods.failures.size(), 1U);
  EXPECT_EQ(report.pods.failures[0].error.to_string(),
            "namespace railbed-llm-a exists and was not created by railbed\n"
            "  if unused: ip netns del railbed-llm-a");
  EXPECT_EQ(report.pods.attached.size(), 2U) << "the other pod is attached";
  ASSERT_TRUE(down().complete());
  EXPECT_EQ(node.kernel.netns().names().value(), std::vector<std::string>{"railbed-llm-a"});
}

TEST_F(StandaloneTest, AFailedPfLeavesTheRestOfTheNodeWorkingAndShowsInStatus) {
  node.kernel.fail_when("0000:01:00.0/sriov_numvfs", EBUSY, -1);
  UpReport report = up(all);
  EXPECT_FALSE(report.complete());
  ASSERT_EQ(report.applied.failures.size(), 1U);
  ASSERT_EQ(report.pods.failures.size(), 2U);
  EXPECT_EQ(report.pods.failures[0].error.to_string(),
            "no free VF of openshift.io/rail0: 2 planned here, 0 of them ready, 0 held by pods\n"
            "  `railbed status` shows their pods; increase numVfs for more");
  Status status = read_status(facts::collect(node.kernel, {}), node.kept.get()).value();
  auto failed = std::ranges::find(status.policies, std::string("net/rail0"), &PolicyStatus::policy);
  ASSERT_NE(failed, status.policies.end());
  EXPECT_EQ(failed->state, "failed");
  EXPECT_EQ(failed->failed_step, "0000:01:00.0/vf-count");
  EXPECT_NE(failed->error.find("EBUSY"), std::string::npos);
  EXPECT_EQ(status.pfs[1].num_vfs, 3);
}

TEST_F(StandaloneTest, AddressesOfAllNodesPodsAreSetAside) {
  ASSERT_TRUE(up(all).complete());
  std::vector<state::AddressLease> leases = node.kept->all_leases().value();
  auto other = std::ranges::find(leases, std::string("llm/c"), &state::AddressLease::pod);
  ASSERT_NE(other, leases.end());
  EXPECT_EQ(other->address.to_string(), "10.10.0.12");
}

TEST_F(StandaloneTest, AFullRangeIsReportedAndTheOtherPodWorks) {
  std::string text = kPolicies;
  const std::string range = "\"range_start\": \"10.10.0.10\"";
  text.replace(text.find(range), range.size(), range + ", \"range_end\": \"10.10.0.10\"");
  UpReport report = up(read(text + kPods));
  EXPECT_EQ(report.pods.attached.size(), 2U);
  ASSERT_EQ(report.pods.failures.size(), 1U);
  EXPECT_EQ(report.pods.failures[0].pod, "llm/b");
  EXPECT_NE(report.pods.failures[0].error.to_string().find("10.10.0.10"), std::string::npos)
      << report.pods.failures[0].error.to_string();
}

TEST_F(StandaloneTest, VfsThatWereThereBeforeAreGivenBack) {
  os::FakeMachine machine = os::FakeMachine::lab();
  machine.pfs[0].num_vfs = 4;
  os::FakeKernel kernel(machine);
  const std::string before = kernel.snapshot();
  auto store = state::memory_store();
  Unheard progress;
  auto report = node::up(kernel, *store, value_of(look(kernel, store.get(), all, settings())), settings(), progress);
  ASSERT_TRUE(report && report->complete()) << failures(*report);
  EXPECT_NE(kernel.snapshot(), before);
  ASSERT_TRUE(node::down(kernel, *store, settings(), progress)->complete());
  EXPECT_EQ(kernel.snapshot(), before);
}

// Refuses each changing call of `up` once: there is a report, and the next run finds nothing that it cannot continue.
TEST(StandaloneFaults, EveryRefusedCallOfUpIsFixedByTheNextUp) {
  const api::Objects all = read(std::string(kPolicies) + kPods);
  Node clean;
  const std::string start = clean.everything();
  ASSERT_TRUE(clean.up(all)->complete());
  const std::string wanted = clean.everything();
  const int calls = static_cast<int>(clean.kernel.journal().size());
  for (int sys_errno : refusals({EBUSY, ENOMEM, EIO}))
    for (int nth = 1; nth <= calls; ++nth) {
      SCOPED_TRACE(fmt::format("call {} ({}) refused with {}", nth,
                               clean.kernel.journal()[static_cast<size_t>(nth - 1)], errno_name(sys_errno)));
      Node node;
      node.kernel.fail_call(nth, sys_errno);
      auto report = node.up(all);
      ASSERT_TRUE(report.has_value()) << report.error().to_string();
      auto again = node.up(all);
      ASSERT_TRUE(again && again->complete()) << failures(*again);
      EXPECT_EQ(node.everything(), wanted);
      ASSERT_TRUE(node.down()->complete());
      EXPECT_EQ(node.everything(), start);
    }
}

TEST(StandaloneFaults, EveryRefusedCallOfDownIsFixedByTheNextDown) {
  const api::Objects all = read(std::string(kPolicies) + kPods);
  Node clean;
  const std::string start = clean.everything();
  ASSERT_TRUE(clean.up(all)->complete());
  clean.kernel.clear_journal();
  ASSERT_TRUE(clean.down()->complete());
  const int calls = static_cast<int>(clean.kernel.journal().size());
  for (int sys_errno : refusals({EBUSY, ENOMEM, EIO}))
    for (int nth = 1; nth <= calls; ++nth) {
      SCOPED_TRACE(fmt::format("call {} ({}) refused with {}", nth,
                               clean.kernel.journal()[static_cast<size_t>(nth - 1)], errno_name(sys_errno)));
      Node node;
      ASSERT_TRUE(node.up(all)->complete());
      node.kernel.fail_call(nth, sys_errno);
      ASSERT_TRUE(node.down().has_value());
      auto again = node.down();
      ASSERT_TRUE(again && again->complete());
      EXPECT_EQ(node.everything(), start);
    }
}

// kill -9: the process ends between two calls, or after a call whose answer it does not see. Later writes to its state
// are lost as well.
class Killed : public testing::TestWithParam<os::FakeKernel::Kill> {};

TEST_P(Killed, AtEveryCallOfUpTheNextUpComesToTheSameEnd) {
  const api::Objects all = read(std::string(kPolicies) + kPods);
  Node clean;
  const std::string start = clean.everything();
  ASSERT_TRUE(clean.up(all)->complete());
  const std::string wanted = clean.everything();
  const int calls = static_cast<int>(clean.kernel.journal().size());
  EXPECT_GT(calls, 30);
  for (int nth = GetParam() == os::FakeKernel::Kill::kUnanswered ? 1 : 0; nth <= calls; ++nth) {
    SCOPED_TRACE(fmt::format("killed after call {}", nth));
    Node node;
    node.kernel.kill_after(nth, GetParam());
    (void)node.up(all);
    node.kernel.restart();
    auto report = node.up(all);
    ASSERT_TRUE(report && report->complete()) << (report ? failures(*report) : report.error().to_string());
    EXPECT_EQ(node.everything(), wanted);
    ASSERT_TRUE(node.down()->complete());
    EXPECT_EQ(node.everything(), start);
  }
}

TEST_P(Killed, AtEveryCallOfUpDownGivesEverythingBack) {
  const api::Objects all = read(std::string(kPolicies) + kPods);
  Node clean;
  const std::string start = clean.everything();
  ASSERT_TRUE(clean.up(all)->complete());
  const int calls = static_cast<int>(clean.kernel.journal().size());
  for (int nth = GetParam() == os::FakeKernel::Kill::kUnanswered ? 1 : 0; nth <= calls; ++nth) {
    SCOPED_TRACE(fmt::format("killed after call {}", nth));
    Node node;
    node.kernel.kill_after(nth, GetParam());
    (void)node.up(all);
    node.kernel.restart();
    ASSERT_TRUE(node.down()->complete());
    EXPECT_EQ(node.everything(), start);
  }
}

TEST_P(Killed, AtEveryCallOfDownTheNextDownComesToTheSameEnd) {
  const api::Objects all = read(std::string(kPolicies) + kPods);
  Node clean;
  const std::string start = clean.everything();
  ASSERT_TRUE(clean.up(all)->complete());
  const std::string wanted = clean.everything();
  clean.kernel.clear_journal();
  ASSERT_TRUE(clean.down()->complete());
  const int calls = static_cast<int>(clean.kernel.journal().size());
  EXPECT_GT(calls, 10);
  for (int nth = GetParam() == os::FakeKernel::Kill::kUnanswered ? 1 : 0; nth <= calls; ++nth)
    for (bool up_again : {false, true}) {
      SCOPED_TRACE(fmt::format("killed after call {}, then {}", nth, up_again ? "up" : "down"));
      Node node;
      ASSERT_TRUE(node.up(all)->complete());
      node.kernel.kill_after(nth, GetParam());
      (void)node.down();
      node.kernel.restart();
      if (up_again) {
        auto report = node.up(all);
        ASSERT_TRUE(report && report->complete()) << failures(*report);
        EXPECT_EQ(node.everything(), wanted);
      }
      ASSERT_TRUE(node.down()->complete());
      EXPECT_EQ(node.everything(), start);
    }
}

INSTANTIATE_TEST_SUITE_P(How, Killed,
                         testing::Values(os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered));

// The same with kills between two writes to the state.
TEST(StandaloneFaults, KilledAtEveryWriteToTheStateTheNextRunComesToTheSameEnd) {
  const api::Objects all = read(std::string(kPolicies) + kPods);
  Node clean;
  const std::string start = clean.everything();
  ASSERT_TRUE(clean.up(all)->complete());
  const std::string wanted = clean.everything();
  const int up_writes = clean.store.writes();
  ASSERT_TRUE(clean.down()->complete());
  const int all_writes = clean.store.writes();
  for (int nth = 0; nth <= all_writes; ++nth) {
    SCOPED_TRACE(fmt::format("killed after write {}", nth));
    Node node;
    node.store.kill_after(nth, [&node] { node.kernel.kill_after(0); });
    (void)node.up(all);
    if (!node.kernel.killed()) (void)node.down();
    node.kernel.restart();
    node.store.restart();
    if (nth <= up_writes) {
      auto report = node.up(all);
      ASSERT_TRUE(report && report->complete()) << (report ? failures(*report) : report.error().to_string());
      EXPECT_EQ(node.everything(), wanted);
    }
    ASSERT_TRUE(node.down()->complete());
    EXPECT_EQ(node.everything(), start);
  }
}

}  // namespace
}  // namespace railbed::node

// SPDX-License-Identifier: Apache-2.0
// What is planned is what is done: over arbitrary manifests, one after the other, on a machine in memory.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/load.h"
#include "node/standalone.h"
#include "os/fake/kernel.h"

namespace railbed::node {
namespace {

int between(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}
template <typename T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

std::string policy(const std::string& name, const std::string& pf) {
  return fmt::format(R"(
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {{ name: {0}, namespace: net }}
spec: {{ resourceName: {0}, nodeSelector: {{}}, numVfs: {1}, mtu: {2}, isRdma: true, nicSelector: {{ pfNames: ["{3}"] }} }}
)",
                     name, between(1, 4), one_of({1500, 2000}), pf);
}

std::string networks() {
  std::string text;
  for (const char* rail : {"rail0", "rail1"})
    text += fmt::format(R"(
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {{ name: {0}, namespace: net }}
spec:
  resourceName: {0}
  networkNamespace: llm
  vlan: {1}
  ipam: '{{ "type": "whereabouts", "range": "10.1{2}.0.0/28" }}'
)",
                        rail, one_of({0, 100}), rail[4]);
  const auto definition = [&](const char* name, const std::string& config) {
    text += fmt::format(R"(
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {{ name: {}, namespace: llm }}
spec: {{ config: '{}' }}
)",
                        name, config);
  };
  definition("plain", fmt::format(R"({{ "type": "macvlan", "master": "eth0", "mtu": {}, )"
                                  R"("ipam": {{ "type": "host-local", "subnet": "10.12.0.0/24" }} }})",
                                  one_of({1400, 1450})));
  definition("host", R"({ "type": "host-device", "device": "hd0" })");
  return text;
}

std::string pod(const std::string& name) {
  std::vector<std::string> wanted;
  for (const char* network : {"rail0", "rail1", "plain", "rail0"})
    if (between(0, 2) > 0) wanted.emplace_back(network);
  if (name == "a" && between(0, 1) == 1) wanted.emplace_back("host");
  return fmt::format(R"(
---
apiVersion: v1
kind: Pod
metadata: {{ name: {}, namespace: llm, annotations: {{ k8s.v1.cni.cncf.io/networks: "{}" }} }}
spec: {{ nodeName: {}, containers: [] }}
)",
                     name, fmt::join(wanted, ", "), one_of({"node1", "node1", "node1", "node2"}));
}

api::Objects arbitrary_manifests() {
  std::string text = policy("rail0", "eth0") + policy("rail1", "eth1") + networks();
  for (const char* name : {"a", "b", "c"})
    if (between(0, 3) > 0) text += pod(name);
  doc::Diagnostics diagnostics;
  return api::load({std::make_shared<doc::Source>(doc::Source{.name = "test.yaml", .text = text})}, diagnostics);
}

class CountedAttaching : public Progress {
 public:
  void begins(const plan::PfPlan&, const plan::Step&) override {}
  void ends(const plan::PfPlan&, const plan::Step&, const Error*) override {}
  void says(const std::string& what) override { attaching += what.ends_with(": attaching") ? 1 : 0; }
  int attaching = 0;
};

struct Machine {
  static os::FakeMachine with_host_device() {
    os::FakeMachine machine = os::FakeMachine::lab();
    machine.other_links = {"hd0"};
    return machine;
  }

  os::FakeKernel kernel{with_host_device()};
  std::unique_ptr<state::Store> store = state::memory_store();

  // Namespaces may vanish between two runs, as a reboot of a container would have it.
  bool lose_a_namespace() {
    if (between(0, 4) > 0) return false;
    const auto pods = store->pods().value();
    if (pods.empty()) return false;
    kernel.vanish_netns((*rc::gen::elementOf(pods)).netns_name);
    return true;
  }
};

template <typename T>
T got(Result<T> result) {
  if (!result) RC_FAIL(result.error().to_string());
  return std::move(*result);
}

std::string text_of_report(const UpReport& report) {
  std::string text;
  for (const apply::StepFailure& failure : report.applied.failures) text += failure.error.to_string() + "\n";
  for (const PodFailure& failure : report.pods.failures) text += failure.pod + ": " + failure.error.to_string() + "\n";
  for (const plan::PodStep& step : report.plan.pod_steps)
    text += fmt::format("{} ({}): {}\n", step.id, step.reason, plan::describe(step));
  return text;
}

bool only_problems(const PodsReport& pods, const PodDecisions& decided) {
  return pods.failures.size() == decided.problems.size() && !pods.canceled;
}

RC_GTEST_PROP(PodPlan, WhatIsPlannedIsDoneAndThenNothingIsLeft, ()) {
  Machine machine;
  for (int round = 0; round < 4; ++round) {
    const api::Objects objects = arbitrary_manifests();
    Settings settings;
    settings.apply.parallel = false;
    settings.soft_rdma = between(0, 1) == 1;
    settings.disrupt = between(0, 2) == 0;
    const bool lost = machine.lose_a_namespace();

    auto seen = got(look(machine.kernel, machine.store.get(), objects, settings));
    const plan::NodePlan planned = seen->plan;
    const auto problems = seen->pods;
    machine.kernel.clear_journal();
    CountedAttaching progress;
    const UpReport report = got(up(machine.kernel, *machine.store, std::move(seen), settings, progress));
    RC_LOG() << text_of_report(report);
    RC_ASSERT(report.plan == planned);
    RC_ASSERT(report.applied.complete());
    RC_ASSERT(only_problems(report.pods, problems));
    const bool changed = !machine.kernel.journal().empty();
    // A pod whose namespace is gone may leave nothing in the machine that has to be changed, only records.
    RC_ASSERT(changed == planned.changes() || (lost && planned.changes()));
    RC_ASSERT(planned.changes() == !report.did_nothing());
    RC_ASSERT(static_cast<size_t>(progress.attaching) ==
              static_cast<size_t>(std::ranges::count_if(planned.pod_steps, [](const plan::PodStep& step) {
                return step.action == plan::PodAction::kAttach && step.problem.empty();
              })));

    const auto after = got(look(machine.kernel, machine.store.get(), objects, settings));
    for (const plan::PodStep& step : after->plan.pod_steps)
      RC_LOG() << "left: " << step.id << ": " << plan::describe(step) << "\n";
    for (const plan::PfPlan& pf : after->plan.pfs)
      for (const plan::Step& step : pf.steps) RC_LOG() << "left: " << step.id << ": " << plan::describe(step) << "\n";
    RC_ASSERT(!after->plan.changes() || !problems.problems.empty());
  }
}

}  // namespace
}  // namespace railbed::node

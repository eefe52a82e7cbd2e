// SPDX-License-Identifier: Apache-2.0
// For tests: a node in memory with the two PFs of the lab, node states for it, and a kubelet that the test controls.
//
// Threading: one thread.
// Failure: expectations of the test.
#pragma once

#include <gtest/gtest.h>

#include "agent/cluster/node_keeper.h"
#include "api/load.h"
#include "doc/members.h"
#include "facts/collect.h"
#include "graph/node_state.h"
#include "graph/resolution.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "node/standalone.h"
#include "node/testing_store.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"

namespace railbed::agent {

inline const PciAddress kPf0 = *PciAddress::parse("0000:01:00.0");
inline const PciAddress kPf1 = *PciAddress::parse("0000:02:00.0");
inline const PciAddress kVf00 = *PciAddress::parse("0000:01:10.0");  // VF 0 of eth0
inline const PciAddress kVf01 = *PciAddress::parse("0000:01:10.2");

// A policy for eth0 or eth1.
inline std::string policy_text(const std::string& name, const std::string& pf, int num_vfs,
                               const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {{ name: {0}, namespace: net "
      "}}\nspec:\n  resourceName: {0}\n  nodeSelector: {{}}\n  numVfs: {2}\n  nicSelector: {{ pfNames: [\"{1}\"] }}\n{3}",
      name, pf, num_vfs, more);
}
inline std::string two_policies() {
  return policy_text("rail0", "eth0", 2, "  isRdma: true\n") + policy_text("rail1", "eth1", 3, "  mtu: 3000\n");
}

inline api::Objects objects_of(const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<doc::Source>(doc::Source{.name = "test.yaml", .text = text});
  api::Objects objects = api::load({source}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << doc::render(diagnostics);
  return objects;
}

class FakeOffers : public kubelet::DeviceOffers {
 public:
  Result<void> offer(kubelet::NodeDevices devices) override {
    offers.push_back(std::move(devices));
    withdrawn.clear();
    calls.push_back("offer");
    return {};
  }
  Result<void> withdraw(const std::set<PciAddress>& vfs) override {
    calls.push_back(fmt::format("withdraw {}", vfs.size()));
    if (silent) return fail(Code::kTimeout, "the kubelet does not answer");
    withdrawn = vfs;
    if (when_withdrawn) when_withdrawn();
    return {};
  }
  Result<kubelet::AllocatedVfs> allocated() override {
    calls.push_back("allocated");
    if (silent) return fail(Code::kIo, "the kubelet cannot be asked");
    kubelet::AllocatedVfs all{.pods = given, .resources = {}};
    for (const auto& [vf, pod] : given) all.resources[vf].insert(given_as);
    return all;
  }

  // "openshift.io/rail0: 0000:01:10.0 0000:01:10.2!" where ! is what is not healthy, ~ what no further pod gets, and -
  // and = are the same two of a drain.
  std::string last() const {
    if (offers.empty()) return "nothing";
    std::string out;
    for (const auto& [resource, pool] : offers.back().resources) {
      out += resource + ":";
      for (const plan::PoolVf& vf : pool) out += fmt::format(" {}{}", vf.address, mark_of(resource, vf.address));
      out += "\n";
    }
    return out;
  }

  std::string_view mark_of(const std::string& resource, PciAddress vf) const {
    const kubelet::NodeDevices& last = offers.back();
    const auto ending = last.ending.find(resource);
    if (ending != last.ending.end() && ending->second.contains(vf)) return "~";
    if (last.drained.contains(vf)) return "-";
    if (last.drained_of_pods.contains(vf)) return "=";
    return last.unfinished.contains(vf) || last.taken.contains(vf) ? "!" : "";
  }

  plan::InUse given;
  std::string given_as = "openshift.io/rail0";  // the name under which all of it was given
  bool silent = false;
  std::function<void()> when_withdrawn;
  std::set<PciAddress> withdrawn;
  std::vector<kubelet::NodeDevices> offers;
  std::vector<std::string> calls;
};

// For runs of `up` beside the keeper's passes.
class Quiet : public node::Progress {
  void begins(const plan::PfPlan&, const plan::Step&) override {}
  void ends(const plan::PfPlan&, const plan::Step&, const Error*) override {}
  void says(const std::string&) override {}
};

class HeardStatus : public NodeKeeper::Listener {
 public:
  void status(const std::string& uid, doc::Value status) override {
    uids.push_back(uid);
    statuses.push_back(std::move(status));
  }
  void drain_report(const std::string& uid, std::string text) override {
    EXPECT_EQ(uid, uids.empty() ? "uid-1" : uids.back()) << "that of the node state whose status is written";
    drain_reports.push_back(std::move(text));
  }
  void event(kube::EventType type, std::string reason, std::string note) override {
    events.push_back(fmt::format("{}{}: {}", type == kube::EventType::kWarning ? "! " : "", reason, note));
  }

  std::vector<std::string> uids;
  std::vector<doc::Value> statuses;
  std::vector<std::string> drain_reports;  // one of each pass
  std::vector<std::string> events;
};

// A machine with a store; a kill ends both at once, and restart() is the next agent's process.
struct TestNode {
  explicit TestNode(const os::FakeMachine& machine = os::FakeMachine::lab()) : kernel(machine) { restart(); }

  void restart() {
    kernel.restart();
    store.restart();
    keeper.reset();
    engine.reset();
    engine = std::make_unique<Engine>(kernel, store, *blocks, records);
    keeper = std::make_unique<NodeKeeper>(NodeKeeper::Dependencies{*engine, offers, heard, clock}, settings);
  }

  facts::NodeFacts facts() { return facts::collect(kernel, {.node = "node1"}); }

  // The node state that the operator makes of these policies, with what the node has as its status.
  doc::Value state_of(const std::string& policies, int generation = 1) {
    const facts::NodeFacts now = facts();
    const api::Objects objects = objects_of(policies);
    doc::Diagnostics diagnostics;
    const graph::Resolution resolution(objects, {&now, 1}, {}, graph::PodPlacement::kNotChecked, diagnostics);
    return state_with(api::node_state_spec(graph::state_of(resolution.graphs.front())), generation);
  }
  doc::Value state_with(doc::Value spec, int generation = 1) {
    doc::Value object = kube::fake::object("SriovNetworkNodeState", "net", "node1");
    object.set("apiVersion", "sriovnetwork.openshift.io/v1");
    object.find("metadata")->set("uid", "uid-1");
    object.find("metadata")->set("generation", generation);
    object.set("spec", std::move(spec));
    api::SriovNetworkNodeState status;
    status.nics = graph::found_nics(facts());
    object.set("status", api::node_state_status(status));
    return object;
  }

  // The same as an operator with this prefix writes it.
  static doc::Value with_prefix(doc::Value state, const std::string& prefix) {
    state.find("metadata")
        ->set("annotations", doc::Value::object())
        .set(api::kWantedAnnotation, api::to_text({.resource_prefix = prefix}));
    return state;
  }

  std::chrono::milliseconds pass(const doc::Value& state) {
    return keeper->pass({.state = std::make_shared<doc::Value>(state), .current = true, .aside = ""});
  }

  // A pod that railbed attached.
  void attach(const std::string& pod, PciAddress vf) {
    EXPECT_TRUE(kept->put_attachment({.pod = pod + "@c1",
                                      .interface = "net1",
                                      .netns = "/run/netns/x",
                                      .network = "ai/rail0",
                                      .type = "sriov",
                                      .status = state::AttachmentStatus::kAttached,
                                      .device = vf.to_string()})
                    .has_value());
  }
  void detach(const std::string& pod) { EXPECT_TRUE(kept->forget_attachment(pod + "@c1", "net1").has_value()); }

  const doc::Value& reported() const { return heard.statuses.back(); }
  std::string reported(const std::string& key) const { return doc::text_in(reported(), key); }

  // The machine, and what the state has of PFs.
  std::string everything() {
    std::string text = kernel.snapshot();
    const std::vector<PfBaseline> baselines = kept->baselines().value();
    for (const PfBaseline& pf : baselines) text += fmt::format("baseline {} {} {}\n", pf.pf, pf.num_vfs, pf.mtu);
    const std::vector<state::StepRecord> steps = kept->steps().value();
    for (const state::StepRecord& step : steps) text += fmt::format("step {}\n", step.id);
    return text;
  }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> kept = state::memory_store();
  node::MortalStore store{*kept, [this] { return kernel.killed(); }};
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  os::FakeDisk disk;
  DurableRecords records{disk, kDurableRecords, "boot"};
  kube::fake::FakeClock clock;
  NodeKeeperSettings settings{.node = "node1", .options = {}, .apply = {.parallel = false}};  // for the next restart()
  FakeOffers offers;
  HeardStatus heard;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<NodeKeeper> keeper;
};

}  // namespace railbed::agent

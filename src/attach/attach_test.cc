// SPDX-License-Identifier: Apache-2.0
// The transaction on the fake kernel: its results, and that a failure or a kill at any point leaves nothing behind.
#include "attach/attach.h"

#include <algorithm>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr PciAddress kPf0 = kPf;
constexpr PciAddress kPf1{0, 2, 0, 0};

// A store that dies with the process: after the kill it writes nothing.
class MortalStore : public state::Store {
 public:
  explicit MortalStore(os::FakeKernel& kernel) : kernel_(kernel) {}
  void kill_after_writes(int writes) { left_ = writes; }
  void restart() { left_ = -1; }
  int writes() const { return writes_; }

  Result<void> put_attachment(const state::Attachment& a) override {
    return write([&] { return store_->put_attachment(a); });
  }
  Result<void> forget_attachment(const std::string& pod, const std::string& interface) override {
    return write([&] { return store_->forget_attachment(pod, interface); });
  }
  Result<void> put_lease(const state::AddressLease& lease) override {
    return write([&] { return store_->put_lease(lease); });
  }
  Result<void> forget_leases(const std::string& pod, const std::string& interface) override {
    return write([&] { return store_->forget_leases(pod, interface); });
  }
  Result<void> begin() override {
    return write([&] { return store_->begin(); });
  }
  Result<void> commit() override {
    if (alive()) return store_->commit();
    store_->rollback();
    return fail(Code::kCanceled, "killed");
  }
  void rollback() override { store_->rollback(); }
  Result<std::vector<state::Attachment>> attachments() override { return store_->attachments(); }
  Result<std::vector<state::AddressLease>> leases(const std::string& pool) override { return store_->leases(pool); }
  Result<std::vector<state::AddressLease>> all_leases() override { return store_->all_leases(); }
  Result<std::vector<state::AddressLease>> leases_of(const std::string& pod) override { return store_->leases_of(pod); }
  Result<std::vector<state::Attachment>> attachments_of(const std::string& pod) override {
    return store_->attachments_of(pod);
  }
  Result<std::vector<state::Attachment>> attachments_with(const std::string& device) override {
    return store_->attachments_with(device);
  }
  Result<std::unique_ptr<state::Hold>> hold(std::chrono::milliseconds wait) override { return store_->hold(wait); }

  // Not used by attach.
  Result<std::optional<PfBaseline>> baseline(PciAddress pf) override { return store_->baseline(pf); }
  Result<std::vector<PfBaseline>> baselines() override { return store_->baselines(); }
  Result<void> put_baseline(const PfBaseline& b) override { return store_->put_baseline(b); }
  Result<void> forget_baseline(PciAddress pf) override { return store_->forget_baseline(pf); }
  Result<void> put_step(const state::StepRecord& step) override { return store_->put_step(step); }
  Result<void> forget_steps(PciAddress pf) override { return store_->forget_steps(pf); }
  Result<std::vector<state::StepRecord>> steps() override { return store_->steps(); }
  Result<void> put_pod(const state::PodRecord& pod) override { return store_->put_pod(pod); }
  Result<void> forget_pod(const std::string& pod) override { return store_->forget_pod(pod); }
  Result<std::vector<state::PodRecord>> pods() override { return store_->pods(); }
  Result<void> put_block(const state::AddressBlock& block) override {
    return write([&] { return store_->put_block(block); });
  }
  Result<void> forget_block(const state::AddressBlock& block) override {
    return write([&] { return store_->forget_block(block); });
  }
  Result<std::vector<IpRange>> blocks(const std::string& pool) override { return store_->blocks(pool); }
  Result<void> put_note(const std::string& key, const std::string& value) override {
    return store_->put_note(key, value);
  }
  Result<std::optional<std::string>> note(const std::string& key) override { return store_->note(key); }
  Result<void> forget_note(const std::string& key) override {
    return write([&] { return store_->forget_note(key); });
  }
  Result<std::vector<Note>> notes(const std::string& prefix) override { return store_->notes(prefix); }

 private:
  bool alive() {
    if (left_ == 0) kernel_.kill_after(0);
    return left_ != 0 && !kernel_.killed();
  }
  template <typename Write>
  Result<void> write(Write write) {
    if (!alive()) return fail(Code::kCanceled, "killed");
    if (left_ > 0) --left_;
    ++writes_;
    return write();
  }

  os::FakeKernel& kernel_;
  std::unique_ptr<state::Store> store_ = state::memory_store();
  int left_ = -1;  // < 0: for ever
  int writes_ = 0;
};

plan::PoolVf vf(PciAddress pf, int index) {
  return {.pf = pf,
          .pf_name = "pf",
          .index = VfIndex{index},
          .address = pf.plus(0x80 + 2 * static_cast<uint32_t>(index)),
          .rdma = true};
}

constexpr const char* kRange = R"("ipam":{"type":"whereabouts","range":"10.9.0.0/24","gateway":"10.9.0.1",
    "routes":[{"dst":"10.77.0.0/16"}]})";

// What to attach: a machine, and a pod's interfaces.
struct Scenario {
  os::FakeMachine machine;
  std::vector<InterfaceRequest> interfaces;
  bool soft_rdma = false;
  std::vector<InterfaceRequest> later;  // separate requests, after the others
};

Scenario sriov_lab() {
  Scenario lab{.machine = os::FakeMachine::lab(), .soft_rdma = true};
  for (os::FakePf& pf : lab.machine.pfs) pf.num_vfs = 3;
  lab.interfaces = {
      wanted("net1",
             {fmt::format(R"({{"type":"sriov","vlan":100,"vlanQoS":2,"spoofchk":"off","mac":"02:00:00:00:00:77",{}}})",
                          kRange),
              R"({"type":"tuning","mtu":1400})"},
             vf(kPf0, 1)),
      wanted("net2", {R"({"type":"sriov","vlan":0,"trust":"on",
          "ipam":{"type":"whereabouts","range":"10.9.0.0/24"}})"},
             vf(kPf1, 0))};
  return lab;
}

Scenario virtual_links() {
  Scenario other{.machine = os::FakeMachine::lab()};
  other.machine.other_links = {"eth8", "eth9"};
  other.interfaces = {wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth9",{}}})", kRange)}),
                      wanted("net2", {R"({"type":"host-device","device":"eth8"})",
                                      R"({"type":"tuning","mac":"02:00:00:00:00:78","mtu":1300})"}),
                      wanted("net3", {R"({"type":"macvlan","master":"eth9"})"}),
                      wanted("net4", {R"({"type":"ipvlan","master":"eth0","ipam":{"type":"static",
                          "addresses":[{"address":"fd00::7/64"}]}})"})};
  return other;
}

Scenario infiniband() {
  Scenario ib;
  ib.machine.pfs = {os::FakePf::mlx5(kPf0, "ib0", true), os::FakePf::mlx5(kPf1, "eth1")};
  for (os::FakePf& pf : ib.machine.pfs) {
    pf.num_vfs = 2;
    pf.refused.clear();
  }
  ib.machine.rdma_mode = os::RdmaNetnsMode::kExclusive;
  plan::PoolVf ib_vf = vf(kPf0, 1);
  ib_vf.address = kPf0.plus(ib.machine.pfs[0].vf_offset + ib.machine.pfs[0].vf_stride);
  ib_vf.infiniband = true;
  plan::PoolVf roce_vf = vf(kPf1, 0);
  roce_vf.address = kPf1.plus(ib.machine.pfs[1].vf_offset);
  ib.interfaces = {
      wanted("net1", {R"({"type":"ib-sriov","link_state":"enable","guid":"02:00:00:00:00:00:00:09"})"}, ib_vf),
      wanted("net2", {fmt::format(R"({{"type":"sriov","link_state":"disable",{}}})", kRange), R"({"type":"rdma"})"},
             roce_vf)};
  return ib;
}

Scenario vfio() {
  Scenario one{.machine = os::FakeMachine::lab()};
  one.machine.pfs[0].num_vfs = 2;
  one.machine.pfs[0].vf_driver = "vfio-pci";
  plan::PoolVf device = vf(kPf0, 1);
  device.device_type = DeviceType::kVfioPci;
  one.interfaces = {wanted("net1", {fmt::format(R"({{"type":"sriov","vlan":7,{}}})", kRange)}, device)};
  return one;
}

// Changes of existing interfaces, one request each, and both kinds of routing in a chain.
Scenario changes() {
  Scenario one{.machine = os::FakeMachine::lab()};
  one.machine.other_links = {"eth8", "eth9"};
  constexpr const char* kBoth = R"("ipam":{"type":"static","addresses":[
      {"address":"10.5.0.2/24","gateway":"10.5.0.1"},{"address":"fd00::2/64"}],
      "routes":[{"dst":"10.88.0.0/16"},{"dst":"0.0.0.0/0"}]})";
  one.interfaces = {
      wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth9","bcqueuelen":2000,{}}})", kBoth)}),
      wanted("net2", {fmt::format(R"({{"type":"host-device","device":"eth8",{}}})", kRange),
                      R"({"type":"tuning","promisc":true,"allmulti":true,"txQLen":77})", R"({"type":"sbr"})"}),
      wanted("net3", {R"({"type":"macvlan","master":"eth9","ipam":{"type":"static",
                          "addresses":[{"address":"10.6.0.2/24"}],"routes":[{"dst":"10.99.0.0/16"}]}})",
                      R"({"type":"vrf","vrfname":"blue"})"})};
  one.later = {chained("net1", R"({"type":"tuning","mtu":1400,"mac":"02:00:00:00:00:79","promisc":true,"txQLen":5,
                          "sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1","net.core.somaxconn":"300"}})")};
  return one;
}

// The same as separate requests for one interface each.
Scenario routing() {
  Scenario one{.machine = os::FakeMachine::lab()};
  one.machine.other_links = {"eth9"};
  constexpr const char* kOne = R"({"type":"macvlan","master":"eth9","ipam":{"type":"static","addresses":[
      {"address":"10.5.0.2/24","gateway":"10.5.0.1"},{"address":"fd00::2/64"}],
      "routes":[{"dst":"10.88.0.0/16"}]}})";
  constexpr const char* kTwo = R"({"type":"macvlan","master":"eth9","ipam":{"type":"static","addresses":[
      {"address":"10.7.0.2/24","gateway":"10.7.0.1"},{"address":"fd01::2/64"}],
      "routes":[{"dst":"10.89.0.0/16"}]}})";
  one.interfaces = {wanted("net1", {kOne}), wanted("net2", {kTwo})};
  one.later = {chained("net1", R"({"type":"sbr"})"), chained("net2", R"({"type":"vrf","vrfname":"red"})")};
  cni::AddResult previous;
  previous.interfaces = {{.name = "eth9"}, {.name = "net1", .sandbox = "/run/netns/pod"}};
  previous.addresses = {{*IpPrefix::parse("10.5.0.2/24"), *IpAddress::parse("10.5.0.1"), 1},
                        {*IpPrefix::parse("fd00::2/64"), std::nullopt, 1},
                        {*IpPrefix::parse("10.1.0.2/24"), std::nullopt, 0}};
  one.later[0].previous = previous;
  return one;
}

// The state of the machine. The number of an RDMA device changes whenever its driver is bound again.
std::string machine_of(os::FakeKernel& kernel) {
  return std::regex_replace(kernel.snapshot(), std::regex("rdma mlx5_[0-9]+"), "rdma mlx5_N");
}

// A machine with the pod's namespace, and the state to which undoing must return.
class Rig {
 public:
  explicit Rig(const Scenario& scenario) : scenario_(scenario), kernel(scenario.machine), store(kernel) {
    EXPECT_EQ(message(kernel.netns().create("pod")), "");
    start = machine_of(kernel);
    kernel.clear_journal();
  }
  os::Deadline soon() { return kernel.clock().now() + std::chrono::seconds(10); }
  Result<PodReport> attach() {
    Result<PodReport> all = attach(scenario_.interfaces, !scenario_.later.empty());
    for (const InterfaceRequest& one : scenario_.later) {
      if (!all.has_value()) return all;
      Result<PodReport> next = attach({one}, true);
      if (!next.has_value()) {
        // A runtime sends DEL after a failed ADD.
        if (!kernel.killed()) (void)detach();
        return next;
      }
      all->attached += next->attached;
      all->kept += next->kept;
      std::ranges::copy(next->interfaces, std::back_inserter(all->interfaces));
    }
    return all;
  }
  Result<PodReport> attach(const std::vector<InterfaceRequest>& interfaces, bool others_stay = false) {
    return attach_with_addresses(kernel, store,
                                 {.pod = "default/a",
                                  .netns_path = "/run/netns/pod",
                                  .interfaces = interfaces,
                                  .soft_rdma = scenario_.soft_rdma,
                                  .others_stay = others_stay},
                                 soon());
  }
  Result<DetachReport> detach() { return detach_pod(kernel, store, "default/a", soon()); }
  void recover_after_restart() {
    kernel.restart();
    store.restart();
    auto report = recover(kernel, store, soon());
    EXPECT_EQ(message(report), "");
    for (const auto& failure : report->failures) ADD_FAILURE() << failure.error.to_string();
    // The pod's earlier requests have succeeded.
    if (!scenario_.later.empty()) {
      EXPECT_EQ(message(detach()), "");
    }
  }
  void expect_nothing_left(const std::string& when) {
    EXPECT_EQ(machine_of(kernel), start) << when;
    EXPECT_TRUE(store.attachments()->empty()) << when;
    EXPECT_TRUE(store.all_leases()->empty()) << when;
  }

 private:
  const Scenario& scenario_;

 public:
  os::FakeKernel kernel;
  MortalStore store;
  std::string start;
};

Scenario scenario(const std::string& name) {
  if (name == "sriov") return sriov_lab();
  if (name == "virtual") return virtual_links();
  if (name == "infiniband") return infiniband();
  if (name == "changes") return changes();
  if (name == "routing") return routing();
  return vfio();
}

class EveryScenario : public testing::TestWithParam<const char*> {
 protected:
  EveryScenario() : scenario_(scenario(GetParam())) {
    Rig rig(scenario_);
    EXPECT_EQ(message(rig.attach()), "");
    attached_ = machine_of(rig.kernel);
    attach_lines_ = rig.kernel.journal();
    attach_writes_ = rig.store.writes();
    rig.kernel.clear_journal();
    EXPECT_EQ(message(rig.detach()), "");
    detach_lines_ = rig.kernel.journal();
    detach_writes_ = rig.store.writes() - attach_writes_;
  }
  int attach_calls() const { return static_cast<int>(attach_lines_.size()); }
  int detach_calls() const { return static_cast<int>(detach_lines_.size()); }

  Scenario scenario_;
  std::string attached_;
  std::vector<std::string> attach_lines_;
  std::vector<std::string> detach_lines_;
  int attach_writes_ = 0;
  int detach_writes_ = 0;
};

TEST_P(EveryScenario, GivesEverythingBack) {
  Rig rig(scenario_);
  auto report = rig.attach();
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->attached, static_cast<int>(scenario_.interfaces.size() + scenario_.later.size()));
  EXPECT_NE(machine_of(rig.kernel), rig.start);
  rig.kernel.clear_journal();

  auto again = rig.attach();
  ASSERT_EQ(message(again), "");
  EXPECT_EQ(again->kept, report->attached);
  EXPECT_EQ(again->interfaces, report->interfaces);
  EXPECT_THAT(rig.kernel.journal(), ElementsAre());

  auto detached = rig.detach();
  ASSERT_EQ(message(detached), "");
  EXPECT_EQ(detached->detached, report->attached);
  EXPECT_THAT(detached->notes, ElementsAre());
  rig.expect_nothing_left("after detach");
  EXPECT_EQ(rig.detach()->detached, 0);
}

TEST_P(EveryScenario, AFailureAnywhereInAttachUndoesAll) {
  for (int sys_errno : {EIO, EBUSY, EEXIST, ENODEV})
    for (int call = 1; call <= attach_calls(); ++call) {
      Rig rig(scenario_);
      rig.kernel.fail_call(call, sys_errno);
      auto report = rig.attach();
      std::string when = fmt::format("{} at \"{}\"", errno_name(sys_errno), attach_lines_[call - 1]);
      // Some refusals are no failure: a soft RDMA device is tried again after loading its module.
      if (report.has_value()) {
        EXPECT_EQ(machine_of(rig.kernel), attached_) << when;
        EXPECT_EQ(message(rig.detach()), "") << when;
      } else {
        EXPECT_THAT(message(report), HasSubstr(errno_name(sys_errno))) << when;
      }
      rig.expect_nothing_left(when);
    }
}

TEST_P(EveryScenario, AFailureAnywhereInDetachIsFinishedNextTime) {
  for (int sys_errno : {EIO, EBUSY, EEXIST})
    for (int call = 1; call <= detach_calls(); ++call) {
      Rig rig(scenario_);
      ASSERT_EQ(message(rig.attach()), "");
      rig.kernel.fail_call(call, sys_errno);
      auto report = rig.detach();
      std::string when = fmt::format("{} at \"{}\"", errno_name(sys_errno), detach_lines_[call - 1]);
      if (!report.has_value()) {
        EXPECT_FALSE(rig.store.attachments()->empty()) << when;
        EXPECT_EQ(message(rig.detach()), "") << when;
      }
      if (sys_errno == EEXIST && report.has_value() && !report->notes.empty()) continue;  // under another name
      rig.expect_nothing_left(when);
    }
}

TEST_P(EveryScenario, AKillAnywhereInAttachIsUndone) {
  for (auto kind : {os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered})
    for (int calls = 0; calls <= attach_calls(); ++calls) {
      Rig rig(scenario_);
      rig.kernel.kill_after(calls, kind);
      auto report = rig.attach();
      rig.recover_after_restart();
      std::string when = fmt::format("killed after {} calls", calls);
      if (rig.store.attachments()->empty()) rig.expect_nothing_left(when);
      EXPECT_EQ(message(rig.attach()), "") << when;
      EXPECT_EQ(machine_of(rig.kernel), attached_) << when;
      EXPECT_EQ(message(rig.detach()), "") << when;
      rig.expect_nothing_left(when);
    }
}

TEST_P(EveryScenario, AKillAtAnyWriteOfTheStoreIsUndone) {
  for (int writes = 0; writes < attach_writes_; ++writes) {
    Rig rig(scenario_);
    rig.store.kill_after_writes(writes);
    EXPECT_FALSE(rig.attach().has_value());
    rig.recover_after_restart();
    rig.expect_nothing_left(fmt::format("killed after {} writes", writes));
    EXPECT_EQ(message(rig.attach()), "");
    EXPECT_EQ(machine_of(rig.kernel), attached_);
  }
  for (int writes = 0; writes < detach_writes_; ++writes) {
    Rig rig(scenario_);
    ASSERT_EQ(message(rig.attach()), "");
    rig.store.kill_after_writes(writes);
    EXPECT_FALSE(rig.detach().has_value());
    rig.recover_after_restart();
    EXPECT_EQ(message(rig.detach()), "");
    rig.expect_nothing_left(fmt::format("detach killed after {} writes", writes));
  }
}

TEST_P(EveryScenario, AKillAnywhereInDetachIsFinished) {
  for (auto kind : {os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered})
    for (int calls = 0; calls <= detach_calls(); ++calls) {
      Rig rig(scenario_);
      ASSERT_EQ(message(rig.attach()), "");
      rig.kernel.kill_after(calls, kind);
      (void)rig.detach();
      rig.recover_after_restart();
      rig.expect_nothing_left(fmt::format("killed after {} calls", calls));
    }
}

// A failure, then a kill while the failure is being undone.
TEST_P(EveryScenario, AKillDuringTheUndoingIsFinished) {
  for (int call = 1; call <= attach_calls(); ++call)
    for (int more = 0; more <= attach_calls() + 1; ++more) {
      Rig rig(scenario_);
      rig.kernel.fail_call(call, EIO);
      rig.kernel.kill_after(call + more);
      (void)rig.attach();
      bool done = !rig.kernel.killed();
      rig.recover_after_restart();
      EXPECT_EQ(message(rig.detach()), "");  // where the kill came after everything was attached again
      rig.expect_nothing_left(fmt::format("EIO at \"{}\", killed {} calls later", attach_lines_[call - 1], more));
      if (done) break;
    }
}

// The namespace vanishes during the attachment: hardware returns home, and nothing stays recorded.
TEST_P(EveryScenario, ANamespaceThatVanishesMidwayLeavesNothing) {
  Rig without(scenario_);
  without.kernel.vanish_netns("pod");
  for (const std::string& line : attach_lines_) {
    Rig rig(scenario_);
    rig.kernel.before(line, [&] { rig.kernel.vanish_netns("pod"); });
    auto report = rig.attach();
    EXPECT_FALSE(report.has_value()) << line;
    rig.recover_after_restart();
    EXPECT_EQ(machine_of(rig.kernel), machine_of(without.kernel)) << line;
    EXPECT_TRUE(rig.store.attachments()->empty()) << line;
    EXPECT_TRUE(rig.store.all_leases()->empty()) << line;
  }
}

TEST_P(EveryScenario, ANamespaceThatIsGoneIsNoReasonNotToGiveBack) {
  Rig without(scenario_);
  without.kernel.vanish_netns("pod");
  Rig rig(scenario_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.vanish_netns("pod");
  EXPECT_EQ(message(rig.detach()), "");
  EXPECT_EQ(machine_of(rig.kernel), machine_of(without.kernel));
  EXPECT_TRUE(rig.store.attachments()->empty());
}

INSTANTIATE_TEST_SUITE_P(Attach, EveryScenario,
                         testing::Values("sriov", "virtual", "infiniband", "vfio", "changes", "routing"),
                         [](const auto& param) { return std::string(param.param); });

class AttachFaults : public testing::Test {
 protected:
  Scenario lab_ = sriov_lab();
};

TEST_F(AttachFaults, AnInterfaceCostsNoMoreMessagesThanItNeeds) {
  Scenario bare{.machine = lab_.machine};
  bare.interfaces = {wanted("net1", {R"({"type":"sriov","vlan":0})"}, vf(kPf0, 0)),
                     wanted("net2", {R"({"type":"host-device"})"}, vf(kPf0, 1))};
  Rig rig(bare);
  ASSERT_EQ(message(rig.attach()), "");
  EXPECT_THAT(rig.kernel.journal(),
              ElementsAre("link eth0v0 to /run/netns/pod as net1", "link eth0v1 to /run/netns/pod as net2",
                          "link net1 up (inside pod)", "link net2 up (inside pod)"));
  rig.kernel.clear_journal();
  ASSERT_EQ(message(rig.detach()), "");
  EXPECT_THAT(rig.kernel.journal(), ElementsAre(HasSubstr("link net2 to "), HasSubstr("link net1 to ")));
}

TEST_F(AttachFaults, AllSettingsOfAVfTravelInOneMessageBeforeItMoves) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  EXPECT_EQ(rig.kernel.journal().front(), "vf eth0 1 mac 02:00:00:00:00:77 vlan 100 qos 2 proto 802.1Q spoofchk off");
  rig.kernel.clear_journal();
  ASSERT_EQ(message(rig.detach()), "");
  // It is back home and down before its VLAN is removed, so the pod never sees another VLAN.
  std::vector<std::string> lines = rig.kernel.journal();
  auto home = std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("link net1 to"); });
  auto settings = std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("vf eth0 1"); });
  EXPECT_LT(home, settings);
  ASSERT_NE(settings, lines.end());
}

TEST_F(AttachFaults, MadeInterfacesGoInOneMessage) {
  Scenario made = virtual_links();
  Rig rig(made);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.clear_journal();
  ASSERT_EQ(message(rig.detach()), "");
  EXPECT_THAT(rig.kernel.journal().front(), HasSubstr("remove group"));
  EXPECT_EQ(std::ranges::count_if(rig.kernel.journal(), [](const auto& l) { return l.starts_with("remove"); }), 1);
}

TEST_F(AttachFaults, OnlyWhatChangedIsMadeAnew) {
  Rig rig(lab_);
  auto before = rig.attach();
  ASSERT_EQ(message(before), "");
  rig.kernel.clear_journal();
  auto interfaces = lab_.interfaces;
  interfaces[1] = wanted("net2", {R"({"type":"sriov","vlan":7})"}, vf(kPf1, 0));
  auto report = rig.attach(interfaces);
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->kept, 1);
  EXPECT_EQ(report->detached, 1);
  EXPECT_EQ(report->attached, 1);
  EXPECT_EQ(report->interfaces[0], before->interfaces[0]);
  for (const std::string& line : rig.kernel.journal()) EXPECT_THAT(line, testing::Not(HasSubstr("net1")));
  EXPECT_EQ(rig.store.all_leases()->size(), 1u);
}

TEST_F(AttachFaults, WhatThePodLostIsAttachedAgain) {
  Scenario made = virtual_links();
  Rig rig(made);
  ASSERT_EQ(message(rig.attach()), "");
  std::string attached = machine_of(rig.kernel);
  auto netns = std::move(*rig.kernel.netns().open("/run/netns/pod"));
  auto inside = std::move(*rig.kernel.netns().links(*netns));
  IfIndex net3 = inside->find(IfName{"net3"}, os::WithVfs::kNo)->index;
  ASSERT_EQ(message(inside->remove(net3)), "");
  auto report = rig.attach();
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->kept, 3);
  EXPECT_EQ(machine_of(rig.kernel), attached);
}

// igb and igbvf: the VF may not take the address that the PF set, until it is trusted.
TEST_F(AttachFaults, AVfThatMayNotChangeItsAddressIsTrustedForTheMoment) {
  Rig rig(lab_);
  rig.kernel.fail_when("mac 02:00:00:00:00:77 (inside pod)", EADDRNOTAVAIL);
  ASSERT_EQ(message(rig.attach()), "");
  std::vector<std::string> trust;
  for (const std::string& line : rig.kernel.journal())
    if (line.find("eth0 1 trust") != std::string::npos) trust.push_back(line);
  EXPECT_THAT(trust, ElementsAre("vf eth0 1 trust on", "vf eth0 1 trust off"));
  ASSERT_EQ(message(rig.detach()), "");
  rig.expect_nothing_left("after detach");
}

TEST_F(AttachFaults, AKillWhileAVfIsTrustedLeavesItUntrusted) {
  for (int calls = 1; calls < 20; ++calls) {
    Rig rig(lab_);
    rig.kernel.fail_when("mac 02:00:00:00:00:77 (inside pod)", EADDRNOTAVAIL);
    rig.kernel.kill_after(calls);
    (void)rig.attach();
    rig.recover_after_restart();
    EXPECT_EQ(message(rig.detach()), "");
    rig.expect_nothing_left(fmt::format("killed after {} calls", calls));
  }
}

TEST_F(AttachFaults, AVfOfAnotherPodIsNotTaken) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  ASSERT_EQ(message(rig.kernel.netns().create("b")), "");
  auto report = attach_with_addresses(rig.kernel, rig.store,
                                      {.pod = "default/b", .netns_path = "/run/netns/b", .interfaces = lab_.interfaces},
                                      rig.soon());
  EXPECT_EQ(message(report),
            "pod default/b: interface net1 (network default/net1): device 0000:01:10.2 belongs to pod "
            "default/a, interface net1");
  EXPECT_EQ(rig.store.attachments()->size(), 2u);
}

// A pod's author may know the MAC or GUID of another pod. What an administrator wrote is not compared.
TEST_F(AttachFaults, AMacOrGuidOfAnotherPodIsNotGivenToAPodThatAsksForIt) {
  const MacAddress mac = *MacAddress::parse("02:00:00:00:00:77");
  Scenario both{.machine = lab_.machine};
  both.machine.other_links = {"eth8"};
  both.interfaces = {wanted("net1", {R"({"type":"macvlan","master":"eth8"})"})};
  both.interfaces.front().selection.mac = api::given(mac);
  Rig rig(both);
  ASSERT_EQ(message(rig.attach()), "");
  ASSERT_EQ(message(rig.kernel.netns().create("b")), "");
  const auto ask = [&](const std::string& pod, const InterfaceRequest& one) {
    return message(attach_with_addresses(rig.kernel, rig.store,
                                         {.pod = pod, .netns_path = "/run/netns/b", .interfaces = {one}}, rig.soon()));
  };
  const char* refused =
      "pod default/b@c2: interface net1 (network default/net1): the pod requests MAC 02:00:00:00:00:77, which "
      "interface net1 of pod default/a has on this node\n"
      "  request another one, or none";
  EXPECT_EQ(ask("default/b@c2", both.interfaces.front()), refused);
  InterfaceRequest vf_with_mac = wanted("net1", {R"({"type":"sriov"})"}, vf(kPf0, 0));
  vf_with_mac.selection.mac = api::given(mac);
  EXPECT_EQ(ask("default/b@c2", vf_with_mac), refused);
  EXPECT_EQ(ask("default/a@c3", both.interfaces.front()), "") << "the same pod's next sandbox";
  EXPECT_EQ(ask("default/b@c2", wanted("net9", {R"({"type":"macvlan","master":"eth8","mac":"02:00:00:00:00:77"})"})),
            "")
      << "the administrator's word";
}

TEST_F(AttachFaults, AGuidOfAnotherVfIsNotGivenToAPodThatAsksForIt) {
  Scenario ib = infiniband();
  Rig rig(ib);
  ASSERT_EQ(message(rig.attach()), "");  // VF 1 has the GUID of the definition
  ASSERT_EQ(message(rig.kernel.netns().create("b")), "");
  plan::PoolVf first = vf(kPf0, 0);
  first.address = kPf0.plus(ib.machine.pfs[0].vf_offset);
  first.infiniband = true;
  const auto ask = [&](const char* guid, const std::string& plugin) {
    InterfaceRequest one = wanted("net1", {plugin}, first);
    if (guid != nullptr) one.selection.infiniband_guid = api::given(*Guid::parse(guid));
    return message(attach_with_addresses(
        rig.kernel, rig.store, {.pod = "default/b", .netns_path = "/run/netns/b", .interfaces = {one}}, rig.soon()));
  };
  const std::string refused = ask("02:00:00:00:00:00:00:09", R"({"type":"ib-sriov"})");
  EXPECT_THAT(refused, HasSubstr("the pod requests GUID 02:00:00:00:00:00:00:09, which "));
  EXPECT_THAT(refused, HasSubstr(" has on this node\n  request another one, or none"));
  EXPECT_EQ(ask("02:00:00:00:00:00:00:0a", R"({"type":"ib-sriov"})"), "");
}

TEST_F(AttachFaults, WhatIsBeingChangedIsNotTaken) {
  for (const PciAddress changing : {*PciAddress::parse("0000:01:10.2"), kPf0}) {
    Rig rig(lab_);
    rig.kernel.clear_journal();
    auto report = attach_with_addresses(rig.kernel, rig.store,
                                        {.pod = "default/a",
                                         .netns_path = "/run/netns/pod",
                                         .interfaces = lab_.interfaces,
                                         .is_changing = [&](PciAddress device) { return device == changing; }},
                                        rig.soon());
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, Code::kBusy);
    EXPECT_EQ(
        message(report),
        fmt::format("pod default/a: interface net1 (network default/net1): device {} is being changed for this node's "
                    "SriovNetworkNodeState\n"
                    "  the runtime will retry; progress is in the SriovNetworkNodeState status",
                    changing));
    EXPECT_EQ(rig.kernel.journal(), std::vector<std::string>{});
  }
}

TEST_F(AttachFaults, SaysWhatIsNotThere) {
  struct Case {
    InterfaceRequest wanted;
    const char* message;
  };
  plan::PoolVf no_vf = vf(kPf0, 6);
  const Case cases[] = {
      {wanted("net1", {R"({"type":"sriov"})"}, no_vf),
       "pod default/a: interface net1 (network default/net1): PCI device 0000:01:11.4 not found\n"
       "  the VFs may have been removed; `railbed discover` shows the devices"},
      {wanted("net1", {R"({"type":"host-device","device":"eth7"})"}),
       "pod default/a: interface net1 (network default/net1): interface eth7 is not there\n  interfaces here: eth0, "
       "eth0v0, eth0v1, eth0v2, eth1, eth1v0, eth1v1, eth1v2"},
      {wanted("net1", {R"({"type":"macvlan","master":"eth7"})"}),
       "pod default/a: interface net1 (network default/net1): its master eth7 was not found\n"
       "  interfaces here: eth0, eth0v0, eth0v1, eth0v2, eth1, eth1v0, eth1v1, eth1v2"},
      {wanted("net1", {R"({"type":"macvlan"})"}),
       "pod default/a: interface net1 (network default/net1): it has no master, and there is no default route whose "
       "interface could be used\n"
       "  set a master in the network's configuration"},
      {wanted("net1", {R"({"type":"sriov"})", R"({"type":"rdma"})"}, vf(kPf0, 0)),
       "pod default/a: interface net1 (network default/net1): device 0000:01:10.0 has no RDMA device\n"
       "  check that its RDMA driver is loaded; nodes without RDMA NICs can use soft devices: annotate the node with "
       "railbed.dev/soft-rdma: \"true\""},
      {wanted("net1", {R"({"type":"sriov","link_state":"disable"})"}, vf(kPf0, 0)),
       "pod default/a: interface net1 (network default/net1): setting VF 0 of eth0: RTM_SETLINK eth0 vf 0 state "
       "disable: EOPNOTSUPP (Operation not supported)\n"
       "  the driver may not support a setting; remove it from the network"},
  };
  Scenario plain{.machine = lab_.machine};
  Rig rig(plain);
  for (const Case& one : cases) {
    EXPECT_EQ(message(rig.attach({one.wanted})), one.message);
    rig.expect_nothing_left(one.message);
  }
}

TEST_F(AttachFaults, IsRdmaWithoutADeviceIsTold) {
  Scenario plain{.machine = lab_.machine};
  plain.interfaces = {wanted("net1", {R"({"type":"sriov"})"}, vf(kPf0, 0))};
  Rig rig(plain);
  EXPECT_THAT(rig.attach()->interfaces[0].notes,
              ElementsAre("device 0000:01:10.0 has no RDMA device, although its policy says isRdma"));
}

TEST_F(AttachFaults, AFullRangeLeavesThePodAsItWas) {
  Scenario two{.machine = lab_.machine};
  const char* tight =
      R"({"type":"sriov","ipam":{"type":"whereabouts","range":"10.9.0.0/30","exclude":["10.9.0.2/32"]}})";
  two.interfaces = {wanted("net1", {tight}, vf(kPf0, 0)), wanted("net2", {tight}, vf(kPf0, 1))};
  Rig rig(two);
  auto report = rig.attach();
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, Code::kExhausted);
  EXPECT_THAT(message(report), HasSubstr("all 1 are in use: 10.9.0.1 default/a net1"));
  rig.expect_nothing_left("full");
}

TEST_F(AttachFaults, ADeviceThatComesBackLateIsWaitedFor) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.delay_netns_end(std::chrono::seconds(3));
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  EXPECT_EQ(message(rig.detach()), "");
  EXPECT_TRUE(rig.store.attachments()->empty());
  EXPECT_THAT(rig.kernel.snapshot(), HasSubstr("eth0v1 mtu 1500 down"));
}

TEST_F(AttachFaults, ADeviceThatDoesNotComeBackStaysRecorded) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.delay_netns_end(std::chrono::minutes(3));
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  auto report = rig.detach();
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, Code::kTimeout);
  EXPECT_THAT(message(report), HasSubstr("waiting for 0000:02:10.0 to return from network namespace /run/netns/pod"));
  EXPECT_THAT(message(report), HasSubstr("it returns when the last process in that namespace exits"));
  EXPECT_EQ(rig.store.attachments()->size(), 2u);
}

// How the agent stands aside, and what happens on its machine meanwhile.
WaitPolicy standing_aside(os::Kernel& kernel, const std::function<void()>& meanwhile) {
  WaitPolicy wait(kernel.clock().now() + std::chrono::minutes(1));
  wait.without_lock = [meanwhile](LongWait kind, const WaitPolicy::Work& work) -> Result<void> {
    if (kind == LongWait::kDevice) meanwhile();
    work();
    return {};
  };
  return wait;
}

TEST_F(AttachFaults, ADeviceThatAnotherPodHasByTheTimeItComesBackIsLeftAlone) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.delay_netns_end(std::chrono::seconds(3));
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  int times = 0;
  const WaitPolicy wait = standing_aside(rig.kernel, [&] {
    ++times;
    auto records = rig.store.attachments();
    for (state::Attachment other : *records) {
      other.pod = "default/next";
      ASSERT_EQ(message(rig.store.put_attachment(other)), "");
    }
  });
  auto report = detach_pod(rig.kernel, rig.store, "default/a", wait);
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(times, 1);
  EXPECT_THAT(report->notes,
              ElementsAre("interface net2: 0000:02:10.0 now belongs to pod default/next and is left unchanged",
                          "interface net1: 0000:01:10.2 now belongs to pod default/next and is left unchanged"));
}

TEST_F(AttachFaults, NothingIsTouchedOnceTheTurnIsLost) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.delay_netns_end(std::chrono::seconds(3));
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  WaitPolicy wait = rig.soon();
  wait.without_lock = [&](LongWait, const WaitPolicy::Work& work) -> Result<void> {
    work();
    rig.kernel.clear_journal();
    return fail(Code::kBusy, "the agent is stopping while other requests were in progress");
  };
  EXPECT_EQ(message(detach_pod(rig.kernel, rig.store, "default/a", wait)),
            "pod default/a: waiting for 0000:02:10.0 to return from network namespace /run/netns/pod: the agent is "
            "stopping while other requests were in progress\n"
            "  it returns when the last process in that namespace exits; then run `railbed down` again");
  EXPECT_THAT(rig.kernel.journal(), ElementsAre());
  EXPECT_EQ(rig.store.attachments()->size(), 2u);
  EXPECT_EQ(message(rig.detach()), "");
  EXPECT_TRUE(rig.store.attachments()->empty());
  EXPECT_TRUE(rig.store.all_leases()->empty());
}

TEST_F(AttachFaults, AStopEndsTheWaitForADevice) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.delay_netns_end(std::chrono::minutes(3));
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  std::stop_source stopping;
  WaitPolicy wait = rig.soon();
  wait.stop = stopping.get_token();
  const os::Deadline begin = rig.kernel.clock().now();
  rig.kernel.before("wait for uevent", [&] { stopping.request_stop(); });
  auto report = detach_pod(rig.kernel, rig.store, "default/a", wait);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, Code::kCanceled);
  EXPECT_LE(rig.kernel.clock().now() - begin, std::chrono::milliseconds(200));
  EXPECT_EQ(rig.store.attachments()->size(), 2u);
}

// A driver may take seconds for a VF, so that it is bound anew while others work; another process may undo what it
// takes for a killed one's meanwhile.
TEST_F(AttachFaults, AnAddWhoseRecordsWereUndoneWhileItBoundADriverFails) {
  Scenario with_guid = infiniband();
  Rig rig(with_guid);
  int times = 0;
  PodRequest request{.pod = "default/a", .netns_path = "/run/netns/pod", .interfaces = with_guid.interfaces};
  auto report = attach_pod(rig.kernel, rig.store, request, standing_aside(rig.kernel, [&] {
                             if (++times > 1) return;
                             ASSERT_EQ(rig.store.attachments()->size(), with_guid.interfaces.size());
                             auto recovered = recover(rig.kernel, rig.store, rig.soon());
                             ASSERT_EQ(recovered->undone.size(), with_guid.interfaces.size());
                           }));
  EXPECT_THAT(message(report), HasSubstr("another railbed process rolled back this request"));
  EXPECT_GE(times, 1);
  rig.expect_nothing_left("undone by another process");
}

// The pod's record stays, for its DEL.
TEST_F(AttachFaults, RecoveryTellsWhatItCouldNotGiveBack) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.clear_journal();
  rig.kernel.kill_after(1);
  (void)rig.detach();
  rig.kernel.restart();
  rig.store.restart();
  rig.kernel.fail_call(1, EIO);
  auto report = recover(rig.kernel, rig.store, rig.soon());
  ASSERT_EQ(message(report), "");
  ASSERT_EQ(report->failures.size(), 1u);
  EXPECT_EQ(report->failures.front().pod, "default/a");
  EXPECT_EQ(report->failures.front().error.sys_errno, EIO);
  rig.recover_after_restart();
  EXPECT_EQ(message(rig.detach()), "");
  rig.expect_nothing_left("the second recovery");
}

TEST_F(AttachFaults, AVfThatWasRemovedIsNoReasonToFail) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  for (const char* pf : {"0000:01:00.0", "0000:02:00.0"})
    ASSERT_EQ(message(rig.kernel.files().write(fmt::format("/sys/bus/pci/devices/{}/sriov_numvfs", pf), "0")), "");
  auto report = rig.detach();
  ASSERT_EQ(message(report), "");
  EXPECT_THAT(report->notes,
              ElementsAre("interface net2: 0000:02:10.0 no longer exists on this machine: nothing to restore",
                          "interface net1: 0000:01:10.2 no longer exists on this machine: nothing to restore"));
  EXPECT_TRUE(rig.store.attachments()->empty());
}

TEST_F(AttachFaults, ALateDetachLeavesTheNextPodsVfAlone) {
  Rig rig(lab_);
  ASSERT_EQ(message(rig.attach()), "");
  state::Attachment late = rig.store.attachments()->front();
  late.pod = "default/old";
  late.netns = "/run/netns/old";
  ASSERT_EQ(message(rig.store.put_attachment(late)), "");
  rig.kernel.clear_journal();
  auto report = detach_pod(rig.kernel, rig.store, "default/old", rig.soon());
  ASSERT_EQ(message(report), "");
  EXPECT_THAT(report->notes,
              ElementsAre("interface net1: 0000:01:10.2 now belongs to pod default/a and is left unchanged"));
  EXPECT_THAT(rig.kernel.journal(), ElementsAre());
  EXPECT_EQ(rig.store.attachments()->size(), 2u);
}

TEST_F(AttachFaults, AGoneNamespaceAndTwoEqualNamesAreTold) {
  Rig rig(lab_);
  EXPECT_EQ(message(rig.attach({lab_.interfaces[0], lab_.interfaces[0]})),
            "pod default/a: two networks of the pod request the interface name net1");
  rig.kernel.vanish_netns("pod");
  EXPECT_THAT(message(rig.attach()), HasSubstr("the pod's network namespace no longer exists; the pod may have been "
                                               "deleted"));
}

// The device of a vfio VF stays with the host, so only the namespace says that the pod's network was made anew.
TEST_F(AttachFaults, AnotherNamespaceAtThePodsPathGetsEverythingAnew) {
  Scenario device = vfio();
  Rig rig(device);
  ASSERT_EQ(message(rig.attach()), "");
  auto again = rig.attach();
  ASSERT_EQ(message(again), "");
  EXPECT_EQ(again->kept, 1);
  EXPECT_EQ(again->attached, 0);
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  ASSERT_EQ(message(rig.kernel.netns().create("pod")), "");
  auto anew = rig.attach();
  ASSERT_EQ(message(anew), "");
  EXPECT_EQ(anew->kept, 0);
  EXPECT_EQ(anew->attached, 1);
}

// What is in it belongs to somebody else, also where it looks the same.
TEST_F(AttachFaults, InAnotherNamespaceAtThePodsPathNothingIsUndone) {
  Scenario chains = routing();
  Rig rig(chains);
  ASSERT_EQ(message(rig.attach()), "");
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  ASSERT_EQ(message(rig.kernel.netns().create("pod")), "");
  rig.kernel.clear_journal();
  ASSERT_EQ(message(rig.detach()), "");
  EXPECT_THAT(rig.kernel.journal(), ElementsAre());
  EXPECT_TRUE(rig.store.attachments()->empty());
}

TEST_F(AttachFaults, TheNodesDefaultRouteStaysOnTheNode) {
  Scenario both{.machine = os::FakeMachine::lab()};
  both.machine.other_links = {"eth8"};
  both.interfaces = {wanted("net1", {R"({"type":"host-device","device":"eth8"})"})};
  Rig rig(both);
  auto port = std::move(*rig.kernel.links());
  const IfIndex eth8 = port->find(IfName{"eth8"}, os::WithVfs::kNo)->index;
  ASSERT_EQ(message(port->change(eth8, {.up = true})), "");
  Route route{.destination = Route::everywhere(IpFamily::kV6), .gateway = *IpAddress::parse("fe80::1"), .link = eth8};
  ASSERT_EQ(message(port->add_route(route)), "");  // as BGP has it, where the address is lo's
  EXPECT_EQ(
      message(rig.attach()),
      "pod default/a: interface net1 (network default/net1): eth8 (interface eth8) has the node's default route by "
      "fe80::1\n"
      "  move the node's default route to another interface first");
  ASSERT_EQ(message(port->remove_route(route)), "");
  rig.expect_nothing_left("the default route");
  route.table = 101;  // one of its own for each rail
  ASSERT_EQ(message(port->add_route(route)), "");
  EXPECT_EQ(message(rig.attach()), "");
}

// Routes through a gateway are the host's own; those of a network come back with its address, and those of others stay.
TEST_F(AttachFaults, AHostsInterfaceComesBackWithItsAddressesAndRoutes) {
  Scenario both{.machine = os::FakeMachine::lab()};
  both.machine.other_links = {"eth8", "eth9"};
  both.interfaces = {wanted("net1", {R"({"type":"host-device","device":"eth8"})"})};
  Rig rig(both);
  auto port = std::move(*rig.kernel.links());
  os::LinkPort& host = *port;
  const IfIndex eth8 = host.find(IfName{"eth8"}, os::WithVfs::kNo)->index;
  const IfIndex eth9 = host.find(IfName{"eth9"}, os::WithVfs::kNo)->index;
  for (const auto& [link, address] : {std::pair(eth8, "10.3.0.2/24"), {eth9, "10.4.0.2/24"}, {eth8, "fe80::1/64"}})
    ASSERT_EQ(message(host.add_address({link, *IpPrefix::parse(address)})), "");
  ASSERT_EQ(
      message(host.add_route(
          {.destination = *IpPrefix::parse("10.30.0.0/16"), .gateway = *IpAddress::parse("10.3.0.1"), .link = eth8})),
      "");
  ASSERT_EQ(
      message(host.add_route(
          {.destination = *IpPrefix::parse("10.40.0.0/16"), .gateway = *IpAddress::parse("10.4.0.1"), .link = eth9})),
      "");
  ASSERT_EQ(message(host.add_route({.destination = *IpPrefix::parse("10.31.0.0/16"), .link = eth8})), "");
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.clear_journal();
  ASSERT_EQ(message(rig.detach()), "");
  std::vector<std::string> added;
  for (const std::string& line : rig.kernel.journal())
    if (line.starts_with("address") || line.starts_with("route")) added.push_back(line);
  EXPECT_THAT(added, ElementsAre("address add eth8 10.3.0.2/24", "route add eth8 10.30.0.0/16 via 10.3.0.1"));
}

}  // namespace
}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// Machines with what is attached on them, for tests, and a store that dies with its process. Only included by tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "attach/attach.h"
#include "attach/test_networks.h"
#include "os/fake/kernel.h"
#include "state/store.h"

namespace railbed::attach {

inline constexpr PciAddress kPf0 = kPf;
inline constexpr PciAddress kPf1{0, 2, 0, 0};

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
  int left_ = -1;  // < 0: forever
  int writes_ = 0;
};

inline plan::PoolVf vf(PciAddress pf, int index) {
  return {.pf = pf,
          .pf_name = "pf",
          .index = VfIndex{index},
          .address = pf.plus(0x80 + 2 * static_cast<uint32_t>(index)),
          .rdma = true};
}

inline constexpr const char* kRange = R"("ipam":{"type":"whereabouts","range":"10.9.0.0/24","gateway":"10.9.0.1",
    "routes":[{"dst":"10.77.0.0/16"}]})";

// What to attach: a machine, and a pod's interfaces.
struct Scenario {
  os::FakeMachine machine;
  std::vector<InterfaceRequest> interfaces;
  bool soft_rdma = false;
  std::vector<InterfaceRequest> later;  // separate requests, after the others
};

inline Scenario sriov_lab() {
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

inline Scenario virtual_links() {
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

inline Scenario infiniband() {
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

inline Scenario vfio() {
  Scenario one{.machine = os::FakeMachine::lab()};
  one.machine.pfs[0].num_vfs = 2;
  one.machine.pfs[0].vf_driver = "vfio-pci";
  plan::PoolVf device = vf(kPf0, 1);
  device.device_type = DeviceType::kVfioPci;
  one.interfaces = {wanted("net1", {fmt::format(R"({{"type":"sriov","vlan":7,{}}})", kRange)}, device)};
  return one;
}

// Changes of existing interfaces, one request each, and both kinds of routing in a chain.
inline Scenario changes() {
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
inline Scenario routing() {
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
inline std::string machine_of(os::FakeKernel& kernel) {
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

inline Scenario scenario(const std::string& name) {
  if (name == "sriov") return sriov_lab();
  if (name == "virtual") return virtual_links();
  if (name == "infiniband") return infiniband();
  if (name == "changes") return changes();
  if (name == "routing") return routing();
  return vfio();
}

}  // namespace railbed::attach

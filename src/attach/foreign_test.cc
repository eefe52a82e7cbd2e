// SPDX-License-Identifier: Apache-2.0
// DEL of what the original plugins attached: the tests leave the machine as those do, with their files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/attach.h"
#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::HasSubstr;
using testing::Not;

class Foreign : public testing::Test {
 protected:
  explicit Foreign(os::FakeMachine machine = with_vfs()) : kernel_(machine) {
    EXPECT_EQ(message(kernel_.netns().create("pod")), "");
    pod_ = std::move(*kernel_.netns().open("/run/netns/pod"));
    inside_ = std::move(*kernel_.netns().links(*pod_));
    host_ = std::move(*kernel_.links());
    start_ = kernel_.snapshot();
  }
  static os::FakeMachine with_vfs() {
    os::FakeMachine machine = os::FakeMachine::lab();
    machine.pfs[0].num_vfs = 2;
    machine.other_links = {"eth9"};
    return machine;
  }
  IfIndex in_host(const std::string& name) { return host_->find(IfName{name}, os::WithVfs::kNo)->index; }
  IfIndex in_pod(const std::string& name) { return inside_->find(IfName{name}, os::WithVfs::kNo)->index; }
  void move_in(const std::string& name, const std::string& as, std::optional<std::string> alias = std::nullopt) {
    ASSERT_EQ(message(host_->change(in_host(name), {.name = IfName{as}, .netns = pod_.get(), .alias = alias})), "");
  }
  Result<DetachReport> detach(const char* type, const char* config = "{}", state::Store* ours = nullptr) {
    return detach_foreign(kernel_,
                          {.type = type,
                           .container_id = "c1",
                           .name = IfName{"net1"},
                           .netns_path = "/run/netns/pod",
                           .config = json(config)},
                          kernel_.clock().now() + std::chrono::seconds(10), ours);
  }
  // Sets name, VLAN and MAC of a VF like sriov-cni.
  void attach_sriov() {
    ASSERT_EQ(message(host_->change_vf(in_host("eth0"), VfIndex{1},
                                       {.mac = *MacAddress::parse("02:00:00:00:00:77"),
                                        .vlan = os::VfChange::Vlan{100, 2, os::VlanProto::k8021q},
                                        .spoof_check = false})),
              "");
    move_in("eth0v1", "net1");
    ASSERT_EQ(message(inside_->change(in_pod("net1"),
                                      {.mtu = 1400, .up = true, .mac = *MacAddress::parse("02:00:00:00:00:77")})),
              "");
    kernel_.put_file("/var/lib/cni/sriov/c1-net1", R"({"type":"sriov","deviceID":"0000:01:10.2","vlan":100,
        "spoofchk":"off","OrigVfState":{"HostIFName":"eth0v1","SpoofChk":true,"Trust":false,
        "AdminMAC":"00:00:00:00:00:00","EffectiveMAC":"02:54:00:00:01:82","Vlan":0,"VlanQoS":0,"VlanProto":33024,
        "MinTxRate":0,"MaxTxRate":0,"LinkState":0,"MTU":1500},"Master":"eth0","VFID":1})");
  }

  os::FakeKernel kernel_;
  std::unique_ptr<os::Netns> pod_;
  std::unique_ptr<os::LinkPort> inside_;
  std::unique_ptr<os::LinkPort> host_;
  std::string start_;
};

TEST_F(Foreign, AnSriovVfGetsBackWhatItHad) {
  attach_sriov();
  auto report = detach("sriov");
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->detached, 1);
  EXPECT_EQ(kernel_.snapshot(), start_);
  EXPECT_EQ(message(detach("sriov")), "");  // the file stays, with nothing left to do
  EXPECT_EQ(kernel_.snapshot(), start_);
}

TEST_F(Foreign, AnSriovVfWhoseNamespaceEndedIsMadeRightAtHome) {
  attach_sriov();
  kernel_.vanish_netns("pod");
  ASSERT_EQ(message(detach("sriov")), "");
  EXPECT_THAT(kernel_.snapshot(), HasSubstr("eth0v1 mtu 1500 down pci 0000:01:10.2 mac 02:54:00:00:01:82"));
  EXPECT_THAT(kernel_.snapshot(), Not(HasSubstr("vlan 100")));
}

TEST_F(Foreign, AKillAnywhereIsFinishedByTheNextDel) {
  attach_sriov();
  kernel_.clear_journal();
  ASSERT_EQ(message(detach("sriov")), "");
  int calls = static_cast<int>(kernel_.journal().size());
  ASSERT_GT(calls, 1);
  for (int at = 0; at <= calls; ++at) {
    Foreign::attach_sriov();
    kernel_.kill_after(at);
    (void)detach("sriov");
    kernel_.restart();
    ASSERT_EQ(message(detach("sriov")), "");
    EXPECT_EQ(kernel_.snapshot(), start_) << at;
  }
}

TEST_F(Foreign, WhatWeHaveByNowIsLeftAlone) {
  attach_sriov();
  auto store = state::memory_store();
  ASSERT_EQ(message(store->put_attachment({.pod = "a/b@c2", .interface = "net1", .device = "0000:01:10.2"})), "");
  std::string before = kernel_.snapshot();
  EXPECT_EQ(detach("sriov", "{}", store.get())->detached, 0);
  EXPECT_EQ(kernel_.snapshot(), before);
}

// An original plugin attached it to another pod, so it is neither here nor at home.
TEST_F(Foreign, AVfInAnotherNamespaceIsLeftAlone) {
  attach_sriov();
  ASSERT_EQ(message(kernel_.netns().create("other")), "");
  auto other = std::move(*kernel_.netns().open("/run/netns/other"));
  ASSERT_EQ(message(inside_->change(in_pod("net1"), {.netns = other.get()})), "");
  std::string before = kernel_.snapshot();
  EXPECT_EQ(detach("sriov")->detached, 0);
  EXPECT_EQ(kernel_.snapshot(), before);
}

TEST_F(Foreign, AHostDeviceIsFoundByItsAlias) {
  move_in("eth9", "net1", "eth9");
  EXPECT_EQ(detach("host-device")->detached, 1);
  EXPECT_EQ(in_host("eth9").value > 0, true);
  EXPECT_EQ(detach("host-device")->detached, 0);

  move_in("eth9", "net1");
  EXPECT_EQ(detach("host-device", R"({"device":"eth8"})")->detached, 1);  // in the pod the alias is enough
  move_in("eth9", "net1", "eth9");
  kernel_.vanish_netns("pod");  // at home as "net1"
  EXPECT_EQ(detach("host-device", R"({"device":"eth9"})")->detached, 1);
  EXPECT_TRUE(host_->find(IfName{"eth9"}, os::WithVfs::kNo).has_value());
}

// DEL of a container that was never seen: the host has an interface of the pod's name, with an alias, and the
// configuration is of another device, or the pod's namespace is there and empty.
TEST_F(Foreign, AnInterfaceOfTheHostIsNotTakenForThePods) {
  ASSERT_EQ(message(host_->change(in_host("eth9"), {.name = IfName{"net1"}, .alias = "uplink0"})), "");
  const std::string before = kernel_.snapshot();
  EXPECT_EQ(detach("host-device", R"({"device":"uplink0"})")->detached, 0);
  kernel_.vanish_netns("pod");
  const std::string without_pod = kernel_.snapshot();
  for (const char* config : {"{}", R"({"device":"ens9"})", R"({"pciBusID":"0000:01:10.2"})"})
    EXPECT_EQ(detach("host-device", config)->detached, 0) << config;
  EXPECT_EQ(kernel_.snapshot(), without_pod);
  EXPECT_NE(before, without_pod);  // only by the namespace that went
}

TEST_F(Foreign, TuningIsPutBack) {
  move_in("eth9", "net1");
  std::string before = kernel_.snapshot();
  ASSERT_EQ(message(inside_->change(in_pod("net1"), {.mtu = 1300, .promiscuous = true, .all_multicast = true})), "");
  EXPECT_EQ(detach("tuning")->detached, 0);  // without a file
  kernel_.put_file("/run/cni/tuning/c1_net1.json", R"({"promisc":false,"mtu":1500,"allmulti":false})");
  EXPECT_EQ(detach("tuning")->detached, 1);
  EXPECT_EQ(kernel_.snapshot(), before);
  EXPECT_THAT(message(detach("tuning", R"({"dataDir":"../x"})")), HasSubstr("must be an absolute path"));
}

TEST_F(Foreign, RulesOfTheInterfacesAddressesGo) {
  move_in("eth9", "net1");
  ASSERT_EQ(message(inside_->change(in_pod("net1"), {.up = true})), "");
  ASSERT_EQ(message(inside_->add_address({in_pod("net1"), *IpPrefix::parse("10.1.0.2/24")})), "");
  ASSERT_EQ(message(inside_->add_rule({*IpPrefix::parse("10.1.0.2/32"), 100, std::nullopt})), "");
  ASSERT_EQ(message(inside_->add_rule({*IpPrefix::parse("10.2.0.2/32"), 101, std::nullopt})), "");
  EXPECT_EQ(detach("sbr")->detached, 1);
  EXPECT_EQ(inside_->rules()->size(), 1u);
  EXPECT_EQ(detach("sbr")->detached, 0);
}

TEST_F(Foreign, AVrfGoesWithItsLastPort) {
  move_in("eth9", "net1");
  std::string before = kernel_.snapshot();
  ASSERT_EQ(message(inside_->create({.kind = "vrf", .name = IfName{"blue"}, .table = 5, .up = true})), "");
  ASSERT_EQ(message(inside_->change(in_pod("net1"), {.master = in_pod("blue")})), "");
  ASSERT_EQ(message(detach("vrf", R"({"vrfname":"blue"})")), "");
  EXPECT_EQ(kernel_.snapshot(), before);
  EXPECT_EQ(detach("vrf", R"({"vrfname":"blue"})")->detached, 0);
}

TEST_F(Foreign, NothingLeftIsSuccess) {
  for (const char* type : {"sriov", "ib-sriov", "host-device", "tuning", "rdma", "macvlan", "ipvlan", "sbr", "vrf"}) {
    auto report = detach(type);
    ASSERT_EQ(message(report), "") << type;
    EXPECT_EQ(report->detached, 0) << type;
  }
  kernel_.vanish_netns("pod");
  for (const char* type : {"sriov", "ib-sriov", "host-device", "tuning", "rdma", "macvlan", "ipvlan", "sbr", "vrf"})
    EXPECT_EQ(message(detach(type)), "") << type;
  EXPECT_EQ(kernel_.journal().size(), 1u);  // the namespace, made by this test
}

TEST_F(Foreign, ATypeThatIsNoneOfOursIsLeftToItsPlugin) {
  EXPECT_EQ(detach("bridge")->detached, 0);
  EXPECT_EQ(kernel_.snapshot(), start_);
}

class ForeignInfiniband : public Foreign {
 protected:
  ForeignInfiniband() : Foreign(machine()) {}
  static os::FakeMachine machine() {
    os::FakeMachine machine;
    machine.pfs = {os::FakePf::mlx5(kPf, "ib0", true)};
    machine.pfs[0].num_vfs = 2;
    machine.pfs[0].refused.clear();
    machine.rdma_mode = os::RdmaNetnsMode::kExclusive;
    return machine;
  }
};

// sriov-cni writes down how all settings of the VF were; those that its configuration changed are put back, no others.
TEST_F(ForeignInfiniband, OnlyTheSettingsThatTheConfigurationChangedArePutBack) {
  const IfIndex pf = in_host("ib0");
  const os::VfChange was{.vlan = os::VfChange::Vlan{7, 3, os::VlanProto::k8021ad},
                         .trust = true,
                         .link_state = os::VfLinkState::kDisable,
                         .rate = os::VfChange::Rate{100, 200}};
  ASSERT_EQ(message(host_->change_vf(pf, VfIndex{1}, was)), "");
  start_ = kernel_.snapshot();
  const char* kWas = R"("deviceID":"0000:01:00.3","Master":"ib0","VFID":1,"OrigVfState":{"HostIFName":"ib0v1",
      "Trust":true,"Vlan":7,"VlanQoS":3,"VlanProto":34984,"MinTxRate":100,"MaxTxRate":200,"LinkState":2})";
  const auto after = [&](const char* configuration, const os::VfChange& change) {
    EXPECT_EQ(message(host_->change_vf(pf, VfIndex{1}, change)), "");
    move_in("ib0v1", "net1");
    kernel_.put_file("/var/lib/cni/sriov/c1-net1", fmt::format("{{{},{}}}", configuration, kWas));
    EXPECT_EQ(message(detach("sriov")), "") << configuration;
    return kernel_.snapshot() == start_;
  };
  EXPECT_TRUE(after(R"("vlan":100)", {.vlan = os::VfChange::Vlan{100, 0, os::VlanProto::k8021q}}));
  EXPECT_TRUE(after(R"("trust":"off")", {.trust = false}));
  EXPECT_TRUE(after(R"("min_tx_rate":1)", {.rate = os::VfChange::Rate{1, 0}}));
  EXPECT_TRUE(after(R"("max_tx_rate":1)", {.rate = os::VfChange::Rate{0, 1}}));
  EXPECT_TRUE(after(R"("link_state":"enable")", {.link_state = os::VfLinkState::kEnable}));
  // Somebody else changed it while the pod ran.
  EXPECT_FALSE(after(R"("vlan":null,"trust":"")", {.trust = false}));
}

TEST_F(ForeignInfiniband, TheRdmaDeviceComesHome) {
  auto rdma = std::move(*kernel_.rdma());
  std::string name = rdma->list()->back().name;
  ASSERT_EQ(message(rdma->move(name, *pod_)), "");
  EXPECT_NE(kernel_.snapshot(), start_);
  kernel_.put_file("/var/lib/cni/rdma/rail-c1-net1",
                   fmt::format(R"({{"version":"1.0","deviceID":"0000:01:00.3","sandboxRdmaDevName":"{}",
                       "containerRdmaDevName":"{}"}})",
                               name, name));
  EXPECT_EQ(detach("rdma", R"({"name":"rail"})")->detached, 1);
  EXPECT_EQ(kernel_.snapshot(), start_);
  EXPECT_EQ(message(detach("rdma", R"({"name":"rail"})")), "");
  EXPECT_THAT(message(detach("rdma", R"({"name":"../rail"})")), HasSubstr("cannot be part of a file's name"));
}

TEST_F(ForeignInfiniband, AnIbVfComesHomeUnderItsName) {
  std::string was = host_->list(os::WithVfs::kNo)->back().name.value;
  move_in("ib0v1", "net1");
  kernel_.put_file("/var/lib/cni/ib-sriov/c1-net1", R"({"deviceID":"0000:01:00.3","HostIFNames":"ib0v1",
      "link_state":"enable","VFID":1})");
  EXPECT_EQ(detach("ib-sriov")->detached, 1);
  EXPECT_EQ(kernel_.snapshot(), start_);
}

}  // namespace
}  // namespace railbed::attach

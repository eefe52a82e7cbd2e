// SPDX-License-Identifier: Apache-2.0
// The transaction on the fake kernel: its messages to the kernel, what it rejects, and what changes while it waits.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/attach.h"
#include "attach/test_scenarios.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST_F(AttachFaults, OnlyWhatChangedIsMadeAgain) {
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

TEST_F(AttachFaults, IsRdmaWithoutADeviceIsReported) {
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

// A driver may take seconds for a VF, so that it is re-bound while others work; another process may undo what it
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
TEST_F(AttachFaults, RecoveryReportsWhatItCouldNotGiveBack) {
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

TEST_F(AttachFaults, AGoneNamespaceAndTwoEqualNamesAreReported) {
  Rig rig(lab_);
  EXPECT_EQ(message(rig.attach({lab_.interfaces[0], lab_.interfaces[0]})),
            "pod default/a: two networks of the pod request the interface name net1");
  rig.kernel.vanish_netns("pod");
  EXPECT_THAT(message(rig.attach()), HasSubstr("the pod's network namespace no longer exists; the pod may have been "
                                               "deleted"));
}

// The device of a vfio VF stays with the host, so only the namespace says that the pod's network was re-created.
TEST_F(AttachFaults, AnotherNamespaceAtThePodsPathGetsEverythingAgain) {
  Scenario device = vfio();
  Rig rig(device);
  ASSERT_EQ(message(rig.attach()), "");
  auto again = rig.attach();
  ASSERT_EQ(message(again), "");
  EXPECT_EQ(again->kept, 1);
  EXPECT_EQ(again->attached, 0);
  ASSERT_EQ(message(rig.kernel.netns().remove("pod")), "");
  ASSERT_EQ(message(rig.kernel.netns().create("pod")), "");
  auto elsewhere = rig.attach();
  ASSERT_EQ(message(elsewhere), "");
  EXPECT_EQ(elsewhere->kept, 0);
  EXPECT_EQ(elsewhere->attached, 1);
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

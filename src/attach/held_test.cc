// SPDX-License-Identifier: Apache-2.0
// What pods may still have after their DEL: interfaces in namespaces that they have made, VFs of virtual machines; and
// the reason of a sysctl that their namespace does not show.
#include "attach/held.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kHeldVf = "0000:01:10.2";
constexpr const char* kHeldVfFolder = "/sys/bus/pci/devices/0000:01:10.2";

InterfaceRequest vf_network() {
  return wanted(
      "net1", {R"({"type":"sriov","ipam":{"type":"whereabouts","range":"10.9.0.0/24"}})"},
      plan::PoolVf{.pf = kPf, .pf_name = "eth0", .index = VfIndex{1}, .address = *PciAddress::parse(kHeldVf)});
}

InterfaceRequest macvlan_network() {
  return wanted("net1", {R"({"type":"macvlan","master":"eth0","ipam":{"type":"whereabouts","range":"10.9.0.0/24"}})"});
}

class HeldTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"pod", "inner", "deep"}) ASSERT_EQ(message(kernel.netns().create(name)), "");
  }
  static os::FakeMachine lab() {
    os::FakeMachine machine = os::FakeMachine::lab();
    machine.pfs[0].num_vfs = 2;
    return machine;
  }

  os::Deadline soon() { return kernel.clock().now() + std::chrono::seconds(10); }
  std::string attach(const InterfaceRequest& one, const std::string& pod = "default/a") {
    return message(attach_with_addresses(
        kernel, *store, {.pod = pod, .netns_path = "/run/netns/pod", .interfaces = {one}, .others_stay = true},
        soon()));
  }
  DetachReport detach() {
    auto report = detach_pod(kernel, *store, "default/a", soon());
    EXPECT_EQ(message(report), "");
    return report.value_or(DetachReport{});
  }
  std::unique_ptr<os::LinkPort> inside(const std::string& netns) {
    const auto open = std::move(kernel.netns().open("/run/netns/" + netns)).value();
    return std::move(kernel.netns().links(*open)).value();
  }
  bool has(const std::string& netns, const std::string& name) {
    return inside(netns)->find(IfName{name}, os::WithVfs::kNo).has_value();
  }
  // As a process with all rights over the pod's network.
  void hide(const std::string& from, const std::string& name, const std::string& to, const std::string& as) {
    const auto port = inside(from);
    const auto target = std::move(kernel.netns().open("/run/netns/" + to)).value();
    const IfIndex index = port->find(IfName{name}, os::WithVfs::kNo)->index;
    ASSERT_EQ(message(port->change(index, {.name = IfName{as}, .netns = target.get()})), "");
  }
  void end(const std::string& netns) { ASSERT_EQ(message(kernel.netns().remove(netns)), ""); }
  bool is_held() { return store->attachments()->size() == 1 && store->all_leases()->size() == 1; }
  bool is_free() { return store->attachments()->empty() && store->all_leases()->empty(); }
  bool has_ended_now() {
    return has_ended(kernel.files(), store->attachments()->front(), kernel.netns().numbers().value());
  }

  void unbind() {
    ASSERT_EQ(message(kernel.files().write(std::string(kHeldVfFolder) + "/driver/unbind", kHeldVf)), "");
  }
  // What Kata does at a pod's start; the group that it opens.
  std::string bind_to_vfio() {
    unbind();
    EXPECT_EQ(message(kernel.processes().load_module("vfio-pci")), "");
    EXPECT_EQ(message(kernel.files().write(std::string(kHeldVfFolder) + "/driver_override", "vfio-pci")), "");
    EXPECT_EQ(message(kernel.files().write("/sys/bus/pci/drivers_probe", kHeldVf)), "");
    EXPECT_EQ(driver_name(), "vfio-pci");
    const std::string group =
        "/dev/vfio/" + *os::link_name(kernel.files(), std::string(kHeldVfFolder) + "/iommu_group");
    kernel.put_file(group, "");
    return group;
  }
  std::string driver_name() {
    return os::link_name(kernel.files(), std::string(kHeldVfFolder) + "/driver").value_or("none");
  }
  void expect_vf_at_home() {
    EXPECT_TRUE(is_free());
    EXPECT_EQ(driver_name(), "igbvf");
    EXPECT_THAT(kernel.files().read(std::string(kHeldVfFolder) + "/driver_override").value_or(""),
                StartsWith("(null)"));
    EXPECT_THAT(kernel.snapshot(), HasSubstr("eth0v1 mtu"));
  }

  os::FakeKernel kernel{lab()};
  std::unique_ptr<state::Store> store = state::memory_store();
};

// --- VFs

TEST_F(HeldTest, AVfThatComesHomeWithoutADriverGetsItAgain) {
  for (const bool namespace_ended : {false, true}) {
    SCOPED_TRACE(namespace_ended);
    ASSERT_EQ(attach(vf_network()), "");
    unbind();
    if (namespace_ended) end("pod");
    EXPECT_EQ(detach().detached, 1);
    expect_vf_at_home();
  }
}

TEST_F(HeldTest, AVfThatAMachineLeftBehindGetsItsDriverAgain) {
  ASSERT_EQ(attach(vf_network()), "");
  bind_to_vfio();
  const DetachReport report = detach();
  EXPECT_EQ(report.detached, 1);
  EXPECT_THAT(report.notes, IsEmpty());
  expect_vf_at_home();
}

TEST_F(HeldTest, AVfOfAMachineIsAnOrphanUntilItsGroupIsClosed) {
  ASSERT_EQ(attach(vf_network()), "");
  const std::string group = bind_to_vfio();
  kernel.use_file(group);
  const DetachReport report = detach();
  EXPECT_EQ(report.orphaned, 1);
  EXPECT_THAT(report.notes, ElementsAre(fmt::format(
                                "interface net1 is orphaned: {0} is open: a virtual machine may still use {1}; {1} "
                                "and its addresses stay reserved until no process has {0} open",
                                group, kHeldVf)));
  EXPECT_TRUE(is_held());
  EXPECT_EQ(driver_name(), "vfio-pci");
  EXPECT_FALSE(has_ended_now());
  EXPECT_EQ(detach().orphaned, 0);  // it is one already

  // Its namespace says nothing about the machine.
  end("pod");
  detach();
  EXPECT_TRUE(is_held());
  EXPECT_FALSE(has_ended_now());

  kernel.use_file(group, false);
  EXPECT_TRUE(has_ended_now());
  EXPECT_EQ(detach().detached, 1);
  expect_vf_at_home();
}

TEST_F(HeldTest, AVfWhoseGroupCannotBeAskedIsAnOrphan) {
  ASSERT_EQ(attach(vf_network()), "");
  kernel.use_file(bind_to_vfio());
  detach();
  ASSERT_TRUE(is_held());
  state::Attachment record = store->attachments()->front();
  Before before = before_of(record).value();
  before.vfio_group.clear();
  record.undo = undo_text(record.undo, before);
  EXPECT_EQ(orphan_reason(record).why, "it is bound to vfio, and it is unknown whether a virtual machine uses it");
  EXPECT_EQ(orphan_reason(record).until, "it is bound to another driver");
  // As its runtime does it, late.
  unbind();
  EXPECT_TRUE(has_ended_now());
}

// A DEL that fails forever would keep the pod from ending. The VF is offered to no pod without a driver.
TEST_F(HeldTest, AVfThatItsDriverDoesNotTakeIsNoReasonToFail) {
  ASSERT_EQ(attach(vf_network()), "");
  unbind();
  kernel.fail_when("drivers/igbvf/bind", EIO, -1);
  const DetachReport report = detach();
  EXPECT_EQ(report.detached, 1);
  EXPECT_TRUE(is_free());
  EXPECT_THAT(
      report.notes,
      ElementsAre(HasSubstr("0000:01:10.2 cannot be used: binding it to igbvf, which it had before the pod, failed"),
                  HasSubstr("no longer has an interface")));
  EXPECT_THAT(kernel.files().read(std::string(kHeldVfFolder) + "/driver_override").value_or(""), StartsWith("(null)"));
}

TEST_F(HeldTest, AVfInAHiddenNamespaceIsAnOrphanUntilThatEnds) {
  ASSERT_EQ(attach(vf_network()), "");
  hide("pod", "net1", "inner", "x");
  EXPECT_EQ(detach().orphaned, 1);
  EXPECT_TRUE(is_held());
  end("pod");
  EXPECT_FALSE(has_ended_now());
  end("inner");
  EXPECT_TRUE(has_ended_now());
  EXPECT_EQ(detach().detached, 1);
  expect_vf_at_home();
}

// Its device does not come back with the pod's namespace.
TEST_F(HeldTest, AVfIsAnOrphanAlsoIfThePodsNamespaceHasEndedBefore) {
  ASSERT_EQ(attach(vf_network()), "");
  hide("pod", "net1", "inner", "x");
  end("pod");
  EXPECT_EQ(detach().orphaned, 1);
  EXPECT_TRUE(is_held());
  EXPECT_FALSE(has_ended_now());
  // It is known now where it is, and a second DEL brings it home from there.
  EXPECT_EQ(detach().detached, 1);
  EXPECT_FALSE(has("inner", "x"));
  expect_vf_at_home();
}

// --- interfaces that were made, or moved from the host

TEST_F(HeldTest, AHiddenMacvlanIsAnOrphanUntilItsNamespaceEnds) {
  ASSERT_EQ(attach(macvlan_network()), "");
  hide("pod", "net1", "inner", "x");
  const DetachReport report = detach();
  EXPECT_EQ(report.detached, 0);
  EXPECT_EQ(report.orphaned, 1);
  EXPECT_THAT(report.notes, ElementsAre("interface net1 is orphaned: the pod has moved it from network namespace "
                                        "/run/netns/pod to another one; its addresses stay reserved until that "
                                        "namespace ends"));
  EXPECT_TRUE(is_held());
  end("pod");
  EXPECT_FALSE(has_ended_now());
  EXPECT_TRUE(recover(kernel, *store, soon())->failures.empty());
  end("inner");
  EXPECT_TRUE(recover(kernel, *store, soon())->failures.empty());
  EXPECT_TRUE(is_free());
}

// The pod's namespace knows the first one only, which has ended.
TEST_F(HeldTest, WhatWasMovedOnIsFound) {
  ASSERT_EQ(attach(macvlan_network()), "");
  hide("pod", "net1", "inner", "x");
  hide("inner", "x", "deep", "y");
  end("inner");
  EXPECT_EQ(detach().orphaned, 1);
  EXPECT_TRUE(is_held());
  end("deep");
  EXPECT_EQ(detach().detached, 1);
  EXPECT_TRUE(is_free());
}

// A namespace to which no process, name or descriptor leads: only the pod's knows that there is another one.
TEST_F(HeldTest, WhatIsNotFoundIsHeldAsLongAsThePodCouldHideIt) {
  ASSERT_EQ(attach(macvlan_network()), "");
  hide("pod", "net1", "inner", "x");
  kernel.hide_netns("inner");
  EXPECT_EQ(detach().orphaned, 1);
  detach();
  EXPECT_TRUE(is_held());
  kernel.end_hidden_netns();
  EXPECT_EQ(detach().detached, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(HeldTest, AMacvlanThatThePodRemovedIsNoOrphan) {
  ASSERT_EQ(attach(macvlan_network()), "");
  const auto port = inside("pod");
  ASSERT_EQ(message(port->remove(port->find(IfName{"net1"}, os::WithVfs::kNo)->index)), "");
  EXPECT_EQ(detach().detached, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(HeldTest, AMacvlanIsNoOrphanWhereWhatItLiesOnIsGone) {
  ASSERT_EQ(attach(macvlan_network()), "");
  hide("pod", "net1", "inner", "x");
  kernel.remove_link("eth0");
  EXPECT_EQ(detach().detached, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(HeldTest, WhatThePodAlsoHidIsNoReasonToKeepTheRest) {
  ASSERT_EQ(attach(macvlan_network()), "");
  ASSERT_EQ(message(inside("pod")->create({.kind = "dummy", .name = IfName{"own"}})), "");
  hide("pod", "own", "inner", "own");
  EXPECT_EQ(detach().detached, 1);
  EXPECT_FALSE(has("pod", "net1"));
  EXPECT_TRUE(is_free());
}

// A decoy in its place does not help the pod.
TEST_F(HeldTest, AHiddenVethIsAnOrphan) {
  const auto host = std::move(kernel.links()).value();
  ASSERT_EQ(message(host->create({.kind = "veth", .name = IfName{"x0"}, .peer_name = IfName{"x1"}})), "");
  ASSERT_EQ(attach(wanted("net1", {R"({"type":"host-device","device":"x0"})"})), "");
  hide("pod", "net1", "inner", "away");
  ASSERT_EQ(message(inside("pod")->create({.kind = "veth", .name = IfName{"net1"}, .peer_name = IfName{"decoy"}})), "");
  EXPECT_EQ(detach().orphaned, 1);
  EXPECT_EQ(store->attachments()->size(), 1u);
  end("inner");
  EXPECT_EQ(detach().detached, 1);
  EXPECT_TRUE(store->attachments()->empty());
  EXPECT_TRUE(has("pod", "net1"));
}

// --- sysctls

TEST_F(HeldTest, AMissingSysctlSaysWhereItIsMissing) {
  InterfaceRequest one = macvlan_network();
  doc::Value tuning = json(R"({"type":"tuning","sysctl":{"net.core.somaxconn":"300"}})");
  one.config.plugins.push_back({"tuning", tuning});
  kernel.change_owner("pod");
  ASSERT_EQ(attach(one), "");
  detach();
  kernel.hide_sysctl("net/core/somaxconn");
  EXPECT_THAT(attach(one), HasSubstr("the pod has its own user namespace (hostUsers: false), and this kernel does not "
                                     "show net/core/somaxconn in its network namespace"));
  EXPECT_TRUE(is_free());
  // The same as a change of an interface that is there.
  ASSERT_EQ(attach(macvlan_network()), "");
  EXPECT_THAT(attach(chained("net1", R"({"type":"tuning","sysctl":{"net.core.somaxconn":"300"}})")),
              HasSubstr("does not show net/core/somaxconn"));
}

TEST_F(HeldTest, ASysctlThatNoKernelHasIsNotTheUserNamespacesFault) {
  ASSERT_EQ(attach(macvlan_network()), "");
  EXPECT_THAT(attach(chained("net1", R"({"type":"tuning","sysctl":{"net.ipv4.conf.none.mtu":"1"}})")),
              HasSubstr("check that this kernel has that sysctl"));
}

}  // namespace
}  // namespace railbed::attach

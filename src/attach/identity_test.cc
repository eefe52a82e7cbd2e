// SPDX-License-Identifier: Apache-2.0
// Decoys: a pod renames what it was given, gives it another address, and puts its own in its place.
#include "attach/identity.h"

#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::HasSubstr;
using testing::Not;

const MacAddress kOther = MacAddress::parse("02:00:00:00:00:99").value();

class Decoys : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(message(kernel.netns().create("pod")), "");
    pod_netns = std::move(kernel.netns().open("/run/netns/pod")).value();
    pod = std::move(kernel.netns().links(*pod_netns)).value();
    host = std::move(kernel.links()).value();
  }

  os::Deadline soon() { return kernel.clock().now() + std::chrono::seconds(10); }
  Result<PodReport> attach(const InterfaceRequest& one) {
    PodRequest request{.pod = "default/a", .netns_path = "/run/netns/pod", .interfaces = {one}, .others_stay = true};
    return attach_with_addresses(kernel, *store, request, soon());
  }
  Result<DetachReport> detach() { return detach_pod(kernel, *store, "default/a", soon()); }
  std::string check(const std::string& record) {
    return message(check_interface(kernel, *store, "default/a", record, soon()));
  }

  static os::Link named(os::LinkPort& port, const std::string& name) {
    auto found = port.find(IfName{name}, os::WithVfs::kNo);
    EXPECT_EQ(message(found), "");
    return found.value_or(os::Link{});
  }
  static bool has(os::LinkPort& port, const std::string& name) {
    return port.find(IfName{name}, os::WithVfs::kNo).has_value();
  }

  // An interface of that kind at home, "x0".
  void make_at_home(const std::string& kind) {
    os::NewLink link{.kind = kind, .name = IfName{"x0"}};
    if (kind == "veth") link.peer_name = IfName{"x1"};
    if (kind == "macvlan" || kind == "ipvlan") link.parent = named(*host, "eth0").index;
    ASSERT_EQ(message(host->create(link)), "");
  }
  // The pod hides `net1` under another name and address, and makes one of its own that looks like it.
  void replace_by_a_decoy(const std::string& kind, uint32_t group = 0) {
    const os::Link real = named(*pod, "net1");
    ASSERT_EQ(message(pod->change(real.index, {.name = IfName{"hidden"}, .mac = kOther})), "");
    os::NewLink decoy{.kind = kind, .name = IfName{"net1"}, .mac = real.mac(), .group = group};
    if (kind == "veth") decoy.peer_name = IfName{"decoy-peer"};
    if (kind == "macvlan" || kind == "ipvlan") {
      ASSERT_EQ(message(pod->create({.kind = "dummy", .name = IfName{"below"}})), "");
      decoy.parent = named(*pod, "below").index;
    }
    ASSERT_EQ(message(pod->create(decoy)), "");
  }
  void remove_decoy() {
    for (const char* name : {"net1", "below"})
      if (has(*pod, name)) {
        ASSERT_EQ(message(pod->remove(named(*pod, name).index)), "");
      }
  }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> store = state::memory_store();
  std::unique_ptr<os::Netns> pod_netns;
  std::unique_ptr<os::LinkPort> pod;
  std::unique_ptr<os::LinkPort> host;
};

constexpr const char* kMoved = R"({"type":"host-device","device":"x0"})";

TEST_F(Decoys, AreNotBroughtHomeAndTheRealOneIs) {
  for (const char* kind : {"veth", "macvlan", "ipvlan", "dummy"}) {
    SCOPED_TRACE(kind);
    make_at_home(kind);
    const os::Link before = named(*host, "x0");
    ASSERT_EQ(message(attach(wanted("net1", {kMoved}))), "");
    replace_by_a_decoy(kind);
    EXPECT_EQ(check("net1"), "pod default/a: interface net1: interface net1 is another one");
    const os::Link decoy = named(*pod, "net1");
    EXPECT_EQ(message(detach()), "");
    EXPECT_TRUE(store->attachments()->empty());
    EXPECT_TRUE(has(*pod, "net1"));
    EXPECT_EQ(named(*pod, "net1").index, decoy.index);
    EXPECT_FALSE(has(*pod, "hidden"));
    const os::Link home = named(*host, "x0");
    EXPECT_EQ(home.hw_address, before.hw_address);
    EXPECT_EQ(home.parent, before.parent);
    remove_decoy();
    ASSERT_EQ(message(host->remove(home.index)), "");
  }
}

TEST_F(Decoys, AreNotRemovedAndWhatWasMadeIs) {
  for (const char* kind : {"macvlan", "ipvlan", "dummy"}) {
    SCOPED_TRACE(kind);
    const std::string master = std::string(kind) == "dummy"
                                   ? R"(,"ipam":{"type":"static","addresses":[{"address":"10.1.0.2/24"}]})"
                                   : R"(,"master":"eth0")";
    ASSERT_EQ(message(attach(wanted("net1", {fmt::format(R"({{"type":"{}"{}}})", kind, master)}))), "");
    replace_by_a_decoy(kind, named(*pod, "net1").group);
    EXPECT_EQ(check("net1"), "pod default/a: interface net1: interface net1 is another one");
    EXPECT_EQ(message(detach()), "");
    EXPECT_TRUE(store->attachments()->empty());
    EXPECT_TRUE(has(*pod, "net1"));
    EXPECT_FALSE(has(*pod, "hidden"));
    remove_decoy();
  }
}

// With a group of ours on a decoy, the group is not removed as a whole.
TEST_F(Decoys, InTheGroupOfThePodAreNotRemovedWithIt) {
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"macvlan","master":"eth0"})"}))), "");
  ASSERT_EQ(message(attach(wanted("net2", {R"({"type":"macvlan","master":"eth0"})"}))), "");
  replace_by_a_decoy("macvlan", named(*pod, "net1").group);
  EXPECT_EQ(message(detach()), "");
  EXPECT_TRUE(has(*pod, "net1"));
  EXPECT_FALSE(has(*pod, "hidden"));
  EXPECT_FALSE(has(*pod, "net2"));
}

// A port of the host's bridge, as the original bridge plugin makes it, with a change behind it.
TEST_F(Decoys, AreNotSetBackAndTheRealOneIs) {
  ASSERT_EQ(message(host->create(
                {.kind = "veth", .name = IfName{"net1"}, .netns = pod_netns.get(), .peer_name = IfName{"br-port"}})),
            "");
  ASSERT_EQ(message(attach(chained("net1", R"({"type":"tuning","mtu":1400,"promisc":true})"))), "");
  replace_by_a_decoy("veth");
  ASSERT_EQ(message(pod->change(named(*pod, "net1").index, {.mtu = 1400, .promiscuous = true})), "");
  EXPECT_EQ(check("net1/tuning"), "pod default/a: interface net1/tuning: interface net1 is another one");
  EXPECT_EQ(message(detach()), "");
  EXPECT_EQ(named(*pod, "net1").mtu, 1400);
  EXPECT_TRUE(named(*pod, "net1").promiscuous);
  EXPECT_EQ(named(*pod, "hidden").mtu, 1500);
  EXPECT_FALSE(named(*pod, "hidden").promiscuous);
}

TEST_F(Decoys, ARecordOfAnEarlierVersionIsStillGivenBack) {
  for (const char* kind : {"veth", "macvlan", "dummy"}) {
    SCOPED_TRACE(kind);
    make_at_home(kind);
    ASSERT_EQ(message(attach(wanted("net1", {kMoved}))), "");
    state::Attachment record = store->attachments()->front();
    for (const char* member : {R"re("inPod":\{[^}]*\},?)re", R"re("parentIndex":[0-9]+,?)re"})
      record.undo = std::regex_replace(record.undo, std::regex(member), "");
    ASSERT_THAT(record.undo, Not(HasSubstr("inPod")));
    ASSERT_EQ(message(store->put_attachment(record)), "");
    EXPECT_EQ(check("net1"), "");
    EXPECT_EQ(message(detach()), "");
    ASSERT_EQ(message(host->remove(named(*host, "x0").index)), "");
  }
}

TEST(Identity, HardwareIsItsDevice) {
  os::Link link{.index = IfIndex{7}, .name = IfName{"net1"}, .hw_address = {2, 0, 0, 0, 0, 1}};
  link.permanent_address = {2, 0, 0, 0, 0, 1};
  link.parent_bus = "pci";
  link.parent_device = "0000:3c:00.0";
  const Before vf{.device = PciAddress::parse("0000:3c:00.0").value()};
  const Before by_name{.index = 7, .parent = "pci/devices/0000:3c:00.0", .permanent_address = link.permanent_address};
  for (const Before& before : {vf, by_name}) {
    os::Link other = link;
    other.index = IfIndex{9};
    other.hw_address.back() = 2;
    EXPECT_TRUE(is_same_link(other, before, "net1"));
    EXPECT_TRUE(is_that_at_home(other, before, "net1"));
    other.parent_device = "0000:3c:00.1";
    EXPECT_FALSE(is_same_link(other, before, "net1"));
    EXPECT_FALSE(is_that_at_home(other, before, "net1"));
  }
  // The other port of a device that has two.
  os::Link second = link;
  second.index = IfIndex{8};
  second.hw_address.back() = second.permanent_address.back() = 3;
  EXPECT_FALSE(is_that_at_home(second, by_name, "net1"));
}

}  // namespace
}  // namespace railbed::attach

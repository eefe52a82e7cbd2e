// SPDX-License-Identifier: Apache-2.0
// Routers' advertisements are off where the network assigns the addresses, before the interface is up, and stay as they
// are elsewhere.
#include "attach/advertisements.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kIpam = R"("ipam":{"type":"static","addresses":[{"address":"10.1.0.2/24"}]})";

TEST(WithoutAdvertisements, IsForAssignedAddressesAndATuningWins) {
  InterfaceSpec spec{.interface = "net1"};
  EXPECT_THAT(without_advertisements(spec), IsEmpty());
  spec.addresses_are_assigned = true;
  EXPECT_THAT(without_advertisements(spec),
              ElementsAre(Pair("net/ipv6/conf/net1/accept_ra", "0"), Pair("net/ipv6/conf/net1/autoconf", "0")));
  spec.sysctls = {{"net/ipv6/conf/net1/accept_ra", "2"}, {"net/ipv6/conf/all/autoconf", "1"}};
  EXPECT_THAT(without_advertisements(spec), ElementsAre(Pair("net/ipv6/conf/net1/autoconf", "0")));
  EXPECT_TRUE(names_advertisements(spec.sysctls, "net1"));
  EXPECT_FALSE(names_advertisements(spec.sysctls, "net10"));
}

TEST(WithoutAdvertisements, Ipv6BeginsAtItsLeastMtu) {
  EXPECT_TRUE(begins_ipv6(1279, 1280));
  EXPECT_FALSE(begins_ipv6(1280, 1500));
  EXPECT_FALSE(begins_ipv6(1000, 1279));
  EXPECT_FALSE(begins_ipv6(1000, std::nullopt));
}

class AdvertisementsTest : public testing::Test {
 protected:
  explicit AdvertisementsTest(const os::FakeMachine& machine = lab()) : kernel_(machine) {
    EXPECT_EQ(message(kernel_.netns().create("pod")), "");
    pod_ = std::move(*kernel_.netns().open("/run/netns/pod"));
    inside_ = std::move(*kernel_.netns().links(*pod_));
    host_ = std::move(*kernel_.links());
    kernel_.clear_journal();
  }
  static os::FakeMachine lab() {
    os::FakeMachine machine = os::FakeMachine::lab();
    machine.pfs[0].num_vfs = 1;
    machine.other_links = {"eth8", "eth9"};
    return machine;
  }
  os::Deadline soon() { return kernel_.clock().now() + std::chrono::seconds(10); }
  std::string attach(InterfaceRequest one) {
    return message(attach_with_addresses(
        kernel_, *store_,
        {.pod = "a/b@c1", .netns_path = "/run/netns/pod", .interfaces = {std::move(one)}, .others_stay = true},
        soon()));
  }
  std::string check() { return message(check_interface(kernel_, *store_, "a/b@c1", "net1", soon())); }
  std::string setting(const std::string& key, const std::string& interface = "net1") {
    return kernel_.netns().sysctl(*pod_, fmt::format("net/ipv6/conf/{}/{}", interface, key)).value_or("none");
  }
  void set(const std::string& key, const std::string& value) {
    ASSERT_EQ(message(kernel_.netns().set_sysctl(*pod_, "net/ipv6/conf/net1/" + key, value)), "");
  }
  void advertise() {
    kernel_.advertise("pod", "net1", *IpPrefix::parse("2001:db8::5/64"), *IpAddress::parse("fe80::1"));
  }
  bool was_written_before_up() {
    const std::vector<std::string> lines = kernel_.journal();
    const auto line = [&](const std::string& text) { return std::ranges::find(lines, text); };
    return line("sysctl net/ipv6/conf/net1/accept_ra 0 in /run/netns/pod") < line("link net1 up (inside pod)");
  }

  os::FakeKernel kernel_;
  std::unique_ptr<state::Store> store_ = state::memory_store();
  std::unique_ptr<os::Netns> pod_;
  std::unique_ptr<os::LinkPort> inside_;
  std::unique_ptr<os::LinkPort> host_;
};

TEST_F(AdvertisementsTest, AreOffOnWhatIsMovedAndOnWhatIsMade) {
  const plan::PoolVf vf{.pf = kPf, .pf_name = "eth0", .index = VfIndex{0}, .address = kPf.plus(0x80), .rdma = true};
  const InterfaceRequest wants[] = {
      wanted("net1", {fmt::format(R"({{"type":"sriov",{}}})", kIpam)}, vf),
      wanted("net1", {fmt::format(R"({{"type":"host-device","device":"eth9",{}}})", kIpam)}),
      wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth8",{}}})", kIpam)}),
      wanted("net1", {fmt::format(R"({{"type":"ipvlan","master":"eth8",{}}})", kIpam)}),
      wanted("net1", {fmt::format(R"({{"type":"dummy",{}}})", kIpam)}),
  };
  for (const InterfaceRequest& one : wants) {
    SCOPED_TRACE(one.config.plugins.front().type);
    kernel_.clear_journal();
    ASSERT_EQ(attach(one), "");
    EXPECT_TRUE(was_written_before_up());
    EXPECT_EQ(setting("accept_ra"), "0");
    EXPECT_EQ(setting("autoconf"), "0");
    advertise();
    EXPECT_THAT(inside_->advertised()->addresses, IsEmpty());
    EXPECT_THAT(inside_->advertised()->routes, IsEmpty());
    EXPECT_EQ(check(), "");
    ASSERT_EQ(message(detach_pod(kernel_, *store_, "a/b@c1", soon())), "");
  }
}

// A server gives the addresses only once the interface is up.
TEST_F(AdvertisementsTest, AreOffBeforeALeaseIsAskedFor) {
  InterfaceRequest one = wanted("net1", {R"({"type":"macvlan","master":"eth8"})"});
  one.addresses_later = true;
  ASSERT_EQ(attach(one), "");
  EXPECT_TRUE(was_written_before_up());
  EXPECT_EQ(setting("accept_ra"), "0");
}

TEST_F(AdvertisementsTest, StayOnWhereTheNetworkAssignsNoAddresses) {
  for (const char* plugin :
       {R"({"type":"macvlan","master":"eth8"})", R"({"type":"macvlan","master":"eth8","ipam":{}})"}) {
    ASSERT_EQ(attach(wanted("net1", {plugin})), "");
    EXPECT_EQ(setting("accept_ra"), "1");
    EXPECT_EQ(setting("autoconf"), "1");
    advertise();
    EXPECT_EQ(inside_->advertised()->addresses.size(), 1u);
    EXPECT_EQ(check(), "");
    ASSERT_EQ(message(detach_pod(kernel_, *store_, "a/b@c1", soon())), "");
  }
}

TEST_F(AdvertisementsTest, ATuningThatNamesThemWins) {
  constexpr const char* kTuning =
      R"({"type":"tuning","sysctl":{"net.ipv6.conf.IFNAME.accept_ra":"2","net/ipv6/conf/IFNAME/autoconf":"1"}})";
  ASSERT_EQ(attach(wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth8",{}}})", kIpam), kTuning})), "");
  EXPECT_EQ(setting("accept_ra"), "2");
  EXPECT_EQ(setting("autoconf"), "1");
  advertise();
  EXPECT_EQ(check(), "");
  ASSERT_EQ(message(detach_pod(kernel_, *store_, "a/b@c1", soon())), "");
  // As a request of its own it comes later.
  ASSERT_EQ(attach(wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth8",{}}})", kIpam)})), "");
  EXPECT_EQ(setting("accept_ra"), "0");
  ASSERT_EQ(attach(chained("net1", kTuning)), "");
  EXPECT_EQ(setting("accept_ra"), "2");
  advertise();
  EXPECT_EQ(check(), "");
}

TEST_F(AdvertisementsTest, CheckReportsWhatCameFromARouter) {
  ASSERT_EQ(attach(wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth8",{}}})", kIpam)})), "");
  set("accept_ra", "1");
  advertise();
  EXPECT_EQ(check(),
            "pod a/b@c1: interface net1: it has a default route from a router advertisement, although its network "
            "assigns its addresses\n  a program in the pod has set net.ipv6.conf.net1.accept_ra; set it to 0 there and "
            "remove what was learned, or let a tuning plugin in the network set it");
  set("autoconf", "1");
  advertise();
  EXPECT_THAT(check(), testing::HasSubstr("it has address 2001:db8::5/64 from a router advertisement, although"));
}

// IPv6 begins with its defaults when the MTU reaches 1280.
TEST_F(AdvertisementsTest, AreOffWhereATuningMakesTheMtuLargeEnough) {
  ASSERT_EQ(message(host_->change(host_->find(IfName{"eth9"}, os::WithVfs::kNo)->index, {.mtu = 1200})), "");
  constexpr const char* kTuning = R"({"type":"tuning","mtu":1500})";
  const std::string plugin = fmt::format(R"({{"type":"host-device","device":"eth9",{}}})", kIpam);
  ASSERT_EQ(attach(wanted("net1", {plugin, kTuning})), "");
  EXPECT_TRUE(was_written_before_up());
  EXPECT_EQ(setting("accept_ra"), "0");
  ASSERT_EQ(message(detach_pod(kernel_, *store_, "a/b@c1", soon())), "");

  ASSERT_EQ(attach(wanted("net1", {plugin})), "");
  EXPECT_EQ(setting("accept_ra"), "none");
  InterfaceRequest change = chained("net1", kTuning);
  change.previous = cni::AddResult{};
  change.previous->addresses = {{*IpPrefix::parse("10.1.0.2/24"), std::nullopt, std::nullopt}};
  ASSERT_EQ(attach(change), "");
  EXPECT_EQ(setting("accept_ra"), "0");
  EXPECT_EQ(setting("autoconf"), "0");
}

class NoIpv6Test : public AdvertisementsTest {
 protected:
  NoIpv6Test() : AdvertisementsTest(machine()) {}
  static os::FakeMachine machine() {
    os::FakeMachine machine = lab();
    machine.ipv6 = false;
    return machine;
  }
};

TEST_F(NoIpv6Test, IsNoReasonToFail) {
  ASSERT_EQ(attach(wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth8",{}}})", kIpam)})), "");
  EXPECT_EQ(check(), "");
}

TEST_F(AdvertisementsTest, ARefusedSettingUndoesTheInterface) {
  kernel_.fail_when("sysctl net/ipv6/conf/net1/accept_ra 0", EACCES);
  EXPECT_EQ(
      attach(wanted("net1", {fmt::format(R"({{"type":"macvlan","master":"eth8",{}}})", kIpam)})),
      "pod a/b@c1: interface net1 (network default/net1): write \"0\" to /proc/sys/net/ipv6/conf/net1/accept_ra in "
      "/run/netns/pod: EACCES (Permission denied)");
  EXPECT_TRUE(store_->attachments()->empty());
}

}  // namespace
}  // namespace railbed::attach

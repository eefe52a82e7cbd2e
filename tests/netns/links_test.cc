// SPDX-License-Identifier: Apache-2.0
// The contracts of LinkPort and NetnsPort on the real kernel.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/mount.h>

#include "os/real/find_netns.h"
#include "scratch.h"

namespace railbed::os {
namespace {

// The message of a failed call; empty after success.
template <typename T>
std::string message(const Result<T>& result) {
  return result ? "" : result.error().message;
}
template <typename T>
Code code(const Result<T>& result) {
  return result ? Code::kInternal : result.error().code;
}

class LinksTest : public ContractTest {};
class NetnsTest : public ContractTest {};
class RealLinksTest : public ScratchTest {};
class RealNetnsTest : public ScratchTest {};

std::string kernel_name(const testing::TestParamInfo<On>& info) {
  return info.param == On::kReal ? "Real" : "Fake";
}
INSTANTIATE_TEST_SUITE_P(Kernels, LinksTest, testing::Values(On::kReal, On::kFake), kernel_name);
INSTANTIATE_TEST_SUITE_P(Kernels, NetnsTest, testing::Values(On::kReal, On::kFake), kernel_name);

TEST_P(LinksTest, VethPairSpansNamespaces) {
  NewLink pair{.kind = "veth", .name = IfName{"inside"}, .netns = pod_.get()};
  pair.mtu = 1400;
  pair.mac = MacAddress::parse("02:00:00:00:00:07").value();
  pair.peer_name = IfName{"outside"};
  ASSERT_EQ(message(host_->create(pair)), "");
  EXPECT_FALSE(has(*host_, "inside"));
  Link inside = link(*inside_, "inside");
  Link outside = link(*host_, "outside");
  EXPECT_EQ(inside.kind, "veth");
  EXPECT_EQ(inside.mtu, 1400);
  EXPECT_EQ(outside.mtu, 1400);
  EXPECT_EQ(inside.mac().value().to_string(), "02:00:00:00:00:07");
  EXPECT_EQ(inside.parent, outside.index);
  EXPECT_TRUE(inside.parent_elsewhere);
  EXPECT_FALSE(inside.up);
}

TEST_P(LinksTest, OneMessageMovesAndRenames) {
  make_veth("v0", "v1");
  Link before = link(*host_, "v0");
  ASSERT_EQ(message(host_->change(before.index, {.name = IfName{"net1"}, .netns = pod_.get()})), "");
  EXPECT_FALSE(has(*host_, "v0"));
  EXPECT_FALSE(has(*inside_, "v0"));
  Link after = link(*inside_, "net1");
  EXPECT_EQ(after.hw_address, before.hw_address);
  ASSERT_EQ(message(inside_->change(after.index, {.up = true})), "");
  EXPECT_TRUE(link(*inside_, "net1").up);
}

// Even when the interface is up, and with further changes in the same LinkChange.
TEST_P(LinksTest, MoveCanCarryTheOtherChanges) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, {.up = true})), "");
  LinkChange change{.name = IfName{"net1"}, .netns = pod_.get(), .mtu = 1300, .up = true};
  change.mac = MacAddress::parse("02:00:00:00:00:09").value();
  change.alias = "railbed: v0";
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, change)), "");
  Link after = link(*inside_, "net1");
  EXPECT_EQ(after.mtu, 1300);
  EXPECT_TRUE(after.up);
  EXPECT_EQ(after.alias, "railbed: v0");
  EXPECT_EQ(after.mac().value().to_string(), "02:00:00:00:00:09");
}

TEST_P(LinksTest, CarriesStepsOutInTheirOrder) {
  size_t at = 0;
  ASSERT_EQ(message(host_->carry_out({NewLink{.kind = "bridge", .name = IfName{"a"}, .netns = pod_.get()},
                                      NewLink{.kind = "bridge", .name = IfName{"b"}, .netns = pod_.get()}},
                                     at)),
            "");
  const IfIndex a = link(*inside_, "a").index;
  const IpPrefix address = IpPrefix::parse("10.9.0.1/24").value();
  ASSERT_EQ(message(inside_->carry_out({LinkSetting{a, {.arp_notify = true}}, LinkAddress{a, address},
                                        LinkSetting{a, {.mtu = 1300, .up = true}},
                                        Route{.destination = IpPrefix::parse("10.8.0.0/24").value(),
                                              .gateway = IpAddress::parse("10.9.0.2").value(),
                                              .link = a}},
                                       at)),
            "");
  EXPECT_EQ(kernel_->netns().sysctl(*pod_, "net/ipv4/conf/a/arp_notify"), "1");
  EXPECT_EQ(kernel_->netns().sysctl(*pod_, "net/ipv4/conf/b/arp_notify"), "0");
  EXPECT_TRUE(link(*inside_, "a").up);
  EXPECT_EQ(link(*inside_, "a").mtu, 1300);
  EXPECT_EQ(std::ranges::count(*inside_->addresses(), LinkAddress{a, address}), 1);
  EXPECT_EQ(std::ranges::count(*inside_->routes(), IpPrefix::parse("10.8.0.0/24").value(), &Route::destination), 1);
  EXPECT_EQ(message(inside_->carry_out({}, at)), "");
}

TEST_P(LinksTest, OfSeveralStepsTheFirstThatFailsIsReportedAndTheNextAreCarriedOut) {
  size_t at = 0;
  const auto bridge = [&](const char* name) {
    return NewLink{.kind = "bridge", .name = IfName{name}, .netns = pod_.get()};
  };
  auto made = host_->carry_out({bridge("a"), bridge("b"), bridge("a"), bridge("c"), bridge("b")}, at);
  EXPECT_EQ(message(made), "RTM_NEWLINK a type bridge in /run/netns/pod: EEXIST (File exists)");
  EXPECT_EQ(code(made), Code::kConflict);
  EXPECT_EQ(at, 2U);
  EXPECT_TRUE(has(*inside_, "c"));
  const IfIndex a = link(*inside_, "a").index;
  const LinkAddress address{a, IpPrefix::parse("10.9.0.1/24").value()};
  EXPECT_EQ(code(inside_->carry_out({address, address}, at)), Code::kConflict);
  EXPECT_EQ(at, 1U);
  // The socket is in step again.
  EXPECT_EQ(std::ranges::count(*inside_->addresses(), address), 1);
}

// Both when a list() has identified the interface and when move() must ask for it.
TEST_P(LinksTest, NameClashInTheTargetChangesNothing) {
  make_veth("v0", "v1");
  NewLink there{.kind = "bridge", .name = IfName{"net1"}, .netns = pod_.get()};
  ASSERT_EQ(message(host_->create(there)), "");
  for (bool listed : {true, false}) {
    IfIndex index = link(*host_, "v0").index;
    if (listed) {
      ASSERT_TRUE(host_->list(WithVfs::kNo).has_value());
    }
    auto moved = host_->change(index, {.name = IfName{"net1"}, .netns = pod_.get()});
    EXPECT_EQ(code(moved), Code::kConflict);
    EXPECT_EQ(message(moved), "RTM_NEWLINK v0 to /run/netns/pod as net1: EEXIST (File exists)");
    EXPECT_EQ(moved.error().hint, "");
    EXPECT_EQ(host_->find(IfName{"v0"}, WithVfs::kNo)->kind, "veth");
    EXPECT_EQ(code(inside_->find(IfName{"v0"}, WithVfs::kNo)), Code::kNotFound);
    EXPECT_EQ(inside_->find(IfName{"net1"}, WithVfs::kNo)->kind, "bridge");
  }
}

TEST_P(LinksTest, ANameClashAfterARenameChangesNothing) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->create({.kind = "bridge", .name = IfName{"net1"}, .netns = pod_.get()})), "");
  const IfIndex index = link(*host_, "v0").index;
  ASSERT_EQ(message(host_->change(index, {.name = IfName{"v2"}})), "");
  const auto moved = host_->change(index, {.name = IfName{"net1"}, .netns = pod_.get()});
  EXPECT_EQ(message(moved), "RTM_NEWLINK v2 to /run/netns/pod as net1: EEXIST (File exists)");
  EXPECT_EQ(moved.error().hint, "");
  EXPECT_EQ(link(*host_, "v2").kind, "veth");
}

TEST_P(LinksTest, MovingOneThatHasGoneSinceItWasListedSaysSo) {
  make_veth("v0", "v1");
  IfIndex index = link(*host_, "v0").index;
  ASSERT_TRUE(host_->list(WithVfs::kNo).has_value());
  ASSERT_EQ(message(host_->remove(index)), "");
  auto moved = host_->change(index, {.name = IfName{"net1"}, .netns = pod_.get()});
  EXPECT_EQ(code(moved), Code::kNotFound);
  EXPECT_EQ(moved.error().hint, "");
}

TEST_P(LinksTest, ANameThatIsTakenOnBothSidesChangesNothing) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->create({.kind = "bridge", .name = IfName{"v0"}, .netns = pod_.get()})), "");
  auto index = link(*host_, "v0").index;
  EXPECT_EQ(code(host_->change(index, {.netns = pod_.get()})), Code::kConflict);
  EXPECT_EQ(link(*host_, "v0").kind, "veth");
  ASSERT_EQ(message(host_->change(index, {.name = IfName{"net1"}, .netns = pod_.get()})), "");
  EXPECT_EQ(link(*inside_, "net1").kind, "veth");
  EXPECT_EQ(link(*inside_, "v0").kind, "bridge");
}

TEST_P(LinksTest, ErrorsNameTheInterfaceAndTheKernelsReason) {
  make_veth("v0", "v1");
  auto v0 = link(*host_, "v0").index;
  EXPECT_EQ(message(host_->change(v0, {.mtu = 10})),
            "RTM_NEWLINK v0 mtu 10: EINVAL (Invalid argument): mtu less than device minimum");
  EXPECT_EQ(message(host_->change(v0, {.name = IfName{"v1"}})), "RTM_NEWLINK v0 name v1: EEXIST (File exists)");
  EXPECT_EQ(message(host_->change(IfIndex{4711}, {.up = true})),
            "RTM_NEWLINK interface 4711 up: ENODEV (No such device)");
  EXPECT_EQ(code(host_->change(IfIndex{4711}, {.up = true})), Code::kNotFound);
  EXPECT_EQ(message(host_->find(IfName{"none"}, WithVfs::kNo)), "RTM_GETLINK none: ENODEV (No such device)");
  EXPECT_EQ(message(host_->find(IfIndex{4711}, WithVfs::kYes)), "RTM_GETLINK interface 4711: ENODEV (No such device)");
  EXPECT_EQ(code(host_->remove(IfIndex{4711})), Code::kNotFound);
  NewLink again{.kind = "bridge", .name = IfName{"v0"}};
  EXPECT_EQ(message(host_->create(again)), "RTM_NEWLINK v0 type bridge: EEXIST (File exists)");
  NewLink unknown{.kind = "nosuchkind", .name = IfName{"x0"}};
  EXPECT_EQ(message(host_->create(unknown)),
            "RTM_NEWLINK x0 type nosuchkind: EOPNOTSUPP (Operation not supported): Unknown device type");
  VfChange mac{.mac = MacAddress::parse("02:00:00:00:00:01").value()};
  mac.trust = true;
  EXPECT_EQ(message(host_->change_vf(v0, VfIndex{0}, mac)),
            "RTM_SETLINK v0 vf 0 mac 02:00:00:00:00:01: EOPNOTSUPP (Operation not supported)");
  EXPECT_EQ(message(host_->remove_group(0, {})), "RTM_DELLINK group 0: that is every interface without a group");
}

// Removals end before the kernel has freed what was removed: names must be free at once, and the port of use.
TEST_P(LinksTest, WhatIsRemovedIsGoneAtOnceAndItsNameFree) {
  make_veth("v0", "v1");
  auto parent = link(*host_, "v0").index;
  for (int round = 0; round < 20; ++round) {
    std::vector<IfIndex> members;
    for (int i = 0; i < 4; ++i) {
      NewLink made{.kind = "macvlan", .name = IfName{fmt::format("net{}", i)}, .netns = pod_.get(), .parent = parent};
      made.mac = MacAddress::parse(fmt::format("02:00:00:00:00:0{}", i)).value();  // as the last round's
      made.group = 77;
      ASSERT_EQ(message(host_->create(made)), "") << round;
      members.push_back(link(*inside_, made.name.value).index);
    }
    ASSERT_EQ(message(inside_->remove(members.front())), "") << round;
    EXPECT_EQ(code(inside_->find(members.front(), WithVfs::kNo)), Code::kNotFound);
    EXPECT_EQ(code(inside_->remove(members.front())), Code::kNotFound);
    ASSERT_EQ(message(inside_->remove_group(77, {members.begin() + 1, members.end()})), "") << round;
    for (const Link& left : inside_->list(WithVfs::kNo).value()) EXPECT_NE(left.kind, "macvlan") << round;
  }
}

// As many as have threads, and more.
TEST_F(RealLinksTest, ManyRemoveAtOnce) {
  make_veth("v0", "v1");
  auto parent = link(*host_, "v0").index;
  constexpr int kPods = 40;
  std::vector<std::unique_ptr<Netns>> pods;
  for (int i = 0; i < kPods; ++i) {
    const std::string name = fmt::format("pod{}", i);
    ASSERT_EQ(message(kernel_->netns().create(name)), "");
    pods.push_back(kernel_->netns().open("/run/netns/" + name).value());
    NewLink made{.kind = "macvlan", .name = IfName{"net1"}, .netns = pods.back().get(), .parent = parent};
    ASSERT_EQ(message(host_->create(made)), "");
  }
  std::vector<std::string> reported(kPods);
  {
    std::vector<std::jthread> removers;
    for (int i = 0; i < kPods; ++i)
      removers.emplace_back([&, i] {
        auto port = kernel_->netns().links(*pods[i]).value();
        reported[i] = message(port->remove(port->find(IfName{"net1"}, WithVfs::kNo).value().index));
        if (has(*port, "net1")) reported[i] += "it is still there";
      });
  }
  EXPECT_EQ(reported, std::vector<std::string>(kPods));
}

TEST_P(LinksTest, MacvlansAppearInThePodAndGoAsAGroup) {
  make_veth("v0", "v1");
  auto parent = link(*host_, "v0").index;
  for (int i = 0; i < 3; ++i) {
    NewLink macvlan{.kind = "macvlan", .name = IfName{fmt::format("net{}", i)}, .netns = pod_.get(), .parent = parent};
    macvlan.group = 77;
    macvlan.mtu = 1280;
    ASSERT_EQ(message(host_->create(macvlan)), "");
  }
  EXPECT_FALSE(has(*host_, "net0"));
  Link net0 = link(*inside_, "net0");
  EXPECT_EQ(net0.kind, "macvlan");
  EXPECT_EQ(net0.group, 77U);
  EXPECT_EQ(net0.mtu, 1280);
  EXPECT_TRUE(net0.parent_elsewhere);
  std::vector<IfIndex> members;
  for (int i = 0; i < 3; ++i) members.push_back(link(*inside_, fmt::format("net{}", i)).index);
  ASSERT_EQ(message(inside_->remove_group(77, members)), "");
  EXPECT_FALSE(has(*inside_, "net0"));
  EXPECT_FALSE(has(*inside_, "net2"));
  EXPECT_EQ(message(inside_->remove_group(77, members)), "RTM_DELLINK group 77: ENODEV (No such device)");
}

TEST_P(LinksTest, IpvlanAppearsInThePod) {
  make_veth("v0", "v1");
  NewLink ipvlan{.kind = "ipvlan", .name = IfName{"net1"}, .netns = pod_.get(), .parent = link(*host_, "v0").index};
  ipvlan.ipvlan_mode = IpvlanMode::kL3s;
  auto made = host_->create(ipvlan);
  if (!made && made.error().code == Code::kUnsupported) GTEST_SKIP() << "this kernel has no ipvlan: " << message(made);
  ASSERT_EQ(message(made), "");
  EXPECT_EQ(link(*inside_, "net1").kind, "ipvlan");
}

TEST_P(LinksTest, DummyAppearsInThePod) {
  auto made = host_->create({.kind = "dummy", .name = IfName{"d0"}, .netns = pod_.get()});
  if (!made && made.error().code == Code::kUnsupported) GTEST_SKIP() << "this kernel has no dummy: " << message(made);
  ASSERT_EQ(message(made), "");
  EXPECT_EQ(link(*inside_, "d0").kind, "dummy");
}

TEST_F(RealLinksTest, FindsByAlternativeName) {
  make_veth("v0", "v1");
  if (std::system("ip link property add dev v0 altname enp1s0f0v3 2>/dev/null") != 0)
    GTEST_SKIP() << "needs `ip link property`";
  Link found = link(*host_, "enp1s0f0v3");
  EXPECT_EQ(found.name.value, "v0");
  EXPECT_EQ(found.alt_names, std::vector<std::string>{"enp1s0f0v3"});
}

TEST_P(LinksTest, ListsAllAndReportsTheCarrier) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, {.up = true})), "");
  EXPECT_FALSE(link(*host_, "v0").lower_up);
  ASSERT_EQ(message(host_->change(link(*host_, "v1").index, {.up = true})), "");
  EXPECT_TRUE(link(*host_, "v0").lower_up);
  EXPECT_EQ(link(*host_, "v0").oper_state, "up");
  std::vector<std::string> names;
  auto links = host_->list(WithVfs::kYes).value();
  for (const Link& each : links) names.push_back(each.name.value);
  EXPECT_NE(std::ranges::find(names, "v1"), names.end());
  EXPECT_NE(std::ranges::find(names, "lo"), names.end());
}

TEST_P(LinksTest, DumpsManyInterfaces) {
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(message(inside_->create({.kind = "bridge", .name = IfName{fmt::format("br{}", i)}})), "");
  EXPECT_EQ(inside_->list(WithVfs::kYes)->size(), 301U);
}

TEST_P(LinksTest, Addresses) {
  make_veth("v0", "v1");
  auto v0 = link(*host_, "v0").index;
  LinkAddress v4{v0, IpPrefix::parse("10.7.0.5/24").value()};
  LinkAddress v6{v0, IpPrefix::parse("fd00:7::5/64").value()};
  ASSERT_EQ(message(host_->add_address(v4)), "");
  ASSERT_EQ(message(host_->add_address(v6)), "");
  auto all = host_->addresses().value();
  EXPECT_EQ(std::ranges::count(all, v4), 1);
  EXPECT_EQ(std::ranges::count(all, v6), 1);
  EXPECT_EQ(code(host_->add_address(v4)), Code::kConflict);
  EXPECT_EQ(message(host_->add_address(v4)).find("RTM_NEWADDR v0 10.7.0.5/24: EEXIST (File exists)"), 0U)
      << message(host_->add_address(v4));
  ASSERT_EQ(message(host_->remove_address(v4)), "");
  EXPECT_EQ(code(host_->remove_address(v4)), Code::kNotFound);
}

TEST_P(LinksTest, Routes) {
  make_veth("v0", "v1");
  auto v0 = link(*host_, "v0").index;
  ASSERT_EQ(message(host_->change(link(*host_, "v1").index, {.up = true})), "");
  ASSERT_EQ(message(host_->change(v0, {.up = true})), "");
  ASSERT_EQ(message(host_->add_address({v0, IpPrefix::parse("10.7.0.5/24").value()})), "");
  Route normal{.destination = IpPrefix::parse("192.0.2.0/24").value(), .link = v0};
  normal.gateway = IpAddress::parse("10.7.0.1").value();
  normal.metric = 50;
  normal.mtu = 1300;
  normal.advmss = 1200;
  ASSERT_EQ(message(host_->add_route(normal)), "");
  Route fallback{.gateway = IpAddress::parse("10.7.0.1").value(), .link = v0};
  ASSERT_EQ(message(host_->add_route(fallback)), "");
  Route six{.destination = IpPrefix::parse("fd00:9::/64").value(), .link = v0};
  ASSERT_EQ(message(host_->add_route(six)), "");

  auto routes = host_->routes().value();
  auto same = [](const Route& wanted) {
    return [&wanted](const Route& route) {
      return route.destination == wanted.destination && route.gateway == wanted.gateway && route.link == wanted.link &&
             (!wanted.mtu || route.mtu == wanted.mtu) && (!wanted.advmss || route.advmss == wanted.advmss) &&
             (!wanted.metric || route.metric == wanted.metric);
    };
  };
  EXPECT_EQ(std::ranges::count_if(routes, same(normal)), 1);
  EXPECT_EQ(std::ranges::count_if(routes, same(fallback)), 1);
  EXPECT_EQ(std::ranges::count_if(routes, same(six)), 1);

  EXPECT_EQ(code(host_->add_route(normal)), Code::kConflict);
  EXPECT_EQ(message(host_->add_route(normal)),
            "RTM_NEWROUTE v0 192.0.2.0/24 via 10.7.0.1 metric 50: EEXIST (File exists)");
  Route nowhere{.destination = IpPrefix::parse("198.51.100.0/24").value(), .link = v0};
  nowhere.gateway = IpAddress::parse("172.16.0.1").value();
  EXPECT_EQ(message(host_->add_route(nowhere)),
            "RTM_NEWROUTE v0 198.51.100.0/24 via 172.16.0.1: ENETUNREACH (Network is unreachable): "
            "Nexthop has invalid gateway");
  ASSERT_EQ(message(host_->remove_route(normal)), "");
  EXPECT_EQ(code(host_->remove_route(normal)), Code::kNotFound);
  ASSERT_EQ(message(host_->remove_route(six)), "");
}

TEST_P(NetnsTest, CreatesNamesAndRemoves) {
  EXPECT_EQ(kernel_->netns().names(), std::vector<std::string>{"pod"});
  EXPECT_TRUE(link(*inside_, "lo").up);
  auto again = kernel_->netns().create("pod");
  EXPECT_EQ(message(again), "create network namespace /run/netns/pod: EEXIST (File exists)");
  EXPECT_EQ(code(again), Code::kConflict);
  EXPECT_EQ(message(kernel_->netns().create("a/b")),
            "\"a/b\" cannot name a network namespace: 1 to 255 bytes without '/'");
  EXPECT_EQ(message(kernel_->netns().remove("none")),
            "remove network namespace /run/netns/none: ENOENT (No such file or directory)");
  ASSERT_TRUE(kernel_->netns().remove("pod").has_value());
  EXPECT_EQ(kernel_->netns().names(), std::vector<std::string>{});
  EXPECT_EQ(message(kernel_->netns().open("/run/netns/pod")),
            "open network namespace /run/netns/pod: ENOENT (No such file or directory)");
}

TEST_F(RealNetnsTest, AFileThatIsNoNamespaceIsReplaced) {
  std::ofstream("/run/netns/left") << "";  // as left by a process that died between open and mount
  EXPECT_EQ(message(kernel_->netns().open("/run/netns/left")),
            "open network namespace /run/netns/left: this is not a network namespace (any more)");
  EXPECT_EQ(kernel_->netns().names(), std::vector<std::string>{"pod"});
  EXPECT_EQ(message(kernel_->netns().create("left")), "");
  EXPECT_TRUE(kernel_->netns().open("/run/netns/left").has_value());
}

TEST_F(RealNetnsTest, ProcessesInOtherMountNamespacesSeeIt) {
  EXPECT_EQ(std::system("ip netns exec pod ip link show lo >/dev/null"), 0);
}

TEST_P(NetnsTest, TheInterfacesOfAVanishedNamespaceAreGone) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, {.netns = pod_.get()})), "");
  inside_.reset();
  pod_.reset();
  ASSERT_TRUE(kernel_->netns().remove("pod").has_value());
  // The kernel frees a namespace some time later, and the veth in it removes its peer, too.
  std::unique_ptr<UeventStream> events = kernel_->uevents().open().value();
  auto deadline = kernel_->clock().now() + std::chrono::seconds(90);
  while (has(*host_, "v1") && events->next(deadline)) {
  }
  EXPECT_FALSE(has(*host_, "v1"));
}

TEST_P(NetnsTest, AnIdentityIsOfOneNamespaceUnderAnyName) {
  NetnsPort& port = kernel_->netns();
  ASSERT_EQ(message(port.create("other")), "");
  const auto other = port.open("/run/netns/other").value();
  const NetnsIdentity pod = port.identity(*pod_).value();
  EXPECT_EQ(port.identity(*port.open("/run/netns/pod").value()).value(), pod);
  EXPECT_NE(port.identity(*other).value(), pod);
  EXPECT_NE(port.identity(*port.open_own().value()).value(), pod);
  EXPECT_EQ(inside_->namespace_number().value().number, pod.number);
  EXPECT_TRUE(port.leads_to("/run/netns/pod", *pod_).value());
  EXPECT_FALSE(port.leads_to("/run/netns/other", *pod_).value());
  EXPECT_FALSE(port.leads_to("/run/netns/none", *pod_).value());
}

// What proves the end of a namespace: its number goes with its last holder, and not with its name.
TEST_P(NetnsTest, ANumberGoesWhenTheNamespaceEnds) {
  NetnsPort& port = kernel_->netns();
  EXPECT_EQ(port.number_if_any(*pod_).value(), std::nullopt);
  const Nsid number = port.number(*pod_).value();
  EXPECT_EQ(port.number(*pod_).value(), number);
  EXPECT_EQ(port.number_if_any(*pod_).value(), number);
  EXPECT_TRUE(port.numbers().value().contains(number));
  ASSERT_EQ(message(port.remove("pod")), "");
  inside_.reset();
  EXPECT_TRUE(port.numbers().value().contains(number));
  pod_.reset();
  const auto deadline = kernel_->clock().now() + std::chrono::seconds(90);
  while (port.numbers().value().contains(number) && kernel_->clock().now() < deadline)
    kernel_->clock().wait_until(kernel_->clock().now() + std::chrono::milliseconds(10));
  EXPECT_FALSE(port.numbers().value().contains(number));
}

TEST_P(NetnsTest, WhatIsHeldIsOpenedWhereverItsPathLeads) {
  NetnsPort& port = kernel_->netns();
  const NetnsIdentity pod = port.identity(*pod_).value();
  auto held = port.hold(port.open("/run/netns/pod").value()).value();
  ASSERT_EQ(message(port.remove("pod")), "");
  ASSERT_EQ(message(port.create("pod")), "");
  EXPECT_EQ(port.identity(*port.open("/run/netns/pod").value()).value(), pod);
  EXPECT_FALSE(port.leads_to("/run/netns/pod", *pod_).value());
  EXPECT_EQ(port.hold(port.open("/run/netns/pod").value()).value(), held);
  held.reset();
  EXPECT_NE(port.identity(*port.open("/run/netns/pod").value()).value(), pod);
  held = port.hold(port.open("/run/netns/pod").value()).value();
  EXPECT_FALSE(port.is_own("/run/netns/pod").value());
}

// Where a look through the machine finds the namespace; empty: nowhere.
std::string place_of(NetnsPort& port, const NetnsIdentity& wanted) {
  std::string where;
  const auto look = [&](std::unique_ptr<Netns> netns, const NetnsIdentity& who) -> Result<bool> {
    if (who == wanted) where = netns->path();
    return where.empty();
  };
  EXPECT_EQ(message(port.visit({}, look)), "");
  return where;
}

TEST_P(NetnsTest, IsFoundAtItsNameAndWithoutOne) {
  NetnsPort& port = kernel_->netns();
  const NetnsIdentity pod = port.identity(*pod_).value();
  EXPECT_EQ(place_of(port, pod), "/run/netns/pod");
  ASSERT_EQ(message(port.remove("pod")), "");
  EXPECT_TRUE(place_of(port, pod).starts_with("/proc/")) << place_of(port, pod);  // this process has a descriptor of it
}

// Held by a mount that only another mount namespace has, as CRI-O's, and by no process.
TEST_F(RealNetnsTest, IsFoundWhereOnlyAnotherMountNamespaceHasIt) {
  NetnsPort& port = kernel_->netns();
  const NetnsIdentity pod = port.identity(*pod_).value();
  ASSERT_EQ(std::system("mkdir -p /run/kept && mount -t tmpfs none /run/kept && touch /run/kept/p && "
                        "{ unshare --mount --propagation private sh -c 'mount --bind /run/netns/pod /run/kept/p && "
                        "touch /run/kept/ready && sleep 60' & } && "
                        "for i in $(seq 500); do [ -e /run/kept/ready ] && exit 0; sleep 0.01; done; exit 1"),
            0);
  ASSERT_EQ(message(port.remove("pod")), "");
  inside_.reset();
  pod_.reset();
  const std::string where = place_of(port, pod);
  EXPECT_TRUE(where.ends_with("/root/run/kept/p")) << where;
  (void)std::system("pkill -f '^sleep 60$'; umount /run/kept");
}

// The lines of mountinfo: proc_pid_mountinfo(5).
TEST(FindNetns, ReadsMountsOfNamespaces) {
  EXPECT_EQ(nsfs_mount_in("36 35 0:4 net:[4026532177] /run/netns/a rw shared:9 - nsfs nsfs rw"), "/run/netns/a");
  EXPECT_EQ(nsfs_mount_in("36 35 0:4 net:[4026532177] /run/a\\040b\\134 rw - nsfs nsfs rw"), "/run/a b\\");
  EXPECT_EQ(nsfs_mount_in("36 35 0:4 mnt:[4026532177] /run/m rw shared:9 - nsfs nsfs rw"), "");
  EXPECT_EQ(nsfs_mount_in("36 35 8:1 / / rw - ext4 /dev/sda1 rw"), "");
  EXPECT_EQ(nsfs_mount_in("36 35 0:4 net:[1]"), "");
  EXPECT_EQ(nsfs_mount_in(""), "");
}

TEST_P(NetnsTest, Sysctl) {
  ASSERT_EQ(message(kernel_->netns().set_sysctl(*pod_, "net/ipv4/conf/lo/arp_notify", "1")), "");
  if (real()) {
    EXPECT_EQ(std::system("ip netns exec pod grep -q 1 /proc/sys/net/ipv4/conf/lo/arp_notify"), 0);
    EXPECT_EQ(read_line(kernel_->files(), "/proc/sys/net/ipv4/conf/lo/arp_notify"), "0");
  }
  EXPECT_EQ(message(kernel_->netns().set_sysctl(*pod_, "net/ipv4/conf/none/arp_notify", "1")),
            "write \"1\" to /proc/sys/net/ipv4/conf/none/arp_notify in /run/netns/pod: ENOENT "
            "(No such file or directory)");
  EXPECT_EQ(message(kernel_->netns().set_sysctl(*pod_, "kernel/hostname", "x")),
            "sysctl kernel/hostname: only keys below net/ belong to a network namespace");
}

}  // namespace
}  // namespace railbed::os

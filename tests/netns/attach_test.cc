// SPDX-License-Identifier: Apache-2.0
// Attaching and detaching veth, macvlan and ipvlan interfaces on the real kernel, and on the fake one, which the tests
// of failures and kills in src/attach rely on.
#include "attach/attach.h"

#include <algorithm>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/namespaces.h"
#include "attach/test_networks.h"
#include "scratch.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AttachTest : public ContractTest {
 protected:
  os::Deadline soon() { return kernel_->clock().now() + std::chrono::seconds(60); }
  Result<PodReport> attach(std::vector<InterfaceRequest> interfaces) {
    return attach_with_addresses(
        *kernel_, *store_, {.pod = "default/a", .netns_path = "/run/netns/pod", .interfaces = std::move(interfaces)},
        soon());
  }
  std::vector<std::string> addresses_of(const std::string& name) {
    std::vector<std::string> texts;
    IfIndex index = link(*inside_, name).index;
    auto all = inside_->addresses();
    for (const os::LinkAddress& one : *all)
      if (one.link == index && !one.prefix.to_string().starts_with("fe80")) texts.push_back(one.prefix.to_string());
    std::ranges::sort(texts);
    return texts;
  }
  // Everything of the host that attaching may change.
  std::string host_state() {
    std::string text;
    auto links = host_->list(os::WithVfs::kNo);
    for (const os::Link& one : *links)
      text += fmt::format("{} {} mtu {} {} {}\n", one.index, one.name, one.mtu, one.up ? "up" : "down",
                          fmt::join(one.hw_address, ":"));
    auto addresses = host_->addresses();
    for (const os::LinkAddress& one : *addresses)
      if (!one.prefix.to_string().starts_with("fe80")) text += fmt::format("{} {}\n", one.link, one.prefix);
    auto routes = host_->routes();
    for (const Route& one : *routes)
      if (one.gateway.has_value()) text += fmt::format("via {}\n", *one.gateway);
    return text;
  }
  std::unique_ptr<state::Store> store_ = state::memory_store();
};

INSTANTIATE_TEST_SUITE_P(Kernels, AttachTest, testing::Values(On::kReal, On::kFake),
                         [](const auto& param) { return param.param == On::kReal ? "real" : "fake"; });

constexpr const char* kRange =
    R"("ipam":{"type":"whereabouts","range":"10.9.0.0/24","gateway":"10.9.0.1","routes":[{"dst":"10.77.0.0/16"}]})";

TEST_P(AttachTest, MovesAHostDeviceAndGivesItBack) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->change(link(*host_, "v1").index, {.up = true})), "");
  std::string before = host_state();
  auto report = attach({wanted("net1", {fmt::format(R"({{"type":"host-device","device":"v0",{}}})", kRange),
                                        R"({"type":"tuning","mtu":1400,"mac":"02:00:00:00:00:77",
                                            "sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1"}})"})});
  ASSERT_EQ(message(report), "");
  EXPECT_FALSE(has(*host_, "v0"));
  os::Link net1 = link(*inside_, "net1");
  EXPECT_TRUE(net1.up);
  EXPECT_EQ(net1.mtu, 1400);
  EXPECT_EQ(net1.mac()->to_string(), "02:00:00:00:00:77");
  EXPECT_THAT(addresses_of("net1"), ElementsAre("10.9.0.2/24"));
  auto routes = inside_->routes();
  EXPECT_TRUE(std::ranges::any_of(*routes, [](const Route& route) {
    return route.destination == *IpPrefix::parse("10.77.0.0/16") && route.gateway == *IpAddress::parse("10.9.0.1");
  }));
  const InterfaceResult& result = report->interfaces.at(0);
  EXPECT_EQ(to_json(result),
            fmt::format(R"({{"interface":"net1","network":"default/net1","type":"host-device",)"
                        R"("mac":"02:00:00:00:00:77","mtu":1400,"addresses":["10.9.0.2/24"],)"
                        R"("gateway":"10.9.0.1","routes":[{{"dst":"10.77.0.0/16","gw":"10.9.0.1","link":{}}}],)"
                        R"("hostName":"v0"}})",
                        net1.index));
  EXPECT_EQ(*result_from_json(to_json(result)), result);
  EXPECT_EQ(store_->all_leases()->size(), 1u);

  auto detached = detach_pod(*kernel_, *store_, "default/a", soon());
  ASSERT_EQ(message(detached), "");
  EXPECT_EQ(detached->detached, 1);
  EXPECT_THAT(detached->notes, ElementsAre());
  EXPECT_EQ(host_state(), before);
  EXPECT_TRUE(store_->attachments()->empty());
  EXPECT_TRUE(store_->all_leases()->empty());
}

TEST_P(AttachTest, PutsBackTheHostsOwnAddressesAndRoutes) {
  make_veth("v0", "v1");
  for (const char* name : {"v0", "v1"}) ASSERT_EQ(message(host_->change(link(*host_, name).index, {.up = true})), "");
  IfIndex v0 = link(*host_, "v0").index;
  ASSERT_EQ(message(host_->add_address({v0, *IpPrefix::parse("192.0.2.1/24")})), "");
  ASSERT_EQ(message(host_->add_address({v0, *IpPrefix::parse("2001:db8::1/64")})), "");
  ASSERT_EQ(
      message(host_->add_route(
          {.destination = *IpPrefix::parse("198.51.100.0/24"), .gateway = *IpAddress::parse("192.0.2.9"), .link = v0})),
      "");
  std::string before = host_state();
  ASSERT_EQ(message(attach({wanted("net1", {R"({"type":"host-device","device":"v0"})"})})), "");
  EXPECT_THAT(addresses_of("net1"), ElementsAre());
  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_EQ(host_state(), before);
}

// What is refused is left as it was, down to its routes.
TEST_P(AttachTest, LeavesTheNodesDefaultRouteOnTheNode) {
  make_veth("v0", "v1");
  for (const char* name : {"v0", "v1"}) ASSERT_EQ(message(host_->change(link(*host_, name).index, {.up = true})), "");
  const IfIndex v0 = link(*host_, "v0").index;
  ASSERT_EQ(message(host_->add_address({v0, *IpPrefix::parse("192.0.2.1/24")})), "");
  Route route = Route::default_by(*IpAddress::parse("192.0.2.9"));
  route.link = v0;
  ASSERT_EQ(message(host_->add_route(route)), "");
  const std::string before = host_state();
  EXPECT_THAT(message(attach({wanted("net1", {R"({"type":"host-device","device":"v0"})"})})),
              HasSubstr("v0 (interface v0) has the node's default route by 192.0.2.9"));
  EXPECT_EQ(host_state(), before);
  EXPECT_TRUE(store_->attachments()->empty());
}

TEST_P(AttachTest, GivesNoPodTheMacOfAnother) {
  make_veth("v0", "v1");
  InterfaceRequest one = wanted("net1", {R"({"type":"macvlan","master":"v0"})"});
  one.selection.mac = api::given(*MacAddress::parse("02:00:00:00:00:77"));
  ASSERT_EQ(message(attach({one})), "");
  ASSERT_EQ(message(kernel_->netns().create("other")), "");
  const auto second = [&] {
    return message(attach_with_addresses(
        *kernel_, *store_, {.pod = "default/b", .netns_path = "/run/netns/other", .interfaces = {one}}, soon()));
  };
  EXPECT_THAT(second(), HasSubstr("the pod requests MAC 02:00:00:00:00:77, which interface net1 of pod default/a has"));
  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_EQ(second(), "") << "no pod has it any more";
  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/b", soon())), "");
  (void)kernel_->netns().remove("other");
}

TEST_P(AttachTest, MakesMacvlansInThePodAndRemovesThemTogether) {
  make_veth("v0", "v1");
  std::vector<InterfaceRequest> three;
  for (int i = 1; i <= 3; ++i)
    three.push_back(wanted(fmt::format("net{}", i), {fmt::format(R"({{"type":"macvlan","master":"v0","mtu":1300,
        "ipam":{{"type":"host-local","ranges":[[{{"subnet":"10.{0}.0.0/24"}}],[{{"subnet":"fd0{0}::/64"}}]]}}}})",
                                                                 i)}));
  auto report = attach(three);
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->attached, 3);
  for (int i = 1; i <= 3; ++i) {
    os::Link one = link(*inside_, fmt::format("net{}", i));
    EXPECT_EQ(one.kind, "macvlan");
    EXPECT_TRUE(one.up);
    EXPECT_EQ(one.mtu, 1300);
    EXPECT_THAT(addresses_of(one.name.value),
                ElementsAre(HasSubstr(fmt::format("10.{}.0.", i)), HasSubstr(fmt::format("fd0{}::", i))));
  }
  auto again = attach(three);
  EXPECT_EQ(again->kept, 3);
  EXPECT_EQ(again->attached, 0);
  EXPECT_EQ(again->interfaces, report->interfaces);

  // When one network changes, only its interface is made again.
  IfIndex first = link(*inside_, "net1").index;
  IfIndex second = link(*inside_, "net2").index;
  three[1] = wanted("net2", {R"({"type":"macvlan","master":"v0"})"});
  three.pop_back();
  auto changed = attach(three);
  ASSERT_EQ(message(changed), "");
  EXPECT_EQ(changed->kept, 1);
  EXPECT_EQ(changed->attached, 1);
  EXPECT_EQ(changed->detached, 2);
  EXPECT_EQ(link(*inside_, "net1").index, first);
  EXPECT_NE(link(*inside_, "net2").index, second);
  EXPECT_FALSE(has(*inside_, "net3"));

  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_FALSE(has(*inside_, "net1"));
  EXPECT_FALSE(has(*inside_, "net2"));
}

// It leads nowhere, so that it needs no host; a second ADD finds it, and DEL leaves nothing.
TEST_P(AttachTest, MakesADummy) {
  const auto one = wanted("net1", {R"({"type":"dummy","ipam":{"type":"static","addresses":[{"address":"10.33.0.2/32"},
      {"address":"fd33::2/128"}]}})"});
  auto report = attach({one});
  if (!report.has_value() && report.error().code == Code::kUnsupported)
    GTEST_SKIP() << "this kernel has no dummy: " << message(report);
  ASSERT_EQ(message(report), "");
  const os::Link made = link(*inside_, "net1");
  EXPECT_EQ(made.kind, "dummy");
  EXPECT_TRUE(made.up);
  EXPECT_EQ(report->interfaces.at(0).addresses.size(), 2u);
  EXPECT_FALSE(report->interfaces.at(0).mac.empty());
  auto again = attach({one});
  ASSERT_EQ(message(again), "");
  EXPECT_EQ(again->kept, 1);
  EXPECT_EQ(link(*inside_, "net1").index, made.index);
  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_FALSE(has(*inside_, "net1"));
}

TEST_P(AttachTest, MakesAnIpvlan) {
  make_veth("v0", "v1");
  auto report = attach({wanted("net1", {R"({"type":"ipvlan","master":"v0","mode":"l3",
      "ipam":{"type":"static","addresses":[{"address":"10.3.0.7/24"}],"routes":[{"dst":"0.0.0.0/0"}]}})"})});
  if (!report.has_value() && report.error().code == Code::kUnsupported) GTEST_SKIP() << message(report);
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(link(*inside_, "net1").kind, "ipvlan");
  EXPECT_THAT(addresses_of("net1"), ElementsAre("10.3.0.7/24"));
  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_FALSE(has(*inside_, "net1"));
}

TEST_P(AttachTest, MakesIpv6AddressesUsableAtOnce) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->change(link(*host_, "v1").index, {.up = true})), "");
  ASSERT_EQ(message(attach({wanted("net1", {R"({"type":"host-device","device":"v0",
      "ipam":{"type":"static","addresses":[{"address":"fd09::2/64","gateway":"fd09::1"}],
              "routes":[{"dst":"::/0"}]}})"})})),
            "");
  EXPECT_THAT(addresses_of("net1"), ElementsAre("fd09::2/64"));
  if (!real()) return;
  // A socket can bind to the address at once: duplicate address detection does not delay it.
  int error = -1;
  std::thread([&] {
    if (::setns(pod_->fd(), CLONE_NEWNET) != 0) return;
    int fd = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 local{};
    local.sin6_family = AF_INET6;
    ::inet_pton(AF_INET6, "fd09::2", &local.sin6_addr);
    error = ::bind(fd, reinterpret_cast<sockaddr*>(&local), sizeof local) == 0 ? 0 : errno;
    ::close(fd);
  }).join();
  EXPECT_EQ(error, 0) << errno_name(error);
}

TEST_P(AttachTest, AttachesAllOrNothing) {
  make_veth("v0", "v1");
  make_veth("w0", "w1");
  std::string before = host_state();
  auto report = attach({wanted("net1", {R"({"type":"host-device","device":"v0"})"}),
                        wanted("net2", {R"({"type":"macvlan","master":"w1"})"}),
                        wanted("net3", {R"({"type":"host-device","device":"w0","ipam":{"type":"static",
                            "addresses":[{"address":"10.0.0.2/24"}],
                            "routes":[{"dst":"10.5.0.0/16","gw":"172.16.0.1"}]}})"})});
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(message(report), HasSubstr("pod default/a: interface net3 (network default/net3): RTM_NEWROUTE"));
  EXPECT_THAT(message(report), HasSubstr("check that gateway 172.16.0.1 is in a subnet of this interface"));
  EXPECT_EQ(host_state(), before);
  EXPECT_EQ(inside_->list(os::WithVfs::kNo)->size(), 1u);
  EXPECT_TRUE(store_->attachments()->empty());
  EXPECT_TRUE(store_->all_leases()->empty());
}

TEST_P(AttachTest, LeavesAnInterfaceOfThePodAlone) {
  make_veth("v0", "v1");
  make_veth("w0", "w1");
  ASSERT_EQ(message(host_->change(link(*host_, "w0").index, {.name = IfName{"net1"}, .netns = pod_.get()})), "");
  std::string before = host_state();
  for (const char* config : {R"({"type":"host-device","device":"v0"})", R"({"type":"macvlan","master":"v0"})"}) {
    auto report = attach({wanted("net1", {config})});
    ASSERT_FALSE(report.has_value());
    EXPECT_THAT(message(report), HasSubstr("the pod already has an interface net1"));
    EXPECT_EQ(host_state(), before);
    EXPECT_EQ(link(*inside_, "net1").kind, "veth");
  }
}

TEST_P(AttachTest, FindsAnotherNameWhenItsOwnIsTaken) {
  make_veth("v0", "v1");
  MacAddress mac = *link(*host_, "v0").mac();
  ASSERT_EQ(message(attach({wanted("net1", {R"({"type":"host-device","device":"v0"})"})})), "");
  make_veth("v0", "w1");
  auto detached = detach_pod(*kernel_, *store_, "default/a", soon());
  ASSERT_EQ(message(detached), "");
  EXPECT_THAT(detached->notes, ElementsAre("interface net1: v0 was returned as v0_1, because another interface is "
                                           "named v0 now"));
  EXPECT_EQ(link(*host_, "v0_1").mac(), mac);
}

// What a pod can do to its interfaces: another name, another address, and one of its own in their place.
TEST_P(AttachTest, ADecoyIsNotBroughtHomeAndTheVethIs) {
  make_veth("up0", "up1");
  const std::string before = host_state();
  ASSERT_EQ(message(attach({wanted("net1", {R"({"type":"host-device","device":"up0"})"})})), "");
  const os::Link real = link(*inside_, "net1");
  const MacAddress other = MacAddress::parse("02:00:00:00:00:99").value();
  ASSERT_EQ(message(inside_->change(real.index, {.up = false})), "");
  ASSERT_EQ(message(inside_->change(real.index, {.name = IfName{"hidden"}, .mac = other})), "");
  ASSERT_EQ(message(inside_->create(
                {.kind = "veth", .name = IfName{"net1"}, .mac = real.mac(), .peer_name = IfName{"decoy-peer"}})),
            "");
  EXPECT_EQ(message(check_interface(*kernel_, *store_, "default/a", "net1", soon())),
            "pod default/a: interface net1: interface net1 is another one");
  EXPECT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_EQ(host_state(), before);
  EXPECT_TRUE(has(*inside_, "net1"));
  EXPECT_FALSE(has(*inside_, "hidden"));
}

TEST_P(AttachTest, ADecoyIsNotRemovedAndTheMacvlanIs) {
  make_veth("up0", "up1");
  auto report = attach({wanted("net1", {R"({"type":"macvlan","master":"up0"})"})});
  if (!report.has_value() && report.error().code == Code::kUnsupported) GTEST_SKIP() << message(report);
  ASSERT_EQ(message(report), "");
  const os::Link real = link(*inside_, "net1");
  ASSERT_EQ(message(inside_->change(real.index, {.up = false})), "");
  ASSERT_EQ(message(inside_->change(real.index, {.name = IfName{"hidden"}})), "");
  ASSERT_EQ(message(inside_->create({.kind = "veth", .name = IfName{"below"}, .peer_name = IfName{"below-peer"}})), "");
  ASSERT_EQ(message(inside_->create({.kind = "macvlan",
                                     .name = IfName{"net1"},
                                     .parent = link(*inside_, "below").index,
                                     .mac = real.mac(),
                                     .group = real.group})),
            "");
  EXPECT_EQ(message(detach_pod(*kernel_, *store_, "default/a", soon())), "");
  EXPECT_TRUE(has(*inside_, "net1"));
  EXPECT_FALSE(has(*inside_, "hidden"));
}

TEST_P(AttachTest, CopesWithANamespaceThatIsGone) {
  make_veth("v0", "v1");
  ASSERT_EQ(message(attach({wanted("net1", {R"({"type":"host-device","device":"v0"})"}),
                            wanted("net2", {R"({"type":"macvlan","master":"v1"})"})})),
            "");
  inside_.reset();
  pod_.reset();
  ASSERT_EQ(message(kernel_->netns().remove("pod")), "");
  wait_for_end(netns_ref_of(store_->attachments()->front()).nsid);
  auto recovered = recover(*kernel_, *store_, soon());
  ASSERT_EQ(message(recovered), "");
  EXPECT_THAT(recovered->finished, testing::UnorderedElementsAre("default/a net1", "default/a net2"));
  EXPECT_THAT(recovered->notes, ElementsAre("pod default/a, interface net1: v0 (veth) was removed with the pod's "
                                            "network namespace"));
  EXPECT_TRUE(store_->attachments()->empty());
  auto report = attach({wanted("net1", {R"({"type":"macvlan","master":"lo"})"})});
  EXPECT_THAT(message(report), HasSubstr("the pod's network namespace no longer exists"));
}

}  // namespace
}  // namespace railbed::attach

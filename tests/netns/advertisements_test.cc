// SPDX-License-Identifier: Apache-2.0
// Routers' advertisements on the real kernel: where its settings begin again, and that a rail with assigned addresses
// takes nothing from a router, which a rail without them does.
#include <algorithm>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/test_networks.h"
#include "scratch.h"

namespace railbed::attach {
namespace {

class RealAdvertisementsTest : public ScratchTest {
 protected:
  os::Deadline soon() { return kernel_->clock().now() + std::chrono::seconds(60); }
  Result<PodReport> attach(std::vector<InterfaceRequest> interfaces) {
    return attach_with_addresses(*kernel_, *store_,
                                 {.pod = "default/a@c1",
                                  .netns_path = "/run/netns/pod",
                                  .interfaces = std::move(interfaces),
                                  .others_stay = true},
                                 soon());
  }
  std::string setting(const std::string& interface, const std::string& key) {
    return kernel_->netns().sysctl(*pod_, fmt::format("net/ipv6/conf/{}/{}", interface, key)).value_or("none");
  }
  void set_here(const std::string& key, const std::string& value) {
    const auto own = kernel_->netns().open_own();
    ASSERT_EQ(message(kernel_->netns().set_sysctl(**own, key, value)), "");
  }
  // An interface of the "host" that can send as a router at once.
  void make_router(const std::string& rail, const std::string& router) {
    make_veth(rail, router);
    set_here(fmt::format("net/ipv6/conf/{}/accept_dad", router), "0");
    ASSERT_EQ(message(host_->change(link(*host_, router).index, {.up = true})), "");
  }
  size_t advertised_on(const std::string& interface) {
    const auto now = inside_->advertised();
    EXPECT_EQ(message(now), "");
    const IfIndex index = link(*inside_, interface).index;
    return static_cast<size_t>(std::ranges::count(now->addresses, index, &os::LinkAddress::link) +
                               std::ranges::count(now->routes, index, &Route::link));
  }
  std::unique_ptr<state::Store> store_ = state::memory_store();
};

// RFC 4861, 4.2 and 4.6.2: a router with the prefix 2001:db8:7::/64 for addresses.
struct Advertisement {
  nd_router_advert head{};
  nd_opt_prefix_info prefix{};
};

// Returns an errno.
int send_advertisement(const std::string& interface) {
  Advertisement packet;
  packet.head.nd_ra_type = ND_ROUTER_ADVERT;
  packet.head.nd_ra_router_lifetime = htons(1800);
  packet.prefix.nd_opt_pi_type = ND_OPT_PREFIX_INFORMATION;
  packet.prefix.nd_opt_pi_len = 4;
  packet.prefix.nd_opt_pi_prefix_len = 64;
  packet.prefix.nd_opt_pi_flags_reserved = ND_OPT_PI_FLAG_ONLINK | ND_OPT_PI_FLAG_AUTO;
  packet.prefix.nd_opt_pi_valid_time = htonl(3600);
  packet.prefix.nd_opt_pi_preferred_time = htonl(3600);
  ::inet_pton(AF_INET6, "2001:db8:7::", &packet.prefix.nd_opt_pi_prefix);
  const int fd = ::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
  if (fd < 0) return errno;
  const int hops = 255;
  const auto index = static_cast<int>(::if_nametoindex(interface.c_str()));
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_scope_id = static_cast<uint32_t>(index);
  ::inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
  int failure = 0;
  if (::setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops) != 0 ||
      ::setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index) != 0 ||
      ::sendto(fd, &packet, sizeof packet, 0, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0)
    failure = errno;
  ::close(fd);
  return failure;
}

TEST_F(RealAdvertisementsTest, SettingsBeginAgainWithAMoveAndWithIpv6) {
  make_veth("v0", "v1");
  if (setting("lo", "accept_ra") == "none") GTEST_SKIP() << "this kernel has no IPv6";
  for (const char* key : {"accept_ra", "autoconf"}) set_here(fmt::format("net/ipv6/conf/v0/{}", key), "0");
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, {.name = IfName{"net1"}, .netns = pod_.get()})), "");
  EXPECT_EQ(setting("net1", "accept_ra"), "1");
  EXPECT_EQ(setting("net1", "autoconf"), "1");
  ASSERT_EQ(message(kernel_->netns().set_sysctl(*pod_, "net/ipv6/conf/net1/accept_ra", "0")), "");
  const IfIndex net1 = link(*inside_, "net1").index;
  ASSERT_EQ(message(inside_->change(net1, {.mtu = 1279})), "");
  EXPECT_EQ(setting("net1", "accept_ra"), "none");
  ASSERT_EQ(message(inside_->change(net1, {.mtu = 1280})), "");
  EXPECT_EQ(setting("net1", "accept_ra"), "1");
}

TEST_F(RealAdvertisementsTest, NothingArrivesOnARailWithAssignedAddresses) {
  if (setting("lo", "accept_ra") == "none") GTEST_SKIP() << "this kernel has no IPv6";
  make_router("v0", "v1");
  make_router("w0", "w1");
  auto report = attach({wanted("net1", {R"({"type":"host-device","device":"v0","ipam":{"type":"static",
                            "addresses":[{"address":"10.1.0.2/24"}]}})"}),
                        wanted("net2", {R"({"type":"host-device","device":"w0"})"})});
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(setting("net1", "accept_ra"), "0");
  EXPECT_EQ(setting("net1", "autoconf"), "0");
  EXPECT_EQ(setting("net2", "accept_ra"), "1");
  // Each advertisement reaches net1 first; that net2 has taken one shows that they are valid.
  const os::Deadline deadline = soon();
  while (advertised_on("net2") < 2 && kernel_->clock().now() < deadline) {
    (void)send_advertisement("v1");
    (void)send_advertisement("w1");
    kernel_->clock().wait_until(kernel_->clock().now() + std::chrono::milliseconds(50));
  }
  EXPECT_GE(advertised_on("net2"), 2u);
  EXPECT_EQ(advertised_on("net1"), 0u);
  for (const char* name : {"net1", "net2"})
    EXPECT_EQ(message(check_interface(*kernel_, *store_, "default/a@c1", name, soon())), "");
  // A program in the pod may turn them on, which CHECK reports.
  ASSERT_EQ(message(kernel_->netns().set_sysctl(*pod_, "net/ipv6/conf/net1/accept_ra", "1")), "");
  while (advertised_on("net1") == 0 && kernel_->clock().now() < deadline) {
    (void)send_advertisement("v1");
    kernel_->clock().wait_until(kernel_->clock().now() + std::chrono::milliseconds(50));
  }
  EXPECT_THAT(message(check_interface(*kernel_, *store_, "default/a@c1", "net1", soon())),
              testing::HasSubstr("it has a default route from a router advertisement"));
}

TEST_F(RealAdvertisementsTest, AreOffWhereATuningMakesTheMtuLargeEnough) {
  if (setting("lo", "accept_ra") == "none") GTEST_SKIP() << "this kernel has no IPv6";
  make_veth("v0", "v1");
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, {.mtu = 1200})), "");
  const std::string plugin = R"({"type":"host-device","device":"v0","ipam":{"type":"static",
      "addresses":[{"address":"10.1.0.2/24"}]}})";
  ASSERT_EQ(message(attach({wanted("net1", {plugin, R"({"type":"tuning","mtu":1400})"})})), "");
  EXPECT_EQ(setting("net1", "accept_ra"), "0");
  EXPECT_EQ(link(*inside_, "net1").mtu, 1400);
  ASSERT_EQ(message(detach_pod(*kernel_, *store_, "default/a@c1", soon())), "");
  ASSERT_EQ(message(attach({wanted("net1", {plugin})})), "");
  EXPECT_EQ(setting("net1", "accept_ra"), "none");
}

}  // namespace
}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
#include "api/network_demands.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::api {
namespace {

doc::Value json_of(const std::string& text) {
  doc::Diagnostics found;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"a.json", text}), found);
  EXPECT_FALSE(found.has_errors()) << doc::render(found);
  return value.value_or(doc::Value::object());
}

IpAddress address(const char* text) {
  return IpAddress::parse(text).value();
}
IpPrefix prefix(const char* text) {
  return IpPrefix::parse(text).value();
}

TEST(NetworkDemands, MacAddressesThatNoInterfaceHas) {
  const auto problem = [](const char* text) { return mac_problem(MacAddress::parse(text).value()); };
  EXPECT_EQ(problem("f3:4a:19:0c:be:22"), "f3:4a:19:0c:be:22 is a multicast MAC address");
  EXPECT_EQ(problem("ff:ff:ff:ff:ff:ff"), "ff:ff:ff:ff:ff:ff is a multicast MAC address");
  EXPECT_EQ(problem("00:00:00:00:00:00"), "00:00:00:00:00:00 is not a valid MAC address for an interface");
  for (const char* right : {"02:00:00:00:00:01", "f2:4a:19:0c:be:22", "00:00:00:00:00:01"})
    EXPECT_EQ(problem(right), "") << right;
}

TEST(NetworkDemands, SysctlsOfANetworkNamespace) {
  EXPECT_EQ(sysctl_path("net.ipv4.conf.IFNAME.arp_filter", "a.b"), "net/ipv4/conf/a.b/arp_filter");
  EXPECT_EQ(sysctl_path("net/ipv4/conf/net1/arp_filter", "x"), "net/ipv4/conf/net1/arp_filter");
  for (const char* own : {"net/core/somaxconn", "net/ipv4/conf/net1/rp_filter", "net/ipv4/tcp_rmem",
                          "net/unix/max_dgram_qlen", "net/ipv6/conf/all/forwarding"})
    EXPECT_EQ(sysctl_problem(own), "") << own;
  for (const char* none :
       {"kernel/shmmax", "vm/nr_hugepages", "net/", "net//x", "net/../kernel/shmmax", "network/x", ""})
    EXPECT_EQ(sysctl_problem(none), "does not belong to a network namespace (net.…)") << none;
  for (const char* machines : {"net/core/rmem_max", "net/core/wmem_max", "net/ipv4/tcp_mem", "net/core/busy_poll",
                               "net/netfilter/nf_conntrack_max"})
    EXPECT_EQ(sysctl_problem(machines), "is the whole machine's, and a pod's network namespace cannot set it")
        << machines;
}

TEST(NetworkDemands, EachNeedsItsCapability) {
  const std::vector<doc::Value> none = {json_of(R"({"type": "macvlan"})")};
  const std::vector<doc::Value> chained = {
      json_of(R"({"type": "macvlan", "capabilities": {"ips": true, "mac": false}})"),
      json_of(R"({"type": "tuning", "capabilities": {"mac": true}})")};
  const std::vector<doc::Value> waits = {json_of(R"({"type": "ib-sriov", "ibKubernetesEnabled": true})")};
  const auto what = [](const NetworkSelection& selection, const std::vector<doc::Value>& plugins) {
    const auto untaken = untaken_demand(selection, plugins);
    return untaken ? fmt::format("{} {}", untaken->what, untaken->capability) : "";
  };
  NetworkSelection selection;
  EXPECT_EQ(what(selection, none), "");
  selection.ips = {given(std::string("10.0.0.1/24"))};
  EXPECT_EQ(what(selection, none), "ips ips");
  EXPECT_EQ(what(selection, chained), "");
  selection.mac = given(MacAddress::parse("02:00:00:00:00:01").value());
  EXPECT_EQ(what(selection, chained), "");
  selection.bandwidth = given(doc::Value::object());
  EXPECT_EQ(what(selection, chained), "bandwidth bandwidth");
  NetworkSelection by_arguments;
  by_arguments.cni_args = given(json_of(R"({"guid": "02:00:00:00:00:00:00:01"})"));
  EXPECT_EQ(what(by_arguments, none), "cni-args.guid infinibandGUID");
  EXPECT_EQ(what(by_arguments, waits), "") << "ib-kubernetes writes it there";
  EXPECT_EQ(what(by_arguments, {json_of(R"({"type": "bridge"})")}), "") << "plugins of others read what they like";
}

TEST(NetworkDemands, OneNetworkHasTheDefaultRouteOfAFamily) {
  const std::vector<IpAddress> v4 = {address("10.0.0.1")};
  const std::vector<IpAddress> v6 = {address("fd00::1")};
  const std::vector<IpAddress> twice = {address("10.0.0.1"), address("10.0.0.2")};
  const auto clash = [](std::vector<std::span<const IpAddress>> all) { return default_route_clash(all); };
  EXPECT_FALSE(clash({}));
  EXPECT_FALSE(clash({v4, {}, v6}));
  const auto found = clash({v6, v4, {}, v4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 1U);
  EXPECT_EQ(found->second, 3U);
  EXPECT_EQ(clash({v6, v6})->family, IpFamily::kV6);
  EXPECT_EQ(clash({twice})->second, 0U);
}

TEST(NetworkDemands, GatewaysOnTheLink) {
  const std::vector<IpPrefix> subnets = {prefix("10.0.0.7/24"), prefix("fd00::7/64"), prefix("10.9.0.1/32")};
  const std::vector<Route> routes = {{.destination = prefix("10.5.0.0/16")},
                                     {.destination = prefix("10.6.0.0/16"), .gateway = address("10.0.0.1")}};
  for (const char* near : {"10.0.0.1", "fd00::1", "10.5.3.1", "fe80::1"})
    EXPECT_TRUE(is_on_link(address(near), subnets, routes)) << near;
  for (const char* far : {"10.0.1.1", "fd01::1", "10.6.0.1", "10.9.0.1", "169.254.0.1"})
    EXPECT_FALSE(is_on_link(address(far), subnets, routes)) << far;
  EXPECT_TRUE(is_on_link(address("fe80::1"), {}, {}));
}

}  // namespace
}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
// Addresses, routes, RDMA, uevents: the values and their bytes.
#include <algorithm>

#include <gtest/gtest.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "os/netlink/address_codec.h"
#include "os/netlink/rdma_codec.h"
#include "os/netlink/test_messages.h"
#include "os/netlink/uevent_codec.h"

namespace railbed::os {
namespace {

TEST(AddressCodec, BothFamiliesGoBothWays) {
  for (const char* text : {"10.7.0.5/24", "10.7.0.5/32", "fd00::5/64"}) {
    LinkAddress address{IfIndex{7}, IpPrefix::parse(text).value()};
    auto message = as_message(encode_add_address(address), RTM_NEWADDR);
    EXPECT_EQ(decode_address(message), address) << text;
    read_all_cuts(message, decode_address);
  }
}

TEST(AddressCodec, BroadcastOnlyWhereThereIsOne) {
  auto count = [](const char* text) {
    auto message = as_message(encode_add_address({IfIndex{7}, IpPrefix::parse(text).value()}), RTM_NEWADDR);
    auto all = message.attributes_after(sizeof(ifaddrmsg));
    return std::ranges::count(all, uint16_t{IFA_BROADCAST}, &Attribute::type);
  };
  EXPECT_EQ(count("10.7.0.5/24"), 1);
  EXPECT_EQ(count("10.7.0.4/31"), 0);
  EXPECT_EQ(count("fd00::5/64"), 0);
}

TEST(AddressCodec, OfTwoAddressesTheLocalOneCounts) {
  NetlinkRequest sample(RTM_NEWADDR, 0);
  sample.put_header(
      ifaddrmsg{.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_flags = 0, .ifa_scope = 0, .ifa_index = 3});
  sample.put_u32(IFA_ADDRESS, 0x0200000a);
  sample.put_u32(IFA_LOCAL, 0x0100000a);
  EXPECT_EQ(decode_address(as_message(sample, RTM_NEWADDR))->prefix.to_string(), "10.0.0.1/32");
}

TEST(AddressCodec, AnIpv6AddressThatIsNotPermanentIsFromARouter) {
  const auto address = [](uint8_t family, uint8_t header_flags, std::optional<uint32_t> flags) {
    NetlinkRequest sample(RTM_NEWADDR, 0);
    sample.put_header(ifaddrmsg{
        .ifa_family = family, .ifa_prefixlen = 64, .ifa_flags = header_flags, .ifa_scope = 0, .ifa_index = 3});
    if (flags.has_value()) sample.put_u32(IFA_FLAGS, *flags);
    return as_message(sample, RTM_NEWADDR);
  };
  EXPECT_TRUE(is_advertised_address(address(AF_INET6, 0, std::nullopt)));
  EXPECT_TRUE(is_advertised_address(address(AF_INET6, 0, IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE)));
  EXPECT_FALSE(is_advertised_address(address(AF_INET6, IFA_F_PERMANENT, std::nullopt)));
  EXPECT_FALSE(is_advertised_address(address(AF_INET6, IFA_F_PERMANENT, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE)));
  EXPECT_FALSE(is_advertised_address(address(AF_INET, 0, std::nullopt)));
  read_all_cuts(address(AF_INET6, 0, 0), is_advertised_address);
}

TEST(RouteCodec, OfARouterIsKnownByItsProtocol) {
  for (const auto& [protocol, is] : {std::pair<uint8_t, bool>{RTPROT_RA, true}, {RTPROT_KERNEL, false}}) {
    NetlinkRequest sample(RTM_NEWROUTE, 0);
    rtmsg header{};
    header.rtm_family = AF_INET6;
    header.rtm_protocol = protocol;
    sample.put_header(header);
    EXPECT_EQ(is_advertised_route(as_message(sample, RTM_NEWROUTE)), is);
    read_all_cuts(as_message(sample, RTM_NEWROUTE), is_advertised_route);
  }
}

TEST(RouteCodec, GoesBothWays) {
  Route route{.destination = IpPrefix::parse("192.0.2.0/24").value(), .link = IfIndex{4}};
  route.gateway = IpAddress::parse("10.0.0.1").value();
  route.metric = 10;
  route.mtu = 1400;
  route.advmss = 1360;
  route.scope = RT_SCOPE_UNIVERSE;
  Route fallback = Route::default_by(IpAddress::parse("fe80::1").value());
  fallback.link = IfIndex{4};
  fallback.scope = RT_SCOPE_UNIVERSE;
  for (const Route& one : {route, fallback}) {
    auto message = as_message(encode_add_route(one), RTM_NEWROUTE);
    EXPECT_EQ(decode_routes(message), std::vector<Route>{one});
    read_all_cuts(message, decode_routes);
  }
  Route other = route;
  other.table = 100;
  other.source = IpAddress::parse("10.0.0.2").value();
  auto message = as_message(encode_add_route(other), RTM_NEWROUTE);
  EXPECT_TRUE(decode_routes(message).empty());
  EXPECT_EQ(decode_all_routes(message), std::vector<Route>{other});
  other.table = RT_TABLE_LOCAL;
  EXPECT_TRUE(decode_all_routes(as_message(encode_add_route(other), RTM_NEWROUTE)).empty());
}

TEST(RuleCodec, GoesBothWays) {
  for (const Rule& rule : {Rule{IpPrefix::parse("10.0.0.2/32").value(), 100, std::nullopt},
                           Rule{IpPrefix::parse("fd00::2/128").value(), 70000, 32000}}) {
    auto message = as_message(encode_add_rule(rule), RTM_NEWRULE);
    EXPECT_EQ(decode_rule(message), rule);
    read_all_cuts(message, decode_rule);
  }
  NetlinkRequest of_all(RTM_NEWRULE, 0);
  of_all.put_header(fib_rule_hdr{.family = AF_INET, .table = RT_TABLE_MAIN, .action = FR_ACT_TO_TBL});
  EXPECT_EQ(decode_rule(as_message(of_all, RTM_NEWRULE)), std::nullopt);
}

TEST(RouteCodec, OneRoutePerNextHop) {
  NetlinkRequest sample(RTM_NEWROUTE, 0);
  sample.put_header(rtmsg{.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_type = RTN_UNICAST});
  // Two next hops of 16 bytes: rtnexthop, then RTA_GATEWAY.
  std::vector<uint8_t> hops = {16, 0, 0, 0, 4, 0, 0, 0, 8, 0, 5, 0, 10, 0, 0, 1,
                               16, 0, 0, 0, 5, 0, 0, 0, 8, 0, 5, 0, 10, 0, 0, 2};
  sample.put(RTA_MULTIPATH, hops);
  auto message = as_message(sample, RTM_NEWROUTE);
  auto routes = decode_routes(message);
  ASSERT_EQ(routes.size(), 2U);
  EXPECT_EQ(routes[1].link, IfIndex{5});
  EXPECT_EQ(routes[1].gateway->to_string(), "10.0.0.2");
  EXPECT_TRUE(routes[0].is_default());
  read_all_cuts(message, decode_routes);
}

TEST(RdmaCodec, ReadsDevicesPortsAndMode) {
  NetlinkRequest device(1, 0);
  device.put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, 3);
  device.put_text(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
  device.put_text(RDMA_NLDEV_ATTR_FW_VERSION, "");
  device.put_u64(RDMA_NLDEV_ATTR_NODE_GUID, 0x0200000000000001);
  device.put_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
  auto link = decode_rdma_device(as_message(device, 1));
  ASSERT_TRUE(link.has_value());
  EXPECT_EQ(link->index, 3U);
  EXPECT_EQ(link->name, "rxe0");
  EXPECT_EQ(link->protocol, "roce");
  EXPECT_EQ(link->node_guid.to_string(), "0200:0000:0000:0001");
  read_all_cuts(as_message(device, 1), decode_rdma_device);

  NetlinkRequest port(1, 0);
  port.put_u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1);
  port.put_u8(RDMA_NLDEV_ATTR_PORT_STATE, 4);
  port.put_u8(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
  port.put_u32(RDMA_NLDEV_ATTR_NDEV_INDEX, 7);
  port.put_text(RDMA_NLDEV_ATTR_NDEV_NAME, "eth2");
  RdmaLinkPort wanted{
      .number = 1, .netdev = IfIndex{7}, .netdev_name = "eth2", .state = "ACTIVE", .physical_state = "LinkUp"};
  EXPECT_EQ(decode_rdma_port(as_message(port, 1)), wanted);
  read_all_cuts(as_message(port, 1), decode_rdma_port);

  NetlinkRequest mode(1, 0);
  EXPECT_EQ(decode_rdma_netns_mode(as_message(mode, 1)), std::nullopt);
  mode.put_u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0);
  EXPECT_EQ(decode_rdma_netns_mode(as_message(mode, 1)), RdmaNetnsMode::kExclusive);
}

TEST(UeventCodec, ReadsTheKernelsForm) {
  using namespace std::string_view_literals;
  auto event = parse_uevent(
      "add@/devices/pci0000:00/0000:03:10.0\0ACTION=add\0SUBSYSTEM=pci\0PCI_SLOT_NAME=0000:03:10.0\0EMPTY=\0"sv);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->action, "add");
  EXPECT_EQ(event->devpath, "/devices/pci0000:00/0000:03:10.0");
  EXPECT_EQ(event->subsystem, "pci");
  EXPECT_EQ(event->properties.at("PCI_SLOT_NAME"), "0000:03:10.0");
  EXPECT_EQ(event->properties.at("EMPTY"), "");
  for (std::string_view bad : {""sv, "add@/x"sv, "libudev\0\xfe\xed"sv, "@/x\0"sv, "add\0A=b\0"sv})
    EXPECT_FALSE(parse_uevent(bad).has_value()) << bad;
  EXPECT_TRUE(parse_uevent("add@/x\0A"sv)->properties.empty());
}

}  // namespace
}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
#include "ipam/dhcp_packet.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

using namespace dhcp_option;
using namespace std::string_literals;

DhcpPacket ack() {
  DhcpPacket packet{.from_server = true, .exchange = 7, .yours = ip("10.0.0.9"), .mac = {{2, 0, 0, 0, 0, 1}}};
  packet.options = {{kMessageType, "\5"},
                    {kSubnetMask, "\xff\xff\xff\0"s},
                    {kRouter, "\x0a\0\0\1"s},
                    {kServer, "\x0a\0\0\2"s},
                    {kLeaseTime, "\0\0\0\x78"s}};
  return packet;
}

std::string show(const std::vector<Route>& routes) {
  std::string text;
  for (const Route& one : routes)
    text += fmt::format("{} via {} scope {}; ", one.destination, one.gateway ? one.gateway->to_string() : "-",
                        one.scope.value_or(-1));
  return text;
}

TEST(DhcpPacket, IsOnTheWireAsTheRfcSays) {
  DhcpClient client{.mac = {{2, 0, 0, 0, 0, 1}}, .id = dhcp_client_id("c1", "net", "eth0"), .ask = {3, 1}};
  std::string bytes = to_bytes(discover(client, 0x01020304));
  EXPECT_EQ(bytes.size(), 300u);
  EXPECT_EQ(bytes.substr(0, 12), "\1\1\6\0\1\2\3\4\0\0\0\0"s);
  EXPECT_EQ(bytes.substr(28, 6), "\2\0\0\0\0\1"s);
  EXPECT_EQ(bytes.substr(236, 4), "\x63\x82\x53\x63");
  EXPECT_EQ(bytes.substr(240, 3), "\x35\1\1");
  EXPECT_EQ(bytes.substr(243, 4), "\x37\2\3\1");
  EXPECT_EQ(bytes.substr(247, 14), "\x3d\x0c\0c1/net/eth0"s);
  EXPECT_EQ(bytes[261], '\xff');
}

TEST(DhcpPacket, SaysWhatItWantsInEachState) {
  DhcpClient client{.id = "i", .provide = {{kHostName, "pod"}}, .ask = {1}};
  DhcpPacket offer = ack();
  DhcpPacket asked = request(client, 1, offer);
  EXPECT_EQ(asked.address(kRequestedAddress), ip("10.0.0.9"));
  EXPECT_EQ(asked.address(kServer), ip("10.0.0.2"));
  EXPECT_EQ(asked.client, IpAddress{});
  EXPECT_EQ(asked.options.at(kHostName), "pod");
  DhcpPacket kept = renewal(client, 1, ip("10.0.0.9"));
  EXPECT_EQ(kept.type(), DhcpType::kRequest);
  EXPECT_EQ(kept.client, ip("10.0.0.9"));
  EXPECT_FALSE(kept.options.contains(kRequestedAddress));
  EXPECT_FALSE(kept.options.contains(kServer));
  DhcpPacket given_back = release(client, 1, ip("10.0.0.9"), ip("10.0.0.2"));
  EXPECT_EQ(given_back.type(), DhcpType::kRelease);
  EXPECT_FALSE(given_back.options.contains(kParameters));
  EXPECT_FALSE(given_back.options.contains(kHostName));
}

TEST(DhcpPacket, ClientIdsAreCutToFit) {
  std::string id = dhcp_client_id(std::string(300, 'c'), "net", "eth0");
  EXPECT_EQ(id, "\0"s + std::string(254, 'c'));
}

TEST(DhcpPacket, AnAcknowledgementIsALease) {
  DhcpLease lease = *lease_of(ack());
  EXPECT_EQ(lease.address.to_string(), "10.0.0.9/24");
  EXPECT_EQ(lease.gateway, ip("10.0.0.1"));
  EXPECT_EQ(lease.server, ip("10.0.0.2"));
  EXPECT_EQ(lease.seconds, 120u);
  EXPECT_EQ(lease.renew_after, 60u);
  EXPECT_EQ(lease.rebind_after, 105u);
  EXPECT_EQ(show(lease.routes), "0.0.0.0/0 via 10.0.0.1 scope -1; ");

  DhcpPacket more = ack();
  more.options[kStaticRoutes] = "\xac\x10\5\0\x0a\0\0\3"s;
  more.options[kDnsServers] = "\x0a\0\0\4\x0a\0\0\5"s;
  more.options[kDomainName] = "example.org\0"s;
  more.options[kDomainSearch] = "\3eng\7example\3org\0\5other\xc0\4"s;
  more.options[kRenewalTime] = "\0\0\0\x0a"s;
  more.options[kRebindingTime] = "\0\0\xff\xff"s;  // later than the end of the lease, so the end counts
  lease = *lease_of(more);
  EXPECT_EQ(show(lease.routes), "172.16.0.0/16 via 10.0.0.3 scope -1; 0.0.0.0/0 via 10.0.0.1 scope -1; ");
  EXPECT_EQ(lease.nameservers, (std::vector{ip("10.0.0.4"), ip("10.0.0.5")}));
  EXPECT_EQ(lease.domain, "example.org");
  EXPECT_EQ(lease.search, (std::vector<std::string>{"eng.example.org", "other.example.org"}));
  EXPECT_EQ(lease.renew_after, 10u);
  EXPECT_EQ(lease.rebind_after, 120u);

  // RFC 3442: classless routes make both static routes and the router irrelevant.
  more.options[kClasslessRoutes] = "\x18\x0a\1\2\x0a\0\0\7\0\x0a\0\0\x08\x20\x0a\0\0\x63\0\0\0\0"s;
  lease = *lease_of(more);
  EXPECT_EQ(show(lease.routes),
            "10.1.2.0/24 via 10.0.0.7 scope -1; 0.0.0.0/0 via 10.0.0.8 scope -1; 10.0.0.99/32 via - scope 253; ");
  EXPECT_EQ(lease.gateway, ip("10.0.0.1"));
  more.options[kLeaseTime] = "\xff\xff\xff\xff";
  EXPECT_EQ(lease_of(more)->seconds, std::nullopt);
}

TEST(DhcpPacket, WhatIsNoLeaseSaysWhy) {
  auto why = [](uint8_t option, std::optional<std::string> value) {
    DhcpPacket packet = ack();
    packet.options.erase(option);
    if (value.has_value()) packet.options[option] = *value;
    auto lease = lease_of(packet);
    return lease.has_value() ? "a lease" : lease.error().message;
  };
  EXPECT_EQ(why(kSubnetMask, {}), "the DHCP server gave no subnet mask (option 1) with 10.0.0.9");
  EXPECT_EQ(why(kSubnetMask, "\xff\0\xff\0"s), "the DHCP server gave an invalid subnet mask 255.0.255.0");
  EXPECT_EQ(why(kServer, {}), "the DHCP server sent no server identifier (option 54)");
  EXPECT_EQ(why(kClasslessRoutes, "\x21\x0a"s),
            "option 121 (classless routes) is cut off or has a prefix length of 33");
  EXPECT_EQ(why(kRouter, {}), "a lease");
  // Names that point at themselves, or have no end, are left out.
  EXPECT_EQ(why(kDomainSearch, "\xc0\0"s), "a lease");
  EXPECT_EQ(why(kDomainSearch, "\x3f"s), "a lease");
}

TEST(DhcpPacket, ReadsOptionsOfThreeFields) {
  std::string bytes = to_bytes(ack());
  size_t end = bytes.find('\xff', 243 + 20);
  bytes.replace(end, 4, "\x34\1\3\xff");
  bytes.replace(108, 7, "\x0c\2ab\x06\0\xff"s);
  bytes.replace(44, 5, "\x0c\1c\xff\0"s);
  DhcpPacket packet = *read_dhcp(bytes);
  EXPECT_EQ(packet.options.at(kHostName), "abc");
  EXPECT_EQ(packet.options.at(kSubnetMask), "\xff\xff\xff\0"s);
  EXPECT_FALSE(packet.options.contains(kOverload)) << "written again, it has one field";
}

TEST(DhcpPacket, WhatIsBrokenIsRefused) {
  std::string bytes = to_bytes(ack());
  EXPECT_FALSE(read_dhcp("").has_value());
  EXPECT_FALSE(read_dhcp(bytes.substr(0, 239)).has_value());
  EXPECT_FALSE(read_dhcp(bytes.substr(0, 244)).has_value());
  for (size_t at : {0u, 1u, 2u, 236u}) {
    std::string broken = bytes;
    broken[at] = 9;
    EXPECT_FALSE(read_dhcp(broken).has_value()) << at;
  }
}

TEST(DhcpPacket, OptionsHaveNames) {
  EXPECT_EQ(*dhcp_option_number("routers"), 3);
  EXPECT_EQ(*dhcp_option_number("121"), 121);
  for (const char* wrong : {"", "0", "255", "-1", "3x", "router"})
    EXPECT_FALSE(dhcp_option_number(wrong).has_value()) << wrong;
}

RC_GTEST_PROP(DhcpPacket, ReadsWhatItWrites, ()) {
  DhcpPacket packet{.from_server = *rc::gen::arbitrary<bool>(), .exchange = *rc::gen::arbitrary<uint32_t>()};
  packet.seconds = *rc::gen::arbitrary<uint16_t>();
  packet.broadcast = *rc::gen::arbitrary<bool>();
  packet.yours = IpAddress::from_v4(*rc::gen::arbitrary<uint32_t>());
  packet.relay = IpAddress::from_v4(*rc::gen::arbitrary<uint32_t>());
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i)
    packet.options[static_cast<uint8_t>(*rc::gen::inRange(1, 255))] =
        std::string(*rc::gen::inRange<size_t>(0, 600), *rc::gen::arbitrary<char>());
  packet.options.erase(kOverload);
  auto again = read_dhcp(to_bytes(packet));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == packet);
}

}  // namespace
}  // namespace railbed::ipam

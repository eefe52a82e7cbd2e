// SPDX-License-Identifier: Apache-2.0
// The bytes of a lease in the state, which the next version of railbed reads, both ways.
#include "agent/addresses/dhcp_lease.h"

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

using namespace std::string_literals;

KeptLease kept_lease() {
  ipam::DhcpPacket ack{.from_server = true, .exchange = 7, .yours = *IpAddress::parse("10.0.0.5")};
  ack.options = {{ipam::dhcp_option::kMessageType, "\x05"s},
                 {ipam::dhcp_option::kServer, "\x0a\0\0\x01"s},
                 {ipam::dhcp_option::kSubnetMask, "\xff\xff\xff\0"s}};
  KeptLease lease{.owner = {"ns/p@c", "net1"}, .netns_path = "/run/netns/a"};
  lease.client.mac = *MacAddress::parse("02:00:00:00:00:01");
  lease.client.id = "\0a"s;
  lease.client.ask = {3, 1};
  lease.client.provide = {{12, "host"}, {77, ""}};
  lease.server_mac = *MacAddress::parse("02:00:00:00:00:02");
  lease.ack = ipam::to_bytes(ack);
  lease.since = os::Deadline(os::Deadline::duration(5));
  return lease;
}

std::string bytes_of_note(const KeptLease& lease) {
  std::string ack;
  for (const char byte : lease.ack) ack += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return R"({"netns":"/run/netns/a","mac":"02:00:00:00:00:01","id":"0061","ask":"0301",)"
         R"("provide":{"12":"686f7374","77":""},"server_mac":"02:00:00:00:00:02","ack":")" +
         ack + R"(","since":5})";
}

TEST(DhcpLeaseBytes, AreTheSameBothWays) {
  const KeptLease lease = kept_lease();
  EXPECT_EQ(to_note(lease), bytes_of_note(lease));
  const Result<KeptLease> read = read_lease(lease_key(lease.owner), bytes_of_note(lease));
  ASSERT_TRUE(read.has_value()) << read.error().story();
  EXPECT_EQ(read->owner, lease.owner);
  EXPECT_EQ(read->netns_path, lease.netns_path);
  EXPECT_EQ(read->client, lease.client);
  EXPECT_EQ(read->server_mac, lease.server_mac);
  EXPECT_EQ(read->ack, lease.ack);
  EXPECT_EQ(read->since, lease.since);
  EXPECT_EQ(read->lease.address.to_string(), "10.0.0.5/24");
}

TEST(DhcpLeaseBytes, ThatAreDamagedAreNotRead) {
  const KeptLease lease = kept_lease();
  const std::string note = bytes_of_note(lease);
  for (const auto& [from, to] :
       {std::pair{R"("mac":"02:)", R"("mac":"0g:)"}, std::pair{R"("id":"0061")", R"("id":"006")"},
        std::pair{R"(,"since":5)", ""}, std::pair{R"("77")", R"("777")"}, std::pair{R"("686f)", R"("68gf)"},
        std::pair{R"("server_mac")", R"("server")"}}) {
    std::string damaged = note;
    damaged.replace(damaged.find(from), std::string_view(from).size(), to);
    const Result<KeptLease> read = read_lease(lease_key(lease.owner), damaged);
    ASSERT_FALSE(read.has_value()) << damaged;
    EXPECT_EQ(read.error().code, Code::kInvalid) << damaged;
  }
  EXPECT_EQ(read_lease("dhcp lease x", note).error().message, "\"dhcp lease x\" is not a lease name");
}

}  // namespace
}  // namespace railbed::agent

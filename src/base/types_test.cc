// SPDX-License-Identifier: Apache-2.0
#include "base/types.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed {
namespace {

TEST(PciAddress, ReadsShortLongAndWideDomains) {
  EXPECT_EQ(PciAddress::parse("0000:3c:00.0")->to_string(), "0000:3c:00.0");
  EXPECT_EQ(PciAddress::parse("3C:1f.7")->to_string(), "0000:3c:1f.7");
  EXPECT_EQ(PciAddress::parse("10000:e1:00.0")->to_string(), "10000:e1:00.0");
}

TEST(PciAddress, SaysWhatARightOneLooksLike) {
  for (const char* wrong : {"", "3c:00", "0000:3c:00", "0000:3c:20.0", "0000:3c:00.8", "0000:3c:00.0x", "g000:3c:00.0"})
    EXPECT_EQ(PciAddress::parse(wrong).error().to_string(),
              fmt::format("\"{}\" is not a PCI address (one looks like 0000:3c:00.0)", wrong));
}

TEST(PciAddress, CountsVfsByRoutingId) {
  PciAddress pf = *PciAddress::parse("0000:01:00.0");
  EXPECT_EQ(pf.plus(0x80).to_string(), "0000:01:10.0");
  EXPECT_EQ(pf.plus(0x82).to_string(), "0000:01:10.2");
  EXPECT_EQ(pf.plus(0x100).to_string(), "0000:02:00.0");
}

RC_GTEST_PROP(PciAddress, RoundTrips, (uint32_t domain, uint8_t bus, uint8_t device, uint8_t function)) {
  PciAddress address{domain, bus, static_cast<uint8_t>(device & 31), static_cast<uint8_t>(function & 7)};
  RC_ASSERT(*PciAddress::parse(address.to_string()) == address);
}

TEST(Guid, ReadsEverySpelling) {
  for (const char* text :
       {"0c42:a103:0065:1234", "c42:a103:65:1234", "0x0c42a10300651234", "c42a10300651234", "0c:42:a1:03:00:65:12:34"})
    EXPECT_EQ(Guid::parse(text)->to_string(), "0c42:a103:0065:1234") << text;
  EXPECT_EQ(Guid::parse("nonsense").error().to_string(),
            "\"nonsense\" is not a GUID (one looks like 0c42:a103:0065:1234)");
  EXPECT_FALSE(Guid::parse("").has_value());
}

RC_GTEST_PROP(Guid, RoundTripsInBothSpellings, (uint64_t value)) {
  RC_ASSERT(Guid::parse(Guid{value}.to_string())->value == value);
  RC_ASSERT(Guid::parse(Guid{value}.to_pairs())->value == value);
}

TEST(Gid, KnowsItsParts) {
  Gid gid = *Gid::parse("fe80:0000:0000:0000:0c42:a103:0065:1234");
  EXPECT_EQ(gid.subnet_prefix(), 0xfe80000000000000u);
  EXPECT_EQ(gid.interface_id().to_string(), "0c42:a103:0065:1234");
  EXPECT_TRUE(gid.is_link_local());
  EXPECT_TRUE(Gid::parse("0:0:0:0:0:ffff:0a00:0001")->is_mapped_ipv4());
  EXPECT_FALSE(Gid::parse("0:0:0:0:0:ffff:0a00").has_value());
}

TEST(IfName, RefusesWhatTheKernelRefuses) {
  EXPECT_EQ(IfName::parse("ens1f0np0")->value, "ens1f0np0");
  for (const char* wrong : {"", ".", "..", "a/b", "a:b", "a b", "sixteen_bytes_xx"})
    EXPECT_FALSE(IfName::parse(wrong).has_value()) << wrong;
}

TEST(MacAddress, ReadsColonsAndDashes) {
  EXPECT_EQ(MacAddress::parse("02-AA-00-00-00-01")->to_string(), "02:aa:00:00:00:01");
  EXPECT_EQ(MacAddress::parse("02:00").error().to_string(),
            "\"02:00\" is not a MAC address (one looks like 02:00:00:00:00:01)");
}

TEST(PciAddress, TakesTheLastOfEveryPartAndNoMore) {
  EXPECT_EQ(PciAddress::parse("ffffffff:ff:1f.7")->to_string(), "ffffffff:ff:1f.7");
  for (const char* wrong : {"100000000:00:00.0", "0000:3c:00:0", "0000:3c-00.0", "0000:3c:00,0", ":3c:00.0",
                            "0000:3x:00.0", "0000:3c:0x.0", "0000:3c:00.", "0000:0000:3c:00.0", "3c.00.0"})
    EXPECT_FALSE(PciAddress::parse(wrong)) << wrong;
  EXPECT_EQ(PciAddress::parse("0000:01:1f.7")->plus(1).to_string(), "0000:02:00.0");
  EXPECT_EQ(PciAddress::parse("0000:01:00.7")->plus(1).to_string(), "0000:01:01.0");
}

TEST(Guid, RefusesWhatHasTooMuchOrTooLittle) {
  for (const char* wrong :
       {"0c42:a103:0065", "0c42:a103:0065:1234:1", "0c42:a103:00650:1234", "0c42:a103::1234", "0x0c42a103006512345",
        "0x", "0c:42:a1:03:00:65:12", "0c:42:a1:03:00:65:12:34:56", "0c:42:a1:03:00-65:12:34",
        "0c:42:a1:03:00:65:1 :34", "0c:42:a1:03:00:65: 2:34", "0c-42-a1-03-00-65-12-34", "c42a1030065123x"})
    EXPECT_FALSE(Guid::parse(wrong)) << wrong;
  EXPECT_EQ(Guid::parse("0:0:0:1")->to_string(), "0000:0000:0000:0001");
  EXPECT_EQ(Guid{0x0123456789abcdef}.to_string(), "0123:4567:89ab:cdef");
  EXPECT_EQ(Guid{0x0123456789abcdef}.to_pairs(), "01:23:45:67:89:ab:cd:ef");
}

TEST(Gid, DistinguishesLinkLocalAndMappedOnesFromTheirNeighbours) {
  const auto gid = [](const char* text) { return *Gid::parse(text); };
  EXPECT_TRUE(gid("febf:0:0:0:0:0:0:1").is_link_local());
  EXPECT_FALSE(gid("fec0:0:0:0:0:0:0:1").is_link_local());
  EXPECT_FALSE(gid("fe40:0:0:0:0:0:0:1").is_link_local());
  EXPECT_FALSE(gid("fd80:0:0:0:0:0:0:1").is_link_local());
  EXPECT_FALSE(gid("0:0:0:1:0:ffff:a00:1").is_mapped_ipv4());
  EXPECT_FALSE(gid("0:0:0:0:1:ffff:a00:1").is_mapped_ipv4());
  EXPECT_FALSE(gid("0:0:0:0:0:fffe:a00:1").is_mapped_ipv4());
  EXPECT_EQ(gid("1:23:456:789a:bcde:f01:2345:6789").to_string(), "0001:0023:0456:789a:bcde:0f01:2345:6789");
  EXPECT_EQ(Gid::parse("1:2:3").error().to_string(),
            "\"1:2:3\" is not a GID (one has eight groups of hexadecimal digits)");
}

TEST(IfName, TakesFifteenBytes) {
  EXPECT_EQ(IfName::parse("fifteen_bytes_x")->value, "fifteen_bytes_x");
  EXPECT_EQ(IfName::parse("!")->value, "!");
  EXPECT_EQ(IfName::parse("...")->value, "...");
  EXPECT_EQ(IfName::parse("sixteen_bytes_xx").error().to_string(),
            "\"sixteen_bytes_xx\" is not an interface name (1 to 15 bytes without '/', ':', '%' and blanks)");
  EXPECT_FALSE(IfName::parse("a\x7f"));
}

}  // namespace
}  // namespace railbed

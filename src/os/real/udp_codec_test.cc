// SPDX-License-Identifier: Apache-2.0
#include "os/real/udp_codec.h"

#include <gtest/gtest.h>

namespace railbed::os {
namespace {

using namespace std::string_literals;

const UdpPacket kPacket{.source = IpAddress::from_v4(0x0a000001),
                        .destination = IpAddress::from_v4(0x0a000002),
                        .source_port = 68,
                        .destination_port = 67,
                        .payload = "abc"};

TEST(UdpCodec, IsOnTheWireAsTheRfcsSay) {
  // Checksums computed by hand: RFC 1071 over the header, and over pseudo header, UDP header and data.
  EXPECT_EQ(to_ipv4(kPacket),
            "\x45\0\0\x1f\0\0\x40\0\x40\x11\x26\xcc\x0a\0\0\1\x0a\0\0\2"
            "\0\x44\0\x43\0\x0b\x26\xec"
            "abc"s);
  EXPECT_EQ(read_ipv4(to_ipv4(kPacket)), kPacket);
}

TEST(UdpCodec, DropsWhatIsBroken) {
  std::string good = to_ipv4(kPacket);
  EXPECT_EQ(read_ipv4(good + std::string(18, '\0')), kPacket);  // padded to the minimum frame size
  for (size_t size = 0; size < good.size(); ++size) EXPECT_EQ(read_ipv4(good.substr(0, size)), std::nullopt) << size;
  for (size_t at = 0; at < 20; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x21);
    EXPECT_EQ(read_ipv4(bad), std::nullopt) << at;
  }
  std::string short_udp = good;
  short_udp[25] = 7;
  EXPECT_EQ(read_ipv4(short_udp), std::nullopt);
}

}  // namespace
}  // namespace railbed::os

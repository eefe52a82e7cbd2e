// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/rping_wire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::perf {
namespace {

std::string refusal(const Advert& advert, size_t came = kAdvert_bytes) {
  const auto bytes = encode(advert);
  const auto read = decode_advert(bytes, came);
  return read ? "understood" : read.error().to_string();
}

// As rping writes it: address, key and size, the most significant byte first.
TEST(RpingWire, IsRpings) {
  const auto bytes = encode(Advert{.address = 0x0102030405060708, .key = 0x090a0b0c, .size_bytes = 0x0d0e});
  constexpr unsigned char kWanted[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 13, 14};
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<int>(bytes[i]), kWanted[i]) << i;
}

RC_GTEST_PROP(RpingWire, ComesBackAsItWas, (uint64_t address, uint32_t key)) {
  const Advert advert{
      .address = address, .key = key, .size_bytes = *rc::gen::inRange<uint32_t>(1, kMostPing_bytes + 1)};
  const auto bytes = encode(advert);
  const auto back = decode_advert(bytes, bytes.size());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == advert);
}

TEST(RpingWire, SaysWhatIsWrong) {
  EXPECT_EQ(refusal({.size_bytes = 1}), "understood");
  EXPECT_EQ(refusal({.size_bytes = 65536}), "understood");
  EXPECT_EQ(refusal({.size_bytes = 0}), "the peer offers 0 bytes, 1 to 65536 are possible");
  EXPECT_EQ(refusal({.size_bytes = 65537}), "the peer offers 65537 bytes, 1 to 65536 are possible");
  EXPECT_EQ(refusal({.size_bytes = UINT32_MAX}), "the peer offers 4294967295 bytes, 1 to 65536 are possible");
  EXPECT_EQ(refusal({.size_bytes = 1}, 15), "the peer sent a message of 15 bytes where 16 were due");
}

TEST(RpingWire, DataOfEachPingAndPlaceDiffer) {
  std::array<std::byte, 8192> first;
  std::array<std::byte, 8192> second;
  fill(first, 0);
  fill(second, 1);
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    EXPECT_NE(first[i], second[i]) << i;
    EXPECT_NE(first[i], first[i + 1]) << i;
  }
  EXPECT_EQ(first.back(), std::byte{0});
  EXPECT_TRUE(check_filled(first, 0, "the data"));
}

TEST(RpingWire, SaysWhereDataDiffer) {
  std::array<std::byte, 300> data;
  fill(data, 4);
  data[257] ^= std::byte{0x40};
  const auto checked = check_filled(data, 4, "the data that were read");
  ASSERT_FALSE(checked);
  EXPECT_EQ(
      checked.error().to_string(),
      "ping 5: the data that were read differ at byte 257 of 300: received 0x34, sent 0x74\n"
      "  a NIC, a PCIe link or memory on the path corrupts data; take this path out of service and check the counters "
      "and kernel logs of both ends");
}

}  // namespace
}  // namespace railbed::perf

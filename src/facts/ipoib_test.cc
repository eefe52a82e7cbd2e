// SPDX-License-Identifier: Apache-2.0
#include "facts/ipoib.h"

#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

TEST(IpoibAddress, IsTakenApartAndPutTogether) {
  std::vector<uint8_t> bytes;
  for (uint8_t i = 0; i < 20; ++i) bytes.push_back(static_cast<uint8_t>(0x80 + i));
  const auto address = parse_ipoib_address(bytes);
  ASSERT_TRUE(address);
  EXPECT_EQ(address->flags, 0x80);
  EXPECT_EQ(address->qpn, 0x818283u);
  EXPECT_EQ(address->subnet_prefix, 0x8485868788898a8bu);
  EXPECT_EQ(address->port_guid.value, 0x8c8d8e8f90919293u);
  EXPECT_EQ(to_string(*address), "80:81:82:83:84:85:86:87:88:89:8a:8b:8c:8d:8e:8f:90:91:92:93");
  bytes.push_back(0);
  EXPECT_FALSE(parse_ipoib_address(bytes));
  bytes.resize(19);
  EXPECT_FALSE(parse_ipoib_address(bytes));
}

}  // namespace
}  // namespace railbed::facts

// SPDX-License-Identifier: Apache-2.0
#include "facts/pci_ids.h"

#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

TEST(PciIds, FindsNamesWithinTheVendorOnly) {
  PciIds ids(
      "#\tcomment\n"
      "10de  NVIDIA Corporation\n"
      "\t1021  GK110GL [Tesla K20Xm]\n"
      "# a comment between\n"
      "\t2330  GH100 [H100 SXM5 80GB]\n"
      "15b3  Mellanox Technologies\n"
      "\t1021  MT2910 Family [ConnectX-7]\n"
      "\t\t15b3 0041  a card\n"
      "\t101e  last\n"
      "C 02  Network controller\n"
      "\t2330  no device\n");
  EXPECT_EQ(ids.vendor("15b3"), "Mellanox Technologies");
  EXPECT_EQ(ids.vendor("10de"), "NVIDIA Corporation");
  EXPECT_EQ(ids.device("15b3", "1021"), "MT2910 Family [ConnectX-7]");
  EXPECT_EQ(ids.device("10de", "1021"), "GK110GL [Tesla K20Xm]");
  EXPECT_EQ(ids.device("10de", "2330"), "GH100 [H100 SXM5 80GB]");
  EXPECT_EQ(ids.device("15b3", "101e"), "last");
  EXPECT_EQ(ids.device("15b3", "2330"), "");
  EXPECT_EQ(ids.device("15b3", "0041"), "");
  EXPECT_EQ(ids.device("8086", "1021"), "");
  EXPECT_EQ(ids.device("", "1021"), "");
  EXPECT_EQ(ids.device("15b3", "1021\n"), "");
}

TEST(PciIds, VendorAtTheVeryBeginningAndNoFile) {
  PciIds ids("15b3  Mellanox Technologies\n\t1021  X");
  EXPECT_EQ(ids.vendor("15b3"), "Mellanox Technologies");
  EXPECT_EQ(ids.device("15b3", "1021"), "X");
  EXPECT_EQ(PciIds().device("15b3", "1021"), "");
}

// A vendor's number may begin with any hexadecimal digit; its block ends there, whichever it is.
TEST(PciIds, ABlockEndsAtEveryVendor) {
  for (const char* next : {"0010", "9005", "a304", "fa57"}) {
    const PciIds ids(std::string("1234  First\n\t0001  its own\n") + next + "  Next\n\t0002  of the next\n");
    EXPECT_EQ(ids.device("1234", "0001"), "its own") << next;
    EXPECT_EQ(ids.device("1234", "0002"), "") << next;
    EXPECT_EQ(ids.device(next, "0002"), "of the next") << next;
  }
}

TEST(PciIds, ReadsLinesThatEndAsOnWindows) {
  const PciIds ids("1234  First\r\n\t0001  a device\r\n");
  EXPECT_EQ(ids.vendor("1234"), "First");
  EXPECT_EQ(ids.device("1234", "0001"), "a device");
}

TEST(ShortModel, IsWhatPeopleSay) {
  EXPECT_EQ(short_model("MT2910 Family [ConnectX-7]"), "ConnectX-7");
  EXPECT_EQ(short_model("82576 Gigabit Network Connection"), "82576");
  EXPECT_EQ(short_model("82576 Virtual Function"), "82576 Virtual Function");
  EXPECT_EQ(short_model("Ethernet Controller E810-C for QSFP"), "E810-C for QSFP");
  EXPECT_EQ(short_model(""), "");
  EXPECT_EQ(short_model("odd ]["), "odd ][");
  EXPECT_EQ(short_model("empty []"), "empty []");
  EXPECT_EQ(short_model("open ["), "open [");
  EXPECT_EQ(short_model("[x]"), "x");
}

}  // namespace
}  // namespace railbed::facts

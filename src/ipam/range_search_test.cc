// SPDX-License-Identifier: Apache-2.0
#include "ipam/range_search.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

std::string show(const std::vector<IpRange>& ranges) {
  std::string out;
  for (const IpRange& one : ranges) out += (out.empty() ? "" : " ") + one.to_string();
  return out;
}

IpRange from_to(const char* first, const char* last) {
  return {ip(first), ip(last)};
}

TEST(Merged, JoinsWhatTouchesAndNothingElse) {
  struct RangeCase {
    std::vector<IpRange> ranges;
    std::string merged;
  };
  const RangeCase cases[] = {
      {{}, ""},
      {{from_to("10.0.0.3", "10.0.0.4"), from_to("10.0.0.1", "10.0.0.2")}, "10.0.0.1-10.0.0.4"},
      {{from_to("10.0.0.1", "10.0.0.2"), from_to("10.0.0.4", "10.0.0.5")}, "10.0.0.1-10.0.0.2 10.0.0.4-10.0.0.5"},
      {{from_to("10.0.0.1", "10.0.0.9"), from_to("10.0.0.2", "10.0.0.3")}, "10.0.0.1-10.0.0.9"},
      {{from_to("10.0.0.1", "10.0.0.2"), from_to("10.0.0.2", "10.0.0.3")}, "10.0.0.1-10.0.0.3"},
      {{from_to("255.255.255.255", "255.255.255.255"), from_to("::", "::1")}, "255.255.255.255-255.255.255.255 ::-::1"},
      {{from_to("255.255.255.254", "255.255.255.255"), from_to("255.255.255.255", "255.255.255.255")},
       "255.255.255.254-255.255.255.255"},
  };
  for (const RangeCase& c : cases) EXPECT_EQ(show(merged(c.ranges)), c.merged);
}

TEST(UsableParts, LeaveOutWhatIsExcludedGatewaysAndTheEndsOfTheSubnet) {
  struct RangeCase {
    const char* about;
    const char* subnet;
    std::vector<const char*> excluded, gateways;
    std::vector<IpRange> pieces;
    std::string parts;
  };
  const std::vector<IpRange> all = {from_to("10.0.0.0", "10.0.0.255")};
  const RangeCase cases[] = {
      {"the ends", "10.0.0.0/29", {}, {}, all, "10.0.0.1-10.0.0.6"},
      {"no ends in a pair", "10.0.0.0/31", {}, {}, all, "10.0.0.0-10.0.0.1"},
      {"nor in one", "10.0.0.1/32", {}, {}, all, "10.0.0.1-10.0.0.1"},
      {"the ends of four", "10.0.0.0/30", {}, {}, all, "10.0.0.1-10.0.0.2"},
      {"IPv6 has no broadcast", "fd00::/126", {}, {}, {from_to("fd00::", "fd00::ff")}, "fd00::1-fd00::3"},
      {"an IPv6 pair", "fd00::/127", {}, {}, {from_to("fd00::", "fd00::ff")}, "fd00::-fd00::1"},
      {"the middle", "10.0.0.0/28", {"10.0.0.4/30"}, {}, all, "10.0.0.1-10.0.0.3 10.0.0.8-10.0.0.14"},
      {"the beginning", "10.0.0.0/28", {"10.0.0.0/30"}, {}, all, "10.0.0.4-10.0.0.14"},
      {"the end", "10.0.0.0/28", {"10.0.0.12/30"}, {}, all, "10.0.0.1-10.0.0.11"},
      {"all", "10.0.0.0/28", {"10.0.0.0/24"}, {}, all, ""},
      {"a gateway", "10.0.0.0/29", {}, {"10.0.0.1"}, all, "10.0.0.2-10.0.0.6"},
      {"a gateway of the other family", "10.0.0.0/29", {}, {"fd00::1"}, all, "10.0.0.1-10.0.0.6"},
      {"pieces that touch",
       "10.0.0.0/28",
       {},
       {},
       {from_to("10.0.0.2", "10.0.0.3"), from_to("10.0.0.4", "10.0.0.5")},
       "10.0.0.2-10.0.0.5"},
      {"pieces apart",
       "10.0.0.0/28",
       {},
       {"10.0.0.9"},
       {from_to("10.0.0.8", "10.0.0.9"), from_to("10.0.0.2", "10.0.0.3")},
       "10.0.0.2-10.0.0.3 10.0.0.8-10.0.0.8"},
      {"a piece of the other family", "10.0.0.0/28", {}, {}, {from_to("fd00::", "fd00::ff")}, ""},
      {"the last one before what is excluded, across all bytes",
       "10.0.0.0/7",
       {"11.0.0.0/8"},
       {},
       {from_to("10.255.255.253", "11.0.0.2")},
       "10.255.255.253-10.255.255.255"},
      {"the last of all",
       "255.255.255.252/30",
       {"255.255.255.254/31"},
       {},
       {from_to("0.0.0.0", "255.255.255.255")},
       "255.255.255.253-255.255.255.253"},
  };
  for (const RangeCase& c : cases) {
    api::IpamRange wanted = range(c.subnet);
    for (const char* one : c.excluded) wanted.excluded.push_back(prefix(one));
    std::vector<IpAddress> gateways;
    for (const char* one : c.gateways) gateways.push_back(ip(one));
    EXPECT_EQ(show(usable_parts(wanted, gateways, c.pieces)), c.parts) << c.about;
    // One by one the same addresses are usable.
    for (const IpRange& piece : c.pieces)
      for (std::optional<IpAddress> at = std::max(piece.first, wanted.addresses.first);
           at && piece.contains(*at) && wanted.addresses.contains(*at); at = at->plus(1)) {
        bool in_parts = false;
        for (const IpRange& part : usable_parts(wanted, gateways, c.pieces)) in_parts |= part.contains(*at);
        EXPECT_EQ(usable(*at, wanted, gateways), in_parts) << c.about << ": " << at->to_string();
      }
  }
}

TEST(TakenMap, ShowsWhoHasWhat) {
  const Owner a{"default/a", "net1"};
  const Owner b{"default/b", "net1"};
  const std::map<IpAddress, Owner> taken = {
      {ip("10.0.0.1"), a}, {ip("10.0.0.2"), b}, {ip("10.0.0.3"), a}, {ip("10.0.0.5"), b}, {ip("255.255.255.255"), a}};
  const TakenMap map(taken);
  EXPECT_EQ(map.holder(ip("10.0.0.4")), nullptr);
  ASSERT_NE(map.holder(ip("10.0.0.2")), nullptr);
  EXPECT_EQ(*map.holder(ip("10.0.0.2")), b);
  EXPECT_EQ(map.held_by(b), (std::vector<IpAddress>{ip("10.0.0.2"), ip("10.0.0.5")}));
  EXPECT_EQ(map.first_free(ip("10.0.0.1")), ip("10.0.0.4"));
  EXPECT_EQ(map.first_free(ip("10.0.0.4")), ip("10.0.0.4"));
  EXPECT_EQ(map.first_free(ip("10.0.0.5")), ip("10.0.0.6"));
  EXPECT_EQ(map.first_free(ip("255.255.255.255")), std::nullopt);
  const TakenView::Held held = map.held_in({from_to("10.0.0.2", "10.0.0.3"), from_to("10.0.0.5", "10.0.0.9")}, 2);
  EXPECT_EQ(held.count, 3u);
  ASSERT_EQ(held.first.size(), 2u);
  EXPECT_EQ(held.first[0].first, ip("10.0.0.2"));
  EXPECT_EQ(held.first[1].second, a);
}

TEST(LowestFree, IsTheFirstFreeOne) {
  api::IpamRange wanted = range("10.0.0.0/28");
  wanted.excluded = {prefix("10.0.0.4/30")};
  const Owner a{"default/a", "net1"};
  const std::map<IpAddress, Owner> taken = {{ip("10.0.0.2"), a}, {ip("10.0.0.3"), a}};
  const TakenMap map(taken);
  const IpRange all = from_to("0.0.0.0", "255.255.255.255");
  const auto lowest = [&](const IpRange& piece, const std::vector<IpAddress>& gateways,
                          const std::vector<IpAddress>& besides) {
    const auto found = lowest_free(wanted, piece, gateways, map, besides);
    return found ? found->to_string() : "none";
  };
  EXPECT_EQ(lowest(all, {}, {}), "10.0.0.1");
  EXPECT_EQ(lowest(all, {ip("10.0.0.1")}, {}), "10.0.0.8");
  EXPECT_EQ(lowest(all, {ip("10.0.0.1")}, {ip("10.0.0.8"), ip("10.0.0.9")}), "10.0.0.10");
  EXPECT_EQ(lowest(from_to("10.0.0.14", "10.0.0.20"), {}, {}), "10.0.0.14");
  EXPECT_EQ(lowest(from_to("10.0.0.15", "10.0.0.20"), {}, {}), "none");
  EXPECT_EQ(lowest(from_to("10.0.0.4", "10.0.0.7"), {}, {}), "none");
  EXPECT_EQ(lowest(from_to("10.0.0.2", "10.0.0.3"), {}, {}), "none");
  EXPECT_EQ(lowest(from_to("fd00::", "fd00::9"), {}, {}), "none");
}

}  // namespace
}  // namespace railbed::ipam

// SPDX-License-Identifier: Apache-2.0
// Which routes of an interface go to the tables of its addresses, as the original sbr plugin moves them.
#include "attach/source_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Route route(const char* destination, const char* gateway = "", const char* source = "", int metric = 0) {
  Route one{.destination = *IpPrefix::parse(destination)};
  if (*gateway != '\0') one.gateway = *IpAddress::parse(gateway);
  if (*source != '\0') one.source = *IpAddress::parse(source);
  if (metric != 0) one.metric = metric;
  return one;
}

ipam::Assigned address(const char* text, const char* gateway = "") {
  ipam::Assigned one{.address = *IpPrefix::parse(text)};
  if (*gateway != '\0') one.gateway = *IpAddress::parse(gateway);
  return one;
}

std::vector<std::string> texts(const std::vector<Route>& routes) {
  std::vector<std::string> all;
  for (const Route& one : routes) {
    std::string text = one.destination.to_string();
    if (one.gateway.has_value()) text += " via " + one.gateway->to_string();
    if (one.source.has_value()) text += " src " + one.source->to_string();
    if (one.table.has_value()) text += fmt::format(" table {}", *one.table);
    all.push_back(text);
  }
  return all;
}

SourceRoutes moved(const std::vector<ipam::Assigned>& addresses, const std::vector<Route>& main,
                   const SourceRouting& wanted = {}) {
  std::vector<int> tables;
  for (size_t i = 0; i < addresses.size(); ++i) tables.push_back(100 + static_cast<int>(i));
  return source_routes(wanted, addresses, source_rules(addresses, tables), main, {});
}

// The kernel makes routes of IPv6 links by itself, and neighbours are not found without them.
TEST(SourceRoutes, OfLinkLocalAndMulticastDestinationsStay) {
  const std::vector<Route> main = {route("fe80::/64"),   route("febf::/16"), route("ff00::/8"),
                                   route("fd00:7::/64"), route("fec0::/16"), route("::/0", "fd00::1")};
  const SourceRoutes done = moved({address("fd00::2/64")}, main);
  EXPECT_THAT(texts(done.remove), ElementsAre("::/0 via fd00::1", "fd00:7::/64", "fec0::/16"));
  EXPECT_THAT(texts(done.add),
              ElementsAre("fd00:7::/64 table 100", "fec0::/16 table 100", "::/0 via fd00::1 table 100"));
}

// The same first byte means something else in IPv4.
TEST(SourceRoutes, OfIpv4AllMove) {
  const SourceRoutes done = moved({address("10.1.0.2/24")}, {route("255.255.255.255/32"), route("254.128.0.0/16")});
  EXPECT_THAT(texts(done.remove), ElementsAre("255.255.255.255/32", "254.128.0.0/16"));
  EXPECT_THAT(texts(done.add), ElementsAre("255.255.255.255/32 table 100", "254.128.0.0/16 table 100"));
}

TEST(SourceRoutes, GoWithTheAddressThatTheirSourceOrGatewayIsOf) {
  const std::vector<ipam::Assigned> two = {address("10.1.0.2/24"), address("10.2.0.2/24")};
  EXPECT_THAT(texts(moved(two, {route("10.7.0.0/16", "10.2.0.1"), route("10.8.0.0/16", "", "10.1.0.2")}).add),
              ElementsAre("10.8.0.0/16 src 10.1.0.2 table 100", "10.7.0.0/16 via 10.2.0.1 table 101"));
  EXPECT_THAT(texts(moved(two, {route("10.9.0.0/16")}).add),
              ElementsAre("10.9.0.0/16 table 100", "10.9.0.0/16 table 101"))
      << "one of neither goes with both";
  EXPECT_THAT(texts(moved(two, {route("fd00::/64")}).add), IsEmpty()) << "no address of its family";
}

TEST(SourceRoutes, AnAddressesOwnGatewayIsTheDefaultWhereNoRouteIs) {
  EXPECT_THAT(texts(moved({address("10.1.0.2/24", "10.1.0.1")}, {}).add),
              ElementsAre("0.0.0.0/0 via 10.1.0.1 table 100"));
  const std::vector<Route> with_default = {route("0.0.0.0/0", "10.1.0.9")};
  EXPECT_THAT(texts(moved({address("10.1.0.2/24", "10.1.0.1")}, with_default).add),
              ElementsAre("0.0.0.0/0 via 10.1.0.9 table 100"));
  const std::vector<Route> with_a_spare = {route("0.0.0.0/0", "10.1.0.9", "", 500)};
  EXPECT_THAT(texts(moved({address("10.1.0.2/24", "10.1.0.1")}, with_a_spare).add),
              ElementsAre("0.0.0.0/0 via 10.1.0.9 table 100", "0.0.0.0/0 via 10.1.0.1 table 100"));
  SourceRouting named;
  named.gateways = {*IpAddress::parse("10.9.0.1"), *IpAddress::parse("10.1.0.7")};
  EXPECT_THAT(texts(moved({address("10.1.0.2/24", "10.1.0.1")}, with_default, named).add),
              ElementsAre("0.0.0.0/0 via 10.1.0.7 table 100"));
}

// An IPv6 route without a metric is one of 1024, so these two are one place in a table.
TEST(SourceRoutes, AreThereOnceForEachDestinationAndMetric) {
  const std::vector<Route> main = {route("fd00:7::/64"), route("fd00:7::/64", "", "", 1024),
                                   route("fd00:7::/64", "", "", 10)};
  EXPECT_THAT(texts(moved({address("fd00::2/64")}, main).add),
              ElementsAre("fd00:7::/64 table 100", "fd00:7::/64 table 100"));
}

// The kernel takes a route only where its gateway is reached already, by a route of the same table.
TEST(SourceRoutes, ComeBehindThoseThatLeadToTheirGateways) {
  SourceRouting named;
  named.gateways = {*IpAddress::parse("10.1.0.7")};
  const std::vector<Route> main = {route("10.7.0.0/16", "10.1.0.1"), route("10.1.0.0/24")};
  const SourceRoutes done = moved({address("10.1.0.2/24")}, main, named);
  EXPECT_THAT(texts(done.add), ElementsAre("10.1.0.0/24 table 100", "0.0.0.0/0 via 10.1.0.7 table 100",
                                           "10.7.0.0/16 via 10.1.0.1 table 100"));
  EXPECT_THAT(texts(done.remove), ElementsAre("10.7.0.0/16 via 10.1.0.1", "10.1.0.0/24")) << "in the other order";
}

// The network names the table: its own routes name it too, and nothing else is to be moved.
TEST(SourceRoutes, StayWhereATableIsNamedAndNoGateway) {
  SourceRouting named;
  named.table = 200;
  const std::vector<Route> main = {route("10.7.0.0/16", "10.1.0.1")};
  EXPECT_THAT(moved({address("10.1.0.2/24")}, main, named).remove, IsEmpty());
  EXPECT_THAT(moved({address("10.1.0.2/24")}, main, named).add, IsEmpty());
  named.source_hints = true;
  EXPECT_THAT(texts(moved({address("10.1.0.2/24")}, main, named).add),
              ElementsAre("10.7.0.0/16 via 10.1.0.1 src 10.1.0.2 table 100"));
}

}  // namespace
}  // namespace railbed::attach

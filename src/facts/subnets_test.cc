// SPDX-License-Identifier: Apache-2.0
#include "facts/subnets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/facts_json.h"
#include "facts/fixture.h"

namespace railbed::facts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_fixture::facts_of;

NetInterface interface(const std::string& name, const std::vector<const char*>& addresses) {
  NetInterface netdev{.name = name};
  for (const char* address : addresses) netdev.addresses.push_back(IpPrefix::parse(address).value());
  return netdev;
}

NodeFacts node_with(std::vector<NetInterface> netdevs) {
  NodeFacts facts;
  for (NetInterface& netdev : netdevs) {
    Nic nic;
    nic.netdevs.push_back(std::move(netdev));
    facts.nics.push_back(std::move(nic));
  }
  return facts;
}

std::vector<std::string> shared_in(const NodeFacts& facts) {
  std::vector<std::string> lines;
  for (const SharedSubnet& subnet : shared_subnets(facts)) {
    std::string line = subnet.network.to_string() + ":";
    for (const SubnetMember& one : subnet.members) line += fmt::format(" {} {}", one.netdev->name, one.address);
    lines.push_back(line);
  }
  return lines;
}

TEST(SharedSubnets, AreThoseOfSeveralInterfaces) {
  EXPECT_THAT(shared_in(node_with({interface("a", {"10.0.0.1/24"}), interface("b", {"10.0.0.2/24", "10.1.0.2/24"}),
                                   interface("c", {"10.1.0.3/24", "10.0.0.3/24"})})),
              ElementsAre("10.0.0.0/24: a 10.0.0.1/24 b 10.0.0.2/24 c 10.0.0.3/24",
                          "10.1.0.0/24: b 10.1.0.2/24 c 10.1.0.3/24"));
  // Masks that differ, where each takes the other for a neighbour.
  EXPECT_THAT(shared_in(node_with({interface("a", {"10.0.0.1/16"}), interface("b", {"10.0.0.2/24"})})),
              ElementsAre("10.0.0.0/16: a 10.0.0.1/16 b 10.0.0.2/24"));
  EXPECT_THAT(shared_in(node_with({interface("a", {"fd00::1/64"}), interface("b", {"fd00::2/64"})})),
              ElementsAre("fd00::/64: a fd00::1/64 b fd00::2/64"));
}

TEST(SharedSubnets, AreNotNeighboursAndNotWhatOneInterfaceHasTwice) {
  for (const NodeFacts& facts : {
           node_with({interface("a", {"10.0.0.1/24", "10.0.0.9/24"}), interface("b", {"10.0.1.2/24"})}),
           node_with({interface("a", {"10.0.0.1/32"}), interface("b", {"10.0.0.1/32"})}),
           node_with({interface("a", {"10.0.0.0/31"}), interface("b", {"10.0.0.1/31"})}),
           node_with({interface("a", {"fe80::1/64"}), interface("b", {"fe80::2/64"})}),
           node_with({interface("a", {"10.0.0.1/16"}), interface("b", {"10.0.7.2/24"})}),
           node_with({interface("a", {}), interface("b", {"10.0.7.2/24"})}),
       })
    EXPECT_THAT(shared_in(facts), IsEmpty());
}

TEST(SharedSubnets, LeaveOutWhatIsOffApartOrOnTopOfAnother) {
  NodeFacts facts = node_with({interface("a", {"10.0.0.1/24"}), interface("b", {"10.0.0.2/24"})});
  facts.nics[1].netdevs[0].admin_up = false;
  EXPECT_THAT(shared_in(facts), IsEmpty());
  facts.nics[1].netdevs[0].admin_up = true;
  facts.nics[1].netdevs[0].master = "vrf-b";
  EXPECT_THAT(shared_in(facts), IsEmpty());
  facts.nics.pop_back();
  facts.virtual_netdevs = {interface("br0", {"10.0.0.3/24"}), interface("mv0", {"10.0.0.4/24"})};
  facts.virtual_netdevs[0].kind = "bridge";
  facts.virtual_netdevs[1].kind = "macvlan";
  EXPECT_THAT(shared_in(facts), IsEmpty());
  facts.virtual_netdevs[0].kind = "bond";
  Vf vf;
  vf.netdev = interface("a-v0", {"10.0.0.5/24"});
  facts.nics[0].vfs.push_back(vf);
  EXPECT_THAT(shared_in(facts), ElementsAre("10.0.0.0/24: a 10.0.0.1/24 a-v0 10.0.0.5/24 br0 10.0.0.3/24"));
}

TEST(ArpSettings, KeepInterfacesApart) {
  const struct {
    const char* name;
    ArpSettings arp;
    bool v4;
    bool v6;
  } cases[] = {
      {"nothing is known", {}, false, false},
      {"answers and asks for itself", {.ignore = 1, .announce = 2}, true, false},
      {"answers for itself only", {.ignore = 1, .announce = 1}, false, false},
      {"does not answer for itself", {.ignore = 0, .announce = 2}, false, false},
      {"drops what has another way back", {.ignore = 1, .announce = 2, .rp_filter = 1}, false, false},
      {"has its own way back", {.ignore = 1, .announce = 2, .rp_filter = 1, .source_rule = true}, true, true},
      {"is loose about the way back", {.ignore = 2, .announce = 2, .rp_filter = 2, .source_rule = false}, true, false},
      {"answers by its route", {.filter = 1, .source_rule = true}, true, true},
      {"answers by a route that it shares", {.filter = 1, .source_rule = false}, false, false},
      {"has a route of its own, and answers for others", {.source_rule = true}, false, true},
  };
  for (const auto& one : cases) {
    NetInterface netdev;
    netdev.arp = one.arp;
    EXPECT_EQ(is_kept_apart(netdev, IpFamily::kV4), one.v4) << one.name;
    EXPECT_EQ(is_kept_apart(netdev, IpFamily::kV6), one.v6) << one.name;
  }
  EXPECT_FALSE(is_kept_apart(NetInterface{}, IpFamily::kV4));
}

constexpr std::string_view kTwoPorts =
    "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n"
    "/sys/bus/pci/devices/0000:02:00.0 -> ../../../devices/pci0000:00/0000:02:00.0\n"
    "[/sys/devices/pci0000:00]\n"
    "0000:01:00.0/uevent = DRIVER=mlx5_core\\nPCI_CLASS=20000\\nPCI_ID=15B3:1021\n"
    "0000:02:00.0/uevent = DRIVER=mlx5_core\\nPCI_CLASS=20000\\nPCI_ID=15B3:1021\n"
    "[/proc/sys/net/ipv4/conf]\n"
    "all/arp_ignore = 1\n"
    "all/rp_filter = 0\n"
    "eth1/arp_ignore = 0\n"
    "eth1/arp_announce = 2\n"
    "eth1/rp_filter = 2\n"
    "eth2/arp_announce = 0\n";

NodeFacts two_ports(std::string_view second_address, std::string_view rules) {
  return facts_of(std::string(kTwoPorts) + fmt::format(R"(/railbed/links.json <<END
{{"links": [{{"index": 2, "name": "eth1", "arpType": 1, "up": true, "parentBus": "pci", "parentDevice": "0000:01:00.0"}},
 {{"index": 3, "name": "eth2", "arpType": 1, "up": true, "parentBus": "pci", "parentDevice": "0000:02:00.0"}}],
 "addresses": [{{"link": 2, "prefix": "10.0.0.1/24"}}, {{"link": 3, "prefix": "{}"}}], "routes": []{}}}
END
)",
                                                       second_address, rules));
}

TEST(ArpSettings, AreReadWhereASubnetIsShared) {
  const NodeFacts apart = two_ports("10.1.0.2/24", "");
  EXPECT_EQ(apart.nics.at(0).netdevs.at(0).arp, std::nullopt);
  const NodeFacts shared = two_ports("10.0.0.2/24", R"(, "rules": [{"from": "10.0.0.2/32", "table": 102}])");
  const ArpSettings first{.ignore = 1, .announce = 2, .filter = {}, .rp_filter = 2, .source_rule = false};
  const ArpSettings second{.ignore = 1, .announce = 0, .filter = {}, .rp_filter = 0, .source_rule = true};
  EXPECT_EQ(shared.nics.at(0).netdevs.at(0).arp, first);
  EXPECT_EQ(shared.nics.at(1).netdevs.at(0).arp, second);
  // A recording of an earlier version has no rules.
  const ArpSettings without{.ignore = 1, .announce = 2, .filter = {}, .rp_filter = 2, .source_rule = {}};
  EXPECT_EQ(two_ports("10.0.0.2/24", "").nics.at(0).netdevs.at(0).arp, without);

  doc::Diagnostics diagnostics;
  EXPECT_EQ(from_value(to_value(shared), diagnostics), shared);
}

}  // namespace
}  // namespace railbed::facts

// SPDX-License-Identifier: Apache-2.0
// The bytes of every request to the kernel, against testdata/os/netlink_requests.txt: what the lab has seen the kernel
// accept must not change unnoticed. Whether the kernel understands them is for tests/netns and the lab.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "os/netlink/address_codec.h"
#include "os/netlink/devlink.h"
#include "os/netlink/generic_family.h"
#include "os/netlink/link_codec.h"
#include "os/netlink/rdma_codec.h"
#include "os/ports/netns.h"

namespace railbed::os {
namespace {

std::string all_requests() {
  std::string text;
  // Sixteen bytes a line: the message's header, then its content.
  const auto add = [&](std::string_view what, const NetlinkRequest& request) {
    text += fmt::format("{}\n", what);
    const auto bytes = request.bytes();
    for (size_t at = 0; at < bytes.size(); at += 16) {
      text += " ";
      for (size_t i = at; i < std::min(at + 16, bytes.size()); ++i) text += fmt::format(" {:02x}", bytes[i]);
      text += '\n';
    }
  };
  const Netns pod(9, "/run/netns/a");
  const auto ip = [](const char* one) { return IpAddress::parse(one).value(); };
  const auto prefix = [](const char* one) { return IpPrefix::parse(one).value(); };

  add("links", encode_list_links(WithVfs::kNo));
  add("links with VFs", encode_list_links(WithVfs::kYes));
  add("link by name", encode_find_link(IfName{"eth0"}, WithVfs::kNo));
  add("link by name with VFs", encode_find_link(IfName{"eth0"}, WithVfs::kYes));
  add("link by index", encode_find_link(IfIndex{7}, WithVfs::kNo));
  add("link by index with VFs", encode_find_link(IfIndex{7}, WithVfs::kYes));
  add("change: all", encode_change_link(IfIndex{7}, {.name = IfName{"net1"},
                                                     .netns = &pod,
                                                     .mtu = 9000,
                                                     .up = true,
                                                     .mac = MacAddress::parse("02:00:00:00:00:01").value(),
                                                     .alias = "of a",
                                                     .promiscuous = true,
                                                     .all_multicast = true,
                                                     .tx_queue = 77,
                                                     .master = IfIndex{3}}));
  add("change: arp_notify", encode_change_link(IfIndex{7}, {.arp_notify = true}));
  add("change: down, no flags",
      encode_change_link(IfIndex{7}, {.up = false, .promiscuous = false, .all_multicast = false}));
  add("VF: all", encode_change_vf(IfIndex{2}, VfIndex{5},
                                  {.mac = MacAddress::parse("02:00:00:00:00:01").value(),
                                   .vlan = VfChange::Vlan{100, 3, VlanProto::k8021ad},
                                   .spoof_check = true,
                                   .trust = false,
                                   .link_state = VfLinkState::kDisable,
                                   .rate = VfChange::Rate{10, 100},
                                   .node_guid = Guid{0x0200000000000001},
                                   .port_guid = Guid{0x0200000000000002}}));
  add("VF: a plain VLAN", encode_change_vf(IfIndex{2}, VfIndex{0}, {.vlan = VfChange::Vlan{5, 0, VlanProto::k8021q}}));
  add("create macvlan", encode_create_link({.kind = "macvlan",
                                            .name = IfName{"net1"},
                                            .netns = &pod,
                                            .parent = IfIndex{2},
                                            .mtu = 1400,
                                            .mac = MacAddress::parse("02:00:00:00:00:01").value(),
                                            .group = 77,
                                            .macvlan_mode = MacvlanMode::kVepa,
                                            .broadcast_queue = 2000,
                                            .up = true}));
  for (MacvlanMode mode : {MacvlanMode::kBridge, MacvlanMode::kPrivate, MacvlanMode::kPassthru})
    add("create macvlan of another mode",
        encode_create_link({.kind = "macvlan", .name = IfName{"net1"}, .parent = IfIndex{2}, .macvlan_mode = mode}));
  for (IpvlanMode mode : {IpvlanMode::kL2, IpvlanMode::kL3, IpvlanMode::kL3s})
    add("create ipvlan",
        encode_create_link({.kind = "ipvlan", .name = IfName{"net1"}, .parent = IfIndex{2}, .ipvlan_mode = mode}));
  add("create veth",
      encode_create_link({.kind = "veth", .name = IfName{"a"}, .peer_name = IfName{"b"}, .peer_netns = &pod}));
  add("create vrf", encode_create_link({.kind = "vrf", .name = IfName{"blue"}, .table = 100, .up = true}));
  add("create bridge", encode_create_link({.kind = "bridge", .name = IfName{"br0"}}));
  add("remove link", encode_remove_link(IfIndex{7}));
  add("remove group", encode_remove_group(77));

  add("addresses", encode_list_addresses());
  add("add address", encode_add_address({IfIndex{7}, prefix("10.1.2.3/24")}));
  add("add IPv6 address", encode_add_address({IfIndex{7}, prefix("fd00::3/64")}));
  add("remove address", encode_remove_address({IfIndex{7}, prefix("10.1.2.3/24")}));
  for (IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    add("routes of the main table", encode_list_routes(family));
    add("routes of all tables", encode_list_routes(family, Tables::kAll));
    add("rules", encode_list_rules(family));
  }
  Route route{.destination = prefix("10.9.0.0/16"), .gateway = ip("10.1.2.1"), .link = IfIndex{7}};
  add("add route", encode_add_route(route));
  add("remove route", encode_remove_route(route));
  add("add route on the link", encode_add_route({.destination = prefix("10.9.0.0/16"), .link = IfIndex{7}}));
  add("add default route",
      encode_add_route(
          {.destination = Route::everywhere(IpFamily::kV6), .gateway = ip("fd00::1"), .link = IfIndex{7}}));
  route.metric = 5, route.table = 70000, route.mtu = 1400, route.advmss = 1360, route.scope = 200,
  route.source = ip("10.1.2.3");
  add("add route: all", encode_add_route(route));
  route.table = 100;
  add("add route in a small table", encode_add_route(route));
  add("add rule", encode_add_rule({prefix("10.1.2.3/32"), 100, 32000}));
  add("remove rule", encode_remove_rule({prefix("fd00::3/128"), 70000, std::nullopt}));

  add("RDMA devices", encode_list_rdma_devices());
  add("RDMA ports", encode_list_rdma_ports(3));
  add("RDMA mode", encode_rdma_netns_mode());
  add("make soft RDMA", encode_create_soft_rdma("rxe", "rxe0", IfName{"net1"}));
  add("remove soft RDMA", encode_remove_soft_rdma(3));
  add("move RDMA", encode_move_rdma(3, 9));
  add("devlink family", encode_find_family("devlink"));
  const PciAddress pf = PciAddress::parse("0000:3b:00.1").value();
  add("eswitch", encode_get_eswitch(pf).request(21));
  add("eswitch to switchdev", encode_set_eswitch(21, pf, EswitchMode::kSwitchdev));
  add("eswitch to legacy", encode_set_eswitch(21, pf, EswitchMode::kLegacy));
  add("device information", encode_get_device_info(pf).request(21));
  return text;
}

TEST(NetlinkRequests, HaveTheseBytes) {
  expect_golden(testdata() / "os/netlink_requests.txt", all_requests());
}

}  // namespace
}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
// The bytes of records, which other versions of railbed read after an upgrade or a downgrade, both ways.
#include "attach/record.h"

#include <gtest/gtest.h>

#include "attach/result.h"

namespace railbed::attach {
namespace {

MacAddress parsed_mac(const char* text) {
  return MacAddress::parse(text).value();
}

Before whole_before() {
  const Route whole{.destination = *IpPrefix::parse("10.7.0.0/16"),
                    .gateway = *IpAddress::parse("10.0.0.9"),
                    .link = IfIndex{7},
                    .metric = 5,
                    .table = 100,
                    .mtu = 1400,
                    .advmss = 1360,
                    .scope = 253,
                    .source = *IpAddress::parse("10.0.0.1")};
  Before before{.way = Way::kExisting,
                .device = PciAddress{0, 1, 0x10, 4},
                .pf = PciAddress{0, 1, 0, 0},
                .vf = VfIndex{0},
                .vf_settings = {.vlan = os::VfChange::Vlan{5, 1, os::VlanProto::k8021ad},
                                .trust = false,
                                .link_state = os::VfLinkState::kDisable,
                                .rate = os::VfChange::Rate{0, 10},
                                .node_guid = Guid{1}}};
  before.vf_settings.mac = parsed_mac("02:00:00:00:00:98");
  before.vf_settings.spoof_check = true;
  before.vf_settings.port_guid = Guid{2};
  before.rebind = "mlx5_core";
  before.driver = "mlx5_core";
  before.name = "eth2";
  before.index = 7;
  before.kind = "veth";
  before.parent = "auxiliary/devices/mlx5_core.sf.4";
  before.hw_address = {2, 0, 0, 0, 0, 0xff};
  before.permanent_address = {2, 0, 0, 0, 0, 0xfe};
  before.parent_index = 9;
  before.in_pod = InPod{.index = 3, .parent = 9, .parent_netns_id = 0};
  before.new_mac = parsed_mac("02:00:00:00:00:99");
  before.mtu = 1500;
  before.up = true;
  before.addresses = {*IpPrefix::parse("10.0.0.1/24")};
  before.routes = {{.gateway = *IpAddress::parse("10.0.0.9"), .metric = 0}, whole};
  before.promiscuous = false;
  before.all_multicast = true;
  before.tx_queue = 1000;
  before.sysctls = {{"net/ipv4/conf/net1/arp_filter", "0"}};
  before.netns = os::NetnsIdentity{.number = 77};
  before.nsid = os::Nsid{3};
  before.orphaned_at_s = 1'800'000'000;
  before.orphaned_by = OrphanedBy::kVfio;
  before.vfio_group = "/dev/vfio/12";
  before.rules = {{.source = *IpPrefix::parse("10.0.0.1/32"), .table = 100, .priority = 9},
                  {.source = *IpPrefix::parse("fd00::1/128"), .table = 101}};
  before.table_routes = {whole};
  before.vrf = "blue";
  before.vrf_table = 3;
  before.group = 0x7fffffff;
  before.without_advertisements = true;
  before.rdma = {"mlx5_3"};
  before.rdma_undo = RdmaUndo::kMoveBack;
  return before;
}

constexpr const char* kBeforeBytes =
    R"({"way":3,"device":"0000:01:10.4","pf":"0000:01:00.0","vf":0,)"
    R"("vfSettings":{"mac":"02:00:00:00:00:98","vlan":5,"qos":1,"proto":1,"spoofchk":true,"trust":false,)"
    R"("link_state":2,"min_tx_rate":0,"max_tx_rate":10,"node_guid":"0000:0000:0000:0001",)"
    R"("port_guid":"0000:0000:0000:0002"},"rebind":"mlx5_core","driver":"mlx5_core","name":"eth2","index":7,)"
    R"("kind":"veth","parent":"auxiliary/devices/mlx5_core.sf.4","hwAddress":"0200000000ff",)"
    R"("permanentAddress":"0200000000fe","parentIndex":9,"inPod":{"index":3,"parent":9,"parentNetnsId":0},)"
    R"("newMac":"02:00:00:00:00:99","mtu":1500,"up":true,"addresses":["10.0.0.1/24"],)"
    R"("routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.9","metric":0},{"dst":"10.7.0.0/16","gw":"10.0.0.9","link":7,)"
    R"("metric":5,"table":100,"mtu":1400,"advmss":1360,"scope":253,"src":"10.0.0.1"}],"group":2147483647,)"
    R"("withoutAdvertisements":true,"promisc":false,"allmulti":true,"txQueue":1000,)"
    R"("sysctls":["net/ipv4/conf/net1/arp_filter=0"],"netns":"4d","nsid":3,"orphanedAt":1800000000,"orphanedBy":2,)"
    R"("vfioGroup":"/dev/vfio/12","rules":[{"from":"10.0.0.1/32","table":100,"priority":9},)"
    R"({"from":"fd00::1/128","table":101}],"tableRoutes":[{"dst":"10.7.0.0/16","gw":"10.0.0.9","link":7,"metric":5,)"
    R"("table":100,"mtu":1400,"advmss":1360,"scope":253,"src":"10.0.0.1"}],"vrf":"blue","vrfTable":3,)"
    R"("rdma":["mlx5_3"],"rdmaUndo":1})";

InterfaceSpec whole_spec() {
  InterfaceSpec spec{.interface = "net1", .network = "ai/rail0", .type = "sriov", .resource = "openshift.io/rail0"};
  spec.way = Way::kMake;
  spec.device = PciAddress{0, 1, 0x10, 4};
  spec.host_link = "eth1";
  spec.host_mac = parsed_mac("02:00:00:00:00:01");
  spec.macvlan_mode = os::MacvlanMode::kVepa;
  spec.ipvlan_mode = os::IpvlanMode::kL3;
  spec.vf_settings.vlan = os::VfChange::Vlan{7, 0, os::VlanProto::k8021q};
  spec.vf_settings.link_state = os::VfLinkState::kAuto;
  spec.mac = parsed_mac("02:00:00:00:00:02");
  spec.mtu = 9000;
  spec.kernel_path = "/sys/devices/x";
  spec.auxiliary = "mlx5_core.sf.4";
  spec.master_in_pod = true;
  spec.without_parent = true;
  spec.broadcast_queue = 2000;
  spec.promiscuous = true;
  spec.all_multicast = false;
  spec.tx_queue = 5;
  spec.sysctls = {{"net/core/somaxconn", "500"}};
  spec.source_routing = {.table = 100, .gateways = {*IpAddress::parse("10.0.0.1")}, .source_hints = true};
  spec.vrf = {.name = "blue", .table = 5};
  spec.rdma_isolated = true;
  spec.rdma = true;
  spec.rdma_required = true;
  spec.soft_rdma = true;
  spec.addresses = {{*IpPrefix::parse("10.1.0.2/24"), *IpAddress::parse("10.1.0.1"), "p"},
                    {.address = *IpPrefix::parse("fd00::2/64")}};
  spec.routes = {{.destination = *IpPrefix::parse("10.7.0.0/16")}};
  return spec;
}

constexpr const char* kSpecBytes =
    R"({"interface":"net1","network":"ai/rail0","type":"sriov","resource":"openshift.io/rail0","way":1,)"
    R"("device":"0000:01:10.4","hostLink":"eth1","hostMac":"02:00:00:00:00:01","macvlanMode":2,"ipvlanMode":1,)"
    R"("vfSettings":{"vlan":7,"qos":0,"proto":0,"link_state":0},"mac":"02:00:00:00:00:02","mtu":9000,)"
    R"("kernelPath":"/sys/devices/x","auxiliary":"mlx5_core.sf.4","masterInPod":true,"standsAlone":true,)"
    R"("broadcastQueue":2000,"promisc":true,"allmulti":false,"txQueue":5,"sysctls":["net/core/somaxconn=500"],)"
    R"("sourceRouting":{"table":100,"gateways":["10.0.0.1"],"sourceHints":true},"vrf":"blue","vrfTable":5,)"
    R"("rdmaIsolated":true,"rdma":true,"rdmaRequired":true,"softRdma":true,)"
    R"("addresses":[{"address":"10.1.0.2/24","gateway":"10.1.0.1","pool":"p"},{"address":"fd00::2/64"}],)"
    R"("routes":[{"dst":"10.7.0.0/16"}]})";

TEST(RecordBytes, OfStateAndSpecAreTheSameBothWays) {
  EXPECT_EQ(undo_text(InterfaceSpec{}, Before{}), "{}\n{}");
  const std::string undo = undo_text(whole_spec(), whole_before());
  EXPECT_EQ(undo, std::string(kBeforeBytes) + "\n" + kSpecBytes);
  const state::Attachment record{.undo = undo};
  EXPECT_EQ(before_of(record).value(), whole_before());
  EXPECT_EQ(spec_of(record).value(), whole_spec());
  EXPECT_EQ(spec_of({.undo = "{}"}).value(), InterfaceSpec{}) << "a record of a program has no spec";
}

TEST(RecordBytes, OfResultsAreTheSameBothWays) {
  InterfaceResult result{.interface = "net1", .network = "ai/rail0", .type = "sriov", .mac = "02:00:00:00:00:01"};
  EXPECT_EQ(to_json(InterfaceResult{}), "{}");
  result.mtu = 1500;
  result.addresses = {*IpPrefix::parse("10.1.0.2/24")};
  result.gateway = *IpAddress::parse("10.1.0.1");
  result.routes = {{.gateway = *IpAddress::parse("10.1.0.1")}};
  result.pf = "eth0";
  result.device = PciAddress{0, 1, 0x10, 4};
  result.vf = VfIndex{0};
  result.host_name = "eth0v0";
  result.rdma = "mlx5_3";
  result.soft = true;
  result.char_devices = {"/dev/infiniband/uverbs0"};
  result.notes = {"a note"};
  const std::string bytes =
      R"({"interface":"net1","network":"ai/rail0","type":"sriov","mac":"02:00:00:00:00:01","mtu":1500,)"
      R"("addresses":["10.1.0.2/24"],"gateway":"10.1.0.1","routes":[{"dst":"0.0.0.0/0","gw":"10.1.0.1"}],)"
      R"("pf":"eth0","device":"0000:01:10.4","vf":0,"hostName":"eth0v0","rdma":"mlx5_3","soft":true,)"
      R"("charDevices":["/dev/infiniband/uverbs0"],"notes":["a note"]})";
  EXPECT_EQ(to_json(result), bytes);
  EXPECT_EQ(result_from_json(bytes).value(), result);
}

// Later versions may add members. What is of another type counts as absent, but an address that is none is an error.
TEST(RecordBytes, OfOtherVersionsAreReadAsFarAsTheyAreKnown) {
  const state::Attachment other{.undo = R"({"later":[1],"way":"x"})"};
  EXPECT_EQ(before_of(other).value(), Before{});
  for (const char* undo : {R"({"mtu":"x"})", R"({"up":1})", R"({"name":5})", R"({"routes":{}})", R"({"inPod":7})",
                           R"({"device":"x"})", R"({"newMac":"02"})", R"({"routes":[{}]})", R"({"hwAddress":"zz"})",
                           R"({"vfSettings":{"node_guid":"g"}})", R"({"addresses":["10.0.0.1"]})"}) {
    const Result<Before> read = before_of({.undo = undo});
    ASSERT_FALSE(read.has_value()) << undo;
    EXPECT_EQ(read.error().code, Code::kInvalid) << undo;
  }
}

}  // namespace
}  // namespace railbed::attach

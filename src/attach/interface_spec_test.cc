// SPDX-License-Identifier: Apache-2.0
#include "attach/interface_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/record.h"
#include "attach/test_networks.h"
#include "attach/vf_settings.h"

namespace railbed::attach {
namespace {

const plan::PoolVf kVf{
    .pf = {0, 1, 0, 0}, .pf_name = "ens1f0", .index = VfIndex{2}, .address = {0, 1, 0x10, 4}, .rdma = true};

InterfaceRequest rail(const std::vector<std::string>& plugins, std::optional<plan::PoolVf> vf = kVf) {
  InterfaceRequest one = wanted("net1", plugins, vf);
  one.network = "default/rail";
  one.resource = "o/r";
  return one;
}

// The spec as text, or the message of its error.
std::string show(InterfaceRequest one, bool soft = false) {
  Result<api::IpamConfig> ipam = api::read_ipam(one.config, one.network);
  if (!ipam.has_value()) return ipam.error().to_string();
  auto addresses = ipam::assign(*ipam, one.network, {}, {}, {"default/a", "net1"});
  if (!addresses.has_value()) return addresses.error().to_string();
  one.addresses = *addresses;
  one.routes = ipam->routes;
  Result<InterfaceSpec> spec = read_spec(one, soft);
  if (!spec.has_value()) return spec.error().to_string();
  std::string text = undo_text(*spec, Before{});
  size_t start = text.find("\"type\"");
  return text.substr(start, text.size() - start - 1);
}

TEST(InterfaceSpec, UnderstandsEachType) {
  EXPECT_EQ(show(rail({R"({"type":"sriov","vlan":100,"vlanQoS":3,"vlanProto":"802.1ad","mac":"02:00:00:00:00:01",
      "spoofchk":"off","trust":"on","link_state":"enable","min_tx_rate":10,"max_tx_rate":100})"})),
            R"("type":"sriov","resource":"o/r","device":"0000:01:10.4","vfSettings":{"mac":"02:00:00:00:00:01",)"
            R"("vlan":100,"qos":3,"proto":1,"spoofchk":false,"trust":true,"link_state":1,"min_tx_rate":10,)"
            R"("max_tx_rate":100},"mac":"02:00:00:00:00:01","rdma":true)");
  EXPECT_EQ(show(rail({R"({"type":"sriov","vlan":0})"}), true),
            R"("type":"sriov","resource":"o/r","device":"0000:01:10.4",)"
            R"("vfSettings":{"vlan":0,"qos":0,"proto":0},"rdma":true,"softRdma":true)");
  EXPECT_EQ(show(rail({R"({"type":"sriov","deviceID":"0000:02:10.0"})"}, std::nullopt)),
            R"("type":"sriov","resource":"o/r","device":"0000:02:10.0")");
  EXPECT_EQ(
      show(rail({R"({"type":"ib-sriov","link_state":"auto","guid":"02:00:00:00:00:00:00:09"})", R"({"type":"rdma"})"})),
      R"("type":"ib-sriov","resource":"o/r","device":"0000:01:10.4","vfSettings":{"link_state":0,)"
      R"("node_guid":"0200:0000:0000:0009","port_guid":"0200:0000:0000:0009"},"rdma":true,"rdmaRequired":true)");
  plan::PoolVf vfio = kVf;
  vfio.device_type = DeviceType::kVfioPci;
  EXPECT_EQ(show(rail({R"({"type":"sriov"})"}, vfio), true),
            R"("type":"sriov","resource":"o/r","way":2,"device":"0000:01:10.4","rdma":true)");
  EXPECT_EQ(show(rail({R"({"type":"host-device","device":"eth7"})"}, std::nullopt)),
            R"("type":"host-device","resource":"o/r","hostLink":"eth7")");
  EXPECT_EQ(show(rail({R"({"type":"host-device"})"})),
            R"("type":"host-device","resource":"o/r","device":"0000:01:10.4","rdma":true)");
  EXPECT_EQ(show(rail({R"({"type":"macvlan","master":"eth0","mode":"vepa","mtu":9000})"}, std::nullopt)),
            R"("type":"macvlan","resource":"o/r","way":1,"hostLink":"eth0","macvlanMode":2,"mtu":9000)");
  EXPECT_EQ(show(rail({R"({"type":"macvlan","bcqueuelen":2000})"}, std::nullopt)),
            R"("type":"macvlan","resource":"o/r","way":1,"broadcastQueue":2000)");
  EXPECT_EQ(show(rail({R"({"type":"macvlan","bcqueuelen":0})"}, std::nullopt)),
            R"("type":"macvlan","resource":"o/r","way":1)");
  EXPECT_EQ(show(rail({R"({"type":"ipvlan","mode":"l3s"})"}, std::nullopt)),
            R"("type":"ipvlan","resource":"o/r","way":1,"ipvlanMode":2)");
  EXPECT_EQ(show(rail({R"({"type":"macvlan"})",
                       R"({"type":"tuning","mtu":1400,"mac":"02:00:00:00:00:05",
                             "sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1","net/core/somaxconn":"500"}})"},
                      std::nullopt)),
            R"("type":"macvlan","resource":"o/r","way":1,"mac":"02:00:00:00:00:05","mtu":1400,)"
            R"("sysctls":["net/ipv4/conf/net1/arp_filter=1","net/core/somaxconn=500"])");
}

TEST(InterfaceSpec, RoutesGoThroughTheGatewayOfTheAddress) {
  EXPECT_EQ(show(rail({R"({"type":"macvlan","ipam":{"type":"static",
      "addresses":[{"address":"10.0.0.2/24","gateway":"10.0.0.1"},{"address":"fd00::2/64"}],
      "routes":[{"dst":"0.0.0.0/0"},{"dst":"10.5.0.0/16","gw":"10.0.0.9"},{"dst":"fd01::/64"}]}})"},
                      std::nullopt)),
            R"("type":"macvlan","resource":"o/r","way":1,"addresses":[{"address":"10.0.0.2/24",)"
            R"("gateway":"10.0.0.1"},{"address":"fd00::2/64"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},)"
            R"({"dst":"10.5.0.0/16","gw":"10.0.0.9"},{"dst":"fd01::/64"}])");
}

TEST(InterfaceSpec, ThePodsOwnWordsWin) {
  InterfaceRequest one = rail({R"({"type":"sriov","mac":"02:00:00:00:00:01","ipam":{"type":"static",
      "addresses":[{"address":"10.0.0.2/24","gateway":"10.0.0.1"}],"routes":[{"dst":"0.0.0.0/0"}]}})"});
  one.selection.mac = api::given(*MacAddress::parse("02:00:00:00:00:99"));
  one.selection.default_route = {*IpAddress::parse("10.0.0.254")};
  EXPECT_EQ(show(one),
            R"("type":"sriov","resource":"o/r","device":"0000:01:10.4","vfSettings":{"mac":"02:00:00:00:00:99"},)"
            R"("mac":"02:00:00:00:00:99","rdma":true,"addresses":[{"address":"10.0.0.2/24",)"
            R"("gateway":"10.0.0.1"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.254"}])");
  InterfaceRequest ib = rail({R"({"type":"ib-sriov","guid":"02:00:00:00:00:00:00:09"})"});
  ib.selection.infiniband_guid = api::given(Guid{0x0200000000000011});
  EXPECT_THAT(show(ib), testing::HasSubstr(R"("port_guid":"0200:0000:0000:0011")"));
}

TEST(InterfaceSpec, SaysWhatIsWrong) {
  struct Case {
    InterfaceRequest wanted;
    const char* message;
  };
  const std::optional<plan::PoolVf> none;
  InterfaceRequest ib_mac = rail({R"({"type":"ib-sriov"})"});
  ib_mac.selection.mac = api::given(*MacAddress::parse("02:00:00:00:00:99"));
  InterfaceRequest ipvlan_mac = rail({R"({"type":"ipvlan"})"}, none);
  ipvlan_mac.selection.mac = ib_mac.selection.mac;
  const Case cases[] = {
      {rail({}),
       "network default/rail: its definition has no spec.config, and only railbed agent reads files of the node"},
      {rail({R"({"type":"bridge"})"}),
       "network default/rail: plugin type \"bridge\" is not supported\n  supported are sriov, ib-sriov, host-device, "
       "macvlan, ipvlan, dummy, tuning, rdma, sbr, vrf"},
      {rail({R"({"type":"tuning"})"}),
       "network default/rail: plugin tuning changes an interface and cannot be the first of the list"},
      {rail({R"({"type":"sriov"})", R"({"type":"macvlan"})"}),
       "network default/rail: plugin macvlan creates an interface and must be the first of the list"},
      {rail({R"({"type":"sriov"})"}, none),
       "network default/rail, plugin sriov: there is no VF for it\n"
       "  annotate the network with k8s.v1.cni.cncf.io/resourceName and create VFs of that resource by a policy, or "
       "set deviceID"},
      {rail({R"({"type":"sriov","deviceID":"eth0"})"}, none),
       "network default/rail, plugin sriov: deviceID: \"eth0\" is not a PCI address (one looks like 0000:3c:00.0)"},
      {rail({R"({"type":"sriov","vlan":5000})"}),
       "network default/rail, plugin sriov: vlan must be 0 to 4094, found 5000"},
      {rail({R"({"type":"sriov","vlanQoS":3})"}),
       "network default/rail, plugin sriov: vlanQoS needs a vlan that is not 0"},
      {rail({R"({"type":"sriov","vlan":3,"vlanProto":"qinq"})"}),
       "network default/rail, plugin sriov: vlanProto must be \"802.1q\", \"802.1Q\", \"802.1ad\" or "
       "\"802.1AD\", found \"qinq\""},
      {rail({R"({"type":"sriov","mac":"01:00:5e:00:00:01"})"}),
       "network default/rail: 01:00:5e:00:00:01 is a multicast MAC address"},
      {rail({R"({"type":"sriov","mac":"00:00:00:00:00:00"})"}),
       "network default/rail: 00:00:00:00:00:00 is not a valid MAC address for an interface"},
      {rail({R"({"type":"sriov","trust":"yes"})"}),
       "network default/rail, plugin sriov: trust must be \"on\" or \"off\", found \"yes\""},
      {rail({R"({"type":"sriov","link_state":1})"}),
       "network default/rail, plugin sriov: link_state must be \"auto\", \"enable\" or \"disable\", found an integer 1"},
      {rail({R"({"type":"sriov","min_tx_rate":9,"max_tx_rate":5})"}),
       "network default/rail, plugin sriov: min_tx_rate is above max_tx_rate"},
      {rail({R"({"type":"sriov","mac":"01:00:5e:00:00:01"})"}),
       "network default/rail: 01:00:5e:00:00:01 is a multicast MAC address"},
      {rail({R"({"type":"sriov","mac":"x"})"}),
       "network default/rail, plugin sriov: mac: \"x\" is not a MAC address (one looks like 02:00:00:00:00:01)"},
      {ib_mac,
       "network default/rail, plugin ib-sriov: an InfiniBand interface has no MAC address to set; request an "
       "infiniband-guid"},
      {ipvlan_mac,
       "network default/rail, plugin ipvlan: an ipvlan interface has the MAC address of its master; use macvlan"},
      {rail({R"({"type":"ib-sriov","guid":"00:00:00:00:00:00:00:00"})"}),
       "network default/rail, plugin ib-sriov: 00:00:00:00:00:00:00:00 is not a valid port GUID"},
      {rail({R"({"type":"host-device","device":"eth0"})"}),
       "network default/rail, plugin host-device: name the interface by exactly one of device, hwaddr, "
       "kernelpath, pciBusID or a resource"},
      {rail({R"({"type":"host-device","kernelpath":"/sys/x"})"}, none),
       "network default/rail, plugin host-device: kernelpath: \"/sys/x\" is not below /sys/devices/"},
      {rail({R"({"type":"macvlan"})", R"({"type":"rdma"})"}, none),
       "network default/rail, plugin rdma: virtual interfaces have no RDMA device; chain the plugin after sriov, "
       "ib-sriov or host-device"},
      {rail({R"({"type":"macvlan"})", R"({"type":"tuning","mtu":60})"}, none),
       "network default/rail, plugin tuning: mtu 60 is less than the 68 that IPv4 needs"},
      {rail({R"({"type":"macvlan"})", R"({"type":"tuning","sysctl":{"net.ipv4./../x":"1"}})"}, none),
       "network default/rail, plugin tuning: sysctl net.ipv4./../x does not belong to a network namespace (net.…)"},
      {rail({R"({"type":"macvlan"})", R"({"type":"vrf"})"}, none),
       "network default/rail, plugin vrf: vrfname is missing"},
      {rail({R"({"type":"macvlan"})", R"({"type":"sbr"})"}, none),
       "network default/rail, plugin sbr: the interface has no address"},
      {rail({R"({"type":"macvlan"})", R"({"type":"sbr","table":254})"}, none),
       "network default/rail, plugin sbr: table 254 is one of the kernel's own"},
      {rail({R"({"type":"macvlan"})", R"({"type":"tuning","sysctl":{"kernel.panic":"1"}})"}, none),
       "network default/rail, plugin tuning: sysctl kernel.panic does not belong to a network namespace (net.…)"},
  };
  for (const Case& one : cases) EXPECT_EQ(show(one.wanted), one.message);
}

TEST(Record, GoesBothWays) {
  Before before{.way = Way::kMove,
                .device = PciAddress{0, 1, 0x10, 4},
                .pf = PciAddress{0, 1, 0, 0},
                .vf = VfIndex{0},
                .vf_settings = {.vlan = os::VfChange::Vlan{5, 1, os::VlanProto::k8021ad},
                                .trust = false,
                                .link_state = os::VfLinkState::kDisable,
                                .rate = os::VfChange::Rate{0, 10},
                                .node_guid = Guid{1}},
                .rebind = "mlx5_core",
                .name = "eth2",
                .index = 7,
                .kind = "veth",
                .hw_address = {2, 0, 0, 0, 0, 0xff},
                .permanent_address = {2, 0, 0, 0, 0, 0xfe},
                .parent_index = 9,
                .in_pod = InPod{.index = 3, .parent = 9, .parent_netns_id = 0},
                .new_mac = MacAddress::parse("02:00:00:00:00:99").value(),
                .mtu = 1500,
                .up = true,
                .addresses = {*IpPrefix::parse("10.0.0.1/24")},
                .routes = {{.gateway = *IpAddress::parse("10.0.0.9"), .metric = 0}},
                .group = 0x7fffffff,
                .rdma = {"mlx5_3"},
                .rdma_undo = RdmaUndo::kMoveBack};
  const Route whole{.destination = *IpPrefix::parse("10.7.0.0/16"),
                    .gateway = *IpAddress::parse("10.0.0.9"),
                    .link = IfIndex{7},
                    .metric = 5,
                    .table = 100,
                    .mtu = 1400,
                    .advmss = 1360,
                    .scope = 253,
                    .source = *IpAddress::parse("10.0.0.1")};
  before.vf_settings.mac = *MacAddress::parse("02:00:00:00:00:98");
  before.vf_settings.spoof_check = true;
  before.vf_settings.port_guid = Guid{2};
  before.parent = "auxiliary/devices/mlx5_core.sf.4";
  before.routes.push_back(whole);
  before.promiscuous = false;
  before.all_multicast = true;
  before.tx_queue = 1000;
  before.sysctls = {{"net/ipv4/conf/net1/arp_filter", "0"}};
  before.netns = os::NetnsIdentity{.number = 77};
  before.nsid = os::Nsid{3};
  before.orphaned_at_s = 1'800'000'000;
  before.orphaned_by = OrphanedBy::kVfio;
  before.vfio_group = "/dev/vfio/12";
  before.driver = "mlx5_core";
  before.without_advertisements = true;
  before.rules = {{.source = *IpPrefix::parse("10.0.0.1/32"), .table = 100, .priority = 9},
                  {.source = *IpPrefix::parse("fd00::1/128"), .table = 101}};
  before.table_routes = {whole};
  before.vrf = "blue";
  before.vrf_table = 3;
  InterfaceSpec spec{.interface = "net1"};
  state::Attachment record{.undo = undo_text(spec, before)};
  EXPECT_EQ(*before_of(record), before);
  EXPECT_TRUE(same_spec(record, spec));
  spec.mtu = 1400;
  EXPECT_FALSE(same_spec(record, spec));
  EXPECT_EQ(before_of({.undo = "no"}).error().message, "the state contains a record that is not a JSON object: \"no\"");
}

// The words of a later version, which an upgrade back meets, and which a running pod must not notice.
TEST(Record, IsTheSameInOtherWords) {
  InterfaceSpec spec{.interface = "net1", .network = "ai/rail0", .type = "macvlan", .way = Way::kMake};
  spec.host_link = "eth1";
  spec.macvlan_mode = os::MacvlanMode::kVepa;
  spec.promiscuous = false;
  spec.vf_settings.vlan = os::VfChange::Vlan{.id = 7, .qos = 0, .proto = os::VlanProto::k8021ad};
  spec.vf_settings.link_state = os::VfLinkState::kEnable;
  spec.addresses = {{.address = *IpPrefix::parse("10.1.0.2/24"), .gateway = std::nullopt, .pool = "p"}};
  // As this version writes it: another text here needs a reader in the release before.
  const std::string today =
      R"({"interface":"net1","network":"ai/rail0","type":"macvlan","way":1,"hostLink":"eth1","macvlanMode":2,)"
      R"("vfSettings":{"vlan":7,"qos":0,"proto":1,"link_state":1},"promisc":false,)"
      R"("addresses":[{"address":"10.1.0.2/24","pool":"p"}]})";
  EXPECT_EQ(undo_text(spec, {}), "{}\n" + today);
  const auto is_same = [&](const std::string& text) {
    const state::Attachment record{.undo = "{}\n" + text};
    EXPECT_EQ(differences(record, spec).empty(), same_spec(record, spec)) << text;
    return same_spec(record, spec);
  };
  EXPECT_TRUE(is_same(today));
  for (
      const char* text :
      {R"({"type":"macvlan","way":"make","network":"ai/rail0","interface":"net1","hostLink":"eth1",)"
       R"("macvlanMode":"vepa","ipvlanMode":"l2","vfSettings":{"link_state":"enable","vlan":7,"proto":"802.1ad","qos":0},)"
       R"("promisc":false,"addresses":[{"pool":"p","address":"10.1.0.2/24"}]})",
       R"({"interface":"net1","network":"ai/rail0","type":"macvlan","way":1,"hostLink":"eth1","macvlanMode":2,)"
       R"("ipvlanMode":0,"vfSettings":{"vlan":7,"qos":0,"proto":1,"link_state":"enable"},"promisc":false,)"
       R"("addresses":[{"address":"10.1.0.2/24","pool":"p"}]})"})
    EXPECT_TRUE(is_same(text)) << text;
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{R"("way":1)", R"("way":"move")"},
                                                        {R"("way":1)", R"("way":"nonsense")"},
                                                        {R"("macvlanMode":2)", R"("macvlanMode":"bridge")"},
                                                        {R"("proto":1)", R"("proto":"802.1q")"},
                                                        {R"("link_state":1)", R"("link_state":"auto")"},
                                                        {R"("promisc":false)", R"("promisc":true)"},
                                                        {R"("promisc":false,)", ""},
                                                        {R"("pool":"p")", R"("pool":"q")"},
                                                        {R"("hostLink":"eth1",)", ""}}) {
    std::string text = today;
    text.replace(text.find(from), from.size(), to);
    EXPECT_FALSE(is_same(text)) << text;
  }
  EXPECT_FALSE(same_spec({.undo = "{}\nno json"}, spec));
  EXPECT_FALSE(same_spec({.undo = "{}"}, spec));
}

TEST(Record, ReadsWordsOfALaterVersion) {
  const auto before =
      before_of({.undo = R"({"way":"existing","orphanedAt":5,"orphanedBy":"hidden","rdmaUndo":"remove-soft",)"
                         R"("vfSettings":{"vlan":7,"qos":1,"proto":"802.1ad","link_state":"disable"}})"});
  ASSERT_TRUE(before.has_value()) << before.error().to_string();
  EXPECT_EQ(before->way, Way::kExisting);
  EXPECT_EQ(before->orphaned_by, OrphanedBy::kHidden);
  EXPECT_EQ(before->rdma_undo, RdmaUndo::kRemoveSoft);
  EXPECT_EQ(before->vf_settings.vlan->proto, os::VlanProto::k8021ad);
  EXPECT_EQ(before->vf_settings.link_state, os::VfLinkState::kDisable);
}

// A repeated ADD keeps what is there only where nothing of its configuration has changed.
TEST(Record, IsOfAnotherSpecWhereAnyPartOfItDiffers) {
  const std::function<void(InterfaceSpec&)> changes[] = {
      [](InterfaceSpec& spec) { spec.interface = "net2"; },
      [](InterfaceSpec& spec) { spec.network = "ai/rail1"; },
      [](InterfaceSpec& spec) { spec.type = "ipvlan"; },
      [](InterfaceSpec& spec) { spec.resource = "openshift.io/rails"; },
      [](InterfaceSpec& spec) { spec.way = Way::kMake; },
      [](InterfaceSpec& spec) { spec.device = PciAddress{0, 1, 0, 1}; },
      [](InterfaceSpec& spec) { spec.host_link = "eth1"; },
      [](InterfaceSpec& spec) { spec.host_mac = MacAddress::parse("02:00:00:00:00:01").value(); },
      [](InterfaceSpec& spec) { spec.kernel_path = "/sys/devices/x"; },
      [](InterfaceSpec& spec) { spec.auxiliary = "mlx5_core.sf.4"; },
      [](InterfaceSpec& spec) { spec.master_in_pod = true; },
      [](InterfaceSpec& spec) { spec.without_parent = true; },
      [](InterfaceSpec& spec) { spec.macvlan_mode = os::MacvlanMode::kPrivate; },
      [](InterfaceSpec& spec) { spec.ipvlan_mode = os::IpvlanMode::kL3; },
      [](InterfaceSpec& spec) { spec.broadcast_queue = 2000; },
      [](InterfaceSpec& spec) { spec.vf_settings.vlan = os::VfChange::Vlan{5, 0, os::VlanProto::k8021q}; },
      [](InterfaceSpec& spec) { spec.vf_settings.vlan = os::VfChange::Vlan{5, 1, os::VlanProto::k8021q}; },
      [](InterfaceSpec& spec) { spec.vf_settings.vlan = os::VfChange::Vlan{5, 0, os::VlanProto::k8021ad}; },
      [](InterfaceSpec& spec) { spec.vf_settings.trust = false; },
      [](InterfaceSpec& spec) { spec.vf_settings.rate = os::VfChange::Rate{1, 0}; },
      [](InterfaceSpec& spec) { spec.vf_settings.rate = os::VfChange::Rate{0, 1}; },
      [](InterfaceSpec& spec) { spec.mac = MacAddress::parse("02:00:00:00:00:02").value(); },
      [](InterfaceSpec& spec) { spec.mtu = 9000; },
      [](InterfaceSpec& spec) { spec.sysctls = {{"net/core/somaxconn", "500"}}; },
      [](InterfaceSpec& spec) { spec.promiscuous = false; },
      [](InterfaceSpec& spec) { spec.all_multicast = false; },
      [](InterfaceSpec& spec) { spec.tx_queue = 5; },
      [](InterfaceSpec& spec) { spec.source_routing.emplace(); },
      [](InterfaceSpec& spec) { spec.source_routing = {.table = 100}; },
      [](InterfaceSpec& spec) { spec.source_routing = {.gateways = {*IpAddress::parse("10.0.0.1")}}; },
      [](InterfaceSpec& spec) { spec.source_routing = {.source_hints = true}; },
      [](InterfaceSpec& spec) { spec.vrf = {.name = "blue"}; },
      [](InterfaceSpec& spec) { spec.vrf = {.name = "blue", .table = 5}; },
      [](InterfaceSpec& spec) { spec.rdma_isolated = true; },
      [](InterfaceSpec& spec) { spec.rdma = true; },
      [](InterfaceSpec& spec) { spec.rdma_required = true; },
      [](InterfaceSpec& spec) { spec.soft_rdma = true; },
      [](InterfaceSpec& spec) { spec.addresses = {{.address = *IpPrefix::parse("10.0.0.2/24")}}; },
      [](InterfaceSpec& spec) { spec.addresses = {{*IpPrefix::parse("10.0.0.2/24"), *IpAddress::parse("10.0.0.1")}}; },
      [](InterfaceSpec& spec) { spec.routes = {{.destination = *IpPrefix::parse("10.7.0.0/16")}}; },
      [](InterfaceSpec& spec) { spec.routes = {{.destination = *IpPrefix::parse("10.7.0.0/16"), .metric = 5}}; },
  };
  std::vector<InterfaceSpec> specs = {{}};
  for (const auto& change : changes) change(specs.emplace_back());
  for (size_t a = 0; a < specs.size(); ++a)
    for (size_t b = 0; b < specs.size(); ++b)
      EXPECT_EQ(same_spec({.undo = undo_text(specs[a], {})}, specs[b]), a == b) << a << " and " << b;
}

}  // namespace
}  // namespace railbed::attach

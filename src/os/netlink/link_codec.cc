// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/link_codec.h"

#include <algorithm>
#include <cstddef>

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "os/ports/netns.h"

namespace railbed::os {
namespace {

// ifla_vf_guid and ifla_vf_vlan_info with their gaps named: what the compiler leaves there must not go to the kernel.
struct VfGuid {
  uint32_t vf;
  uint32_t gap = 0;
  uint64_t guid;
};
struct VfVlan {
  uint32_t vf;
  uint32_t vlan;
  uint32_t qos;
  uint16_t vlan_proto;
  uint16_t gap = 0;
};
static_assert(sizeof(VfVlan) == sizeof(ifla_vf_vlan_info));
static_assert(sizeof(VfGuid) == sizeof(ifla_vf_guid) && offsetof(VfGuid, guid) == offsetof(ifla_vf_guid, guid));

ifinfomsg link_header(IfIndex index = {}) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = index.value;
  return header;
}

// Without this filter, the statistics of 126 VFs exceed the 64 KiB of one attribute.
void put_filter(NetlinkRequest& request, WithVfs vfs) {
  uint32_t mask = RTEXT_FILTER_SKIP_STATS;
  if (vfs == WithVfs::kYes) mask |= RTEXT_FILTER_VF;
  request.put_u32(IFLA_EXT_MASK, mask);
}

void put_mac(NetlinkRequest& request, uint16_t type, const MacAddress& mac) {
  request.put(type, mac.bytes);
}

void put_netns(NetlinkRequest& request, const Netns* netns) {
  if (netns != nullptr) request.put_u32(IFLA_NET_NS_FD, static_cast<uint32_t>(netns->fd()));
}

void put_flag(ifinfomsg& header, unsigned flag, const std::optional<bool>& wanted) {
  if (!wanted) return;
  header.ifi_change |= flag;
  if (*wanted) header.ifi_flags |= flag;
}

}  // namespace

NetlinkRequest encode_list_links(WithVfs vfs) {
  NetlinkRequest request(RTM_GETLINK, NLM_F_DUMP);
  request.put_header(link_header());
  put_filter(request, vfs);
  return request;
}

NetlinkRequest encode_find_link(const IfName& name, WithVfs vfs) {
  NetlinkRequest request(RTM_GETLINK, 0);
  request.put_header(link_header());
  request.put_text(IFLA_IFNAME, name.value);  // the kernel also finds alternative names
  put_filter(request, vfs);
  return request;
}

NetlinkRequest encode_find_link(IfIndex index, WithVfs vfs) {
  NetlinkRequest request(RTM_GETLINK, 0);
  request.put_header(link_header(index));
  put_filter(request, vfs);
  return request;
}

namespace {

void put_arp_notify(NetlinkRequest& request, bool on) {
  const size_t families = request.begin(IFLA_AF_SPEC);
  const size_t ipv4 = request.begin(AF_INET);
  const size_t settings = request.begin(IFLA_INET_CONF);
  request.put_u32(IPV4_DEVCONF_ARP_NOTIFY, on ? 1 : 0);
  request.end(settings);
  request.end(ipv4);
  request.end(families);
}

}  // namespace

NetlinkRequest encode_change_link(IfIndex link, const LinkChange& change) {
  NetlinkRequest request(RTM_NEWLINK, 0);
  ifinfomsg header = link_header(link);
  put_flag(header, IFF_UP, change.up);
  put_flag(header, IFF_PROMISC, change.promiscuous);
  put_flag(header, IFF_ALLMULTI, change.all_multicast);
  request.put_header(header);
  put_netns(request, change.netns);
  if (change.name) request.put_text(IFLA_IFNAME, change.name->value);
  if (change.mtu) request.put_u32(IFLA_MTU, static_cast<uint32_t>(*change.mtu));
  if (change.mac) put_mac(request, IFLA_ADDRESS, *change.mac);
  if (change.alias) request.put_text(IFLA_IFALIAS, *change.alias);
  if (change.tx_queue) request.put_u32(IFLA_TXQLEN, static_cast<uint32_t>(*change.tx_queue));
  if (change.master) request.put_u32(IFLA_MASTER, static_cast<uint32_t>(change.master->value));
  if (change.arp_notify) put_arp_notify(request, *change.arp_notify);
  return request;
}

namespace {

void put_vlan(NetlinkRequest& request, uint32_t vf, const VfChange::Vlan& vlan) {
  auto id = static_cast<uint32_t>(vlan.id);
  auto qos = static_cast<uint32_t>(vlan.qos);
  if (vlan.proto == VlanProto::k8021q) {  // every driver supports this attribute
    request.put_value(IFLA_VF_VLAN, ifla_vf_vlan{.vf = vf, .vlan = id, .qos = qos});
    return;
  }
  size_t list = request.begin(IFLA_VF_VLAN_LIST);
  request.put_value(IFLA_VF_VLAN_INFO, VfVlan{.vf = vf, .vlan = id, .qos = qos, .vlan_proto = htons(ETH_P_8021AD)});
  request.end(list);
}

}  // namespace

namespace {

void put_vf(NetlinkRequest& request, VfIndex index, const VfChange& change) {
  auto vf = static_cast<uint32_t>(index.value);
  size_t info = request.begin(IFLA_VF_INFO);
  if (change.mac) {
    ifla_vf_mac mac{.vf = vf, .mac = {}};
    std::ranges::copy(change.mac->bytes, mac.mac);
    request.put_value(IFLA_VF_MAC, mac);
  }
  if (change.vlan) put_vlan(request, vf, *change.vlan);
  if (change.rate)
    request.put_value(IFLA_VF_RATE, ifla_vf_rate{.vf = vf,
                                                 .min_tx_rate = static_cast<uint32_t>(change.rate->min_mbps),
                                                 .max_tx_rate = static_cast<uint32_t>(change.rate->max_mbps)});
  if (change.spoof_check)
    request.put_value(IFLA_VF_SPOOFCHK, ifla_vf_spoofchk{.vf = vf, .setting = *change.spoof_check});
  if (change.trust) request.put_value(IFLA_VF_TRUST, ifla_vf_trust{.vf = vf, .setting = *change.trust});
  if (change.link_state) {
    static_assert(int{IFLA_VF_LINK_STATE_ENABLE} == int(VfLinkState::kEnable));
    request.put_value(IFLA_VF_LINK_STATE,
                      ifla_vf_link_state{.vf = vf, .link_state = static_cast<uint32_t>(*change.link_state)});
  }
  if (change.node_guid) request.put_value(IFLA_VF_IB_NODE_GUID, VfGuid{.vf = vf, .guid = change.node_guid->value});
  if (change.port_guid) request.put_value(IFLA_VF_IB_PORT_GUID, VfGuid{.vf = vf, .guid = change.port_guid->value});
  request.end(info);
}

}  // namespace

NetlinkRequest encode_change_vf(IfIndex pf, VfIndex index, const VfChange& change) {
  const VfSetting one{.vf = index, .change = change};
  return encode_change_vfs(pf, {&one, 1});
}

NetlinkRequest encode_change_vfs(IfIndex pf, std::span<const VfSetting> settings) {
  NetlinkRequest request(RTM_SETLINK, 0);
  request.put_header(link_header(pf));
  size_t list = request.begin(IFLA_VFINFO_LIST);
  for (const VfSetting& one : settings) put_vf(request, one.vf, one.change);
  request.end(list);
  return request;
}

namespace {

uint32_t macvlan_mode(MacvlanMode mode) {
  switch (mode) {
    case MacvlanMode::kBridge:
      return MACVLAN_MODE_BRIDGE;
    case MacvlanMode::kPrivate:
      return MACVLAN_MODE_PRIVATE;
    case MacvlanMode::kVepa:
      return MACVLAN_MODE_VEPA;
    case MacvlanMode::kPassthru:
      return MACVLAN_MODE_PASSTHRU;
  }
  return MACVLAN_MODE_BRIDGE;
}

void put_peer(NetlinkRequest& request, const NewLink& link) {
  size_t peer = request.begin(VETH_INFO_PEER);
  request.put_header(link_header());
  if (link.peer_name) request.put_text(IFLA_IFNAME, link.peer_name->value);
  if (link.mtu) request.put_u32(IFLA_MTU, static_cast<uint32_t>(*link.mtu));
  put_netns(request, link.peer_netns);
  request.end(peer);
}

}  // namespace

NetlinkRequest encode_create_link(const NewLink& link) {
  NetlinkRequest request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  ifinfomsg header = link_header();
  if (link.up) put_flag(header, IFF_UP, true);
  request.put_header(header);
  request.put_text(IFLA_IFNAME, link.name.value);
  put_netns(request, link.netns);
  if (link.parent) request.put_u32(IFLA_LINK, static_cast<uint32_t>(link.parent.value));
  if (link.mtu) request.put_u32(IFLA_MTU, static_cast<uint32_t>(*link.mtu));
  if (link.mac) put_mac(request, IFLA_ADDRESS, *link.mac);
  if (link.group != 0) request.put_u32(IFLA_GROUP, link.group);
  size_t info = request.begin(IFLA_LINKINFO);
  request.put_text(IFLA_INFO_KIND, link.kind);
  size_t data = request.begin(IFLA_INFO_DATA);
  if (link.kind == "macvlan") {
    request.put_u32(IFLA_MACVLAN_MODE, macvlan_mode(link.macvlan_mode));
    if (link.broadcast_queue) request.put_u32(IFLA_MACVLAN_BC_QUEUE_LEN, static_cast<uint32_t>(*link.broadcast_queue));
  }
  if (link.kind == "vrf") request.put_u32(IFLA_VRF_TABLE, static_cast<uint32_t>(link.table));
  if (link.kind == "ipvlan") {
    static_assert(IPVLAN_MODE_L3S == int(IpvlanMode::kL3s) && IPVLAN_MODE_L2 == int(IpvlanMode::kL2));
    request.put_u16(IFLA_IPVLAN_MODE, static_cast<uint16_t>(link.ipvlan_mode));
  }
  if (link.kind == "veth") put_peer(request, link);
  request.end(data);
  request.end(info);
  return request;
}

NetlinkRequest encode_remove_link(IfIndex link) {
  NetlinkRequest request(RTM_DELLINK, 0);
  request.put_header(link_header(link));
  return request;
}

NetlinkRequest encode_remove_group(uint32_t group) {
  NetlinkRequest request(RTM_DELLINK, 0);
  request.put_header(link_header());
  request.put_u32(IFLA_GROUP, group);
  return request;
}

namespace {

constexpr uint32_t kNotSet = UINT32_MAX;  // the value of settings that a driver does not have

std::optional<bool> setting(const Attribute& attribute) {
  auto value = attribute.as<ifla_vf_spoofchk>();  // trust and query_rss have the same layout
  if (!value || value->setting == kNotSet) return std::nullopt;
  return value->setting != 0;
}

void read_vlans(const Attribute& list, VfInfo& vf) {
  for (const Attribute& entry : attributes(list.payload)) {
    auto vlan = entry.as<ifla_vf_vlan_info>();
    if (entry.type != IFLA_VF_VLAN_INFO || !vlan) continue;
    vf.vlan = static_cast<int>(vlan->vlan);
    vf.qos = static_cast<int>(vlan->qos);
    vf.proto = vlan->vlan_proto == htons(ETH_P_8021AD) ? VlanProto::k8021ad : VlanProto::k8021q;
    return;  // the kernel has one entry per VF
  }
}

void read_vf_attribute(const Attribute& attribute, VfInfo& vf) {
  switch (attribute.type) {
    case IFLA_VF_MAC:
      if (auto mac = attribute.as<ifla_vf_mac>()) {
        vf.index = VfIndex{static_cast<int>(mac->vf)};
        vf.mac.emplace();
        std::copy_n(mac->mac, 6, vf.mac->bytes.begin());
      }
      break;
    case IFLA_VF_VLAN:
      if (auto vlan = attribute.as<ifla_vf_vlan>()) {
        vf.vlan = static_cast<int>(vlan->vlan);
        vf.qos = static_cast<int>(vlan->qos);
      }
      break;
    case IFLA_VF_VLAN_LIST:
      read_vlans(attribute, vf);
      break;
    case IFLA_VF_RATE:
      if (auto rate = attribute.as<ifla_vf_rate>()) {
        vf.min_tx_rate_mbps = static_cast<int>(rate->min_tx_rate);
        vf.max_tx_rate_mbps = static_cast<int>(rate->max_tx_rate);
      }
      break;
    case IFLA_VF_SPOOFCHK:
      vf.spoof_check = setting(attribute);
      break;
    case IFLA_VF_TRUST:
      vf.trust = setting(attribute);
      break;
    case IFLA_VF_RSS_QUERY_EN:
      vf.query_rss = setting(attribute);
      break;
    case IFLA_VF_LINK_STATE:
      if (auto state = attribute.as<ifla_vf_link_state>(); state && state->link_state <= IFLA_VF_LINK_STATE_DISABLE)
        vf.link_state = static_cast<VfLinkState>(state->link_state);
      break;
    case IFLA_VF_IB_NODE_GUID:
      if (auto guid = attribute.as<ifla_vf_guid>()) vf.node_guid = Guid{guid->guid};
      break;
    case IFLA_VF_IB_PORT_GUID:
      if (auto guid = attribute.as<ifla_vf_guid>()) vf.port_guid = Guid{guid->guid};
      break;
    default:
      break;
  }
}

std::vector<VfInfo> read_vfs(const Attribute& list) {
  std::vector<VfInfo> vfs;
  for (const Attribute& entry : attributes(list.payload)) {
    if (entry.type != IFLA_VF_INFO) continue;
    VfInfo vf;
    for (const Attribute& attribute : attributes(entry.payload)) read_vf_attribute(attribute, vf);
    vfs.push_back(vf);
  }
  return vfs;
}

std::string oper_state_name(uint8_t state) {
  constexpr const char* kNames[] = {"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"};
  return state < std::size(kNames) ? kNames[state] : fmt::format("state {}", state);
}

IfIndex index_of(const Attribute& attribute) {
  return IfIndex{static_cast<int>(attribute.u32().value_or(0))};
}

void read_alt_names(const Attribute& list, Link& link) {
  for (const Attribute& property : attributes(list.payload))
    if (property.type == IFLA_ALT_IFNAME) link.alt_names.push_back(property.text());
}

void read_kind(const Attribute& info, Link& link) {
  for (const Attribute& attribute : attributes(info.payload)) {
    if (attribute.type == IFLA_INFO_KIND) link.kind = attribute.text();
    if (attribute.type != IFLA_INFO_DATA || link.kind != "vrf") continue;
    for (const Attribute& detail : attributes(attribute.payload))
      if (detail.type == IFLA_VRF_TABLE) link.vrf_table = static_cast<int>(detail.u32().value_or(0));
  }
}

void read_link_attribute(const Attribute& attribute, Link& link) {
  switch (attribute.type) {
    case IFLA_IFNAME:
      link.name = IfName{attribute.text()};
      break;
    case IFLA_ADDRESS:
      link.hw_address.assign(attribute.payload.begin(), attribute.payload.end());
      break;
    case IFLA_PERM_ADDRESS:
      link.permanent_address.assign(attribute.payload.begin(), attribute.payload.end());
      break;
    case IFLA_MTU:
      link.mtu = static_cast<int>(attribute.u32().value_or(0));
      break;
    case IFLA_TXQLEN:
      link.tx_queue = static_cast<int>(attribute.u32().value_or(0));
      break;
    case IFLA_OPERSTATE:
      link.oper_state = oper_state_name(attribute.u8().value_or(0));
      break;
    case IFLA_LINK:
      link.parent = index_of(attribute);
      break;
    case IFLA_LINK_NETNSID:
      link.parent_elsewhere = true;
      link.parent_netns_id = static_cast<int>(attribute.u32().value_or(UINT32_MAX));
      break;
    case IFLA_MASTER:
      link.master = index_of(attribute);
      break;
    case IFLA_IFALIAS:
      link.alias = attribute.text();
      break;
    case IFLA_GROUP:
      link.group = attribute.u32().value_or(0);
      break;
    case IFLA_NUM_VF:
      link.num_vfs = static_cast<int>(attribute.u32().value_or(0));
      break;
    case IFLA_PARENT_DEV_NAME:
      link.parent_device = attribute.text();
      break;
    case IFLA_PARENT_DEV_BUS_NAME:
      link.parent_bus = attribute.text();
      break;
    case IFLA_PROP_LIST:
      read_alt_names(attribute, link);
      break;
    case IFLA_LINKINFO:
      read_kind(attribute, link);
      break;
    case IFLA_VFINFO_LIST:
      link.vfs = read_vfs(attribute);
      break;
    default:
      break;
  }
}

}  // namespace

std::optional<IfIndex> decode_gone(const NetlinkMessage& message) {
  auto header = message.header<ifinfomsg>();
  if (message.type != RTM_DELLINK || !header || header->ifi_family != AF_UNSPEC || header->ifi_index <= 0)
    return std::nullopt;
  return IfIndex{header->ifi_index};
}

std::optional<Link> decode_link(const NetlinkMessage& message) {
  auto header = message.header<ifinfomsg>();
  if (message.type != RTM_NEWLINK || !header || header->ifi_index <= 0) return std::nullopt;
  Link link;
  link.index = IfIndex{header->ifi_index};
  link.arp_type = header->ifi_type;
  link.up = (header->ifi_flags & IFF_UP) != 0;
  link.lower_up = (header->ifi_flags & IFF_LOWER_UP) != 0;
  link.promiscuous = (header->ifi_flags & IFF_PROMISC) != 0;
  link.all_multicast = (header->ifi_flags & IFF_ALLMULTI) != 0;
  for (const Attribute& attribute : message.attributes_after(sizeof *header)) read_link_attribute(attribute, link);
  // An InfiniBand VF has GUIDs; the six bytes of its MAC have no meaning.
  if (link.arp_type == ARPHRD_INFINIBAND)
    for (VfInfo& vf : link.vfs) vf.mac.reset();
  return link;
}

}  // namespace railbed::os

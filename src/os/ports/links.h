// SPDX-License-Identifier: Apache-2.0
// Network interfaces, their VFs' settings, addresses and routes of one network namespace, with rtnetlink.
//
// Why: one message does what `ip` needs several for. A move and a rename are sent in one RTM_NEWLINK, so that an
// interface is never visible in an intermediate state and takes the kernel's RTNL lock once; all attributes of a VF are
// sent in one RTM_SETLINK.
// Threading: one thread per port; the kernel serializes changes anyway.
// Failure: errors carry the message and the interface ("RTM_NEWLINK ens1f0: EBUSY (…)") and the kernel's extended
// acknowledgement text if it sent one; NotFound if the interface no longer exists, Conflict if a name is in use.
// Source: linux/if_link.h, linux/rtnetlink.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/route.h"
#include "base/types.h"

namespace railbed::os {

class Netns;  // netns.h

enum class VlanProto : uint8_t { k8021q, k8021ad };
enum class VfLinkState : uint8_t { kAuto, kEnable, kDisable };

// A PF's report about one of its VFs (IFLA_VFINFO_LIST).
struct VfInfo {
  VfIndex index;
  std::optional<MacAddress> mac;
  int vlan = 0;
  int qos = 0;
  VlanProto proto = VlanProto::k8021q;
  std::optional<bool> spoof_check;
  std::optional<bool> trust;
  std::optional<bool> query_rss = {};  // whether the VF may read the PF's RSS key and table
  std::optional<VfLinkState> link_state;
  int min_tx_rate_mbps = 0;
  int max_tx_rate_mbps = 0;
  std::optional<Guid> node_guid;
  std::optional<Guid> port_guid;
  friend bool operator==(const VfInfo&, const VfInfo&) = default;
};

// Changes of one VF, made through its PF; absent settings stay as they are.
struct VfChange {
  std::optional<MacAddress> mac;
  struct Vlan {
    int id = 0;
    int qos = 0;
    VlanProto proto = VlanProto::k8021q;
    friend bool operator==(const Vlan&, const Vlan&) = default;
  };
  std::optional<Vlan> vlan;
  std::optional<bool> spoof_check;
  std::optional<bool> trust;
  std::optional<VfLinkState> link_state;
  struct Rate {
    int min_mbps = 0;
    int max_mbps = 0;
    friend bool operator==(const Rate&, const Rate&) = default;
  };
  std::optional<Rate> rate;
  std::optional<Guid> node_guid;
  std::optional<Guid> port_guid;
  bool empty() const { return *this == VfChange{}; }
  friend bool operator==(const VfChange&, const VfChange&) = default;
};

struct Link {
  IfIndex index;
  IfName name;
  std::vector<std::string> alt_names;
  std::string alias;
  std::string kind;                 // "veth", "macvlan", "bond", "bridge", …; empty for hardware
  std::vector<uint8_t> hw_address;  // 6 bytes for Ethernet, 20 for IPoIB
  std::vector<uint8_t> permanent_address;
  int arp_type = 1;  // ARPHRD_*: 1 Ethernet, 32 InfiniBand
  int mtu = 0;
  bool up = false;                // IFF_UP
  bool lower_up = false;          // IFF_LOWER_UP: the carrier is there
  std::string oper_state;         // "up", "down", "dormant", "unknown", …
  IfIndex parent;                 // IFLA_LINK: the lower interface of a macvlan, the peer of a veth
  bool parent_elsewhere = false;  // that index belongs to another namespace (IFLA_LINK_NETNSID is there)
  int parent_netns_id = -1;       // what this namespace calls that one; the kernel never gives a number twice
  IfIndex master;                 // the bond or bridge it is a port of
  std::string parent_bus;         // IFLA_PARENT_DEV_BUS_NAME: "pci"
  std::string parent_device;      // IFLA_PARENT_DEV_NAME: "0000:3c:00.0"
  uint32_t group = 0;
  int num_vfs = 0;
  std::vector<VfInfo> vfs;     // only when requested
  bool promiscuous = false;    // as set by a user, not by the kernel for its own needs
  bool all_multicast = false;  // likewise
  int tx_queue = 0;            // packets
  int vrf_table = 0;           // for kind "vrf"
  friend bool operator==(const Link&, const Link&) = default;

  std::optional<MacAddress> mac() const;  // absent for hardware addresses of other lengths
};

// One RTM_NEWLINK on an existing interface; absent settings stay as they are. A move takes the interface down and drops
// its addresses. When a move with a name fails (the name is taken in the target), the interface is still here, under
// its old name; other changes in the same message come after the move and may be missing then.
struct LinkChange {
  std::optional<IfName> name;
  const Netns* netns = nullptr;  // target of a move; with `name`, the interface is renamed on arrival
  std::optional<int> mtu;
  std::optional<bool> up;
  std::optional<MacAddress> mac;
  std::optional<std::string> alias;  // IFLA_IFALIAS
  std::optional<bool> promiscuous;
  std::optional<bool> all_multicast;
  std::optional<int> tx_queue;
  std::optional<IfIndex> master;  // IfIndex{}: no master
  // The sysctl net.ipv4.conf.IFNAME.arp_notify. For the announcement of `up` it has to be there before: in a change of
  // its own, because the kernel takes `up` of one message first.
  std::optional<bool> arp_notify;
  friend bool operator==(const LinkChange&, const LinkChange&) = default;
};

enum class MacvlanMode : uint8_t { kBridge, kPrivate, kVepa, kPassthru };
enum class IpvlanMode : uint8_t { kL2, kL3, kL3s };

// A new interface, created directly in its namespace.
struct NewLink {
  std::string kind;  // "macvlan", "ipvlan", "veth", "dummy", "bridge", "vrf"
  IfName name;
  const Netns* netns = nullptr;  // where it appears; null: in this namespace
  IfIndex parent;                // macvlan, ipvlan: the lower interface, in this namespace
  std::optional<int> mtu;
  std::optional<MacAddress> mac;
  uint32_t group = 0;  // for deletion as a group
  MacvlanMode macvlan_mode = MacvlanMode::kBridge;
  IpvlanMode ipvlan_mode = IpvlanMode::kL2;
  std::optional<IfName> peer_name;     // veth
  const Netns* peer_netns = nullptr;   // veth
  std::optional<int> broadcast_queue;  // macvlan: IFLA_MACVLAN_BC_QUEUE_LEN
  int table = 0;                       // vrf
  bool up = false;
};

struct LinkAddress {
  IfIndex link;
  IpPrefix prefix;
  friend bool operator==(const LinkAddress&, const LinkAddress&) = default;
};

// One change among several that are carried out together.
struct LinkSetting {
  IfIndex link;
  LinkChange change;  // without a move
};
using LinkStep = std::variant<NewLink, LinkSetting, LinkAddress, Route>;

// Packets with an address of `source` are routed by `table`.
struct Rule {
  IpPrefix source;
  int table = 0;
  std::optional<int> priority;  // absent: the kernel's choice
  friend bool operator==(const Rule&, const Rule&) = default;
};

enum class WithVfs : bool { kNo, kYes };

class LinkPort {
 public:
  virtual ~LinkPort() = default;

  // VF information is slow (the kernel gathers it under RTNL): request it only where it is needed.
  virtual Result<std::vector<Link>> list(WithVfs vfs) = 0;
  virtual Result<Link> find(const IfName& name, WithVfs vfs) = 0;  // NotFound; alternative names work too
  virtual Result<Link> find(IfIndex index, WithVfs vfs) = 0;

  virtual Result<void> change(IfIndex link, const LinkChange& change) = 0;
  virtual Result<void> change_vf(IfIndex pf, VfIndex vf, const VfChange& change) = 0;
  virtual Result<void> create(const NewLink& link) = 0;
  // Both return once the interfaces are gone for everybody: they have no name, no index and no traffic any more. The
  // kernel may have them in memory for some more milliseconds.
  virtual Result<void> remove(IfIndex link) = 0;  // NotFound when it is gone already
  // All of the group go, also those that are not among `members`, which are waited for; NotFound when there are none.
  virtual Result<void> remove_group(uint32_t group, std::span<const IfIndex> members) = 0;

  virtual Result<std::vector<LinkAddress>> addresses() = 0;
  virtual Result<void> add_address(const LinkAddress& address) = 0;     // Conflict when it exists
  virtual Result<void> remove_address(const LinkAddress& address) = 0;  // NotFound when it does not
  virtual Result<std::vector<Route>> routes() = 0;                      // of the main table
  virtual Result<void> add_route(const Route& route) = 0;
  virtual Result<void> remove_route(const Route& route) = 0;
  virtual Result<std::vector<Route>> all_routes() = 0;  // of every table but "local"
  // What the kernel has made of routers' advertisements: IPv6 addresses that are not permanent, and routes of the main
  // table.
  struct Advertised {
    std::vector<LinkAddress> addresses;
    std::vector<Route> routes;
  };
  virtual Result<Advertised> advertised() = 0;
  // Rules with a source, of both families; others are left out.
  virtual Result<std::vector<Rule>> rules() = 0;
  virtual Result<void> add_rule(const Rule& rule) = 0;     // Conflict when it exists
  virtual Result<void> remove_rule(const Rule& rule) = 0;  // NotFound when it does not
  // Of this port's namespace: NetnsIdentity::number (netns.h), and whether it is of the file. Fails where the kernel
  // fails for want of descriptors or memory: then the namespace's owner is unknown.
  struct NamespaceNumber {
    uint64_t number = 0;
    bool of_file = false;
  };
  virtual Result<NamespaceNumber> namespace_number() = 0;

  // Steps in their order: create(), change(), add_address() and add_route(). The kernel gets all in one system call.
  // The error is that of the first step that fails, and `at` its number; the kernel goes on behind it, so that later
  // ones may be done: what is asked for here must be recorded as a whole before.
  virtual Result<void> carry_out(const std::vector<LinkStep>& steps, size_t& at);
};

}  // namespace railbed::os

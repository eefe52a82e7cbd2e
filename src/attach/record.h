// SPDX-License-Identifier: Apache-2.0
// What is recorded about an interface before it is changed: state::Attachment::undo.
//
// Two lines of JSON: the previous state, read back to undo, and the spec, which is compared. One list of members writes
// and reads each (doc/record.h).
// Threading: plain values.
// Failure: Invalid for a text that is not such a record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attach/interface_spec.h"

namespace railbed::attach {

enum class RdmaUndo : uint8_t { kNone, kMoveBack, kRemoveSoft };

// What proves which interface it is, as the pod's namespace showed it when the interface had arrived (identity.h).
struct InPod {
  int index = 0;
  int parent = 0;                      // IFLA_LINK: a veth's peer, the interface below a macvlan
  std::optional<int> parent_netns_id;  // IFLA_LINK_NETNSID: absent where that one is in the pod, too
  friend bool operator==(const InPod&, const InPod&) = default;
};

// Why what a pod has is held after its DEL (give_back.h).
enum class OrphanedBy : uint8_t {
  kNamespace,  // the pod's, which was not found and has not ended
  kHidden,     // the interface is in a namespace that the pod has made
  kVfio,       // a virtual machine may have the VF
};

// Enough to find the device anywhere and to restore it.
struct Before {
  Way way = Way::kMove;
  std::optional<PciAddress> device;
  std::optional<PciAddress> pf;
  std::optional<VfIndex> vf;
  os::VfChange vf_settings;  // as they were, of those that are changed
  std::string rebind;        // the VF's driver, to be re-bound for its GUIDs to count; empty: need not
  // Of a moved interface's PCI device. A runtime of virtual machines binds another one, and may leave it so.
  std::string driver;

  // The moved interface, at home.
  std::string name;
  int index = 0;
  std::string kind;
  std::string parent;  // the device of hardware that was not asked for by its PCI address: "auxiliary/devices/…"
  std::vector<uint8_t> hw_address;
  std::vector<uint8_t> permanent_address;
  int parent_index = 0;               // IFLA_LINK of a virtual one whose peer or lower interface was at home, too
  std::optional<InPod> in_pod;        // once it is there
  std::optional<MacAddress> new_mac;  // what it gets in the pod, if another
  int mtu = 0;
  bool up = false;
  std::vector<IpPrefix> addresses;
  std::vector<Route> routes;
  // Previous values of the settings that are changed.
  std::optional<bool> promiscuous;
  std::optional<bool> all_multicast;
  std::optional<int> tx_queue;
  std::vector<std::pair<std::string, std::string>> sysctls;  // of an interface that was there

  std::optional<os::NetnsIdentity> netns;  // of the pod
  std::optional<os::Nsid> nsid;            // its number here: gone when it has ended
  // When the DEL came, in seconds since 1970, of what was not released since the pod may have it: the device and
  // the addresses stay the pod's as long as it may.
  std::optional<int64_t> orphaned_at_s;
  OrphanedBy orphaned_by = OrphanedBy::kNamespace;
  std::string vfio_group;           // of kVfio: "/dev/vfio/12"
  std::vector<os::Rule> rules;      // what was added to the pod's
  std::vector<Route> table_routes;  // the same, where the interface stays
  std::string vrf;                  // in which it is a port
  int vrf_table = 0;
  uint32_t group = 0;  // of the made interface
  // Routers' advertisements were turned off (advertisements.h); false in records of earlier versions.
  bool without_advertisements = false;
  std::vector<std::string> rdma;
  RdmaUndo rdma_undo = RdmaUndo::kNone;
  friend bool operator==(const Before&, const Before&) = default;
};

// The link groups (IFLA_GROUP) of what is made in pods: a number per pod, so that all of its links are
// removed by one message, and so that a link of ours is known by it. Above the small numbers that people
// choose, and below 2^31.
struct LinkGroup {
  static uint32_t of_pod(const std::string& pod);
  static bool is_of_a_pod(uint32_t group);
};

// Whether its DEL came, and what it has may still be in use (give_back.h).
bool is_orphan(const state::Attachment& record);
std::optional<OrphanedBy> orphaned_by(const state::Attachment& record);  // of an orphan
// Why, and when it is released, of an orphan.
struct OrphanReason {
  std::string why;
  std::string until;
};
OrphanReason orphan_reason(const state::Attachment& record, const Before& before);
OrphanReason orphan_reason(const state::Attachment& record);

std::string undo_text(const InterfaceSpec& spec, const Before& before);
// Which namespace it is, in records of any kind.
void put_netns(doc::Value& object, const std::optional<os::NetnsIdentity>& netns, const std::optional<os::Nsid>& nsid);
// The text of a record of any kind with these in it.
Result<std::string> with_netns(std::string_view undo, const std::optional<os::NetnsIdentity>& netns,
                               const std::optional<os::Nsid>& nsid);
// The record `undo` with the same spec and another state before.
std::string undo_text(std::string_view undo, const Before& before);
Result<Before> before_of(const state::Attachment& record);
// The spec, without what is not recorded (pf, vf, sysctl_names, what the pod's author chose); a default one where the
// record has none.
Result<InterfaceSpec> spec_of(const state::Attachment& record);
// Whether the record's spec is this one. Values are compared, not texts: another version of railbed may have written
// the members in another order, or words instead of numbers, and its pods keep their interfaces.
bool same_spec(const state::Attachment& record, const InterfaceSpec& spec);

// Whether addresses and routes are compared: who plans for an agent does not know those that the agent chooses itself.
enum class CompareAddresses : bool { kNo, kYes };
// What of the spec is not as it was recorded, for people: "MTU 3000 instead of 1500". Empty: they are the same.
std::vector<std::string> differences(const state::Attachment& record, const InterfaceSpec& spec,
                                     CompareAddresses addresses = CompareAddresses::kYes);

}  // namespace railbed::attach

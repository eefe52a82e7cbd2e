// SPDX-License-Identifier: Apache-2.0
#include "attach/give_back.h"

#include <algorithm>
#include <set>

#include "attach/held.h"
#include "attach/identity.h"
#include "attach/rebind.h"
#include "attach/source_routes.h"
#include "attach/vf_mac.h"
#include "attach/vf_settings.h"

namespace railbed::attach {
namespace {

using state::Attachment;
using state::AttachmentStatus;

constexpr size_t kMostNameBytes = 15;

// Undoing wants the thing gone, so NotFound is success.
Result<void> unless_gone(Result<void> done) {
  if (!done.has_value() && done.error().code == Code::kNotFound) return {};
  return done;
}

// Undoing wants the thing back, so Conflict (it exists already) is success.
Result<void> unless_there(Result<void> done) {
  if (!done.has_value() && done.error().code == Code::kConflict) return {};
  return done;
}

class GiveBack {
 public:
  // `netns` is null when it has ended: everything in it was removed or is returning home.
  GiveBack(Host& host, state::Store& store, GivenBack& out, const os::Netns* netns, os::Deadline deadline)
      : host_(host), store_(store), out_(out), netns_(netns), deadline_(deadline) {}

  Result<void> look_inside() {
    if (netns_ == nullptr) return {};
    links_ = TRY(host_.kernel().netns().links(*netns_));
    inside_ = TRY(links_->list(os::WithVfs::kNo));
    return {};
  }

  // Removes links that were made for the pod with one message if nothing else is in their group.
  Result<void> remove_made_together(const std::vector<std::pair<Attachment, Before>>& records) {
    uint32_t group = 0;
    size_t count = 0;
    for (const auto& [record, before] : records)
      if (before.way == Way::kMake) {
        group = before.group;
        ++count;
      }
    if (netns_ == nullptr || count < 2 || group == 0) return {};
    std::vector<IfIndex> members;
    for (const os::Link& link : inside_) {
      if (link.group != group) continue;
      members.push_back(link.index);
      if (std::ranges::none_of(records, [&](const auto& one) {
            return one.second.way == Way::kMake && is_same_link(link, one.second, one.first.interface);
          }))
        return {};
    }
    // A failure does not matter: the links are then removed one by one, which reports errors.
    if (members.size() < 2) return {};
    const Result<void> removed =
        host_.without_lock(LongWait::kRemoval, [&] { return links_->remove_group(group, members); });
    if (host_.lock_lost()) return removed;
    if (!removed.has_value()) return {};
    for (const auto& [record, before] : records)
      if (before.way == Way::kMake && is_inside(record, before)) removed_.insert(record.interface);
    std::erase_if(inside_, [&](const os::Link& link) { return link.group == group; });
    return {};
  }

  // Of an orphan `before` says afterwards why it is one.
  enum class Restored : uint8_t { kDone, kOrphan };
  Result<Restored> restore_interface(const Attachment& record, Before& before) {
    TRY(remove_rules(before));
    if (before.way == Way::kExisting) {
      TRY(undo_change(record, before));
    } else if (before.way == Way::kMake) {
      if (TRY(may_be_in_use(record, before))) return Restored::kOrphan;
      TRY(remove_made(record, before));
      TRY(remove_empty_vrf(before));
    } else {
      if (TRY(has_next_holder(record))) return Restored::kDone;
      if (TRY(may_be_in_use(record, before))) return Restored::kOrphan;
      if (waited_ && TRY(has_next_holder(record))) return Restored::kDone;
      Result<void> brought = bring_device(record, before);
      // The pod's namespace has ended, and the device has not come: it may be in another one.
      if (!brought.has_value() && brought.error().code == Code::kTimeout && netns_ == nullptr && !host_.lock_lost())
        if (TRY(is_found_elsewhere(before))) return Restored::kOrphan;
      TRY(std::move(brought));
    }
    return Restored::kDone;
  }

 private:
  Result<void> bring_device(const Attachment& record, const Before& before) {
    bool careful = record.status != AttachmentStatus::kAttached;
    if (!before.rebind.empty()) {
      TRY(ensure_bound(host_, *before.device, before.rebind, deadline_));
      if (TRY(has_next_holder(record))) return {};
    }
    if (before.way == Way::kVfio) return restore_settings(record, before, careful);
    if (before.rdma_undo == RdmaUndo::kRemoveSoft) TRY(remove_soft_rdma(before));
    const Home home = TRY(bring_home(record, before));
    if (home == Home::kNextHolder) return {};
    TRY(bring_rdma_home(before));
    TRY(remove_empty_vrf(before));
    TRY(restore_settings(record, before, careful));
    if (home == Home::kGone) return {};
    TRY(restore_mac(record, before));
    return restore_addresses(record, before);
  }

  bool is_inside(const Attachment& record, const Before& before) const {
    return std::ranges::any_of(inside_,
                               [&](const os::Link& link) { return is_same_link(link, before, record.interface); });
  }

  // Whether the pod, or a virtual machine of it, may have what is neither in the pod's namespace nor here (held.h).
  // Costs nothing where it is inside or at home.
  Result<bool> may_be_in_use(const Attachment& record, Before& before) {
    if (record.status == AttachmentStatus::kBegun || before.way == Way::kVfio) return false;
    if (removed_.contains(record.interface) || is_inside(record, before)) return false;
    if (before.way == Way::kMove && TRY(host_.find_original_link(before, record.interface)) != nullptr) return false;
    VfBinding binding = binding_of(host_.kernel().files(), before);
    if (binding.to == BoundTo::kLeftBehind) TRY(bind_again(record, before));
    if (binding.to != BoundTo::kMachine) return binding.to == BoundTo::kItsDriver && TRY(is_hidden(before));
    before.orphaned_by = OrphanedBy::kVfio;
    before.vfio_group = std::move(binding.group);
    return true;
  }

  // Of a VF that a virtual machine has left behind. One that its driver does not take is offered to no pod, so that it
  // need not be kept.
  Result<void> bind_again(const Attachment& record, const Before& before) {
    waited_ = true;
    const Result<void> bound = bring_driver_back(host_, *before.device, before.driver, deadline_);
    if (bound.has_value() || host_.lock_lost() || bound.error().code == Code::kCanceled) return bound;
    note(record, fmt::format("{} cannot be used: binding it to {}, which it had before the pod, failed: {}",
                             *before.device, before.driver, bound.error().story()));
    return {};
  }

  // Whether the pod has moved the interface to a namespace that it has made: it may use it there. What has gone, or
  // what no namespace has and the pod's could not move anywhere, is not hidden.
  Result<bool> is_hidden(Before& before) {
    const bool was_hidden = before.orphaned_by == OrphanedBy::kHidden;
    if (!before.nsid.has_value() || (netns_ == nullptr && !was_hidden) || TRY(is_gone(before))) return false;
    bool may_hide = TRY(has_its_peer_here(before));
    if (!may_hide && netns_ != nullptr) may_hide = TRY(host_.kernel().netns().knows_others(*netns_));
    if (TRY(is_found_elsewhere(before))) return true;
    if (may_hide) before.orphaned_by = OrphanedBy::kHidden;
    return may_hide;
  }

  // What is found belongs to that namespace from then on.
  Result<bool> is_found_elsewhere(Before& before) {
    waited_ = true;
    Result<std::optional<NetnsRef>> where = std::nullopt;
    TRY(host_.without_lock(LongWait::kDevice, [&]() -> Result<void> {
      where = find_elsewhere(host_.kernel(), before, netns_);
      return {};
    }));
    const std::optional<NetnsRef> there =
        TRY(std::move(where).context("looking for {} in other network namespaces", before.name));
    if (!there.has_value()) return false;
    before.orphaned_by = OrphanedBy::kHidden;
    before.netns = there->identity;
    before.nsid = there->nsid;
    return true;
  }

  // With its device, or as a veth ends with its peer and a macvlan with the interface below it.
  Result<bool> is_gone(const Before& before) {
    if (before.device.has_value() || !before.parent.empty()) return !device_is_there(host_.kernel().files(), before);
    const bool is_made_on_one = before.in_pod.has_value() && before.in_pod->parent_netns_id.has_value();
    const int parent = before.way == Way::kMake && is_made_on_one ? before.in_pod->parent : before.parent_index;
    return parent != 0 && TRY(host_.by_index(IfIndex{parent})) == nullptr;
  }

  // Then a veth still exists.
  Result<bool> has_its_peer_here(const Before& before) {
    if (before.kind != "veth" || before.parent_index == 0) return false;
    const os::Link* peer = TRY(host_.by_index(IfIndex{before.parent_index}));
    return peer != nullptr && peer->kind == "veth" && peer->parent_elsewhere;
  }

  void note(const Attachment& record, const std::string& text) {
    out_.notes.push_back(fmt::format("interface {}: {}", record.interface, text));
  }

  // Whether another pod has the device by now, which is noted. It can get it while this one waits for the device.
  Result<bool> has_next_holder(const Attachment& record) {
    if (record.device.empty()) return false;
    for (const Attachment& other : TRY(store_.attachments_with(record.device))) {
      if (other.pod == record.pod && other.interface == record.interface) continue;
      note(record, fmt::format("{} now belongs to pod {} and is left unchanged", record.device, other.pod));
      return true;
    }
    return false;
  }

  Result<void> remove_rules(const Before& before) {
    if (netns_ == nullptr) return {};
    for (const os::Rule& rule : before.rules) TRY(unless_gone(links_->remove_rule(rule)));
    return {};
  }

  // A VRF is removed with its last port, independently of its creator.
  Result<void> remove_empty_vrf(const Before& before) {
    if (netns_ == nullptr || before.vrf.empty()) return {};
    std::vector<os::Link> now = TRY(links_->list(os::WithVfs::kNo));
    auto vrf = std::ranges::find_if(
        now, [&](const os::Link& link) { return link.name.value == before.vrf && link.kind == "vrf"; });
    if (vrf == now.end()) return {};
    if (std::ranges::any_of(now, [&](const os::Link& link) { return link.master == vrf->index; })) return {};
    return unless_gone(links_->remove(vrf->index));
  }

  // The interface stays in the pod, or has already left it.
  Result<void> undo_change(const Attachment& record, const Before& before) {
    bool careful = record.status != AttachmentStatus::kAttached;
    auto here = std::ranges::find_if(inside_, [&](const os::Link& link) {
      if (!before.in_pod.has_value() && link.name.value != before.name) return false;
      return is_same_link(link, before, before.name);
    });
    TRY(undo_sysctls(before, here != inside_.end() && here->name.value == before.name));
    if (here != inside_.end()) TRY(undo_on(record, *here, before));
    TRY(bring_rdma_home(before));
    TRY(remove_empty_vrf(before));
    return before.vf_settings.empty() ? Result<void>{} : restore_settings(record, before, careful);
  }

  // Sysctls of the interface vanish with it; others belong to the namespace.
  Result<void> undo_sysctls(const Before& before, bool link_is_here) {
    if (netns_ == nullptr) return {};
    std::string of_link = fmt::format("/{}/", before.name);
    for (const auto& [key, value] : before.sysctls)
      if (link_is_here || key.find(of_link) == std::string::npos)
        TRY(unless_gone(host_.kernel().netns().set_sysctl(*netns_, key, value)));
    return {};
  }

  Result<void> undo_on(const Attachment& record, const os::Link& link, const Before& before) {
    if (before.new_mac.has_value() && link.hw_address != before.hw_address && before.hw_address.size() == 6)
      TRY(set_mac(host_, *links_, link.index, mac_of(before), before.pf, before.vf,
                  [](bool) { return Result<void>{}; }));
    os::LinkChange change = settings_back(link, before);
    if (!before.vrf.empty() && link.master) change.master = IfIndex{};
    if (change != os::LinkChange{}) TRY(unless_gone(links_->change(link.index, change)));
    for (const IpPrefix& address : before.addresses) TRY(unless_there(links_->add_address({link.index, address})));
    TRY(put_routes_back(record, before.routes));
    for (const Route& route : before.table_routes) TRY(unless_gone(links_->remove_route(route)));
    return {};
  }

  // The kernel may refuse a route because the pod has changed its addresses; that must not keep the interface in the
  // pod.
  Result<void> put_routes_back(const Attachment& record, const std::vector<Route>& routes) {
    for (const Route& route : networks_first(routes)) {
      Result<void> added = unless_there(links_->add_route(route));
      if (added.has_value()) continue;
      if (added.error().code == Code::kCanceled) return added;
      note(record, "restoring a route of the pod failed: " + added.error().story());
    }
    return {};
  }

  // The settings of the interface that differ from before.
  static os::LinkChange settings_back(const os::Link& link, const Before& before) {
    os::LinkChange change;
    if (before.mtu != 0 && link.mtu != before.mtu) change.mtu = before.mtu;
    if (before.promiscuous.has_value() && link.promiscuous != *before.promiscuous)
      change.promiscuous = before.promiscuous;
    if (before.all_multicast.has_value() && link.all_multicast != *before.all_multicast)
      change.all_multicast = before.all_multicast;
    if (before.tx_queue.has_value() && link.tx_queue != *before.tx_queue) change.tx_queue = before.tx_queue;
    return change;
  }

  static MacAddress mac_of(const Before& before) {
    MacAddress mac;
    std::ranges::copy(before.hw_address, mac.bytes.begin());
    return mac;
  }

  Result<void> remove_made(const Attachment& record, const Before& before) {
    for (const os::Link& link : inside_)
      if (is_same_link(link, before, record.interface))
        return unless_gone(host_.without_lock(LongWait::kRemoval, [&] { return links_->remove(link.index); }));
    return {};
  }

  Result<void> remove_soft_rdma(const Before& before) {
    if (netns_ == nullptr) return {};  // it ended when its interface left the namespace
    auto port = host_.kernel().netns().rdma(*netns_);
    if (!port.has_value() && port.error().code == Code::kUnsupported) return {};
    return unless_gone(TRY(std::move(port))->remove_soft(before.rdma.front()));
  }

  Result<void> bring_rdma_home(const Before& before) {
    if (before.rdma_undo != RdmaUndo::kMoveBack || netns_ == nullptr) return {};  // the kernel has moved it
    auto port = TRY(host_.kernel().netns().rdma(*netns_));
    const os::Netns* home = TRY(host_.own_netns());
    for (const std::string& device : before.rdma) TRY(unless_gone(port->move(device, *home)));
    return {};
  }

  enum class Home : uint8_t {
    kThere,
    kGone,        // no interface is left to bring home
    kNextHolder,  // another pod's by now
  };
  Result<Home> bring_home(const Attachment& record, const Before& before) {
    auto here = std::ranges::find_if(
        inside_, [&](const os::Link& link) { return is_same_link(link, before, record.interface); });
    if (here != inside_.end() && TRY(move_home(record, before, *here)) == Moved::kAsWanted) return Home::kThere;
    const os::Link* link = TRY(host_.find_original_link(before, record.interface));
    if (link == nullptr && !before.device.has_value() && !before.kind.empty()) {
      note(record, fmt::format("{} ({}) was removed with the pod's network namespace", before.name, before.kind));
      return Home::kGone;
    }
    if (link == nullptr) {
      link = TRY(wait_for_link(host_, before, record.interface, deadline_)
                     .context("waiting for {} to return from network namespace {}", record.device, record.netns)
                     .hint("it returns when the last process in that namespace exits; then run `railbed down` again"));
      if (TRY(has_next_holder(record))) return Home::kNextHolder;
    }
    if (link == nullptr) {
      const char* why = device_is_there(host_.kernel().files(), before) ? "no longer has an interface"
                                                                        : "no longer exists on this machine";
      note(record, fmt::format("{} {}: nothing to restore", record.device, why));
      return Home::kGone;
    }
    TRY(put_right(record, before, *link));
    return Home::kThere;
  }

  enum class Moved : uint8_t {
    kAsWanted,
    kWithErrors,  // it is at home, and other changes of the same message failed
  };
  Result<Moved> move_home(const Attachment& record, const Before& before, const os::Link& link) {
    os::LinkChange change = settings_back(link, before);
    change.name = IfName{before.name};
    change.netns = TRY(host_.own_netns());
    if (before.up) change.up = true;
    Result<void> moved = links_->change(link.index, change);
    if (!moved.has_value() && moved.error().code == Code::kConflict) {
      change.name = TRY(free_name(before.name));
      moved = links_->change(link.index, change);
      if (moved.has_value()) note_name(record, before.name, change.name->value);
    }
    host_.forget();
    if (moved.has_value()) return Moved::kAsWanted;
    if (moved.error().code == Code::kCanceled) return fail(std::move(moved.error()));
    // Other changes in the same message come after the move, so the interface may already be at home.
    if (TRY(host_.find_original_link(before, record.interface)) == nullptr) return fail(std::move(moved.error()));
    return Moved::kWithErrors;
  }

  void note_name(const Attachment& record, const std::string& wanted, const std::string& got) {
    note(record,
         fmt::format("{} was returned as {}, because another interface is named {} now", record.device, got, wanted));
  }

  Result<IfName> free_name(const std::string& name) {
    for (int number = 1;; ++number) {
      std::string ending = fmt::format("_{}", number);
      std::string candidate = name.substr(0, kMostNameBytes - ending.size()) + ending;
      if (TRY(host_.by_name(candidate)) == nullptr) return IfName{candidate};
    }
  }

  // Restores whatever differs on an interface that is already at home.
  Result<void> put_right(const Attachment& record, const Before& before, const os::Link& link) {
    os::LinkPort* port = TRY(host_.links());
    IfIndex index = link.index;
    std::string now = link.name.value;
    bool down = before.up && !link.up;
    os::LinkChange change = settings_back(link, before);
    if (now != before.name) {
      Result<void> renamed = port->change(index, {.name = IfName{before.name}});
      if (!renamed.has_value() && renamed.error().code == Code::kConflict)
        note_name(record, before.name, now);
      else
        TRY(std::move(renamed));
    }
    if (down) change.up = true;
    if (change == os::LinkChange{}) return {};
    TRY(port->change(index, change));
    host_.forget();
    return {};
  }

  Result<void> restore_settings(const Attachment& record, const Before& before, bool careful) {
    if (before.vf_settings.empty()) return {};
    if (!device_exists(host_.kernel().files(), *before.device)) return {};  // its settings went with it
    os::VfChange change = before.vf_settings;
    std::optional<IfIndex> pf = TRY(host_.pf_index(*before.pf));
    if (!pf.has_value()) {
      note(record, fmt::format("PF {} no longer has an interface: the settings of VF {} are not restored", *before.pf,
                               *before.vf));
      return {};
    }
    if (careful) {
      os::VfInfo now = TRY(host_.vf(*before.pf, *before.vf));
      change = differing(change, now);
    }
    os::LinkPort* port = TRY(host_.links());
    if (!change.empty())
      TRY(port->change_vf(*pf, *before.vf, change)
              .context("restoring the settings of VF {} of {}", *before.vf, *before.pf));
    return before.rebind.empty() ? Result<void>{} : rebind_at_home(record, before);
  }

  // Even if the GUIDs are restored already, because a killed process may have stopped right after that.
  Result<void> rebind_at_home(const Attachment& record, const Before& before) {
    TRY(rebind(host_, *before.device, before.rebind, deadline_));
    if (before.way == Way::kVfio || TRY(has_next_holder(record))) return {};
    const os::Link* link = TRY(host_.by_pci(*before.device));
    return link == nullptr ? Result<void>{} : put_right(record, before, *link);
  }

  // The pod may have set another address than requested, so the interface inside decides.
  bool pod_kept_mac(const Attachment& record, const Before& before) const {
    return std::ranges::any_of(inside_, [&](const os::Link& link) {
      return is_same_link(link, before, record.interface) && link.hw_address == before.hw_address;
    });
  }

  Result<void> restore_mac(const Attachment& record, const Before& before) {
    if (before.hw_address.size() != 6) return {};
    if (!before.new_mac.has_value() && pod_kept_mac(record, before)) return {};
    host_.forget();
    const os::Link* link = TRY(host_.find_original_link(before, record.interface));
    if (link == nullptr || link->hw_address == before.hw_address) return {};
    IfIndex index = link->index;
    return set_mac(host_, *TRY(host_.links()), index, mac_of(before), before.pf, before.vf,
                   [](bool) { return Result<void>{}; });
  }

  Result<void> restore_addresses(const Attachment& record, const Before& before) {
    if (before.addresses.empty()) return {};
    const os::Link* link = TRY(host_.find_original_link(before, record.interface));
    if (link == nullptr) return {};
    IfIndex index = link->index;
    os::LinkPort* port = TRY(host_.links());
    for (const IpPrefix& address : before.addresses) TRY(unless_there(port->add_address({index, address})));
    for (Route route : before.routes) {
      route.link = index;
      if (Result<void> added = unless_there(port->add_route(route)); !added.has_value())
        note(record, "restoring a route of the host failed: " + added.error().story());
    }
    return {};
  }

  Host& host_;
  state::Store& store_;
  GivenBack& out_;
  const os::Netns* netns_;  // null: it is gone
  os::Deadline deadline_;
  std::unique_ptr<os::LinkPort> links_;
  std::vector<os::Link> inside_;
  std::set<std::string> removed_;  // of remove_made_together()
  bool waited_ = false;            // for a device, outside of the turn
};

// Marks attached records first, so that after a kill the detach is known to have begun.
Result<void> mark(state::Store& store, const std::vector<Attachment>& records) {
  auto transaction = TRY(state::Transaction::begin(store));
  for (Attachment record : records) {
    if (record.status != AttachmentStatus::kAttached) continue;
    record.status = AttachmentStatus::kDetaching;
    TRY(store.put_attachment(record));
  }
  return transaction.commit();
}

Result<void> forget(state::Store& store, const std::vector<Attachment>& records) {
  if (records.empty()) return {};
  auto transaction = TRY(state::Transaction::begin(store));
  for (const Attachment& record : records) {
    TRY(store.forget_attachment(record.pod, record.interface));
    TRY(store.forget_leases(record.pod, record.interface));
  }
  return transaction.commit();
}

// Records that somebody else has given back meanwhile are gone.
Result<std::vector<Attachment>> still_there(state::Store& store, const std::vector<Attachment>& records) {
  std::vector<Attachment> there;
  for (const Attachment& record : records) {
    const std::vector<Attachment> now = TRY(store.attachments_of(record.pod));
    const auto found = std::ranges::find(now, record.interface, &Attachment::interface);
    if (found != now.end()) there.push_back(*found);
  }
  return there;
}

// What may be in use stays the pod's own. Nothing is written of what is an orphan already, for the same reason.
Result<void> hold(state::Store& store, Attachment record, Before before, GivenBack& out) {
  const bool is_new = !before.orphaned_at_s.has_value();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (is_new) before.orphaned_at_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  std::string undo = undo_text(record.undo, before);
  if (undo == record.undo || TRY(still_there(store, {record})).empty()) return {};
  record.undo = std::move(undo);
  record.status = AttachmentStatus::kDetaching;
  TRY(store.put_attachment(record));
  if (!is_new) return {};
  const OrphanReason reason = orphan_reason(record, before);
  out.notes.push_back(fmt::format(
      "interface {} is orphaned: {}; {} reserved until {}", record.interface, reason.why,
      record.device.empty() ? "its addresses stay" : record.device + " and its addresses stay", reason.until));
  out.orphans.push_back(std::move(record));
  return {};
}

// Of a namespace that was not found and has not ended.
Result<void> orphan(state::Store& store, const std::vector<Attachment>& records, GivenBack& out) {
  auto transaction = TRY(state::Transaction::begin(store));
  for (const Attachment& record : records) {
    Result<Before> before = before_of(record);
    if (!before.has_value()) {
      out.failures.push_back({record.pod, record.interface, std::move(before.error())});
      continue;
    }
    if (before->orphaned_by == OrphanedBy::kVfio) before->orphaned_by = OrphanedBy::kNamespace;
    TRY(hold(store, record, *std::move(before), out));
  }
  return transaction.commit();
}

void add(GivenBack more, GivenBack& all) {
  std::ranges::move(more.done, std::back_inserter(all.done));
  std::ranges::move(more.orphans, std::back_inserter(all.orphans));
  std::ranges::move(more.failures, std::back_inserter(all.failures));
  std::ranges::move(more.notes, std::back_inserter(all.notes));
}

}  // namespace

Result<GivenBack> give_back(Host& host, state::Store& store, const std::vector<Attachment>& records,
                            const NetnsPlace& place, os::Deadline deadline) {
  GivenBack out;
  if (records.empty()) return out;
  TRY(mark(store, records));
  host.forget();
  auto failed = [&](const Attachment& record, Error error) {
    out.failures.push_back({record.pod, record.interface, std::move(error)});
  };
  if (place.state == NetnsState::kUnknown && !place.error.has_value()) {
    TRY(orphan(store, records, out));
    return out;
  }
  GiveBack work(host, store, out, place.netns.get(), deadline);
  Result<void> looked = place.error.has_value() ? fail(Error(*place.error)) : work.look_inside();
  std::vector<std::pair<Attachment, Before>> some;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    Result<Before> before = before_of(*record);
    if (!looked.has_value())
      failed(*record, looked.error());
    else if (!before.has_value())
      failed(*record, before.error());
    else
      some.emplace_back(*record, std::move(*before));
  }
  TRY(work.remove_made_together(some));
  for (auto& [record, before] : some) {
    const Result<GiveBack::Restored> done = work.restore_interface(record, before);
    if (!done.has_value() && host.lock_lost()) return fail(Error(done.error()));
    if (!done.has_value())
      failed(record, done.error());
    else if (*done == GiveBack::Restored::kOrphan)
      TRY(hold(store, record, before, out));
    else
      out.done.push_back(record);
  }
  TRY(forget(store, out.done));
  return out;
}

Result<GivenBack> give_back_anywhere(Host& host, state::Store& store, std::vector<Attachment> records,
                                     os::Deadline deadline) {
  GivenBack all;
  std::vector<NetnsRef> refs;
  for (const Attachment& record : records) refs.push_back(netns_ref_of(record));
  Namespaces spaces(host.kernel());
  spaces.open(refs);
  if (!spaces.all_known()) spaces.ask_for_ends();
  if (!spaces.all_known()) {
    TRY(host.without_lock(LongWait::kDevice, [&] {
      spaces.look(deadline, host.stop());
      return Result<void>{};
    }));
    records = TRY(still_there(store, records));
  }
  while (!records.empty()) {
    const std::string pod = records.front().pod;
    const NetnsRef ref = netns_ref_of(records.front());
    const auto is_of_it = [&](const Attachment& record) { return record.pod == pod && netns_ref_of(record) == ref; };
    std::vector<Attachment> there;
    std::ranges::copy_if(records, std::back_inserter(there), is_of_it);
    std::erase_if(records, is_of_it);
    add(TRY(give_back(host, store, there, spaces.place_of(ref), deadline)), all);
  }
  return all;
}

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
#include "attach/bring.h"

#include <algorithm>

#include "attach/advertisements.h"
#include "attach/identity.h"
#include "attach/missing_sysctl.h"
#include "attach/rdma.h"
#include "attach/rebind.h"
#include "attach/source_routes.h"
#include "attach/vf_mac.h"

namespace railbed::attach {
namespace {

class Bringer {
 public:
  Bringer(Host& host, state::Store& store, PodView& pod, os::Deadline deadline)
      : host_(host), store_(store), pod_(pod), deadline_(deadline) {}

  // All interfaces, in their order; what follows one another goes to the kernel together.
  Result<void> bring_in(std::vector<Prepared>& interfaces) {
    for (Prepared& one : interfaces) {
      if (one.spec.way == Way::kMake) {
        os::LinkPort& links = one.spec.master_in_pod ? pod_.links() : *TRY(host_.links());
        if (!steps_.empty() && &links != steps_to_) TRY(carry_out());
        steps_to_ = &links;
        add(one, new_link(one));
        continue;
      }
      TRY(carry_out());
      TRY(bring_in(one).context("{}", one.title()));
    }
    return carry_out();
  }

  // Reports interfaces that did not arrive.
  Result<void> set_up(std::vector<Prepared>& interfaces, const std::vector<os::Link>& inside) {
    steps_to_ = &pod_.links();
    for (Prepared& one : interfaces)
      if (one.spec.way != Way::kVfio) TRY(set_up(one, inside));
    return carry_out();
  }

  // Sets the sysctls that interfaces need before they have addresses, in one visit of the namespace. set_up() reports
  // interfaces that did not arrive.
  Result<void> set_sysctls(const std::vector<Prepared>& interfaces, const std::vector<os::Link>& inside) {
    os::Sysctls all;
    os::Sysctls if_there;                // without IPv6 there are no advertisements to be kept off
    std::vector<const Prepared*> whose;  // the interface of each entry of `all`
    std::vector<const Prepared*> whose_if_there;
    for (const Prepared& one : interfaces) {
      bool comes = one.spec.way == Way::kMove || one.spec.way == Way::kMake;
      const os::Link* link = comes ? find(inside, one.spec.interface) : nullptr;
      if (link == nullptr) continue;
      TRY(begin_ipv6(one, *link));
      std::ranges::move(sysctls_for(one), std::back_inserter(all));
      whose.resize(all.size(), &one);
      std::ranges::move(without_advertisements(one.spec), std::back_inserter(if_there));
      whose_if_there.resize(if_there.size(), &one);
    }
    whose.insert(whose.end(), whose_if_there.begin(), whose_if_there.end());
    size_t at = 0;
    os::NetnsPort& port = host_.kernel().netns();
    Result<void> set = port.set_sysctls(pod_.netns(), all, if_there, at);
    if (set.has_value() || at >= whose.size()) return set;
    if (at < all.size()) set = with_sysctl_hint(std::move(set), port, pod_.netns(), all[at].first);
    return std::move(set).context("{}", whose[at]->title());
  }

 private:
  // --- steps that go to the kernel together

  void add(const Prepared& one, os::LinkStep step) {
    steps_.push_back(std::move(step));
    steps_of_.push_back(&one);
  }

  Result<void> carry_out() {
    const std::vector<os::LinkStep> steps = std::exchange(steps_, {});
    const std::vector<const Prepared*> whose = std::exchange(steps_of_, {});
    if (steps.empty()) return {};
    size_t at = 0;
    Result<void> done = steps_to_->carry_out(steps, at);
    if (done.has_value()) return {};
    if (const auto* route = std::get_if<Route>(&steps[at])) done = std::move(done).hint(route_hint(*route));
    if (std::holds_alternative<os::NewLink>(steps[at]) && !whose[at]->spec.without_parent)
      done = std::move(done).context("on {}", whose[at]->before.name);
    return std::move(done).context("{}", whose[at]->title());
  }

  Result<void> bring_in(Prepared& one) {
    os::LinkPort* links = TRY(host_.links());
    if (!one.vf_change.empty())
      TRY(links->change_vf(one.pf_link, *one.spec.vf, one.vf_change)
              .context("setting VF {} of {}", *one.spec.vf, one.result.pf)
              .hint("the driver may not support a setting; remove it from the network"));
    if (!one.before.rebind.empty()) TRY(rebind_vf(one));
    switch (one.spec.way) {
      case Way::kVfio:
      case Way::kExisting:
      case Way::kMake:
        return {};
      case Way::kMove:
        break;
    }
    TRY(move_rdma(one));
    return links->change(one.host_link, {.name = IfName{one.spec.interface}, .netns = &pod_.netns()})
        .hint(fmt::format("check whether the pod already has an interface {}", one.spec.interface));
  }

  Result<void> set_up(Prepared& one, const std::vector<os::Link>& inside) {
    const auto own = [&](Result<void> done) { return std::move(done).context("{}", one.title()); };
    const os::Link* link = find(inside, one.spec.interface);
    if (link == nullptr)
      return own(fail(Code::kNotFound, "interface {} did not arrive in {}", one.spec.interface, pod_.netns().path()));
    one.before.in_pod = seen_in_pod(*link);
    const bool existing = one.spec.way == Way::kExisting;
    const bool wants_mac = one.spec.way == Way::kMove && one.spec.mac.has_value() && link->mac() != one.spec.mac;
    if (existing || wants_mac || one.spec.vrf.has_value()) TRY(carry_out());
    if (existing) return own(change_existing(one, *link));
    if (wants_mac) TRY(own(change_mac(one, *link)));
    if (one.spec.vrf.has_value()) TRY(own(make_port(one, link->index)));
    add_addresses_and_up(one, *link);
    add_routes(one, *link);
    if (one.spec.source_routing.has_value()) {
      TRY(carry_out());
      TRY(own(routes_by_source(one, *link)));
    }
    set_result(one, *link);
    if (one.before.rdma_undo == RdmaUndo::kRemoveSoft) {
      TRY(carry_out());
      TRY(own(make_soft_rdma(one)));
    }
    return own(check_rdma(one));
  }

  static void set_result(Prepared& one, const os::Link& link) {
    one.result.mtu = one.spec.mtu.value_or(link.mtu);
    // A created interface reports its own MAC: a macvlan in mode passthru has that of its master, whatever was
    // requested.
    const bool asked = one.spec.mac.has_value() && one.spec.way != Way::kMake;
    one.result.mac = asked ? one.spec.mac->to_string() : hw_text(link);
  }

  static const os::Link* find(const std::vector<os::Link>& links, const std::string& name) {
    auto found = std::ranges::find(links, name, [](const os::Link& link) { return link.name.value; });
    return found == links.end() ? nullptr : &*found;
  }

  static std::string hw_text(const os::Link& link) { return fmt::format("{:02x}", fmt::join(link.hw_address, ":")); }

  static std::string route_hint(const Route& route) {
    if (!route.gateway.has_value()) return "check whether another interface of the pod has this route";
    return fmt::format(
        "check that gateway {} is in a subnet of this interface, and that no other interface of the pod routes this "
        "destination",
        *route.gateway);
  }

  Result<void> rebind_vf(Prepared& one) {
    TRY(rebind(host_, *one.spec.device, one.before.rebind, deadline_));
    TRY(still_begun(one));
    const os::Link* link = TRY(host_.by_pci(*one.spec.device));
    if (link == nullptr) return fail(Code::kNotFound, "VF {} no longer has an interface", *one.spec.device);
    one.host_link = link->index;
    // The rebind also made the RDMA device again, possibly under another name.
    const os::FileTree& files = host_.kernel().files();
    std::vector<std::string> names = os::rdma_devices(files, device_path(*one.spec.device));
    std::string first = names.empty() ? "" : names.front();
    if (first == one.result.rdma) return {};
    one.result.rdma = first;
    one.result.char_devices = char_devices(files, names);
    if (one.before.rdma_undo != RdmaUndo::kMoveBack) return {};
    one.before.rdma = names;
    return write_down(one);
  }

  // While this stood aside, another process that cleans up may have taken the records for a killed one's.
  Result<void> still_begun(const Prepared& one) {
    for (const state::Attachment& record : TRY(store_.attachments_of(one.record.pod)))
      if (record.interface == one.record.interface && record.status == state::AttachmentStatus::kBegun) return {};
    return fail(Error{.code = Code::kBusy,
                      .message = "another railbed process rolled back this request",
                      .hint = "`railbed up`, `down` or `gc` ran meanwhile; retry"});
  }

  os::NewLink new_link(const Prepared& one) const {
    return {.kind = one.spec.type,
            .name = IfName{one.spec.interface},
            .netns = &pod_.netns(),
            .parent = one.host_link,
            .mtu = one.spec.mtu,
            .mac = one.spec.mac,
            .group = one.before.group,
            .macvlan_mode = one.spec.macvlan_mode,
            .ipvlan_mode = one.spec.ipvlan_mode,
            .broadcast_queue = one.spec.broadcast_queue};
  }

  static bool has_address_of(const Prepared& one, IpFamily family) {
    return std::ranges::any_of(one.spec.addresses,
                               [&](const ipam::Assigned& address) { return address.address.address.family == family; });
  }

  // Sysctls that the interface needs before it has addresses, because the kernel announces them when it comes up. Those
  // of IPv4 go by netlink (announces_arp), which has none of these.
  static os::Sysctls sysctls_for(const Prepared& one) {
    os::Sysctls all;
    auto add = [&](const char* key, const char* value = "1") {
      all.emplace_back(fmt::format("net/ipv6/conf/{}/{}", one.spec.interface, key), value);
    };
    if (has_address_of(one, IpFamily::kV6)) {
      add("disable_ipv6", "0");
      add("keep_addr_on_down");
      add("ndisc_notify");
    }
    all.insert(all.end(), one.spec.sysctls.begin(), one.spec.sysctls.end());
    return all;
  }

  // The settings of IPv6 have to be there before the interface is up.
  Result<void> begin_ipv6(const Prepared& one, const os::Link& link) {
    if (one.spec.way != Way::kMove || !begins_ipv6(link.mtu, one.spec.mtu)) return {};
    return pod_.links().change(link.index, {.mtu = one.spec.mtu}).context("{}", one.title());
  }

  // Whether the kernel is to announce the IPv4 addresses, unless the network's own sysctls say something about it.
  static bool announces_arp(const Prepared& one) {
    const std::string key = fmt::format("net/ipv4/conf/{}/arp_notify", one.spec.interface);
    return has_address_of(one, IpFamily::kV4) &&
           std::ranges::none_of(one.spec.sysctls, [&](const auto& sysctl) { return sysctl.first == key; });
  }

  void add_addresses_and_up(const Prepared& one, const os::Link& link) {
    if (announces_arp(one)) add(one, os::LinkSetting{link.index, {.arp_notify = true}});
    for (const ipam::Assigned& address : one.spec.addresses) add(one, os::LinkAddress{link.index, address.address});
    os::LinkChange change = settings(one, link);
    change.up = true;
    if (one.spec.way == Way::kMake) change.mtu.reset();  // it was made with it
    add(one, os::LinkSetting{link.index, std::move(change)});
  }

  Result<void> change_mac(Prepared& one, const os::Link& link) {
    return set_mac(host_, pod_.links(), link.index, *one.spec.mac, one.before.pf, one.before.vf,
                   [&](bool trusted) { return note_trust(one, trusted); });
  }

  // Only the settings that differ.
  static os::LinkChange settings(const Prepared& one, const os::Link& link) {
    os::LinkChange change;
    if (one.spec.mtu.has_value() && link.mtu != *one.spec.mtu) change.mtu = one.spec.mtu;
    if (one.spec.promiscuous.has_value() && link.promiscuous != *one.spec.promiscuous)
      change.promiscuous = one.spec.promiscuous;
    if (one.spec.all_multicast.has_value() && link.all_multicast != *one.spec.all_multicast)
      change.all_multicast = one.spec.all_multicast;
    if (one.spec.tx_queue.has_value() && link.tx_queue != *one.spec.tx_queue) change.tx_queue = one.spec.tx_queue;
    return change;
  }

  // Makes the VRF if it is missing, and puts the interface in it.
  Result<void> make_port(const Prepared& one, IfIndex link) {
    IfName name{one.before.vrf};
    auto vrf = pod_.links().find(name, os::WithVfs::kNo);
    if (!vrf.has_value() && vrf.error().code == Code::kNotFound) {
      TRY(pod_.links()
              .create({.kind = "vrf", .name = name, .table = one.before.vrf_table, .up = true})
              .hint("check that this kernel supports VRFs (module vrf)"));
      vrf = pod_.links().find(name, os::WithVfs::kNo);
    }
    os::Link found = TRY(std::move(vrf));
    return pod_.links().change(link, {.master = found.index});
  }

  void add_routes(Prepared& one, const os::Link& link) {
    for (Route& route : one.result.routes) {
      route.link = link.index;
      if (!route.table.has_value() && one.spec.vrf.has_value()) route.table = one.before.vrf_table;
      if (one.spec.source_routing.has_value() && !route.table.has_value()) continue;
      add(one, route);
    }
  }

  Result<void> routes_by_source(Prepared& one, const os::Link& link) {
    std::vector<Route> main;
    for (const Route& route : TRY(pod_.links().routes()))
      if (route.link == link.index) main.push_back(route);
    SourceRoutes source =
        source_routes(*one.spec.source_routing, one.spec.addresses, one.before.rules, main, one.result.routes);
    for (Route& route : source.add) route.link = link.index;
    return by_source(one.before.rules, source.add, source.remove);
  }

  Result<void> by_source(const std::vector<os::Rule>& rules, const std::vector<Route>& add,
                         const std::vector<Route>& remove) {
    for (const os::Rule& rule : rules) TRY(pod_.links().add_rule(rule));
    for (const Route& route : add) TRY(pod_.links().add_route(route).hint(route_hint(route)));
    for (const Route& route : remove) TRY(pod_.links().remove_route(route));
    return {};
  }

  Result<void> change_existing(Prepared& one, const os::Link& link) {
    TRY(host_.kernel().netns().set_sysctls(pod_.netns(), one.spec.sysctls));
    if (one.spec.mac.has_value() && link.mac() != one.spec.mac)
      TRY(change_mac(one, link).hint("the driver may not support changing the address while the interface is up"));
    os::LinkChange change = settings(one, link);
    if (change != os::LinkChange{}) TRY(pod_.links().change(link.index, change));
    if (begins_ipv6(link.mtu, change.mtu)) TRY(turn_advertisements_off(one));
    if (one.spec.source_routing.has_value())
      TRY(by_source(one.before.rules, one.before.table_routes, one.before.routes));
    if (one.spec.vrf.has_value()) {
      TRY(make_port(one, link.index));
      TRY(put_back_as_port(one, link.index));
    }
    TRY(move_rdma(one));
    one.result.mtu = one.spec.mtu.value_or(link.mtu);
    one.result.mac = one.spec.mac.has_value() ? one.spec.mac->to_string() : hw_text(link);
    return check_rdma(one);
  }

  // They were off until the MTU ended IPv6 on this interface, which starts again with the namespace's defaults.
  Result<void> turn_advertisements_off(const Prepared& one) {
    size_t at = 0;
    return host_.kernel().netns().set_sysctls(pod_.netns(), {}, without_advertisements(one.spec), at);
  }

  // An interface that becomes a port goes down and up again, which removes its IPv6 addresses and its routes.
  Result<void> put_back_as_port(const Prepared& one, IfIndex link) {
    if (!one.before.addresses.empty()) {
      std::vector<os::LinkAddress> kept = TRY(pod_.links().addresses());
      for (const IpPrefix& address : one.before.addresses)
        if (std::ranges::find(kept, os::LinkAddress{link, address}) == kept.end())
          TRY(pod_.links().add_address({link, address}));
    }
    for (Route route : networks_first(one.before.routes)) {
      route.table = one.before.vrf_table;
      TRY(pod_.links().add_route(route));
    }
    return {};
  }

  Result<void> move_rdma(Prepared& one) {
    if (one.before.rdma_undo != RdmaUndo::kMoveBack) return {};
    auto rdma = TRY(host_.kernel().rdma());
    for (const std::string& device : one.before.rdma) TRY(rdma->move(device, pod_.netns()));
    rdma_inside_.reset();
    // The move recreated its character devices, under the lowest free numbers.
    one.result.char_devices = char_devices(host_.kernel().files(), one.before.rdma);
    return {};
  }

  // A pod that needs RDMA must be able to open the device.
  Result<void> check_rdma(const Prepared& one) {
    if (!one.spec.rdma_required) return {};
    std::string why = cannot_open(host_.kernel().files(), one.result.rdma, one.result.char_devices);
    if (!why.empty()) return fail(Code::kNotFound, "the pod requested RDMA, but cannot open it: {}", why);
    if (one.result.soft) return {};  // visible wherever its interface is
    if (TRY(pod_has_rdma(one.result.rdma))) return {};
    return fail(Code::kNotFound, "the pod requested RDMA, but RDMA device {} is not in its namespace", one.result.rdma);
  }

  // Lists the devices once: all of them arrive before the first interface is set up.
  Result<bool> pod_has_rdma(const std::string& device) {
    if (!rdma_inside_.has_value()) {
      auto port = TRY(host_.kernel().netns().rdma(pod_.netns()));
      rdma_inside_ = TRY(port->list());
    }
    return std::ranges::any_of(*rdma_inside_, [&](const os::RdmaLink& link) { return link.name == device; });
  }

  Result<void> note_trust(Prepared& one, bool trusted) {
    if (!one.before.vf_settings.trust.has_value()) one.before.vf_settings.trust = trusted;
    return write_down(one);
  }

  // Stores what was learned during the attachment and is needed to undo it.
  Result<void> write_down(Prepared& one) {
    one.record.undo = undo_text(one.record.undo, one.before);
    return store_.put_attachment(one.record);
  }

  Result<void> make_soft_rdma(Prepared& one) {
    auto port = host_.kernel().netns().rdma(pod_.netns());
    Result<void> made = port.has_value()
                            ? (*port)->create_soft("rxe", one.before.rdma.front(), IfName{one.spec.interface})
                            : Result<void>(fail(port.error()));
    if (!made.has_value() && made.error().code != Code::kCanceled) {
      TRY(host_.without_lock(LongWait::kDevice, [this] { return host_.kernel().processes().load_module("rdma_rxe"); }));
      TRY(still_begun(one));
      port = host_.kernel().netns().rdma(pod_.netns());
      made = TRY(std::move(port))->create_soft("rxe", one.before.rdma.front(), IfName{one.spec.interface});
    }
    TRY(std::move(made));
    one.result.char_devices = os::char_devices(host_.kernel().files(), one.before.rdma.front(), os::Mad::kNo);
    return {};
  }

  Host& host_;
  state::Store& store_;
  PodView& pod_;
  os::Deadline deadline_;
  std::optional<std::vector<os::RdmaLink>> rdma_inside_;
  // What is not carried out yet, for which interface, and where.
  std::vector<os::LinkStep> steps_;
  std::vector<const Prepared*> steps_of_;
  os::LinkPort* steps_to_ = nullptr;
};

}  // namespace

Result<void> configure_links(Host& host, state::Store& store, PodView& pod, std::vector<Prepared>& interfaces,
                             os::Deadline deadline) {
  Bringer bringer(host, store, pod, deadline);
  TRY(bringer.bring_in(interfaces));
  pod.forget();
  std::vector<os::Link> inside = *TRY(pod.list());
  TRY(bringer.set_sysctls(interfaces, inside));
  return bringer.set_up(interfaces, inside);
}

}  // namespace railbed::attach

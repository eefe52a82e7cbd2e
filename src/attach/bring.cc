// SPDX-License-Identifier: Apache-2.0
#include "attach/bring.h"

#include <algorithm>

#include "attach/rdma.h"
#include "attach/rebind.h"
#include "attach/vf_mac.h"

namespace railbed::attach {
namespace {

class Bringer {
 public:
  Bringer(Host& host, state::Store& store, const PodSpace& pod, os::Deadline deadline)
      : host_(host), store_(store), pod_(pod), deadline_(deadline) {}

  Result<void> bring_in(Prepared& one) {
    os::LinkPort* links = TRY(host_.links());
    if (!one.vf_change.empty())
      TRY(links->change_vf(one.pf_link, *one.wish.vf, one.vf_change)
              .context("setting VF {} of {}", *one.wish.vf, one.result.pf)
              .hint("a driver that does not know a setting refuses it: leave it out of the network"));
    if (!one.before.rebind.empty()) TRY(rebind_vf(one));
    switch (one.wish.way) {
      case Way::kVfio:
        return {};
      case Way::kMake:
        return make(*links, one);
      case Way::kMove:
        break;
    }
    if (one.before.rdma_undo == RdmaUndo::kMoveBack) {
      auto rdma = TRY(host_.kernel().rdma());
      TRY(rdma->move(one.before.rdma, pod_.netns));
    }
    return links->change(one.host_link, {.name = IfName{one.wish.interface}, .netns = &pod_.netns})
        .hint(fmt::format("is there another {} in the pod?", one.wish.interface));
  }

  Result<void> set_up(Prepared& one, const std::vector<os::Link>& inside) {
    if (one.wish.way == Way::kVfio) return {};
    auto link =
        std::ranges::find(inside, one.wish.interface, [](const os::Link& other) { return other.name.value; });
    if (link == inside.end())
      return fail(Code::kNotFound, "interface {} did not arrive in {}", one.wish.interface,
                  pod_.netns.path());
    TRY(notifications(one));
    for (const auto& [key, value] : one.wish.sysctls)
      TRY(host_.kernel().netns().set_sysctl(pod_.netns, key, value));
    TRY(addresses_and_up(one, *link));
    for (os::Route& route : one.result.routes) {
      route.link = link->index;
      TRY(pod_.links.add_route(route).hint(route_hint(route)));
    }
    one.result.mtu = one.wish.mtu.value_or(link->mtu);
    one.result.mac = one.wish.mac.has_value() ? one.wish.mac->to_string() : hw_text(*link);
    if (one.before.rdma_undo == RdmaUndo::kRemoveSoft) TRY(make_soft_rdma(one));
    return {};
  }

 private:
  static std::string hw_text(const os::Link& link) {
    return fmt::format("{:02x}", fmt::join(link.hw_address, ":"));
  }

  static std::string route_hint(const os::Route& route) {
    if (!route.gateway.has_value()) return "does another interface of the pod have this route?";
    return fmt::format(
        "is gateway {} inside a subnet of this interface, and is no other interface of the pod "
        "the way to this destination?",
        *route.gateway);
  }

  Result<void> rebind_vf(Prepared& one) {
    TRY(rebind(host_, *one.wish.device, one.before.rebind, deadline_));
    const os::Link* link = TRY(host_.by_pci(*one.wish.device));
    if (link == nullptr) return fail(Code::kNotFound, "VF {} has no interface any more", *one.wish.device);
    one.host_link = link->index;
    // The RDMA device was made anew, too, and may have another name.
    const os::FileTree& files = host_.kernel().files();
    std::string rdma = rdma_device(files, *one.wish.device);
    if (rdma == one.result.rdma) return {};
    one.result.rdma = rdma;
    one.result.char_devices = char_devices(files, rdma);
    if (one.before.rdma_undo != RdmaUndo::kMoveBack) return {};
    one.before.rdma = rdma;
    return write_down(one);
  }

  Result<void> make(os::LinkPort& links, const Prepared& one) {
    os::NewLink link{.kind = one.wish.type,
                     .name = IfName{one.wish.interface},
                     .netns = &pod_.netns,
                     .parent = one.host_link,
                     .mtu = one.wish.mtu,
                     .mac = one.wish.mac,
                     .group = one.before.group,
                     .macvlan_mode = one.wish.macvlan_mode,
                     .ipvlan_mode = one.wish.ipvlan_mode};
    return links.create(link).context("on {}", one.before.name);
  }

  // The kernel tells the neighbours about the addresses when the interface comes up.
  Result<void> notifications(const Prepared& one) {
    auto has = [&](IpFamily family) {
      return std::ranges::any_of(one.wish.addresses, [&](const ipam::Assigned& address) {
        return address.address.address.family == family;
      });
    };
    os::NetnsPort& netns = host_.kernel().netns();
    if (has(IpFamily::kV4))
      TRY(netns.set_sysctl(pod_.netns, fmt::format("net/ipv4/conf/{}/arp_notify", one.wish.interface), "1"));
    if (has(IpFamily::kV6))
      TRY(netns.set_sysctl(pod_.netns, fmt::format("net/ipv6/conf/{}/ndisc_notify", one.wish.interface),
                           "1"));
    return {};
  }

  Result<void> addresses_and_up(Prepared& one, const os::Link& link) {
    if (one.wish.way == Way::kMove && one.wish.mac.has_value() && link.mac() != one.wish.mac)
      TRY(set_mac(host_, pod_.links, link.index, *one.wish.mac, one.before.pf, one.before.vf,
                  [&](bool trusted) { return note_trust(one, trusted); }));
    for (const ipam::Assigned& one_address : one.wish.addresses)
      TRY(pod_.links.add_address({link.index, one_address.address}));
    os::LinkChange change{.up = true};
    if (one.wish.way == Way::kMove && one.wish.mtu.has_value() && link.mtu != *one.wish.mtu)
      change.mtu = one.wish.mtu;
    return pod_.links.change(link.index, change);
  }

  Result<void> note_trust(Prepared& one, bool trusted) {
    if (!one.before.vf_settings.trust.has_value()) one.before.vf_settings.trust = trusted;
    return write_down(one);
  }

  // What is learned on the way and needed for the way back.
  Result<void> write_down(Prepared& one) {
    one.record.undo = undo_text(one.asked, one.before);
    return store_.put_attachment(one.record);
  }

  Result<void> make_soft_rdma(Prepared& one) {
    auto port = host_.kernel().netns().rdma(pod_.netns);
    Result<void> made = port.has_value()
                            ? (*port)->create_soft("rxe", one.before.rdma, IfName{one.wish.interface})
                            : Result<void>(fail(port.error()));
    if (!made.has_value() && made.error().code != Code::kCanceled) {
      TRY(host_.kernel().processes().load_module("rdma_rxe"));
      port = host_.kernel().netns().rdma(pod_.netns);
      made = TRY(std::move(port))->create_soft("rxe", one.before.rdma, IfName{one.wish.interface});
    }
    TRY(std::move(made));
    one.result.char_devices = char_devices(host_.kernel().files(), one.before.rdma);
    return {};
  }

  Host& host_;
  state::Store& store_;
  const PodSpace& pod_;
  os::Deadline deadline_;
};

}  // namespace

Result<void> bring(Host& host, state::Store& store, const PodSpace& pod, std::vector<Prepared>& interfaces,
                   os::Deadline deadline) {
  Bringer bringer(host, store, pod, deadline);
  for (Prepared& one : interfaces)
    TRY(bringer.bring_in(one).context("interface {} (network {})", one.wish.interface, one.wish.network));
  std::vector<os::Link> inside = TRY(pod.links.list(os::WithVfs::kNo));
  for (Prepared& one : interfaces)
    TRY(bringer.set_up(one, inside)
            .context("interface {} (network {})", one.wish.interface, one.wish.network));
  return {};
}

}  // namespace railbed::attach

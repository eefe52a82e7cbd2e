// SPDX-License-Identifier: Apache-2.0
#include "attach/prepare.h"

#include <algorithm>
#include <span>

#include "attach/rdma.h"
#include "attach/vf_settings.h"

namespace railbed::attach {
namespace {

class Preparation {
 public:
  Preparation(Host& host, Prepared& prepared, const std::vector<state::Attachment>& others)
      : host_(host), wish_(prepared.wish), before_(prepared.before), out_(prepared), others_(others) {}

  Result<void> run() {
    before_.way = wish_.way;
    if (wish_.way == Way::kMake) return make();
    if (wish_.device.has_value()) TRY(place_vf());
    if (wish_.way == Way::kMove) TRY(move());
    TRY(not_taken());
    TRY(settings());
    if (wish_.way == Way::kVfio) return vfio();
    return rdma();
  }

 private:
  // The interface below a macvlan or ipvlan.
  Result<void> make() {
    const os::Link* parent = nullptr;
    if (wish_.host_link.empty()) {
      parent = TRY(default_route_link());
    } else {
      parent = TRY(host_.by_name(wish_.host_link));
      if (parent == nullptr)
        return fail(Error{.code = Code::kNotFound,
                          .message = fmt::format("its master {} is not there", wish_.host_link),
                          .hint = "interfaces here: " + TRY(host_.names())});
    }
    out_.host_link = parent->index;
    out_.result.host_name = parent->name.value;
    before_.name = parent->name.value;
    before_.kind = wish_.type;
    return {};
  }

  Result<const os::Link*> default_route_link() {
    const std::vector<os::Route>& routes = *TRY(host_.routes());
    for (const os::Route& route : routes) {
      if (route.destination.has_value() || route.family != IpFamily::kV4) continue;
      const os::Link* link = TRY(host_.by_index(route.link));
      if (link != nullptr) return link;
    }
    return fail(Error{.code = Code::kNotFound,
                      .message = "it names no master, and there is no default route whose interface would do",
                      .hint = "name a master in the network's configuration"});
  }

  Result<void> place_vf() {
    before_.device = wish_.device;
    if (!device_exists(host_.kernel().files(), *wish_.device))
      return fail(Error{.code = Code::kNotFound,
                        .message = fmt::format("there is no PCI device {}", *wish_.device),
                        .hint = "were the VFs removed? `railbed discover` shows what is there"});
    if (!wish_.pf.has_value())
      if (auto place = TRY(vf_place(host_.kernel().files(), *wish_.device))) {
        wish_.pf = place->pf;
        wish_.vf = place->index;
        if (wish_.mac.has_value()) wish_.vf_settings.mac = wish_.mac;
      }
    if (!wish_.pf.has_value() && !wish_.vf_settings.empty())
      return fail(Code::kInvalid, "{} is no VF: it has no VF settings", *wish_.device);
    before_.pf = wish_.pf;
    before_.vf = wish_.vf;
    out_.result.device = wish_.device;
    out_.result.vf = wish_.vf;
    return {};
  }

  Result<const os::Link*> moving_link() {
    if (wish_.device.has_value()) return host_.by_pci(*wish_.device);
    if (wish_.host_mac.has_value()) return host_.by_mac(*wish_.host_mac);
    return host_.by_name(wish_.host_link);
  }

  std::string what() const {
    if (wish_.device.has_value()) return fmt::format("device {}", *wish_.device);
    if (wish_.host_mac.has_value()) return fmt::format("an interface with address {}", *wish_.host_mac);
    return "interface " + wish_.host_link;
  }

  Result<void> move() {
    const os::Link* link = TRY(moving_link());
    if (link == nullptr) {
      TRY(not_taken());
      std::string driver = "no driver";
      if (wish_.device.has_value())
        driver = os::link_name(host_.kernel().files(),
                               fmt::format("/sys/bus/pci/devices/{}/driver", *wish_.device))
                     .value_or(driver);
      if (wish_.device.has_value())
        return fail(Error{.code = Code::kNotFound,
                          .message = fmt::format("{} has no interface in the host's namespace", what()),
                          .hint = fmt::format("it has {}; is it in another namespace?", driver)});
      return fail(Error{.code = Code::kNotFound,
                        .message = fmt::format("{} is not there", what()),
                        .hint = "interfaces here: " + TRY(host_.names())});
    }
    if (link->master)
      return fail(Code::kConflict, "{} ({}) is a port of a bond or bridge; take it out first", link->name,
                  what());
    if (link->name.value == "lo") return fail(Code::kInvalid, "lo cannot be moved");
    out_.host_link = link->index;
    out_.result.host_name = link->name.value;
    out_.result.mtu = link->mtu;
    before_.name = link->name.value;
    before_.index = link->index.value;
    before_.kind = link->kind;
    before_.hw_address = link->hw_address;
    before_.mtu = link->mtu;
    before_.up = link->up;
    if (wish_.mac.has_value() && link->mac() != wish_.mac) before_.new_mac = wish_.mac;
    if (link->arp_type == 32) TRY(check_guid(*link));
    return host_addresses(link->index);
  }

  // A move drops the host's own addresses and routes; they come back with the interface.
  Result<void> host_addresses(IfIndex link) {
    for (const os::LinkAddress& address : *TRY(host_.addresses())) {
      bool made_by_kernel = address.prefix.address.family == IpFamily::kV6 &&
                            address.prefix.address.bytes[0] == 0xfe &&
                            address.prefix.address.bytes[1] == 0x80;
      if (address.link == link && !made_by_kernel) before_.addresses.push_back(address.prefix);
    }
    if (before_.addresses.empty()) return {};
    for (const os::Route& route : *TRY(host_.routes()))
      if (route.link == link && route.gateway.has_value()) before_.routes.push_back(route);
    return {};
  }

  // The last eight bytes of an IPoIB address are the port's GUID; without one the port gets no LID.
  Result<void> check_guid(const os::Link& link) {
    if (wish_.vf_settings.port_guid.has_value() || link.hw_address.size() != 20) return {};
    auto guid = std::span(link.hw_address).last(8);
    bool zero = std::ranges::all_of(guid, [](uint8_t byte) { return byte == 0; });
    bool ones = std::ranges::all_of(guid, [](uint8_t byte) { return byte == 0xff; });
    if (!zero && !ones) return {};
    return fail(
        Error{.code = Code::kInvalid,
              .message = fmt::format("{} has no GUID", what()),
              .hint = "ask for an infiniband-guid, or have `railbed up` make the VFs: it gives them one"});
  }

  Result<void> not_taken() {
    std::string device = device_text();
    for (const state::Attachment& other : others_)
      if (!device.empty() && other.device == device &&
          (other.pod != out_.record.pod || other.interface != wish_.interface))
        return fail(Code::kConflict, "{} belongs to pod {}, interface {}", what(), other.pod,
                    other.interface);
    return {};
  }

  std::string device_text() const {
    if (wish_.device.has_value()) return wish_.device->to_string();
    return before_.name.empty() ? wish_.host_link : before_.name;
  }

  Result<void> settings() {
    if (!wish_.pf.has_value()) return {};
    const os::Link* pf = TRY(host_.by_pci(*wish_.pf));
    if (pf != nullptr) {
      out_.pf_link = pf->index;
      out_.result.pf = pf->name.value;
    }
    if (wish_.vf_settings.empty() && wish_.way == Way::kMove) return {};
    os::VfInfo now = TRY(host_.vf(*wish_.pf, *wish_.vf));
    out_.vf_change = differing(wish_.vf_settings, now);
    before_.vf_settings = present(out_.vf_change, now);
    if (out_.vf_change.node_guid.has_value() || out_.vf_change.port_guid.has_value())
      before_.rebind = TRY(os::link_name(host_.kernel().files(),
                                         fmt::format("/sys/bus/pci/devices/{}/driver", *wish_.device)));
    if (auto mac = wish_.mac.has_value() ? wish_.mac : now.mac) out_.result.mac = mac->to_string();
    return {};
  }

  Result<void> vfio() {
    std::string group = TRY(os::link_name(host_.kernel().files(),
                                          fmt::format("/sys/bus/pci/devices/{}/iommu_group", *wish_.device))
                                .hint("vfio-pci needs the IOMMU: boot with intel_iommu=on iommu=pt"));
    out_.result.char_devices = {"/dev/vfio/vfio", "/dev/vfio/" + group};
    return {};
  }

  Result<void> rdma() {
    if (!wish_.device.has_value()) return {};
    const os::FileTree& files = host_.kernel().files();
    std::string device = rdma_device(files, *wish_.device);
    if (!device.empty()) return hardware_rdma(files, device);
    if (wish_.soft_rdma && wish_.pf.has_value()) {
      before_.rdma = soft_rdma_name(*wish_.pf, *wish_.vf);
      before_.rdma_undo = RdmaUndo::kRemoveSoft;
      out_.result.rdma = before_.rdma;
      out_.result.soft = true;
      return {};
    }
    std::string missing = fmt::format("{} has no RDMA device", what());
    std::string hint =
        "is its RDMA driver loaded? Nodes without RDMA NICs can ask for soft devices: annotate "
        "the node with railbed.dev/soft-rdma: \"true\"";
    if (wish_.rdma_required)
      return fail(Error{.code = Code::kNotFound, .message = missing, .hint = std::move(hint)});
    if (wish_.rdma) out_.result.notes.push_back(missing + ", although its policy says isRdma");
    return {};
  }

  Result<void> hardware_rdma(const os::FileTree& files, const std::string& device) {
    out_.result.rdma = device;
    out_.result.char_devices = char_devices(files, device);
    auto port = TRY(host_.kernel().rdma());
    if (TRY(port->netns_mode()) == os::RdmaNetnsMode::kShared) return {};
    before_.rdma = device;
    before_.rdma_undo = RdmaUndo::kMoveBack;
    return {};
  }

  Host& host_;
  Wish& wish_;
  Before& before_;
  Prepared& out_;
  const std::vector<state::Attachment>& others_;
};

}  // namespace

Result<Prepared> prepare(Host& host, const Wish& wish, const std::string& pod, const std::string& netns,
                         const std::vector<state::Attachment>& others, uint32_t group) {
  Prepared prepared{.wish = wish, .asked = wish};
  prepared.record = {.pod = pod,
                     .interface = wish.interface,
                     .netns = netns,
                     .network = wish.network,
                     .type = wish.type,
                     .resource = wish.resource};
  if (wish.way == Way::kMake) prepared.before.group = group;
  TRY(Preparation(host, prepared, others)
          .run()
          .context("interface {} (network {})", wish.interface, wish.network));
  if (wish.device.has_value())
    prepared.record.device = wish.device->to_string();
  else if (wish.way == Way::kMove)
    prepared.record.device = prepared.before.name;
  prepared.record.undo = undo_text(wish, prepared.before);

  InterfaceResult& result = prepared.result;
  result.interface = wish.interface;
  result.network = wish.network;
  result.type = wish.type;
  for (const ipam::Assigned& one : wish.addresses) {
    result.addresses.push_back(one.address);
    if (!result.gateway.has_value()) result.gateway = one.gateway;
  }
  result.routes = wish.routes;
  return prepared;
}

}  // namespace railbed::attach

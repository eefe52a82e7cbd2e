// SPDX-License-Identifier: Apache-2.0
#include "attach/prepare.h"

#include <algorithm>
#include <cctype>
#include <span>

#include <re2/re2.h>

#include "attach/advertisements.h"
#include "attach/preparation.h"
#include "attach/rdma.h"
#include "attach/vf_settings.h"
#include "base/pci_driver.h"

namespace railbed::attach {
namespace {

// No sysctl of the kernel has a longer name, while a pod can ask for any text.
constexpr size_t kMaxSysctlBytes = 255;

// RE2 has the syntax of the original (Go's), and takes time and stack that do not grow with what a pod asks for.
Result<bool> matches_a_line(const std::string& list, const std::string& name) {
  for (size_t start = 0; start < list.size();) {
    size_t end = std::min(list.find('\n', start), list.size());
    std::string line = list.substr(start, end - start);
    start = end + 1;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty()) continue;
    const re2::RE2 expression(line, re2::RE2::Quiet);
    if (!expression.ok())
      return fail(Code::kInvalid, "\"{}\" is not a valid regular expression: {}", line, expression.error());
    if (re2::RE2::PartialMatch(name, expression)) return true;
  }
  return false;
}

class NewPreparation : Preparation {
 public:
  NewPreparation(Host& host, state::Store& store, const Place& place, const std::vector<Prepared>& earlier,
                 Prepared& prepared)
      : Preparation(host, store, place.view, prepared), earlier_(earlier) {}

  Result<void> run() {
    if (spec_.way == Way::kMake) {
      TRY(make());
    } else {
      if (spec_.device.has_value()) TRY(place_vf());
      if (spec_.way == Way::kMove) TRY(move());
      TRY(not_taken());
      TRY(settings());
      if (spec_.way == Way::kVfio) TRY(vfio());
      if (spec_.way == Way::kMove) TRY(rdma());
    }
    before_.way = spec_.way;
    TRY(identity_is_free());
    if (spec_.way == Way::kVfio) return {};
    TRY(name_is_free());
    return pod_routing();
  }

 private:
  // Checked before any change, because the kernel would refuse the name halfway.
  Result<void> name_is_free() {
    std::vector<std::string> names = {spec_.interface};
    if (spec_.way == Way::kMove)
      if (const os::Link* link = TRY(host_.by_index(out_.host_link)))
        names.insert(names.end(), link->alt_names.begin(), link->alt_names.end());
    for (const std::string& name : names) {
      const os::Link* there = TRY(pod_.named(name));
      if (there == nullptr) continue;
      return fail(Error{.code = Code::kConflict,
                        .message = there->name.value == name
                                       ? fmt::format("the pod already has an interface {}", name)
                                       : fmt::format("interface {} of the pod already has the alternative name {}",
                                                     there->name, name),
                        .hint = name == spec_.interface ? "" : fmt::format("{} has it, too", before_.name)});
    }
    return {};
  }

  // The interface below a macvlan or ipvlan; a dummy has none.
  Result<void> make() {
    before_.kind = spec_.type;
    if (spec_.without_parent) return {};
    const os::Link* parent = nullptr;
    if (spec_.host_link.empty() && spec_.master_in_pod) {
      parent = TRY(pod_.of_default_route());
      if (parent == nullptr)
        return fail(Code::kNotFound,
                    "it has no master, and the pod has no default route whose interface could be used");
    } else if (spec_.host_link.empty()) {
      parent = TRY(default_route_link());
    } else if (spec_.master_in_pod) {
      parent = TRY(pod_.named(spec_.host_link));
      if (parent == nullptr) return fail(Code::kNotFound, "its master {} was not found in the pod", spec_.host_link);
    } else {
      parent = TRY(host_.by_name(spec_.host_link));
      if (parent == nullptr)
        return fail(Error{.code = Code::kNotFound,
                          .message = fmt::format("its master {} was not found", spec_.host_link),
                          .hint = "interfaces here: " + TRY(host_.names())});
    }
    if (spec_.mtu.has_value() && *spec_.mtu > parent->mtu)
      return fail(Code::kInvalid, "its MTU {} exceeds the {} of its master {}", *spec_.mtu, parent->mtu, parent->name);
    out_.host_link = parent->index;
    out_.result.host_name = parent->name.value;
    before_.name = parent->name.value;
    return {};
  }

  Result<const os::Link*> default_route_link() {
    const std::vector<Route>& routes = *TRY(host_.routes());
    for (const Route& route : routes) {
      if (!route.is_default() || route.family() != IpFamily::kV4) continue;
      const os::Link* link = TRY(host_.by_index(route.link));
      if (link != nullptr) return link;
    }
    return fail(Error{.code = Code::kNotFound,
                      .message = "it has no master, and there is no default route whose interface could be used",
                      .hint = "set a master in the network's configuration"});
  }

  Result<void> place_vf() {
    before_.device = spec_.device;
    if (!device_exists(host_.kernel().files(), *spec_.device))
      return fail(Error{.code = Code::kNotFound,
                        .message = fmt::format("PCI device {} not found", *spec_.device),
                        .hint = "the VFs may have been removed; `railbed discover` shows the devices"});
    if (!spec_.pf.has_value())
      if (auto place = TRY(vf_place(host_.kernel().files(), *spec_.device))) {
        spec_.pf = place->pf;
        spec_.vf = place->index;
        if (spec_.mac.has_value()) spec_.vf_settings.mac = spec_.mac;
      }
    if (!spec_.pf.has_value() && !spec_.vf_settings.empty())
      return fail(Code::kInvalid, "{} is not a VF and has no VF settings", *spec_.device);
    before_.pf = spec_.pf;
    before_.vf = spec_.vf;
    out_.result.device = spec_.device;
    out_.result.vf = spec_.vf;
    std::string driver = driver_of(host_.kernel().files(), *spec_.device);
    if (!is_user_space_driver(driver)) {
      before_.driver = std::move(driver);
      return {};
    }
    spec_.way = Way::kVfio;
    if (needs_interface(spec_))
      return fail(Code::kInvalid, "{} is bound to {} and has no interface to tune", *spec_.device, driver);
    return {};
  }

  Result<const os::Link*> moving_link() {
    if (spec_.device.has_value()) return link_of(*spec_.device);
    if (!spec_.auxiliary.empty()) return host_.by_auxiliary(spec_.auxiliary);
    if (!spec_.kernel_path.empty()) return link_below(spec_.kernel_path);
    if (spec_.host_mac.has_value()) return host_.by_mac(*spec_.host_mac);
    return host_.by_name(spec_.host_link);
  }

  Result<const os::Link*> link_of(PciAddress device) {
    const os::Link* link = TRY(host_.by_pci(device));
    if (link != nullptr) return link;
    // A virtio interface is a child of a child.
    std::string path = device_path(device);
    for (const std::string& child : host_.kernel().files().list(path).value_or(std::vector<std::string>{}))
      if (child.starts_with("virtio") && link == nullptr) link = TRY(link_below(path + "/" + child));
    if (link != nullptr) before_.device.reset();  // it is found by its address
    return link;
  }

  // The first interface of the device at `path`.
  Result<const os::Link*> link_below(const std::string& path) {
    const os::Link* link = nullptr;
    for (const std::string& name : host_.kernel().files().list(path + "/net").value_or(std::vector<std::string>{}))
      if (link == nullptr) link = TRY(host_.by_name(name));
    return link;
  }

  std::string what() const {
    if (!spec_.auxiliary.empty()) return "device " + spec_.auxiliary;
    if (!spec_.kernel_path.empty()) return "an interface of " + spec_.kernel_path;
    if (spec_.device.has_value()) return fmt::format("device {}", *spec_.device);
    if (spec_.host_mac.has_value()) return fmt::format("an interface with address {}", *spec_.host_mac);
    return "interface " + spec_.host_link;
  }

  Result<void> move() {
    const os::Link* link = TRY(moving_link());
    if (link == nullptr) {
      TRY(not_taken());
      std::string driver = "no driver";
      if (spec_.device.has_value())
        driver = os::link_name(host_.kernel().files(), fmt::format("/sys/bus/pci/devices/{}/driver", *spec_.device))
                     .value_or(driver);
      if (spec_.device.has_value())
        return fail(Error{.code = Code::kNotFound,
                          .message = fmt::format("{} has no interface in the host's namespace", what()),
                          .hint = fmt::format("it has {}; it may be in another namespace", driver)});
      return fail(Error{.code = Code::kNotFound,
                        .message = fmt::format("{} is not there", what()),
                        .hint = "interfaces here: " + TRY(host_.names())});
    }
    if (link->master)
      return fail(Code::kConflict, "{} ({}) is a port of a bond or bridge; remove it from there first", link->name,
                  what());
    if (link->name.value == "lo") return fail(Code::kInvalid, "lo cannot be moved");
    TRY(is_not_the_hosts_way(*link));
    out_.host_link = link->index;
    out_.result.host_name = link->name.value;
    out_.result.mtu = link->mtu;
    remember(*link);
    if (link->arp_type == 32) TRY(check_guid(*link));
    return host_addresses(link->index);
  }

  // Without its default route the node is cut off, and nothing from outside brings it back. Only an interface that is
  // up has routes.
  Result<void> is_not_the_hosts_way(const os::Link& link) {
    if (!link.up) return {};
    for (const Route& route : *TRY(host_.routes()))
      if (route.link == link.index && route.is_default() && !route.table.has_value())
        return fail(Error{.code = Code::kInvalid,
                          .message = fmt::format("{} ({}) has the node's default route{}", link.name, what(),
                                                 route.gateway ? fmt::format(" by {}", *route.gateway) : ""),
                          .hint = "move the node's default route to another interface first"});
    return {};
  }

  // A move drops the host's addresses and routes; they are restored when the interface returns.
  Result<void> host_addresses(IfIndex link) {
    for (const os::LinkAddress& address : *TRY(host_.addresses())) {
      bool made_by_kernel = address.prefix.address.family == IpFamily::kV6 && address.prefix.address.bytes[0] == 0xfe &&
                            address.prefix.address.bytes[1] == 0x80;
      if (address.link == link && !made_by_kernel) before_.addresses.push_back(address.prefix);
    }
    if (before_.addresses.empty()) return {};
    for (const Route& route : *TRY(host_.routes()))
      if (route.link == link && route.gateway.has_value()) before_.routes.push_back(route);
    return {};
  }

  // The last eight bytes of an IPoIB address are the port's GUID; without one the port gets no LID.
  Result<void> check_guid(const os::Link& link) {
    if (spec_.vf_settings.port_guid.has_value() || link.hw_address.size() != 20) return {};
    auto guid = std::span(link.hw_address).last(8);
    bool zero = std::ranges::all_of(guid, [](uint8_t byte) { return byte == 0; });
    bool ones = std::ranges::all_of(guid, [](uint8_t byte) { return byte == 0xff; });
    if (!zero && !ones) return {};
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("{} has no GUID", what()),
                      .hint = "request an infiniband-guid, or create the VFs with `railbed up`, which assigns one"});
  }

  Result<void> not_taken() {
    std::string device = device_text();
    if (device.empty()) return {};
    std::vector<state::Attachment> others = TRY(store_.attachments_with(device));
    for (const Prepared& one : earlier_)
      if (one.record.device == device) others.push_back(one.record);
    for (const state::Attachment& other : others)
      if (other.pod != out_.record.pod || other.interface != spec_.interface) return fail(taken_by(other));
    return {};
  }

  Error taken_by(const state::Attachment& other) const {
    if (!is_orphan(other))
      return Error{.code = Code::kConflict,
                   .message = fmt::format("{} belongs to pod {}, interface {}", what(), other.pod, other.interface)};
    const OrphanReason reason = orphan_reason(other);
    return Error{.code = Code::kConflict,
                 .message = fmt::format("{} is reserved for orphaned interface {} of pod {}: after its DEL, {}", what(),
                                        other.interface, other.pod, reason.why),
                 .hint = "it is released when " + reason.until};
  }

  std::string device_text() const {
    if (spec_.device.has_value()) return spec_.device->to_string();
    if (!spec_.auxiliary.empty()) return spec_.auxiliary;
    return before_.name.empty() ? spec_.host_link : before_.name;
  }

  Result<void> settings() {
    if (!spec_.pf.has_value()) return {};
    const os::Link* pf = TRY(host_.by_pci(*spec_.pf));
    if (pf != nullptr) {
      out_.pf_link = pf->index;
      out_.result.pf = pf->name.value;
    }
    if (spec_.vf_settings.empty() && spec_.way == Way::kMove) return {};
    os::VfInfo now = TRY(host_.vf(*spec_.pf, *spec_.vf));
    out_.vf_change = differing(spec_.vf_settings, now);
    before_.vf_settings = present(out_.vf_change, now);
    if (out_.vf_change.node_guid.has_value() || out_.vf_change.port_guid.has_value())
      before_.rebind =
          TRY(os::link_name(host_.kernel().files(), fmt::format("/sys/bus/pci/devices/{}/driver", *spec_.device)));
    if (auto mac = spec_.mac.has_value() ? spec_.mac : now.mac) out_.result.mac = mac->to_string();
    return {};
  }

  Result<void> vfio() {
    const os::FileTree& files = host_.kernel().files();
    std::string path = device_path(*spec_.device);
    if (auto uio = files.list(path + "/uio"); uio.has_value() && !uio->empty()) {
      out_.result.char_devices = {"/dev/" + uio->front()};
      return {};
    }
    std::string group =
        TRY(os::link_name(host_.kernel().files(), fmt::format("/sys/bus/pci/devices/{}/iommu_group", *spec_.device))
                .hint("vfio-pci requires the IOMMU: boot with intel_iommu=on iommu=pt"));
    out_.result.char_devices = {"/dev/vfio/vfio", "/dev/vfio/" + group};
    return {};
  }

  Result<void> rdma() {
    std::string path;
    if (spec_.device.has_value()) path = device_path(*spec_.device);
    if (!spec_.auxiliary.empty()) path = "/sys/bus/auxiliary/devices/" + spec_.auxiliary;
    if (path.empty()) return {};
    std::vector<std::string> names = os::rdma_devices(host_.kernel().files(), path);
    if (!names.empty()) return hardware_rdma(names);
    if (spec_.soft_rdma && spec_.pf.has_value()) {
      if (!shares_rdma())
        return without_rdma(
            {.code = Code::kInvalid,
             .message = fmt::format("{} would get a soft RDMA device, which cannot be moved into a pod because "
                                    "namespaces do not share RDMA devices",
                                    what()),
             .hint = "run `rdma system set netns shared` before any pod starts"});
      before_.rdma = {soft_rdma_name(*spec_.pf, *spec_.vf)};
      before_.rdma_undo = RdmaUndo::kRemoveSoft;
      out_.result.rdma = before_.rdma.front();
      out_.result.soft = true;
      return {};
    }
    return without_rdma({.code = Code::kNotFound,
                         .message = fmt::format("{} has no RDMA device", what()),
                         .hint = "check that its RDMA driver is loaded; nodes without RDMA NICs can use soft devices: "
                                 "annotate the node with railbed.dev/soft-rdma: \"true\""});
  }

  Result<void> without_rdma(Error why) {
    if (spec_.rdma_required) return fail(std::move(why));
    if (spec_.rdma) out_.result.notes.push_back(why.message + ", although its policy says isRdma");
    return {};
  }

  // A kernel whose RDMA modules are not loaded yet will share its devices, which is its default.
  bool shares_rdma() {
    auto port = host_.kernel().rdma();
    if (!port.has_value()) return true;
    return (*port)->netns_mode().value_or(os::RdmaNetnsMode::kShared) == os::RdmaNetnsMode::kShared;
  }

  const std::vector<Prepared>& earlier_;  // of this request
};

// Applies the administrator's list of regular expressions; without it everything is allowed.
Result<void> allowed(const os::FileTree& files, const InterfaceSpec& spec) {
  constexpr const char* kList = "/etc/cni/tuning/allowlist.conf";
  for (const std::string& name : spec.sysctl_names)
    if (name.size() > kMaxSysctlBytes)
      return fail(Code::kInvalid, "the sysctl name is too long ({} bytes, at most {}); it begins with {}", name.size(),
                  kMaxSysctlBytes, name.substr(0, 40));
  if (spec.sysctl_names.empty() || !files.exists(kList)) return {};
  std::string text = TRY(files.read(kList));
  for (const std::string& name : spec.sysctl_names)
    if (!TRY(matches_a_line(text, name).context("{}", kList)))
      return fail(Code::kDenied, "sysctl {} is not allowed: no line of {} matches it", name, kList);
  return {};
}

}  // namespace

std::string Prepared::title() const {
  return fmt::format("interface {} (network {})", spec.interface, spec.network);
}

Result<Prepared> prepare(Host& host, state::Store& store, const InterfaceSpec& spec, const Place& place,
                         const std::vector<Prepared>& earlier) {
  Prepared prepared{.spec = spec};
  prepared.record = {.pod = place.pod,
                     .interface = spec.record_name(),
                     .netns = place.netns,
                     .network = spec.network,
                     .type = spec.type,
                     .resource = spec.resource};
  if (spec.way == Way::kMake) prepared.before.group = place.group;
  prepared.before.netns = place.identity;
  prepared.before.nsid = place.nsid;
  Result<void> possible = allowed(host.kernel().files(), spec);
  if (possible.has_value())
    possible = spec.way == Way::kExisting ? prepare_existing(host, store, place.view, prepared)
                                          : NewPreparation(host, store, place, earlier, prepared).run();
  TRY(std::move(possible).context("{}", prepared.title()));
  if (spec.way != Way::kExisting) prepared.before.without_advertisements = !without_advertisements(spec).empty();
  if (spec.way != Way::kExisting && spec.device.has_value())
    prepared.record.device = spec.device->to_string();
  else if (spec.way == Way::kMove)
    prepared.record.device = spec.auxiliary.empty() ? prepared.before.name : spec.auxiliary;
  prepared.record.undo = undo_text(spec, prepared.before);

  InterfaceResult& result = prepared.result;
  result.interface = spec.interface;
  result.network = spec.network;
  result.type = spec.type;
  for (const ipam::Assigned& one : spec.addresses) {
    result.addresses.push_back(one.address);
    if (!result.gateway.has_value()) result.gateway = one.gateway;
  }
  result.routes = spec.routes;
  return prepared;
}

}  // namespace railbed::attach

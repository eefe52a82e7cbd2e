// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "attach/missing_sysctl.h"
#include "attach/preparation.h"
#include "attach/rdma.h"
#include "attach/source_routes.h"

namespace railbed::attach {
namespace {

class ExistingPreparation : Preparation {
 public:
  ExistingPreparation(Host& host, state::Store& store, PodView& pod, Prepared& prepared)
      : Preparation(host, store, pod, prepared) {}

  Result<void> run() {
    before_.way = Way::kExisting;
    const os::Link* link = TRY(pod_.named(spec_.interface));
    if (link == nullptr)
      return fail(
          Error{.code = Code::kNotFound,
                .message = fmt::format("interface {} not found in the pod", spec_.interface),
                .hint = fmt::format("{} changes an interface that an earlier plugin of the list creates", spec_.type)});
    remember(*link);
    TRY(identity_is_free());
    if (spec_.mtu == link->mtu) spec_.mtu.reset();
    if (spec_.mac == link->mac()) spec_.mac.reset();
    if (link->parent_bus == "pci") TRY(place_parent(*link));
    os::NetnsPort& port = host_.kernel().netns();
    for (auto& [key, value] : spec_.sysctls) {
      Result<std::string> now = with_sysctl_hint(port.sysctl(pod_.netns(), key), port, pod_.netns(), key);
      before_.sysctls.emplace_back(key, TRY(std::move(now)));
    }
    if (spec_.source_routing.has_value()) TRY(source_routes_of(*link));
    if (spec_.vrf.has_value()) TRY(become_port(*link));
    return spec_.rdma_required ? rdma(*link) : Result<void>{};
  }

 private:
  Result<void> place_parent(const os::Link& link) {
    before_.device = TRY(PciAddress::parse(link.parent_device));
    if (auto place = TRY(vf_place(host_.kernel().files(), *before_.device))) {
      before_.pf = place->pf;
      before_.vf = place->index;
    }
    return {};
  }

  Result<void> source_routes_of(const os::Link& link) {
    before_.rules = source_rules(spec_.addresses, TRY(tables()));
    std::vector<Route> main = TRY(pod_.routes_of(link.index));
    std::erase_if(main, [](const Route& route) { return route.table.has_value(); });
    SourceRoutes routes = source_routes(*spec_.source_routing, spec_.addresses, before_.rules, main, {});
    for (Route& route : routes.add) route.link = link.index;
    before_.routes = routes.remove;
    before_.table_routes = routes.add;
    return {};
  }

  Result<void> become_port(const os::Link& link) {
    if (link.master) {
      const os::Link* vrf = TRY(pod_.named(spec_.vrf->name));
      if (vrf == nullptr || vrf->index != link.master)
        return fail(Code::kConflict, "{} is already a port of another interface", spec_.interface);
    }
    TRY(pod_routing());
    // Records the addresses that the interface loses when it becomes a port.
    for (const os::LinkAddress& address : TRY(pod_.links().addresses()))
      if (address.link == link.index && address.prefix.address.family == IpFamily::kV6 &&
          !address.prefix.address.to_gid().is_link_local())
        before_.addresses.push_back(address.prefix);
    for (const Route& route : TRY(pod_.routes_of(link.index)))
      if (!route.table.has_value() && (route.gateway.has_value() || !route.source.has_value()) &&
          !is_networks_own(route))
        before_.routes.push_back(route);
    return {};
  }

  // Routes that the kernel adds by itself.
  static bool is_networks_own(const Route& route) {
    return route.family() == IpFamily::kV6 && !route.gateway.has_value();
  }

  Result<void> rdma(const os::Link& link) {
    std::string path;
    if (spec_.device.has_value())
      path = device_path(*spec_.device);
    else if (!spec_.auxiliary.empty())
      path = "/sys/bus/auxiliary/devices/" + spec_.auxiliary;
    else if (!link.parent_device.empty())
      path = fmt::format("/sys/bus/{}/devices/{}", link.parent_bus, link.parent_device);
    std::string device = path.substr(path.rfind('/') + 1);
    // The plugin before may have brought an RDMA device already, possibly a soft one.
    if (!device.empty())
      for (const state::Attachment& other : TRY(store_.attachments_with(device)))
        if (other.pod == out_.record.pod && other.interface == spec_.interface && TRY(brought_by(other))) return {};
    std::vector<std::string> names;
    if (!path.empty()) names = os::rdma_devices(host_.kernel().files(), path);
    if (!names.empty()) return hardware_rdma(names);
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("{} has no RDMA device", device.empty() ? spec_.interface : device),
                      .hint = "check that its RDMA driver is loaded"});
  }

  Result<bool> brought_by(const state::Attachment& other) {
    if (TRY(before_of(other)).rdma_undo == RdmaUndo::kNone) return false;
    InterfaceResult result = TRY(result_from_json(other.result));
    out_.result.rdma = result.rdma;
    out_.result.soft = result.soft;
    out_.result.char_devices = result.char_devices;
    return true;
  }
};

}  // namespace

Result<void> prepare_existing(Host& host, state::Store& store, PodView& pod, Prepared& prepared) {
  return ExistingPreparation(host, store, pod, prepared).run();
}

}  // namespace railbed::attach

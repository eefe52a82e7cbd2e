// SPDX-License-Identifier: Apache-2.0
// CHECK: compares an interface with its record.
#include <algorithm>

#include "attach/advertisements.h"
#include "attach/attach.h"
#include "attach/host.h"
#include "attach/identity.h"
#include "attach/pod_view.h"
#include "attach/rdma.h"

namespace railbed::attach {
namespace {

// The kernel separates several numbers by tabs, people by blanks.
std::string words(const std::string& text) {
  std::string joined;
  for (char c : text) {
    bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank)
      joined += c;
    else if (!joined.empty() && joined.back() != ' ')
      joined += ' ';
  }
  while (!joined.empty() && joined.back() == ' ') joined.pop_back();
  return joined;
}

// What chained plugins have changed of the main plugin's interface; it is checked with them instead.
struct ChangedLater {
  bool mac = false;
  bool mtu = false;
  bool advertisements = false;
};

// What a record says.
struct Recorded {
  const state::Attachment& record;
  Before before;
  InterfaceSpec spec;
  InterfaceResult result;
  ChangedLater later;
};

class Check {
 public:
  Check(os::Kernel& kernel, const Recorded& recorded)
      : kernel_(kernel),
        record_(recorded.record),
        before_(recorded.before),
        spec_(recorded.spec),
        result_(recorded.result),
        later_(recorded.later) {}

  Result<void> run() {
    if (record_.status != state::AttachmentStatus::kAttached)
      return fail(Code::kConflict, "it was never finished, or is being detached");
    if (before_.way == Way::kVfio) return device();
    netns_ = TRY(kernel_.netns().open(record_.netns));
    links_ = TRY(kernel_.netns().links(*netns_));
    pod_.emplace(*netns_, *links_);
    if (before_.netns.has_value() && TRY(pod_->identity()) != *before_.netns)
      return fail(Code::kConflict, "{} is another network namespace now", record_.netns);
    const os::Link* link = TRY(pod_->named(result_.interface));
    if (link == nullptr) return fail(Code::kConflict, "interface {} not found in the pod", result_.interface);
    TRY(settings(*link));
    TRY(sysctls());
    if (before_.way != Way::kExisting) TRY(addresses(*link));
    TRY(routing(*link));
    TRY(advertisements(*link));
    return rdma();
  }

 private:
  Result<void> device() {
    if (device_exists(kernel_.files(), *before_.device)) return {};
    return fail(Code::kConflict, "PCI device {} no longer exists", *before_.device);
  }

  template <typename T>
  static Result<void> same(const char* what, const T& is, const T& was) {
    if (is == was) return {};
    return fail(Code::kConflict, "its {} is {}, not {}", what, is, was);
  }

  Result<void> settings(const os::Link& link) {
    if (!is_same_link(link, before_, result_.interface))
      return fail(Code::kConflict, "interface {} is another one", result_.interface);
    std::string mac = fmt::format("{:02x}", fmt::join(link.hw_address, ":"));
    bool mac_matters = before_.way != Way::kExisting || spec_.mac.has_value();
    if (!later_.mac && mac_matters && !result_.mac.empty()) TRY(same("MAC address", mac, result_.mac));
    if (!later_.mtu && spec_.mtu.has_value()) TRY(same("MTU", link.mtu, *spec_.mtu));
    if (!link.up) return fail(Code::kConflict, "it is down");
    if (spec_.promiscuous.has_value()) TRY(same("promiscuous mode", link.promiscuous, *spec_.promiscuous));
    if (spec_.all_multicast.has_value()) TRY(same("all-multicast mode", link.all_multicast, *spec_.all_multicast));
    if (spec_.tx_queue.has_value()) TRY(same("queue length", link.tx_queue, *spec_.tx_queue));
    return {};
  }

  Result<void> sysctls() {
    for (const auto& [key, value] : spec_.sysctls) {
      std::string now = TRY(kernel_.netns().sysctl(*netns_, key));
      if (words(now) != words(value)) return fail(Code::kConflict, "sysctl {} is {}, not {}", key, now, value);
    }
    return {};
  }

  Result<void> addresses(const os::Link& link) {
    if (result_.addresses.empty()) return {};
    std::vector<os::LinkAddress> now = TRY(links_->addresses());
    for (const IpPrefix& address : result_.addresses)
      if (std::ranges::find(now, os::LinkAddress{link.index, address}) == now.end())
        return fail(Code::kConflict, "it has lost its address {}", address);
    return {};
  }

  Result<void> routing(const os::Link& link) {
    for (const os::Rule& rule : before_.rules) {
      const std::vector<os::Rule>& now = *TRY(pod_->rules());
      if (std::ranges::none_of(
              now, [&](const os::Rule& one) { return one.source == rule.source && one.table == rule.table; }))
        return fail(Code::kConflict, "the rule from {} to table {} no longer exists", rule.source, rule.table);
    }
    if (!before_.vrf.empty()) {
      const os::Link* vrf = TRY(pod_->named(before_.vrf));
      if (vrf == nullptr || link.master != vrf->index)
        return fail(Code::kConflict, "it is no longer a port of VRF {}", before_.vrf);
    }
    // Routes that a chained sbr or vrf has moved are in another table.
    std::vector<Route> now = TRY(pod_->routes_of(link.index));
    if (before_.way == Way::kExisting) return {};
    for (const Route& route : result_.routes)
      if (std::ranges::none_of(now, [&](const Route& one) { return matches(route, one); }))
        return fail(Code::kConflict, "its route to {} no longer exists",
                    route.is_default() ? "everywhere" : route.destination.to_string());
    return {};
  }

  // The network assigns the addresses: nothing may come from routers' advertisements.
  Result<void> advertisements(const os::Link& link) {
    if (!before_.without_advertisements || later_.advertisements) return {};
    const os::LinkPort::Advertised now = TRY(links_->advertised());
    const auto found = [&](const std::string& what) {
      return fail(Error{
          .code = Code::kConflict,
          .message =
              fmt::format("it has {} from a router advertisement, although its network assigns its addresses", what),
          .hint = fmt::format("a program in the pod has set net.ipv6.conf.{0}.accept_ra; set it to 0 there and remove "
                              "what was learned, or let a tuning plugin in the network set it",
                              result_.interface)});
    };
    for (const os::LinkAddress& one : now.addresses)
      if (one.link == link.index) return found(fmt::format("address {}", one.prefix));
    for (const Route& one : now.routes)
      if (one.link == link.index)
        return found(one.is_default() ? "a default route" : fmt::format("a route to {}", one.destination));
    return {};
  }

  static bool matches(const Route& wanted, const Route& now) {
    return wanted.gateway == now.gateway && wanted.destination.length == now.destination.length &&
           wanted.destination.network() == now.destination.network();
  }

  Result<void> rdma() {
    std::vector<std::string> there;  // what must exist
    if (before_.rdma_undo == RdmaUndo::kMoveBack) there = before_.rdma;
    if (!result_.rdma.empty() && spec_.rdma_required) {
      std::string why = cannot_open(kernel_.files(), result_.rdma, result_.char_devices);
      if (!why.empty()) return fail(Code::kConflict, "{}", why);
      if (there.empty() && !result_.soft) there.push_back(result_.rdma);
    }
    if (there.empty()) return {};
    auto port = TRY(kernel_.netns().rdma(*netns_));
    std::vector<os::RdmaLink> now = TRY(port->list());
    for (const std::string& device : there)
      if (std::ranges::find(now, device, &os::RdmaLink::name) == now.end())
        return fail(Code::kConflict, "RDMA device {} is no longer in the pod's namespace", device);
    return {};
  }

  os::Kernel& kernel_;
  const state::Attachment& record_;
  const Before& before_;
  const InterfaceSpec& spec_;
  const InterfaceResult& result_;
  const ChangedLater& later_;
  std::unique_ptr<os::Netns> netns_;
  std::unique_ptr<os::LinkPort> links_;
  std::optional<PodView> pod_;
};

}  // namespace

Result<void> check_interface(os::Kernel& kernel, state::Store& store, const std::string& pod,
                             const std::string& record_name, os::Deadline) {
  std::vector<state::Attachment> records = TRY(store.attachments_of(pod));
  auto record = std::ranges::find(records, record_name, &state::Attachment::interface);
  if (record == records.end())
    return fail(Code::kNotFound, "pod {}: interface {}: unknown to railbed", pod, record_name);
  InterfaceResult result;
  if (!record->result.empty()) result = TRY(result_from_json(record->result));
  ChangedLater later;
  for (const state::Attachment& other : records) {
    if (!other.interface.starts_with(record_name + "/")) continue;
    const InterfaceSpec spec = TRY(spec_of(other));
    later.mac = later.mac || spec.mac.has_value();
    later.mtu = later.mtu || spec.mtu.has_value();
    later.advertisements = later.advertisements || names_advertisements(spec.sysctls, result.interface);
  }
  const Recorded recorded{.record = *record,
                          .before = TRY(before_of(*record)),
                          .spec = TRY(spec_of(*record)),
                          .result = std::move(result),
                          .later = later};
  return Check(kernel, recorded).run().context("interface {}", record_name).context("pod {}", pod);
}

}  // namespace railbed::attach

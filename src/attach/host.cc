// SPDX-License-Identifier: Apache-2.0
#include "attach/host.h"

#include <algorithm>

#include "attach/identity.h"

namespace railbed::attach {
namespace {

constexpr int kMostVfs = 4096;

}  // namespace

std::string device_path(PciAddress device) {
  return fmt::format("/sys/bus/pci/devices/{}", device);
}

std::string driver_of(const os::FileTree& files, PciAddress device) {
  return os::link_name(files, device_path(device) + "/driver").value_or("");
}

Result<void> Host::without_lock(LongWait kind, const std::function<Result<void>()>& work) {
  Result<void> done;
  Result<void> again = policy_.without_lock(kind, [&] { done = work(); });
  forget();
  pf_indexes_.clear();
  lock_lost_ = !again.has_value();
  return again.has_value() ? done : again;
}

Result<os::LinkPort*> Host::links() {
  if (links_ == nullptr) links_ = TRY(kernel_.links());
  return links_.get();
}

Result<const os::Netns*> Host::own_netns() {
  if (own_ == nullptr) own_ = TRY(kernel_.netns().open_own());
  return own_.get();
}

template <typename Match>
Result<const os::Link*> Host::first(Match match) {
  if (!all_.has_value()) {
    os::LinkPort* port = TRY(links());
    all_ = TRY(port->list(os::WithVfs::kNo));
  }
  auto found = std::ranges::find_if(*all_, match);
  return found == all_->end() ? nullptr : &*found;
}

Result<const os::Link*> Host::by_pci(PciAddress device) {
  std::string name = device.to_string();
  return first([&](const os::Link& link) { return link.parent_bus == "pci" && link.parent_device == name; });
}

Result<const os::Link*> Host::by_auxiliary(const std::string& device) {
  return first([&](const os::Link& link) { return link.parent_bus == "auxiliary" && link.parent_device == device; });
}

Result<const os::Link*> Host::by_name(const std::string& name) {
  if (first_by_name_.has_value() && first_by_name_->name.value == name) return &*first_by_name_;
  if (!all_.has_value() && !first_by_name_.has_value() && IfName::parse(name).has_value()) {
    os::LinkPort* port = TRY(links());
    Result<os::Link> found = port->find(IfName{name}, os::WithVfs::kNo);
    if (found.has_value()) return &first_by_name_.emplace(*std::move(found));
    if (found.error().code == Code::kNotFound) return nullptr;
    return fail(std::move(found.error()));
  }
  return first(
      [&](const os::Link& link) { return link.name.value == name || std::ranges::count(link.alt_names, name) > 0; });
}

Result<const os::Link*> Host::by_index(IfIndex index) {
  if (first_by_name_.has_value() && first_by_name_->index == index) return &*first_by_name_;
  return first([&](const os::Link& link) { return link.index == index; });
}

Result<const os::Link*> Host::by_mac(const MacAddress& mac) {
  return first([&](const os::Link& link) { return link.mac() == mac; });
}

Result<const os::Link*> Host::find_original_link(const Before& before, const std::string& interface) {
  return first([&](const os::Link& link) { return is_that_at_home(link, before, interface); });
}

Result<std::string> Host::names() {
  TRY(first([](const os::Link&) { return true; }));
  std::vector<std::string> all;
  for (const os::Link& link : *all_)
    if (link.name.value != "lo") all.push_back(link.name.value);
  std::ranges::sort(all);
  return fmt::format("{}", fmt::join(all, ", "));
}

Result<os::Link> Host::pf_link(PciAddress pf) {
  const os::Link* link = TRY(by_pci(pf));
  if (link == nullptr)
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("PF {} has no interface in this namespace", pf),
                      .hint = "check that its driver is loaded"});
  return *link;
}

Result<std::optional<IfIndex>> Host::pf_index(PciAddress pf) {
  if (auto known = pf_indexes_.find(pf); known != pf_indexes_.end()) return std::optional(known->second);
  const os::Link* link = TRY(by_pci(pf));
  if (link == nullptr) return std::optional<IfIndex>{};
  pf_indexes_.emplace(pf, link->index);
  return std::optional(link->index);
}

Result<os::VfInfo> Host::vf(PciAddress pf, VfIndex vf) {
  if (!vfs_.contains(pf)) {
    os::Link link = TRY(pf_link(pf));
    os::LinkPort* port = TRY(links());
    vfs_[pf] = TRY(port->find(link.index, os::WithVfs::kYes)).vfs;
  }
  const std::vector<os::VfInfo>& all = vfs_[pf];
  auto found = std::ranges::find(all, vf, &os::VfInfo::index);
  if (found == all.end()) return fail(Code::kNotFound, "PF {} has no VF {}; it has {}", pf, vf, all.size());
  return *found;
}

Result<std::vector<os::LinkAddress>*> Host::addresses() {
  if (!addresses_.has_value()) {
    os::LinkPort* port = TRY(links());
    addresses_ = TRY(port->addresses());
  }
  return &*addresses_;
}

Result<std::vector<Route>*> Host::routes() {
  if (!routes_.has_value()) {
    os::LinkPort* port = TRY(links());
    routes_ = TRY(port->routes());
  }
  return &*routes_;
}

void Host::forget() {
  all_.reset();
  first_by_name_.reset();
  vfs_.clear();
  addresses_.reset();
  routes_.reset();
}

Result<std::optional<VfPlace>> vf_place(const os::FileTree& files, PciAddress device) {
  Result<std::string> parent = os::link_name(files, device_path(device) + "/physfn");
  if (!parent.has_value()) return std::optional<VfPlace>{};
  PciAddress pf = TRY(PciAddress::parse(*parent));
  for (int index = 0; index < kMostVfs; ++index) {
    Result<std::string> vf = os::link_name(files, fmt::format("{}/virtfn{}", device_path(pf), index));
    if (!vf.has_value()) break;
    if (*vf == device.to_string()) return std::optional(VfPlace{pf, VfIndex{index}});
  }
  return fail(Code::kNotFound, "PF {} does not list its VF {}", pf, device);
}

std::string bus_path(const Before& before) {
  if (before.device.has_value()) return device_path(*before.device);
  return before.parent.empty() ? "" : "/sys/bus/" + before.parent;
}

bool device_is_there(const os::FileTree& files, const Before& before) {
  return files.exists(bus_path(before));
}

bool device_exists(const os::FileTree& files, PciAddress device) {
  return files.exists(device_path(device));
}

}  // namespace railbed::attach

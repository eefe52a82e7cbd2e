// SPDX-License-Identifier: Apache-2.0
#include "attach/held.h"

#include <algorithm>

#include "attach/host.h"
#include "attach/identity.h"
#include "base/pci_driver.h"

namespace railbed::attach {
namespace {

// Documentation/driver-api/vfio.rst; drivers/vfio/group.c for the names without an IOMMU. Empty: it has none.
std::string vfio_group_of(const os::FileTree& files, PciAddress device) {
  const std::string folder = device_path(device) + "/iommu_group";
  const Result<std::string> number = os::link_name(files, folder);
  if (!number.has_value()) return "";
  const bool no_iommu = os::read_line(files, folder + "/name").value_or("") == "vfio-noiommu";
  return fmt::format("/dev/vfio/{}{}", no_iommu ? "noiommu-" : "", *number);
}

}  // namespace

Result<std::optional<NetnsRef>> find_elsewhere(os::Kernel& kernel, const Before& before, const os::Netns* pod) {
  std::optional<NetnsRef> found;
  const std::unique_ptr<os::Netns> own = TRY(kernel.netns().open_own());
  std::set<os::NetnsIdentity> known = {TRY(kernel.netns().identity(*own))};
  if (pod != nullptr) known.insert(TRY(kernel.netns().identity(*pod)));
  const auto look_at = [&](std::unique_ptr<os::Netns> netns, const os::NetnsIdentity& who) -> Result<bool> {
    if (known.contains(who)) return true;
    const std::unique_ptr<os::LinkPort> port = TRY(kernel.netns().links(*netns));
    const std::vector<os::Link> links = TRY(port->list(os::WithVfs::kNo));
    if (std::ranges::none_of(links, [&](const os::Link& link) { return is_that_elsewhere(link, before); })) return true;
    found = TRY(netns_ref_of(kernel, *netns));
    return false;
  };
  TRY(kernel.netns().visit({}, look_at));
  return found;
}

VfBinding binding_of(const os::FileTree& files, const Before& before) {
  if (!before.device.has_value() || before.driver.empty() || !device_exists(files, *before.device)) return {};
  const std::string now = driver_of(files, *before.device);
  if (now.empty()) return {.to = BoundTo::kLeftBehind, .group = ""};
  if (!is_user_space_driver(now) || now.find("vfio") == std::string::npos) return {};
  const std::string group = vfio_group_of(files, *before.device);
  if (group.empty()) return {.to = BoundTo::kLeftBehind, .group = ""};  // no program can open it
  const Result<bool> in_use = files.is_in_use(group);
  if (in_use.has_value() && !*in_use) return {.to = BoundTo::kLeftBehind, .group = ""};
  return {.to = BoundTo::kMachine, .group = in_use.has_value() ? group : ""};
}

bool is_with_a_machine(const os::FileTree& files, const state::Attachment& record) {
  return orphaned_by(record) == OrphanedBy::kVfio &&
         binding_of(files, before_of(record).value_or(Before{})).to == BoundTo::kMachine;
}

bool has_ended(const os::FileTree& files, const state::Attachment& record, const std::set<os::Nsid>& given) {
  if (record.status == state::AttachmentStatus::kDetaching && orphaned_by(record) == OrphanedBy::kVfio)
    return !is_with_a_machine(files, record);
  const NetnsRef ref = netns_ref_of(record);
  return ref.nsid.has_value() && !given.contains(*ref.nsid);
}

}  // namespace railbed::attach

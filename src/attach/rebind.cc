// SPDX-License-Identifier: Apache-2.0
#include "attach/rebind.h"

#include "base/pci_driver.h"

namespace railbed::attach {
namespace {

// Whether no interface will appear: the device is gone, or has no driver or one that serves programs.
bool makes_no_interface(const os::FileTree& files, const Before& before) {
  if (!before.device.has_value() && before.parent.empty()) return false;
  if (!device_is_there(files, before)) return true;
  auto driver = os::link_name(files, bus_path(before) + "/driver");
  return !driver.has_value() || is_user_space_driver(*driver);
}

}  // namespace

Result<const os::Link*> wait_for_link(Host& host, const Before& before, const std::string& interface,
                                      os::Deadline deadline) {
  auto events = TRY(host.kernel().uevents().open());
  for (;;) {
    host.forget();
    const os::Link* link = TRY(host.that_of(before, interface));
    if (link != nullptr) return link;
    if (makes_no_interface(host.kernel().files(), before)) return nullptr;
    auto event = events->next(deadline);
    if (!event.has_value() && event.error().code == Code::kTimeout) {
      const os::Link* last = TRY(host.that_of(before, interface));
      if (last != nullptr) return last;
    }
    TRY(std::move(event));
  }
}

Result<void> ensure_bound(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline) {
  os::FileTree& files = host.kernel().files();
  if (!device_exists(files, device)) return {};
  if (os::link_name(files, fmt::format("/sys/bus/pci/devices/{}/driver", device)).has_value()) return {};
  TRY(files.write(fmt::format("/sys/bus/pci/drivers/{}/bind", driver), device.to_string()));
  const os::Link* link = TRY(wait_for_link(host, Before{.device = device}, "", deadline)
                                 .context("waiting for the interface of {} after binding {} anew", device, driver));
  if (link == nullptr) return fail(Code::kIo, "{} did not take {} back", driver, device);
  return {};
}

Result<void> rebind(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline) {
  os::FileTree& files = host.kernel().files();
  std::string path = fmt::format("/sys/bus/pci/devices/{}/driver", device);
  if (os::link_name(files, path).has_value()) TRY(files.write(path + "/unbind", device.to_string()));
  return ensure_bound(host, device, driver, deadline);
}

}  // namespace railbed::attach

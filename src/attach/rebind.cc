// SPDX-License-Identifier: Apache-2.0
#include "attach/rebind.h"

#include "base/pci_driver.h"
#include "os/ports/waits.h"

namespace railbed::attach {
namespace {

// Whether no interface will appear: the device is gone, or has no driver or one that serves programs.
bool makes_no_interface(const os::FileTree& files, const Before& before) {
  if (!before.device.has_value() && before.parent.empty()) return false;
  if (!device_is_there(files, before)) return true;
  auto driver = os::link_name(files, bus_path(before) + "/driver");
  return !driver.has_value() || is_user_space_driver(*driver);
}

// Waits outside of the turn until the interface is there, or cannot come.
Result<void> appears(Host& host, const Before& before, const std::string& interface, os::Deadline deadline) {
  const os::FileTree& files = host.kernel().files();
  os::Waits waits(host.kernel(), host.stop());
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(deadline - host.kernel().clock().now());
  const auto look = [&]() -> Result<bool> {
    if (makes_no_interface(files, before)) return true;
    // Sysfs shows only the interfaces of this namespace, and asking it takes no lock that others need.
    if (before.device.has_value())
      return !files.list(bus_path(before) + "/net").value_or(std::vector<std::string>{}).empty();
    host.forget();
    return TRY(host.find_original_link(before, interface)) != nullptr;
  };
  const bool done = TRY(waits.for_device(limit, look));
  if (!done) return fail(Code::kTimeout, "no uevent before the deadline");
  return {};
}

// Outside of the turn: a driver may take seconds to take a device.
Result<void> bind(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline) {
  os::FileTree& files = host.kernel().files();
  TRY(files.write(fmt::format("/sys/bus/pci/drivers/{}/bind", driver), device.to_string()));
  const Before bound{.device = device};
  TRY(appears(host, bound, "", deadline)
          .context("waiting for the interface of {} after re-binding to {}", device, driver));
  if (makes_no_interface(files, bound)) return fail(Code::kIo, "{} did not bind to {} again", driver, device);
  return {};
}

bool is_bound(const os::FileTree& files, PciAddress device) {
  return os::link_name(files, fmt::format("/sys/bus/pci/devices/{}/driver", device)).has_value();
}

}  // namespace

Result<const os::Link*> wait_for_link(Host& host, const Before& before, const std::string& interface,
                                      os::Deadline deadline) {
  TRY(host.without_lock(LongWait::kDevice, [&] { return appears(host, before, interface, deadline); }));
  const os::Link* link = TRY(host.find_original_link(before, interface));
  if (link != nullptr || makes_no_interface(host.kernel().files(), before)) return link;
  return fail(Code::kTimeout, "its interface appeared and disappeared again");
}

Result<void> ensure_bound(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline) {
  const os::FileTree& files = host.kernel().files();
  if (!device_exists(files, device) || is_bound(files, device)) return {};
  return host.without_lock(LongWait::kDevice, [&] { return bind(host, device, driver, deadline); });
}

Result<void> rebind(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline) {
  return host.without_lock(LongWait::kDevice, [&]() -> Result<void> {
    os::FileTree& files = host.kernel().files();
    const std::string path = fmt::format("/sys/bus/pci/devices/{}/driver", device);
    if (is_bound(files, device)) TRY(files.write(path + "/unbind", device.to_string()));
    return device_exists(files, device) ? bind(host, device, driver, deadline) : Result<void>{};
  });
}

// By driver_override: it also lets a VF have its driver whose PF has sriov_drivers_autoprobe off.
Result<void> bring_driver_back(Host& host, PciAddress device, const std::string& driver, os::Deadline deadline) {
  return host.without_lock(LongWait::kDevice, [&]() -> Result<void> {
    os::FileTree& files = host.kernel().files();
    const std::string path = device_path(device);
    if (is_bound(files, device)) TRY(files.write(path + "/driver/unbind", device.to_string()));
    TRY(files.write(path + "/driver_override", driver));
    const Result<void> bound = bind(host, device, driver, deadline);
    TRY(files.write(path + "/driver_override", "\n"));
    return bound;
  });
}

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// Binding a VF once to its final driver.
//
// sriov_drivers_autoprobe is off, so a new VF has no driver. driver_override chooses one that does not claim the device
// by its id (vfio-pci); it must be empty for the default driver, and a failed bind clears it again. A write to
// drivers_probe succeeds even when no driver took the device (vfio-pci without an IOMMU), so the driver link decides
// afterwards.
#include "apply/actions.h"
#include "apply/hints.h"
#include "os/ports/held_folder.h"

namespace railbed::apply {

namespace {

constexpr const char* kProbe = "/sys/bus/pci/drivers_probe";

// The override that is set; empty for none. The kernel prints "(null)" then.
Result<std::string> override_of(const os::FileTree& files, PciAddress device) {
  std::string text = TRY(os::read_line(files, attribute(device, "driver_override")));
  return text == "(null)" ? "" : text;
}

}  // namespace

Result<void> Actions::operator()(const plan::BindVf& planned) {
  plan::BindVf step = planned;
  step.address = vf_address(files(), pf_.pf, step.vf, step.address);
  const os::HeldFolder folder(files(), device_path(step.address));
  Result<std::string> overridden = override_of(files(), step.address);
  if (!overridden && !files().exists(device_path(step.address)))
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("VF {} is not at {}", step.vf, step.address),
                      .hint = "the PF places its VFs elsewhere than its sriov_offset and sriov_stride say"});
  const std::string chosen = overridden.value_or("");
  const std::string now = driver_of(files(), step.address);
  const bool by_kernel = step.device_type == DeviceType::kNetdevice;
  bool final_one = by_kernel ? !now.empty() && chosen.empty() && now != step.from : now == driver_for(step.device_type);
  if (!final_one) {
    if (!now.empty()) TRY(unbind(step, now));
    TRY(choose_driver(step, chosen));
    TRY(files().write(kProbe, step.address.to_string()));
    TRY(wait_for_driver(step));
  }
  return by_kernel ? wait_for_netdev(step) : Result<void>{};
}

Result<void> Actions::unbind(const plan::BindVf& step, const std::string& driver) {
  std::string path = fmt::format("/sys/bus/pci/drivers/{}/unbind", driver);
  auto done = files().write(path, step.address.to_string());
  if (!done && done.error().code != Code::kNotFound) return done;  // ENODEV: the driver has already let go
  return {};
}

// `chosen` is the override that is set.
Result<void> Actions::choose_driver(const plan::BindVf& step, const std::string& chosen) {
  const std::string driver(driver_for(step.device_type));
  if (chosen == driver) return {};
  std::string path = attribute(step.address, "driver_override");
  if (driver.empty()) return files().write(path, "\n");
  // A module that cannot be loaded shows later, as a driver that does not bind.
  if (!files().exists("/sys/bus/pci/drivers/" + driver)) (void)kernel_.processes().load_module(driver);
  return files().write(path, driver);
}

Result<void> Actions::wait_for_driver(const plan::BindVf& step) {
  const std::string driver(driver_for(step.device_type));
  auto bound = [&] {
    std::string now = driver_of(files(), step.address);
    return driver.empty() ? !now.empty() : now == driver;
  };
  if (bound()) return {};  // as nearly always: drivers_probe returns when the driver has taken the device
  bool has_group = files().exists(attribute(step.address, "iommu_group"));
  bool loaded = driver.empty() || files().exists("/sys/bus/pci/drivers/" + driver);
  bool hopeless = !loaded || (step.device_type == DeviceType::kVfioPci && !has_group);
  milliseconds limit = hopeless ? milliseconds(0) : options_.driver_wait;
  if (TRY(waits_.for_device(limit, [&]() -> Result<bool> { return bound(); }))) return {};
  // Cleared, because the next bind of this VF may come from somebody who expects no override.
  if (!driver.empty()) (void)files().write(attribute(step.address, "driver_override"), "\n");
  Error error{
      .code = Code::kNotFound,
      .message = driver.empty() ? fmt::format("no driver bound to VF {} ({})", step.vf, step.address)
                                : fmt::format("{} did not bind to VF {} ({})", driver, step.vf, step.address),
      .hint = no_driver_hint({.type = step.device_type, .driver_loaded = loaded, .has_iommu_group = has_group})};
  return fail(std::move(error));
}

// InfiniBand VFs have interfaces only with ib_ipoib. Where it is missing the PF has none either, and there is none to
// wait for.
Result<void> Actions::wait_for_netdev(const plan::BindVf& step) {
  if (!pf_index_ && !has_netdev(files(), pf_.pf)) return {};
  bool there =
      TRY(waits_.for_device(options_.netdev_wait, [&]() -> Result<bool> { return has_netdev(files(), step.address); }));
  if (there) return {};
  Error error{.code = Code::kTimeout,
              .message = fmt::format("VF {} ({}) had no interface {:g} s after {} had bound", step.vf, step.address,
                                     in_seconds(options_.netdev_wait), driver_of(files(), step.address)),
              .hint = "the driver could not reach the PF: the PF must be up with its cable in; dmesg has the reason"};
  return fail(std::move(error));
}

}  // namespace railbed::apply

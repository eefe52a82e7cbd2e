// SPDX-License-Identifier: Apache-2.0
// PCI functions, drivers and their files: the parts of drivers/pci/iov.c and drivers/base/bus.c that matter here.
#include <algorithm>
#include <cerrno>

#include "base/number.h"
#include "base/text.h"
#include "os/fake/state.h"

namespace railbed::os {
namespace {

std::string parent_path(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}
std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The relative path to `path` below /sys, from a directory `levels` below /sys.
std::string from_depth(int levels, const std::string& path) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += "../";
  return text + path.substr(5);
}

int depth(const std::string& path) {
  return static_cast<int>(std::ranges::count(path, '/')) - 1;
}

}  // namespace

FakeDevice* FakeState::device(PciAddress address) {
  auto found = devices.find(address);
  return found == devices.end() ? nullptr : &found->second;
}

void FakeState::add_driver(const std::string& name) {
  if (!drivers.insert(name).second) return;
  for (const char* file : {"bind", "unbind", "new_id", "remove_id"})
    files.put_file(fmt::format("/sys/bus/pci/drivers/{}/{}", name, file), "");
  std::string module = name;
  std::ranges::replace(module, '-', '_');
  files.put_directory("/sys/module/" + module);
  files.put_file("/proc/modules", files.read("/proc/modules").value_or("") + module + " 16384 0 - Live 0x0\n");
}

void FakeState::add_device(FakeDevice added) {
  PciAddress address = added.address;
  FakeDevice& device = devices[address] = std::move(added);
  show_device(device);
  std::string link = fmt::format("/sys/bus/pci/devices/{}", address);
  files.put_link(link, from_depth(3, device.path));
  if (machine.iommu) {
    auto group = static_cast<int>(devices.size());
    while (files.exists(fmt::format("/sys/kernel/iommu_groups/{}", group))) ++group;
    files.put_link(fmt::format("/sys/kernel/iommu_groups/{}/devices/{}", group, address), from_depth(4, device.path));
    files.put_link(device.path + "/iommu_group",
                   from_depth(depth(device.path), fmt::format("/sys/kernel/iommu_groups/{}", group)));
  }
  announce("add", "pci", device.path, {{"PCI_SLOT_NAME", address.to_string()}});
  probe(device);
}

void FakeState::show_device(const FakeDevice& device) {
  const FakePfState& pf = pfs[device.pf];
  const FakePf& config = pf.config;
  auto put = [&](std::string_view name, std::string_view text) {
    files.put_file(fmt::format("{}/{}", device.path, name), fmt::format("{}\n", text));
  };
  put("vendor", "0x" + config.vendor);
  put("device", "0x" + (device.vf ? config.vf_device : config.device));
  put("subsystem_vendor", "0x" + config.vendor);
  put("subsystem_device", "0x0001");
  put("class", fmt::format("0x{}00", config.class_code));
  put("numa_node", std::to_string(config.numa_node));
  put("driver_override", device.override_driver.empty() ? "(null)" : device.override_driver);
  put("uevent",
      fmt::format("{}PCI_CLASS={}00\nPCI_ID={}:{}\nPCI_SUBSYS_ID={}:0001\nPCI_SLOT_NAME={}",
                  device.driver.empty() ? "" : fmt::format("DRIVER={}\n", device.driver), config.class_code,
                  config.vendor, device.vf ? config.vf_device : config.device, config.vendor, device.address));
  if (device.vf) return;
  put("sriov_totalvfs", std::to_string(config.total_vfs));
  put("sriov_numvfs", std::to_string(pf.num_vfs));
  put("sriov_offset", std::to_string(config.vf_offset));
  put("sriov_stride", std::to_string(config.vf_stride));
  put("sriov_vf_device", config.vf_device);
  put("sriov_drivers_autoprobe", pf.autoprobe ? "1" : "0");
}

void FakeState::show_driver(const FakeDevice& device) {
  show_device(device);
  if (device.driver.empty()) return;
  std::string folder = "/sys/bus/pci/drivers/" + device.driver;
  files.put_link(device.path + "/driver", from_depth(depth(device.path), folder));
  files.put_link(fmt::format("{}/{}", folder, device.address), from_depth(4, device.path));
}

void FakeState::remove_device(PciAddress address) {
  FakeDevice* found = device(address);
  if (found == nullptr) return;
  unbind(*found);
  auto group = files.read_link(found->path + "/iommu_group");
  if (group) files.remove("/sys/kernel/iommu_groups/" + last_part(*group));
  files.remove(fmt::format("/sys/bus/pci/devices/{}", address));
  files.remove(found->path);
  announce("remove", "pci", found->path, {{"PCI_SLOT_NAME", address.to_string()}});
  devices.erase(address);
}

// As in really_probe() and pci_device_can_probe(): a VF of a PF with autoprobe off needs an override.
void FakeState::probe(FakeDevice& device) {
  if (!device.driver.empty() || device.claimed) return;
  if (device.vf && !pf_of(device).autoprobe && device.override_driver.empty()) return;
  std::string driver = device.override_driver.empty() ? device.default_driver : device.override_driver;
  if (!drivers.contains(driver)) return;
  bool takes_any = driver == "vfio-pci";
  if (takes_any && !machine.iommu) return;                    // its probe fails, silently
  if (!takes_any && driver != device.default_driver) return;  // not its hardware
  device.claimed = true;
  later(device.vf ? driver_delay : std::chrono::milliseconds(0),
        [this, address = device.address, driver] { bind(address, driver); });
}

void FakeState::bind(PciAddress address, const std::string& driver) {
  FakeDevice* found = device(address);
  if (found == nullptr || !found->claimed) return;
  found->claimed = false;
  found->driver = driver;
  show_driver(*found);
  announce("bind", "pci", found->path, {{"PCI_SLOT_NAME", address.to_string()}, {"DRIVER", driver}});
  if (driver != found->default_driver) return;
  int generation = pf_of(*found).generation;
  later(found->vf ? netdev_delay : std::chrono::milliseconds(0), [this, address, generation] {
    FakeDevice* bound = device(address);
    if (bound != nullptr && bound->driver == bound->default_driver && pf_of(*bound).generation == generation)
      add_pci_netdev(address);
  });
}

void FakeState::unbind(FakeDevice& device) {
  device.claimed = false;
  if (device.driver.empty()) return;
  remove_rdma_of(device.address);
  if (FakeNetdev* netdev = netdev_of(device.address)) remove_netdev(netdev->id);
  files.remove(fmt::format("/sys/bus/pci/drivers/{}/{}", device.driver, device.address));
  files.remove(device.path + "/driver");
  announce("unbind", "pci", device.path, {{"PCI_SLOT_NAME", device.address.to_string()}, {"DRIVER", device.driver}});
  device.driver.clear();
  show_device(device);
}

void FakeState::make_vfs(size_t index) {
  FakePfState& pf = pfs[index];
  const FakeDevice& parent = devices[pf.config.address];
  std::string bus = parent_path(parent.path);
  for (int i = 0; i < pf.num_vfs; ++i) {
    VfInfo info{.index = VfIndex{i}};
    if (!pf.config.refused.contains("mac")) info.mac = MacAddress{};
    if (!pf.config.refused.contains("spoofchk")) info.spoof_check = true;
    if (!pf.config.refused.contains("trust")) info.trust = false;
    if (!pf.config.refused.contains("state")) info.link_state = VfLinkState::kAuto;
    if (!pf.config.refused.contains("node_guid")) info.node_guid = info.port_guid = Guid{};
    pf.vfs.push_back(info);
    PciAddress address = pf.config.address.plus(pf.config.vf_offset + static_cast<uint32_t>(i) * pf.config.vf_stride);
    std::string path = fmt::format("{}/{}", bus, address);
    files.put_link(path + "/physfn", fmt::format("../{}", pf.config.address));
    files.put_link(fmt::format("{}/virtfn{}", parent.path, i), fmt::format("../{}", address));
    FakeDevice vf{.address = address, .path = path, .default_driver = pf.config.vf_driver};
    vf.vf = VfIndex{i};
    vf.pf = index;
    add_device(std::move(vf));
  }
}

void FakeState::remove_vfs(size_t index) {
  FakePfState& pf = pfs[index];
  std::vector<PciAddress> gone;
  for (const auto& [address, one] : devices)
    if (one.vf && one.pf == index) gone.push_back(address);
  for (PciAddress address : gone) {
    files.remove(fmt::format("{}/virtfn{}", devices[pf.config.address].path, devices[address].vf->value));
    remove_device(address);
  }
  pf.vfs.clear();
  ++pf.generation;
}

// As sriov_numvfs_store().
Result<void> FakeState::set_vf_count(FakeDevice& device, std::string_view content, const std::string& what) {
  FakePfState& pf = pf_of(device);
  const int count = whole_number<int>(trimmed(content)).value_or(-1);
  if (count < 0) return fail(system_error(EINVAL, what));
  if (count > pf.config.total_vfs) return fail(system_error(ERANGE, what));
  if (count == pf.num_vfs) return {};
  if (device.driver != device.default_driver) return fail(system_error(ENOENT, what));
  if (count != 0 && pf.num_vfs != 0) return fail(system_error(EBUSY, what));
  remove_vfs(device.pf);
  pf.num_vfs = count;
  show_device(device);
  if (count > 0)
    later(vf_delay, [this, index = device.pf, generation = pf.generation] {
      if (pfs[index].generation == generation) make_vfs(index);
    });
  return {};
}

Result<void> FakeState::write_file(const std::string& path, std::string_view content, const std::string& what) {
  std::string name = last_part(path);
  const std::string text(trimmed(content));
  auto target = PciAddress::parse(text);
  if (path == "/sys/bus/pci/drivers_probe") {
    FakeDevice* found = target ? device(*target) : nullptr;
    if (found == nullptr) return fail(system_error(ENODEV, what));
    probe(*found);
    return {};
  }
  if (path.starts_with("/sys/bus/pci/drivers/") && (name == "bind" || name == "unbind")) {
    std::string driver = last_part(parent_path(path));
    FakeDevice* found = target ? device(*target) : nullptr;
    if (found == nullptr) return fail(system_error(ENODEV, what));
    if (name == "unbind") {
      if (found->driver != driver) return fail(system_error(ENODEV, what));
      unbind(*found);
      return {};
    }
    if (!found->driver.empty()) return fail(system_error(EBUSY, what));
    probe(*found);
    return found->driver == driver || found->claimed ? Result<void>() : fail(system_error(ENODEV, what));
  }
  auto owner = PciAddress::parse(last_part(parent_path(path)));
  FakeDevice* found = owner ? device(*owner) : nullptr;
  if (found != nullptr && found->path == parent_path(path)) {
    if (name == "sriov_numvfs") return set_vf_count(*found, content, what);
    if (name == "sriov_drivers_autoprobe" && (text == "0" || text == "1")) {
      pf_of(*found).autoprobe = text == "1";
      show_device(*found);
      return {};
    }
    if (name == "driver_override") {
      found->override_driver = text;
      show_device(*found);
      return {};
    }
    return fail(system_error(name == "sriov_drivers_autoprobe" ? EINVAL : EACCES, what));
  }
  files.put_file(path, std::string(content));
  return {};
}

}  // namespace railbed::os

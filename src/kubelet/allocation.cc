// SPDX-License-Identifier: Apache-2.0
#include "kubelet/allocation.h"

#include <algorithm>

#include "doc/json.h"
#include "kubelet/device_info.h"
#include "os/ports/rdma_files.h"

namespace railbed::kubelet {
namespace {

using doc::Value;

constexpr const char* kVfio = "/dev/vfio/vfio";
constexpr const char* kVhostNet = "/dev/vhost-net";
constexpr const char* kTun = "/dev/net/tun";

// Part ("rdma"), key ("uverbs") and value, in the order in which the original writes them: sorted.
using Info = std::map<std::string, std::map<std::string, std::string>>;

std::string to_text(const std::map<std::string, Info>& all) {
  Value root = Value::object();
  for (const auto& [id, info] : all) {
    Value& device = root.set(id, Value::object());
    for (const auto& [name, members] : info) {
      Value& part = device.set(name, Value::object());
      for (const auto& [key, value] : members) part.set(key, value);
    }
  }
  return doc::to_json(root);
}

class Allocator {
 public:
  Allocator(const Resource& resource, const LookUp& look_up) : resource_(resource), look_up_(look_up) {}

  Result<void> add(const std::string& name, const std::string& id) {
    const Device* device = resource_.find(id);
    if (device == nullptr) return fail(Code::kNotFound, "{} is not a device of {}", id, name);
    if (!device->unhealthy.empty())
      return fail(Code::kConflict, "VF {} of {} cannot be allocated now: {}", id, name, device->unhealthy);
    if (!device->ending.empty())
      return fail(Code::kConflict, "VF {} of {} is given to no further pod: {}", id, name, device->ending);
    const VfFiles files = TRY(look_up_(*device).context("VF {} of {}", id, name));
    info_ = &all_[id];
    (*info_)["generic"]["deviceID"] = id;
    if (device->vf.device_type == DeviceType::kVfioPci)
      TRY(add_vfio(*device, files));
    else
      TRY(add_network(*device, files));
    if (resource_.vhost_net) {
      add_file("vhost", "net-mount", {kVhostNet, kVhostNet});
      add_file("vhost", "tun-mount", {kTun, kTun});
    }
    // A soft device has no name before it is made: the code that attaches it knows it then, and says so itself.
    const bool later = device->vf.rdma && files.rdma.empty() && resource_.soft_rdma;
    out_.device_info[id] = later ? Value() : pci_device_info(device->vf.address, files.rdma);
    return {};
  }

  Allocation finish(const std::string& name, const std::vector<std::string>& ids) {
    out_.environment[variable_of(name)] = fmt::format("{}", fmt::join(ids, ","));
    out_.environment[variable_of(name) + "_INFO"] = to_text(all_);
    return std::move(out_);
  }

 private:
  static Error wrong_driver(const Device& device, const VfFiles& files) {
    return {.code = Code::kConflict,
            .message = fmt::format("VF {} has {}, but its policy requires {}", device.id(),
                                   files.driver.empty() ? "no driver" : "the driver " + files.driver,
                                   plan::driver_words(device.vf.device_type))};
  }

  Result<void> add_vfio(const Device& device, const VfFiles& files) {
    if (!is_user_space_driver(files.driver)) return fail(wrong_driver(device, files));
    if (files.iommu_group.empty())
      return fail(Code::kConflict, "VF {} has no IOMMU group; check that the IOMMU is enabled", device.id());
    // Without an IOMMU the kernel calls the file noiommu-N; programs look for N.
    const std::string group = "/dev/vfio/" + files.iommu_group;
    add_file("vfio", "dev-mount", {files.no_iommu ? "/dev/vfio/noiommu-" + files.iommu_group : group, group});
    add_file("vfio", "mount", {kVfio, kVfio});
    return {};
  }

  Result<void> add_network(const Device& device, const VfFiles& files) {
    if (files.driver.empty() || is_user_space_driver(files.driver)) return fail(wrong_driver(device, files));
    if (!device.vf.rdma) return {};
    if (files.char_devices.empty())
      return fail(Code::kConflict, "VF {} has no RDMA device, but its policy requires one", device.id());
    for (const std::string& path : files.char_devices)
      if (path.find("umad") == std::string::npos)
        add_file("rdma", "uverbs", {path, path});
      else if (resource_.mad)
        add_file("rdma", "umad", {path, path});
    add_file("rdma", "rdma_cm", {os::kConnectionManager, os::kConnectionManager});
    if (!files.rdma.empty()) (*info_)["rdma"]["rdma_dev"] = files.rdma;
    return {};
  }

  void add_file(const char* part, const char* key, DeviceFile file) {
    (*info_)[part][key] = file.in_container;
    if (std::ranges::find(out_.files, file.on_host, &DeviceFile::on_host) == out_.files.end())
      out_.files.push_back(std::move(file));
  }

  const Resource& resource_;
  const LookUp& look_up_;
  Allocation out_;
  std::map<std::string, Info> all_;  // by id
  Info* info_ = nullptr;             // of the device at hand
};

}  // namespace

Result<Allocation> allocate(const std::string& name, const Resource& resource, const std::vector<std::string>& ids,
                            const LookUp& look_up) {
  if (ids.empty()) return fail(Code::kInvalid, "no device of {} is requested", name);
  Allocator allocator(resource, look_up);
  std::set<std::string> in_order(ids.begin(), ids.end());  // as the original writes the keys
  for (const std::string& id : in_order) TRY(allocator.add(name, id));
  return allocator.finish(name, ids);
}

std::string variable_of(const std::string& resource) {
  std::string name = "PCIDEVICE_" + resource;
  for (char& c : name) {
    if (c == '.' || c == '/') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

}  // namespace railbed::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/kubelet_checkpoint.h"

#include <algorithm>

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using doc::Value;

void add_ids(const Value& list, std::vector<std::string>& ids) {
  if (!list.is_array()) return;
  for (const Value& id : *list.as_array())
    if (id.is_string()) ids.push_back(*id.as_string());
}

}  // namespace

Result<DeviceIds> read_kubelet_checkpoint(const std::string& text) {
  doc::Diagnostics found;
  auto source = std::make_shared<doc::Source>(doc::Source{"kubelet_internal_checkpoint", text});
  auto root = doc::parse_json(source, found);
  const Value* data = root ? root->find("Data") : nullptr;
  if (data == nullptr || !data->is_object())
    return fail(Code::kInvalid, "kubelet's checkpoint of devices cannot be read: it has no \"Data\"");
  DeviceIds all;
  const Value* entries = data->find("PodDeviceEntries");
  if (entries == nullptr || !entries->is_array()) return all;  // null: no pod has a device
  for (const Value& entry : *entries->as_array()) {
    std::string uid = text_in(entry, "PodUID");
    std::string resource = text_in(entry, "ResourceName");
    const Value* ids = entry.find("DeviceIDs");
    if (uid.empty() || resource.empty() || ids == nullptr) continue;
    std::vector<std::string>& out = all[{uid, resource}];
    add_ids(*ids, out);  // before 1.20: a list
    if (ids->is_object())
      for (const Value::Member& numa_node : *ids->as_object()) add_ids(numa_node.value, out);
  }
  for (auto& [key, ids] : all) std::ranges::sort(ids);
  return all;
}

Result<std::vector<Device>> KubeletDevices::devices(const PodInfo& pod, const std::string& resource, size_t count,
                                                    const plan::InUse&) {
  std::string text = TRY(files_.read(path_));
  DeviceIds all = TRY(read_kubelet_checkpoint(text));
  auto found = all.find({pod.uid, resource});
  if (pod.uid.empty() || found == all.end())
    return fail(Code::kNotFound, "kubelet gave pod {} no device of {}", pod.key(), resource);
  if (found->second.size() < count)
    return fail(Error{.code = Code::kExhausted,
                      .message = fmt::format("pod {} has {} device(s) of {}, and its networks ask for {}", pod.key(),
                                             found->second.size(), resource, count),
                      .hint = "ask for as many in the pod's resources as it has networks of that resource"});
  std::vector<Device> devices;
  for (size_t i = 0; i < count; ++i) devices.push_back({found->second[i], std::nullopt});
  return devices;
}

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "kubelet/checkpoint.h"

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::kubelet {
namespace {

using doc::Value;

void add_ids(const Value& list, std::set<std::string>& ids) {
  if (!list.is_array()) return;
  for (const Value& id : *list.as_array())
    if (id.is_string()) ids.insert(*id.as_string());
}

}  // namespace

Result<std::map<std::string, GivenDevices>> read_checkpoint(const std::string& text) {
  doc::Diagnostics found;
  auto source = std::make_shared<doc::Source>(doc::Source{"kubelet_internal_checkpoint", text});
  auto root = doc::parse_json(source, found);
  const Value* data = root ? root->find("Data") : nullptr;
  if (data == nullptr || !data->is_object())
    return fail(Code::kInvalid, "kubelet's checkpoint of devices cannot be read: it has no \"Data\"");
  std::map<std::string, GivenDevices> all;
  const Value* entries = data->find("PodDeviceEntries");
  if (entries == nullptr || !entries->is_array()) return all;  // null: no pod has a device
  for (const Value& entry : *entries->as_array()) {
    std::string uid = text_in(entry, "PodUID");
    std::string resource = text_in(entry, "ResourceName");
    const Value* ids = entry.find("DeviceIDs");
    if (uid.empty() || resource.empty() || ids == nullptr) continue;
    std::set<std::string>& out = all[uid][resource];
    add_ids(*ids, out);  // before 1.20: a list
    if (ids->is_object())
      for (const Value::Member& numa_node : *ids->as_object()) add_ids(numa_node.value, out);
  }
  return all;
}

}  // namespace railbed::kubelet

// SPDX-License-Identifier: Apache-2.0
#include "api/node_state.h"

#include <array>

#include "api/metadata.h"
#include "api/policy.h"
#include "base/format.h"
#include "doc/fields.h"
#include "doc/members.h"

namespace railbed::api {

using doc::Fields;
using doc::Value;

namespace {

constexpr std::array<std::string_view, 2> kDeviceTypes = {"netdevice", kVfioPciDriver};   // as DeviceType
constexpr std::array<std::string_view, 3> kPolicyStates = {"Applied", "Held", "Failed"};  // as NodeStatePolicy::State
constexpr int kMaxNumber = 65535;

void read_group(Fields& fields, NodeStateVfGroup& group) {
  fields.read("policyName", group.policy_name);
  fields.read("resourceName", group.resource_name);
  fields.choose("deviceType", kDeviceTypes, group.device_type);
  fields.read("mtu", group.mtu, {.min = 0, .max = kMaxNumber});
  fields.read("isRdma", group.is_rdma);
  fields.read("vdpaType", group.vdpa_type);
  fields.read("needVhostNet", group.need_vhost_net);
  fields.read("excludeTopology", group.exclude_topology);
  std::string range;
  fields.need("vfRange", range);
  if (const auto name = parse_pf_name("pf#" + range); name && name->vfs)
    group.vfs = *name->vfs;
  else if (!range.empty())
    fields.wrong("vfRange", fmt::format("\"{}\" is not a range of VFs such as 0-3", range));
}

void read_pf(Fields& fields, NodeStatePf& pf) {
  fields.need("pciAddress", pf.address);
  fields.read("name", pf.name);
  fields.read("numVfs", pf.num_vfs, {.min = 0, .max = kMaxNumber});
  fields.read("mtu", pf.mtu, {.min = 0, .max = kMaxNumber});
  std::string link_type, mode;
  fields.read("linkType", link_type);
  pf.link_type = parse_link_type(link_type);
  fields.read("eSwitchMode", mode);
  pf.eswitch_mode = parse_eswitch_mode(mode).value_or(EswitchMode::kLegacy);
  fields.read("externallyManaged", pf.externally_managed);
  fields.each("vfGroups", pf.groups, read_group);
}

void read_vf(Fields& fields, FoundVf& vf) {
  fields.read("vfID", vf.index);
  fields.read("pciAddress", vf.address);
  fields.read("vendor", vf.vendor);
  fields.read("deviceID", vf.device_id);
  fields.read("driver", vf.driver);
  fields.read("name", vf.name);
  fields.read("mac", vf.mac);
  fields.read("guid", vf.guid);
  fields.read("mtu", vf.mtu);
  fields.read("Vlan", vf.vlan);
}

void read_nic(Fields& fields, FoundNic& nic) {
  fields.need("pciAddress", nic.address);
  fields.read("vendor", nic.vendor);
  fields.read("deviceID", nic.device_id);
  fields.read("driver", nic.driver);
  fields.read("name", nic.name);
  fields.read("altNames", nic.alt_names);
  fields.read("mac", nic.mac);
  fields.read("mtu", nic.mtu);
  fields.read("numVfs", nic.num_vfs);
  fields.read("totalvfs", nic.total_vfs);
  fields.read("linkType", nic.link_type);
  fields.read("linkSpeed", nic.link_speed);
  fields.read("linkAdminState", nic.link_admin_state);
  fields.read("eSwitchMode", nic.eswitch_mode);
  fields.each("Vfs", nic.vfs, read_vf);
}

void read_policy(Fields& fields, NodeStatePolicy& policy) {
  fields.need("name", policy.name);
  fields.choose("state", kPolicyStates, policy.state);
  fields.read("message", policy.message);
}

// Members that say something only: an absent one and an empty one mean the same, and a node has thousands.
void put(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}
void put(Value& object, std::string_view key, int number) {
  if (number != 0) object.set(key, number);
}
void put_if(Value& object, std::string_view key, bool flag) {
  if (flag) object.set(key, true);
}

Value value_of(const NodeStateVfGroup& group) {
  Value out = Value::object();
  out.set("deviceType", kDeviceTypes[static_cast<size_t>(group.device_type)]);
  put_if(out, "excludeTopology", group.exclude_topology);
  put_if(out, "isRdma", group.is_rdma);
  put(out, "mtu", group.mtu);
  put_if(out, "needVhostNet", group.need_vhost_net);
  put(out, "policyName", group.policy_name);
  put(out, "resourceName", group.resource_name);
  put(out, "vdpaType", group.vdpa_type);
  out.set("vfRange", fmt::format("{}-{}", group.vfs.first, group.vfs.last));
  return out;
}

Value value_of(const NodeStatePf& pf) {
  Value out = Value::object();
  out.set("eSwitchMode", eswitch_mode_name(pf.eswitch_mode));
  put_if(out, "externallyManaged", pf.externally_managed);
  if (pf.link_type != WantedLinkType::kAny)
    out.set("linkType", pf.link_type == WantedLinkType::kInfiniband ? "IB" : "ETH");
  put(out, "mtu", pf.mtu);
  put(out, "name", pf.name);
  out.set("numVfs", pf.num_vfs);
  out.set("pciAddress", pf.address.to_string());
  Value& groups = out.set("vfGroups", Value::array());
  for (const NodeStateVfGroup& group : pf.groups) groups.push(value_of(group));
  return out;
}

Value value_of(const FoundVf& vf) {
  Value out = Value::object();
  put(out, "Vlan", vf.vlan);
  put(out, "deviceID", vf.device_id);
  put(out, "driver", vf.driver);
  put(out, "guid", vf.guid);
  put(out, "mac", vf.mac);
  put(out, "mtu", vf.mtu);
  put(out, "name", vf.name);
  out.set("pciAddress", vf.address.to_string());
  put(out, "vendor", vf.vendor);
  out.set("vfID", vf.index);
  return out;
}

Value value_of(const FoundNic& nic) {
  Value out = Value::object();
  if (!nic.vfs.empty()) {
    Value& vfs = out.set("Vfs", Value::array());
    for (const FoundVf& vf : nic.vfs) vfs.push(value_of(vf));
  }
  if (!nic.alt_names.empty()) {
    Value& names = out.set("altNames", Value::array());
    for (const std::string& name : nic.alt_names) names.push(name);
  }
  put(out, "deviceID", nic.device_id);
  put(out, "driver", nic.driver);
  put(out, "eSwitchMode", nic.eswitch_mode);
  put(out, "linkAdminState", nic.link_admin_state);
  put(out, "linkSpeed", nic.link_speed);
  put(out, "linkType", nic.link_type);
  put(out, "mac", nic.mac);
  put(out, "mtu", nic.mtu);
  put(out, "name", nic.name);
  put(out, "numVfs", nic.num_vfs);
  out.set("pciAddress", nic.address.to_string());
  put(out, "totalvfs", nic.total_vfs);
  put(out, "vendor", nic.vendor);
  return out;
}

Value value_of(const NodeStatePolicy& policy) {
  Value out = Value::object();
  put(out, "message", policy.message);
  out.set("name", policy.name);
  out.set("state", kPolicyStates[static_cast<size_t>(policy.state)]);
  return out;
}

}  // namespace

std::optional<SriovNetworkNodeState> parse_node_state(const Value& object, doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  SriovNetworkNodeState state;
  Fields top(object, "", "RB-API", found);
  top.require("metadata");
  top.inside("metadata", [](Fields& meta) { meta.require("name"); });
  state.meta = read_metadata(object, found);
  if (const Value* meta = doc::object_in(object, "metadata")) state.generation = doc::number_in(*meta, "generation");
  top.inside("spec", [&](Fields& spec) {
    state.decided = spec.take("interfaces") != nullptr;
    spec.each("interfaces", state.pfs, read_pf);
  });
  top.inside("status", [&](Fields& status) {
    status.each("interfaces", state.nics, read_nic);
    status.read("syncStatus", state.sync_status);
    status.read("lastSyncError", state.last_sync_error);
    status.read("observedGeneration", state.observed_generation);
    status.each("policies", state.policies, read_policy);
  });
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return state;
}

Value node_state_spec(const std::vector<NodeStatePf>& pfs) {
  Value out = Value::object();
  Value& list = out.set("interfaces", Value::array());
  for (const NodeStatePf& pf : pfs) list.push(value_of(pf));
  return out;
}

Value node_state_status(const SriovNetworkNodeState& state) {
  Value out = Value::object();
  Value& list = out.set("interfaces", Value::array());
  for (const FoundNic& nic : state.nics) list.push(value_of(nic));
  put(out, "lastSyncError", state.last_sync_error);
  put(out, "observedGeneration", state.observed_generation);
  if (!state.policies.empty()) {
    Value& policies = out.set("policies", Value::array());
    for (const NodeStatePolicy& policy : state.policies) policies.push(value_of(policy));
  }
  put(out, "syncStatus", state.sync_status);
  return out;
}

}  // namespace railbed::api

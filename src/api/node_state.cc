// SPDX-License-Identifier: Apache-2.0
#include "api/node_state.h"

#include "api/metadata.h"
#include "api/policy.h"
#include "base/format.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "doc/record.h"

namespace railbed::doc {

template <>
struct Words<DeviceType> {
  static constexpr std::string_view all[] = {"netdevice", kVfioPciDriver};
};
template <>
struct Words<api::NodeStatePolicy::State> {
  static constexpr std::string_view all[] = {"Applied", "Held", "Failed"};
};

}  // namespace railbed::doc

namespace railbed::api {

using doc::Fields;
using doc::Value;

namespace {

constexpr doc::Limits kNodeStateNumber{.min = 0, .max = 65535};

PfName::Range read_vf_range(Fields& fields) {
  std::string range;
  fields.need("vfRange", range);
  const auto name = parse_pf_name("pf#" + range);
  if (name && name->vfs) return *name->vfs;
  if (!range.empty()) fields.wrong("vfRange", fmt::format("\"{}\" is not a range of VFs such as 0-3", range));
  return {};
}

std::string read_text(Fields& fields, std::string_view key) {
  std::string text;
  fields.read(key, text);
  return text;
}

}  // namespace

// The keys are in the order of their letters, as the API server and kubectl show them. An absent member and an empty
// one mean the same, and a node has thousands: those are left out.

template <typename Io, doc::Is<NodeStateVfGroup> T>
void fields(Io& io, T& group) {
  io.always("deviceType", group.device_type);
  io.some("excludeTopology", group.exclude_topology);
  io.some("isRdma", group.is_rdma);
  io.some("mtu", group.mtu, kNodeStateNumber);
  io.some("needVhostNet", group.need_vhost_net);
  io.some("policyName", group.policy_name);
  io.some("resourceName", group.resource_name);
  io.some("vdpaType", group.vdpa_type);
  if constexpr (Io::kWrites)
    io.object().set("vfRange", fmt::format("{}-{}", group.vfs.first, group.vfs.last));
  else
    group.vfs = read_vf_range(io.from());
}

template <typename Io, doc::Is<NodeStatePf> T>
void fields(Io& io, T& pf) {
  if constexpr (Io::kWrites)
    io.object().set("eSwitchMode", eswitch_mode_name(pf.eswitch_mode));
  else
    pf.eswitch_mode = parse_eswitch_mode(read_text(io.from(), "eSwitchMode")).value_or(EswitchMode::kLegacy);
  io.some("externallyManaged", pf.externally_managed);
  if constexpr (!Io::kWrites)
    pf.link_type = parse_link_type(read_text(io.from(), "linkType"));
  else if (pf.link_type != WantedLinkType::kAny)
    io.object().set("linkType", pf.link_type == WantedLinkType::kInfiniband ? "IB" : "ETH");
  io.some("mtu", pf.mtu, kNodeStateNumber);
  io.some("name", pf.name);
  io.always("numVfs", pf.num_vfs, kNodeStateNumber);
  io.need("pciAddress", pf.address);
  io.always("vfGroups", pf.groups);
}

template <typename Io, doc::Is<FoundVf> T>
void fields(Io& io, T& vf) {
  io.some("Vlan", vf.vlan);
  io.some("deviceID", vf.device_id);
  io.some("driver", vf.driver);
  io.some("guid", vf.guid);
  io.some("mac", vf.mac);
  io.some("mtu", vf.mtu);
  io.some("name", vf.name);
  io.always("pciAddress", vf.address);
  io.some("vendor", vf.vendor);
  io.always("vfID", vf.index);
}

template <typename Io, doc::Is<FoundNic> T>
void fields(Io& io, T& nic) {
  io.some("Vfs", nic.vfs);
  io.some("altNames", nic.alt_names);
  io.some("deviceID", nic.device_id);
  io.some("driver", nic.driver);
  io.some("eSwitchMode", nic.eswitch_mode);
  io.some("linkAdminState", nic.link_admin_state);
  io.some("linkSpeed", nic.link_speed);
  io.some("linkType", nic.link_type);
  io.some("mac", nic.mac);
  io.some("mtu", nic.mtu);
  io.some("name", nic.name);
  io.some("numVfs", nic.num_vfs);
  io.need("pciAddress", nic.address);
  io.some("totalvfs", nic.total_vfs);
  io.some("vendor", nic.vendor);
}

template <typename Io, doc::Is<NodeStatePolicy> T>
void fields(Io& io, T& policy) {
  io.some("message", policy.message);
  io.need("name", policy.name);
  io.always("state", policy.state);
}

template <typename Io, doc::Is<NodeStateCondition> T>
void fields(Io& io, T& condition) {
  io.some("lastTransitionTime", condition.last_transition_time);
  io.always("message", condition.message);
  io.some("reason", condition.reason);
  io.always("status", condition.status);
  io.always("type", condition.type);
}

namespace {

// {rdmaMode}, of spec and status.
template <typename Io, typename Text>
void system_fields(Io& io, Text& rdma_mode) {
  if constexpr (!Io::kWrites)
    io.from().inside("system", [&](Fields& system) { system.read("rdmaMode", rdma_mode); });
  else if (!rdma_mode.empty())
    io.object().set("system", Value::object()).set("rdmaMode", rdma_mode);
}

template <typename Io, doc::Is<SriovNetworkNodeState> T>
void status_fields(Io& io, T& state) {
  io.some("conditions", state.conditions);
  io.always("interfaces", state.nics);
  io.some("lastSyncError", state.last_sync_error);
  io.some("observedGeneration", state.observed_generation);
  io.some("policies", state.policies);
  io.some("syncStatus", state.sync_status);
  system_fields(io, state.found_rdma_mode);
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
    doc::RecordReader io(spec);
    io.some("interfaces", state.pfs);
    system_fields(io, state.rdma_mode);
  });
  top.inside("status", [&](Fields& status) {
    doc::RecordReader io(status);
    status_fields(io, state);
  });
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return state;
}

Value node_state_spec(const std::vector<NodeStatePf>& pfs, std::string_view rdma_mode) {
  Value out = Value::object();
  doc::RecordWriter io(out);
  io.always("interfaces", pfs);
  system_fields(io, rdma_mode);
  return out;
}

Value node_state_status(const SriovNetworkNodeState& state) {
  Value out = Value::object();
  doc::RecordWriter io(out);
  status_fields(io, state);
  return out;
}

}  // namespace railbed::api

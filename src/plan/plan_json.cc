// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_json.h"

#include "doc/members.h"

namespace railbed::plan {
namespace {

using doc::Value;

// Adds the action's name and fields to the step's JSON object.
struct Fields {
  Value& out;

  void operator()(const SetAutoprobe& a) { name("SetAutoprobe").set("on", a.on); }
  void operator()(const SetPfUp& a) { name("SetPfUp").set("up", a.up); }
  void operator()(const SetPfMtu& a) { from_to(name("SetPfMtu"), a.from, a.to); }
  void operator()(const SetEswitchMode& a) { name("SetEswitchMode").set("mode", eswitch_mode_name(a.mode)); }
  void operator()(const SetVfCount& a) { from_to(name("SetVfCount"), a.from, a.to); }
  void operator()(const SetVfMac& a) {
    vf("SetVfMac", a.vf);
    out.set("mac", a.mac.to_string());
  }
  void operator()(const SetVfGuids& a) {
    vf("SetVfGuids", a.vf);
    out.set("nodeGuid", a.node_guid.to_string());
    out.set("portGuid", a.port_guid.to_string());
  }
  void operator()(const BindVf& a) {
    vf("BindVf", a.vf);
    out.set("address", a.address.to_string());
    out.set("from", a.from);
    out.set("driver", driver_for(a.device_type));
  }
  void operator()(const SetVfMtu& a) {
    vf("SetVfMtu", a.vf);
    out.set("address", a.address.to_string());
    from_to(out, a.from, a.to);
  }
  void operator()(const NeedsReboot& a) { name("NeedsReboot").set("what", a.what); }

 private:
  Value& name(std::string_view action) {
    out.set("action", action);
    return out;
  }
  void vf(std::string_view action, VfIndex index) { name(action).set("vf", index.value); }
  static void from_to(Value& value, int from, int to) {
    value.set("from", from);
    value.set("to", to);
  }
};

Value step_value(const Step& step) {
  Value value = Value::object();
  value.set("id", step.id);
  std::visit(Fields{value}, step.action);
  value.set("text", describe(step));
  value.set("reason", step.reason);
  value.set("policy", step.policy);
  value.set("disturbs", disturbs_name(step.disturbs));
  value.set("pods", doc::texts(step.pods));
  return value;
}

Value pf_value(const PfPlan& pf) {
  Value value = Value::object();
  value.set("pf", pf.pf.to_string());
  value.set("name", pf.pf_name);
  Value steps = Value::array();
  for (const Step& step : pf.steps) steps.push(step_value(step));
  value.set("steps", std::move(steps));
  return value;
}

Value held_value(const HeldBack& held) {
  Value value = Value::object();
  value.set("pf", held.pf.to_string());
  value.set("name", held.pf_name);
  value.set("change", held.change);
  value.set("reason", held.reason);
  value.set("policy", held.policy);
  value.set("pods", doc::texts(held.pods));
  return value;
}

Value outcome_value(const PolicyOutcome& outcome) {
  Value value = Value::object();
  value.set("policy", outcome.policy);
  value.set("state", graph::outcome_name(outcome.state));
  value.set("place", outcome.span.known() ? outcome.span.to_string() : "");
  value.set("pfs", doc::texts(outcome.pfs));
  value.set("shadowedBy", doc::texts(outcome.shadowed_by));
  value.set("detail", outcome.detail);
  return value;
}

Value vf_value(const PoolVf& vf) {
  Value value = Value::object();
  value.set("pf", vf.pf.to_string());
  value.set("name", vf.pf_name);
  value.set("vf", vf.index.value);
  value.set("address", vf.address == PciAddress{} ? "" : vf.address.to_string());
  value.set("policy", vf.policy);
  value.set("vfio", vf.device_type == DeviceType::kVfioPci);
  value.set("rdma", vf.rdma);
  value.set("infiniband", vf.infiniband);
  if (vf.mtu > 0) value.set("mtu", vf.mtu);
  if (vf.numa_node) value.set("numaNode", *vf.numa_node);
  if (!vf.held_by.empty()) value.set("heldBy", vf.held_by);
  return value;
}

Value pod_value(const PodPlan& pod) {
  Value value = Value::object();
  value.set("pod", pod.pod);
  Value networks = Value::array();
  for (const PodNetworkPlan& network : pod.networks) {
    Value one = Value::object();
    one.set("interface", network.interface);
    one.set("network", network.network);
    one.set("type", network.type);
    one.set("resource", network.resource);
    networks.push(std::move(one));
  }
  value.set("networks", std::move(networks));
  return value;
}

Value pod_interface_value(const PodInterface& one) {
  Value value = Value::object();
  value.set("interface", one.interface);
  value.set("network", one.network);
  value.set("device", one.device);
  value.set("why", one.why);
  return value;
}

template <typename T>
Value list(const std::vector<T>& items, Value (*one)(const T&)) {
  Value array = Value::array();
  for (const T& item : items) array.push(one(item));
  return array;
}

Value pod_step_value(const PodStep& step) {
  Value value = Value::object();
  value.set("id", step.id);
  value.set("pod", step.pod);
  value.set("action", pod_action_name(step.action));
  value.set("text", describe(step));
  value.set("reason", step.reason);
  value.set("interfaces", list(step.interfaces, pod_interface_value));
  value.set("wholePod", step.whole_pod);
  value.set("disturbs", disturbs_name(step.disturbs ? Disturbs::kPods : Disturbs::kNothing));
  if (!step.problem.empty()) value.set("problem", step.problem);
  return value;
}

}  // namespace

Value to_value(const NodePlan& plan) {
  Value value = Value::object();
  value.set("node", plan.node);
  value.set("changes", plan.changes());
  value.set("softRdma", plan.soft_rdma);
  value.set("pfs", list(plan.pfs, pf_value));
  value.set("heldBack", list(plan.held_back, held_value));
  value.set("policies", list(plan.policies, outcome_value));
  Value resources = Value::object();
  for (const auto& [name, pool] : plan.resources) resources.set(name, list(pool, vf_value));
  value.set("resources", std::move(resources));
  value.set("pods", list(plan.pods, pod_value));
  value.set("podsDecided", plan.pods_decided);
  value.set("podSteps", list(plan.pod_steps, pod_step_value));
  return value;
}

}  // namespace railbed::plan

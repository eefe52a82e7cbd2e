// SPDX-License-Identifier: Apache-2.0
#include "node/status.h"

namespace railbed::node {

namespace {

using doc::Value;

Value strings(const std::vector<std::string>& texts) {
  Value array = Value::array();
  for (const std::string& text : texts) array.push(text);
  return array;
}

void set_if(Value& value, std::string_view key, const std::string& text) {
  if (!text.empty()) value.set(key, text);
}

Value policy_value(const PolicyStatus& policy) {
  Value value = Value::object();
  value.set("policy", policy.policy);
  value.set("state", policy.state);
  value.set("pfs", strings(policy.pfs));
  value.set("shadowedBy", strings(policy.shadowed_by));
  value.set("detail", policy.detail);
  set_if(value, "failedStep", policy.failed_step);
  set_if(value, "error", policy.error);
  return value;
}

Value interface_value(const InterfaceStatus& interface) {
  Value value = Value::object();
  value.set("name", interface.name);
  value.set("network", interface.network);
  value.set("type", interface.type);
  value.set("vf", interface.vf);
  value.set("pf", interface.pf);
  value.set("rail", interface.rail);
  value.set("mac", interface.mac);
  value.set("mtu", interface.mtu);
  value.set("rdma", interface.rdma);
  value.set("soft", interface.soft);
  value.set("addresses", strings(interface.addresses));
  value.set("state", interface.state);
  return value;
}

Value pod_value(const PodStatus& pod) {
  Value value = Value::object();
  value.set("name", pod.name);
  value.set("namespace", pod.ns);
  set_if(value, "container", pod.container);
  value.set("netns", pod.netns);
  Value& interfaces = value.set("interfaces", Value::array());
  for (const InterfaceStatus& interface : pod.interfaces) interfaces.push(interface_value(interface));
  set_if(value, "error", pod.error);
  return value;
}

Value pf_value(const PfStatus& pf) {
  Value value = Value::object();
  value.set("pci", pf.pci);
  value.set("name", pf.name);
  value.set("numVfs", pf.num_vfs);
  value.set("totalVfs", pf.total_vfs);
  value.set("ours", pf.ours);
  Value& vfs = value.set("vfs", Value::array());
  for (const VfStatus& vf : pf.vfs) {
    Value one = Value::object();
    one.set("index", vf.index);
    one.set("pci", vf.pci);
    one.set("driver", vf.driver);
    set_if(one, "name", vf.name);
    one.set("owner", vf.owner);
    vfs.push(std::move(one));
  }
  return value;
}

}  // namespace

Value to_value(const Status& status) {
  Value value = Value::object();
  value.set("apiVersion", "railbed.dev/v1");
  value.set("kind", "Status");
  value.set("node", status.node);
  Value& policies = value.set("policies", Value::array());
  for (const PolicyStatus& policy : status.policies) policies.push(policy_value(policy));
  Value& pods = value.set("pods", Value::array());
  for (const PodStatus& pod : status.pods) pods.push(pod_value(pod));
  Value& pfs = value.set("pfs", Value::array());
  for (const PfStatus& pf : status.pfs) pfs.push(pf_value(pf));
  Value& leases = value.set("leases", Value::array());
  for (const state::AddressLease& lease : status.leases) {
    Value one = Value::object();
    one.set("pool", lease.pool);
    one.set("address", lease.address.to_string());
    one.set("pod", lease.pod);
    one.set("interface", lease.interface);
    leases.push(std::move(one));
  }
  value.set("heldBack", strings(status.held_back));
  value.set("begunSteps", strings(status.interrupted));
  return value;
}

}  // namespace railbed::node

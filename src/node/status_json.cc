// SPDX-License-Identifier: Apache-2.0
#include "base/well_known.h"
#include "doc/members.h"
#include "node/status.h"

namespace railbed::node {

namespace {

using doc::Value;

Value policy_value(const PolicyStatus& policy) {
  Value value = Value::object();
  value.set("policy", policy.policy);
  value.set("state", policy.state);
  value.set("pfs", doc::texts(policy.pfs));
  value.set("shadowedBy", doc::texts(policy.shadowed_by));
  value.set("detail", policy.detail);
  doc::put_text(value, "failedStep", policy.failed_step);
  doc::put_text(value, "error", policy.error);
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
  value.set("addresses", doc::texts(interface.addresses));
  value.set("state", interface.state);
  return value;
}

Value pod_value(const PodStatus& pod) {
  Value value = Value::object();
  value.set("name", pod.name);
  value.set("namespace", pod.ns);
  doc::put_text(value, "container", pod.container);
  value.set("netns", pod.netns);
  Value& interfaces = value.set("interfaces", Value::array());
  for (const InterfaceStatus& interface : pod.interfaces) interfaces.push(interface_value(interface));
  doc::put_text(value, "error", pod.error);
  return value;
}

Value pf_value(const PfStatus& pf) {
  Value value = Value::object();
  value.set("pci", pf.pci);
  value.set("name", pf.name);
  value.set("numVfs", pf.num_vfs);
  value.set("totalVfs", pf.total_vfs);
  value.set("ours", pf.ours);
  if (pf.rate_gbps) value.set("rateGbps", *pf.rate_gbps);
  if (const std::optional<double> share = pf.share_gbps()) value.set("shareGbps", *share);
  Value& vfs = value.set("vfs", Value::array());
  for (const VfStatus& vf : pf.vfs) {
    Value one = Value::object();
    one.set("index", vf.index);
    one.set("pci", vf.pci);
    one.set("driver", vf.driver);
    doc::put_text(one, "name", vf.name);
    one.set("owner", vf.owner);
    vfs.push(std::move(one));
  }
  return value;
}

}  // namespace

Value to_value(const Status& status) {
  Value value = Value::object();
  value.set("apiVersion", kOwnApiVersion);
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
  value.set("heldBack", doc::texts(status.held_back));
  value.set("begunSteps", doc::texts(status.interrupted));
  doc::put_text(value, "prefixConflict", status.prefix_conflict);
  return value;
}

}  // namespace railbed::node

// SPDX-License-Identifier: Apache-2.0
#include "graph/vf_group.h"

#include "api/cluster_labels.h"
#include "base/format.h"

namespace railbed::graph {
namespace {

bool has_annotation(const api::Metadata& meta, std::string_view annotation) {
  const auto found = meta.annotations.find(std::string(annotation));
  return found != meta.annotations.end() && found->second->as_string() && *found->second->as_string() == "true";
}

OriginPtr origin_of(const api::SriovNetworkNodePolicy& policy) {
  Origin made;
  made.policy = *policy.meta.ns + "/" + *policy.meta.name;
  made.name = *policy.meta.name;
  made.span = policy.meta.name.span.known() ? policy.meta.name.span : policy.meta.span;
  made.place =
      made.span.known() ? fmt::format("policy {} ({})", made.name, made.span.to_string()) : "policy " + made.name;
  made.num_vfs = policy.num_vfs.span;
  made.mtu = policy.mtu.span;
  made.device_type = policy.device_type.span;
  made.is_rdma = policy.is_rdma.span;
  made.link_type = policy.link_type.span;
  made.eswitch_mode = policy.eswitch_mode.span;
  made.externally_managed = policy.externally_managed.span;
  made.host_pf_allowed = has_annotation(policy.meta, kAllowHostPf);
  return std::make_shared<const Origin>(std::move(made));
}

}  // namespace

VfGroup group_of(const api::SriovNetworkNodePolicy& policy, std::string_view resource_prefix) {
  const bool kernel_driver = *policy.device_type == DeviceType::kNetdevice;
  return {.from = origin_of(policy),
          .resource_name = *policy.resource_name,
          .resource = fmt::format("{}/{}", resource_prefix, *policy.resource_name),
          .device_type = *policy.device_type,
          .rdma = *policy.is_rdma || (*policy.link_type == api::WantedLinkType::kInfiniband && kernel_driver),
          .mad = has_annotation(policy.meta, api::kMadAnnotation),
          .need_vhost_net = *policy.need_vhost_net,
          .exclude_topology = *policy.exclude_topology,
          .vdpa_type = *policy.vdpa_type,
          .mtu = *policy.mtu,
          .vfs = {},
          .num_vfs = *policy.num_vfs,
          .link_type = *policy.link_type,
          .eswitch_mode = *policy.eswitch_mode,
          .externally_managed = *policy.externally_managed};
}

}  // namespace railbed::graph

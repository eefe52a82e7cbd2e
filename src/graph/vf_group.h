// SPDX-License-Identifier: Apache-2.0
// VFs of one PF that are requested together, and who requests them.
//
// Why: policies and node states request the same things of a PF. Both are converted to this value, so that what
// compares, refuses, plans and describes them needs to know neither; messages keep the places in the manifest.
// Threading: plain values; an Origin does not change once it is shared.
// Failure: none.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "graph/vf_range.h"

namespace railbed::graph {

// Annotation on a policy that allows PFs which the host uses: making VFs resets the link of many NICs for a moment.
inline constexpr std::string_view kAllowHostPf = "railbed.dev/allow-host-pf";

// Who requests something of a PF: a policy, or what a node state says in the name of one, which has no places.
struct Origin {
  std::string policy;  // "namespace/name"
  std::string name;    // without the namespace
  std::string place;   // "policy rail0 (policy.yaml:9:3)", the beginning of reasons
  doc::Span span;      // of the policy's name, or of its first line
  // Of the fields; not known where there is no manifest.
  doc::Span num_vfs, mtu, device_type, is_rdma, link_type, eswitch_mode, externally_managed;
  bool host_pf_allowed = false;  // kAllowHostPf
};
using OriginPtr = std::shared_ptr<const Origin>;

struct VfGroup {
  OriginPtr from;
  std::string resource_name;  // without prefix
  std::string resource;       // with prefix
  DeviceType device_type = DeviceType::kNetdevice;
  bool rdma = false;  // isRdma, or linkType IB with a kernel driver
  bool mad = false;   // pods may send management datagrams (api::kMadAnnotation)
  bool need_vhost_net = false;
  bool exclude_topology = false;
  std::string vdpa_type;
  int mtu = 0;               // 0: stays as it is
  std::vector<VfRange> vfs;  // as join() returns them
  // What the origin requests of the PF itself; the PF gets what PfWanted has.
  int num_vfs = 0;
  api::WantedLinkType link_type = api::WantedLinkType::kAny;
  EswitchMode eswitch_mode = EswitchMode::kLegacy;
  bool externally_managed = false;
};

// What the policy requests of each PF that it selects, without VFs.
VfGroup group_of(const api::SriovNetworkNodePolicy& policy, std::string_view resource_prefix);

}  // namespace railbed::graph

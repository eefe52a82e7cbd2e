// SPDX-License-Identifier: Apache-2.0
// The result for an attached interface: the answer to the request, and what `status` shows.
//
// Reading and writing JSON (state::Attachment::result).
// Threading: plain values.
// Failure: Invalid for a text that is not such a result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ip.h"
#include "base/types.h"
#include "os/ports/links.h"

namespace railbed::attach {

struct InterfaceResult {
  std::string interface;  // as asked for; with vfio there is no such interface, only char_devices
  std::string network;    // "namespace/name"
  std::string type;       // "sriov", …
  std::string mac;        // six bytes, or twenty for IPoIB; the administrative one for vfio
  int mtu = 0;
  std::vector<IpPrefix> addresses;
  std::optional<IpAddress> gateway;
  std::vector<Route> routes;  // `link` is the index inside the pod
  std::string pf;             // name of the PF
  std::optional<PciAddress> device;
  std::optional<VfIndex> vf;
  std::string host_name;                  // of the interface before it moved, or the parent of a made one
  std::string rdma;                       // RDMA device; empty: none
  bool soft = false;                      // it is a soft one
  std::vector<std::string> char_devices;  // "/dev/infiniband/uverbs0", "/dev/vfio/12", …
  std::vector<std::string> notes;
  friend bool operator==(const InterfaceResult&, const InterfaceResult&) = default;
};

std::string to_json(const InterfaceResult& result);
Result<InterfaceResult> result_from_json(const std::string& text);

}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// For tests: the network and GID table of a pod.
// Threading: pure.
// Failure: none.
#pragma once

#include <string_view>
#include <vector>

#include "rdma/gid.h"

namespace railbed::rdma {

inline IpAddress ip(std::string_view text) {
  return *IpAddress::parse(text);
}

inline GidEntry entry(int index, GidType type, std::string_view address, int netdev) {
  return {.gid = ip(address).to_gid(), .index = index, .port = 1, .type = type, .netdev = IfIndex{netdev}};
}

// A pod's network namespace: eth0 of the cluster network, net1 and net2 on two rails.
inline LocalNetwork pod_network() {
  return {.addresses = {{IfIndex{2}, IfName{"eth0"}, ip("192.168.1.9")},
                        {IfIndex{5}, IfName{"net1"}, ip("10.1.0.5")},
                        {IfIndex{5}, IfName{"net1"}, ip("fd00::5")},
                        {IfIndex{5}, IfName{"net1"}, ip("fe80::ff:fe00:1")},
                        {IfIndex{6}, IfName{"net2"}, ip("10.2.0.5")}},
          .interfaces = {{IfIndex{2}, IfName{"eth0"}, {2, 0, 0, 0, 0, 9}, true},
                         {IfIndex{5}, IfName{"net1"}, {2, 0, 0, 0, 0, 1}, true},
                         {IfIndex{6}, IfName{"net2"}, {2, 0, 0, 0, 0, 2}, true}}};
}

// A port's table in the shared RDMA namespace: each address in both versions, and an address of another pod, whose
// interface has number 5 in its own namespace, too.
inline std::vector<GidEntry> shared_table() {
  return {entry(0, GidType::kRoceV1, "fe80::ff:fe00:1", 5), entry(1, GidType::kRoceV2, "fe80::ff:fe00:1", 5),
          entry(2, GidType::kRoceV1, "10.9.0.7", 5),        entry(3, GidType::kRoceV2, "10.9.0.7", 5),
          entry(4, GidType::kRoceV1, "10.1.0.5", 5),        entry(5, GidType::kRoceV2, "10.1.0.5", 5),
          entry(6, GidType::kRoceV1, "fd00::5", 5),         entry(7, GidType::kRoceV2, "fd00::5", 5)};
}

}  // namespace railbed::rdma

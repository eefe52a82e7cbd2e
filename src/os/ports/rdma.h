// SPDX-License-Identifier: Apache-2.0
// RDMA devices according to the kernel's netlink (RDMA_NL_NLDEV).
//
// Why: soft-RoCE devices have no parent in sysfs; only netlink reports which interface they belong to. The same socket
// creates and deletes them, moves a device into a namespace, and reports whether namespaces share devices. In shared
// mode netlink names a device's interface only inside the interface's namespace.
// Threading: one thread per port.
// Failure: Unsupported if the kernel has no RDMA; errors name the nldev command.
// Source: rdma/rdma_netlink.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace railbed::os {

class Netns;

struct RdmaLinkPort {
  int number = 1;
  IfIndex netdev;  // 0: none, or in another namespace
  std::string netdev_name;
  std::string state;  // "ACTIVE", "DOWN", …
  std::string physical_state;
  std::optional<int> lid;
  std::optional<int> sm_lid;
  std::optional<uint64_t> subnet_prefix;
  friend bool operator==(const RdmaLinkPort&, const RdmaLinkPort&) = default;
};

struct RdmaLink {
  uint32_t index = 0;
  std::string name;
  std::string firmware;
  Guid node_guid;
  Guid system_image_guid;
  std::string protocol;  // "ib", "roce", "iw", …; empty on old kernels
  std::vector<RdmaLinkPort> ports;
  friend bool operator==(const RdmaLink&, const RdmaLink&) = default;
};

enum class RdmaNetnsMode : uint8_t { kShared, kExclusive };

class RdmaPort {
 public:
  virtual ~RdmaPort() = default;
  virtual Result<std::vector<RdmaLink>> list() = 0;
  virtual Result<RdmaNetnsMode> netns_mode() = 0;
  // Creates a soft device of `type` ("rxe", "siw") on `netdev`, which must be in this port's namespace.
  virtual Result<void> create_soft(const std::string& type, const std::string& name, const IfName& netdev) = 0;
  virtual Result<void> remove_soft(const std::string& name) = 0;  // NotFound when it is gone already
  // Works only in exclusive mode, and only for drivers that can disconnect their users.
  virtual Result<void> move(const std::string& name, const Netns& netns) = 0;
};

}  // namespace railbed::os

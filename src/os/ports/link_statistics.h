// SPDX-License-Identifier: Apache-2.0
// The driver-specific counters of a network interface: `ethtool -S`.
//
// Why: pause frames, with which a lossless fabric slows its senders down, are in no statistics that all drivers share.
// A port that carries RDMA has them in addition to its device's counters.
// Threading: one thread per instance.
// Failure: NotFound without such an interface, Unsupported if its driver has no counters.
// Source: linux/ethtool.h, ETHTOOL_GSSET_INFO, ETHTOOL_GSTRINGS and ETHTOOL_GSTATS; they need no privilege.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"

namespace railbed::os {

class LinkStatistics {
 public:
  virtual ~LinkStatistics() = default;
  // Of an interface of this process's namespace. The kernel asks the driver, and the driver its firmware.
  virtual Result<std::map<std::string, uint64_t>> read(const std::string& interface) = 0;
};

std::unique_ptr<LinkStatistics> real_link_statistics();

}  // namespace railbed::os

// SPDX-License-Identifier: Apache-2.0
// What the driver of a network interface counts by names of its own: `ethtool -S`.
//
// Why: pause frames, by which a fabric without losses slows its senders down, are in no statistics that all drivers
// share. A port that carries RDMA has them beside its device's counters. Threading: one thread per instance. Failure:
// NotFound without such an interface, Unsupported where its driver counts nothing. Source: linux/ethtool.h,
// ETHTOOL_GSSET_INFO, ETHTOOL_GSTRINGS and ETHTOOL_GSTATS; they need no privilege.
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

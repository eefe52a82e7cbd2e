// SPDX-License-Identifier: Apache-2.0
// Addresses in the runtime's files and in pod statuses, for containers of this machine.
//
// Why: after a lost state an address is reserved because an interface shows it (in_use.h). gVisor and virtual machines
// remove the address from the interface; then only the result that CNI's library keeps until DEL, and the pod's
// network-status, have it. A result names the pod's namespace and, in a cluster, the pod, whose status has the
// addresses of all its networks.
// Threading: any thread, not inside a Turn.
// Failure: the disk's; Busy as PodSource::published_status(). A file of another format has no addresses.
#pragma once

#include <string>
#include <vector>

#include "agent/pod/sources.h"
#include "base/ip.h"
#include "os/ports/disk.h"

namespace railbed::agent {

struct WrittenAddress {
  IpAddress address;
  std::string interface;
  std::string netns;            // CNI_NETNS of the ADD
  std::string file;             // the result, which the runtime removes after DEL
  int64_t written_seconds = 0;  // since 1970: when
  friend bool operator==(const WrittenAddress&, const WrittenAddress&) = default;
};

Result<std::vector<WrittenAddress>> written_addresses(os::Disk& disk, PodSource& pods);

// The addresses of a network-status, with their interfaces. None in other text.
std::vector<std::pair<IpAddress, std::string>> addresses_of_status(const std::string& text);

}  // namespace railbed::agent

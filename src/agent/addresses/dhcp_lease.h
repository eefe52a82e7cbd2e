// SPDX-License-Identifier: Apache-2.0
// A lease as the agent stores it, and the configuration keys of ipam type dhcp.
//
// Why the acknowledgement's bytes: all lease data can be read from them again. Times are of the steady clock, which
// continues over a restart of the agent; the state does not survive the boot either.
// Threading: pure.
// Failure: Invalid with the key.
#pragma once

#include <map>
#include <string>

#include "cni/add_result.h"
#include "doc/value.h"
#include "ipam/assign.h"
#include "ipam/dhcp_packet.h"
#include "os/ports/clock.h"

namespace railbed::agent {

struct KeptLease {
  ipam::Owner owner;
  std::string netns_path;
  ipam::DhcpClient client;
  MacAddress server_mac;  // or that of its relay
  std::string ack;        // as received
  os::Deadline since;     // when it was requested
  ipam::DhcpLease lease;  // of `ack`

  // nullopt: the lease never ends.
  std::optional<os::Deadline> end() const;
  os::Deadline renew_at() const;
  os::Deadline rebind_at() const { return since + std::chrono::seconds(lease.rebind_after); }
  // When to ask again after an attempt at `now`: after half of the time that is left (RFC 2131 4.4.5).
  os::Deadline ask_after(os::Deadline now) const;
};

inline constexpr const char* kLeaseNotes = "dhcp lease ";
std::string lease_key(const ipam::Owner& owner);
std::string to_note(const KeptLease& lease);
Result<KeptLease> read_lease(const std::string& key, const std::string& note);

// From "request" and "provide" of the ipam object; the caller sets the id.
Result<ipam::DhcpClient> read_client(const doc::Value& ipam, const std::map<std::string, std::string>& cni_args);
// Who answers first on a rail chooses the routes of its pods. The interface of the pod's default network takes all of
// them; any other one only those inside prefixes of the ipam object's "routes", and none wider than /8 unless it is
// listed itself.
struct DhcpRoutes {
  std::vector<Route> taken, dropped;
};
DhcpRoutes routes_of(const ipam::DhcpLease& lease, const doc::Value& ipam, const std::string& interface);
// With the routes that are taken. `ipam` may set their "priority".
cni::AddResult result_of(const ipam::DhcpLease& lease, const doc::Value& ipam, const std::string& interface);

}  // namespace railbed::agent

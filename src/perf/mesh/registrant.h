// SPDX-License-Identifier: Apache-2.0
// The endpoint's side of registering for meshes: `railbed perf serve --register`.
//
// Why: an endpoint may start before its coordinator, and outlive it, for the next mesh. So it registers as long as it
// serves: errors are reported, once for each reason, and retried with exponential backoff and jitter, so that hundreds
// of endpoints do not return at one moment.
// Threading: one thread.
// Failure: only for invalid options; it ends when it is stopped.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "os/ports/kernel.h"
#include "perf/channel/watch.h"
#include "perf/mesh/register_message.h"

namespace railbed::perf::mesh {

struct CoordinatorAddress {
  std::string host;  // address or name
  uint16_t port = 0;
  friend bool operator==(const CoordinatorAddress&, const CoordinatorAddress&) = default;
};
// "10.0.0.9", "10.0.0.9:4711", "[fd00::9]:4711", "coordinator.example.com"; without a port the usual one.
Result<CoordinatorAddress> coordinator_from(std::string_view text);

// The rails of this machine, in the order of the mesh: each word is an address, or an interface, whose first address
// is taken (IPv4 before IPv6, none that is link-local); nothing is no NIC on that rail.
Result<Register> register_for(os::Kernel& kernel, std::string name, uint16_t port,
                              const std::vector<std::string>& rails);

struct RegistrantOptions {
  CoordinatorAddress coordinator;
  Register message;
  std::optional<IpAddress> from;  // what the server is bound to, which the coordinator connects to
  std::string token;
  perf::Limits limits;
  std::chrono::milliseconds first_pause{1000};
  std::chrono::milliseconds longest_pause{30'000};
  std::function<void(const std::string& line)> on_event;
};
void keep_registered(const RegistrantOptions& options, const std::stop_token& stop);

}  // namespace railbed::perf::mesh

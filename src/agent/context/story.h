// SPDX-License-Identifier: Apache-2.0
// The details of one request for its log line, collected while it is handled.
//
// Why: only the code that chooses networks and devices knows them, and it must not log: one line per request says more
// than ten.
// Threading: the request's thread.
// Failure: none.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::agent {

// The phases of an attachment; a request counts only for the phases that it has.
//   prepare    reads its configuration and chooses pod, networks and devices
//   wait       waits for its turn
//   addresses  chooses addresses and writes host-local's files
//   kernel     runs attach's transaction: look, journal, make, check, commit
//   lease      asks a DHCP server
//   exec       executes a plugin; counted for each one
//   total      the whole request, as the client sees it
enum class Phase : uint8_t { kPrepare, kWait, kAddresses, kKernel, kLease, kExec, kTotal };
inline constexpr Phase kPhases[] = {Phase::kPrepare, Phase::kWait, Phase::kAddresses, Phase::kKernel,
                                    Phase::kLease,   Phase::kExec, Phase::kTotal};
std::string_view phase_name(Phase phase);

struct RequestStory {
  std::array<double, std::size(kPhases)> seconds{};  // by phase; 0: it had none
  std::vector<std::string> networks;                 // in the order in which they were worked on
  std::vector<std::string> devices;                  // PCI addresses of VFs, names of host interfaces

  void took(Phase phase, double more) { seconds[static_cast<size_t>(phase)] += more; }
  void has_network(const std::string& name) { add(networks, name); }
  void has_device(const std::string& name) { add(devices, name); }

 private:
  static void add(std::vector<std::string>& all, const std::string& name) {
    if (!name.empty() && std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
};

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// The restrictions for third-party programs that the agent executes: CNI plugins of the cluster network and of networks
// that are not railbed's.
//
// Why data: deploy/systemd/railbed-agent.service declares the same for the agent's whole service, and a test compares
// the two. In a cluster there is no unit: the agent's container is privileged, so the agent removes the other rights
// from each program that it starts. A program gets EPERM for what is not allowed and reports it in its own words;
// `--unfenced TYPE` exempts one type of plugin.
// Threading: constants.
// Failure: none.
// Source: capabilities(7), seccomp(2); the groups and their system calls are those of systemd.exec(5), systemd 252.
#pragma once

#include <span>
#include <string_view>

namespace railbed::os {

// The only ones that stay in its bounding set.
inline constexpr std::string_view kFenceCapabilities[] = {"CAP_NET_ADMIN", "CAP_NET_RAW",    "CAP_NET_BIND_SERVICE",
                                                          "CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE",
                                                          "CAP_FOWNER"};

// The only address families of its sockets.
inline constexpr std::string_view kFenceFamilies[] = {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET"};

struct CallGroup {
  std::string_view name;
  std::span<const std::string_view> calls;
};
// System calls that it may not make. Those that an architecture lacks are passed over.
std::span<const CallGroup> fence_calls();

}  // namespace railbed::os

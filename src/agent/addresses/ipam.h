// SPDX-License-Identifier: Apache-2.0
// Our IPAM types for main plugins of others (bridge, ptp, …) that call the shim as `host-local`, `static`,
// `whereabouts` or `dhcp`.
//
// A note says which requests came this way: DEL may come without the pod's name, and GC is about one network.
// Threading: any thread, not in a turn. Failure: the specification's codes.
#pragma once

#include <string>

#include "agent/door/service.h"

namespace railbed::agent {

// What goes to standard output on success.
cni::Outcome<std::string> ipam_request(Backends& backends, const cni::Request& request,
                                       const cni::PluginConfig& config);

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// railbed's IPAM types for third-party main plugins (bridge, ptp, …) that call the shim as `host-local`, `static`,
// `whereabouts` or `dhcp`.
//
// A note marks the requests that came this way: DEL may come without the pod's name, and GC is about one network.
// Threading: any thread, not inside a Turn.
// Failure: the specification's codes.
#pragma once

#include <string>

#include "agent/addresses/backends.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

// What goes to standard output on success.
Result<std::string> ipam_request(Backends& backends, const cni::Request& request, const cni::PluginConfig& config);

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// Router advertisements on interfaces whose addresses the network assigns.
//
// Why: a router on a rail configures each new interface with an address and a default route that no network definition
// contains, and the pod's traffic may leave through a rail. So accept_ra and autoconf are set to 0 before the interface
// is up. This does not apply to networks without IPAM: there the advertisements may provide the addresses. A tuning
// that names a key takes precedence.
//
// Kernel behaviour (6.18, and addrconf.c since 4.x): an interface has these settings from MTU 1280 on, and they are
// reset to the namespace's defaults whenever it moves to another namespace, or its MTU reaches that size. "all" has no
// effect on them.
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>
#include <string_view>

#include "attach/interface_spec.h"
#include "os/ports/netns.h"

namespace railbed::attach {

// The settings of an interface that is to get nothing from routers; empty where the spec leaves that open.
os::Sysctls without_advertisements(const InterfaceSpec& spec);

// Whether an MTU gives the interface its IPv6 settings, which it has not now.
bool begins_ipv6(int mtu_now, std::optional<int> mtu_wanted);

// Whether these settings decide about advertisements.
bool names_advertisements(const os::Sysctls& sysctls, std::string_view interface);

}  // namespace railbed::attach

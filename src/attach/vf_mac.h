// SPDX-License-Identifier: Apache-2.0
// Sets the MAC address of an interface that may be a VF.
//
// Why: igb refuses a VF's own change of its address once the PF has set one, even to that very address, unless the VF
// is trusted (drivers/net/ethernet/intel/igb/igb_main.c, igb_set_vf_mac_addr; igbvf then returns EADDRNOTAVAIL). The
// address that the PF has set takes effect only at the next start of the VF's driver. So the VF is trusted for that
// moment. Other drivers accept the address immediately.
// Threading: one thread.
// Failure: the port's.
#pragma once

#include <functional>

#include "attach/host.h"

namespace railbed::attach {

// `link` is in `port`'s namespace. `before_trust` receives the VF's present trust before it is changed, so that it can
// be recorded.
Result<void> set_mac(Host& host, os::LinkPort& port, IfIndex link, const MacAddress& mac,
                     const std::optional<PciAddress>& pf, const std::optional<VfIndex>& vf,
                     const std::function<Result<void>(bool trusted)>& before_trust);

}  // namespace railbed::attach

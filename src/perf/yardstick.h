// SPDX-License-Identifier: Apache-2.0
// The bandwidth that a path can carry: the reference for a measured one.
//
// Why: 40 Gb/s are excellent on one link and a tenth of another. The rates of the ports and their PCIe links are
// rdma/link_rate.h's; packet headers are subtracted here.
// Threading: pure.
// Failure: none; 0 where an end does not know its link.
// Sources: InfiniBand Architecture Specification 1.4, 5.2 (headers), annex A17 (RoCE v2).
#pragma once

#include "perf/measurement.h"

namespace railbed::perf {

// The payload that large RDMA writes between the two can carry; 0: unknown, since one end does not know its link.
double yardstick_gbps(const Endpoint& client, const Endpoint& server);

}  // namespace railbed::perf

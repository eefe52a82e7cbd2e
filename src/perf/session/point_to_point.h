// SPDX-License-Identifier: Apache-2.0
// The server's side of a bandwidth or latency test, over RDMA or over TCP.
//
// Threading: that of the session.
// Failure: as the channel and the links.
#pragma once

#include "perf/session/session.h"

namespace railbed::perf {

// Opened by an OpenTest (channel/message.h), which has the sequence.
Protocol point_to_point_protocol();

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// The outcome of a round, as a point of a result.
//
// Why: measurements with a railbed peer and with another program as the peer record the same.
// Threading: pure.
// Failure: none.
#pragma once

#include "perf/stream/traffic.h"

namespace railbed::perf {

BandwidthPoint bandwidth_point(int64_t size_bytes, int64_t messages, double duration_s, ThroughputSeries series);
// What was really done to send.
void set_used(const StreamResult& sent, BandwidthPoint& point);
LatencyPoint latency_point(int64_t size_bytes, PingResult result);

}  // namespace railbed::perf

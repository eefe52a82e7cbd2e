// SPDX-License-Identifier: Apache-2.0
// What a round gave, as a point of a result.
//
// Why: whoever measures, with a railbed or with another program as the peer, says the same things about it. Threading:
// pure. Failure: none.
#pragma once

#include "perf/traffic.h"

namespace railbed::perf {

BandwidthPoint bandwidth_point(int64_t size_bytes, int64_t messages, double duration_s, ThroughputSeries series);
// What was really done to send.
void tell_used(const StreamResult& sent, BandwidthPoint& point);
LatencyPoint latency_point(int64_t size_bytes, PingResult result);

}  // namespace railbed::perf

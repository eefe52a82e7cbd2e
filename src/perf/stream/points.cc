// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/points.h"

namespace railbed::perf {

BandwidthPoint bandwidth_point(int64_t size_bytes, int64_t messages, double duration_s, ThroughputSeries series) {
  BandwidthPoint point{.size_bytes = size_bytes,
                       .messages = messages,
                       .duration_s = duration_s,
                       .series = std::move(series),
                       .reverse_average_gbps = {},
                       .reverse_series = {}};
  if (duration_s > 0) {
    point.message_rate_per_s = static_cast<double>(messages) / duration_s;
    point.average_gbps = 8e-9 * static_cast<double>(size_bytes) * point.message_rate_per_s;
  }
  return point;
}

void set_used(const StreamResult& sent, BandwidthPoint& point) {
  point.used_tx_depth = sent.pacing.depth;
  point.used_post_batch = sent.pacing.batch;
  point.used_inline = sent.sent_inline;
}

LatencyPoint latency_point(int64_t size_bytes, PingResult result) {
  return {.size_bytes = size_bytes,
          .duration_s = static_cast<double>(result.duration_ns) / 1e9,
          .histogram = result.meter.histogram(),
          .slots = result.meter.slots(),
          .outages = result.meter.outages(),
          .used_inline = result.sent_inline,
          .lost_messages = result.lost};
}

}  // namespace railbed::perf

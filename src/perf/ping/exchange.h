// SPDX-License-Identifier: Apache-2.0
// One ping, from each end (rping_wire.h has the order), with its times and verified data.
//
// Threading: that of the connection.
// Failure: a sentence for the phase that failed; for corrupted data with its position.
#pragma once

#include <optional>

#include "perf/ping/opening.h"

namespace railbed::perf {

struct PingTimes {
  // Of the mover: its message there, and the peer's program's answer. Of the source there is none: its answers come
  // with the peer's READ or WRITE.
  std::optional<uint64_t> message_ns;
  uint64_t read_ns = 0;
  uint64_t write_ns = 0;
};

// This end's data are read, and come back. READ and WRITE are the peer's, with a message each way.
Result<PingTimes> ping_as_source(PingConnection& connection, uint64_t number, uint32_t size_bytes);

// What the mover knows of the source: railbed's data are known, and so is their size; rping's are not.
struct KnownSource {
  uint32_t size_bytes = 0;
};
// Reads the peer's data and writes them back. Nothing where the peer ended the connection before it began another ping.
Result<std::optional<PingTimes>> ping_as_mover(PingConnection& connection, uint64_t number,
                                               const std::optional<KnownSource>& known);

}  // namespace railbed::perf

// SPDX-License-Identifier: Apache-2.0
// What the two ends of a queue pair have to agree on: partition, MTU, and how packets are addressed.
//
// Why: every kind of link needs the same, and two incompatible ends get an error before the first packet is lost.
// Threading: any.
// Failure: Code::kInvalid if the partition keys do not match.
#pragma once

#include "perf/link_address.h"
#include "perf/stream/device.h"
#include "perf/stream/verbs.h"

namespace railbed::perf {

// Fills in what both ends together give; leaves alone what only this end decides, and queue pairs and their sequences.
Result<void> agree_on_path(const Device& device, const RdmaAddress& remote, QueuePairPath& path);

}  // namespace railbed::perf

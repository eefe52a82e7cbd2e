// SPDX-License-Identifier: Apache-2.0
// Pause frames, as drivers of network interfaces count them.
//
// Why: on lossless Ethernet a congested port requests a pause from its neighbour (IEEE 802.3x), for one priority (PFC,
// 802.1Qbb) or all. Then a rail is slow although nothing is lost, and no RDMA counter shows why. Drivers name these
// counters differently; some include a priority's frames in the total, some do not: of all counters of one direction
// the largest is used, so a value may be too low, never too high. If a driver has none there is no value, which is not
// 0: virtual functions and software interfaces have none.
// Threading: pure, except for read_pause_counters().
// Failure: none; what cannot be read is absent.
// Source: `ethtool -S` of mlx5, mlx4, bnxt_en, ice, i40e, igb, ixgbe, qede, cxgb4 and hns3.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/ports/link_statistics.h"
#include "rdma/port_counters.h"

namespace railbed::rdma {

enum class PauseDirection : uint8_t { kSent, kReceived };

// Whether a driver's counter is about pause frames: how many, how long, how often they began.
bool is_about_pauses(std::string_view name);
// All such counters of an interface, by the driver's names. `interfaces` may be null.
PortCounters read_pause_counters(os::LinkStatistics* interfaces, const std::string& interface);

// Whether there are counters of which a figure can be made.
bool counts_pauses(const PortCounters& counters);
// What came between two readings. Absent where nothing counts them, or a counter went back meanwhile.
std::optional<int64_t> pause_frames(const PortCounters& before, const PortCounters& after, PauseDirection direction);
// The same of counters that moved (port_counters.h), by a driver that counts them.
int64_t pause_frames(const PortCounters& moved, PauseDirection direction);

}  // namespace railbed::rdma

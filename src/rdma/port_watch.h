// SPDX-License-Identifier: Apache-2.0
// The counters of RDMA ports per interval, while a job runs: `railbed perf watch`.
//
// Why: whether a job's bytes use RDMA, which rails, and what is retransmitted or slowed down on the way is in the
// ports' counters, under names that differ by driver. A value is computed from those that a driver has; without any of
// them it is absent, which is not 0. A counter that went back (it wrapped, was reset, or its device was re-created) or
// is at the end of its 32 bits is not meaningful for the interval: its value is absent, too.
// Threading: one thread.
// Failure: of start() alone; a device that disappears is reported afterwards, and watched again when it is back.
// Source: Documentation/ABI/stable/sysfs-class-infiniband; hw_counters of mlx5, bnxt_re, irdma and rxe; pause frames as
// in pause_counters.h.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdma/port.h"
#include "rdma/port_counters.h"

namespace railbed::rdma {

// In the order of columns.
enum class PortFigure : uint8_t {
  kSentBytes,
  kReceivedBytes,
  kSentPackets,
  kReceivedPackets,
  kRetransmits,
  kOutOfSequence,
  kCnpsSent,
  kCnpsHandled,
  kEcnMarked,
  kDiscards,
  kWaits,
  kPausesSent,
  kPausesReceived,
};
inline constexpr size_t kPortFigures = 13;
std::string_view name_of(PortFigure figure);  // "sent_bytes"

enum class PortState : uint8_t { kThere, kGone, kCameBack };
std::string_view name_of(PortState state);

struct PortInterval {
  Port port;
  PortState state = PortState::kThere;
  double interval_s = 0;
  std::array<std::optional<int64_t>, kPortFigures> figures;  // of a port that was there all the time
  PortCounters counters;                                     // all that moved, by the driver's names
  std::optional<int64_t> operator[](PortFigure figure) const { return figures[static_cast<size_t>(figure)]; }
};

class PortWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // `wanted`: "mlx5_0" or "mlx5_0:2"; none: all ports of this machine. `files` and `interfaces`, which may be null,
  // outlive the watch.
  static Result<PortWatch> start(const os::FileTree& files, os::LinkStatistics* interfaces,
                                 const std::vector<std::string>& wanted, Time now);
  // What was counted since the last call, one per port in the order of names.
  std::vector<PortInterval> look(Time now);

 private:
  struct Watched {
    Port port;
    std::optional<PortCounters> before;  // absent while the device is gone
  };
  PortWatch(const os::FileTree& files, os::LinkStatistics* interfaces) : files_(files), interfaces_(interfaces) {}
  PortCounters read(const Port& port) const;

  const os::FileTree& files_;
  os::LinkStatistics* interfaces_;
  std::vector<Watched> ports_;
  Time last_;
};

// The figures of an interval, pure.
std::array<std::optional<int64_t>, kPortFigures> figures_of(const PortCounters& before, const PortCounters& after);

}  // namespace railbed::rdma

// SPDX-License-Identifier: Apache-2.0
// Admission control for measurements: one at a time per device, within the server's limits for memory and streams.
//
// Why: two measurements on one device halve each other's results, without any indication; sixteen of the largest size
// fill the memory of a node that has other work. Later clients are queued, in order, and notified of it.
// Threading: any thread; take() blocks.
// Failure: kExhausted if a need exceeds the whole budget, kTimeout after `patience`, and the error that `meanwhile`
// returns.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>

#include "base/error.h"
#include "perf/clock.h"

namespace railbed::perf {

struct TurnNeed {
  std::string device;  // the network interface, or the RDMA device where it has none
  int64_t memory_bytes = 0;
  int64_t streams = 0;  // TCP: a thread and a file descriptor each
};

class Turns {
 public:
  struct Budget {
    int64_t memory_bytes = int64_t{4} << 30;
    int64_t streams = 1024;
  };
  // `clock` outlives it.
  explicit Turns(const Budget& budget, Clock& clock = real_clock()) : budget_(budget), clock_(clock) {}

  // Ends with its destruction. `Turns` outlives it.
  class Turn;

  // Calls `meanwhile` with the number of those ahead, at once and then each `interval`, while it is not this one's
  // turn.
  using Meanwhile = std::function<Result<void>(int64_t ahead, const std::string& reason)>;
  Result<Turn> take(const TurnNeed& need, std::chrono::milliseconds patience, std::chrono::milliseconds interval,
                    const Meanwhile& meanwhile);

 private:
  struct Ticket {
    TurnNeed need;
    bool running = false;
  };
  using Place = std::list<Ticket>::iterator;
  // Why it is not this ticket's turn; "" when it is. Under the mutex.
  std::string obstacle(Place place, int64_t& ahead) const;
  void leave(Place place);

  const Budget budget_;
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Ticket> tickets_;  // in the order of arrival, running ones included
};

class Turns::Turn {
 public:
  Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), place_(other.place_) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (turns_ != nullptr) turns_->leave(place_);
  }

 private:
  friend class Turns;
  Turn(Turns& turns, Place place) : turns_(&turns), place_(place) {}
  Turns* turns_;
  Place place_;
};

}  // namespace railbed::perf

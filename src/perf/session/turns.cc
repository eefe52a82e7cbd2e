// SPDX-License-Identifier: Apache-2.0
#include "perf/session/turns.h"

#include "perf/deadline.h"

namespace railbed::perf {

// A ticket runs when no ticket before it is on its device, and when what is running leaves enough for it and for all
// who have waited longer: a large test is not overtaken forever by small ones.
std::string Turns::obstacle(Place place, int64_t& ahead) const {
  ahead = 0;
  int64_t memory_bytes = place->need.memory_bytes;
  int64_t streams = place->need.streams;
  bool on_device = false;
  bool before = true;  // those behind count only where they run already
  for (const Ticket& other : tickets_) {
    if (&other == &*place) {
      before = false;
      continue;
    }
    if (!before && !other.running) continue;
    memory_bytes += other.need.memory_bytes;
    streams += other.need.streams;
    if (!before) continue;
    ++ahead;
    on_device = on_device || other.need.device == place->need.device;
  }
  if (on_device) return fmt::format("another measurement is on {}", place->need.device);
  if (memory_bytes > budget_.memory_bytes || streams > budget_.streams)
    return "other measurements have the server's memory or streams";
  return "";
}

void Turns::leave(Place place) {
  const std::lock_guard lock(mutex_);
  tickets_.erase(place);
  changed_.notify_all();
}

Result<Turns::Turn> Turns::take(const TurnNeed& need, std::chrono::milliseconds patience,
                                std::chrono::milliseconds interval, const Meanwhile& meanwhile) {
  if (need.memory_bytes > budget_.memory_bytes || need.streams > budget_.streams)
    return fail(Error{
        .code = Code::kExhausted,
        .message = fmt::format("this test needs {} MiB of memory and {} streams of the server, which gives "
                               "at most {} MiB and {} streams",
                               need.memory_bytes >> 20, need.streams, budget_.memory_bytes >> 20, budget_.streams),
        .hint = "lower --size, --max-size or --qps"});
  const Deadline deadline = Deadline::after(patience, clock_);
  std::unique_lock lock(mutex_);
  const Place place = tickets_.insert(tickets_.end(), {.need = need});
  Turn turn(*this, place);  // leaves the queue, too, when the wait fails
  for (;;) {
    int64_t ahead = 0;
    const std::string reason = obstacle(place, ahead);
    if (reason.empty()) {
      place->running = true;
      return turn;
    }
    lock.unlock();
    TRY(meanwhile(ahead, reason));
    if (deadline.passed()) return fail(Code::kTimeout, "still queued after {} ms: {}", patience.count(), reason);
    lock.lock();
    (void)clock_.wait(lock, changed_, clock_.now() + interval, {}, [&] { return obstacle(place, ahead).empty(); });
  }
}

}  // namespace railbed::perf

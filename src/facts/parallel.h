// SPDX-License-Identifier: Apache-2.0
// Reads many items of one kind with several threads.
//
// Why: a node can have a thousand VFs, and a driver often answers a sysfs read by querying the firmware: while one
// thread waits, others can query.
// Threading: `read(attributes, i)` runs once for each i below `count`, on some thread, with that thread's own
// attributes; it must write only what belongs to i. A few items are read on the calling thread.
// Failure: problems arrive in `attributes` in the order of i.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include "facts/attributes.h"

namespace railbed::facts {

template <typename Read>
void read_each(Attributes& attributes, size_t count, const Read& read) {
  constexpr size_t kWorthAThread = 64;
  size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 8);
  threads = std::min(threads, std::max<size_t>(count / kWorthAThread, 1));
  if (threads == 1) {
    for (size_t i = 0; i < count; ++i) read(attributes, i);
    return;
  }
  std::vector<std::vector<std::string>> problems(threads);
  {
    std::vector<std::jthread> running;
    for (size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        Attributes own = attributes.with_problems(problems[t]);
        for (size_t i = count * t / threads; i < count * (t + 1) / threads; ++i) read(own, i);
      });
  }
  for (std::vector<std::string>& lines : problems)
    for (std::string& line : lines) attributes.note(std::move(line));
}

}  // namespace railbed::facts

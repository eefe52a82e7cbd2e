// SPDX-License-Identifier: Apache-2.0
#include "agent/door/last_moment.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace railbed::agent {

LastMoment::LastMoment(std::stop_token asked, std::chrono::milliseconds after, std::function<void()> end)
    : thread_([asked = std::move(asked), after, end = std::move(end)](const std::stop_token& over) {
        std::mutex mutex;
        std::condition_variable_any changed;
        const std::stop_callback wake(asked, [&] {
          std::lock_guard lock(mutex);
          changed.notify_all();
        });
        std::unique_lock lock(mutex);
        if (!changed.wait(lock, over, [&] { return asked.stop_requested(); })) return;
        changed.wait_for(lock, over, after, [] { return false; });
        if (!over.stop_requested()) end();
      }) {}

}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// An RDMA device that has done everything the moment it is asked: what is measured with it is the loop's own cost.
//
// It takes the place of libibverbs as the tests' provider does (perf/stream/fake_verbs.h), without its checks and
// locks.
// Threading: one thread; LateAnswers has one of its own, for one message at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace railbed::perf {

struct IdealDevice {
  bool answers = false;  // a message comes back at once: into the sender's own memory, or to its own receives
  uint64_t endless = 0;  // arrivals that are still to come by themselves, a full poll at a time
  uint32_t arrived_bytes = 0;
};
IdealDevice& ideal();

// While it lives, every signalled message is complete only after `after`, as with a network between, and a thread that
// sleeps on the completion channel is woken. Its thread, which is the device, does not sleep.
class LateAnswers {
 public:
  explicit LateAnswers(std::chrono::nanoseconds after);
  ~LateAnswers();
  LateAnswers(const LateAnswers&) = delete;
  LateAnswers& operator=(const LateAnswers&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace railbed::perf

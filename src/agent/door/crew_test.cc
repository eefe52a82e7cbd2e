// SPDX-License-Identifier: Apache-2.0
#include "agent/door/crew.h"

#include <cstdio>
#include <cstdlib>
#include <future>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace railbed::agent {
namespace {

// No more threads or processes for this process and user; root has no such limit.
void forbid_threads() {
  const rlimit none = {};
  if (::setrlimit(RLIMIT_NPROC, &none) != 0 || (::getuid() == 0 && ::setuid(65534) != 0)) std::_Exit(3);
}

TEST(Crew, TellsThatNoThreadCanBeHadAndDoesTheWorkAllTheSame) {
  EXPECT_EXIT(
      {
        std::promise<void> all_done;
        std::promise<void> told_once;
        std::shared_future<void> told_future = told_once.get_future().share();
        std::atomic<int> done = 0;
        size_t told = 0;
        {
          Crew<int> crew(
              8,
              [&](int) {
                told_future.wait();  // the one thread that there is is stuck, so that another one is wanted
                if (++done == 5) all_done.set_value();
              },
              [&](size_t jobs, size_t threads) {
                if (jobs > 5 || threads != 1) std::_Exit(4);
                if (++told == 1) told_once.set_value();
              });
          forbid_threads();
          for (int i = 0; i < 5; ++i) crew.give(i);
          (void)crew.grow();
          all_done.get_future().wait();
        }
        std::_Exit(told > 0 ? 42 : 5);
      },
      testing::ExitedWithCode(42), "");
}

// Counted in looks and not in time: a busy machine makes fewer of them.
TEST(Crew, HasAThreadForEachOfAHundredThatHangAfterAFewLooks) {
  constexpr size_t kHung = 100;
  std::promise<void> free;
  std::shared_future<void> is_free = free.get_future().share();
  std::atomic<size_t> begun = 0;
  int looks = 0;
  {
    Crew<int> crew(256, [&](int) {
      ++begun;
      is_free.wait();
    });
    for (size_t i = 0; i < kHung; ++i) crew.give(0);
    while (const auto again = crew.grow()) {
      std::this_thread::sleep_until(*again);
      ++looks;
    }
    while (begun < kHung) std::this_thread::yield();
    free.set_value();
  }
  EXPECT_LE(looks, 42);  // 84 threads more than usual, 1, 2, 4, … at a time; one at a time takes 84
}

}  // namespace
}  // namespace railbed::agent

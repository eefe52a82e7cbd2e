// SPDX-License-Identifier: Apache-2.0
#include "agent/door/crew.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <semaphore>

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

TEST(Crew, ReportsThatNoThreadCanBeHadAndDoesTheWorkAnyway) {
  EXPECT_EXIT(
      {
        std::promise<void> all_done;
        std::promise<void> reported_once;
        std::shared_future<void> reported_future = reported_once.get_future().share();
        std::atomic<int> done = 0;
        size_t reported = 0;
        {
          Crew<int> crew(
              8,
              [&](int) {
                reported_future.wait();  // the one thread that there is is stuck, so that another one is wanted
                if (++done == 5) all_done.set_value();
              },
              [&](size_t jobs, size_t threads) {
                if (jobs > 5 || threads != 1) std::_Exit(4);
                if (++reported == 1) reported_once.set_value();
              });
          forbid_threads();
          for (int i = 0; i < 5; ++i) crew.give(i);
          (void)crew.grow();
          all_done.get_future().wait();
        }
        std::_Exit(reported > 0 ? 42 : 5);
      },
      testing::ExitedWithCode(42), "");
}

TEST(Crew, HasAThreadForEachOfAHundredThatHangAfterAFewLooks) {
  using Hundred = Crew<int>;
  std::promise<void> free;
  std::shared_future<void> is_free = free.get_future().share();
  std::counting_semaphore<> begun(0);
  std::atomic<Hundred::Time> now = Hundred::Time(std::chrono::hours(1));
  {
    Hundred crew(
        256,
        [&](int) {
          begun.release();
          is_free.wait();
        },
        {}, [&] { return now.load(); });
    for (int i = 0; i < 100; ++i) crew.give(0);
    const auto all_begin = [&](size_t jobs) {
      bool all = true;
      for (; all && jobs > 0; --jobs) all = begun.try_acquire_for(std::chrono::seconds(60));
      return all;
    };
    bool all = all_begin(Hundred::kUsual);
    for (const size_t more : {1, 2, 4, 8, 16, 32, 21}) {  // 84 more than usual
      EXPECT_EQ(crew.grow(), now.load() + Hundred::kStuck) << "it is too soon";
      EXPECT_FALSE(begun.try_acquire());
      now = now.load() + Hundred::kStuck;
      EXPECT_TRUE(crew.grow());
      all = all && all_begin(more);
    }
    EXPECT_TRUE(all);
    EXPECT_EQ(crew.grow(), std::nullopt) << "no job waits";
    free.set_value();
  }
}

}  // namespace
}  // namespace railbed::agent

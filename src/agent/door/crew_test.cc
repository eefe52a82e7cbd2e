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

}  // namespace
}  // namespace railbed::agent

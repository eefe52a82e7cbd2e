// SPDX-License-Identifier: Apache-2.0
#include "agent/door/last_moment.h"

#include <atomic>
#include <optional>

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

struct Counted {
  std::stop_source asked;
  std::atomic<int> ends{0};
  std::optional<LastMoment> last;
  void start(milliseconds after) {
    last.emplace(asked.get_token(), after, [this] {
      ++ends;
      ends.notify_all();
    });
  }
};

TEST(LastMoment, ComesOnceAfterAStopWasAskedFor) {
  Counted one;
  one.start(milliseconds(1));
  one.asked.request_stop();
  one.ends.wait(0);
  one.last.reset();
  EXPECT_EQ(one.ends, 1);
}

TEST(LastMoment, ComesWhereTheStopWasAskedForBefore) {
  Counted one;
  one.asked.request_stop();
  one.start(milliseconds(1));
  one.ends.wait(0);
}

TEST(LastMoment, DoesNotComeForWhoEndsInTime) {
  Counted one;
  one.start(hours(1));
  one.asked.request_stop();
  one.last.reset();
  EXPECT_EQ(one.ends, 0);
}

TEST(LastMoment, DoesNotComeUnasked) {
  Counted one;
  one.start(milliseconds(0));
  one.last.reset();
  EXPECT_EQ(one.ends, 0);
}

}  // namespace
}  // namespace railbed::agent

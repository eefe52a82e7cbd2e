// SPDX-License-Identifier: Apache-2.0
// A process that may open no descriptor cannot reach a netlink family, and gets the call that failed.
#include "os/netlink/real_questions.h"

#include <cerrno>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace railbed::os {
namespace {

TEST(RealQuestions, SayWhichCallCouldNotReachAFamily) {
  // The sanitizer of undefined behaviour looks at an object with the help of a pipe when it meets its type first.
  (void)real_questions()->reach(NetlinkFamily::kRdma);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto questions = real_questions();
  const Result<void> reached = questions->reach(NetlinkFamily::kDevlink);
  const auto answer =
      questions->ask(NetlinkQuestion({NetlinkFamily::kDevlink, DEVLINK_CMD_GET}, "all", NetlinkQuestion::Of::kAll));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_FALSE(reached.has_value());
  if (reached.error().sys_errno == EPROTONOSUPPORT) GTEST_SKIP() << "this kernel has no generic netlink";
  EXPECT_EQ(reached.error().message, "socket NETLINK_GENERIC: EMFILE (Too many open files)");
  EXPECT_EQ(reached.error().code, Code::kExhausted);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error(), reached.error());

  // A new port, with descriptors: the family is there, or this kernel lacks it.
  const Result<void> again = real_questions()->reach(NetlinkFamily::kDevlink);
  EXPECT_TRUE(again.has_value() || again.error().code == Code::kUnsupported) << again.error().to_string();
}

}  // namespace
}  // namespace railbed::os

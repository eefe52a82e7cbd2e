// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace railbed {
namespace {

Result<int> positive(int number) {
  if (number <= 0) return fail(Code::kInvalid, "{} is not positive", number);
  return number;
}

Result<int> doubled(int number) {
  int value = TRY(positive(number).context("doubling {}", number).hint("give a larger number"));
  return value * 2;
}

Result<void> outer(int number) {
  TRY(doubled(number).context("outer").hint("never seen"));
  return {};
}

TEST(Error, ReportsItsStoryOutermostFirstAndTheHintBelow) {
  EXPECT_EQ(*doubled(4), 8);
  EXPECT_EQ(outer(-3).error().to_string(), "outer: doubling -3: -3 is not positive\n  give a larger number");
  EXPECT_TRUE(outer(3).has_value());
}

TEST(Error, SystemErrorsNameTheErrnoAndMapToACode) {
  Error error = system_error(EBUSY, "write /sys/x");
  EXPECT_EQ(error.to_string(), "write /sys/x: EBUSY (Device or resource busy)");
  EXPECT_EQ(error.code, Code::kBusy);
  EXPECT_EQ(error.sys_errno, EBUSY);
  EXPECT_EQ(system_error(EPERM, "x").code, Code::kDenied);
  EXPECT_EQ(errno_name(4711), "errno 4711");
  EXPECT_EQ(system_error(524, "write /sys/x").to_string(), "write /sys/x: errno 524 (unknown error number)");
}

TEST(Error, EveryErrnoHasItsCodeAndEveryCodeItsName) {
  struct Row {
    Code code;
    const char* name;
    std::vector<int> numbers;
  };
  const Row rows[] = {
      {Code::kNotFound, "not found", {ENOENT, ENODEV, ENXIO, ESRCH, EADDRNOTAVAIL}},
      {Code::kInvalid, "invalid", {EINVAL, ERANGE, E2BIG, ENAMETOOLONG, ENOTDIR, EISDIR}},
      {Code::kConflict, "conflict", {EEXIST, EADDRINUSE}},
      {Code::kBusy, "busy", {EBUSY, EAGAIN, ETXTBSY}},
      {Code::kDenied, "denied", {EPERM, EACCES, EROFS}},
      {Code::kExhausted, "exhausted", {ENOMEM, ENOSPC, EMFILE, ENFILE, ENOBUFS}},
      {Code::kTimeout, "timeout", {ETIMEDOUT, ETIME}},
      {Code::kCanceled, "canceled", {ECANCELED, EINTR}},
      {Code::kUnsupported, "unsupported", {EOPNOTSUPP, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT}},
      {Code::kIo, "input/output", {EIO, EPIPE, 4711}},
      {Code::kInternal, "internal", {}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(code_name(row.code), row.name);
    for (const int number : row.numbers) EXPECT_EQ(system_error(number, "x").code, row.code) << errno_name(number);
  }
}

}  // namespace
}  // namespace railbed

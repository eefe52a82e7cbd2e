// SPDX-License-Identifier: Apache-2.0
#include "agent/door/kept_pages.h"

#include <gtest/gtest.h>

#include "agent/door/endpoint.h"
#include "base/format.h"

namespace railbed::agent {
namespace {

// As in an upgrade: the agent before still has the port.
TEST(KeptPages, AreServedWhenThePortIsFreeAtLast) {
  Metrics metrics;
  auto before = serve_metrics(metrics, "127.0.0.1:0");
  ASSERT_TRUE(before.has_value()) << before.error().story();
  const std::string address = fmt::format("127.0.0.1:{}", (*before)->port());
  Events events;
  KeptPages pages(metrics, events, address, {});
  for (uint64_t tried = 1; tried <= 2; ++tried) {
    const auto refused = pages.keep();
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().sys_errno, EADDRINUSE);
    ASSERT_EQ(events.all().size(), 1U) << "one trouble, however often it is tried";
    EXPECT_EQ(events.all()[0].about, address);
    EXPECT_EQ(events.all()[0].count, tried);
  }
  before->reset();
  const auto served = pages.keep();
  ASSERT_TRUE(served.has_value()) << served.error().story();
  EXPECT_EQ(*served, KeptPages::Kept::kNow);
  EXPECT_TRUE(events.all().empty()) << "it is over";
  EXPECT_EQ(pages.keep().value(), KeptPages::Kept::kAlready);
  EXPECT_FALSE(serve_metrics(metrics, address).has_value()) << "somebody listens there";
}

TEST(KeptPages, AWrongAddressIsTheCallersMistake) {
  Metrics metrics;
  Events events;
  const auto refused = KeptPages(metrics, events, "nowhere:1", {}).keep();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_TRUE(events.all().empty());
}

}  // namespace
}  // namespace railbed::agent

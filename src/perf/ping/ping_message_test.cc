// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/ping_message.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "perf/channel/message.h"
#include "perf/channel/test_message_limits.h"

namespace railbed::perf {
namespace {

std::vector<PingMessage> one_of_each_ping() {
  return {OpenPing{.size_bytes = 65536}, PingOffer{.port = 40000, .cookie = UINT64_MAX}};
}

TEST(PingMessage, ComesBackAsItWas) {
  for (const PingMessage& message : one_of_each_ping()) {
    const std::string body = encode(message);
    const auto back = decode<PingMessage>(body);
    ASSERT_TRUE(back) << body << back.error().to_string();
    EXPECT_EQ(encode(*back), body);
  }
  EXPECT_EQ(encode(PingOffer{.port = 1, .cookie = 15}), R"({"type":"ping-offer","port":1,"cookie":"0xf"})");
  EXPECT_EQ(refusal_by<PingMessage>(encode(CloseTest{})),
            R"(the peer sent "close-test" where one of "open-ping", "ping-offer" was due)");
}

// What each field of each message may be. RAILBED_UPDATE=1 rewrites it.
TEST(PingMessage, EveryFieldHasItsLimits) {
  expect_golden(testdata() / "perf/ping_message.limits", limits_of_messages(one_of_each_ping()));
}

}  // namespace
}  // namespace railbed::perf

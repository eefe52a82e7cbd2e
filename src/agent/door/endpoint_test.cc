// SPDX-License-Identifier: Apache-2.0
#include "agent/door/endpoint.h"

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

TEST(Metrics, SayWhyTheyCannotBeServedThere) {
  Metrics metrics;
  const auto taken = serve_metrics(metrics, "127.0.0.1:0");
  ASSERT_TRUE(taken.has_value()) << taken.error().to_string();
  const std::string form = "\n  use ADDRESS:PORT, as in 127.0.0.1:9470 or [::1]:9470, or off";
  const std::pair<std::string, std::string> cases[] = {
      {"9470", "\"9470\" has no port" + form},
      {"localhost:9470", "\"localhost\" is not an IP address" + form},
      {"::1:9470", "\"::1\" is not an IP address" + form},
      {"127.0.0.1:99999999", "\"99999999\" is not a port: a port is a number up to 65535" + form},
      {"127.0.0.1:http", "\"http\" is not a port: a port is a number up to 65535" + form},
      {"203.0.113.7:0",
       "bind: EADDRNOTAVAIL (Cannot assign requested address)\n  no interface of this machine has that "
       "address; 127.0.0.1 always works"},
      {fmt::format("127.0.0.1:{}", (*taken)->port()),
       fmt::format("bind: EADDRINUSE (Address already in use)\n"
                   "  `ss -ltnp sport = :{}` shows its process; use another port, or off",
                   (*taken)->port())}};
  for (const auto& [address, message] : cases) {
    auto refused = serve_metrics(metrics, address);
    ASSERT_FALSE(refused.has_value()) << address;
    EXPECT_EQ(refused.error().to_string(), fmt::format("--metrics {}: {}", address, message));
  }
}

}  // namespace
}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
#include "api/requested_addresses.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::api {
namespace {

IpamConfig config_of(const std::string& text) {
  doc::Diagnostics found;
  const auto block = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"a.json", text}), found);
  auto config = parse_ipam(block.value(), found);
  EXPECT_FALSE(found.has_errors()) << doc::render(found);
  return config.value_or(IpamConfig{});
}

std::string answer(const std::string& ipam, const std::vector<std::string>& requested) {
  const Result<void> given = can_give(config_of(ipam), "a/net", requested);
  return given ? "" : given.error().message;
}

TEST(RequestedAddresses, WhatABlockGives) {
  constexpr const char* kRange = R"({"type": "whereabouts", "range": "10.9.0.0/24", "exclude": ["10.9.0.8/30"]})";
  constexpr const char* kHost = R"({"type": "host-local", "subnet": "10.9.0.0/24"})";
  constexpr const char* kTwo =
      R"({"type": "whereabouts", "ipRanges": [{"range": "10.9.0.0/24"}, {"range": "fd00::/64"}]})";
  struct BlockCase {
    const char* ipam;
    std::vector<std::string> requested;
    const char* said;
  };
  const BlockCase cases[] = {
      {kRange, {}, ""},
      {kRange, {"10.9.0.7/24"}, ""},
      {kRange, {"10.9.0.7"}, ""},
      {kRange,
       {"10.9.0.7/16"},
       "network a/net: the requested address 10.9.0.7/16 has another prefix length than 10.9.0.0/24"},
      {kRange,
       {"10.9.0.9/24"},
       "network a/net: the requested address 10.9.0.9/24 cannot be given from 10.9.0.1-10.9.0.254 of 10.9.0.0/24 with "
       "exclusions"},
      {kHost,
       {"10.9.0.1/24"},
       "network a/net: the requested address 10.9.0.1/24 cannot be given from 10.9.0.1-10.9.0.254 of 10.9.0.0/24"},
      {kTwo, {"10.9.0.7/24", "fd00::7/64"}, ""},
      {kTwo,
       {"10.9.0.7/24", "10.9.0.8/24"},
       "network a/net: the requested address 10.9.0.8/24 cannot be given from 10.9.0.1-10.9.0.254 of 10.9.0.0/24; "
       "fd00::1-fd00::ffff:ffff:ffff:ffff of fd00::/64"},
      {R"({"type": "static"})", {"10.9.0.7/24"}, ""},
      {R"({"type": "static"})",
       {"10.9.0.7"},
       "network a/net: the requested address 10.9.0.7 needs a prefix length (10.9.0.7/24)"},
      {R"({"type": "static"})", {}, "network a/net: ipam type static has no addresses, and the pod asks for none"},
      {R"({"type": "static", "addresses": [{"address": "10.9.0.7/24"}]})", {}, ""},
      {"{}", {}, ""},
      {"{}",
       {"10.9.0.7/24"},
       "network a/net has no ipam block, so that the requested address 10.9.0.7/24 cannot be given"},
      {R"({"type": "dhcp"})", {"10.9.0.7/24"}, ""},
  };
  for (const BlockCase& one : cases) {
    const std::string said = answer(one.ipam, one.requested);
    EXPECT_EQ(said.substr(0, std::string_view(one.said).size()), one.said) << one.ipam;
    EXPECT_EQ(said.empty(), *one.said == '\0') << one.ipam << ": " << said;
  }
}

}  // namespace
}  // namespace railbed::api

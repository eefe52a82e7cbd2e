// SPDX-License-Identifier: Apache-2.0
#include "api/ipam.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::api {
namespace {

struct Parsed {
  std::optional<IpamConfig> config;
  std::string messages;
};

Parsed parse(const std::string& text) {
  doc::Diagnostics diagnostics;
  const auto source = std::make_shared<const doc::Source>(doc::Source{"ipam", text});
  const auto json = doc::parse_json(source, diagnostics);
  EXPECT_TRUE(json) << render(diagnostics);
  auto config = parse_ipam(json.value_or(doc::Value()), diagnostics);
  return {std::move(config), render(diagnostics)};
}

// "first-last of subnet gw gateway not excluded,…", ranges of a set with |, sets with ;
std::string ranges(const std::string& text) {
  const Parsed parsed = parse(text);
  if (!parsed.config) return parsed.messages;
  std::string out;
  for (const auto& set : parsed.config->range_sets) {
    if (!out.empty()) out += "; ";
    for (size_t i = 0; i < set.size(); ++i) {
      if (i > 0) out += " | ";
      out += fmt::format("{}-{} of {}", set[i].addresses.first, set[i].addresses.last, set[i].subnet);
      if (set[i].gateway) out += fmt::format(" gw {}", *set[i].gateway);
      for (const IpPrefix& excluded : set[i].excluded) out += fmt::format(" not {}", excluded);
    }
  }
  return out;
}

TEST(Ipam, HostLocalHandsOutWhatTheReferencePluginDoes) {
  EXPECT_EQ(ranges(R"({"type":"host-local","subnet":"10.0.0.0/24"})"),
            "10.0.0.1-10.0.0.254 of 10.0.0.0/24 gw 10.0.0.1 not 10.0.0.1/32");
  EXPECT_EQ(ranges(R"({"type":"host-local","subnet":"10.0.0.0/24","rangeStart":"10.0.0.10",
                       "rangeEnd":"10.0.0.20","gateway":"10.0.0.254"})"),
            "10.0.0.10-10.0.0.20 of 10.0.0.0/24 gw 10.0.0.254");
  EXPECT_EQ(ranges(R"({"type":"host-local","ranges":[[{"subnet":"10.0.0.0/30"},{"subnet":"10.0.1.0/24"}],
                       [{"subnet":"fd00::/64"}]]})"),
            "10.0.0.1-10.0.0.2 of 10.0.0.0/30 gw 10.0.0.1 not 10.0.0.1/32 | "
            "10.0.1.1-10.0.1.254 of 10.0.1.0/24 gw 10.0.1.1 not 10.0.1.1/32; "
            "fd00::1-fd00::ffff:ffff:ffff:ffff of fd00::/64 gw fd00::1 not fd00::1/128");
}

TEST(Ipam, WhereaboutsHandsOutItsRangesAndNeverTheGateway) {
  EXPECT_EQ(ranges(R"({"type":"whereabouts","range":"192.168.2.225/28"})"),
            "192.168.2.225-192.168.2.238 of 192.168.2.224/28");
  EXPECT_EQ(ranges(R"({"type":"whereabouts","range":"10.0.0.5-10.0.0.9/24","gateway":"10.0.0.7",
                       "exclude":["10.0.0.8/32","10.0.0.6"]})"),
            "10.0.0.5-10.0.0.9 of 10.0.0.0/24 gw 10.0.0.7 not 10.0.0.7/32 not 10.0.0.8/32 not 10.0.0.6/32");
  EXPECT_EQ(ranges(R"({"type":"whereabouts","gateway":"10.0.0.1","ipRanges":[
                       {"range":"10.0.0.0/24","range_start":"10.0.0.50","exclude":["10.0.0.64/28"]},
                       {"range":"fd00::/120","range_end":"fd00::5"}]})"),
            "10.0.0.50-10.0.0.254 of 10.0.0.0/24 gw 10.0.0.1 not 10.0.0.64/28; fd00::1-fd00::5 of fd00::/120");
}

TEST(Ipam, StaticAddressesRoutesAndNames) {
  const Parsed parsed = parse(R"({"type":"static","addresses":[{"address":"10.0.0.5/24","gateway":"10.0.0.1"}],
      "routes":[{"dst":"10.9.0.0/16","gw":"10.0.0.1","mtu":9000,"priority":100,"table":7},{"dst":"0.0.0.0/0"}],
      "dns":{"nameservers":["10.0.0.53"]}})");
  ASSERT_TRUE(parsed.config) << parsed.messages;
  EXPECT_EQ(parsed.messages, "");
  ASSERT_EQ(parsed.config->fixed.size(), 1u);
  EXPECT_EQ(parsed.config->fixed[0].address.to_string(), "10.0.0.5/24");
  EXPECT_EQ(parsed.config->fixed[0].gateway->to_string(), "10.0.0.1");
  ASSERT_EQ(parsed.config->routes.size(), 2u);
  EXPECT_EQ(parsed.config->routes[0].metric, 100);
  EXPECT_EQ(parsed.config->routes[0].table, 7);
  EXPECT_FALSE(parsed.config->routes[1].gateway);
  EXPECT_EQ(parse("{}").config->type, IpamType::kNone);
  EXPECT_EQ(parse(R"({"type":"dhcp"})").config->type, IpamType::kDhcp);
  EXPECT_EQ(parse(R"({"type":"whereabouts","range":"10.0.0.0/24","network_name":"a"})").config->network_name, "a");
}

TEST(Ipam, EveryMistakeIsReported) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"whereabout","range":"10.0.0.0/24"})",
       "error: ipam type \"whereabout\" is not built into railbed (host-local, static, whereabouts, dhcp) "
       "[RB-IPAM-001]"},
      {R"({"range":"10.0.0.0/24"})", "error: ipam.type is missing [RB-IPAM-006]"},
      {R"([])", "error: ipam must be an object (keys with values), found a list [RB-IPAM-004]"},
      {R"({"type":"host-local"})", "error: ipam needs \"subnet\" or \"ranges\" [RB-IPAM-006]"},
      {R"({"type":"whereabouts"})", "error: ipam needs \"range\" or \"ipRanges\" [RB-IPAM-006]"},
      {R"({"type":"host-local","subnet":"10.0.0.5/24"})",
       "error: ipam.subnet: 10.0.0.5/24 is not the address of a network [RB-IPAM-005]"},
      {R"({"type":"host-local","subnet":"10.0.0.0"})",
       "error: ipam.subnet: \"10.0.0.0\" has no prefix length (a prefix looks like 10.0.0.0/24) [RB-IPAM-005]"},
      {R"({"type":"host-local","subnet":"10.0.0.0/24","rangeStart":"10.0.1.1"})",
       "error: ipam.rangeStart: 10.0.1.1 lies outside of 10.0.0.0/24 [RB-IPAM-005]"},
      {R"({"type":"whereabouts","range":"10.0.0.0/24","range_start":"10.0.0.9","range_end":"10.0.0.3"})",
       "error: ipam.range: the range ends at 10.0.0.3, before it begins at 10.0.0.9 [RB-IPAM-005]"},
      {R"({"type":"whereabouts","range":"10.0.0.0/24","gateway":"10.0.0.1/24"})",
       "error: ipam.gateway: \"10.0.0.1/24\" is not an IP address [RB-IPAM-005]"},
      {R"({"type":"whereabouts","range":"100.0.0.0/1"})",
       "error: ipam.range: /1 makes 1/2 of all IPv4 addresses neighbours of the pod; traffic to the cluster and the "
       "internet would go into this network [RB-IPAM-007]"},
      {R"({"type":"whereabouts","range":"10.0.0.0/24","exclude":["10.1.0.0/24"]})",
       "warning: ipam.exclude: 10.1.0.0/24 does not touch 10.0.0.0/24 [RB-IPAM-005]"},
      {R"({"type":"whereabouts","range":"10.0.0.0/24","rangeStart":"10.0.0.3"})",
       "warning: 'rangeStart' is not a field of ipam; it has no effect [RB-IPAM-002]"},
      {R"({"type":"whereabouts","ranges":[]})",
       "error: ipam needs \"range\" or \"ipRanges\"; 'ranges' is not a field here [RB-IPAM-006]"},
      {R"({"type":"host-local","ranges":[]})", "error: ipam needs \"subnet\" or \"ranges\" [RB-IPAM-006]"},
      {R"({"type":"host-local","ranges":[[]]})", "error: ipam needs \"subnet\" or \"ranges\" [RB-IPAM-006]"},
      {R"({"type":"whereabouts","addresses":[]})", "error: ipam needs \"range\" or \"ipRanges\" [RB-IPAM-006]"},
      {R"({"type":"host-local","ranges":[{"subnet":"10.0.0.0/24"}]})",
       "error: ipam.ranges must be a list of lists of ranges [RB-IPAM-004]"},
      {R"({"type":"static","addresses":[{"address":"10.0.0.5"}]})",
       "error: ipam.addresses.address: \"10.0.0.5\" has no prefix length (a prefix looks like "
       "10.0.0.0/24) [RB-IPAM-005]"},
      {R"({"type":"static","addresses":[{"address":"10.0.0.5/24","version":"4","gatway":"10.0.0.1"}]})",
       "warning: 'gatway' is not a field of ipam.addresses; it has no effect [RB-IPAM-002]"},
      {R"({"type":"dhcp","routes":[{"gw":"10.0.0.1"}]})", "error: ipam.routes.dst is missing [RB-IPAM-006]"},
      {R"({"type":"dhcp","routes":[{"dst":"10.0.0.0/8","gw":"fd00::1"}]})",
       "error: ipam.routes: the gateway fd00::1 and the destination 10.0.0.0/8 are of two families [RB-IPAM-005]"},
      {R"({"type":"dhcp","routes":[{"dst":"10.0.0.0/8","metric":5}]})",
       "warning: 'metric' is called 'priority' in a CNI route; it has no effect here [RB-IPAM-003]"},
  };
  for (const auto& [text, expected] : cases) {
    const Parsed parsed = parse(text);
    const size_t severity = std::min(parsed.messages.find("error:"), parsed.messages.find("warning:"));
    ASSERT_NE(severity, std::string::npos) << text;
    EXPECT_EQ(parsed.messages.substr(severity, parsed.messages.find('\n') - severity), expected) << text;
    EXPECT_EQ(parsed.config.has_value(), std::string_view(expected).starts_with("warning")) << text;
  }
}

TEST(Ipam, AFixIsGivenWhereItIsKnown) {
  EXPECT_EQ(parse(R"({"type":"whereabouts","range":"100.0.0.0/1","range_start":"100.0.0.9","range_end":"100.0.0.99"})")
                .messages,
            "ipam:1:31: error: ipam.range: /1 makes 1/2 of all IPv4 addresses neighbours of the pod; traffic to "
            "the cluster and the internet would go into this network [RB-IPAM-007]\n"
            "     1 | "
            "{\"type\":\"whereabouts\",\"range\":\"100.0.0.0/"
            "1\",\"range_start\":\"100.0.0.9\",\"range_end\":\"100.0.0.99\"}\n"
            "       |                               ^~~~~~~~~~~~~\n"
            "  fix: \"range\": \"100.0.0.0/25\" holds the addresses that are asked for\n");
}

TEST(Ipam, AnUnknownTypeIsReportedWithTheNearestOne) {
  for (const auto& [type, fix] : {std::pair("whereabout", "did you mean \"whereabouts\"?"),
                                  {"hostlocal", "did you mean \"host-local\"?"},
                                  {"dchp", "did you mean \"dhcp\"?"},
                                  {"nv-ipam", ""},
                                  {"calico-ipam", ""}}) {
    doc::Diagnostics diagnostics;
    const auto source = std::make_shared<const doc::Source>(
        doc::Source{"ipam", fmt::format(R"({{"type":"{}","range":"10.0.0.0/24"}})", type)});
    EXPECT_FALSE(parse_ipam(*doc::parse_json(source, diagnostics), diagnostics)) << type;
    ASSERT_EQ(diagnostics.all().size(), 1u) << type;
    EXPECT_EQ(diagnostics.all()[0].fix, fix) << type;
  }
}

}  // namespace
}  // namespace railbed::api

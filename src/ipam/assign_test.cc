// SPDX-License-Identifier: Apache-2.0
#include "ipam/assign.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ipam/test_ranges.h"

namespace railbed::ipam {
namespace {

using api::IpamConfig;
using api::IpamRange;
using api::IpamType;

std::string shown_set(const Result<std::vector<Assigned>>& answer) {
  if (!answer.has_value()) return answer.error().to_string();
  std::string text;
  for (const Assigned& one : *answer) {
    if (!text.empty()) text += ' ';
    text += one.address.to_string();
    if (one.gateway.has_value()) text += fmt::format("@{}", *one.gateway);
    if (!one.pool.empty()) text += fmt::format("[{}]", one.pool);
  }
  return text;
}

struct AssignCase {
  const char* name;
  IpamConfig config;
  std::vector<state::AddressLease> leases;
  std::vector<std::string> requested;
  std::string expected;
};

std::vector<AssignCase> cases() {
  IpamConfig plain = whereabouts({{range("10.0.0.0/29")}});
  IpamConfig fenced = plain;
  fenced.range_sets[0][0].gateway = ip("10.0.0.1");
  fenced.range_sets[0][0].excluded = {prefix("10.0.0.2/31"), prefix("10.0.0.4/32")};
  IpamConfig named = plain;
  named.network_name = "rail0";
  IpamConfig two = whereabouts({{range("10.0.0.0/30"), range("10.0.1.0/30")}, {range("fd00::/64")}});
  IpamConfig pair = whereabouts({{range("10.0.0.0/31")}});
  IpamConfig fixed;
  fixed.type = IpamType::kStatic;
  fixed.fixed = {{prefix("10.1.0.5/24"), ip("10.1.0.1")}};
  IpamConfig fixed_none;
  fixed_none.type = IpamType::kStatic;
  IpamConfig both = plain;
  both.fixed = {{prefix("192.168.0.7/24"), std::nullopt}};
  IpamConfig local = plain;
  local.type = IpamType::kHostLocal;
  IpamConfig dhcp;
  dhcp.type = IpamType::kDhcp;
  IpamConfig routed = plain;
  routed.routes = {{.destination = prefix("0.0.0.0/0"), .gateway = ip("10.0.0.1")}};

  const state::AddressLease first{"whereabouts", ip("10.0.0.1"), "default/a", "net1"};
  const state::AddressLease mine{"whereabouts", ip("10.0.0.4"), "default/me", "net1"};
  const state::AddressLease foreign{"whereabouts:other", ip("10.0.0.1"), "default/a", "net1"};
  std::vector<state::AddressLease> full;
  for (int i = 1; i < 7; ++i)
    full.push_back({"whereabouts", *ip("10.0.0.0").plus(i), fmt::format("default/p{}", i), "net1"});

  return {
      {"the lowest, and never the network address", plain, {}, {}, "10.0.0.1/29[whereabouts]"},
      {"the next free one", plain, {first}, {}, "10.0.0.2/29[whereabouts]"},
      {"pools of other names do not count", plain, {foreign}, {}, "10.0.0.1/29[whereabouts]"},
      {"networks of one name share a pool", named, {}, {}, "10.0.0.1/29[whereabouts:rail0]"},
      {"its own is kept", plain, {first, mine}, {}, "10.0.0.4/29[whereabouts]"},
      {"exclusions and the gateway are left out", fenced, {}, {}, "10.0.0.5/29@10.0.0.1[whereabouts]"},
      {"a lease that is now excluded is not kept", fenced, {mine}, {}, "10.0.0.5/29@10.0.0.1[whereabouts]"},
      {"the gateway of a route is left out", routed, {}, {}, "10.0.0.2/29[whereabouts]"},
      {"one of each set", two, {}, {}, "10.0.0.1/30[whereabouts] fd00::1/64[whereabouts]"},
      {"the second range when the first is full",
       two,
       {first, {"whereabouts", ip("10.0.0.2"), "default/b", "net1"}},
       {},
       "10.0.1.1/30[whereabouts] fd00::1/64[whereabouts]"},
      {"both addresses of a /31", pair, {first}, {}, "10.0.0.0/31[whereabouts]"},
      {"host-local keeps one pool per network", local, {first}, {}, "10.0.0.1/29[host-local:default/rail]"},
      {"a requested one", plain, {first}, {"10.0.0.5"}, "10.0.0.5/29[whereabouts]"},
      {"a requested one of the second set",
       two,
       {},
       {"fd00::99/64"},
       "10.0.0.1/30[whereabouts] fd00::99/64[whereabouts]"},
      {"a requested one instead of its own", plain, {mine}, {"10.0.0.5"}, "10.0.0.5/29[whereabouts]"},
      {"static", fixed, {}, {}, "10.1.0.5/24@10.1.0.1"},
      {"static, requested", fixed, {}, {"10.1.0.9/24"}, "10.1.0.9/24@10.1.0.1"},
      {"fixed addresses beside a range", both, {}, {}, "10.0.0.1/29[whereabouts] 192.168.0.7/24"},
      {"no ipam", {}, {}, {}, ""},

      {"full",
       plain,
       full,
       {},
       "network default/rail has no address left in 10.0.0.0-10.0.0.7 of 10.0.0.0/29 (pool whereabouts): all 6 are in "
       "use: 10.0.0.1 default/p1 net1, 10.0.0.2 default/p2 net1, 10.0.0.3 default/p3 net1, 10.0.0.4 default/p4 net1 "
       "and 2 more\n"
       "  widen the range, or delete pods that hold addresses"},
      {"nothing to give",
       whereabouts({{{.subnet = prefix("10.0.0.0/30"),
                      .addresses = {ip("10.0.0.1"), ip("10.0.0.2")},
                      .excluded = {prefix("10.0.0.2/32")},
                      .gateway = ip("10.0.0.1")}}}),
       {},
       {},
       "network default/rail has no usable address: 10.0.0.1-10.0.0.2 of 10.0.0.0/30 with exclusions leaves none\n"
       "  network, broadcast, gateway and excluded addresses are never allocated; widen the range"},
      {"requested from somebody",
       plain,
       {first},
       {"10.0.0.1"},
       "network default/rail: the requested address 10.0.0.1 belongs to pod default/a, interface net1"},
      {"requested outside",
       plain,
       {},
       {"10.0.1.1"},
       "network default/rail: the requested address 10.0.1.1 cannot be given from 10.0.0.0-10.0.0.7 of 10.0.0.0/29\n  "
       "request an address in the range that is neither a gateway nor excluded, one per range set"},
      {"requested broadcast",
       plain,
       {},
       {"10.0.0.7"},
       "network default/rail: the requested address 10.0.0.7 cannot be given from 10.0.0.0-10.0.0.7 of 10.0.0.0/29\n  "
       "request an address in the range that is neither a gateway nor excluded, one per range set"},
      {"requested with another length",
       plain,
       {},
       {"10.0.0.1/24"},
       "network default/rail: the requested address 10.0.0.1/24 has another prefix length than 10.0.0.0/29"},
      {"requested nonsense",
       plain,
       {},
       {"ten"},
       "network default/rail: a requested address: \"ten\" is not an IP address"},
      {"static without length",
       fixed,
       {},
       {"10.1.0.9"},
       "network default/rail: the requested address 10.1.0.9 needs a prefix length (10.1.0.9/24)"},
      {"static without addresses",
       fixed_none,
       {},
       {},
       "network default/rail: ipam type static has no addresses, and the pod asks for none"},
      {"requested without ipam",
       {},
       {},
       {"10.0.0.1"},
       "network default/rail has no ipam block, so that the requested address 10.0.0.1 cannot be given\n"
       "  give the network an ipam block of type static"},
      {"dhcp",
       dhcp,
       {},
       {},
       "network default/rail: ipam type dhcp needs a lease client that outlives `railbed up`; it comes with the node "
       "agent\n  use whereabouts, host-local or static"},
  };
}

TEST(Assign, GivesWhatTheTableSays) {
  for (const AssignCase& one : cases())
    EXPECT_EQ(
        shown_set(assign(one.config, "default/rail", taken_by(one.leases), one.requested, {"default/me", "net1"})),
        one.expected)
        << one.name;
}

TEST(Assign, FindsTheEndOfAWideRangeAtOnce) {
  IpamRange wide = range("fd00::/64");
  wide.excluded = {prefix("fd00::/65")};
  EXPECT_EQ(shown_set(assign(whereabouts({{wide}}), "n", {}, {}, {"p", "net1"})), "fd00::8000:0:0:0/64[whereabouts]");
}

// Any ranges, exclusions and number of pods: no pod gets an address twice, outside or excluded; when one is
// refused, everything usable is held; and the same input gives the same answer.
RC_GTEST_PROP(PlanAddresses, HandsOutEveryUsableAddressOnce, ()) {
  int length = *rc::gen::inRange(24, 33);
  IpPrefix subnet{*ip("10.0.0.0").plus(*rc::gen::inRange(0, 256)), length};
  IpamRange one{.subnet = subnet, .addresses = {subnet.network(), subnet.last()}};
  int exclusions = *rc::gen::inRange(0, 4);
  for (int i = 0; i < exclusions; ++i)
    one.excluded.push_back({*subnet.network().plus(*rc::gen::inRange(0, 256)), *rc::gen::inRange(26, 33)});
  if (*rc::gen::arbitrary<bool>()) one.gateway = subnet.network().plus(*rc::gen::inRange(0, 4));

  std::set<IpAddress> usable;
  for (std::optional<IpAddress> a = subnet.network(); a.has_value() && subnet.contains(*a); a = a->plus(1)) {
    bool excluded = a == one.gateway;
    for (const IpPrefix& out : one.excluded) excluded = excluded || out.contains(*a);
    if (length < 31) excluded = excluded || *a == subnet.network() || *a == subnet.last();
    if (!excluded) usable.insert(*a);
  }

  std::vector<AddressClaim> claims;
  int pods = *rc::gen::inRange(0, 300);
  for (int i = 0; i < pods; ++i)
    claims.push_back({{fmt::format("default/p{}", i), "net1"}, "default/rail", whereabouts({{one}}), {}});
  auto answers = plan_addresses(claims, {});
  std::set<IpAddress> given;
  for (const auto& [owner, answer] : answers)
    if (answer.has_value()) RC_ASSERT(given.insert(answer->front().address.address).second);
  RC_ASSERT(given.size() == std::min(usable.size(), claims.size()));
  for (const IpAddress& address : given) RC_ASSERT(usable.contains(address));
  for (const auto& [owner, answer] : plan_addresses(claims, {}))
    RC_ASSERT(shown_set(answer) == shown_set(answers.at(owner)));
}

TEST(PlanAddresses, GivesTwoMachinesDifferentAddressesFromTheSameFiles) {
  IpamConfig config = whereabouts({{range("10.0.0.0/28")}});
  std::vector<AddressClaim> claims{{{"default/a", "net1"}, "default/rail", config, {}},
                                   {{"default/b", "net1"}, "default/rail", config, {}},
                                   {{"default/c", "net1"}, "default/rail", config, {"10.0.0.1"}}};
  auto answers = plan_addresses(claims, {});
  // c asked for .1 by name, so that a, although first, does not get it.
  EXPECT_EQ(shown_set(answers.at({"default/a", "net1"})), "10.0.0.2/28[whereabouts]");
  EXPECT_EQ(shown_set(answers.at({"default/b", "net1"})), "10.0.0.3/28[whereabouts]");
  EXPECT_EQ(shown_set(answers.at({"default/c", "net1"})), "10.0.0.1/28[whereabouts]");

  // With the leases of all pods recorded, a pod that comes first in a later file moves no pod.
  std::vector<state::AddressLease> leases;
  for (const auto& [owner, answer] : answers)
    leases.push_back({"whereabouts", answer->front().address.address, owner.pod, owner.interface});
  claims.insert(claims.begin(), {{"default/0", "net1"}, "default/rail", config, {}});
  auto later = plan_addresses(claims, leases);
  EXPECT_EQ(shown_set(later.at({"default/0", "net1"})), "10.0.0.4/28[whereabouts]");
  for (const auto& [owner, answer] : answers) EXPECT_EQ(shown_set(later.at(owner)), shown_set(answer));
}

}  // namespace
}  // namespace railbed::ipam

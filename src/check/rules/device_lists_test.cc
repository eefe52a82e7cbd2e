// SPDX-License-Identifier: Apache-2.0
#include "check/rules/device_lists.h"

#include <gtest/gtest.h>

#include "check/rules/versions.h"

namespace railbed::check {
namespace {

constexpr std::string_view kDevices[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_10", "mlx5_11", "bnxt_re0"};

// The devices that a list takes, with blanks between them.
std::string taken(std::string_view text, ListGrammar grammar) {
  const DeviceList list = parse_device_list(text, grammar);
  std::string out;
  for (const std::string_view device : kDevices)
    if (list.takes(device)) out += fmt::format("{}{}", out.empty() ? "" : " ", device);
  return out;
}

TEST(DeviceLists, EachLibraryReadsItsOwnWay) {
  struct Case {
    const char* text;
    ListGrammar grammar;
    const char* taken;
  };
  const Case cases[] = {
      {"mlx5_1", ListGrammar::kNccl, "mlx5_1 mlx5_10 mlx5_11"},
      {"=mlx5_1", ListGrammar::kNccl, "mlx5_1"},
      {"=mlx5_1,mlx5_2", ListGrammar::kNccl, "mlx5_1 mlx5_2"},
      {"=mlx5_1:1,mlx5_2:2", ListGrammar::kNccl, "mlx5_1"},
      {"^mlx5_1", ListGrammar::kNccl, "mlx5_0 mlx5_2 bnxt_re0"},
      {"^=mlx5_1,bnxt_re0", ListGrammar::kNccl, "mlx5_0 mlx5_2 mlx5_10 mlx5_11"},
      {"mlx5", ListGrammar::kNccl, "mlx5_0 mlx5_1 mlx5_2 mlx5_10 mlx5_11"},
      {" mlx5_0 , bnxt", ListGrammar::kNccl, "mlx5_0 bnxt_re0"},
      {"rdma0,rdma1", ListGrammar::kNccl, ""},
      {"mlx5_1:1,mlx5_2:2", ListGrammar::kUcx, "mlx5_1"},
      {"mlx5_1*:1", ListGrammar::kUcx, "mlx5_1 mlx5_10 mlx5_11"},
      {"mlx5_?:1", ListGrammar::kUcx, "mlx5_0 mlx5_1 mlx5_2"},
      {"all", ListGrammar::kUcx, "mlx5_0 mlx5_1 mlx5_2 mlx5_10 mlx5_11 bnxt_re0"},
      {"^mlx5_0:1", ListGrammar::kUcx, "mlx5_1 mlx5_2 mlx5_10 mlx5_11 bnxt_re0"},
      {"mlx5_1", ListGrammar::kNames, "mlx5_1"},
      {"", ListGrammar::kNames, ""},
  };
  for (const Case& one : cases) EXPECT_EQ(taken(one.text, one.grammar), one.taken) << one.text;
}

TEST(Versions, AreComparedByTheirNumbers) {
  for (const auto& [before, after] :
       {std::pair("3.5.1", "3.6.0"), {"v3.9.0", "3.10.0"}, {"v3.6", "v3.6.1"}, {"2", "v10"}}) {
    EXPECT_TRUE(is_before(before, after)) << before << " " << after;
    EXPECT_FALSE(is_before(after, before)) << before << " " << after;
  }
  EXPECT_FALSE(is_before("v3.6.0-rc.1", "3.6.0"));
}

// A source that was read a year before the newest one has to be read again.
TEST(Versions, NoSourceIsAYearOlderThanTheNewest) {
  const auto months = [](std::string_view date) {
    EXPECT_EQ(date.size(), 7U) << date;
    return std::stoi(std::string(date.substr(0, 4))) * 12 + std::stoi(std::string(date.substr(5)));
  };
  int newest = 0;
  for (const VersionedFact& fact : versioned_facts()) newest = std::max(newest, months(fact.read));
  for (const VersionedFact& fact : versioned_facts()) {
    EXPECT_LE(newest - months(fact.read), 12) << fact.fact << ": read " << fact.source << " again";
    EXPECT_FALSE(fact.program.empty() || fact.source.empty()) << fact.fact;
  }
}

TEST(Versions, EachFactThatRulesAskForHasARow) {
  for (const char* asked : {"device-plugin-takes-dash", "nic-policy-takes-dash", "shared-plugin-takes-dash",
                            "shared-plugin-takes-exclusive-mode", "network-namespace-from-anywhere"})
    EXPECT_EQ(std::ranges::count(versioned_facts(), std::string_view(asked), &VersionedFact::fact), 1) << asked;
}

}  // namespace
}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
// The facts of every fixture machine, against testdata/discover/<machine>/facts.json.
#include "facts/collect.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "doc/json.h"
#include "facts/facts_json.h"
#include "facts/fixture.h"

namespace railbed::facts {
namespace {

using namespace testing_fixture;

class Machine : public testing::TestWithParam<const char*> {};

TEST_P(Machine, HasItsFacts) {
  NodeFacts facts = facts_of(content(testdata() / "machines" / (std::string(GetParam()) + ".machine")));
  EXPECT_EQ(facts.problems, std::vector<std::string>{});
  expect_golden(testdata() / "discover" / GetParam() / "facts.json", doc::to_json(to_value(facts), 2) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Discover, Machine,
                         testing::Values("seed-six-cx7", "gpu8-ib8", "roce-2x-cx6dx", "lab-fresh", "lab", "no-sriov"));

TEST(Collect, TheSixNicNodeHasTwoFabrics) {
  NodeFacts facts = facts_of(content(testdata() / "machines/seed-six-cx7.machine"));
  ASSERT_EQ(facts.fabrics.size(), 2U);
  EXPECT_EQ(facts.fabrics[0].ports, (std::vector<std::string>{"mlx5_0/1", "mlx5_1/1", "mlx5_4/1", "mlx5_5/1"}));
  EXPECT_EQ(facts.fabrics[1].ports, (std::vector<std::string>{"mlx5_2/1", "mlx5_3/1"}));
  ASSERT_EQ(facts.nics.size(), 6U);
  ASSERT_EQ(facts.nics[0].netdevs.size(), 1U);
  const NetInterface& netdev = facts.nics[0].netdevs[0];
  ASSERT_TRUE(netdev.ipoib);
  EXPECT_EQ(netdev.ipoib->qpn, 0x6cU);
  EXPECT_EQ(netdev.ipoib->subnet_prefix, 0xfe80000000000000U);
  EXPECT_EQ(netdev.ipoib->port_guid.to_string(), "a088:c203:00aa:1a1c");
  EXPECT_EQ(facts.nics[0].rdma[0].ports[0].port_guid, netdev.ipoib->port_guid);
}

TEST_P(Machine, IsTheSameAfterRecording) {
  auto files = parse_machine(content(testdata() / "machines" / (std::string(GetParam()) + ".machine")), GetParam());
  ASSERT_TRUE(files.has_value());
  std::unique_ptr<os::Kernel> kernel = std::move(*os::recorded_kernel_over(std::move(*files)));
  os::Recorder recorder(*kernel);
  NodeFacts facts = collect(recorder.kernel(), options());
  std::string tar = fmt::format("{}railbed-{}-{}.tar", testing::TempDir(), GetParam(), ::getpid());
  Result<void> written = recorder.write(tar);
  ASSERT_TRUE(written.has_value()) << written.error().to_string();
  auto again = os::recorded_kernel_from_tar(tar);
  ASSERT_TRUE(again.has_value()) << again.error().to_string();
  EXPECT_EQ(doc::to_json(to_value(collect(**again, options())), 2), doc::to_json(to_value(facts), 2));
  std::filesystem::remove(tar);
}

TEST(Collect, AnEmptyMachineIsNoFailure) {
  NodeFacts facts = facts_of("");
  EXPECT_TRUE(facts.nics.empty());
  EXPECT_EQ(facts.problems, std::vector<std::string>{});
}

}  // namespace
}  // namespace railbed::facts

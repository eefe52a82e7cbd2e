// SPDX-License-Identifier: Apache-2.0
#include "drain/reboot.h"

#include <gtest/gtest.h>

namespace railbed::drain {
namespace {

const Time kMorning{std::chrono::seconds(1'772'360'430)};  // 2026-03-01T10:20:30Z

std::string listed_arguments(const std::vector<KernelArgument>& arguments) {
  std::string out;
  for (const KernelArgument one : arguments) out += fmt::format("{}{}", out.empty() ? "" : " ", text_of(one));
  return out;
}

RebootView node_with(const RebootFacts& facts) {
  return {.node = "n1",
          .boot_id = "one",
          .allows_reboot = true,
          .allows_arguments = true,
          .missing = missing_effects(facts),
          .now = kMorning};
}

std::string decided(const RebootView& view) {
  constexpr const char* kVerdicts[] = {"NotNeeded", "Reboot", "InProgress", "Waits", "NotAllowed", "NotEffective"};
  const RebootDecision decision = decide_reboot(view);
  return fmt::format("{}: {}", kVerdicts[static_cast<size_t>(decision.verdict)], decision.message);
}

TEST(Reboot, CausesAreMissingEffects) {
  struct Case {
    RebootFacts facts;
    std::string wanted;  // "cause: arguments" of each
  };
  const Case cases[] = {
      {{}, ""},
      {{.iommu_groups = true}, ""},
      {{.processor = Processor::kIntel, .iommu_groups = false}, "iommu: intel_iommu=on iommu=pt\n"},
      {{.processor = Processor::kAmd, .iommu_groups = false}, "iommu: iommu=pt\n"},
      {{.processor = Processor::kArm, .iommu_groups = false}, "iommu: \n"},
      {{.wanted_rdma_mode = RdmaMode::kExclusive}, ""},
      {{.wanted_rdma_mode = RdmaMode::kExclusive, .rdma_mode = RdmaMode::kExclusive}, ""},
      {{.wanted_rdma_mode = RdmaMode::kExclusive, .rdma_mode = RdmaMode::kShared}, "rdma-mode: ib_core.netns_mode=0\n"},
      {{.wanted_rdma_mode = RdmaMode::kShared, .rdma_mode = RdmaMode::kExclusive}, "rdma-mode: ib_core.netns_mode=1\n"},
      {{.firmware_differs = false}, ""},
      {{.iommu_groups = false, .firmware_differs = true}, "iommu: intel_iommu=on iommu=pt\nfirmware: \n"},
  };
  for (const Case& one : cases) {
    std::string found;
    for (const MissingEffect& effect : missing_effects(one.facts))
      found += fmt::format("{}: {}\n", name_of(effect.cause), listed_arguments(effect.arguments));
    EXPECT_EQ(found, one.wanted);
  }
}

TEST(Reboot, IsOncePerCause) {
  RebootView view = node_with({.iommu_groups = false});
  EXPECT_EQ(decided(view), "Reboot: the VFs have no IOMMU group; the node restarts once for it");
  view.records = {{.node = "n1", .cause = RebootCause::kIommu, .boot_id = "one", .at = kMorning}};
  EXPECT_EQ(decided(view), "InProgress: the VFs have no IOMMU group; the restart was ordered");
  view.boot_id = "two";
  EXPECT_EQ(decided(view),
            "NotEffective: the VFs have no IOMMU group after the restart of 2026-03-01T10:20:30Z; the node is not "
            "restarted again: enable VT-d in the BIOS");
  view.now += std::chrono::hours(24 * 365);
  EXPECT_EQ(decide_reboot(view).verdict, RebootDecision::Verdict::kNotEffective);
  view.records[0].node = "n2";
  EXPECT_EQ(decide_reboot(view).verdict, RebootDecision::Verdict::kReboot);
  view.records[0] = {.node = "n1", .cause = RebootCause::kFirmware, .boot_id = "one", .at = kMorning};
  EXPECT_EQ(decide_reboot(view).verdict, RebootDecision::Verdict::kReboot);
  view.missing.clear();
  EXPECT_EQ(decided(view), "NotNeeded: ");
}

TEST(Reboot, IsAllowedByTheNode) {
  RebootView view = node_with({.processor = Processor::kAmd, .iommu_groups = false});
  view.allows_arguments = false;
  EXPECT_EQ(decided(view),
            "NotAllowed: the VFs have no IOMMU group; the agent of this node may not change that (--allow "
            "reboot,kernel-args): add iommu=pt to the kernel's command line and restart the node");
  view = node_with({.firmware_differs = true});
  view.allows_arguments = false;
  EXPECT_EQ(decide_reboot(view).verdict, RebootDecision::Verdict::kReboot);
  view.allows_reboot = false;
  EXPECT_EQ(decided(view),
            "NotAllowed: a firmware value that was written is not in effect; the agent of this node may not change "
            "that (--allow reboot): restart the node");
}

TEST(Reboot, HasABudget) {
  RebootView view = node_with({.iommu_groups = false});
  for (int i = 0; i < 5; ++i)
    view.records.push_back({.node = fmt::format("other{}", i), .at = kMorning - std::chrono::minutes(10 * i)});
  EXPECT_EQ(decided(view),
            "Waits: the VFs have no IOMMU group; waits for the restart budget (2 a day per node, 5 an hour in all)");
  EXPECT_EQ(decide_reboot(view).again, kMorning + std::chrono::minutes(20));
  view.now += std::chrono::minutes(20);
  EXPECT_EQ(decide_reboot(view).verdict, RebootDecision::Verdict::kReboot);
  view.records = {{.node = "n1", .cause = RebootCause::kFirmware, .boot_id = "a", .at = kMorning},
                  {.node = "n1", .cause = RebootCause::kRdmaMode, .boot_id = "b", .at = kMorning}};
  view.now = kMorning + std::chrono::hours(23);
  EXPECT_EQ(decide_reboot(view).again, kMorning + std::chrono::hours(24));
  view.budget.per_cluster_and_hour = 0;
  view.records.clear();
  EXPECT_EQ(decide_reboot(view).verdict, RebootDecision::Verdict::kWaits);
}

}  // namespace
}  // namespace railbed::drain

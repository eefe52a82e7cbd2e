// SPDX-License-Identifier: Apache-2.0
// The transaction on the fake kernel: a failure or a kill at any point leaves nothing behind.
#include "attach/attach.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/test_scenarios.h"
#include "base/sanitized.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EveryScenario : public testing::TestWithParam<const char*> {
 protected:
  EveryScenario() : scenario_(scenario(GetParam())) {
    Rig rig(scenario_);
    EXPECT_EQ(message(rig.attach()), "");
    attached_ = machine_of(rig.kernel);
    attach_lines_ = rig.kernel.journal();
    attach_writes_ = rig.store.writes();
    rig.kernel.clear_journal();
    EXPECT_EQ(message(rig.detach()), "");
    detach_lines_ = rig.kernel.journal();
    detach_writes_ = rig.store.writes() - attach_writes_;
  }
  int attach_calls() const { return static_cast<int>(attach_lines_.size()); }
  int detach_calls() const { return static_cast<int>(detach_lines_.size()); }

  Scenario scenario_;
  std::string attached_;
  std::vector<std::string> attach_lines_;
  std::vector<std::string> detach_lines_;
  int attach_writes_ = 0;
  int detach_writes_ = 0;
};

TEST_P(EveryScenario, GivesEverythingBack) {
  Rig rig(scenario_);
  auto report = rig.attach();
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(report->attached, static_cast<int>(scenario_.interfaces.size() + scenario_.later.size()));
  EXPECT_NE(machine_of(rig.kernel), rig.start);
  rig.kernel.clear_journal();

  auto again = rig.attach();
  ASSERT_EQ(message(again), "");
  EXPECT_EQ(again->kept, report->attached);
  EXPECT_EQ(again->interfaces, report->interfaces);
  EXPECT_THAT(rig.kernel.journal(), ElementsAre());

  auto detached = rig.detach();
  ASSERT_EQ(message(detached), "");
  EXPECT_EQ(detached->detached, report->attached);
  EXPECT_THAT(detached->notes, ElementsAre());
  rig.expect_nothing_left("after detach");
  EXPECT_EQ(rig.detach()->detached, 0);
}

TEST_P(EveryScenario, AFailureAnywhereInAttachUndoesAll) {
  for (int sys_errno : refusals({EIO, EBUSY, EEXIST, ENODEV}))
    for (int call = 1; call <= attach_calls(); ++call) {
      Rig rig(scenario_);
      rig.kernel.fail_call(call, sys_errno);
      auto report = rig.attach();
      std::string when = fmt::format("{} at \"{}\"", errno_name(sys_errno), attach_lines_[call - 1]);
      // Some refusals are no failure: a soft RDMA device is tried again after loading its module.
      if (report.has_value()) {
        EXPECT_EQ(machine_of(rig.kernel), attached_) << when;
        EXPECT_EQ(message(rig.detach()), "") << when;
      } else {
        EXPECT_THAT(message(report), HasSubstr(errno_name(sys_errno))) << when;
      }
      rig.expect_nothing_left(when);
    }
}

TEST_P(EveryScenario, AFailureAnywhereInDetachIsFinishedNextTime) {
  for (int sys_errno : refusals({EIO, EBUSY, EEXIST}))
    for (int call = 1; call <= detach_calls(); ++call) {
      Rig rig(scenario_);
      ASSERT_EQ(message(rig.attach()), "");
      rig.kernel.fail_call(call, sys_errno);
      auto report = rig.detach();
      std::string when = fmt::format("{} at \"{}\"", errno_name(sys_errno), detach_lines_[call - 1]);
      if (!report.has_value()) {
        EXPECT_FALSE(rig.store.attachments()->empty()) << when;
        EXPECT_EQ(message(rig.detach()), "") << when;
      }
      if (sys_errno == EEXIST && report.has_value() && !report->notes.empty()) continue;  // under another name
      rig.expect_nothing_left(when);
    }
}

TEST_P(EveryScenario, AKillAnywhereInAttachIsUndone) {
  for (auto kind : {os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered})
    for (int calls = 0; calls <= attach_calls(); ++calls) {
      Rig rig(scenario_);
      rig.kernel.kill_after(calls, kind);
      auto report = rig.attach();
      rig.recover_after_restart();
      std::string when = fmt::format("killed after {} calls", calls);
      if (rig.store.attachments()->empty()) rig.expect_nothing_left(when);
      EXPECT_EQ(message(rig.attach()), "") << when;
      EXPECT_EQ(machine_of(rig.kernel), attached_) << when;
      EXPECT_EQ(message(rig.detach()), "") << when;
      rig.expect_nothing_left(when);
    }
}

TEST_P(EveryScenario, AKillAtAnyWriteOfTheStoreIsUndone) {
  for (int writes = 0; writes < attach_writes_; ++writes) {
    Rig rig(scenario_);
    rig.store.kill_after_writes(writes);
    EXPECT_FALSE(rig.attach().has_value());
    rig.recover_after_restart();
    rig.expect_nothing_left(fmt::format("killed after {} writes", writes));
    EXPECT_EQ(message(rig.attach()), "");
    EXPECT_EQ(machine_of(rig.kernel), attached_);
  }
  for (int writes = 0; writes < detach_writes_; ++writes) {
    Rig rig(scenario_);
    ASSERT_EQ(message(rig.attach()), "");
    rig.store.kill_after_writes(writes);
    EXPECT_FALSE(rig.detach().has_value());
    rig.recover_after_restart();
    EXPECT_EQ(message(rig.detach()), "");
    rig.expect_nothing_left(fmt::format("detach killed after {} writes", writes));
  }
}

TEST_P(EveryScenario, AKillAnywhereInDetachIsFinished) {
  for (auto kind : {os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered})
    for (int calls = 0; calls <= detach_calls(); ++calls) {
      Rig rig(scenario_);
      ASSERT_EQ(message(rig.attach()), "");
      rig.kernel.kill_after(calls, kind);
      (void)rig.detach();
      rig.recover_after_restart();
      rig.expect_nothing_left(fmt::format("killed after {} calls", calls));
    }
}

// A failure, then a kill while the failure is being undone.
TEST_P(EveryScenario, AKillDuringTheUndoingIsFinished) {
  for (int call = 1; call <= attach_calls(); ++call)
    for (int more = 0; more <= attach_calls() + 1; ++more) {
      Rig rig(scenario_);
      rig.kernel.fail_call(call, EIO);
      rig.kernel.kill_after(call + more);
      (void)rig.attach();
      bool done = !rig.kernel.killed();
      rig.recover_after_restart();
      EXPECT_EQ(message(rig.detach()), "");  // where the kill came after everything was attached again
      rig.expect_nothing_left(fmt::format("EIO at \"{}\", killed {} calls later", attach_lines_[call - 1], more));
      if (done) break;
    }
}

// The namespace vanishes during the attachment: hardware returns home, and nothing stays recorded.
TEST_P(EveryScenario, ANamespaceThatVanishesMidwayLeavesNothing) {
  Rig without(scenario_);
  without.kernel.vanish_netns("pod");
  for (const std::string& line : attach_lines_) {
    Rig rig(scenario_);
    rig.kernel.before(line, [&] { rig.kernel.vanish_netns("pod"); });
    auto report = rig.attach();
    EXPECT_FALSE(report.has_value()) << line;
    rig.recover_after_restart();
    EXPECT_EQ(machine_of(rig.kernel), machine_of(without.kernel)) << line;
    EXPECT_TRUE(rig.store.attachments()->empty()) << line;
    EXPECT_TRUE(rig.store.all_leases()->empty()) << line;
  }
}

TEST_P(EveryScenario, ANamespaceThatIsGoneIsNoReasonNotToGiveBack) {
  Rig without(scenario_);
  without.kernel.vanish_netns("pod");
  Rig rig(scenario_);
  ASSERT_EQ(message(rig.attach()), "");
  rig.kernel.vanish_netns("pod");
  EXPECT_EQ(message(rig.detach()), "");
  EXPECT_EQ(machine_of(rig.kernel), machine_of(without.kernel));
  EXPECT_TRUE(rig.store.attachments()->empty());
}

INSTANTIATE_TEST_SUITE_P(Attach, EveryScenario,
                         testing::Values("sriov", "virtual", "infiniband", "vfio", "changes", "routing"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// Plans carried out on a machine in memory: every call refused, every call the last one.
#include "apply/apply.h"

#include <algorithm>
#include <cerrno>

#include <gtest/gtest.h>

#include "apply/baseline.h"
#include "base/sanitized.h"
#include "os/fake/kernel.h"

namespace railbed::apply {
namespace {

using plan::Step;

const PciAddress kPf0 = *PciAddress::parse("0000:01:00.0");
const PciAddress kPf1 = *PciAddress::parse("0000:02:00.0");
constexpr int kVfs = 3;

PciAddress vf_address(PciAddress pf, int vf) {
  return pf.plus(0x80 + static_cast<uint32_t>(vf) * 2);
}

Step step(PciAddress pf, const std::string& id, plan::Action action) {
  return {.id = pf.to_string() + "/" + id, .action = std::move(action), .reason = "test", .policy = "ns/rail"};
}

void add_vf(plan::PfPlan& pf, int vf, DeviceType type) {
  MacAddress mac{{0x02, 0, 0, 0, pf.pf.bus, static_cast<uint8_t>(vf)}};
  PciAddress address = vf_address(pf.pf, vf);
  std::string id = fmt::format("vf{}/", vf);
  pf.steps.push_back(step(pf.pf, id + "mac", plan::SetVfMac{VfIndex{vf}, mac}));
  pf.steps.push_back(step(pf.pf, id + "bind", plan::BindVf{VfIndex{vf}, address, "", type}));
  if (type == DeviceType::kNetdevice)
    pf.steps.push_back(step(pf.pf, id + "mtu", plan::SetVfMtu{VfIndex{vf}, address, 0, 9000}));
}

plan::PfPlan pf_plan(PciAddress address, const std::string& name, int vfs = kVfs,
                     DeviceType type = DeviceType::kNetdevice) {
  plan::PfPlan pf{.pf = address, .pf_name = name};
  pf.steps.push_back(step(address, "autoprobe-off", plan::SetAutoprobe{false}));
  pf.steps.push_back(step(address, "mtu", plan::SetPfMtu{1500, 9000}));
  pf.steps.push_back(step(address, "up", plan::SetPfUp{true}));
  pf.steps.push_back(step(address, "vf-count", plan::SetVfCount{0, vfs}));
  pf.steps.push_back(step(address, "autoprobe-on", plan::SetAutoprobe{true}));
  for (int vf = 0; vf < vfs; ++vf) add_vf(pf, vf, type);
  return pf;
}

plan::NodePlan two_pfs() {
  plan::NodePlan plan;
  plan.pfs = {pf_plan(kPf0, "eth0"), pf_plan(kPf1, "eth1")};
  return plan;
}

Options in_order() {
  Options options;
  options.parallel = false;
  return options;
}

class ApplyTest : public testing::Test {
 protected:
  Report carry_out(const plan::NodePlan& plan, const Options& options = in_order()) {
    NoProgress progress;
    return apply::carry_out(kernel, *store, plan, options, progress);
  }
  // The failure of a plan that fails once, as a person sees it.
  std::string failure(const plan::NodePlan& plan) {
    Report report = carry_out(plan);
    if (report.failures.size() != 1) return fmt::format("{} failures", report.failures.size());
    return report.failures.front().error.to_string() + "\n" + report.failures.front().remains;
  }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> store = state::memory_store();
};

plan::NodePlan one_pf(int vfs = kVfs, DeviceType type = DeviceType::kNetdevice) {
  plan::NodePlan plan;
  plan.pfs = {pf_plan(kPf0, "eth0", vfs, type)};
  return plan;
}

TEST_F(ApplyTest, MakesVfsOnBothPfsAndLeavesNoRecords) {
  Report report = carry_out(two_pfs());
  ASSERT_TRUE(report.complete()) << report.failures.front().error.to_string();
  EXPECT_EQ(report.steps_done, two_pfs().pfs[0].steps.size() * 2);
  for (PciAddress pf : {kPf0, kPf1})
    for (int vf = 0; vf < kVfs; ++vf) {
      std::string driver = fmt::format("/sys/bus/pci/devices/{}/driver", vf_address(pf, vf));
      EXPECT_EQ(os::link_name(kernel.files(), driver).value_or("none"), "igbvf");
    }
  EXPECT_TRUE(store->steps()->empty());
  EXPECT_EQ(store->baselines()->size(), 2U);
}

TEST_F(ApplyTest, ForgetsWhatTheLastRunSaidOfThePfsThatItChangesAndOfNoOther) {
  for (const PciAddress pf : {kPf0, kPf1})
    ASSERT_TRUE(store->put_step(
        {.id = pf.to_string() + " old", .pf = pf, .status = state::StepRecord::Status::kFailed, .error = "EIO"}));
  kernel.delay_vfs(std::chrono::milliseconds(-1));
  ASSERT_FALSE(carry_out(one_pf()).complete());
  const auto steps = store->steps();
  std::vector<std::string> left;
  for (const state::StepRecord& one : *steps)
    if (one.id.ends_with(" old")) left.push_back(one.id);
  EXPECT_EQ(left, std::vector{kPf1.to_string() + " old"});
}

TEST_F(ApplyTest, ThreadsPerPfComeToTheSame) {
  ASSERT_TRUE(carry_out(two_pfs()).complete());
  os::FakeKernel other;
  std::unique_ptr<state::Store> other_store = state::memory_store();
  NoProgress progress;
  ASSERT_TRUE(apply::carry_out(other, *other_store, two_pfs(), {}, progress).complete());
  EXPECT_EQ(other.snapshot(), kernel.snapshot());
}

TEST_F(ApplyTest, BindsEachVfOnce) {
  ASSERT_TRUE(carry_out(one_pf()).complete());
  int probes = 0, unbinds = 0;
  for (const std::string& call : kernel.journal()) {
    probes += call.find("drivers_probe") != std::string::npos ? 1 : 0;
    unbinds += call.find("unbind") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(probes, kVfs);
  EXPECT_EQ(unbinds, 0);
}

TEST_F(ApplyTest, StoresTheBaselineBeforeTheFirstChange) {
  std::optional<PfBaseline> seen;
  kernel.before("", [&] { seen = store->baseline(kPf0).value(); });
  ASSERT_TRUE(carry_out(one_pf()).complete());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->num_vfs, 0);
  EXPECT_EQ(seen->mtu, 1500);
  EXPECT_TRUE(seen->autoprobe);
  EXPECT_TRUE(seen->up);
}

TEST_F(ApplyTest, ABaselineHasTheMacsThatVfsHad) {
  ASSERT_TRUE(carry_out(one_pf()).complete());
  const MacAddress mac = *MacAddress::parse("02:00:00:00:00:77");
  const auto links = kernel.links().value();
  const IfIndex pf = links->find(IfName{"eth0"}, os::WithVfs::kNo)->index;
  ASSERT_TRUE(links->change_vf(pf, VfIndex{1}, {.mac = mac}).has_value());
  const auto baseline = read_baseline(kernel, *links, kPf0, "eth0");
  ASSERT_TRUE(baseline.has_value()) << baseline.error().to_string();
  ASSERT_EQ(baseline->vfs.size(), static_cast<size_t>(kVfs));
  EXPECT_EQ(baseline->vfs[1].admin_mac, mac);
  EXPECT_NE(baseline->vfs[0].admin_mac, mac);
}

TEST_F(ApplyTest, ABaselineHasTheEswitchModeWhereThereIsOne) {
  os::FakeMachine machine;
  machine.pfs = {os::FakePf::mlx5(kPf0, "eth0"), os::FakePf::mlx5(kPf1, "ib0", true)};
  os::FakeKernel both(machine);
  const auto links = both.links().value();
  EXPECT_EQ(read_baseline(both, *links, kPf0, "eth0").value().eswitch_mode, EswitchMode::kLegacy);
  EXPECT_EQ(read_baseline(both, *links, kPf1, "ib0").value().eswitch_mode, std::nullopt);
}

TEST_F(ApplyTest, GivesVfsToVfioAndBack) {
  ASSERT_TRUE(carry_out(one_pf(1, DeviceType::kVfioPci)).complete());
  std::string device = fmt::format("/sys/bus/pci/devices/{}/", vf_address(kPf0, 0));
  EXPECT_EQ(os::link_name(kernel.files(), device + "driver").value_or("none"), "vfio-pci");

  plan::NodePlan back;
  back.pfs = {{.pf = kPf0, .pf_name = "eth0"}};
  plan::BindVf bind{VfIndex{0}, vf_address(kPf0, 0), "vfio-pci", DeviceType::kNetdevice};
  back.pfs[0].steps = {step(kPf0, "vf0/bind", bind)};
  Report report = carry_out(back);
  ASSERT_TRUE(report.complete()) << report.failures.front().error.to_string();
  EXPECT_EQ(os::link_name(kernel.files(), device + "driver").value_or("none"), "igbvf");
  std::string left = os::read_line(kernel.files(), device + "driver_override").value();
  EXPECT_TRUE(left.empty() || left == "(null)") << left;
}

TEST_F(ApplyTest, WaitsForWhatIsLate) {
  using std::chrono::milliseconds;
  kernel.delay_vfs(milliseconds(1500));
  kernel.delay_drivers(milliseconds(300));
  kernel.delay_netdevs(milliseconds(700));
  Report report = carry_out(two_pfs());
  EXPECT_TRUE(report.complete()) << report.failures.front().error.to_string();
}

TEST_F(ApplyTest, GoesOnWithoutACable) {
  kernel.set_carrier("eth0", false);
  Report report = carry_out(one_pf());
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.notes, std::vector<std::string>{"eth0 (0000:01:00.0) has no carrier after 10 s: check its cable and "
                                                   "the switch port; its VFs have none either"});
}

TEST_F(ApplyTest, ReportsVfsThatNeverAppear) {
  kernel.delay_vfs(std::chrono::milliseconds(-1));
  EXPECT_EQ(failure(one_pf()),
            "eth0: create 3 VFs: 0 of 3 VFs of eth0 had appeared after 60 s; they were removed again\n"
            "  the kernel's log (dmesg) has the reason; on a PCI bridge without ARI or bus numbers to spare, boot with "
            "pci=realloc or pci=assign-busses\n"
            "eth0 has no VFs now");
}

TEST_F(ApplyTest, ReportsTooManyVfs) {
  EXPECT_EQ(failure(one_pf(8)),
            "eth0: create 8 VFs: write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs: ERANGE "
            "(Numerical result "
            "out of range)\n"
            "  the device allows 7 VFs (sriov_totalvfs), not 8\n"
            "eth0 has no VFs now");
}

TEST_F(ApplyTest, KeepsTheVfsThatAreThereWhenMoreAreNotAllowed) {
  ASSERT_TRUE(carry_out(one_pf(2)).complete());
  plan::NodePlan more;
  more.pfs = {{.pf = kPf0, .pf_name = "eth0", .steps = {step(kPf0, "vf-count", plan::SetVfCount{2, 8})}}};
  EXPECT_EQ(failure(more),
            "eth0: remove 2 VFs, create 8 VFs: eth0 allows 7 VFs (sriov_totalvfs), not 8\neth0 has 2 VFs now");
}

TEST_F(ApplyTest, ReportsADriverThatDoesNotBind) {
  kernel.delay_drivers(std::chrono::milliseconds(-1));
  EXPECT_EQ(failure(one_pf(1)),
            "eth0: VF 0: bind to the kernel's network driver: no driver bound to VF 0 (0000:01:10.0)\n"
            "  no loaded driver supports this VF: load the module of its vendor (`modinfo -F alias`, dmesg), or its "
            "probe failed (dmesg)\n"
            "eth0 has 1 VF now, 1 of them without a driver");
}

TEST_F(ApplyTest, ReportsAnInterfaceThatDoesNotAppear) {
  kernel.delay_netdevs(std::chrono::milliseconds(-1));
  EXPECT_EQ(failure(one_pf(1)),
            "eth0: VF 0: bind to the kernel's network driver: VF 0 (0000:01:10.0) had no "
            "interface 10 s "
            "after igbvf had bound\n"
            "  the driver could not reach the PF: the PF must be up with its cable in; dmesg has the reason\n"
            "eth0 has 1 VF now");
}

TEST(ApplyVfioTest, ReportsThatThereIsNoIommu) {
  os::FakeMachine machine = os::FakeMachine::lab();
  machine.iommu = false;
  os::FakeKernel kernel(machine);
  auto store = state::memory_store();
  NoProgress progress;
  Report report = carry_out(kernel, *store, one_pf(1, DeviceType::kVfioPci), in_order(), progress);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].error.to_string(),
            "eth0: VF 0: bind to vfio-pci: vfio-pci did not bind to VF 0 (0000:01:10.0)\n"
            "  the VF is in no IOMMU group: enable VT-d or AMD-Vi in the BIOS and boot with intel_iommu=on "
            "(Intel) or "
            "iommu=pt");
}

struct Refusal {
  int sys_errno;
  const char* message;
};

class RefusedCount : public ApplyTest, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusedCount, IsReportedWithWhatToDo) {
  kernel.fail_when("sriov_numvfs", GetParam().sys_errno);
  plan::NodePlan plan = two_pfs();
  Report report = carry_out(plan);
  ASSERT_EQ(report.failures.size(), 1U);
  const StepFailure& failure = report.failures[0];
  EXPECT_EQ(
      failure.error.to_string(),
      std::string("eth0: create 3 VFs: write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs: ") + GetParam().message);
  EXPECT_EQ(failure.step, "0000:01:00.0/vf-count");
  EXPECT_EQ(failure.policy, "ns/rail");
  EXPECT_EQ(failure.not_tried, plan.pfs[0].steps.size() - 4);
  EXPECT_EQ(report.steps_done, plan.pfs[1].steps.size() + 3) << "the other PF goes on";
  std::vector<state::StepRecord> records = store->steps().value();
  auto failed = std::ranges::find(records, state::StepRecord::Status::kFailed, &state::StepRecord::status);
  ASSERT_NE(failed, records.end());
  EXPECT_EQ(failed->error, failure.error.to_string());
}

INSTANTIATE_TEST_SUITE_P(
    Errno, RefusedCount,
    testing::Values(
        Refusal{EBUSY,
                "EBUSY (Device or resource busy)\n"
                "  the PF or its VFs are in use: by another program that creates VFs, a virtual machine with a VF, or "
                "a driver that requires the interface up; `railbed status` shows the pods with VFs"},
        Refusal{ENOMEM,
                "ENOMEM (Cannot allocate memory)\n  no memory space for the VFs' registers: enable SR-IOV and \"MMIO "
                "above 4G\" in the BIOS, or boot with pci=realloc"},
        Refusal{EIO,
                "EIO (Input/output error)\n  the device or its firmware failed: the kernel's log (dmesg) has the "
                "reason; a cold restart of the card often helps"},
        Refusal{ENODEV,
                "ENODEV (No such device)\n"
                "  the PF no longer exists: it was removed, reset, or its driver was unloaded"}));

// The machine after a run in which nothing goes wrong.
std::string clean_end() {
  os::FakeKernel kernel;
  auto store = state::memory_store();
  NoProgress progress;
  carry_out(kernel, *store, two_pfs(), in_order(), progress);
  return kernel.snapshot();
}

bool was_refused(const std::string& call) {
  return call.find(" -> ") != std::string::npos;
}

// Refuses each call of the plan once: one PF fails with that errno, and the next run comes to the same end. MACs that
// are refused together are set one by one in the same run.
TEST(ApplyFaults, EveryRefusedCallIsReportedAndFixedByTheNextRun) {
  const std::string wanted = clean_end();
  for (int sys_errno : refusals({EBUSY, ENOMEM, EIO})) {
    for (int nth = 1;; ++nth) {
      os::FakeKernel kernel;
      auto store = state::memory_store();
      NoProgress progress;
      kernel.fail_call(nth, sys_errno);
      Report report = carry_out(kernel, *store, two_pfs(), in_order(), progress);
      const std::vector<std::string> calls = kernel.journal();
      const auto refused = std::ranges::find_if(calls, was_refused);
      if (refused == calls.end()) {
        EXPECT_TRUE(report.complete());
        EXPECT_GT(nth, 20);  // the loop has seen them all
        break;
      }
      if (refused->find(" mac ") != std::string::npos) {
        EXPECT_TRUE(report.complete()) << *refused;
        EXPECT_EQ(kernel.snapshot(), wanted);
        EXPECT_TRUE(store->steps()->empty());
        continue;
      }
      SCOPED_TRACE(fmt::format("call {} refused with {}", nth, errno_name(sys_errno)));
      ASSERT_EQ(report.failures.size(), 1U);
      EXPECT_NE(report.failures[0].error.story().find(errno_name(sys_errno)), std::string::npos)
          << report.failures[0].error.story();
      Report again = carry_out(kernel, *store, two_pfs(), in_order(), progress);
      ASSERT_TRUE(again.complete()) << again.failures[0].error.to_string();
      EXPECT_EQ(kernel.snapshot(), wanted);
      EXPECT_TRUE(store->steps()->empty());
    }
  }
}

// The steps of a PF that are written with this status, by the end of their ids.
std::vector<std::string> written(state::Store& store, state::StepRecord::Status status) {
  std::vector<std::string> ids;
  const std::vector<state::StepRecord> records = store.steps().value();
  for (const state::StepRecord& record : records)
    if (record.status == status && record.pf == kPf0) ids.push_back(record.id.substr(record.id.find('/') + 1));
  return ids;
}

TEST(ApplyFaults, MacsThatAreSetTogetherAreWrittenBeforeAllTogether) {
  os::FakeKernel kernel;
  auto store = state::memory_store();
  NoProgress progress;
  std::vector<std::string> begun;
  kernel.before("vf eth0 0 mac", [&] { begun = written(*store, state::StepRecord::Status::kBegun); });
  std::vector<std::string> done, binding;
  kernel.before("drivers_probe 0000:01:10.0", [&] {
    done = written(*store, state::StepRecord::Status::kDone);
    binding = written(*store, state::StepRecord::Status::kBegun);
  });
  ASSERT_TRUE(carry_out(kernel, *store, two_pfs(), in_order(), progress).complete());
  EXPECT_EQ(begun, (std::vector<std::string>{"vf0/mac", "vf1/mac", "vf2/mac"}));
  EXPECT_EQ(binding, std::vector<std::string>{"vf0/bind"});
  EXPECT_EQ(std::ranges::count_if(done, [](const std::string& id) { return id.ends_with("/mac"); }), 3);
}

// What is refused for good is reported of its VF, and nothing that was not tried is recorded as begun.
TEST(ApplyFaults, AMacThatIsRefusedIsReportedWithItsVf) {
  os::FakeKernel kernel;
  auto store = state::memory_store();
  NoProgress progress;
  kernel.fail_when("vf eth0 1 mac", EPERM, -1);
  const Report report = carry_out(kernel, *store, two_pfs(), in_order(), progress);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].step, "0000:01:00.0/vf1/mac");
  EXPECT_EQ(written(*store, state::StepRecord::Status::kFailed), std::vector<std::string>{"vf1/mac"});
  EXPECT_EQ(written(*store, state::StepRecord::Status::kBegun), std::vector<std::string>{});
}

TEST(ApplyFaults, KilledAtEveryCallTheNextRunComesToTheSameEnd) {
  const std::string wanted = clean_end();
  for (auto kill : {os::FakeKernel::Kill::kBetween, os::FakeKernel::Kill::kUnanswered})
    for (int calls = kill == os::FakeKernel::Kill::kBetween ? 0 : 1;; ++calls) {
      os::FakeKernel kernel;
      auto store = state::memory_store();
      NoProgress progress;
      kernel.kill_after(calls, kill);
      carry_out(kernel, *store, two_pfs(), in_order(), progress);
      if (!kernel.killed()) break;
      SCOPED_TRACE(fmt::format("killed after {} calls", calls));
      kernel.restart();
      Report report = carry_out(kernel, *store, two_pfs(), in_order(), progress);
      ASSERT_TRUE(report.complete()) << report.failures[0].error.to_string();
      EXPECT_EQ(kernel.snapshot(), wanted);
      EXPECT_EQ(store->baseline(kPf0).value()->num_vfs, 0);
      EXPECT_EQ(store->baseline(kPf1).value()->num_vfs, 0);
    }
}

// Requests a stop when a step begins.
class StopAt : public Progress {
 public:
  explicit StopAt(std::string step) : step_(std::move(step)) {}
  void begins(const plan::PfPlan&, const Step& begun) override {
    begun_.push_back(begun.id);
    if (begun.id == step_) source.request_stop();
  }
  void ends(const plan::PfPlan&, const Step&, const Error*) override {}
  std::stop_source source;
  std::vector<std::string> begun_;

 private:
  std::string step_;
};

TEST_F(ApplyTest, StopsBetweenTwoStepsWhenAsked) {
  StopAt progress("0000:01:00.0/mtu");
  Options options = in_order();
  options.stop = progress.source.get_token();
  Report report = apply::carry_out(kernel, *store, two_pfs(), options, progress);
  EXPECT_TRUE(report.canceled);
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(report.steps_done, 2U);
  EXPECT_EQ(progress.begun_.back(), "0000:01:00.0/mtu");
  EXPECT_TRUE(carry_out(two_pfs()).complete());
}

TEST_F(ApplyTest, StopsBeforeTheFirstStepWhenAsked) {
  std::stop_source source;
  source.request_stop();
  Options options = in_order();
  options.stop = source.get_token();
  const Report report = carry_out(two_pfs(), options);
  EXPECT_TRUE(report.canceled);
  EXPECT_EQ(report.steps_done, 0U);
  EXPECT_EQ(kernel.journal(), std::vector<std::string>{});
}

TEST_F(ApplyTest, StopsInsideAWaitAndLeavesTheStepBegun) {
  kernel.delay_vfs(std::chrono::milliseconds(-1));
  StopAt progress("0000:01:00.0/vf-count");
  Options options = in_order();
  options.stop = progress.source.get_token();
  Report report = apply::carry_out(kernel, *store, one_pf(), options, progress);
  EXPECT_TRUE(report.canceled);
  EXPECT_TRUE(report.failures.empty());
  std::vector<state::StepRecord> records = store->steps().value();
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back().status, state::StepRecord::Status::kBegun);
}

TEST_F(ApplyTest, ReportsRebootsAndTouchesNothingForThem) {
  plan::NodePlan plan;
  plan.pfs = {{.pf = kPf0, .pf_name = "eth0", .steps = {step(kPf0, "reboot", plan::NeedsReboot{"LINK_TYPE_P1=IB"})}}};
  Report report = carry_out(plan);
  EXPECT_TRUE(report.complete());
  EXPECT_EQ(report.steps_done, 0U);
  EXPECT_EQ(report.notes, std::vector<std::string>{
                              "eth0 (0000:01:00.0) needs a reboot, which requires manual action: LINK_TYPE_P1=IB"});
  EXPECT_TRUE(store->baselines()->empty());
}

}  // namespace
}  // namespace railbed::apply

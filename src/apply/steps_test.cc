// SPDX-License-Identifier: Apache-2.0
// Each kind of step on a machine in memory: the calls that it makes, and those that it leaves out.
#include <cerrno>

#include <gtest/gtest.h>

#include "apply/apply.h"
#include "os/fake/kernel.h"

namespace railbed::apply {
namespace {

const PciAddress kPf = *PciAddress::parse("0000:01:00.0");

class StepTest : public testing::Test {
 protected:
  // The changing calls of one step, and what was reported when it failed.
  std::string done(plan::Action action) {
    kernel_.clear_journal();
    plan::NodePlan plan;
    plan.pfs = {{.pf = kPf, .pf_name = "eth0", .steps = {{.id = "step", .action = std::move(action)}}}};
    Options options;
    options.parallel = false;
    NoProgress progress;
    const Report report = carry_out(kernel_, *store_, plan, options, progress);
    std::string out;
    for (const std::string& call : kernel_.journal()) out += (out.empty() ? "" : "; ") + call;
    for (const StepFailure& failure : report.failures)
      out += (out.empty() ? "" : "; ") + failure.error.to_string() + " | " + failure.remains;
    for (const std::string& note : report.notes) out += (out.empty() ? "" : "; ") + note;
    return out;
  }

  os::FakeKernel kernel_;
  std::unique_ptr<state::Store> store_ = state::memory_store();
};

TEST_F(StepTest, WhatIsThereAlreadyIsNotMadeAgain) {
  const std::vector<plan::Action> actions = {plan::SetAutoprobe{false},
                                             plan::SetAutoprobe{true},
                                             plan::SetPfMtu{1500, 9000},
                                             plan::SetPfUp{true},
                                             plan::SetVfCount{0, 2},
                                             plan::BindVf{VfIndex{0}, kPf.plus(0x80), "", DeviceType::kNetdevice},
                                             plan::SetVfMtu{VfIndex{0}, kPf.plus(0x80), 0, 8000},
                                             plan::BindVf{VfIndex{1}, kPf.plus(0x82), "igbvf", DeviceType::kVfioPci}};
  std::string first;
  std::string second;
  for (const plan::Action& action : actions) {
    first += done(action) + "\n";
    second += done(action) + "\n";
  }
  EXPECT_EQ(first,
            "write /sys/bus/pci/devices/0000:01:00.0/sriov_drivers_autoprobe 0\n"
            "write /sys/bus/pci/devices/0000:01:00.0/sriov_drivers_autoprobe 1\n"
            "link eth0 mtu 9000\n"
            "\n"
            "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 2\n"
            "\n"
            "link eth0v0 mtu 8000\n"
            "write /sys/bus/pci/drivers/igbvf/unbind 0000:01:10.2; modprobe vfio-pci; "
            "write /sys/bus/pci/devices/0000:01:10.2/driver_override vfio-pci; "
            "write /sys/bus/pci/drivers_probe 0000:01:10.2\n");
  EXPECT_EQ(second, std::string(actions.size(), '\n'));
}

TEST_F(StepTest, NothingIsChangedForARebootOrWhereAVfIsNot) {
  EXPECT_EQ(done(plan::NeedsReboot{"intel_iommu=on"}),
            "eth0 (0000:01:00.0) needs a reboot, which requires manual action: intel_iommu=on");
  EXPECT_EQ(
      done(plan::BindVf{VfIndex{0}, kPf.plus(0x80), "", DeviceType::kNetdevice}),
      "eth0: VF 0: bind to the kernel's network driver: VF 0 is not at 0000:01:10.0\n  the PF places its VFs elsewhere than its sriov_offset and sriov_stride say | eth0 has no VFs now");
  EXPECT_EQ(done(plan::SetVfMtu{VfIndex{0}, kPf.plus(0x80), 0, 9000}),
            "eth0: VF 0: MTU 9000: VF 0 (0000:01:10.0) has no interface here (its driver: none) | eth0 has no VFs now");
  EXPECT_EQ(
      done(plan::SetEswitchMode{EswitchMode::kSwitchdev}),
      "eth0: eswitch mode switchdev: DEVLINK_CMD_ESWITCH_GET pci/0000:01:00.0: ENODEV (No such device) | eth0 has no VFs now");
}

TEST_F(StepTest, FewerAndMoreVfsGoByWayOfNone) {
  EXPECT_EQ(done(plan::SetVfCount{0, 1}), "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 1");
  EXPECT_EQ(
      done(plan::SetVfCount{1, 2}),
      "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 0; write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 2");
  EXPECT_EQ(done(plan::SetVfCount{2, 0}), "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 0");
  kernel_.fail_when("sriov_numvfs", EBUSY, 2);
  EXPECT_EQ(
      done(plan::SetVfCount{0, 1}),
      "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 1 -> EBUSY; eth0: create 1 VF: write "
      "/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs: EBUSY (Device or resource busy)\n"
      "  the PF or its VFs are in use: by another program that creates VFs, a virtual machine with a VF, or a driver "
      "that requires the interface up; `railbed status` shows the pods with VFs | eth0 has no VFs now");
}

TEST_F(StepTest, VfsThatDoNotGoAreReported) {
  const std::string pf = kernel_.files().read_link("/sys/bus/pci/devices/0000:01:00.0").value();  // ../../../devices/…
  for (int i : {0, 1})
    kernel_.put_link(fmt::format("/sys/{}/virtfn{}", pf.substr(pf.find("devices")), i),
                     fmt::format("../0000:01:10.{}", i));
  EXPECT_EQ(done(plan::SetVfCount{2, 0}),
            "eth0: remove 2 VFs: 2 VFs of eth0 still existed 60 s after their removal | eth0 has 2 VFs now, 2 of them "
            "without a driver");
}

TEST_F(StepTest, ARefusedMtuIsReportedWithThatOfThePf) {
  ASSERT_EQ(done(plan::SetPfUp{true}), "");
  ASSERT_EQ(done(plan::SetVfCount{0, 1}), "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 1");
  ASSERT_EQ(done(plan::BindVf{VfIndex{0}, kPf.plus(0x80), "", DeviceType::kNetdevice}), "");
  kernel_.fail_when("mtu", EINVAL);
  EXPECT_EQ(
      done(plan::SetVfMtu{VfIndex{0}, kPf.plus(0x80), 0, 9000}),
      "link eth0v0 mtu 9000 -> EINVAL; eth0: VF 0: MTU 9000: RTM_NEWLINK eth0v0 mtu 9000: EINVAL (Invalid argument)\n  the PF's MTU is 1500: a VF cannot have more; raise the PF's first | eth0 has 1 VF now");
  kernel_.fail_when("mtu", EINVAL);
  EXPECT_EQ(
      done(plan::SetPfMtu{1500, 99000}),
      "link eth0 mtu 99000 -> EINVAL; eth0: raise the PF's MTU to 99000 (now 1500): RTM_NEWLINK eth0 mtu 99000: EINVAL (Invalid argument)\n  the driver does not take this MTU: `ip -d link` shows maxmtu | eth0 has 1 VF now");
  kernel_.fail_when("mtu", EBUSY);
  EXPECT_EQ(
      done(plan::SetPfMtu{1500, 9000}),
      "link eth0 mtu 9000 -> EBUSY; eth0: raise the PF's MTU to 9000 (now 1500): RTM_NEWLINK eth0 mtu 9000: EBUSY (Device or resource busy)\n  the driver changes the MTU only while the interface is down | eth0 has 1 VF now");
}

TEST_F(StepTest, GuidsAndMacsGoThroughThePf) {
  ASSERT_EQ(done(plan::SetVfCount{0, 1}), "write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs 1");
  EXPECT_EQ(done(plan::SetVfMac{VfIndex{0}, *MacAddress::parse("02:00:00:00:00:07")}),
            "vf eth0 0 mac 02:00:00:00:00:07");
  EXPECT_EQ(
      done(plan::SetVfGuids{VfIndex{0}, Guid{5}, Guid{6}}),
      "vf eth0 0 node_guid 00:00:00:00:00:00:00:05 port_guid 00:00:00:00:00:00:00:06 -> EOPNOTSUPP; eth0: VF 0: node GUID 0000:0000:0000:0005, port GUID 0000:0000:0000:0006: RTM_SETLINK eth0 vf 0 node_guid 00:00:00:00:00:00:00:05: EOPNOTSUPP (Operation not supported) | eth0 has 1 VF now");
}

}  // namespace
}  // namespace railbed::apply

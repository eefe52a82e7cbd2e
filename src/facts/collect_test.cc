// SPDX-License-Identifier: Apache-2.0
// The facts of every fixture machine, against testdata/discover/<machine>/facts.json.
#include "facts/collect.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "doc/json.h"
#include "facts/facts_json.h"
#include "facts/fixture.h"
#include "os/fake/kernel.h"

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

// What only devlink has is in a recording as the kernel's answers; recordings of earlier versions have the values.
TEST(Collect, ValuesOfDevlinkAreReadFromRecordingsOfAllVersions) {
  auto files = parse_machine(
      "[/sys/devices/pci0000:00/0000:01:00.0]\n"
      "uevent = DRIVER=mlx5_core\\nPCI_CLASS=20000\\nPCI_ID=15B3:101D\n"
      "sriov_totalvfs = 8\n"
      "net/eth0/mtu = 1500\n"
      "/sys/bus/pci/devices/0000:01:00.0 -> ../../../devices/pci0000:00/0000:01:00.0\n"
      "/sys/class/net/eth0 -> ../../devices/pci0000:00/0000:01:00.0/net/eth0\n"
      "/railbed/host.json = {\"name\": \"a\", \"devlink\": [{\"pci\": \"0000:01:00.0\", "
      "\"eswitchMode\": \"switchdev\", \"firmware\": \"28.1\"}]}\n",
      "machine");
  ASSERT_TRUE(files.has_value()) << files.error().to_string();
  auto earlier = os::recorded_kernel_over(std::move(*files));
  ASSERT_TRUE(earlier.has_value()) << earlier.error().to_string();
  os::Recorder recorder(**earlier);
  NodeFacts facts = collect(recorder.kernel(), options());
  ASSERT_EQ(facts.nics.size(), 1U);
  EXPECT_EQ(facts.nics[0].eswitch_mode, EswitchMode::kSwitchdev);
  EXPECT_EQ(facts.nics[0].firmware, "28.1");

  const os::MemoryFiles* seen = recorder.files().value();
  for (const std::string left_out : {"", "/railbed/netlink.json"}) {  // as a recording of now, and as an earlier one
    auto kept = std::make_unique<os::MemoryFiles>();
    seen->each([&](const os::MemoryFiles::Entry& entry) {
      if (entry.path == left_out) return;
      if (entry.kind == os::MemoryFiles::Entry::Kind::kDirectory) kept->put_directory(entry.path);
      if (entry.kind == os::MemoryFiles::Entry::Kind::kFile) kept->put_file(entry.path, entry.text);
      if (entry.kind == os::MemoryFiles::Entry::Kind::kLink) kept->put_link(entry.path, entry.text);
    });
    EXPECT_TRUE(seen->exists("/railbed/netlink.json"));
    auto again = os::recorded_kernel_over(std::move(kept));
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(doc::to_json(to_value(collect(**again, options())), 2), doc::to_json(to_value(facts), 2)) << left_out;
  }
}

// What a sandbox or a lack of descriptors hides is reported, also by a recording; what the kernel lacks is not.
TEST(Collect, ReportsAFamilyThatCannotBeReached) {
  const struct {
    os::NetlinkFamily family;
    int sys_errno;
    std::vector<std::string> problems;
  } cases[] = {
      {os::NetlinkFamily::kDevlink, 0, {}},
      {os::NetlinkFamily::kDevlink,
       EMFILE,
       {"eswitch modes and firmware versions: socket NETLINK_GENERIC: EMFILE (Too many open files)"}},
      {os::NetlinkFamily::kDevlink,
       EPERM,
       {"eswitch modes and firmware versions: socket NETLINK_GENERIC: EPERM (Operation not permitted)"}},
      {os::NetlinkFamily::kDevlink,
       EAFNOSUPPORT,
       {"eswitch modes and firmware versions: socket NETLINK_GENERIC: EAFNOSUPPORT (Address family not supported by "
        "protocol)"}},
      {os::NetlinkFamily::kDevlink, EPROTONOSUPPORT, {}},
      {os::NetlinkFamily::kRdma, EMFILE, {"socket NETLINK_RDMA: EMFILE (Too many open files)"}},
      {os::NetlinkFamily::kRdma, EACCES, {"socket NETLINK_RDMA: EACCES (Permission denied)"}},
      {os::NetlinkFamily::kRdma, EPROTONOSUPPORT, {}},
  };
  os::FakeMachine machine;
  machine.pfs = {os::FakePf::mlx5(PciAddress{0, 0x3b, 0, 0}, "eth4")};
  for (const auto& one : cases) {
    os::FakeKernel kernel(machine);
    kernel.refuse_netlink(one.family, one.sys_errno);
    os::Recorder recorder(kernel);
    const NodeFacts live = collect(recorder.kernel(), options());
    EXPECT_EQ(live.problems, one.problems) << one.sys_errno;
    const bool knows_mode = one.family != os::NetlinkFamily::kDevlink || one.sys_errno == 0;
    EXPECT_EQ(live.nics.at(0).eswitch_mode.has_value(), knows_mode) << one.sys_errno;
    auto kept = std::make_unique<os::MemoryFiles>();
    recorder.files().value()->each([&](const os::MemoryFiles::Entry& entry) {
      if (entry.kind == os::MemoryFiles::Entry::Kind::kDirectory) kept->put_directory(entry.path);
      if (entry.kind == os::MemoryFiles::Entry::Kind::kFile) kept->put_file(entry.path, entry.text);
      if (entry.kind == os::MemoryFiles::Entry::Kind::kLink) kept->put_link(entry.path, entry.text);
    });
    auto again = os::recorded_kernel_over(std::move(kept));
    ASSERT_TRUE(again.has_value()) << again.error().to_string();
    EXPECT_EQ(collect(**again, options()).problems, one.problems) << one.sys_errno;
  }
}

TEST(Collect, AnEmptyMachineIsNoFailure) {
  NodeFacts facts = facts_of("");
  EXPECT_TRUE(facts.nics.empty());
  EXPECT_EQ(facts.problems, std::vector<std::string>{});
}

}  // namespace
}  // namespace railbed::facts

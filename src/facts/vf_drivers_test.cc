// SPDX-License-Identifier: Apache-2.0
#include "facts/vf_drivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/fixture.h"

namespace railbed::facts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_fixture::facts_of;

std::vector<std::string> lines_of(const std::vector<ModuleBlock>& blocks) {
  std::vector<std::string> lines;
  for (const ModuleBlock& one : blocks)
    lines.push_back(fmt::format("{}:{}: {}: {}", one.file, one.line, one.module, one.text));
  return lines;
}

std::vector<std::string> in_file(std::string_view text) {
  return lines_of(blocks_in_modprobe_file(text, "f", {"iavf", "ixgbevf", "mlx5_core"}));
}

TEST(ModuleBlocks, AreLinesThatModprobeObeys) {
  EXPECT_THAT(in_file("# VFs are for guests\nblacklist iavf\n"), ElementsAre("f:2: iavf: blacklist iavf"));
  EXPECT_THAT(in_file("blacklist\tiavf # why\r\nblacklist other\nblacklist ixgbevf"),
              ElementsAre("f:1: iavf: blacklist\tiavf # why\r", "f:3: ixgbevf: blacklist ixgbevf"));
  EXPECT_THAT(in_file("install iavf /bin/true\ninstall ixgbevf /usr/bin/false\ninstall mlx5-core :\n"),
              ElementsAre("f:1: iavf: install iavf /bin/true", "f:2: ixgbevf: install ixgbevf /usr/bin/false",
                          "f:3: mlx5_core: install mlx5-core :"));
  EXPECT_THAT(in_file("\n  blacklist \\\n  mlx5-core\n"), ElementsAre("f:2: mlx5_core:   blacklist    mlx5-core"));
  EXPECT_THAT(in_file("#blacklist iavf\nalias pci:v* iavf\noptions iavf debug=1\nremove iavf /bin/true\nblacklist\n"
                      "install iavf /sbin/modprobe --ignore-install iavf\nblacklist iavf2\ninstall iavf\n\\"),
              IsEmpty());
}

TEST(ModuleBlocks, AreParametersOfTheKernel) {
  const auto in_line = [](std::string_view text) { return lines_of(blocks_in_command_line(text, {"iavf", "igbvf"})); };
  EXPECT_THAT(in_line("quiet modprobe.blacklist=nouveau,iavf ro"),
              ElementsAre("/proc/cmdline:1: iavf: modprobe.blacklist=nouveau,iavf"));
  EXPECT_THAT(in_line("module_blacklist=igbvf\n"), ElementsAre("/proc/cmdline:1: igbvf: module_blacklist=igbvf"));
  EXPECT_THAT(in_line("blacklist=iavf iavf modprobe.blacklist= xmodule_blacklist=iavf"), IsEmpty());
}

TEST(ModuleBlocks, AFileHidesThoseOfItsNameInLaterFolders) {
  const std::string machine =
      "/sys/bus/pci/devices/0000:3b:00.0 -> ../../../devices/pci0000:3a/0000:3b:00.0\n"
      "/sys/bus/pci/devices/0000:3b:02.0 -> ../../../devices/pci0000:3a/0000:3b:02.0\n"
      "[/sys/devices/pci0000:3a/0000:3b:00.0]\n"
      "uevent = DRIVER=i40e\\nPCI_CLASS=20000\\nPCI_ID=8086:1572\n"
      "sriov_totalvfs = 8\n"
      "sriov_numvfs = 1\n"
      "sriov_drivers_autoprobe = 1\n"
      "virtfn0 -> ../0000:3b:02.0\n"
      "[/sys/devices/pci0000:3a/0000:3b:02.0]\n"
      "uevent = {}PCI_CLASS=20000\\nPCI_ID=8086:154C\n"
      "physfn -> ../0000:3b:00.0\n"
      "[/lib/modprobe.d]\n"
      "vf.conf = blacklist iavf\n"
      "z.conf = blacklist iavf\n"
      "z.txt = blacklist iavf\n";
  const auto blocks_of = [&](std::string_view driver, std::string_view more) {
    std::string text = machine;
    text.replace(text.find("{}"), 2, driver);
    return lines_of(facts_of(text + std::string(more)).module_blocks);
  };
  EXPECT_THAT(blocks_of("", ""), ElementsAre("/lib/modprobe.d/vf.conf:1: iavf: blacklist iavf"));
  EXPECT_THAT(blocks_of("", "/etc/modprobe.d/vf.conf = # none\n"),
              ElementsAre("/lib/modprobe.d/z.conf:1: iavf: blacklist iavf"));
  EXPECT_THAT(blocks_of("", "/run/modprobe.d/a.conf = install iavf /bin/false\n"),
              ElementsAre("/run/modprobe.d/a.conf:1: iavf: install iavf /bin/false"));
  // Nothing is read where VFs have their driver.
  EXPECT_THAT(blocks_of("DRIVER=iavf\\n", ""), IsEmpty());
}

TEST(VfDriver, IsThatOfOtherVfsOrGoesWithThePfs) {
  Nic nic;
  nic.pci.driver = "ixgbe";
  EXPECT_EQ(vf_driver(nic), "ixgbevf");
  nic.vfs.resize(3);
  nic.vfs[1].pci.driver = "vfio-pci";
  EXPECT_EQ(vf_driver(nic), "ixgbevf");
  nic.vfs[2].pci.driver = "another";
  EXPECT_EQ(vf_driver(nic), "another");
  const std::pair<const char*, const char*> pairs[] = {{"i40e", "iavf"},           {"ice", "iavf"}, {"igb", "igbvf"},
                                                       {"mlx5_core", "mlx5_core"}, {"", ""},        {"vfio-pci", ""}};
  for (const auto& [pf, vf] : pairs) {
    Nic other;
    other.pci.driver = pf;
    EXPECT_EQ(vf_driver(other), vf) << pf;
  }
  EXPECT_TRUE(is_vf_module("iavf"));
  EXPECT_FALSE(is_vf_module("mlx5_core"));
  EXPECT_FALSE(is_vf_module(""));
}

TEST(VfDriver, IsMissedOnlyWhereTheKernelShouldBindOne) {
  Nic nic;
  nic.vfs.resize(2);
  nic.vfs[0].pci.driver = "iavf";
  EXPECT_EQ(vfs_without_driver(nic).size(), 1U);  // a kernel that has no autoprobe to switch off
  nic.vfs_autoprobe = true;
  EXPECT_EQ(vfs_without_driver(nic).size(), 1U);
  nic.vfs_autoprobe = false;
  EXPECT_TRUE(vfs_without_driver(nic).empty());
}

}  // namespace
}  // namespace railbed::facts

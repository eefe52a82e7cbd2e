// SPDX-License-Identifier: Apache-2.0
#include "preflight/read_node.h"

#include <gtest/gtest.h>

#include "os/record/memory_files.h"

namespace railbed::preflight {
namespace {

TEST(ReadNode, FindsMountsThatAreReadOnly) {
  constexpr const char* kMounts =
      "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "30 21 8:2 / /usr ro,relatime shared:2 master:1 - ext4 /dev/sda2 rw\n"
      "31 21 8:3 / /opt rw,relatime - squashfs /dev/sda3 ro,errors=continue\n"
      "32 31 0:5 / /opt/cni rw,relatime - tmpfs tmpfs rw,rota\n"
      "33 21 0:6 / /etc rw - tmpfs tmpfs rw\n"
      "34 21 0:7 / /etc ro - tmpfs tmpfs rw\n"
      "broken\n";
  struct Case {
    const char* path;
    bool read_only;
  };
  for (const Case& one : {Case{"/", false},
                          {"/usr/lib/cni", true},
                          {"/usrlocal", false},
                          {"/opt/bin", true},
                          {"/opt/cni", false},
                          {"/opt/cni/bin", false},
                          {"/etc/cni/net.d", true}})
    EXPECT_EQ(is_read_only(kMounts, one.path), one.read_only) << one.path;
  EXPECT_FALSE(is_read_only("", "/etc"));
}

TEST(ReadNode, LooksBelowTheFolderWhereTheNodeIs) {
  os::MemoryFiles files;
  files.put_file("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 a rw\n2 1 8:1 / /host/opt ro - ext4 a rw\n");
  files.put_file("/host/etc/cni/net.d/10-a.conflist", "{}");
  files.put_directory("/host/opt/cni/bin");
  files.put_file("/host/var/lib/kubelet/config.yaml",
                 "kind: KubeletConfiguration\ntopologyManagerPolicy: restricted\n");
  files.put_file("/sys/bus/pci/devices/0000:01:00.0/sriov_totalvfs", "8\n");
  files.put_file("/sys/bus/pci/devices/0000:02:00.0/sriov_totalvfs", "0\n");
  files.put_file("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x8086\n");
  const NodeLook look = look_at_node(files, {.name = "node1", .root = "/host"});
  EXPECT_EQ(look.name, "node1");
  EXPECT_EQ(look.conf, Folder::kWritable);
  EXPECT_EQ(look.bin, Folder::kReadOnly);
  ASSERT_EQ(look.files.size(), 1u);
  EXPECT_EQ(look.files[0].name, "10-a.conflist");
  EXPECT_EQ(look.files[0].text, "{}");
  EXPECT_EQ(look.pfs, std::vector<std::string>{"0000:01:00.0"});
  EXPECT_EQ(look.topology_policy, "restricted");
}

// The Job's own mounts are all read-only.
TEST(ReadNode, TakesTheNodesOwnMountsWhereAPodHasThem) {
  os::MemoryFiles files;
  files.put_file(
      "/proc/self/mountinfo",
      "1 0 8:1 / / ro - ext4 a rw\n2 1 8:1 / /host/etc/cni ro - ext4 a rw\n3 1 8:1 / /host/opt/cni ro - ext4 a rw\n");
  files.put_file("/host/proc/1/mountinfo", "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /opt ro - ext4 b rw\n");
  files.put_directory("/host/etc/cni/net.d");
  files.put_directory("/host/opt/cni/bin");
  const NodeLook look = look_at_node(files, {.name = "node1", .root = "/host/"});
  EXPECT_EQ(look.conf, Folder::kWritable);
  EXPECT_EQ(look.bin, Folder::kReadOnly);
}

TEST(ReadNode, TakesWhatIsNotThereForMissing) {
  os::MemoryFiles files;
  const NodeLook look = look_at_node(files, {.name = "node1"});
  EXPECT_EQ(look.conf, Folder::kMissing);
  EXPECT_EQ(look.bin, Folder::kMissing);
  EXPECT_TRUE(look.files.empty());
  EXPECT_TRUE(look.pfs.empty());
  EXPECT_FALSE(look.topology_policy.has_value());
}

}  // namespace
}  // namespace railbed::preflight

// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_owner.h"

#include <gtest/gtest.h>

#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

class CellOwnerTest : public testing::Test {
 protected:
  kube::fake::ApiServer server_;
  kube::fake::FakeClock clock_;
  kube::Client client_{server_, clock_, {.retry = {.tries = 1}}};

  void put_node(const std::string& uuid) {
    doc::Value node = kube::fake::object("Node", "", "node1"), status = doc::Value::object(),
               info = doc::Value::object();
    if (!uuid.empty()) info.set("systemUUID", uuid);
    status.set("nodeInfo", std::move(info));
    node.set("status", std::move(status));
    server_.put("/api/v1/nodes/node1", node);
  }
  std::string reported(const MachineIdentity& machine) {
    const auto owner = cell_owner(client_, "node1", machine, {});
    if (!owner.has_value()) return owner.error().story();
    return fmt::format("{} {} {}", owner->holder.node, owner->holder.system_uuid, owner->holder.boot_id);
  }
};

TEST_F(CellOwnerTest, IsWhatMachineAndNodeAgreeOn) {
  const MachineIdentity machine{.uuids = {"4c4c4544-0001", "machine-id"}, .boot_id = "boot-1"};
  EXPECT_EQ(reported(machine), "Node node1 not found; addresses are leased in its name");
  put_node("");
  EXPECT_EQ(reported(machine), "the Node node1 has no status.nodeInfo.systemUUID yet");
  put_node("other");
  EXPECT_EQ(reported(machine),
            "the Node node1 belongs to another machine with the system UUID other; this one has 4c4c4544-0001");
  EXPECT_EQ(reported({.uuids = {}, .boot_id = "boot-1"}),
            "the Node node1 belongs to another machine with the system UUID other; this one has none");
  put_node("4C4C4544-0001");
  EXPECT_EQ(reported(machine), "node1 4C4C4544-0001 boot-1")
      << "as the Node reports it, with which the operator compares";
  put_node("machine-id");
  EXPECT_EQ(reported(machine), "node1 machine-id boot-1");
  EXPECT_EQ(reported({.uuids = {"machine-id"}, .boot_id = ""}),
            "the boot id of this machine is unknown: /proc/sys/kernel/random/boot_id cannot be read");
}

TEST_F(CellOwnerTest, ReadsWhatTheKubeletReads) {
  os::FakeKernel kernel;
  EXPECT_TRUE(machine_identity(kernel).uuids.empty());
  kernel.put_file("/sys/class/dmi/id/product_uuid", "4C4C4544-0001\n");
  kernel.put_file("/proc/device-tree/vm,uuid", std::string("abc\0", 4));
  kernel.put_file("/etc/machine-id", "\n");
  const MachineIdentity machine = machine_identity(kernel);
  EXPECT_EQ(fmt::format("{}", fmt::join(machine.uuids, " ")), "4c4c4544-0001 abc");
  EXPECT_EQ(machine.boot_id, kernel.boot_id());
}

}  // namespace
}  // namespace railbed::agent

// SPDX-License-Identifier: Apache-2.0
// Finds everything that belongs to vanished namespaces; removing takes all of that and nothing else.
#include "agent/leftovers/leftovers.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/addresses/address_notes.h"
#include "agent/leftovers/in_use.h"
#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"
#include "agent/test_requests.h"
#include "attach/record.h"
#include "doc/json.h"
#include "ipam/test_ranges.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using ipam::ip;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kGone = "/run/netns/gone";
constexpr const char* kOurFile = "/var/lib/cni/networks/n/10.0.0.2";
constexpr const char* kTheirFile = "/var/lib/cni/networks/n/10.0.0.3";

class LeftoversTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kernel.netns().create("a"));
    ASSERT_TRUE(store->put_note(std::string(kDirectoryNotes) + "/var/lib/cni/networks/n", "n"));
    kernel.put_program("/opt/cni/bin/bridge", [this](const os::RunRequest&) -> Result<os::RunResult> {
      ++runs;
      return os::RunResult{.exit_status = status, .output = status == 0 ? "" : R"({"code":11,"msg":"busy"})"};
    });
  }

  void put_program(const std::string& netns, state::AttachmentStatus as) {
    state::Attachment record = program_record("ns/p@c1", "n", 0,
                                              {.type = "bridge",
                                               .container_id = "c1",
                                               .netns = netns,
                                               .ifname = "eth0",
                                               .args = "",
                                               .path = {"/opt/cni/bin"},
                                               .config = "{}"},
                                              "1.0.0");
    record.status = as;
    ASSERT_TRUE(store->put_attachment(record));
  }

  void put_file(const char* path, const std::string& container, bool ours) {
    const std::string content = container + "\r\nnet1";
    disk.put(path, content);
    if (ours) {
      ASSERT_TRUE(store->put_note(key_of(FileNote{{"ns/p@" + container, "net1"}, path}), content));
    }
  }

  std::vector<std::string> found() {
    auto all = find_leftovers(kernel, store.get(), disk, kPendingFolder, durable);
    EXPECT_TRUE(all.has_value());
    leftovers = all.has_value() ? *all : std::vector<Leftover>{};
    std::vector<std::string> lines;
    for (const Leftover& one : leftovers) lines.push_back(fmt::format("{} {}", kind_name(one.kind), one.what));
    return lines;
  }
  void remove() { ASSERT_TRUE(remove_leftovers(kernel, *store, disk, durable, leftovers)); }

  os::FakeKernel kernel;
  os::FakeDisk disk;
  DurableRecords durable{disk, kDurableRecords, kernel.boot_id()};
  std::unique_ptr<state::Store> store = state::memory_store();
  std::vector<Leftover> leftovers;
  int status = 0;
  int runs = 0;
};

TEST_F(LeftoversTest, NothingIsFoundWherePodsAreAsTheyAreRecorded) {
  put_program("/run/netns/a", state::AttachmentStatus::kAttached);
  ASSERT_TRUE(store->put_lease({"pool", ip("10.0.0.9"), "ns/p", "net1"}));  // a plan
  put_file(kOurFile, "c1", true);
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(*find_leftovers(kernel, nullptr, disk, kPendingFolder, durable), IsEmpty());
}

TEST_F(LeftoversTest, ProgramsAreUndoneThatLostTheirNamespaceOrNeverEnded) {
  for (auto [netns, as] : {std::pair{kGone, state::AttachmentStatus::kAttached},
                           std::pair{"/run/netns/a", state::AttachmentStatus::kBegun}}) {
    put_program(netns, as);
    ASSERT_THAT(found(), ElementsAre("program exec:eth0#0"));
    EXPECT_FALSE(leftovers[0].removed);
    status = 1;
    remove();
    EXPECT_FALSE(leftovers[0].removed);
    EXPECT_EQ(leftovers[0].error, "plugin bridge: busy");
    EXPECT_EQ(store->attachments()->size(), 1u);
    status = 0;
    remove();
    EXPECT_TRUE(leftovers[0].removed);
    EXPECT_THAT(found(), IsEmpty());
  }
  EXPECT_EQ(runs, 4);
}

// The record of a moved interface; `before` describes the device.
void put_moved(state::Store& store, const std::string& device, attach::Before before) {
  before.netns = os::NetnsIdentity{.number = 77};
  before.nsid = os::Nsid{9};  // which no namespace has any more
  ASSERT_TRUE(store.put_attachment({.pod = "ns/p@c1",
                                    .interface = "net1",
                                    .netns = kGone,
                                    .network = "n",
                                    .type = "host-device",
                                    .status = state::AttachmentStatus::kAttached,
                                    .device = device,
                                    .resource = "",
                                    .undo = attach::undo_text({.interface = "net1"}, before),
                                    .result = ""}));
}

TEST_F(LeftoversTest, AnInterfaceWhoseDeviceIsGoneIsGivenUpAtOnce) {
  const attach::Before pci{.device = *PciAddress::parse("0000:77:00.2"), .name = "eth9"};
  const attach::Before auxiliary{.name = "eth9", .parent = "auxiliary/devices/mlx5_core.sf.4"};
  for (const auto& [device, before] : {std::pair{"0000:77:00.2", pci}, std::pair{"mlx5_core.sf.4", auxiliary}}) {
    put_moved(*store, device, before);
    ASSERT_THAT(found(), ElementsAre("interface net1"));
    const os::Deadline begin = kernel.clock().now();
    remove();
    EXPECT_EQ(kernel.clock().now(), begin);
    EXPECT_TRUE(leftovers[0].removed);
    EXPECT_EQ(leftovers[0].error, "");
    EXPECT_EQ(leftovers[0].note, fmt::format("{} no longer exists on this machine: nothing to restore", device));
    EXPECT_THAT(found(), IsEmpty());
  }
}

// Of a pod whose DEL has come.
void put_orphan(state::Store& store, const std::string& netns, attach::Before before) {
  before.orphaned_at_s = 1'800'000'000;
  ASSERT_TRUE(store.put_attachment({.pod = "ns/p@c1",
                                    .interface = "net1",
                                    .netns = netns,
                                    .network = "n",
                                    .type = "host-device",
                                    .status = state::AttachmentStatus::kDetaching,
                                    .device = "0000:77:00.2",
                                    .resource = "",
                                    .undo = attach::undo_text({.interface = "net1"}, before),
                                    .result = ""}));
}

// Nothing proves that its namespace has ended: it is shown, and cannot be removed.
TEST_F(LeftoversTest, AnOrphanIsShownAndStays) {
  put_orphan(*store, kGone, {.device = *PciAddress::parse("0000:77:00.2"), .name = "eth9"});
  ASSERT_THAT(found(), ElementsAre("interface net1"));
  EXPECT_FALSE(leftovers[0].removable);
  EXPECT_EQ(leftovers[0].why,
            fmt::format("orphaned after its DEL: network namespace {} was not found, but still exists", kGone));
  remove();
  EXPECT_FALSE(leftovers[0].removed);
  EXPECT_EQ(store->attachments()->size(), 1u);
}

TEST_F(LeftoversTest, AnOrphanOfAVirtualMachineStaysUntilItsGroupIsClosed) {
  const std::string folder = "/sys/bus/pci/devices/0000:77:00.2";
  kernel.put_link(folder + "/driver", "../../../../bus/pci/drivers/vfio-pci");
  kernel.put_link(folder + "/iommu_group", "../../../../kernel/iommu_groups/7");
  kernel.put_file("/dev/vfio/7", "");
  kernel.use_file("/dev/vfio/7");
  put_orphan(*store, "/run/netns/a",
             {.device = *PciAddress::parse("0000:77:00.2"),
              .driver = "igbvf",
              .name = "eth9",
              .orphaned_by = attach::OrphanedBy::kVfio,
              .vfio_group = "/dev/vfio/7"});
  ASSERT_THAT(found(), ElementsAre("interface net1"));
  EXPECT_FALSE(leftovers[0].removable);
  EXPECT_EQ(leftovers[0].why,
            "orphaned after its DEL: /dev/vfio/7 is open: a virtual machine may still use 0000:77:00.2");
  EXPECT_EQ(leftovers[0].hint, "device and addresses stay reserved until no process has /dev/vfio/7 open");
  kernel.use_file("/dev/vfio/7", false);
  ASSERT_THAT(found(), ElementsAre("interface net1"));
  EXPECT_TRUE(leftovers[0].removable);
}

TEST_F(LeftoversTest, AnOrphanThatItsPodHasHiddenStays) {
  put_orphan(
      *store, "/run/netns/a",
      {.device = *PciAddress::parse("0000:77:00.2"), .name = "eth9", .orphaned_by = attach::OrphanedBy::kHidden});
  ASSERT_THAT(found(), ElementsAre("interface net1"));
  EXPECT_FALSE(leftovers[0].removable);
  EXPECT_EQ(leftovers[0].hint, "device and addresses stay reserved until that namespace ends");
}

TEST_F(LeftoversTest, AnInterfaceWhoseDeviceHasNoDriverIsGivenUpToo) {
  kernel.put_file("/sys/bus/auxiliary/devices/mlx5_core.sf.4/sfnum", "88");
  put_moved(*store, "mlx5_core.sf.4", {.name = "eth9", .parent = "auxiliary/devices/mlx5_core.sf.4"});
  ASSERT_THAT(found(), ElementsAre("interface net1"));
  remove();
  EXPECT_EQ(leftovers[0].note, "mlx5_core.sf.4 no longer has an interface: nothing to restore");
}

TEST_F(LeftoversTest, AddressesOfSandboxesWithoutTheInterfaceAreGivenBack) {
  ASSERT_TRUE(store->put_lease({"pool", ip("10.0.0.1"), "ns/p@c1", "net1"}));
  ASSERT_TRUE(store->put_lease({"pool", ip("10.0.0.2"), "ns/p", "net1"}));
  ASSERT_THAT(found(), ElementsAre("address 10.0.0.1"));
  EXPECT_EQ(leftovers[0].pod, "ns/p@c1");
  remove();
  EXPECT_TRUE(leftovers[0].removed);
  ASSERT_EQ(store->all_leases()->size(), 1u);
  EXPECT_EQ(store->all_leases()->front().pod, "ns/p");
}

TEST_F(LeftoversTest, AddressesOfBeforeTheSwitchStayWithContainersThatAreKnown) {
  for (const auto& [pod, where] : {std::pair{"ns/p@c1", kHere}, std::pair{"ns/q@c2", kElsewhere}}) {
    ASSERT_TRUE(store->put_lease({"whereabouts", ip(where == kHere ? "10.0.0.1" : "10.0.0.2"), pod, "net1"}));
    ASSERT_TRUE(store->put_note(adopted_key({pod, "net1"}), where));
  }
  disk.put("/var/lib/cni/multus/c1", "[]");
  EXPECT_THAT(found(), IsEmpty());
  ASSERT_TRUE(disk.remove("/var/lib/cni/multus/c1").has_value());
  ASSERT_THAT(found(), ElementsAre("address 10.0.0.1"));
  EXPECT_EQ(leftovers[0].why, "whereabouts allocated it to container c1, which is unknown");
  remove();
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_EQ(store->notes(kAdoptedNotes)->size(), 1u);
}

TEST_F(LeftoversTest, SandboxesAreForgottenWithTheirFiles) {
  disk.put("/var/run/k8s.cni.cncf.io/devinfo/cni/x", "{}");
  ASSERT_TRUE(put_sandbox_note(*store, {.key = "ns/p@c1",
                                        .network = "pods",
                                        .ifname = "eth0",
                                        .netns = kGone,
                                        .pod_uid = "",
                                        .device_info = {"/var/run/k8s.cni.cncf.io/devinfo/cni/x"}}));
  EXPECT_THAT(found(), ElementsAre("sandbox eth0"));
  remove();
  EXPECT_TRUE(disk.files().empty());
  EXPECT_THAT(found(), IsEmpty());
}

// As a killed agent leaves it: its last interface went, its name did not.
TEST_F(LeftoversTest, APodWithoutInterfacesIsForgotten) {
  ASSERT_TRUE(store->put_pod({.pod = "ns/p@c1", .netns = "/run/netns/a", .netns_name = "", .netns_ours = false}));
  ASSERT_TRUE(store->put_pod({.pod = "ns/p", .netns = "/run/netns/a", .netns_name = "", .netns_ours = false}));
  EXPECT_THAT(found(), ElementsAre("sandbox /run/netns/a"));
  remove();
  ASSERT_EQ(store->pods()->size(), 1u);
  EXPECT_EQ(store->pods()->front().pod, "ns/p");  // of the manifests
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LeftoversTest, FilesOfBeforeTheStateGoWhereNoOneHasTheirAddress) {
  ASSERT_TRUE(store->put_note(kLooked, "1000"));
  put_file(kTheirFile, "old", false);
  disk.put(kTheirFile, "old\r\neth0", 1001);
  ASSERT_THAT(found(), ElementsAre(std::string("file ") + kTheirFile));
  EXPECT_FALSE(leftovers[0].removable) << "it was written later";
  disk.put(kTheirFile, "old\r\neth0", 1000);
  {
    auto netns = kernel.netns().open("/run/netns/a");
    auto links = kernel.netns().links(**netns);
    ASSERT_TRUE((*links)->create({.kind = "dummy", .name = IfName{"eth0"}, .netns = netns->get()}));
    const IfIndex index = (*links)->find(IfName{"eth0"}, os::WithVfs::kNo)->index;
    ASSERT_TRUE((*links)->add_address({index, *IpPrefix::parse("10.0.0.3/24")}));
    ASSERT_THAT(found(), ElementsAre(std::string("file ") + kTheirFile));
    EXPECT_FALSE(leftovers[0].removable) << "an interface has the address";
    ASSERT_TRUE((*links)->remove(index));
  }
  ASSERT_THAT(found(), ElementsAre(std::string("file ") + kTheirFile));
  ASSERT_TRUE(leftovers[0].removable);
  EXPECT_EQ(
      leftovers[0].why,
      "its container old is unknown, the file is older than railbed's state, and no interface of this machine has the "
      "address");
  disk.put(kTheirFile, "new\r\neth0", 1000);
  remove();
  EXPECT_EQ(leftovers[0].error, std::string(kTheirFile) + " now belongs to another owner");
  disk.put(kTheirFile, "old\r\neth0", 1000);
  remove();
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_FALSE(disk.files().contains(kTheirFile));
}

TEST_F(LeftoversTest, AFileOfAKnownContainerHidesNoOther) {
  disk.put("/var/lib/cni/multus/alive", "[]");
  put_file(kOurFile, "alive", true);
  put_file(kTheirFile, "old", false);
  EXPECT_THAT(found(), ElementsAre(std::string("file ") + kTheirFile));
}

TEST_F(LeftoversTest, FilesOfUnknownContainersAreRemovedWhereTheyAreOurs) {
  put_file(kOurFile, "dead", true);
  put_file(kTheirFile, "old", false);
  disk.put("/var/lib/cni/networks/n/last_reserved_ip.0", "10.0.0.3");
  ASSERT_TRUE(store->put_lease({"pool", ip("10.0.0.2"), "ns/p", "net1"}));
  ASSERT_THAT(found(), ElementsAre(std::string("file ") + kOurFile, std::string("file ") + kTheirFile));
  EXPECT_TRUE(leftovers[0].removable);
  EXPECT_THAT(leftovers[0].why, HasSubstr("container dead"));
  EXPECT_FALSE(leftovers[1].removable);
  remove();
  EXPECT_TRUE(leftovers[0].removed);
  EXPECT_FALSE(leftovers[1].removed);
  EXPECT_FALSE(disk.files().contains(kOurFile));
  EXPECT_TRUE(disk.files().contains(kTheirFile));
  EXPECT_THAT(*store->notes(kFileNotes), IsEmpty());
  EXPECT_EQ(store->all_leases()->size(), 1u);  // the lease of another owner
}

TEST_F(LeftoversTest, FilesOfContainersThatTheRuntimeKnowsAreNone) {
  put_file(kTheirFile, "c7", false);
  put_file(kOurFile, "c8", false);
  EXPECT_EQ(found().size(), 2u);
  disk.put("/var/lib/cni/results/n-c7-eth0", "{}");
  disk.put("/var/lib/cni/multus/c8", "[]");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LeftoversTest, AFileThatChangedHandsStays) {
  put_file(kOurFile, "dead", true);
  ASSERT_EQ(found().size(), 1u);
  disk.put(kOurFile, "other\r\nnet1");
  remove();
  EXPECT_FALSE(leftovers[0].removed);
  EXPECT_THAT(leftovers[0].error, HasSubstr("another owner"));
  EXPECT_TRUE(disk.files().contains(kOurFile));
}

TEST_F(LeftoversTest, DelsThatWaitAreShownOnly) {
  disk.put(std::string(kPendingFolder) + "/1.del", "{}");
  ASSERT_THAT(found(), ElementsAre(std::string("pending ") + kPendingFolder + "/1.del"));
  remove();
  EXPECT_FALSE(leftovers[0].removed);
  EXPECT_EQ(disk.files().size(), 1u);
}

TEST_F(LeftoversTest, AreReportedToPrograms) {
  put_file(kTheirFile, "old", false);
  ASSERT_TRUE(store->put_lease({"pool", ip("10.0.0.1"), "ns/p@c1", "net1"}));
  found();
  EXPECT_EQ(doc::to_json(to_value(leftovers)),
            R"({"apiVersion":"railbed.dev/v1","kind":"Leftovers","leftovers":[)"
            R"({"kind":"address","what":"10.0.0.1","pod":"ns/p@c1","why":"the sandbox has no interface net1",)"
            R"("pool":"pool","removable":true,"removed":false},)"
            R"({"kind":"file","what":"/var/lib/cni/networks/n/10.0.0.3",)"
            R"("why":"its container old is unknown","removable":false,"removed":false}]})");
}

}  // namespace
}  // namespace railbed::agent

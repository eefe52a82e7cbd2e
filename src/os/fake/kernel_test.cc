// SPDX-License-Identifier: Apache-2.0
// The fake kernel follows the rules in its header. LinkPort and NetnsPort run the same tests as the real ones, in
// tests/netns.
#include "os/fake/kernel.h"

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

#include "os/netlink/devlink.h"

namespace railbed::os {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPf = "/sys/bus/pci/devices/0000:01:00.0";
constexpr const char* kVf = "/sys/bus/pci/devices/0000:01:10.0";

std::string pf_file(const char* name) {
  return fmt::format("{}/{}", kPf, name);
}
std::string vf_file(const char* name) {
  return fmt::format("{}/{}", kVf, name);
}

class FakeKernelTest : public testing::Test {
 protected:
  std::string write(const std::string& path, const std::string& content) {
    auto written = kernel_.files().write(path, content);
    return written ? "" : written.error().message;
  }
  std::string write_pf(const std::string& name, const std::string& content) {
    return write(fmt::format("{}/{}", kPf, name), content);
  }
  std::string write_vf(const std::string& name, const std::string& content) {
    return write(fmt::format("{}/{}", kVf, name), content);
  }
  std::string driver() { return link_name(kernel_.files(), vf_file("driver")).value_or("-"); }
  bool exists(const std::string& path) { return kernel_.files().exists(path); }
  std::string line(const std::string& path) { return read_line(kernel_.files(), path).value_or("-"); }
  std::vector<std::string> vf_events(UeventStream& stream) {
    std::vector<std::string> events;
    while (auto event = stream.next(kernel_.clock().now()))
      events.push_back(event->action + " " + event->devpath.substr(event->devpath.rfind('/') + 1));
    return events;
  }

  FakeKernel kernel_;
};

TEST_F(FakeKernelTest, VfsAppearWithLinksDriverInterfaceAndEvents) {
  auto stream = kernel_.uevents().open().value();
  ASSERT_EQ(write_pf("sriov_numvfs", "2\n"), "");
  EXPECT_EQ(line(pf_file("sriov_numvfs")), "2");
  EXPECT_EQ(link_name(kernel_.files(), pf_file("virtfn1")), "0000:01:10.2");
  EXPECT_EQ(line(pf_file("virtfn1/device")), "0x10ca");
  EXPECT_EQ(link_name(kernel_.files(), vf_file("physfn")), "0000:01:00.0");
  EXPECT_EQ(kernel_.files().real_path(vf_file("physfn")), kernel_.files().real_path(kPf).value());
  EXPECT_EQ(driver(), "igbvf");
  EXPECT_TRUE(exists("/sys/bus/pci/drivers/igbvf/0000:01:10.0"));
  EXPECT_TRUE(exists(vf_file("iommu_group/devices/0000:01:10.0")));
  EXPECT_EQ(kernel_.files().list(vf_file("net")), std::vector<std::string>{"eth0v0"});
  EXPECT_EQ(kernel_.files().real_path("/sys/class/net/eth0v0/device"), kernel_.files().real_path(kVf).value());
  EXPECT_EQ(vf_events(*stream), (std::vector<std::string>{"add 0000:01:10.0", "bind 0000:01:10.0", "add eth0v0",
                                                          "add 0000:01:10.2", "bind 0000:01:10.2", "add eth0v1"}));
  auto links = kernel_.links().value();
  EXPECT_EQ(links->find(IfName{"eth0v1"}, WithVfs::kNo)->parent_device, "0000:01:10.2");
  EXPECT_EQ(links->find(IfName{"eth0"}, WithVfs::kYes)->vfs.size(), 2U);
  EXPECT_EQ(links->find(IfName{"eth0"}, WithVfs::kNo)->num_vfs, 2);

  ASSERT_EQ(write_pf("sriov_numvfs", "0"), "");
  EXPECT_FALSE(exists(kVf));
  EXPECT_FALSE(exists(pf_file("virtfn0")));
  EXPECT_FALSE(links->find(IfName{"eth0v1"}, WithVfs::kNo).has_value());
  EXPECT_EQ(kernel_.files().list("/sys/kernel/iommu_groups")->size(), 2U);
}

TEST_F(FakeKernelTest, VfCountsAreRefusedAsByTheKernel) {
  std::string what = fmt::format("write {}/sriov_numvfs: ", kPf);
  EXPECT_EQ(write_pf("sriov_numvfs", "8"), what + "ERANGE (Numerical result out of range)");
  EXPECT_EQ(write_pf("sriov_numvfs", "x"), what + "EINVAL (Invalid argument)");
  ASSERT_EQ(write_pf("sriov_numvfs", "7"), "");
  EXPECT_EQ(write_pf("sriov_numvfs", "7"), "");
  EXPECT_EQ(write_pf("sriov_numvfs", "3"), what + "EBUSY (Device or resource busy)");
  EXPECT_EQ(write_pf("vendor", "3"), fmt::format("write {}/vendor: EACCES (Permission denied)", kPf));
  EXPECT_EQ(write_pf("none", "3"), fmt::format("write {}/none: ENOENT (No such file or directory)", kPf));
}

TEST_F(FakeKernelTest, WithAutoprobeOffOnlyAnOverrideBinds) {
  ASSERT_EQ(write_pf("sriov_drivers_autoprobe", "0"), "");
  ASSERT_EQ(write_pf("sriov_numvfs", "1"), "");
  EXPECT_EQ(driver(), "-");
  ASSERT_EQ(write("/sys/bus/pci/drivers_probe", "0000:01:10.0"), "");
  EXPECT_EQ(driver(), "-");
  ASSERT_EQ(write_vf("driver_override", "igbvf"), "");
  ASSERT_EQ(write("/sys/bus/pci/drivers_probe", "0000:01:10.0"), "");
  EXPECT_EQ(driver(), "igbvf");
  EXPECT_EQ(write("/sys/bus/pci/drivers/igb/unbind", "0000:01:10.0"),
            "write /sys/bus/pci/drivers/igb/unbind: ENODEV (No such device)");
  ASSERT_EQ(write("/sys/bus/pci/drivers/igbvf/unbind", "0000:01:10.0"), "");
  EXPECT_FALSE(exists("/sys/class/net/eth0v0"));
  ASSERT_EQ(write_vf("driver_override", "\n"), "");
  EXPECT_EQ(line(vf_file("driver_override")), "(null)");
  ASSERT_EQ(write_pf("sriov_drivers_autoprobe", "1"), "");
  ASSERT_EQ(write("/sys/bus/pci/drivers_probe", "0000:01:10.0"), "");
  EXPECT_EQ(driver(), "igbvf");
}

TEST_F(FakeKernelTest, VfioNeedsItsModuleAndAnIommu) {
  for (bool iommu : {true, false}) {
    FakeMachine machine = FakeMachine::lab();
    machine.iommu = iommu;
    FakeKernel kernel(machine);
    auto& files = kernel.files();
    ASSERT_TRUE(files.write(pf_file("sriov_drivers_autoprobe"), "0").has_value());
    ASSERT_TRUE(files.write(pf_file("sriov_numvfs"), "1").has_value());
    ASSERT_TRUE(files.write(vf_file("driver_override"), "vfio-pci").has_value());
    ASSERT_TRUE(files.write("/sys/bus/pci/drivers_probe", "0000:01:10.0").has_value());
    EXPECT_FALSE(files.exists(vf_file("driver")));
    EXPECT_FALSE(files.exists("/sys/bus/pci/drivers/vfio-pci"));
    ASSERT_TRUE(kernel.processes().load_module("vfio-pci").has_value());
    ASSERT_TRUE(files.write("/sys/bus/pci/drivers_probe", "0000:01:10.0").has_value());  // succeeds in either case
    EXPECT_EQ(files.exists(vf_file("driver")), iommu);
    EXPECT_FALSE(files.exists(vf_file("net")));
  }
  EXPECT_EQ(kernel_.processes().load_module("nosuch").error().message,
            "modprobe nosuch: FATAL: Module nosuch not found in directory /lib/modules/6.12.0");
}

TEST_F(FakeKernelTest, TimeOnlyPassesInWaits) {
  kernel_.delay_vfs(milliseconds(300));
  kernel_.delay_netdevs(milliseconds(200));
  auto stream = kernel_.uevents().open().value();
  auto start = kernel_.clock().now();
  ASSERT_EQ(write_pf("sriov_numvfs", "1"), "");
  EXPECT_FALSE(exists(kVf));
  EXPECT_EQ(kernel_.clock().now(), start);
  EXPECT_EQ(stream->next(start + milliseconds(100)).error().message, "no uevent before the deadline");
  EXPECT_EQ(kernel_.clock().now(), start + milliseconds(100));
  EXPECT_EQ(stream->next(start + milliseconds(1000))->action, "add");
  EXPECT_EQ(kernel_.clock().now(), start + milliseconds(300));
  EXPECT_EQ(stream->next(start + milliseconds(1000))->action, "bind");
  EXPECT_EQ(stream->next(start + milliseconds(1000))->properties.at("INTERFACE"), "eth0v0");
  EXPECT_EQ(kernel_.clock().now(), start + milliseconds(500));
}

TEST_F(FakeKernelTest, WhatWasDelayedForEarlierVfsIsVoid) {
  kernel_.delay_vfs(milliseconds(300));
  ASSERT_EQ(write_pf("sriov_numvfs", "1"), "");
  ASSERT_EQ(write_pf("sriov_numvfs", "0"), "");
  auto stream = kernel_.uevents().open().value();
  EXPECT_FALSE(stream->next(kernel_.clock().now() + milliseconds(1000)).has_value());
  EXPECT_FALSE(exists(kVf));
  kernel_.delay_vfs(milliseconds(-1));  // never
  ASSERT_EQ(write_pf("sriov_numvfs", "1"), "");
  EXPECT_EQ(stream->next(kernel_.clock().now() + std::chrono::hours(1)).error().code, Code::kTimeout);
}

TEST_F(FakeKernelTest, InjectedErrorsAndTheJournal) {
  kernel_.fail_when("sriov_numvfs 4", ENOMEM);
  kernel_.fail_call(3, EIO);
  EXPECT_EQ(write_pf("sriov_numvfs", "4"), fmt::format("write {}/sriov_numvfs: ENOMEM (Cannot allocate memory)", kPf));
  EXPECT_EQ(write_pf("sriov_drivers_autoprobe", "0"), "");
  EXPECT_EQ(write_pf("sriov_numvfs", "4"), fmt::format("write {}/sriov_numvfs: EIO (Input/output error)", kPf));
  EXPECT_EQ(write_pf("sriov_numvfs", "4"), "");
  kernel_.fail_when("address add", ENOBUFS, -1);
  auto links = kernel_.links().value();
  LinkAddress address{links->find(IfName{"eth1"}, WithVfs::kNo)->index, IpPrefix::parse("10.0.0.1/24").value()};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(links->add_address(address).error().sys_errno, ENOBUFS);
  EXPECT_EQ(
      kernel_.journal(),
      (std::vector<std::string>{
          fmt::format("write {}/sriov_numvfs 4 -> ENOMEM", kPf), fmt::format("write {}/sriov_drivers_autoprobe 0", kPf),
          fmt::format("write {}/sriov_numvfs 4 -> EIO", kPf), fmt::format("write {}/sriov_numvfs 4", kPf),
          "address add eth1 10.0.0.1/24 -> ENOBUFS", "address add eth1 10.0.0.1/24 -> ENOBUFS"}));
}

TEST_F(FakeKernelTest, AKilledProcessChangesNothingMore) {
  for (auto kill : {FakeKernel::Kill::kBetween, FakeKernel::Kill::kUnanswered}) {
    FakeKernel kernel;
    auto& files = kernel.files();
    auto stream = kernel.uevents().open().value();
    kernel.kill_after(2, kill);
    EXPECT_TRUE(files.write(pf_file("sriov_drivers_autoprobe"), "0").has_value());
    EXPECT_EQ(files.write(pf_file("sriov_numvfs"), "2").has_value(), kill == FakeKernel::Kill::kBetween);
    EXPECT_TRUE(files.exists(kVf));
    std::string before = kernel.snapshot();
    EXPECT_EQ(kernel.netns().create("a").error().code, Code::kCanceled);
    EXPECT_EQ(stream->next(kernel.clock().now()).error().code, Code::kCanceled);
    EXPECT_EQ(kernel.snapshot(), before);
    EXPECT_TRUE(kernel.killed());
    kernel.restart();
    EXPECT_TRUE(kernel.netns().create("a").has_value());
  }
}

TEST_F(FakeKernelTest, APodsVfFallsBackUnderItsLastName) {
  ASSERT_EQ(write_pf("sriov_numvfs", "2"), "");
  ASSERT_TRUE(kernel_.netns().create("pod").has_value());
  auto host = kernel_.links().value();
  auto pod = kernel_.netns().open("/run/netns/pod").value();
  ASSERT_TRUE(
      host->change(host->find(IfName{"eth0v0"}, WithVfs::kNo)->index, {.name = IfName{"net1"}, .netns = pod.get()})
          .has_value());
  EXPECT_FALSE(exists("/sys/class/net/eth0v0"));
  EXPECT_FALSE(exists(vf_file("net")));
  EXPECT_EQ(driver(), "igbvf");
  auto watch = kernel_.link_watch().value();
  ASSERT_TRUE(kernel_.netns().remove("pod").has_value());
  EXPECT_FALSE(host->find(IfName{"net1"}, WithVfs::kNo).has_value());  // the open namespace lives on
  pod.reset();
  EXPECT_TRUE(watch->next(kernel_.clock().now()).has_value());
  EXPECT_TRUE(host->find(IfName{"net1"}, WithVfs::kNo).has_value());
  EXPECT_EQ(kernel_.files().list(vf_file("net")), std::vector<std::string>{"net1"});
}

TEST_F(FakeKernelTest, ANameThatIsTakenAtHomeBecomesDev) {
  kernel_.delay_netns_end(milliseconds(500));
  ASSERT_EQ(write_pf("sriov_numvfs", "2"), "");
  ASSERT_TRUE(kernel_.netns().create("pod").has_value());
  auto host = kernel_.links().value();
  {
    auto pod = kernel_.netns().open("/run/netns/pod").value();
    auto move = [&](const char* name, const char* as) {
      auto index = host->find(IfName{name}, WithVfs::kNo)->index;
      return host->change(index, {.name = IfName{as}, .netns = pod.get()}).has_value();
    };
    ASSERT_TRUE(move("eth0v0", "eth1"));
  }
  ASSERT_TRUE(kernel_.netns().remove("pod").has_value());
  auto watch = kernel_.link_watch().value();
  auto start = kernel_.clock().now();
  ASSERT_TRUE(watch->next(start + milliseconds(1000)).has_value());
  EXPECT_EQ(kernel_.clock().now(), start + milliseconds(500));
  EXPECT_TRUE(exists("/sys/class/net/eth1"));
  auto names = kernel_.files().list(vf_file("net")).value();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(names[0].starts_with("dev")) << names[0];
}

TEST_F(FakeKernelTest, VfSettingsAndWhatTheDriverRefuses) {
  ASSERT_EQ(write_pf("sriov_drivers_autoprobe", "0"), "");
  ASSERT_EQ(write_pf("sriov_numvfs", "2"), "");
  auto host = kernel_.links().value();
  auto pf = host->find(IfName{"eth0"}, WithVfs::kNo)->index;
  VfChange change{.mac = MacAddress::parse("02:00:00:00:00:01").value()};
  change.trust = true;
  change.link_state = VfLinkState::kEnable;
  EXPECT_EQ(host->change_vf(pf, VfIndex{0}, change).error().message,
            "RTM_SETLINK eth0 vf 0 state enable: EOPNOTSUPP (Operation not supported)");
  EXPECT_EQ(host->find(pf, WithVfs::kYes)->vfs[0].trust, true);
  EXPECT_EQ(host->change_vf(pf, VfIndex{5}, {.mac = change.mac}).error().message,
            "RTM_SETLINK eth0 vf 5 mac 02:00:00:00:00:01: EINVAL (Invalid argument)");
  // The VF takes its administrative MAC when its driver binds.
  ASSERT_EQ(write_pf("sriov_drivers_autoprobe", "1"), "");
  ASSERT_EQ(write("/sys/bus/pci/drivers_probe", "0000:01:10.0"), "");
  EXPECT_EQ(host->find(IfName{"eth0v0"}, WithVfs::kNo)->mac()->to_string(), "02:00:00:00:00:01");
}

TEST_F(FakeKernelTest, SoftRdmaIsSeenEverywhereAndStaysBehind) {
  ASSERT_EQ(write_pf("sriov_numvfs", "1"), "");
  ASSERT_TRUE(kernel_.netns().create("pod").has_value());
  auto pod = kernel_.netns().open("/run/netns/pod").value();
  auto host = kernel_.links().value();
  auto rdma = kernel_.rdma().value();
  ASSERT_TRUE(rdma->create_soft("rxe", "rxe0", IfName{"eth0v0"}).has_value());
  EXPECT_TRUE(exists("/sys/class/infiniband/rxe0/ports/1/state"));
  EXPECT_EQ(rdma->create_soft("rxe", "rxe1", IfName{"eth0v0"}).error().message,
            "RDMA_NLDEV_CMD_NEWLINK rxe1 type rxe netdev eth0v0: EEXIST (File exists)");
  ASSERT_TRUE(host->change(host->find(IfName{"eth0v0"}, WithVfs::kNo)->index, {.netns = pod.get()}).has_value());
  EXPECT_TRUE(rdma->list()->empty());  // the move removed it
  EXPECT_FALSE(exists("/sys/class/infiniband/rxe0"));

  auto inside = kernel_.netns().rdma(*pod).value();
  ASSERT_TRUE(inside->create_soft("rxe", "rxe0", IfName{"eth0v0"}).has_value());
  EXPECT_EQ(inside->list()->at(0).ports[0].netdev_name, "eth0v0");
  EXPECT_EQ(rdma->list()->at(0).ports[0].netdev_name, "");  // shared mode: the device is visible, its interface is not
  EXPECT_EQ(inside->move("rxe0", *pod).error().sys_errno, EOPNOTSUPP);
  EXPECT_EQ(rdma->remove_soft("none").error().code, Code::kNotFound);
  EXPECT_TRUE(rdma->remove_soft("rxe0").has_value());

  FakeMachine without = FakeMachine::lab();
  without.rdma = false;
  FakeKernel old(without);
  EXPECT_EQ(old.rdma().error().code, Code::kUnsupported);
}

TEST_F(FakeKernelTest, RdmaHardwareComesWithTheDriver) {
  FakeMachine machine;
  machine.pfs = {FakePf::mlx5(PciAddress{0, 0x3b, 0, 0}, "ibs0", true)};
  machine.rdma_mode = RdmaNetnsMode::kExclusive;
  FakeKernel kernel(machine);
  ASSERT_TRUE(kernel.files().write("/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs", "2").has_value());
  auto rdma = kernel.rdma().value();
  auto devices = rdma->list().value();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[1].protocol, "ib");
  EXPECT_TRUE(kernel.files().exists("/sys/bus/pci/devices/0000:3b:00.2/infiniband/" + devices[1].name));
  ASSERT_TRUE(kernel.netns().create("pod").has_value());
  auto pod = kernel.netns().open("/run/netns/pod").value();
  ASSERT_TRUE(rdma->move(devices[1].name, *pod).has_value());
  EXPECT_EQ(rdma->list()->size(), 2U);
  EXPECT_EQ(kernel.netns().rdma(*pod).value()->list()->at(0).name, devices[1].name);
  EXPECT_EQ(eswitch_mode(*kernel.questions(), PciAddress{0, 0x3b, 0, 0}).error().code, Code::kUnsupported);
}

TEST_F(FakeKernelTest, HooksActJustBeforeACall) {
  ASSERT_TRUE(kernel_.netns().create("pod").has_value());
  auto pod = kernel_.netns().open("/run/netns/pod").value();
  kernel_.before("link eth1", [this] { kernel_.vanish_netns("pod"); });
  auto host = kernel_.links().value();
  auto moved = host->change(host->find(IfName{"eth1"}, WithVfs::kNo)->index, {.netns = pod.get()});
  EXPECT_EQ(moved.error().message, "RTM_NEWLINK eth1 to /run/netns/pod: EINVAL (Invalid argument)");
  EXPECT_TRUE(host->find(IfName{"eth1"}, WithVfs::kNo).has_value());
}

TEST_F(FakeKernelTest, CarrierComesLate) {
  kernel_.set_carrier("eth1", false);
  auto host = kernel_.links().value();
  EXPECT_FALSE(host->find(IfName{"eth1"}, WithVfs::kNo)->lower_up);
  auto index = host->find(IfName{"eth0"}, WithVfs::kNo)->index;
  ASSERT_TRUE(host->change(index, {.up = false}).has_value());
  kernel_.delay_carrier(milliseconds(1500));
  ASSERT_TRUE(host->change(index, {.up = true}).has_value());
  auto watch = kernel_.link_watch().value();
  EXPECT_FALSE(host->find(index, WithVfs::kNo)->lower_up);
  EXPECT_TRUE(watch->next(kernel_.clock().now() + milliseconds(2000)).has_value());
  EXPECT_TRUE(host->find(index, WithVfs::kNo)->lower_up);
}

TEST_F(FakeKernelTest, PfsWorkBesideEachOther) {
  std::vector<std::jthread> threads;
  for (int pf : {1, 2})
    threads.emplace_back([&, pf] {
      std::string path = fmt::format("/sys/bus/pci/devices/0000:0{}:00.0/sriov_numvfs", pf);
      auto stream = kernel_.uevents().open().value();
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(kernel_.files().write(path, i % 2 == 0 ? "7" : "0").has_value());
        (void)stream->next(kernel_.clock().now());
        (void)kernel_.links().value()->list(WithVfs::kYes);
      }
      EXPECT_TRUE(kernel_.files().write(path, "3").has_value());
    });
  threads.clear();
  EXPECT_EQ(kernel_.links().value()->list(WithVfs::kNo)->size(), 9U);  // lo, two PFs, six VFs
}

TEST_F(FakeKernelTest, TheSnapshotIsTheWholeMachine) {
  ASSERT_EQ(write_pf("sriov_numvfs", "1"), "");
  ASSERT_TRUE(kernel_.netns().create("pod").has_value());
  auto pod = kernel_.netns().open("/run/netns/pod").value();
  ASSERT_TRUE(kernel_.netns().set_sysctl(*pod, "net/ipv4/conf/all/arp_notify", "1").has_value());
  auto host = kernel_.links().value();
  ASSERT_TRUE(
      host->change(host->find(IfName{"eth0v0"}, WithVfs::kNo)->index, {.name = IfName{"net1"}, .netns = pod.get()})
          .has_value());
  auto inside = kernel_.netns().links(*pod).value();
  auto net1 = inside->find(IfName{"net1"}, WithVfs::kNo)->index;
  ASSERT_TRUE(inside->change(net1, {.up = true}).has_value());
  ASSERT_TRUE(inside->add_address({net1, IpPrefix::parse("10.0.0.1/24").value()}).has_value());
  EXPECT_EQ(kernel_.snapshot(),
            "pf 0000:01:00.0 vfs 1 autoprobe true legacy\n"
            "  setting 0: mac 00:00:00:00:00:00 vlan 0 spoofchk no-trust\n"
            "pf 0000:02:00.0 vfs 0 autoprobe true legacy\n"
            "device 0000:01:00.0 driver igb override -\n"
            "device 0000:01:10.0 driver igbvf override -\n"
            "device 0000:02:00.0 driver igb override -\n"
            "netns (initial)\n"
            "  eth0 mtu 1500 up pci 0000:01:00.0 mac 52:54:00:00:01:00\n"
            "  eth1 mtu 1500 up pci 0000:02:00.0 mac 52:54:00:00:02:00\n"
            "  lo mtu 65536 up\n"
            "netns pod\n"
            "  sysctl net/ipv4/conf/all/arp_notify 1\n"
            "  lo mtu 65536 up\n"
            "  net1 mtu 1500 up pci 0000:01:10.0 mac 02:54:00:00:01:80 10.0.0.1/24\n");
}

}  // namespace
}  // namespace railbed::os

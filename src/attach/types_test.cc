// SPDX-License-Identifier: Apache-2.0
// What the plugin types need the machine for: devices by every selector, RDMA that can be opened, the list of
// sysctls, names that are taken; and CHECK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attach/attach.h"
#include "attach/test_networks.h"
#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Types : public testing::Test {
 protected:
  explicit Types(const os::FakeMachine& machine = lab()) : kernel_(machine) {
    EXPECT_EQ(message(kernel_.netns().create("pod")), "");
    pod_ = std::move(*kernel_.netns().open("/run/netns/pod"));
    inside_ = std::move(*kernel_.netns().links(*pod_));
    host_ = std::move(*kernel_.links());
    start_ = kernel_.snapshot();
  }
  static os::FakeMachine lab() {
    os::FakeMachine machine = os::FakeMachine::lab();
    machine.pfs[0].num_vfs = 2;
    machine.other_links = {"eth8", "eth9"};
    return machine;
  }
  os::Deadline soon() { return kernel_.clock().now() + std::chrono::seconds(10); }
  Result<PodReport> attach(InterfaceRequest interface) {
    return attach_with_addresses(
        kernel_, *store_,
        {.pod = "a/b@c1", .netns_path = "/run/netns/pod", .interfaces = {std::move(interface)}, .others_stay = true},
        soon());
  }
  std::string check(const std::string& record) {
    return message(check_interface(kernel_, *store_, "a/b@c1", record, soon()));
  }
  // Attaches and detaches the interface; returns its name on the host.
  std::string from(const std::string& plugin) {
    auto report = attach(wanted("net1", {plugin}));
    if (!report.has_value()) return message(report);
    std::string name = report->interfaces.at(0).host_name;
    EXPECT_EQ(message(detach_pod(kernel_, *store_, "a/b@c1", soon())), "");
    EXPECT_EQ(kernel_.snapshot(), start_);
    return name;
  }

  os::FakeKernel kernel_;
  std::unique_ptr<state::Store> store_ = state::memory_store();
  std::unique_ptr<os::Netns> pod_;
  std::unique_ptr<os::LinkPort> inside_;
  std::unique_ptr<os::LinkPort> host_;
  std::string start_;
};

TEST_F(Types, AHostDeviceByEverySelector) {
  EXPECT_EQ(from(R"({"type":"host-device","device":"eth9"})"), "eth9");
  EXPECT_EQ(from(R"({"type":"host-device","pciBusID":"0000:01:10.2"})"), "eth0v1");
  EXPECT_EQ(from(R"({"type":"host-device","hwaddr":"02:54:00:00:01:82"})"), "eth0v1");
  std::string path = *kernel_.files().real_path("/sys/bus/pci/devices/0000:01:10.0");
  EXPECT_EQ(from(fmt::format(R"({{"type":"host-device","kernelpath":"{}"}})", path)), "eth0v0");
  EXPECT_THAT(from(R"({"type":"host-device","kernelpath":"/sys/devices/none"})"),
              HasSubstr("an interface of /sys/devices/none is not there"));
  EXPECT_THAT(from(R"({"type":"host-device","pciBusID":"mlx5_core.sf.4"})"),
              HasSubstr("device mlx5_core.sf.4 is not there"));
}

TEST_F(Types, ADeviceOfAUserspaceDriverIsNotMoved) {
  os::FakeMachine machine = lab();
  machine.pfs[0].vf_driver = "vfio-pci";
  os::FakeKernel kernel(machine);
  ASSERT_EQ(message(kernel.netns().create("pod")), "");
  for (const char* type : {"host-device", "sriov"}) {
    PodRequest pod{.pod = "a/b",
                   .netns_path = "/run/netns/pod",
                   .interfaces = {wanted("net1", {fmt::format(R"({{"type":"{}","pciBusID":"0000:01:10.2"}})", type)})}};
    auto report = attach_with_addresses(kernel, *store_, pod, soon());
    ASSERT_EQ(message(report), "") << type;
    EXPECT_THAT(report->interfaces.at(0).char_devices, ElementsAre("/dev/vfio/vfio", HasSubstr("/dev/vfio/")));
    EXPECT_EQ(message(check_interface(kernel, *store_, "a/b", "net1", soon())), "");
    pod.interfaces[0].config.plugins.push_back({"tuning", json(R"({"type":"tuning","mtu":1400})")});
    EXPECT_THAT(message(attach_with_addresses(kernel, *store_, pod, soon())),
                HasSubstr("0000:01:10.2 is bound to vfio-pci and has no interface to tune"));
    ASSERT_EQ(message(detach_pod(kernel, *store_, "a/b", soon())), "");
  }
}

TEST_F(Types, SysctlsThatAreNotOnTheListAreRefused) {
  kernel_.put_file("/etc/cni/tuning/allowlist.conf",
                   "\n  ^net\\.ipv4\\.conf\\.IFNAME\\.[a-z_]*$ \n^net.core.somaxconn$\n");
  auto with = [&](const char* key) {
    return attach(wanted("net1", {R"({"type":"host-device","device":"eth9"})",
                                  fmt::format(R"({{"type":"tuning","sysctl":{{"{}":"1"}}}})", key)}));
  };
  EXPECT_EQ(message(with("net.ipv4.conf.IFNAME.arp_filter")), "");
  ASSERT_EQ(message(detach_pod(kernel_, *store_, "a/b@c1", soon())), "");
  auto refused = with("net.ipv4.ip_forward");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kDenied);
  EXPECT_THAT(message(refused), HasSubstr("sysctl net.ipv4.ip_forward is not allowed: no line of "
                                          "/etc/cni/tuning/allowlist.conf matches it"));
  // A pod can name anything; a list with an expression that is matched again and again takes no longer for
  // it.
  kernel_.put_file("/etc/cni/tuning/allowlist.conf", "^(net|ipv4|.)*$x\n");
  EXPECT_EQ(with(("net.core." + std::string(200, 'a')).c_str()).error().code, Code::kDenied);
  EXPECT_THAT(message(with(("net.ipv4." + std::string(3000, 'a')).c_str())),
              HasSubstr("the sysctl name is too long (3009 bytes, at most 255)"));
  kernel_.put_file("/etc/cni/tuning/allowlist.conf", "net.(\n");
  EXPECT_THAT(message(with("net.ipv4.ip_forward")), HasSubstr("\"net.(\" is not a valid regular expression"));
  EXPECT_EQ(kernel_.snapshot(), start_);
}

TEST_F(Types, ANameThatIsTakenIsReportedBeforeAnythingChanges) {
  ASSERT_EQ(message(host_->change(host_->find(IfName{"eth8"}, os::WithVfs::kNo)->index,
                                  {.name = IfName{"net1"}, .netns = pod_.get()})),
            "");
  kernel_.clear_journal();
  for (const char* config : {R"({"type":"host-device","device":"eth9"})", R"({"type":"macvlan","master":"eth9"})"}) {
    auto report = attach(wanted("net1", {config}));
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, Code::kConflict);
    EXPECT_THAT(message(report), HasSubstr("the pod already has an interface net1"));
  }
  EXPECT_THAT(kernel_.journal(), ElementsAre());
  EXPECT_TRUE(store_->attachments()->empty());
}

TEST_F(Types, OneInterfaceOfThePodIsNoneOfTheOthersBusiness) {
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"host-device","device":"eth8"})"}))), "");
  ASSERT_EQ(message(attach(wanted("net2", {R"({"type":"host-device","device":"eth9"})"}))), "");
  kernel_.clear_journal();
  auto again = attach(wanted("net1", {R"({"type":"host-device","device":"eth8"})"}));
  ASSERT_EQ(message(again), "");
  EXPECT_EQ(again->kept, 1);
  EXPECT_EQ(again->interfaces.at(0).interface, "net1");
  EXPECT_THAT(kernel_.journal(), ElementsAre());
  ASSERT_EQ(message(detach_interface(kernel_, *store_, "a/b@c1", "net1", soon())), "");
  EXPECT_EQ(store_->attachments()->size(), 1u);
  EXPECT_EQ(detach_interface(kernel_, *store_, "a/b@c1", "net1", soon())->detached, 0);
  EXPECT_EQ(detach_interface(kernel_, *store_, "a/b@none", "net1", soon())->detached, 0);
}

TEST_F(Types, AChangeNeedsItsInterface) {
  EXPECT_EQ(message(attach(chained("net1", R"({"type":"tuning","mtu":1400})"))),
            "pod a/b@c1: interface net1 (network default/net1): interface net1 not found in the pod\n"
            "  tuning changes an interface that an earlier plugin of the list creates");
  EXPECT_THAT(message(attach(chained("net1", R"({"type":"sbr"})"))), HasSubstr("has no address in prevResult"));
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"host-device","device":"eth8"})"}))), "");
  EXPECT_THAT(message(attach(chained("net1", R"({"type":"rdma"})"))), HasSubstr("net1 has no RDMA device"));
  // When the interface goes, its changes go with it.
  ASSERT_EQ(message(attach(chained("net1", R"({"type":"tuning","mtu":1400})"))), "");
  ASSERT_EQ(message(detach_interface(kernel_, *store_, "a/b@c1", "net1", soon())), "");
  EXPECT_TRUE(store_->attachments()->empty());
  EXPECT_EQ(kernel_.snapshot(), start_);
}

// linkInContainer without a master: of all routes of the pod, the default one of IPv4 in the main table decides.
TEST_F(Types, AMasterInThePodIsTheInterfaceOfItsDefaultRoute) {
  constexpr const char* kOnTop = R"({"type":"macvlan","linkInContainer":true})";
  const auto address = [](const char* range) {
    return fmt::format(R"({{"type":"macvlan","master":"eth9","ipam":{{"type":"static","addresses":[{}]}}}})", range);
  };
  ASSERT_EQ(message(attach(wanted("net1", {address(R"({"address":"10.1.0.2/24"},{"address":"fd00:1::2/64"})")}))), "");
  ASSERT_EQ(message(attach(wanted("net2", {address(R"({"address":"10.2.0.2/24"})")}))), "");
  const IfIndex net1 = inside_->find(IfName{"net1"}, os::WithVfs::kNo)->index;
  const IfIndex net2 = inside_->find(IfName{"net2"}, os::WithVfs::kNo)->index;
  const auto route = [&](Route one) { ASSERT_EQ(message(inside_->add_route(one)), ""); };
  route({.destination = *IpPrefix::parse("10.7.0.0/16"), .gateway = *IpAddress::parse("10.1.0.1"), .link = net1});
  route({.destination = *IpPrefix::parse("0.0.0.0/0"),
         .gateway = *IpAddress::parse("10.1.0.1"),
         .link = net1,
         .table = 100});
  route({.destination = *IpPrefix::parse("::/0"), .gateway = *IpAddress::parse("fd00:1::1"), .link = net1});
  EXPECT_THAT(message(attach(wanted("net3", {kOnTop}))),
              HasSubstr("it has no master, and the pod has no default route whose interface could be used"));
  route({.destination = *IpPrefix::parse("0.0.0.0/0"), .gateway = *IpAddress::parse("10.2.0.1"), .link = net2});
  auto made = attach(wanted("net3", {kOnTop}));
  ASSERT_EQ(message(made), "");
  EXPECT_EQ(made->interfaces.at(0).host_name, "net2");
}

TEST_F(Types, CheckSaysWhatDiffers) {
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"host-device","device":"eth9","ipam":{"type":"static",
      "addresses":[{"address":"10.1.0.2/24","gateway":"10.1.0.1"}],"routes":[{"dst":"10.7.0.0/16"}]}})"}))),
            "");
  EXPECT_EQ(check("net1"), "");
  EXPECT_THAT(check("net2"), HasSubstr("pod a/b@c1: interface net2: unknown to railbed"));
  IfIndex net1 = inside_->find(IfName{"net1"}, os::WithVfs::kNo)->index;
  Route route{.destination = *IpPrefix::parse("10.7.0.0/16"), .gateway = *IpAddress::parse("10.1.0.1"), .link = net1};
  ASSERT_EQ(message(inside_->remove_route(route)), "");
  EXPECT_THAT(check("net1"), HasSubstr("its route to 10.7.0.0/16 no longer exists"));
  ASSERT_EQ(message(inside_->remove_address({net1, *IpPrefix::parse("10.1.0.2/24")})), "");
  EXPECT_THAT(check("net1"), HasSubstr("it has lost its address 10.1.0.2/24"));
  ASSERT_EQ(message(inside_->change(net1, {.up = false})), "");
  EXPECT_THAT(check("net1"), HasSubstr("it is down"));
  ASSERT_EQ(message(inside_->change(net1, {.name = IfName{"x"}})), "");
  EXPECT_THAT(check("net1"), HasSubstr("interface net1 not found in the pod"));
}

TEST_F(Types, CheckSaysWhatIsNotTunedAnyMore) {
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"host-device","device":"eth9"})",
                                           R"({"type":"tuning","promisc":true,"allmulti":true,"txQLen":500})"}))),
            "");
  EXPECT_EQ(check("net1"), "");
  const IfIndex net1 = inside_->find(IfName{"net1"}, os::WithVfs::kNo)->index;
  const auto reported = [&](const os::LinkChange& change) {
    EXPECT_EQ(message(inside_->change(net1, change)), "");
    return check("net1");
  };
  EXPECT_THAT(reported({.tx_queue = 1000}), HasSubstr("its queue length is 1000, not 500"));
  EXPECT_THAT(reported({.all_multicast = false}), HasSubstr("its all-multicast mode is false, not true"));
  EXPECT_THAT(reported({.promiscuous = false}), HasSubstr("its promiscuous mode is false, not true"));
}

TEST_F(Types, SysctlsOfSeveralNumbersAreComparedByTheirNumbers) {
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"host-device","device":"eth9"})",
                                           R"({"type":"tuning","sysctl":{"net.ipv4.tcp_rmem":"4096 5 6"}})"}))),
            "");
  ASSERT_EQ(message(kernel_.netns().set_sysctl(*pod_, "net/ipv4/tcp_rmem", "4096\t5\t6")), "");
  EXPECT_EQ(check("net1"), "");
  ASSERT_EQ(message(kernel_.netns().set_sysctl(*pod_, "net/ipv4/tcp_rmem", "4096\t56")), "");
  EXPECT_THAT(check("net1"), HasSubstr("sysctl net/ipv4/tcp_rmem is 4096\t56, not 4096 5 6"));
}

class RdmaTypes : public Types {
 protected:
  RdmaTypes() : Types(machine()) {}
  static os::FakeMachine machine(os::RdmaNetnsMode mode = os::RdmaNetnsMode::kExclusive) {
    os::FakeMachine machine;
    machine.pfs = {os::FakePf::mlx5(kPf, "eth0"), os::FakePf::mlx5({0, 2, 0, 0}, "ib0", true)};
    for (os::FakePf& pf : machine.pfs) {
      pf.num_vfs = 2;
      pf.refused.clear();
    }
    machine.rdma_mode = mode;
    return machine;
  }
};

TEST_F(RdmaTypes, ASeparateRdmaPluginFindsWhatTheFirstOneBrought) {
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"sriov","deviceID":"0000:01:00.3"})"}))), "");
  auto report = attach(chained("net1", R"({"type":"rdma"})"));
  ASSERT_EQ(message(report), "");
  EXPECT_THAT(report->interfaces.at(0).rdma, HasSubstr("mlx5_"));
  EXPECT_EQ(check("net1/rdma"), "");
  ASSERT_EQ(message(detach_interface(kernel_, *store_, "a/b@c1", "net1/rdma", soon())), "");
  ASSERT_EQ(message(detach_interface(kernel_, *store_, "a/b@c1", "net1", soon())), "");
  EXPECT_EQ(kernel_.snapshot(), start_);
}

// Where another plugin moved the interface, no configuration says whose RDMA device it is: the kernel does.
TEST_F(RdmaTypes, AnRdmaPluginFindsTheDeviceOfAnInterfaceThatAnotherPluginBrought) {
  const IfIndex vf = host_->find(IfName{"eth0v1"}, os::WithVfs::kNo)->index;
  ASSERT_EQ(message(host_->change(vf, {.name = IfName{"net1"}, .netns = pod_.get()})), "");
  ASSERT_EQ(message(inside_->change(inside_->find(IfName{"net1"}, os::WithVfs::kNo)->index, {.up = true})), "");
  const std::string before = kernel_.snapshot();
  auto report = attach(chained("net1", R"({"type":"rdma"})"));
  ASSERT_EQ(message(report), "");
  EXPECT_THAT(report->interfaces.at(0).rdma, HasSubstr("mlx5_"));
  EXPECT_EQ(check("net1/rdma"), "");
  ASSERT_EQ(message(detach_interface(kernel_, *store_, "a/b@c1", "net1/rdma", soon())), "");
  EXPECT_EQ(kernel_.snapshot(), before);
}

// The kernel gives a device's files new numbers when it enters another namespace.
TEST_F(RdmaTypes, TheFilesAreThoseThatTheDeviceHasInThePod) {
  ASSERT_EQ(message(kernel_.files().write("/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs", "0")), "");
  auto report = attach(wanted("net1", {R"({"type":"ib-sriov","deviceID":"0000:02:00.3"})", R"({"type":"rdma"})"}));
  ASSERT_EQ(message(report), "");
  const InterfaceResult& got = report->interfaces.at(0);
  ASSERT_EQ(got.char_devices.size(), 1u);
  std::string number = got.char_devices[0].substr(std::string("/dev/infiniband/uverbs").size());
  EXPECT_EQ(os::read_line(kernel_.files(), "/sys/class/infiniband_verbs/uverbs" + number + "/ibdev"), got.rdma);
  EXPECT_EQ(check("net1"), "");
}

TEST_F(RdmaTypes, CheckMissesADeviceThatWasMoved) {
  auto report = attach(wanted("net1", {R"({"type":"sriov","deviceID":"0000:01:00.3"})"}));
  ASSERT_EQ(message(report), "");
  std::string device = report->interfaces.at(0).rdma;
  auto home = kernel_.netns().open_own();
  ASSERT_TRUE(home.has_value());
  ASSERT_EQ(message((*kernel_.netns().rdma(*pod_))->move(device, **home)), "");
  EXPECT_THAT(check("net1"), HasSubstr(fmt::format("RDMA device {} is no longer in the pod's namespace", device)));
}

TEST_F(Types, ASoftRdmaDeviceNeedsNamespacesThatShare) {
  os::FakeMachine machine = lab();
  machine.rdma_mode = os::RdmaNetnsMode::kExclusive;
  os::FakeKernel exclusive(machine);
  ASSERT_EQ(message(exclusive.netns().create("pod")), "");
  std::string before = exclusive.snapshot();
  PodRequest pod{
      .pod = "a/b",
      .netns_path = "/run/netns/pod",
      .interfaces = {wanted("net1", {R"({"type":"sriov","deviceID":"0000:01:10.0"})", R"({"type":"rdma"})"})},
      .soft_rdma = true};
  EXPECT_EQ(message(attach_with_addresses(exclusive, *store_, pod, soon())),
            "pod a/b: interface net1 (network default/net1): device 0000:01:10.0 would get a soft RDMA device, which "
            "cannot be moved into a pod because namespaces do not share RDMA devices\n"
            "  run `rdma system set netns shared` before any pod starts");
  EXPECT_EQ(exclusive.snapshot(), before);
}

TEST_F(RdmaTypes, WhoCannotOpenRdmaLearnsWhy) {
  kernel_.put_file("/sys/class/infiniband_verbs/uverbs99/ibdev", "mlx5_3\n");
  auto report = attach(wanted("net1", {R"({"type":"sriov","deviceID":"0000:01:00.3"})", R"({"type":"rdma"})"}));
  std::string why = message(report);
  if (report.has_value()) {
    // uverbs99 belongs to another device.
    EXPECT_NE(report->interfaces.at(0).rdma, "mlx5_3");
    return;
  }
  EXPECT_THAT(why, HasSubstr("the pod requested RDMA, but cannot open it: /dev/infiniband/uverbs99 of RDMA device "
                             "mlx5_3 not found"));
  EXPECT_EQ(kernel_.snapshot(), start_);
}

TEST_F(RdmaTypes, IsolationNeedsNamespacesThatDoNotShare) {
  os::FakeKernel shared(machine(os::RdmaNetnsMode::kShared));
  ASSERT_EQ(message(shared.netns().create("pod")), "");
  PodRequest pod{.pod = "a/b",
                 .netns_path = "/run/netns/pod",
                 .interfaces = {wanted("net1", {R"({"type":"ib-sriov","deviceID":"0000:02:00.3",
                    "rdmaIsolation":true})"})}};
  EXPECT_THAT(message(attach_with_addresses(shared, *store_, pod, soon())),
              HasSubstr("rdmaIsolation requires exclusive RDMA namespaces, but this node's are shared"));
  EXPECT_EQ(message(attach(pod.interfaces[0])), "");
}

TEST_F(RdmaTypes, IbKubernetesHasTheFirstWord) {
  InterfaceRequest one =
      wanted("net1", {R"({"type":"ib-sriov","deviceID":"0000:02:00.3","ibKubernetesEnabled":true})"});
  auto early = attach(one);
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code, Code::kBusy);
  EXPECT_THAT(message(early), HasSubstr("ib-kubernetes has not configured this interface yet"));
  one.selection.cni_args =
      api::given(json(R"({"mellanox.infiniband.app":"configured","guid":"02:00:00:00:00:00:00:0b"})"));
  EXPECT_EQ(message(attach(one)), "");
}

}  // namespace
}  // namespace railbed::attach

// SPDX-License-Identifier: Apache-2.0
// What a container gets with its VFs, by sysfs as it is at that moment.
#include "kubelet/allocation.h"

#include <gtest/gtest.h>

#include "doc/json.h"
#include "kubelet/device_info.h"
#include "kubelet/soft_verbs.h"
#include "kubelet/test_devices.h"
#include "os/record/memory_files.h"

namespace railbed::kubelet {
namespace {

const std::string kFirst = vf_address(1, 0).to_string();
const std::string kSecond = vf_address(1, 1).to_string();

struct Rig {
  Rig() {
    for (int i : {0, 1}) {
      const std::string device = fmt::format("/sys/bus/pci/devices/{}", vf_address(1, i));
      files.put_link(device + "/driver", "../../drivers/mlx5_core");
      files.put_directory(device + "/infiniband/" + rdma(i));
      for (const char* kind : {"verbs/uverbs", "mad/umad", "mad/issm"})
        files.put_file(fmt::format("/sys/class/infiniband_{}{}/ibdev", kind, i), rdma(i) + "\n");
    }
    resource.devices.at(0).vf.rdma = resource.devices.at(1).vf.rdma = true;
  }
  static std::string rdma(int i) { return fmt::format("mlx5_{}", i); }
  // To vfio, in this group.
  void bind_to_vfio(int i, const std::string& group, bool no_iommu) {
    const std::string device = fmt::format("/sys/bus/pci/devices/{}", vf_address(1, i));
    files.remove(device);
    files.put_link(device + "/driver", "../../drivers/vfio-pci");
    files.put_link(device + "/iommu_group", "/sys/kernel/iommu_groups/" + group);
    files.put_directory("/sys/kernel/iommu_groups/" + group);
    if (no_iommu) files.put_file("/sys/kernel/iommu_groups/" + group + "/name", "vfio-noiommu\n");
    resource.devices.at(static_cast<size_t>(i)).vf.device_type = DeviceType::kVfioPci;
  }
  Result<Allocation> get(const std::vector<std::string>& ids) {
    return allocate(kRail, resource, ids, [this](const Device& one) { return vf_files(files, one.vf.address); });
  }
  static std::vector<std::string> hosts(const Allocation& allocation) {
    std::vector<std::string> paths;
    for (const DeviceFile& file : allocation.files) paths.push_back(file.on_host);
    return paths;
  }

  os::MemoryFiles files;
  Resource resource = resources_of(node_of(1, 2), {}).at(kRail);
};

class AllocationTest : public testing::Test, protected Rig {};

TEST_F(AllocationTest, GivesRdmaFilesAndTheVariablesOfTheOriginal) {
  const auto given = get({kSecond, kFirst});
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(given->environment,
            (std::map<std::string, std::string>{
                {"PCIDEVICE_OPENSHIFT_IO_RAIL0", "0000:01:01.1,0000:01:01.0"},
                {"PCIDEVICE_OPENSHIFT_IO_RAIL0_INFO",
                 R"({"0000:01:01.0":{"generic":{"deviceID":"0000:01:01.0"},"rdma":{)"
                 R"("rdma_cm":"/dev/infiniband/rdma_cm","rdma_dev":"mlx5_0","uverbs":"/dev/infiniband/uverbs0"}},)"
                 R"("0000:01:01.1":{"generic":{"deviceID":"0000:01:01.1"},"rdma":{)"
                 R"("rdma_cm":"/dev/infiniband/rdma_cm","rdma_dev":"mlx5_1","uverbs":"/dev/infiniband/uverbs1"}}})"}}));
  EXPECT_EQ(hosts(*given), (std::vector<std::string>{"/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm",
                                                     "/dev/infiniband/uverbs1"}));
  EXPECT_EQ(doc::to_json(given->device_info.at(kFirst)),
            R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:01:01.0","rdma-device":"mlx5_0"}})");
}

// Who may send management datagrams can change the fabric, and who has issm says that a subnet manager is here.
TEST_F(AllocationTest, GivesManagementDatagramsOnlyWhereThePolicySaysSo) {
  NodeDevices node = node_of(1, 2);
  node.with_mad.insert(kRail);
  resource = resources_of(node, {}).at(kRail);
  resource.devices.at(0).vf.rdma = true;
  const auto given = get({kFirst});
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(hosts(*given),
            (std::vector<std::string>{"/dev/infiniband/uverbs0", "/dev/infiniband/umad0", "/dev/infiniband/rdma_cm"}));
  EXPECT_EQ(given->environment.at("PCIDEVICE_OPENSHIFT_IO_RAIL0_INFO"),
            R"({"0000:01:01.0":{"generic":{"deviceID":"0000:01:01.0"},"rdma":{"rdma_cm":"/dev/infiniband/rdma_cm",)"
            R"("rdma_dev":"mlx5_0","umad":"/dev/infiniband/umad0","uverbs":"/dev/infiniband/uverbs0"}}})");
}

TEST_F(AllocationTest, GivesAPlainVfNoFiles) {
  resource.devices.at(0).vf.rdma = false;
  const auto given = get({kFirst});
  ASSERT_TRUE(given);
  EXPECT_TRUE(given->files.empty());
  EXPECT_EQ(given->environment.at("PCIDEVICE_OPENSHIFT_IO_RAIL0_INFO"),
            R"({"0000:01:01.0":{"generic":{"deviceID":"0000:01:01.0"}}})");
}

TEST_F(AllocationTest, GivesTheGroupOfAVfioVf) {
  bind_to_vfio(0, "42", false);
  const auto given = get({kFirst});
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(given->files,
            (std::vector<DeviceFile>{{"/dev/vfio/42", "/dev/vfio/42"}, {"/dev/vfio/vfio", "/dev/vfio/vfio"}}));
  EXPECT_EQ(given->environment.at("PCIDEVICE_OPENSHIFT_IO_RAIL0_INFO"),
            R"({"0000:01:01.0":{"generic":{"deviceID":"0000:01:01.0"},)"
            R"("vfio":{"dev-mount":"/dev/vfio/42","mount":"/dev/vfio/vfio"}}})");
}

TEST_F(AllocationTest, GivesTheGroupWithoutAnIommuUnderTheNameThatProgramsLookFor) {
  bind_to_vfio(0, "3", true);
  const auto given = get({kFirst});
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(given->files.at(0), (DeviceFile{"/dev/vfio/noiommu-3", "/dev/vfio/3"}));
}

TEST_F(AllocationTest, GivesVhostWhereThePolicyAsksForIt) {
  resource.vhost_net = true;
  resource.devices.at(0).vf.rdma = false;
  const auto given = get({kFirst});
  ASSERT_TRUE(given);
  EXPECT_EQ(hosts(*given), (std::vector<std::string>{"/dev/vhost-net", "/dev/net/tun"}));
  EXPECT_EQ(given->environment.at("PCIDEVICE_OPENSHIFT_IO_RAIL0_INFO"),
            R"({"0000:01:01.0":{"generic":{"deviceID":"0000:01:01.0"},)"
            R"("vhost":{"net-mount":"/dev/vhost-net","tun-mount":"/dev/net/tun"}}})");
}

TEST_F(AllocationTest, GivesAVfToNoFurtherPodUnderItsFormerName) {
  resource.devices.at(0).ending = "it is nvidia.com/rail0 now";
  EXPECT_EQ(get({kFirst}).error().message,
            fmt::format("VF {} of {} is given to no further pod: it is nvidia.com/rail0 now", kFirst, kRail));
  EXPECT_TRUE(get({kSecond}));
}

TEST_F(AllocationTest, RefusesWhatCannotBeGiven) {
  struct Case {
    std::vector<std::string> ids;
    std::function<void(Rig&)> change;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{}, [](auto&) {}, "no device of openshift.io/rail0 is requested"},
      {{"0000:09:00.0"}, [](auto&) {}, "0000:09:00.0 is not a device of openshift.io/rail0"},
      {{kFirst, "../../etc"}, [](auto&) {}, "../../etc is not a device of openshift.io/rail0"},
      {{kFirst},
       [](auto& test) { test.resource.devices.at(0).unhealthy = "it is about to be changed"; },
       "VF 0000:01:01.0 of openshift.io/rail0 cannot be allocated now: it is about to be changed"},
      {{kFirst},
       [](auto& test) { test.files.remove("/sys/bus/pci/devices/" + kFirst); },
       "VF 0000:01:01.0 of openshift.io/rail0: device 0000:01:01.0 not found"},
      {{kFirst},
       [](auto& test) { test.files.remove("/sys/bus/pci/devices/" + kFirst + "/driver"); },
       "VF 0000:01:01.0 has no driver, but its policy requires the kernel's network driver"},
      {{kFirst},
       [](auto& test) { test.files.remove("/sys/bus/pci/devices/" + kFirst + "/infiniband"); },
       "VF 0000:01:01.0 has no RDMA device, but its policy requires one"},
      {{kFirst},
       [](auto& test) { test.resource.devices.at(0).vf.device_type = DeviceType::kVfioPci; },
       "VF 0000:01:01.0 has the driver mlx5_core, but its policy requires vfio-pci"},
      {{kSecond},
       [](auto& test) {
         test.bind_to_vfio(1, "1", false);
         test.files.remove("/sys/bus/pci/devices/" + kSecond + "/iommu_group");
       },
       "VF 0000:01:01.1 has no IOMMU group; check that the IOMMU is enabled"},
  };
  for (const Case& one : cases) {
    Rig rig;
    one.change(rig);
    const auto given = rig.get(one.ids);
    ASSERT_FALSE(given) << one.message;
    EXPECT_EQ(given.error().story(), one.message);
  }
}

TEST_F(AllocationTest, SaysNothingOfASoftDeviceBeforeItIsMade) {
  files.remove("/sys/bus/pci/devices/" + kFirst + "/infiniband");
  resource.soft_rdma = true;
  const auto given = allocate(kRail, resource, {kFirst}, [this](const Device& one) -> Result<VfFiles> {
    VfFiles found = TRY(vf_files(files, one.vf.address));
    found.char_devices = {"/dev/infiniband/uverbs7"};
    return found;
  });
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(hosts(*given), (std::vector<std::string>{"/dev/infiniband/uverbs7", "/dev/infiniband/rdma_cm"}));
  EXPECT_TRUE(given->device_info.at(kFirst).is_null());
}

TEST(SoftVerbs, AreTheLowestFreeNumbers) {
  os::MemoryFiles files;
  files.put_directory("/sys/class/infiniband_verbs/uverbs1");
  SoftVerbs verbs;
  const SoftVerbs::Time now{};
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 0), now).value(), "/dev/infiniband/uverbs0");
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 1), now).value(), "/dev/infiniband/uverbs2");
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 0), now).value(), "/dev/infiniband/uverbs0");  // asked again
  // The device is there: its number is the kernel's, and free again with it.
  files.put_directory("/sys/class/infiniband_verbs/uverbs0");
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 2), now).value(), "/dev/infiniband/uverbs3");
  files.remove("/sys/class/infiniband_verbs/uverbs0");
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 3), now).value(), "/dev/infiniband/uverbs0");
  // Given up.
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 4), now + SoftVerbs::kKept).value(), "/dev/infiniband/uverbs0");
}

// A pod that lives for seconds: nothing is allocated between its ADD and its DEL.
TEST(SoftVerbs, ForgetWhatTheyReservedWhenItWasMade) {
  os::MemoryFiles files;
  files.put_directory("/sys/class/infiniband_verbs");
  SoftVerbs verbs;
  const SoftVerbs::Time now{};
  EXPECT_EQ(verbs.reserve(files, vf_address(1, 0), now).value(), "/dev/infiniband/uverbs0");
  EXPECT_EQ(verbs.reserve(files, vf_address(2, 0), now).value(), "/dev/infiniband/uverbs1");
  verbs.look(files);  // an ADD of another pod has ended
  EXPECT_EQ(verbs.reserve(files, vf_address(2, 0), now).value(), "/dev/infiniband/uverbs1") << "not made yet";
  for (const char* device : {"/sys/class/infiniband_verbs/uverbs0", "/sys/class/infiniband_verbs/uverbs1"})
    files.put_directory(device);
  verbs.look(files);
  for (const char* device : {"/sys/class/infiniband_verbs/uverbs0", "/sys/class/infiniband_verbs/uverbs1"})
    files.remove(device);
  EXPECT_EQ(verbs.reserve(files, vf_address(2, 0), now).value(), "/dev/infiniband/uverbs0");
}

TEST(DeviceInfo, HasANameThatIsOneComponent) {
  EXPECT_EQ(device_info_path("/d", "openshift.io/rail0", "0000:01:00.1"),
            "/d/dp/openshift.io-rail0-0000:01:00.1-device.json");
  EXPECT_EQ(device_info_path("/d", "../..", "x"), "/d/dp/_..-..-x-device.json");
}

TEST(Variables, AreNamedAsTheOriginalNamesThem) {
  EXPECT_EQ(variable_of("openshift.io/rail0"), "PCIDEVICE_OPENSHIFT_IO_RAIL0");
  EXPECT_EQ(variable_of("example.com/rail-0_a"), "PCIDEVICE_EXAMPLE_COM_RAIL-0_A");
}

}  // namespace
}  // namespace railbed::kubelet

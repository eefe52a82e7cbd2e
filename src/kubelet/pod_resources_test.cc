// SPDX-License-Identifier: Apache-2.0
// Who has which devices: from the kubelet's service, its checkpoint, or both.
#include "kubelet/pod_resources.h"

#include <gtest/gtest.h>

#include "os/fake/kernel.h"

namespace railbed::kubelet {
namespace {

constexpr const char* kWritten = R"({"Data":{"PodDeviceEntries":[
  {"PodUID":"u1","ContainerName":"init","ResourceName":"o/r","DeviceIDs":{"1":["0000:03:00.2"],"0":["0000:02:00.1"]}},
  {"PodUID":"u1","ContainerName":"b","ResourceName":"o/r","DeviceIDs":["0000:02:00.1"]},
  {"PodUID":"u2","ContainerName":"a","ResourceName":"gpu","DeviceIDs":{"-1":["GPU-1"]}},
  {"PodUID":"","ContainerName":"a","ResourceName":"gpu","DeviceIDs":{"-1":["GPU-2"]}}],
  "RegisteredDevices":{}},"Checksum":1})";

class Service : public PodResources {
 public:
  Result<GivenDevices> one = fail(Code::kUnsupported, "no Get");
  Result<std::map<std::string, GivenDevices>> all = std::map<std::string, GivenDevices>{};
  int lists = 0;
  Result<GivenDevices> get(const PodRef&, os::Deadline) override { return one; }
  Result<std::map<std::string, GivenDevices>> list(os::Deadline) override {
    ++lists;
    return all;
  }
};

const PodRef kPod{.ns = "d", .name = "a", .uid = "u1"};

TEST(Checkpoint, HasTheDevicesOfAllContainers) {
  auto all = read_checkpoint(kWritten);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2u);
  EXPECT_EQ(all->at("u1"), (GivenDevices{{"o/r", {"0000:02:00.1", "0000:03:00.2"}}}));
}

TEST(Checkpoint, IsReadOrRefused) {
  EXPECT_EQ(read_checkpoint("[]").error().message,
            "kubelet's checkpoint of devices cannot be read: it has no \"Data\"");
  EXPECT_FALSE(read_checkpoint("{"));
  auto none = read_checkpoint(R"({"Data":{"PodDeviceEntries":null}})");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST(PodDevices, AreTheUnionOfGetAndTheCheckpoint) {
  os::FakeKernel kernel;
  kernel.put_file(kCheckpoint, kWritten);
  Service service;
  service.one = GivenDevices{{"o/r", {"0000:09:00.0"}}, {"o/s", {"0000:0a:00.0"}}};
  PodDevices devices(kernel.files(), &service);
  EXPECT_EQ(devices.of(kPod, {}).value(),
            (GivenDevices{{"o/r", {"0000:02:00.1", "0000:03:00.2", "0000:09:00.0"}}, {"o/s", {"0000:0a:00.0"}}}));
  EXPECT_EQ(service.lists, 0);
  EXPECT_EQ(devices.of({.ns = "d", .name = "a", .uid = ""}, {}).value(), *service.one);
}

TEST(PodDevices, AreListedWhereThereIsNoGet) {
  os::FakeKernel kernel;
  Service service;
  service.all = std::map<std::string, GivenDevices>{{"d/a", {{"o/r", {"x"}}}}, {"d/b", {{"o/r", {"y"}}}}};
  PodDevices devices(kernel.files(), &service);
  EXPECT_EQ(devices.of(kPod, {}).value(), (GivenDevices{{"o/r", {"x"}}}));
  EXPECT_EQ(devices.of({.ns = "d", .name = "c", .uid = "u3"}, {}).error().code, Code::kNotFound);
}

TEST(PodDevices, AreThoseOfTheCheckpointWithoutAnAnswer) {
  os::FakeKernel kernel;
  Service service;
  service.one = fail(Code::kTimeout, "the kubelet hangs");
  PodDevices devices(kernel.files(), &service);
  EXPECT_EQ(devices.of(kPod, {}).error().message, "the kubelet hangs");
  kernel.put_file(kCheckpoint, kWritten);
  EXPECT_EQ(devices.of(kPod, {}).value().at("o/r").size(), 2u);
  EXPECT_EQ(service.lists, 0);  // it would hang as well
  kernel.put_file(kCheckpoint, "damaged");
  EXPECT_EQ(devices.of(kPod, {}).error().code, Code::kInvalid);
}

TEST(PodDevices, WithoutAKubeletAreUnknown) {
  os::FakeKernel kernel;
  EXPECT_EQ(PodDevices(kernel.files(), nullptr).of(kPod, {}).error().code, Code::kNotFound);
}

TEST(PodDevices, OfAllPodsAreByVf) {
  os::FakeKernel kernel;
  kernel.put_file(kCheckpoint, kWritten);
  Service service;
  service.all = std::map<std::string, GivenDevices>{{"d/a", {{"o/r", {"0000:02:00.1"}}}}};
  PodDevices devices(kernel.files(), &service);
  // What ended pods had is forgotten with the refresh; what an init container has is still there.
  int refreshed = 0;
  const AllocatedVfs all = devices.all({}, [&] { ++refreshed; }).value();
  const PciAddress first = PciAddress::parse("0000:02:00.1").value();
  const PciAddress second = PciAddress::parse("0000:03:00.2").value();
  EXPECT_EQ(all.pods, (plan::InUse{{first, "d/a"}, {second, "(pod u1)"}}));
  EXPECT_EQ(all.resources, (std::map<PciAddress, std::set<std::string>>{{first, {"o/r"}}, {second, {"o/r"}}}));
  EXPECT_EQ(refreshed, 1);
  service.all = fail(Code::kIo, "no answer");
  EXPECT_EQ(devices.all({}, [&] { ++refreshed; }).value().pods.size(), 2u);
  EXPECT_EQ(refreshed, 1);
  os::FakeKernel without;
  EXPECT_EQ(PodDevices(without.files(), &service).all({}, {}).error().message, "no answer");
}

}  // namespace
}  // namespace railbed::kubelet

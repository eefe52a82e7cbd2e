// SPDX-License-Identifier: Apache-2.0
// What a pod's author tries with `deviceID` in the annotation.
#include "agent/pod/asked_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/meta.h"
#include "agent/test_requests.h"

namespace railbed::agent {
namespace {

constexpr const char* kHostDevice = R"({"cniVersion":"1.0.0","name":"hd","type":"host-device")";
constexpr const char* kVf = "0000:01:10.0";
constexpr const char* kOtherVf = "0000:01:10.2";
constexpr const char* kPf = "0000:02:00.0";
constexpr const char* kResource = "o/rail";

class AskedDevice : public RequestTest {
 protected:
  void SetUp() override {
    RequestTest::SetUp();
    ASSERT_TRUE(kernel.files().write("/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs", "2"));
    kernel.put_file(kubelet::kCheckpoint, R"({"Data":{"PodDeviceEntries":[
      {"PodUID":"u1","ContainerName":"a","ResourceName":"o/rail","DeviceIDs":["0000:01:10.0"]},
      {"PodUID":"u2","ContainerName":"a","ResourceName":"o/rail","DeviceIDs":["0000:01:10.2"]}]}})");
  }

  // Of a request about a pod, whose container and namespace bear its name.
  std::string ask(cni::Command command, const std::string& pod) {
    const cni::Request request{.command = command,
                               .type = "railbed",
                               .container_id = "of-" + pod,
                               .netns = "/run/netns/" + pod,
                               .ifname = "eth0",
                               .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", pod}},
                               .args_text = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=" + pod,
                               .path = {"/opt/cni/bin"},
                               .config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed"})"};
    const auto done = meta_request(backends, meta, request, *cni::read_plugin_config(request.config));
    return done.has_value() ? "attached" : fmt::format("{}: {}", cni::code_of(done.error()), done.error().story());
  }
  // Of an ADD whose pod asks for the device.
  std::string answer(const std::string& device, const std::string& members = "", const std::string& resource = "") {
    pods.add_network("hd", kHostDevice + members + "}", resource);
    pods.add_pod(fmt::format(R"([{{"name":"hd","deviceID":"{}"}}])", device));
    std::string added = ask(cni::Command::kAdd, "a");
    if (added != "attached") return added;
    EXPECT_EQ(ask(cni::Command::kDel, "a"), "attached");
    return added;
  }
  std::string offered_answer(const std::string& device) {
    kubelet.known_by([](const std::string&) { return plan::PoolVf{}; });
    return answer(device, R"(,"capabilities":{"deviceID":true})");
  }
};

TEST_F(AskedDevice, IsOneOfThoseThatThePodHas) {
  EXPECT_EQ(answer(kVf, "", kResource), "attached");
  EXPECT_EQ(answer(kOtherVf, "", kResource),
            "7: pod ns/a requests device 0000:01:10.2 by deviceID; of o/rail the kubelet allocated 0000:01:10.0");
  EXPECT_EQ(answer(kPf, "", kResource),
            "7: pod ns/a requests device 0000:02:00.0 by deviceID; of o/rail the kubelet allocated 0000:01:10.0");
}

// A checkpoint that lies, or two claims: who has the VF keeps it, and who comes later gets an error that names the
// owner.
TEST_F(AskedDevice, GivenToTwoPodsIsTheFirstOnes) {
  kernel.put_file(kubelet::kCheckpoint, R"({"Data":{"PodDeviceEntries":[
    {"PodUID":"u1","ContainerName":"a","ResourceName":"o/rail","DeviceIDs":["0000:01:10.0"]},
    {"PodUID":"u2","ContainerName":"a","ResourceName":"o/rail","DeviceIDs":["0000:01:10.0"]}]}})");
  ASSERT_TRUE(kernel.netns().create("b"));
  pods.add_network("hd", std::string(kHostDevice) + "}", kResource);
  pods.add_pod(R"([{"name":"hd"}])");
  pods.pods["ns/b"] = {"ns", "b", "u2", pods.pods["ns/a"].annotations};
  ASSERT_EQ(ask(cni::Command::kAdd, "a"), "attached");
  EXPECT_THAT(ask(cni::Command::kAdd, "b"), testing::HasSubstr("device 0000:01:10.0 belongs to pod ns/a"));
  EXPECT_EQ(ask(cni::Command::kCheck, "a"), "attached") << "the refused one has changed nothing";
  EXPECT_EQ(ask(cni::Command::kDel, "b"), "attached");
  EXPECT_EQ(ask(cni::Command::kCheck, "a"), "attached");
  EXPECT_EQ(ask(cni::Command::kDel, "a"), "attached");
  EXPECT_EQ(ask(cni::Command::kAdd, "b"), "attached");
  EXPECT_EQ(ask(cni::Command::kDel, "b"), "attached");
}

TEST_F(AskedDevice, OfAKubeletThatSaysNothingIsRefused) {
  pods.add_network("hd", std::string(kHostDevice) + "}", kResource);
  pods.add_pod(R"([{"name":"hd"}])");
  kernel.put_file(kubelet::kCheckpoint, R"({"Data":{"PodDeviceEntries":null}})");
  EXPECT_THAT(ask(cni::Command::kAdd, "a"), testing::HasSubstr("kubelet gave pod ns/a no device of o/rail"));
  kernel.put_file(kubelet::kCheckpoint, "{");
  EXPECT_THAT(ask(cni::Command::kAdd, "a"), testing::HasSubstr("asking the kubelet for the devices of pod ns/a: "));
  EXPECT_TRUE(store->attachments()->empty());
}

TEST_F(AskedDevice, WithoutAResourceNeedsTheDefinitionsWord) {
  const std::string asks = "7: network ns/hd: the pod requests device ";
  EXPECT_EQ(answer(kVf), asks + "0000:01:10.0 by deviceID, but the network has no resource");
  EXPECT_EQ(answer(kPf), asks + "0000:02:00.0 by deviceID, but the network has no resource");
  const std::string declared = R"(,"capabilities":{"deviceID":true})";
  EXPECT_EQ(answer(kVf, declared), "attached");
  EXPECT_EQ(answer(kPf, declared), asks + "0000:02:00.0 by deviceID, which is a PF; all users of its VFs depend on it");
  EXPECT_EQ(answer("0000:7f:00.0", declared), asks + "0000:7f:00.0 by deviceID, which is not on this node");
  EXPECT_EQ(answer("../../../0000:02:00.0", declared),
            asks + "../../../0000:02:00.0 by deviceID, which is not a PCI address");
  EXPECT_EQ(offered_answer(kVf), asks + "0000:01:10.0 by deviceID, which belongs to a resource");
}

TEST_F(AskedDevice, IsNotOneThatTheHostUses) {
  const std::string declared = R"(,"capabilities":{"deviceID":true})";
  const auto links = kernel.links();
  const auto names = kernel.files().list(fmt::format("/sys/bus/pci/devices/{}/net", kVf));
  ASSERT_TRUE(names.has_value() && names->size() == 1);
  const IfIndex index = (*links)->find(IfName{names->front()}, os::WithVfs::kNo)->index;
  ASSERT_TRUE((*links)->change(index, {.up = true}));
  ASSERT_TRUE((*links)->add_address({index, *IpPrefix::parse("192.0.2.9/24")}));
  EXPECT_EQ(
      answer(kVf, declared),
      "7: network ns/hd: the pod requests device 0000:01:10.0 by deviceID, which has the host's address 192.0.2.9");
  Route route = Route::default_by(*IpAddress::parse("192.0.2.1"));
  route.link = index;
  ASSERT_TRUE((*links)->add_route(route));
  EXPECT_EQ(answer(kVf, declared),
            "7: network ns/hd: the pod requests device 0000:01:10.0 by deviceID, which has the host's default route");
}

// Two networks of a resource, of which the second asks for one of them.
TEST(KubeletDevices, GivesWhatIsAskedForFirst) {
  os::FakeKernel kernel;
  KubeletDevices devices(kernel.files());
  const kubelet::GivenDevices given = {{kResource, {"a", "b", "c"}}};
  const PodInfo pod{.ns = "d", .name = "p"};
  const auto ids = [&](const std::vector<std::string>& asked) {
    std::string text;
    const std::string resource = kResource;
    const auto found = devices.devices({pod, resource, asked}, given, {});
    if (!found.has_value()) return found.error().story();
    for (const Device& one : *found) text += one.id;
    return text;
  };
  EXPECT_EQ(ids({"", ""}), "ab");
  EXPECT_EQ(ids({"", "a"}), "ba");
  EXPECT_EQ(ids({"c", ""}), "ca");
  EXPECT_EQ(ids({"b", "b"}), "pod d/p requests device b by deviceID; of o/rail the kubelet allocated a, b, c");
}

}  // namespace
}  // namespace railbed::agent

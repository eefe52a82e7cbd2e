// SPDX-License-Identifier: Apache-2.0
// What the meta plugin reads and writes, without an agent around it: configurations, executed plugins and
// their records, the pod's status, files of kubelet and Multus.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/device_info.h"
#include "agent/pod/kubelet_devices.h"
#include "agent/pod/meta_config.h"
#include "agent/pod/meta_multus.h"
#include "agent/pod/meta_pod.h"
#include "agent/pod/network_status.h"
#include "agent/records/exec_records.h"
#include "doc/json.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

cni::PluginConfig plugin(const std::string& members) {
  auto config = cni::read_plugin_config(R"({"cniVersion":"1.0.0","name":"multus-cni-network","type":"railbed")" +
                                        (members.empty() ? "" : "," + members) + "}");
  EXPECT_TRUE(config.has_value()) << config.error().story();
  return config.value_or(cni::PluginConfig{});
}

Result<cni::AddResult> answer_of(const std::string& json, const std::string& version) {
  return cni::read_result(json, version);
}

// --- configuration

TEST(MetaConfig, HasTheDefaultsOfMultus) {
  auto config = read_meta_config(plugin(""));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->conf_dir, "/etc/cni/multus/net.d");
  EXPECT_EQ(config->cache_dir, "/var/lib/cni/multus");
  EXPECT_THAT(config->system_namespaces, ElementsAre("kube-system"));
  EXPECT_EQ(config->unknown_pod, MetaConfig::UnknownPod::kAsSourceSays);
}

TEST(MetaConfig, ReadsItsKeysAndPassesOverThoseWithoutMeaning) {
  auto config = read_meta_config(
      plugin(R"("kubeconfig":"/x","logLevel":"debug","binDir":"/opt/cni/bin","clusterNetwork":"/etc/cni/net.d/a.conf",)"
             R"("namespaceIsolation":"true","globalNamespaces":"default, net","systemNamespaces":[],)"
             R"("readinessindicatorfile":"/run/ready","unknownPod":"fail")"));
  ASSERT_TRUE(config.has_value()) << config.error().story();
  EXPECT_THAT(config->bin_dirs, ElementsAre("/opt/cni/bin"));
  EXPECT_TRUE(config->namespace_isolation);
  EXPECT_THAT(config->global_namespaces, ElementsAre("default", "net"));
  EXPECT_TRUE(config->system_namespaces.empty());
  EXPECT_EQ(config->unknown_pod, MetaConfig::UnknownPod::kFails);
}

TEST(MetaConfig, RefusesWhatCannotBeMeant) {
  for (const char* members : {R"("clusterNetworks":"x")", R"("delegates":[{"type":"a"}],"clusterNetwork":"x")",
                              R"("confDir":"net.d")", R"("unknownPod":"maybe")", R"("maxNetworks":0)",
                              R"("maxNetworks":1000)", R"("kubeconfig":1)", R"("delegates":["x"])"}) {
    auto config = read_meta_config(plugin(members));
    ASSERT_FALSE(config.has_value()) << members;
    EXPECT_EQ(cni::code_of(config.error()), cni::kInvalidConfig) << members;
  }
}

// --- executed plugins

Execution bridge_add() {
  return {.command = cni::Command::kAdd,
          .type = "bridge",
          .container_id = "c1",
          .netns = "/run/netns/a",
          .ifname = "eth0",
          .args = "K8S_POD_NAME=a",
          .path = {"/opt/none", "/opt/cni/bin"},
          .config = R"({"cniVersion":"1.0.0","name":"net","type":"bridge"})"};
}

TEST(Exec, GivesAPluginItsEnvironmentAndReadsItsAnswer) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel);
  ASSERT_TRUE(kernel.netns().create("a").has_value());
  os::RunRequest seen;
  kernel.put_program("/opt/cni/bin/bridge", [&](const os::RunRequest& request) -> Result<os::RunResult> {
    seen = request;
    return os::RunResult{.output = R"({"ips":[{"address":"10.0.0.2/24"}]})"};
  });
  auto result = execute_add(plugins.slot("bridge").value(), bridge_add(), "1.0.0");
  ASSERT_TRUE(result.has_value()) << result.error().story();
  EXPECT_EQ(result->addresses.at(0).address.to_string(), "10.0.0.2/24");
  EXPECT_THAT(seen.environment,
              testing::IsSupersetOf({"CNI_COMMAND=ADD", "CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/a",
                                     "CNI_IFNAME=eth0", "CNI_ARGS=K8S_POD_NAME=a", "CNI_PATH=/opt/cni/bin"}));
  EXPECT_EQ(seen.input, bridge_add().config);
}

// A plugin opens the path itself: what it did may be in another namespace, so it is instructed to undo it without one.
TEST(Exec, FailsWhereThePathLeadsElsewhereWhileThePluginRuns) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel);
  ASSERT_TRUE(kernel.netns().create("a").has_value());
  kernel.put_program("/opt/cni/bin/bridge", [&](const os::RunRequest&) -> Result<os::RunResult> {
    EXPECT_TRUE(kernel.netns().remove("a").has_value());
    EXPECT_TRUE(kernel.netns().create("a").has_value());
    return os::RunResult{.output = R"({"ips":[{"address":"10.0.0.2/24"}]})"};
  });
  const auto result = execute_add(plugins.slot("bridge").value(), bridge_add(), "1.0.0");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(cni::code_of(result.error()), cni::kInvalidNetns);
  EXPECT_EQ(result.error().story(),
            "plugin bridge: CNI_NETNS /run/netns/a was replaced by another network namespace while the plugin ran; its "
            "DEL runs without a namespace");
}

TEST(Exec, ReportsWhatAPluginSaid) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel);
  ASSERT_TRUE(kernel.netns().create("a").has_value());
  os::RunResult answer{.exit_status = 1, .output = R"({"code":11,"msg":"later","details":"busy"})", .errors = "noise"};
  kernel.put_program("/opt/cni/bin/bridge", [&](const os::RunRequest&) -> Result<os::RunResult> { return answer; });
  auto result = execute_add(plugins.slot("bridge").value(), bridge_add(), "1.0.0");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(cni::code_of(result.error()), 11);
  EXPECT_EQ(result.error().story(), "plugin bridge: later");
  EXPECT_EQ(cni::hint_of(result.error()), "busy");

  answer = {.exit_status = 2, .output = "no json", .errors = "it broke\n"};
  result = execute_add(plugins.slot("bridge").value(), bridge_add(), "1.0.0");
  EXPECT_EQ(result.error().story(), "plugin bridge: exit status 2: it broke");

  answer = {.output = "{"};
  result = execute_add(plugins.slot("bridge").value(), bridge_add(), "1.0.0");
  EXPECT_EQ(cni::code_of(result.error()), cni::kDecode);
}

TEST(Exec, FindsNoProgramOutsideItsDirectories) {
  os::FakeKernel kernel;
  const RunningPlugins plugins(kernel);
  for (const char* type : {"", ".", "..", "../bin/sh", "nothing"}) {
    auto found = find_plugin(plugins, type, {"/opt/cni/bin"});
    ASSERT_FALSE(found.has_value()) << type;
    EXPECT_EQ(cni::code_of(found.error()), cni::kInvalidConfig);
  }
}

// Who may send a request names the folders of programs, and the agent executes them as root.
TEST(Exec, RunsNothingFromFoldersThatAreNotOfItsList) {
  os::FakeKernel kernel;
  std::vector<std::string> seen;
  for (const char* program : {"/run/pod/bin/bridge", "/opt/cni/bin/bridge", "/srv/cni/other"})
    kernel.put_program(program, [&](const os::RunRequest& request) -> Result<os::RunResult> {
      seen = request.environment;
      return os::RunResult{.output = R"({"cniVersion":"1.0.0"})"};
    });
  RunningPlugins plugins(kernel);
  EXPECT_EQ(*find_plugin(plugins, "bridge", {"/run/pod/bin", "/opt/cni/bin/"}), "/opt/cni/bin/bridge");
  const auto refused = find_plugin(plugins, "other", {"/srv/cni", "/opt/cni/bin"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      refused.error(),
      cni::error_with(7, "plugin other not found in /srv/cni:/opt/cni/bin; plugins are not executed from /srv/cni",
                      "plugins are executed from /opt/cni/bin:/usr/libexec/cni:/usr/lib/cni:/var/lib/cni/bin:"
                      "/home/kubernetes/bin:/var/lib/rancher/k3s/data/cni:/var/snap/microk8s/current/opt/cni/bin;"
                      " `railbed agent --plugin-dir DIRECTORY` adds one"));
  RunningPlugins more(kernel, 1, RunningPlugins::kWait, {}, {.folders = {"/srv/cni"}, .unfenced = {}});
  EXPECT_EQ(*find_plugin(more, "other", {"/srv/cni", "/opt/cni/bin"}), "/srv/cni/other");

  ASSERT_TRUE(kernel.netns().create("a").has_value());
  Execution call = bridge_add();
  call.path = {"/run/pod/bin", "/opt/cni/bin"};
  ASSERT_TRUE(execute_add(plugins.slot("bridge").value(), call, "1.0.0").has_value());
  EXPECT_THAT(seen, testing::Contains("CNI_PATH=/opt/cni/bin")) << "a plugin executes others, too";
}

TEST(Exec, IsFencedUnlessItsTypeIsExcepted) {
  os::FakeKernel kernel;
  os::Trust trust = os::Trust::kOwn;
  kernel.put_program("/opt/cni/bin/bridge", [&](const os::RunRequest& request) -> Result<os::RunResult> {
    trust = request.trust;
    return os::RunResult{.output = R"({"cniVersion":"1.0.0"})"};
  });
  ASSERT_TRUE(kernel.netns().create("a").has_value());
  RunningPlugins all(kernel);
  ASSERT_TRUE(execute_add(all.slot("bridge").value(), bridge_add(), "1.0.0").has_value());
  EXPECT_EQ(trust, os::Trust::kOthers);
  RunningPlugins excepted(kernel, 1, RunningPlugins::kWait, {}, {.unfenced = {"bridge"}});
  ASSERT_TRUE(execute_add(excepted.slot("bridge").value(), bridge_add(), "1.0.0").has_value());
  EXPECT_EQ(trust, os::Trust::kOthersUnfenced);
}

TEST(ExecRecords, HoldAllThatDelNeeds) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel);
  ASSERT_TRUE(kernel.netns().create("a"));
  state::Attachment record = program_record("ns/a@c1", "net", 0, bridge_add(), "1.0.0");
  EXPECT_EQ(record.interface, "exec:eth0#0");
  EXPECT_TRUE(is_of_program(record));
  auto before = execution_of(record, cni::Command::kDel);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->config, bridge_add().config);

  auto result = answer_of(R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}]})", "1.0.0");
  conclude(record, *result);
  EXPECT_EQ(record.status, state::AttachmentStatus::kAttached);
  os::RunRequest seen;
  kernel.put_program("/opt/cni/bin/bridge", [&](const os::RunRequest& request) -> Result<os::RunResult> {
    seen = request;
    return os::RunResult{};
  });
  ProgramsUndone undone = undo_programs(plugins, {record});
  EXPECT_EQ(undone.done.size(), 1u);
  EXPECT_THAT(seen.environment, testing::IsSupersetOf({"CNI_COMMAND=DEL", "CNI_NETNS=/run/netns/a"}));
  EXPECT_THAT(seen.input, HasSubstr(R"("prevResult":{"cniVersion":"1.0.0")"));

  ASSERT_TRUE(kernel.netns().remove("a"));
  undo_programs(plugins, {record});
  EXPECT_THAT(seen.environment, testing::Contains("CNI_NETNS="));  // gone
}

TEST(ExecRecords, AreUndoneFromTheLastOnAndAllAreTried) {
  os::FakeKernel kernel;
  RunningPlugins plugins(kernel);
  std::vector<std::string> order;
  for (const char* type : {"one", "two", "three"})
    kernel.put_program(std::string("/opt/cni/bin/") + type,
                       [&order, type](const os::RunRequest&) -> Result<os::RunResult> {
                         order.emplace_back(type);
                         return os::RunResult{.exit_status = std::string(type) == "two" ? 1 : 0};
                       });
  std::vector<state::Attachment> records;
  for (const char* type : {"one", "two", "three"}) {
    Execution execution = bridge_add();
    execution.type = type;
    records.push_back(program_record("ns/a@c1", "net", records.size(), execution, "1.0.0"));
  }
  ProgramsUndone undone = undo_programs(plugins, records);
  EXPECT_THAT(order, ElementsAre("three", "two", "one"));
  EXPECT_EQ(undone.done.size(), 2u);
  ASSERT_EQ(undone.failures.size(), 1u);
  EXPECT_EQ(undone.failures[0].record.interface, "exec:eth0#1");
}

// --- status

TEST(NetworkStatus, IsAsMultusWritesIt) {
  auto eth0 = answer_of(
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"cni0"},{"name":"veth1"},
          {"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/run/netns/a"}],
          "ips":[{"address":"10.1.0.5/16","gateway":"10.1.0.1","interface":2}],
          "routes":[{"dst":"0.0.0.0/0","gw":"10.1.0.1"}],"dns":{}})",
      "1.0.0");
  auto net1 = answer_of(
      R"({"cniVersion":"1.1.0","interfaces":[{"name":"net1","mac":"02:00:00:00:00:02","mtu":9000,
          "sandbox":"/run/netns/a"}],"ips":[{"address":"10.9.0.5/24"},{"address":"fd00::5/64"}],
          "dns":{"nameservers":["10.0.0.53"]}})",
      "1.1.0");
  ASSERT_TRUE(eth0.has_value() && net1.has_value());
  doc::Value info = doc::Value::object();
  info.set("type", "pci");
  std::string text = annotation_text(
      to_value(std::vector<NetworkStatus>{{"cbr0", true, *eth0, {}}, {"llm/rail0", false, *net1, info}}));
  EXPECT_EQ(text, R"([{
    "name": "cbr0",
    "interface": "eth0",
    "ips": [
        "10.1.0.5"
    ],
    "mac": "02:00:00:00:00:01",
    "default": true,
    "dns": {},
    "gateway": [
        "10.1.0.1"
    ]
},{
    "name": "llm/rail0",
    "interface": "net1",
    "ips": [
        "10.9.0.5",
        "fd00::5"
    ],
    "mac": "02:00:00:00:00:02",
    "mtu": 9000,
    "dns": {
        "nameservers": [
            "10.0.0.53"
        ]
    },
    "device-info": {
        "type": "pci"
    }
}])");
}

TEST(NetworkStatus, GivesEveryInterfaceOfThePodAnElement) {
  auto result = answer_of(
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"a","sandbox":"/n"},{"name":"b","sandbox":"/n"}],
          "ips":[{"address":"10.0.0.1/24","interface":1,"gateway":"10.0.0.254"},{"address":"10.0.1.1/24"}]})",
      "1.0.0");
  ASSERT_TRUE(result.has_value());
  doc::Value all = to_value(NetworkStatus{"x", true, *result, {}});
  ASSERT_EQ(all.as_array()->size(), 2u);
  EXPECT_EQ((*all.as_array())[0].find("ips"), nullptr);
  EXPECT_EQ((*all.as_array())[0].find("default"), nullptr);
  EXPECT_EQ((*all.as_array())[1].find("ips")->as_array()->size(), 2u);  // one without an interface: the last
  EXPECT_NE((*all.as_array())[1].find("default"), nullptr);             // it carries the gateway
}

// --- kubelet and Multus

constexpr const char* kCheckpoint = R"({"Data":{"PodDeviceEntries":[
  {"PodUID":"u1","ContainerName":"a","ResourceName":"o/r","DeviceIDs":{"1":["0000:03:00.2"],"0":["0000:02:00.1"]}},
  {"PodUID":"u1","ContainerName":"b","ResourceName":"o/r","DeviceIDs":["0000:02:00.0"]},
  {"PodUID":"u2","ContainerName":"a","ResourceName":"o/r","DeviceIDs":{"-1":["x"]}}],
  "RegisteredDevices":{}},"Checksum":1})";

Result<std::vector<Device>> from_kubelet(KubeletDevices& source, const std::string& uid, size_t count) {
  const PodInfo pod{.ns = "d", .name = "a", .uid = uid, .annotations = {}};
  const kubelet::GivenDevices given = TRY(source.given_to(pod));
  return source.devices({pod, "o/r", std::vector<std::string>(count)}, given, {});
}

TEST(KubeletDevices, GivesAPodsDevicesInOrder) {
  os::FakeKernel kernel;
  KubeletDevices source(kernel.files());
  EXPECT_EQ(from_kubelet(source, "u1", 2).error().code, Code::kNotFound);  // no kubelet here: others may know
  kernel.put_file(kubelet::kCheckpoint, kCheckpoint);
  auto devices = from_kubelet(source, "u1", 2);
  ASSERT_TRUE(devices) << devices.error().to_string();
  EXPECT_EQ(devices->at(0).id, "0000:02:00.0");
  EXPECT_EQ(devices->at(1).id, "0000:02:00.1");
  auto more = from_kubelet(source, "u1", 4);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::kExhausted);
  EXPECT_EQ(more.error().message, "pod d/a has 3 device(s) of o/r, but its networks need 4");
  EXPECT_EQ(from_kubelet(source, "u3", 1).error().message, "kubelet gave pod d/a no device of o/r");
  EXPECT_EQ(from_kubelet(source, "", 1).error().code, Code::kNotFound);
}

// Without it a VF for RDMA came without its RDMA device.
TEST(KubeletDevices, ReportsWhatThisNodeKnowsOfAVf) {
  os::FakeKernel kernel;
  KubeletDevices source(kernel.files());
  kernel.put_file(kubelet::kCheckpoint, kCheckpoint);
  source.known_by([](const std::string& id) -> Result<std::optional<plan::PoolVf>> {
    if (id != "0000:02:00.0") return std::optional<plan::PoolVf>();
    return plan::PoolVf{.address = *PciAddress::parse(id), .policy = "ops/rail0", .rdma = true};
  });
  const auto devices = from_kubelet(source, "u1", 2);
  ASSERT_TRUE(devices) << devices.error().to_string();
  ASSERT_TRUE(devices->at(0).vf.has_value());
  EXPECT_TRUE(devices->at(0).vf->rdma);
  EXPECT_FALSE(devices->at(1).vf.has_value());

  source.known_by(
      [](const std::string&) -> Result<std::optional<plan::PoolVf>> { return fail(Code::kBusy, "not yet"); });
  EXPECT_EQ(from_kubelet(source, "u1", 1).error().code, Code::kBusy);
}

// {"cniVersion":"0.3.1","name":"n","type":"macvlan"}
constexpr const char* kMacvlanBase64 = "eyJjbmlWZXJzaW9uIjoiMC4zLjEiLCJuYW1lIjoibiIsInR5cGUiOiJtYWN2bGFuIn0=";

TEST(MultusCache, IsReadFromTheLibrarysFiles) {
  std::string text =
      fmt::format(R"({{"kind":"cniCacheV1","containerId":"c1","config":"{}","ifName":"net1","networkName":"n",)"
                  R"("netns":"/run/netns/a","cniArgs":[["K8S_POD_NAME","a"],["X","y"]],"capabilityArgs":{{"mac":"m"}},)"
                  R"("result":{{"cniVersion":"0.3.1","ips":[{{"version":"4","address":"10.0.0.5/24"}}]}}}})",
                  kMacvlanBase64);
  auto attachment = read_library_cache(text);
  ASSERT_TRUE(attachment);
  EXPECT_EQ(attachment->ifname, "net1");
  EXPECT_EQ(attachment->args, "K8S_POD_NAME=a;X=y");
  EXPECT_EQ(attachment->list.name, "n");
  ASSERT_TRUE(attachment->result);
  EXPECT_EQ(attachment->result->addresses.at(0).address.to_string(), "10.0.0.5/24");
  EXPECT_EQ(attachment->container_id, "c1");
  EXPECT_FALSE(read_library_cache("{}"));
  for (const auto& [good, bad] : {std::pair{"net1", "../net1"}, std::pair{"cniCacheV1", "cniCacheV2"},
                                  std::pair{kMacvlanBase64, "no base64"}, std::pair{kMacvlanBase64, "e30="}}) {
    std::string other = text;
    other.replace(other.find(good), std::string_view(good).size(), bad);
    EXPECT_FALSE(read_library_cache(other)) << bad;
  }
}

TEST(MultusCache, IsReadFromItsDelegates) {
  std::string text = fmt::format(
      R"([{{"Conf":{{}},"Bytes":"{0}"}},{{"Bytes":"{0}","ifnameRequest":"rail0","deviceID":"0000:01:00.1"}},)"
      R"({{"Bytes":"{0}"}},{{"Bytes":"no base64"}},{{"Bytes":"{0}","ifnameRequest":"a/b"}}])",
      kMacvlanBase64);
  auto all = read_multus_delegates(text, "eth0");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].ifname, "eth0");
  EXPECT_EQ(all[1].ifname, "rail0");
  EXPECT_EQ(*all[1].capability_args.at("deviceID").as_string(), "0000:01:00.1");
  EXPECT_EQ(all[2].ifname, "net2");
}

TEST(DeviceInfo, KnowsAnObjectWithAType) {
  EXPECT_TRUE(read_device_info("{}").is_null());
  EXPECT_TRUE(read_device_info("nonsense").is_null());
  EXPECT_FALSE(read_device_info(R"({"type":"pci","version":"1.1.0","pci":{}})").is_null());
}

// What a device plugin wrote of a device belongs to the pod's interface as long as it is there.
TEST(DeviceInfo, IsCopiedFromTheDevicePluginsWhereThereIsOne) {
  os::FakeDisk disk;
  DeviceInfo infos(disk, "/devinfo");
  const std::string path = infos.path("ai/rail0", "c1", "net1");
  EXPECT_EQ(path, "/devinfo/cni/ai-rail0-c1_net1");
  ASSERT_TRUE(infos.copy("openshift.io/rails", "0000:3b:00.2", path).has_value());
  EXPECT_TRUE(disk.files().empty()) << "the device plugin wrote nothing";

  const std::string text = R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:3b:00.2"}})";
  disk.put("/devinfo/dp/openshift.io-rails-0000:3b:00.2-device.json", text);
  ASSERT_TRUE(infos.copy("openshift.io/rails", "0000:3b:00.2", path).has_value());
  EXPECT_EQ(doc::to_json(infos.read(path)), text);
  ASSERT_TRUE(infos.remove(path).has_value());
  EXPECT_TRUE(infos.read(path).is_null());

  disk.kill();
  EXPECT_FALSE(infos.copy("openshift.io/rails", "0000:3b:00.2", path).has_value()) << "it cannot be read";
}

TEST(DeviceInfo, OfAVfNamesItsAddressAndItsRdmaDevice) {
  attach::InterfaceResult made;
  EXPECT_TRUE(DeviceInfo::of(made).is_null());
  made.device = PciAddress::parse("0000:3b:00.2").value();
  EXPECT_EQ(doc::to_json(DeviceInfo::of(made)),
            R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:3b:00.2"}})");
  made.rdma = "mlx5_4";
  EXPECT_EQ(doc::to_json(DeviceInfo::of(made)),
            R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:3b:00.2","rdma-device":"mlx5_4"}})");
}

}  // namespace
}  // namespace railbed::agent

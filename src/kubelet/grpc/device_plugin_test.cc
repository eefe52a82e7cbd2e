// SPDX-License-Identifier: Apache-2.0
// The device plugin against a kubelet in this process, over real sockets in a folder of the test.
#include "kubelet/grpc/device_plugin.h"

#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/sanitized.h"
#include "kubelet/grpc/pod_resources_client.h"
#include "kubelet/grpc/resource_server.h"
#include "kubelet/grpc/test_kubelet.h"
#include "kubelet/test_devices.h"
#include "os/real/descriptor.h"
#include "os/record/memory_files.h"

namespace railbed::kubelet {
namespace {

using std::chrono::steady_clock;

const std::string kFirst = vf_address(1, 0).to_string();
const std::string kSecond = vf_address(1, 1).to_string();
const TestKubelet::Health kBoth{{kFirst, "Healthy"}, {kSecond, "Healthy"}};

os::Deadline in(std::chrono::milliseconds time) {
  return steady_clock::now() + time;
}

// Until it holds, for at most a minute.
bool eventually(const std::function<bool()>& holds) {
  for (const os::Deadline end = in(std::chrono::seconds(60)); steady_clock::now() < end;
       std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (holds()) return true;
  return holds();
}

// A socket that takes connections and says nothing: a kubelet that was stopped.
class SilentSocket {
 public:
  explicit SilentSocket(const std::string& path) : path_(path) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
  }
  ~SilentSocket() {
    ::close(socket_);
    std::filesystem::remove(path_);
  }
  // Waits until somebody connects, for as long as there is; what was taken stays open.
  bool takes_another(int patience_ms) {
    pollfd one{socket_, POLLIN, 0};
    if (::poll(&one, 1, patience_ms) != 1) return false;
    taken_.emplace_back(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
    return true;
  }

 private:
  std::string path_;
  int socket_ = -1;
  std::vector<os::Descriptor> taken_;
};

class DevicePluginTest : public testing::Test {
 protected:
  DevicePluginTest() {
    for (int i : {0, 1, 2}) {
      const std::string device = fmt::format("/sys/bus/pci/devices/{}", vf_address(1, i));
      files.put_link(device + "/driver", "../../drivers/mlx5_core");
      files.put_directory(device);
    }
  }

  // Nothing is given up on a slow machine, and what is found was announced: no periodic scan runs within an hour.
  struct Times {
    std::chrono::milliseconds call = std::chrono::minutes(1);
    std::chrono::milliseconds notice = std::chrono::minutes(1);
  };
  std::unique_ptr<DevicePlugin> start_plugin() { return start_plugin(Times()); }
  std::unique_ptr<DevicePlugin> start_plugin(Times times) {
    auto started = DevicePlugin::start({*disk, files, client}, {.directory = folder.path(),
                                                                .checkpoint = folder / "kubelet_internal_checkpoint",
                                                                .device_info = folder / "devinfo",
                                                                .call = times.call,
                                                                .notice = times.notice,
                                                                .stream = std::chrono::minutes(1),
                                                                .admission = std::chrono::hours(1),
                                                                .look = std::chrono::hours(1)});
    EXPECT_TRUE(started.has_value());
    return *std::move(started);
  }
  // As the kubelet writes it, with what an init container has.
  void write_checkpoint(const std::string& entries) {
    const std::string path = folder / "kubelet_internal_checkpoint";
    const std::string text = "{\"Data\":{\"PodDeviceEntries\":[" + entries + "]}}";
    files.put_file(path, text);
    std::ofstream(path + ".new") << text;
    std::filesystem::rename(path + ".new", path);
  }
  static std::string text_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  // A program that follows a resource's list, and reads it only on request.
  class Follower {
   public:
    explicit Follower(const std::string& socket)
        : stub_(v1beta1::DevicePlugin::NewStub(channel(socket))), stream_(begin()) {}
    ~Follower() { context_.TryCancel(); }
    bool reads() { return stream_->Read(&list_); }
    grpc::StatusCode ends_with() {
      while (reads()) {
      }
      return stream_->Finish().error_code();
    }

   private:
    static std::shared_ptr<grpc::Channel> channel(const std::string& socket) {
      grpc::ChannelArguments own;
      own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), own);
    }
    std::unique_ptr<grpc::ClientReader<v1beta1::ListAndWatchResponse>> begin() {
      context_.set_wait_for_ready(true);  // the socket's file is there a moment before anybody listens
      return stub_->ListAndWatch(&context_, {});
    }
    std::unique_ptr<v1beta1::DevicePlugin::Stub> stub_;
    grpc::ClientContext context_;
    v1beta1::ListAndWatchResponse list_;
    std::unique_ptr<grpc::ClientReader<v1beta1::ListAndWatchResponse>> stream_;
  };

  TemporaryFolder folder;
  std::unique_ptr<os::Disk> disk = os::real_disk();
  os::MemoryFiles files;
  PodResourcesClient client{folder / "kubelet.sock"};
};

TEST_F(DevicePluginTest, IsRegisteredAndListed) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  EXPECT_TRUE(kubelet.has(kRail, kBoth));
  EXPECT_EQ(kubelet.registrations(), (std::map<std::string, int>{{kRail, 1}}));
  EXPECT_EQ(kubelet.devices(kRail).devices(0).topology().nodes(0).id(), 1);
  EXPECT_TRUE(plugin->problems().empty());
}

TEST_F(DevicePluginTest, SendsAChangeAtOnceAndNothingWithoutOne) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  NodeDevices node = node_of(1, 2);
  ASSERT_TRUE(plugin->offer(node));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  ASSERT_TRUE(plugin->offer(node));
  node.facts.nics[0].netdevs[0].carrier = false;
  ASSERT_TRUE(plugin->offer(node));
  EXPECT_TRUE(kubelet.has(kRail, {{kFirst, "Unhealthy"}, {kSecond, "Unhealthy"}}));
  EXPECT_EQ(kubelet.lists_taken(kRail), 2);
}

TEST_F(DevicePluginTest, AllocateGivesVariablesAndDescribesTheVf) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  v1beta1::AllocateResponse answer;
  const grpc::Status status = kubelet.allocate(kRail, {kFirst}, answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer.container_responses(0).envs().at("PCIDEVICE_OPENSHIFT_IO_RAIL0"), kFirst);
  const std::string described = folder / ("devinfo/dp/openshift.io-rail0-" + kFirst + "-device.json");
  EXPECT_EQ(text_of(described), R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:01:01.0"}})");
  EXPECT_EQ(kubelet.preferred(kRail, {kSecond, kFirst}, 1), std::vector<std::string>{kFirst});
}

TEST_F(DevicePluginTest, AllocateRefusesWithTheReason) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  v1beta1::AllocateResponse answer;
  EXPECT_EQ(kubelet.allocate(kRail, {"0000:09:00.0"}, answer).error_message(),
            "railbed: 0000:09:00.0 is not a device of openshift.io/rail0");
  ASSERT_TRUE(plugin->withdraw({vf_address(1, 0)}));
  EXPECT_EQ(kubelet.allocate(kRail, {kFirst}, answer).error_message(),
            "railbed: VF 0000:01:01.0 of openshift.io/rail0 cannot be allocated now: it is about to be changed");
}

TEST_F(DevicePluginTest, WithdrawHasInformedTheKubeletWhenItReturns) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  ASSERT_TRUE(plugin->withdraw({vf_address(1, 0)}));
  EXPECT_TRUE(kubelet.has(kRail, {{kFirst, "Unhealthy"}, {kSecond, "Healthy"}}));
  ASSERT_TRUE(plugin->withdraw({vf_address(1, 1)}));  // the first stays withdrawn
  EXPECT_TRUE(kubelet.has(kRail, {{kFirst, "Unhealthy"}, {kSecond, "Unhealthy"}}));
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  EXPECT_TRUE(kubelet.has(kRail, kBoth));
}

// A kubelet that follows the list and does not read: what it was not handed, it may not know.
TEST_F(DevicePluginTest, WithdrawSaysWhenTheKubeletDoesNotTakeIt) {
  TestKubelet kubelet(folder.path());
  kubelet.only_registers = true;
  const auto plugin = start_plugin({.notice = std::chrono::milliseconds(100)});
  NodeDevices many = node_of(10, 250);  // more than gRPC takes for a stream that is not read
  ASSERT_TRUE(plugin->offer(many));
  ASSERT_TRUE(kubelet.was_registered(kRail, 1));
  Follower slow(folder / socket_name(kRail));
  ASSERT_TRUE(eventually([&] { return plugin->problems().empty(); })) << "it is not followed yet";
  Result<void> reported;
  for (int i = 0; i < 250 && reported.has_value(); ++i) reported = plugin->withdraw({vf_address(1, i)});
  ASSERT_FALSE(reported.has_value());
  EXPECT_EQ(reported.error().story(), "the kubelet has not accepted the withdrawal of VFs within 100 ms");
}

// A monitor, or a thief, that follows the list, too: it keeps nothing from being withdrawn, and no kubelet away.
TEST_F(DevicePluginTest, WhoElseFollowsDecidesNothing) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  constexpr int kVfs = kSanitized ? 50 : 250;
  ASSERT_TRUE(plugin->offer(node_of(10, kVfs)));
  ASSERT_TRUE(kubelet.was_registered(kRail, 1));
  ASSERT_TRUE(eventually([&] { return !kubelet.list(kRail).empty(); }));
  Follower other(folder / socket_name(kRail));
  ASSERT_TRUE(other.reads());
  for (int i = 0; i < kVfs; ++i) ASSERT_TRUE(plugin->withdraw({vf_address(1, i)})) << i;
  kubelet.kill();
  kubelet.start(TestKubelet::PluginSockets::kKept);
  ASSERT_TRUE(kubelet.was_registered(kRail, 2)) << "another one's stream is no kubelet";
}

TEST_F(DevicePluginTest, FollowsNothingBeforeTheRegistration) {
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  const std::string socket = folder / socket_name(kRail);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(socket); }));
  Follower other(socket);
  ASSERT_TRUE(other.reads());
  EXPECT_EQ(plugin->problems().size(), 1) << "it is not the kubelet";
  TestKubelet kubelet(folder.path());
  EXPECT_TRUE(kubelet.has(kRail, kBoth));
}

TEST_F(DevicePluginTest, OthersThatFollowAreBounded) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  std::vector<std::unique_ptr<Follower>> others;
  for (size_t i = 0; i < DeviceList::kMostOthers; ++i) {
    others.push_back(std::make_unique<Follower>(folder / socket_name(kRail)));
    ASSERT_TRUE(others.back()->reads());
  }
  EXPECT_EQ(Follower(folder / socket_name(kRail)).ends_with(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(plugin->withdraw({vf_address(1, 0)}));
  EXPECT_TRUE(kubelet.has(kRail, {{kFirst, "Unhealthy"}, {kSecond, "Healthy"}}));
}

TEST_F(DevicePluginTest, WithdrawWithoutAKubeletDoesNotWait) {
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  EXPECT_TRUE(plugin->withdraw({vf_address(1, 0)}));
}

TEST_F(DevicePluginTest, IsThereAgainWhenTheKubeletStartsAgain) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  for (int i = 0; i < 3; ++i) {
    kubelet.kill();
    kubelet.start();  // removes the plugin's socket
    ASSERT_TRUE(kubelet.has(kRail, kBoth)) << i;
  }
}

TEST_F(DevicePluginTest, WaitsForAKubeletThatComesLater) {
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  const std::vector<std::string> none{kRail + ": " + folder.path() +
                                      "/kubelet.sock not found; check that the kubelet is running"};
  ASSERT_TRUE(eventually([&] { return plugin->problems() == none; }));
  TestKubelet kubelet(folder.path());
  EXPECT_TRUE(kubelet.has(kRail, kBoth));
}

TEST_F(DevicePluginTest, IsThereAgainWhenItIsStartedAgain) {
  TestKubelet kubelet(folder.path());
  auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  plugin.reset();
  std::ofstream(folder / socket_name(kRail)) << "left by another";
  plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 3)));
  TestKubelet::Health three = kBoth;
  three[vf_address(1, 2).to_string()] = "Healthy";
  EXPECT_TRUE(kubelet.has(kRail, three));
}

// Only a kubelet that starts should, but a socket that was deleted while no client follows must be re-created.
TEST_F(DevicePluginTest, ServesASocketAgainThatWasRemoved) {
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 1)));
  const std::string socket = folder / socket_name(kRail);
  const auto is_there = [&] { return std::filesystem::exists(socket); };
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(eventually(is_there));
    std::filesystem::remove(socket);
  }
  EXPECT_TRUE(eventually(is_there));
}

TEST_F(DevicePluginTest, AResourceThatGoesIsEmptyAndThenNotServed) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  NodeDevices both = node_of(1, 2);
  both.resources["openshift.io/other"] = {pool_vf(1, 2)};
  ASSERT_TRUE(plugin->offer(both));
  ASSERT_TRUE(kubelet.has("openshift.io/other", {{vf_address(1, 2).to_string(), "Unhealthy"}}));  // it is not there
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  EXPECT_TRUE(kubelet.has("openshift.io/other", {}));
  EXPECT_TRUE(kubelet.lost("openshift.io/other"));
  ASSERT_TRUE(eventually([&] { return !std::filesystem::exists(folder / socket_name("openshift.io/other")); }));
  EXPECT_EQ(kubelet.list(kRail), kBoth);
  ASSERT_TRUE(plugin->offer(both));  // and comes again
  EXPECT_TRUE(kubelet.has("openshift.io/other", {{vf_address(1, 2).to_string(), "Unhealthy"}}));
}

TEST_F(DevicePluginTest, ServesFiftyResources) {
  NodeDevices node = node_of(1, 2);
  for (int i = 0; i < 50; ++i) node.resources[fmt::format("example.com/r{}", i)] = node.resources[kRail];
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node));
  for (const auto& [name, vfs] : node.resources) ASSERT_TRUE(kubelet.has(name, kBoth)) << name;
  std::map<std::string, int> once;
  for (const auto& [name, vfs] : node.resources) once[name] = 1;
  EXPECT_EQ(kubelet.registrations(), once);
  kubelet.kill();
  kubelet.start();
  for (const auto& [name, vfs] : node.resources) ASSERT_TRUE(kubelet.has(name, kBoth)) << name;
  for (auto& [name, times] : once) times = 2;
  EXPECT_EQ(kubelet.registrations(), once);
}

TEST_F(DevicePluginTest, AKubeletThatHangsDelaysNoOtherCall) {
  NodeDevices node = node_of(1, 2);
  for (int i = 0; i < 10; ++i) node.resources[fmt::format("example.com/r{}", i)] = node.resources[kRail];
  auto silent = std::make_unique<SilentSocket>(folder / "kubelet.sock");
  auto plugin = start_plugin({.call = std::chrono::milliseconds(50)});
  ASSERT_TRUE(plugin->offer(node));
  ASSERT_TRUE(eventually([&] { return plugin->problems().at(0).contains("Deadline Exceeded"); }));
  EXPECT_EQ(plugin->allocated().error().code, Code::kTimeout);
  plugin.reset();
  while (silent->takes_another(0)) {
  }
  // Who waited for the call's end would come after it, however slow the machine is.
  const os::Deadline call_ends = in(std::chrono::minutes(4));
  plugin = start_plugin({.call = std::chrono::minutes(5)});
  ASSERT_TRUE(plugin->offer(node));
  ASSERT_TRUE(silent->takes_another(60'000)) << "a call was to be under way";
  ASSERT_TRUE(plugin->withdraw({vf_address(1, 0)}));  // it follows nothing, so nothing can be given away
  plugin.reset();
  EXPECT_LT(steady_clock::now(), call_ends);
  plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node));
  silent.reset();
  TestKubelet kubelet(folder.path());
  for (const auto& [name, vfs] : node.resources) EXPECT_TRUE(kubelet.has(name, kBoth)) << name;
}

TEST_F(DevicePluginTest, ReportsWhyTheKubeletRefuses) {
  TestKubelet kubelet(folder.path());
  kubelet.refuse_registration = {grpc::UNKNOWN, "the ResourceName \"x\" is invalid"};
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  const std::vector<std::string> refused{kRail + ": registering " + kRail +
                                         " with the kubelet: the ResourceName \"x\" is invalid"};
  EXPECT_TRUE(eventually([&] { return plugin->problems() == refused; })) << testing::PrintToString(plugin->problems());
}

TEST_F(DevicePluginTest, AllocatedIsWhatTheKubeletSaysAndWhatItIsAboutToSay) {
  TestKubelet kubelet(folder.path());
  kubelet.add_pod("d", "a", "main", kRail, kFirst);
  kubelet.add_pod("d", "a", "main", "gpu", "GPU-1");
  const auto plugin = start_plugin({.notice = std::chrono::milliseconds(10)});  // this kubelet writes no checkpoint
  ASSERT_TRUE(plugin->offer(node_of(1, 3)));
  TestKubelet::Health three = kBoth;
  three[vf_address(1, 2).to_string()] = "Healthy";
  ASSERT_TRUE(kubelet.has(kRail, three));
  EXPECT_EQ(plugin->allocated().value().pods, (plan::InUse{{vf_address(1, 0), "d/a"}}));
  v1beta1::AllocateResponse answer;
  ASSERT_TRUE(kubelet.allocate(kRail, {kSecond}, answer).ok());
  write_checkpoint(R"({"PodUID":"u9","ContainerName":"init","ResourceName":"openshift.io/rail0","DeviceIDs":{"1":[")" +
                   vf_address(1, 2).to_string() + R"("]}})");
  EXPECT_EQ(plugin->allocated().value().pods, (plan::InUse{{vf_address(1, 0), "d/a"},
                                                           {vf_address(1, 1), "(a pod that is being admitted)"},
                                                           {vf_address(1, 2), "(pod u9)"}}));
}

// After a change of the prefix: the kubelet counts the VF of a running pod under its former name, too, but gives it to
// no pod under either.
TEST_F(DevicePluginTest, AFormerNameStaysRegisteredAndGivesNothing) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  NodeDevices node = node_of(1, 2);
  const std::string former = "example.com/rail0";
  node.resources[former] = {node.resources[kRail].front()};
  node.ending[former][vf_address(1, 0)] = "it is openshift.io/rail0 now";
  node.taken[vf_address(1, 0)] = "d/a has it as example.com/rail0";
  ASSERT_TRUE(plugin->offer(node));
  ASSERT_TRUE(kubelet.has(former, {{kFirst, "Healthy"}}));
  ASSERT_TRUE(kubelet.has(kRail, {{kFirst, "Unhealthy"}, {kSecond, "Healthy"}}));
  v1beta1::AllocateResponse answer;
  const grpc::Status status = kubelet.allocate(former, {kFirst}, answer);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(status.error_message().contains("it is openshift.io/rail0 now")) << status.error_message();
}

// A pod that has ended stands in the checkpoint until it is written again, which a list of devices makes happen.
TEST_F(DevicePluginTest, AllocatedForgetsPodsThatHaveEnded) {
  TestKubelet kubelet(folder.path());
  const auto plugin = start_plugin();
  ASSERT_TRUE(plugin->offer(node_of(1, 2)));
  ASSERT_TRUE(kubelet.has(kRail, kBoth));
  write_checkpoint(R"({"PodUID":"u9","ContainerName":"a","ResourceName":"openshift.io/rail0","DeviceIDs":[")" + kFirst +
                   R"("]})");
  const int taken = kubelet.lists_taken(kRail);
  std::jthread device_manager([&] {
    (void)kubelet.takes_another(kRail, taken);
    write_checkpoint("");
  });
  EXPECT_EQ(plugin->allocated().value().pods, plan::InUse{});
}

TEST_F(DevicePluginTest, AllocatedFailsWithoutAServer) {
  const auto plugin = start_plugin();
  EXPECT_EQ(plugin->allocated().error().code, Code::kNotFound);
}

TEST_F(DevicePluginTest, PodResourcesAnswerForOnePodAndForAll) {
  TestKubelet kubelet(folder.path());
  kubelet.add_pod("d", "a", "main", kRail, kFirst);
  kubelet.add_pod("d", "a", "sidecar", kRail, kSecond);
  kubelet.add_pod("d", "b", "main", "gpu", "GPU-1");
  const GivenDevices of_a{{kRail, {kFirst, kSecond}}};
  EXPECT_EQ(client.get({"d", "a", ""}, in(std::chrono::seconds(60))).value(), of_a);
  EXPECT_EQ(client.list(in(std::chrono::seconds(60))).value(),
            (std::map<std::string, GivenDevices>{{"d/a", of_a}, {"d/b", {{"gpu", {"GPU-1"}}}}}));
  PodDevices devices(files, &client, folder / "kubelet_internal_checkpoint");
  kubelet.has_get = false;  // before Kubernetes 1.34
  EXPECT_EQ(devices.of({"d", "a", "u1"}, in(std::chrono::seconds(60))).value(), of_a);
  EXPECT_EQ(kubelet.gets, 2);
  EXPECT_EQ(kubelet.lists, 2);
  kubelet.kill();
  EXPECT_EQ(client.get({"d", "a", ""}, in(std::chrono::seconds(60))).error().code, Code::kIo);
  std::filesystem::remove(folder / "kubelet.sock");
  EXPECT_EQ(client.list(in(std::chrono::seconds(60))).error().code, Code::kNotFound);
}

TEST(SocketName, IsShortSafeAndOnesOwn) {
  const std::string longest = std::string(253, 'a') + ".example/" + std::string(63, 'b');
  EXPECT_LT(("/var/lib/kubelet/device-plugins/" + socket_name(longest)).size(), 108u);
  EXPECT_EQ(socket_name("openshift.io/rail0").substr(0, 14), "railbed-rail0-");
  EXPECT_EQ(socket_name("a/../x y").find_first_of("/ "), std::string::npos);
  EXPECT_NE(socket_name("a/rail0"), socket_name("b/rail0"));
}

}  // namespace
}  // namespace railbed::kubelet

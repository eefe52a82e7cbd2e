// SPDX-License-Identifier: Apache-2.0
// `railbed perf report` from result files, and with a cluster, to the page.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_cluster.h"
#include "kube/object.h"
#include "perf/measurement.h"
#include "perf/mesh/mesh_file.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class PerfReport : public testing::Test {
 protected:
  PerfReport() {
    perf::Measurement m{.started_at = "2026-01-02T03:04:05Z", .command = "railbed perf bw", .label = "rail0"};
    m.spec.sizes_bytes = {65536};
    m.client = {.hostname = "w", .address = "10.10.0.5", .netdev = "net1"};
    m.server = {.hostname = "v", .address = "10.10.0.6", .netdev = "net1"};
    m.bandwidth.push_back({.size_bytes = 65536, .messages = 1, .duration_s = 1, .average_gbps = 90});
    write("bw.json", perf::to_json({m}));
  }
  ~PerfReport() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& path, const std::string& object) {
    cluster_.server.put(path, kube::parse_object(object).value());
  }
  void fill_cluster() {
    put("/api/v1/nodes/gpu1", R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu1"},
      "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
    put("/apis/sriovnetwork.openshift.io/v1/namespaces/railbed/sriovnetworknodestates/gpu1",
        R"({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodeState",
      "metadata": {"name": "gpu1", "namespace": "railbed"},
      "spec": {"interfaces": [{"pciAddress": "0000:01:00.0", "name": "ens1f0", "numVfs": 1, "vfGroups": [
        {"policyName": "rail0", "resourceName": "rail0", "vfRange": "0-0", "deviceType": "netdevice"}]}]},
      "status": {"syncStatus": "Succeeded", "interfaces": [{"pciAddress": "0000:01:00.0", "name": "ens1f0", "numVfs": 1,
        "totalvfs": 8, "Vfs": [{"vfID": 0, "pciAddress": "0000:01:10.0"}]}]}})");
    put("/api/v1/namespaces/llm/pods/w", R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w",
      "namespace": "llm", "annotations": {"k8s.v1.cni.cncf.io/network-status":
        "[{\"name\": \"llm/rail0\", \"interface\": \"net1\", \"ips\": [\"10.10.0.5\"], \"device-info\": {\"type\": \"pci\", \"pci\": {\"pci-address\": \"0000:01:10.0\"}}}]"}},
      "spec": {"nodeName": "gpu1", "containers": [{"name": "c"}]}, "status": {"phase": "Running"}})");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  os::RunResult report(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"perf", "report", "-o", path("report.html")});
    return run_verb(arguments, {"PATH=/usr/bin:/bin"});
  }
  static std::filesystem::path new_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-report-XXXXXX").string();
    return mkdtemp(name.data());
  }

  std::filesystem::path folder_ = new_folder();
  FakeCluster cluster_{folder_ / "config"};
};

TEST_F(PerfReport, WithAClusterShowsItsObjects) {
  fill_cluster();
  const os::RunResult ran = report({path("bw.json"), "--kubeconfig", path("config")});
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(ran.output, AllOf(StartsWith("RDMA works on 1 rail"), HasSubstr("report: " + path("report.html"))));
  const std::string html = read("report.html");
  EXPECT_THAT(html, AllOf(HasSubstr(">gpu1</th>"), HasSubstr("rail0: VF 0"), HasSubstr("Namespace llm"),
                          HasSubstr("1 in use"), HasSubstr("There are no policies.")));
  EXPECT_THAT(html, HasSubstr(">pod llm/w</text>")) << "the drawing has it without a status file";
  EXPECT_THAT(cluster_.server.requests(), testing::Each(StartsWith("GET /api")));
}

TEST_F(PerfReport, ShowsTheRestOfAClusterThatRefusesAList) {
  fill_cluster();
  cluster_.server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (!request.target.starts_with("/api/v1/pods")) return std::nullopt;
    kube::ApiError refused;
    refused.code = Code::kDenied;
    refused.status = 403;
    refused.message = "pods is forbidden";
    return refused;
  };
  EXPECT_EQ(report({path("bw.json"), "--kubeconfig", path("config")}).exit_status, 0);
  EXPECT_THAT(read("report.html"), AllOf(HasSubstr("not shown</span> <small>Pod: "), HasSubstr(">gpu1</th>")));
}

TEST_F(PerfReport, WithoutAClusterAsksNobody) {
  const os::RunResult ran = report({path("bw.json")});
  EXPECT_THAT(cluster_.server.requests(), IsEmpty());
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_THAT(read("report.html"), Not(HasSubstr("<h2>The cluster</h2>")));
}

TEST_F(PerfReport, SaysWhatIsWrong) {
  EXPECT_EQ(
      report({path("bw.json"), "--kubeconfig", path("none")}).errors,
      fmt::format("railbed: how to reach the API server: read {}: ENOENT (No such file or directory)\n", path("none")));
  write("broken.json", "{");
  EXPECT_THAT(report({path("broken.json"), "--kubeconfig", path("config")}).errors,
              StartsWith(fmt::format("railbed: {}: ", path("broken.json"))));
}

TEST_F(PerfReport, OfAMesh) {
  using namespace perf::mesh;
  Fabric fabric{.rails = {"rail0"}, .leaves = {}, .endpoints = {}};
  for (int i = 0; i < 6; ++i) fabric.endpoints.push_back({.host = fmt::format("host{}", i), .ports = {RailPort{}}});
  MeshResults results = *MeshResults::make(fabric, *Schedule::make({.hosts = 6, .rail_count = 1}));
  for (uint32_t round = 0; round < 5; ++round)
    for (uint32_t pair = 0; pair < 3; ++pair)
      results.put({round, pair, 0}, compact({.forward_gbps = 390, .reverse_gbps = 390, .p50_us = 2, .samples = 100}));
  write("all.mesh", mesh_file(results));
  const os::RunResult ran = report({path("all.mesh")});
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(ran.output, StartsWith("nothing stands out among 6 NICs"));
  EXPECT_THAT(read("report.html"), AllOf(HasSubstr("15 of 15 pairs of NICs measured"),
                                         HasSubstr("data:image/png;base64,"), Not(HasSubstr("Nothing was measured."))));
  write("half.mesh", mesh_file(results).substr(0, 250));
  EXPECT_THAT(report({path("half.mesh")}).output, StartsWith("not all of it: "));
}

}  // namespace
}  // namespace railbed

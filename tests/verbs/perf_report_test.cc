// SPDX-License-Identifier: Apache-2.0
// `railbed perf report` from result files, and with a cluster, to the page.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_cluster.h"
#include "kube/object.h"
#include "os/ports/processes.h"
#include "perf/measurement.h"
#include "perf/mesh/test_mesh_file.h"
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
                          HasSubstr("1 in use"), HasSubstr("No policies found.")));
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

TEST_F(PerfReport, WithoutAClusterSendsNoRequest) {
  const os::RunResult ran = report({path("bw.json")});
  EXPECT_THAT(cluster_.server.requests(), IsEmpty());
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_THAT(read("report.html"), Not(HasSubstr("<h2>The cluster</h2>")));
}

TEST_F(PerfReport, SaysWhatIsWrong) {
  EXPECT_EQ(report({path("bw.json"), "--kubeconfig", path("none")}).errors,
            fmt::format("railbed: connecting to the API server: read {}: ENOENT (No such file or directory)\n",
                        path("none")));
  write("broken.json", "{");
  EXPECT_THAT(report({path("broken.json"), "--kubeconfig", path("config")}).errors,
              StartsWith(fmt::format("railbed: {}: ", path("broken.json"))));
}

// Six hosts, all pairs, nothing wrong.
std::string mesh_of_six() {
  using namespace perf::mesh;
  Fabric fabric{.rails = {"rail0"}, .leaves = {}, .endpoints = {}};
  for (int i = 0; i < 6; ++i) fabric.endpoints.push_back({.host = fmt::format("host{}", i), .ports = {RailPort{}}});
  MeshResults results = *MeshResults::make(fabric, *Schedule::make({.hosts = 6, .rail_count = 1}));
  for (uint32_t round = 0; round < 5; ++round)
    for (uint32_t pair = 0; pair < 3; ++pair)
      results.put({round, pair, 0}, compact({.forward_gbps = 390, .reverse_gbps = 390, .p50_us = 2, .samples = 100}));
  return mesh_file(results);
}

TEST_F(PerfReport, OfAMesh) {
  write("all.mesh", mesh_of_six());
  const os::RunResult ran = report({path("all.mesh")});
  EXPECT_THAT(ran.errors, IsEmpty());
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(ran.output, StartsWith("no outliers among 6 NICs"));
  EXPECT_THAT(read("report.html"), AllOf(HasSubstr("15 of 15 pairs of NICs measured"),
                                         HasSubstr("data:image/png;base64,"), Not(HasSubstr("Nothing was measured."))));
  write("half.mesh", mesh_of_six().substr(0, 250));
  EXPECT_THAT(report({path("half.mesh")}).output, StartsWith("incomplete: "));
}

// The script of the page does its work: charts are drawn, and heat maps show what is under the pointer. Without a
// browser on this machine there is no way to know.
TEST_F(PerfReport, IsDrawnByABrowser) {
  const std::string browser = "/usr/bin/chromium-headless-shell";  // tools/setup test
  if (!std::filesystem::exists(browser)) GTEST_SKIP() << "no " << browser << " here";
  perf::Measurement m{.started_at = "2026-01-02T03:04:05Z", .command = "railbed perf", .label = "rail0"};
  m.spec.sizes_bytes = {2, 4};
  for (int64_t size_bytes : {2, 4})
    m.bandwidth.push_back({.size_bytes = size_bytes,
                           .messages = 1,
                           .duration_s = 1,
                           .average_gbps = 90,
                           .series = {.slot_ms = 10, .gbps = {80, 100}, .peak_gbps = 100}});
  perf::Measurement lat{.started_at = "2026-01-02T03:05:05Z", .command = "railbed perf", .label = "rail0"};
  lat.spec = {.kind = perf::TestKind::kLatency, .sizes_bytes = {2, 4}};
  for (int64_t size_bytes : {2, 4}) {
    perf::LatencyPoint point{.size_bytes = size_bytes, .duration_s = 1};
    for (int i = 0; i < 2000; ++i) point.histogram.record(static_cast<uint64_t>(1000 + i));
    point.slots = {{.at_ms = 0, .min_us = 1, .p50_us = 2, .p99_us = 3, .max_us = 4, .samples = 1000}};
    point.outages = {{.at_ms = 10, .duration_ms = 20}};
    lat.latency.push_back(point);
  }
  write("all.json", perf::to_json({m, lat}));
  write("all.mesh", mesh_of_six());
  ASSERT_EQ(report({path("all.json"), path("all.mesh")}).exit_status, 0);
  const auto ran = os::real_processes()->run(
      {.program = browser,
       .arguments = {"--no-sandbox", "--disable-gpu", "--user-data-dir=" + path("browser"),
                     "--virtual-time-budget=5000", "--dump-dom", "file://" + path("report.html")},
       .environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_.string()},
       .input = "",
       .deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3)});
  ASSERT_TRUE(ran.has_value()) << ran.error().to_string();
  EXPECT_THAT(ran->output, HasSubstr("data-drawn=\"5\""))
      << "latency over time, distribution, by size; bandwidth by size, over time";
  EXPECT_THAT(ran->output, HasSubstr("<figcaption>rail0<span class=\"readout\">")) << "on a heat map";
}

}  // namespace
}  // namespace railbed

// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of requests: a machine in memory with everything that the handlers need, pods and networks that a
// test defines, and programs whose answers a test defines.
//
// Threading: a test's thread; programs may be run from others.
// Failure: none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/addresses/dhcp.h"
#include "agent/addresses/host_local.h"
#include "agent/context/metrics.h"
#include "agent/pod/kubelet_devices.h"
#include "agent/pod/meta.h"
#include "agent/pod/network_status.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"
#include "os/fake/packets.h"

namespace railbed::agent {

// Where the shim leaves DELs while no agent answers.
inline constexpr const char* kPendingFolder = "/var/lib/railbed/pending-del";

class Pods : public PodSource {
 public:
  std::map<std::string, PodInfo> pods;
  std::map<std::string, NetworkInfo> networks;
  std::map<std::string, std::string> published;  // by the key of the sandbox
  std::map<std::string, std::string> statuses;   // "ns/name" → network-status
  bool known = true;
  bool cluster = false;
  Result<bool> may_use_the_node = true;
  Result<bool> ib_kubernetes_is_reserved = true;

  void add_network(const std::string& name, const std::string& config, const std::string& resource = "") {
    networks["ns/" + name] = {"ns", name, parse_network_config(config).value(), resource};
  }
  void add_pod(const std::string& annotation) {
    pods["ns/a"] = {"ns", "a", "u1", {{"k8s.v1.cni.cncf.io/networks", annotation}}};
  }
  Result<PodInfo> pod(const std::string& ns, const std::string& name, const std::string&) override {
    auto found = pods.find(ns + "/" + name);
    if (found == pods.end()) return fail(Code::kNotFound, "there is no pod {}/{}", ns, name);
    return found->second;
  }
  Result<NetworkInfo> network(const std::string& ns, const std::string& name) override {
    auto found = networks.find(ns + "/" + name);
    if (found == networks.end()) return fail(Code::kNotFound, "there is no network {}/{}", ns, name);
    return found->second;
  }
  Result<bool> may_use_node(const std::string&) override { return may_use_the_node; }
  Result<bool> reserves_ib_kubernetes() override { return ib_kubernetes_is_reserved; }
  bool of_cluster() const override { return cluster; }
  Result<std::string> published_status(const std::string& ns, const std::string& name, const std::string&) override {
    if (!known) return fail(Code::kBusy, "the pods are not known yet");
    return statuses[ns + "/" + name];
  }
  Result<void> publish_status(const PodInfo&, const std::string& sandbox, const doc::Value& status) override {
    if (status.is_null())
      published.erase(sandbox);
    else
      published[sandbox] = annotation_text(status);
    return {};
  }
};

// What the server sends.
inline std::string text_of(const Reply& reply) {
  return reply.result.has_value() ? *reply.result : cni::to_json(reply.result.error(), reply.version);
}

struct ProgramAnswer {
  std::string output;   // of ADD
  std::string failing;  // the command that fails, or empty
  std::string failure;  // its message then
};

struct RequestRig {
  RequestRig() : RequestRig("boot-1") {}
  explicit RequestRig(const std::string& boot_id) : durable(disk, kDurableRecords, boot_id) {}

  // Installs a program whose runs are recorded.
  void install(const std::string& type, ProgramAnswer answer) {
    kernel.put_program("/opt/cni/bin/" + type,
                       [this, type, answer](const os::RunRequest& request) -> Result<os::RunResult> {
                         std::string command;
                         for (const std::string& pair : request.environment)
                           if (pair.starts_with("CNI_COMMAND=")) command = pair.substr(12);
                         runs.push_back(type + " " + command);
                         inputs.push_back(request.input);
                         if (command == answer.failing)
                           return os::RunResult{.exit_status = 1, .output = answer.failure};
                         return os::RunResult{.output = command == "ADD" ? answer.output : ""};
                       });
  }
  void install(const std::string& type, const std::string& answer) {
    install(type, ProgramAnswer{.output = answer, .failing = "", .failure = ""});
  }

  // How often a phase was counted for requests of that type.
  int counted(Phase phase, const std::string& type) const {
    const std::string line =
        fmt::format("railbed_attach_seconds_count{{phase=\"{}\",type=\"{}\"}} ", phase_name(phase), type);
    const std::string text = metrics.text();
    const size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + line.size()));
  }

  // The interfaces of the records, in their order.
  std::vector<std::string> interfaces() {
    std::vector<std::string> names;
    auto records = store->attachments();
    for (const state::Attachment& record : *records) names.push_back(record.interface);
    return names;
  }

  os::FakeKernel kernel;
  std::unique_ptr<state::Store> store = state::memory_store();
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  os::FakeDisk disk;
  DurableRecords durable;
  Engine engine{kernel, *store, *blocks, durable};
  os::FakePackets packets{kernel.clock()};
  Dhcp dhcp{engine, packets};
  HostLocal host_local{disk};
  Metrics metrics;
  Pods pods;
  KubeletDevices kubelet{kernel.files()};
  Meta meta{disk, pods, {&kubelet}};
  Backends backends{{engine, metrics}, dhcp, host_local, meta.statuses()};
  std::vector<std::string> runs;    // "bridge ADD"
  std::vector<std::string> inputs;  // their standard input
};

class RequestTest : public testing::Test, protected RequestRig {
 protected:
  void SetUp() override { ASSERT_TRUE(kernel.netns().create("a")); }
};

}  // namespace railbed::agent

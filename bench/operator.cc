// SPDX-License-Identifier: Apache-2.0
// The cluster around an operator that is measured: nodes with statuses, and a policy that changes.
//   bench_operator KUBECONFIG NODES prepare    Nodes, and the status of a recorded machine for each node state
//   bench_operator KUBECONFIG NODES change V   numVfs of the one policy becomes V; seconds until all node states have
//   it
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "api/node_state.h"
#include "controller/cluster.h"
#include "controller/node_states.h"
#include "doc/json.h"
#include "facts/fixture.h"
#include "graph/node_state.h"
#include "kube/connection.h"
#include "os/ports/file_tree.h"

using namespace railbed;
using doc::Value;
using std::chrono::milliseconds;

namespace {

constexpr const char* kNamespace = "railbed";

Value object(const std::string& name, const std::string& ns) {
  Value out = Value::object();
  Value& meta = out.set("metadata", Value::object());
  meta.set("name", name);
  if (!ns.empty()) meta.set("namespace", ns);
  return out;
}

std::string name_of(int number) {
  return fmt::format("gpu-{:04}", number);
}

// In eight threads; ends the program where one fails.
void for_all(int count, const std::function<kube::Answer<Value>(int)>& what) {
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int number = next++; number < count; number = next++)
        if (const auto done = what(number); !done) {
          fmt::print(stderr, "{}\n", done.error().to_string());
          std::_Exit(1);
        }
    });
}

void prepare(kube::Client& client, kube::Clock& clock, int count) {
  for_all(count, [&](int number) {
    Value node = object(name_of(number), "");
    node.find("metadata")->set("labels", Value::object()).set("kubernetes.io/os", "linux");
    return client.apply(kube::kNodes, std::move(node), {.manager = "bench"});
  });
  // 8 InfiniBand NICs for GPUs among ten, with 64 VFs: what a node of eight GPUs reports.
  facts::NodeFacts facts = facts::testing_fixture::facts_of(content(testdata() / "machines/gpu8-ib8.machine"));
  for (facts::Nic& nic : facts.nics)
    for (int i = 0; nic.total_vfs.value_or(0) > 0 && i < 8; ++i) {
      facts::Vf vf;
      vf.index = VfIndex{i};
      vf.pci.address = nic.pci.address.plus(static_cast<uint32_t>(i) + 1);
      vf.pci.vendor = nic.pci.vendor;
      vf.pci.driver = nic.pci.driver;
      nic.vfs.push_back(vf);
    }
  api::SriovNetworkNodeState reported;
  reported.nics = graph::found_nics(facts);
  reported.sync_status = "Succeeded";
  const Value status = api::node_state_status(reported);
  for_all(count, [&](int number) {
    Value state = object(name_of(number), kNamespace);
    state.set("status", status);
    const kube::ApplyOptions options{.manager = "bench-agent", .part = kube::Part::kStatus};
    while (!client.get(kube::kNodeStates, {kNamespace, name_of(number)})) clock.wait(milliseconds(100), {});
    return client.apply(kube::kNodeStates, std::move(state), options);
  });
}

int change(kube::Client& client, kube::Clock& clock, int count, int vfs) {
  kube::Informer states(client, {.resource = kube::kNodeStates, .trim = controller::node_state_trim()});
  std::jthread follows([&](std::stop_token stop) { states.run(stop); });
  if (!states.wait_synced(milliseconds(60000), {})) return 1;
  const std::string wanted = fmt::format("\"numVfs\":{},", vfs);
  Value policy = object("rails", kNamespace);
  Value& spec = policy.set("spec", Value::object());
  spec.set("resourceName", "rails");
  spec.set("numVfs", vfs);
  spec.set("nodeSelector", Value::object());
  spec.set("nicSelector", Value::object()).set("vendor", "15b3");
  const kube::Instant began = clock.now();
  if (const auto done = client.apply(kube::kPolicies, std::move(policy), {.manager = "bench"}); !done) {
    fmt::print(stderr, "{}\n", done.error().to_string());
    return 1;
  }
  for (int done = 0; done < count;) {
    done = 0;
    for (const auto& [key, state] : states.objects())
      if (const Value* has = state->find("spec")) done += doc::to_json(*has).find(wanted) != std::string::npos;
    if (clock.now() - began > std::chrono::seconds(300)) {
      fmt::print(stderr, "{} of {} after 300 s\n", done, count);
      return 1;
    }
    if (done < count) clock.wait(milliseconds(50), {});
  }
  fmt::print("{:.1f}\n", std::chrono::duration<double>(clock.now() - began).count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto files = os::real_files("/");
  const auto connection =
      kube::connect({.kubeconfig = argv[1]}, [&](const std::string& path) { return files->read(path); }, {.page = 100});
  if (!connection) {
    fmt::print(stderr, "{}\n", connection.error().to_string());
    return 1;
  }
  kube::Client& client = (*connection)->client();
  const int count = std::atoi(argv[2]);
  if (std::string_view(argv[3]) == "change") return change(client, (*connection)->clock(), count, std::atoi(argv[4]));
  prepare(client, (*connection)->clock(), count);
  return 0;
}

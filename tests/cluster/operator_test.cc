// SPDX-License-Identifier: Apache-2.0
// `railbed operator`, the program, against a real kube-apiserver, with the rights of deploy/rbac and kubectl beside
// it. Nodes are recorded machines of testdata, whose agents are this test.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/address_cell.h"
#include "api/node_state.h"
#include "api/policy.h"
#include "control_plane.h"
#include "controller/node_states.h"
#include "doc/json.h"
#include "doc/members.h"
#include "facts/fixture.h"
#include "graph/node_state.h"

namespace railbed::controller {
namespace {

using cluster::admin;
using cluster::control_plane;
using cluster::shell;
using cluster::soon;
using doc::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// The program, in a process of its own.
class Program {
 public:
  Program(const std::string& ns, std::string identity)
      : Program(ns, std::move(identity), {"--kubeconfig", fmt::format("{}/{}.conf", cluster::folder(), ns)}) {}
  // How it finds the API server, and options besides.
  Program(const std::string& ns, std::string identity, const std::vector<std::string>& access)
      : identity_(std::move(identity)), log_(log_of(ns, identity_)) {
    std::vector<std::string> words{"railbed", "operator", "--namespace", ns, "--identity", identity_};
    words.insert(words.end(), access.begin(), access.end());
    if (std::ranges::find(access, "--metrics") == access.end()) words.insert(words.end(), {"--metrics", "off"});
    run(std::getenv("RAILBED") != nullptr ? std::getenv("RAILBED") : "build/railbed", words);
  }
  ~Program() { end(SIGKILL); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  int end(int signal) {
    if (pid_ <= 0) return 0;
    int status = 0;
    kill(pid_, signal);
    waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  std::string log() const { return shell("cat " + log_ + " 2>/dev/null || true"); }

 private:
  void run(const char* path, std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const int out = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, 1);
    dup2(out, 2);
    execv(path, arguments.data());
    _exit(127);
  }
  static std::string log_of(const std::string& ns, const std::string& identity) {
    return fmt::format("{}/operator-{}-{}.log", cluster::folder(), ns, identity);
  }
  std::string identity_, log_;
  pid_t pid_ = -1;
};

struct OperatorTest : ::testing::Test {
  std::unique_ptr<cluster::Connection> api = admin();
  std::string ns;
  std::vector<std::string> nodes;

  void SetUp() override {
    install_kinds();
    ns = cluster::new_namespace();
    control_plane("user", ns);  // its name is the namespace's
    shell(
        fmt::format("sed 's/namespace: railbed/namespace: {0}/' {1}/deploy/rbac/operator.yaml | kubectl apply -f - && "
                    "kubectl create clusterrolebinding {0} --clusterrole=railbed-operator --user={0} && "
                    "kubectl -n {0} create rolebinding {0} --role=railbed-operator --user={0}",
                    ns, RAILBED_SOURCE_DIR));
  }
  void TearDown() override {
    for (const std::string& node : nodes) shell("kubectl delete node --ignore-not-found " + node);
    shell("kubectl delete sriovnetworks,sriovibnetworks -A --all --wait=false");
  }
  static void install_kinds() {
    shell(std::string("kubectl apply --server-side -f ") + RAILBED_SOURCE_DIR + "/deploy/crds");
    shell("kubectl wait --for=condition=Established --timeout=90s crd --all");
  }

  void apply(const std::string& yaml) { shell("kubectl -n " + ns + " apply -f - <<'YAML'\n" + yaml + "\nYAML"); }
  void put_policy(const std::string& name, const std::string& spec) {
    apply(
        fmt::format("apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {{name: {0}}}\n"
                    "spec: {{resourceName: {0}, nodeSelector: {{}}, {1}}}",
                    name, spec));
  }
  std::optional<Value> state(const std::string& node) {
    const auto found = api->client.get(kube::kNodeStates, {ns, node});
    if (!found) return std::nullopt;
    return *found;
  }
  // Of a node state that is there.
  api::SriovNetworkNodeState reported_state(const std::string& node) {
    std::optional<Value> found;
    EXPECT_TRUE(soon([&] { return (found = state(node)).has_value(); })) << node;
    doc::Diagnostics problems;
    const auto read = found ? api::parse_node_state(*found, problems) : std::nullopt;
    return read ? *read : api::SriovNetworkNodeState();
  }
  std::string spec(const std::string& node) {
    const auto found = state(node);
    const Value* spec = found ? found->find("spec") : nullptr;
    return spec != nullptr ? doc::to_json(*spec) : "none";
  }
  bool has(const std::string& node, const std::string& text) { return spec(node).find(text) != std::string::npos; }
  // The status that the agent of a recorded machine writes.
  void report(const std::string& node, const std::string& machine, const std::string& sync_status) {
    const facts::NodeFacts facts =
        facts::testing_fixture::facts_of(content(testdata() / "machines" / (machine + ".machine")));
    EXPECT_TRUE(soon([&] {
      auto stored = state(node);
      if (!stored) return false;
      api::SriovNetworkNodeState reported;
      reported.nics = graph::found_nics(facts);
      reported.sync_status = sync_status;
      if (sync_status == "Failed") reported.last_sync_error = "create 4 VFs: ENOSPC";
      reported.observed_generation = doc::number_in(*stored->find("metadata"), "generation");
      stored->set("status", api::node_state_status(reported));
      return api->client.update(kube::kNodeStates, *stored, kube::Part::kStatus).has_value();
    })) << "the status of "
        << node << " cannot be written";
  }
  void put_node(const std::string& name, const std::string& labels = "") {
    shell(
        fmt::format("kubectl apply -f - <<'YAML'\napiVersion: v1\nkind: Node\nmetadata: {{name: {}, labels: "
                    "{{kubernetes.io/os: linux{}}}}}\nYAML",
                    name, labels));
    nodes.push_back(name);
  }
  void node_of(const std::string& name, const std::string& machine) {
    put_node(name);
    ASSERT_TRUE(soon([&] { return state(name).has_value(); })) << "no node state";
    report(name, machine, "");
  }
  std::string condition(const std::string& policy) {
    return shell(
        fmt::format("kubectl -n {} get sriovnetworknodepolicy {} -o "
                    "jsonpath='{{.status.summary}} {{.status.conditions[0].reason}} {{.status.conditions[0].message}}'",
                    ns, policy));
  }
};

TEST_F(OperatorTest, MakesNodeStatesOfPoliciesAndSaysWhatBecameOfThem) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  node_of("gpu2", "seed-six-cx7");
  put_policy("rails", "numVfs: 4, nicSelector: {vendor: 15b3}");
  put_policy("none", "numVfs: 4, nicSelector: {vendor: abcd}");
  for (const char* node : {"gpu1", "gpu2"})
    EXPECT_TRUE(soon([&] { return has(node, R"("policyName":"rails")"); })) << spec(node) << program.log();
  for (const char* node : {"gpu1", "gpu2"}) {
    const auto at = state(node);
    ASSERT_TRUE(at);
    doc::Diagnostics found;
    const auto read = api::parse_node_state(*at, found);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->decided);
    EXPECT_FALSE(read->pfs.empty());
  }
  EXPECT_TRUE(soon([&] { return condition("rails").starts_with("0 of 2 Pending"); })) << condition("rails");
  report("gpu1", "gpu8-ib8", "Succeeded");
  report("gpu2", "seed-six-cx7", "Failed");
  EXPECT_TRUE(soon([&] { return condition("rails").starts_with("1 of 2 Failed node gpu2"); }))
      << condition("rails") << program.log();
  EXPECT_TRUE(soon([&] { return condition("none").starts_with("0 of 0 NoNicMatches node gpu"); })) << condition("none");
  const std::string table = shell("kubectl -n " + ns + " get sriovnetworknodepolicies --no-headers | sed 's/  */ /g'");
  EXPECT_THAT(table, HasSubstr("rails rails 4 1 of 2 False node gpu2: create 4 VFs: ENOSPC")) << table;
  EXPECT_EQ(program.end(SIGTERM), 0) << program.log();
}

// By the operator and by an administrator, with the rights that both have.
TEST_F(OperatorTest, FreesAddressesOfMachinesThatAreGone) {
  const auto machine = [&](const std::string& name, const std::string& uuid) {
    put_node(name);
    shell(
        fmt::format("kubectl patch node {} --subresource=status --type merge -p '{{\"status\": {{\"nodeInfo\": "
                    "{{\"systemUUID\": \"{}\", \"bootID\": \"boot\", \"architecture\": \"\", "
                    "\"containerRuntimeVersion\": \"\", \"kernelVersion\": \"\", \"kubeProxyVersion\": \"\", "
                    "\"kubeletVersion\": \"\", \"machineID\": \"\", \"operatingSystem\": \"\", \"osImage\": \"\"}}, "
                    "\"conditions\": [{{\"type\": \"Ready\", \"status\": \"{}\"}}]}}}}'",
                    name, uuid, name == "gpu1" ? "Unknown" : "True"));
  };
  const auto lease = [&](const std::string& base, const std::string& node, const std::string& uuid) {
    const api::AddressCell cell{
        .network_name = "rail0",
        .base = IpAddress::parse(base).value(),
        .leases = {{.holder = {node, uuid, "boot"}, .claim = "c", .offsets = api::kWholeCell, .quiet_seconds = 3600}}};
    EXPECT_TRUE(api->client.create(kube::kAddressCells, api::to_value(cell)).has_value());
  };
  const auto cells = [&] {
    return shell(
        "kubectl get addresscells -o "
        "jsonpath='{range .items[*]}{.spec.base}{\" \"}{.spec.leases[0].node}{\" \"}"
        "{.spec.leases[0].goneSeconds}{\";\"}{end}'");
  };
  const auto addresses = [&](const std::string& words) {
    const char* railbed = std::getenv("RAILBED") != nullptr ? std::getenv("RAILBED") : "build/railbed";
    return shell(fmt::format("{} addresses {} --kubeconfig {}/admin.conf || true", railbed, words, cluster::folder()));
  };
  machine("gpu1", "uuid-1");
  machine("gpu2", "uuid-2");
  lease("10.0.0.0", "gpu1", "uuid-1");
  lease("10.0.0.16", "gpu2", "uuid-2");
  lease("10.0.0.32", "gpu3", "uuid-3");
  Program program(ns, "one");
  EXPECT_TRUE(soon([&] { return cells() == "10.0.0.0 gpu1 ;10.0.0.16 gpu2 ;10.0.0.32 gpu3 1;"; }))
      << cells() << program.log();
  shell("kubectl taint node gpu1 node.kubernetes.io/out-of-service=off:NoExecute");
  EXPECT_TRUE(soon([&] { return cells() == "10.0.0.16 gpu2 ;10.0.0.32 gpu3 1;"; })) << cells() << program.log();
  EXPECT_TRUE(soon([&] {
    return shell("kubectl get events.events.k8s.io -A -o jsonpath='{.items[*].note}'")
               .find("16 addresses in 1 cells leased by node gpu1 (machine uuid-1) were released") != std::string::npos;
  })) << program.log();

  EXPECT_THAT(addresses("list"), HasSubstr("10.0.0.16/28  gpu2  uuid-2"));
  EXPECT_THAT(addresses("release gpu2 --yes"), HasSubstr("Node gpu2 is Ready: its machine, uuid-2, is running"));
  EXPECT_THAT(addresses("release gpu3 --yes"), HasSubstr("16 addresses released"));
  EXPECT_EQ(cells(), "10.0.0.16 gpu2 ;");
  shell("kubectl delete addresscells --all");
}

TEST_F(OperatorTest, MakesDefinitionsOfNetworks) {
  Program program(ns, "one");
  const std::string target = cluster::new_namespace();
  apply(
      fmt::format("apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {{name: net0, finalizers: "
                  "[netattdef.finalizers.sriovnetwork.openshift.io]}}\n"
                  "spec: {{resourceName: rails, networkNamespace: {0}}}\n---\n"
                  "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovIBNetwork\nmetadata: {{name: net1}}\n"
                  "spec: {{resourceName: rails}}\n---\n"
                  "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {{name: lost}}\n"
                  "spec: {{resourceName: rails, networkNamespace: nowhere}}",
                  target));
  const auto reason = [&](const std::string& kind, const std::string& name) {
    return shell(fmt::format("kubectl -n {} get {} {} -o jsonpath='{{.status.conditions[0].reason}}'", ns, kind, name));
  };
  EXPECT_TRUE(soon([&] { return reason("sriovnetwork", "net0") == "NetworkReady"; })) << program.log();
  EXPECT_TRUE(soon([&] { return reason("sriovibnetwork", "net1") == "NetworkReady"; }));
  EXPECT_TRUE(soon([&] { return reason("sriovnetwork", "lost") == "NamespaceNotFound"; }));
  EXPECT_THAT(shell("kubectl -n " + target + " get net-attach-def net0 -o jsonpath='{.spec.config}'"),
              HasSubstr(R"("type": "sriov")"));
  EXPECT_THAT(shell("kubectl -n " + ns + " get net-attach-def net1 -o jsonpath='{.metadata.ownerReferences[0].kind}'"),
              HasSubstr("SriovIBNetwork"));
  EXPECT_TRUE(soon([&] {
    return shell("kubectl -n " + ns + " get sriovnetwork net0 -o jsonpath='{.metadata.finalizers}'").empty();
  }));
  shell("kubectl -n " + ns + " delete sriovnetwork net0 --timeout=90s");
  EXPECT_TRUE(soon([&] { return shell("kubectl -n " + target + " get net-attach-def -o name").empty(); }))
      << program.log();
}

// As they are published for NVIDIA's network operator; its namespace is not the operator's own.
TEST_F(OperatorTest, ServesManifestsOfNvidiasOperatorWhereTheyAre) {
  Program program(
      ns, "one", {"--kubeconfig", fmt::format("{}/{}.conf", cluster::folder(), ns), "--resource-prefix", "nvidia.com"});
  const std::string target = cluster::new_namespace(), team = cluster::new_namespace();
  const auto put = [](const std::string& yaml) { shell("kubectl apply -f - <<'YAML'\n" + yaml + "\nYAML"); };
  const auto policy_in = [&](const std::string& place) {
    put(
        fmt::format("apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
                    "metadata: {{name: gpu-sriov-policy, namespace: {}}}\n"
                    "spec: {{nodeSelector: {{kubernetes.io/os: linux}}, resourceName: sriov_rdma_vf, numVfs: 8, "
                    "nicSelector: {{vendor: \"15b3\"}}, deviceType: netdevice, isRdma: true}}",
                    place));
  };
  const auto condition_in = [](const std::string& place) {
    return shell(
        fmt::format("kubectl -n {} get sriovnetworknodepolicy gpu-sriov-policy -o "
                    "jsonpath='{{.status.conditions[0].reason}} {{.status.conditions[0].message}}'",
                    place));
  };
  put("apiVersion: v1\nkind: Namespace\nmetadata: {name: nvidia-network-operator}");
  node_of("gpu1", "gpu8-ib8");
  policy_in("nvidia-network-operator");
  policy_in(team);
  put(
      fmt::format("apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\n"
                  "metadata: {{name: gpu-sriov-network, namespace: nvidia-network-operator}}\n"
                  "spec: {{resourceName: sriov_rdma_vf, networkNamespace: {}}}",
                  target));
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("policyName":"gpu-sriov-policy")"); })) << spec("gpu1") << program.log();
  EXPECT_EQ(shell("kubectl -n " + ns +
                  " get sriovnetworknodestate gpu1 -o jsonpath='{.metadata.annotations.railbed\\.dev/wanted}'"),
            R"({"resourcePrefix":"nvidia.com","version":1})");
  EXPECT_TRUE(soon([&] {
    return shell("kubectl -n " + target +
                 " get net-attach-def gpu-sriov-network -o "
                 "jsonpath='{.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/resourceName}' || true") ==
           "nvidia.com/sriov_rdma_vf";
  })) << program.log();
  report("gpu1", "gpu8-ib8", "Succeeded");
  EXPECT_TRUE(soon([&] { return condition_in("nvidia-network-operator").starts_with("Applied"); }))
      << condition_in("nvidia-network-operator") << program.log();
  EXPECT_TRUE(soon([&] { return condition_in(team).starts_with("Ignored policies count in namespaces "); }))
      << condition_in(team) << program.log();
  // The operator of that namespace comes back: what it had counts no more, and the node keeps its VFs.
  const std::string before = spec("gpu1");
  put("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: nvidia-network-operator}");
  put("apiVersion: v1\nkind: Pod\nmetadata: {name: sriov-network-operator, namespace: nvidia-network-operator, "
      "labels: {name: sriov-network-operator}}\nspec: {containers: [{name: main, image: none}]}");
  EXPECT_TRUE(soon([&] {
    return condition_in("nvidia-network-operator") ==
           "Ignored an SR-IOV operator runs in namespace nvidia-network-operator: its policies are that one's";
  })) << condition_in("nvidia-network-operator")
      << program.log();
  EXPECT_EQ(spec("gpu1"), before);
  shell("kubectl -n nvidia-network-operator delete pod sriov-network-operator --grace-period=0 --force");
  shell("kubectl delete sriovnetworknodepolicies -A --all");
}

// Each file of deploy/examples, whole, on a node of its own: what it makes of node and networks.
TEST_F(OperatorTest, CarriesOutTheExamples) {
  struct Example {
    std::string file;
    std::vector<std::string> policies, networks;
  };
  const std::vector<Example> examples{
      {"roce-rail-per-nic", {"rail0", "rail1", "rail2"}, {"rail0", "rail1", "rail2"}},
      {"roce-one-resource", {"roce"}, {"roce"}},
      {"roce-one-network", {"rdma"}, {"rdma"}},
      {"roce-two-ports", {"port0", "port1"}, {"port0", "port1"}},
      {"roce-cloud-host-device", {}, {"port-1", "port-2"}},
  };
  const std::string folder = std::string(RAILBED_SOURCE_DIR) + "/deploy/examples/";
  EXPECT_EQ(shell("ls " + folder + " | wc -l"), fmt::format("{}\n", examples.size())) << "an example is not tried";
  Program program(ns, "one");
  const std::string target = cluster::new_namespace();
  shell("kubectl -n " + target + " create serviceaccount default");  // no controller here creates it
  for (const Example& one : examples) {
    put_node(one.file, ", feature.node.kubernetes.io/network-sriov.capable: " + one.file);
    EXPECT_TRUE(soon([&] { return state(one.file).has_value(); }));
    report(one.file, "roce-2x-cx6dx", "");
    shell(
        fmt::format("sed 's/namespace: railbed/namespace: {}/; s/\\(namespace\\|networkNamespace\\): llm/\\1: {}/; "
                    "s/\\(sriov.capable\\): \"true\"/\\1: {}/' {}{}.yaml | kubectl apply -f -",
                    ns, target, one.file, folder, one.file));
  }
  for (const Example& one : examples) {
    for (const std::string& policy : one.policies)
      EXPECT_TRUE(soon([&] { return has(one.file, fmt::format(R"("policyName":"{}")", policy)); }))
          << policy << ": " << spec(one.file) << program.log();
    for (const std::string& network : one.networks)
      EXPECT_TRUE(soon([&] {
        return shell("kubectl -n " + target + " get net-attach-def -o name").find("/" + network + "\n") !=
               std::string::npos;
      })) << network
          << program.log();
    if (one.policies.empty()) continue;
    report(one.file, "roce-2x-cx6dx", "Succeeded");
    for (const std::string& policy : one.policies)
      EXPECT_TRUE(soon([&] { return condition(policy).starts_with("1 of 1 Applied"); })) << condition(policy);
  }
}

// Killed whenever, it ends where the policies say; and each spec on the way was one that policies said.
TEST_F(OperatorTest, IsKilledAtRandomWhilePoliciesChange) {
  std::mt19937 random(4711);
  auto program = std::make_unique<Program>(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  node_of("gpu2", "seed-six-cx7");
  const auto clock = kube::real_clock();
  put_policy("keep", "numVfs: 1, priority: 99, nicSelector: {vendor: 15b3}");
  for (int i = 0; i < 12; ++i) {
    const int number = static_cast<int>(random() % 3);
    if (random() % 4 == 0)
      shell(fmt::format("kubectl -n {} delete sriovnetworknodepolicy --ignore-not-found rail{}", ns, number));
    else
      put_policy(fmt::format("rail{}", number), fmt::format("numVfs: {}, priority: {}, nicSelector: {{vendor: 15b3}}",
                                                            random() % 7 + 1, random() % 5));
    clock->wait(milliseconds(random() % 700), {});
    program->end(SIGKILL);
    program = std::make_unique<Program>(ns, "one");
  }
  const std::string wanted = [&] {
    const auto policies = api->client.list(
        {"sriovnetwork.openshift.io", "v1", "sriovnetworknodepolicies", "SriovNetworkNodePolicy"}, {.ns = ns});
    api::Objects objects;
    doc::Diagnostics found;
    for (const Value& one : policies->objects) objects.policies.push_back(*api::parse_policy(one, found));
    const graph::Catalog catalog = graph::index(objects, {}, found);
    std::string out;
    for (const char* node : {"gpu1", "gpu2"}) {
      const facts::NodeFacts facts = graph::facts_of(reported_state(node), {});
      out += doc::to_json(api::node_state_spec(graph::state_of(graph::resolve(catalog, facts, found))));
    }
    return out;
  }();
  const auto now = [&] {
    std::string out;
    for (const char* node : {"gpu1", "gpu2"}) out += doc::to_json(api::node_state_spec(reported_state(node).pfs));
    return out;
  };
  EXPECT_TRUE(soon([&] { return now() == wanted; })) << now() << "\n" << wanted << program->log();
}

TEST_F(OperatorTest, HandsOverToASecondOne) {
  auto first = std::make_unique<Program>(ns, "first");
  node_of("gpu1", "gpu8-ib8");
  Program second(ns, "second");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); }));
  EXPECT_TRUE(soon([&] { return second.log().find("writes nothing: first leads") != std::string::npos; }))
      << second.log();
  EXPECT_EQ(first->end(SIGTERM), 0);
  const double taken_s = cluster::took_s("the second operator leads after the first one ended", [&] {
    EXPECT_TRUE(soon([&] { return second.log().find(" info leads") != std::string::npos; })) << second.log();
  });
  EXPECT_LE(taken_s, 12) << "before the Lease would have ended";
  put_policy("rails", "numVfs: 3, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":3)"); })) << second.log();
  first = std::make_unique<Program>(ns, "third");
  second.end(SIGKILL);
  put_policy("rails", "numVfs: 4, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":4)"); })) << first->log();
}

TEST_F(OperatorTest, GoesOnAfterTheApiServerWasAway) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); }));
  control_plane("signal", "KILL");
  kube::real_clock()->wait(seconds(12), {});  // longer than it may lead without the API server
  control_plane("start");
  put_policy("rails", "numVfs: 3, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":3)"); })) << program.log();
}

TEST_F(OperatorTest, KeepsSpecsWhenAllPoliciesAreDeleted) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  put_policy("more", "numVfs: 2, priority: 98, nicSelector: {vendor: \"8086\"}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); }));
  // One request: deletions that are seconds apart would be those of single policies.
  shell("kubectl delete --raw /apis/sriovnetwork.openshift.io/v1/namespaces/" + ns + "/sriovnetworknodepolicies");
  const auto events = [&] { return shell("kubectl get events -A --field-selector reason=AllPoliciesGone"); };
  EXPECT_TRUE(soon([&] { return events().find(ns) != std::string::npos; })) << program.log();
  kube::real_clock()->wait(seconds(3), {});
  EXPECT_TRUE(has("gpu1", R"("numVfs":2)")) << program.log();
  const auto described = [&] { return shell("kubectl -n " + ns + " describe sriovnetworknodestate gpu1"); };
  EXPECT_TRUE(soon([&] { return described().find("no policies are left") != std::string::npos; })) << described();
  shell("kubectl -n " + ns + " annotate sriovnetworknodestates --all railbed.dev/confirm-no-policies=true");
  EXPECT_TRUE(soon([&] { return spec("gpu1") == R"({"interfaces":[]})"; })) << spec("gpu1") << program.log();
}

// etcd is killed and comes back with its data: the API server answers meanwhile, and cannot do anything.
TEST_F(OperatorTest, GoesOnAfterEtcdWasKilled) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); }));
  control_plane("signal", "KILL etcd");
  kube::real_clock()->wait(seconds(4), {});
  control_plane("start", "etcd");
  put_policy("rails", "numVfs: 3, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":3)"); })) << program.log();
}

// As a pod: the service account of deploy/rbac, whose token is replaced while the operator runs. The old one is refused
// at once (401), since its service account is another one now.
TEST_F(OperatorTest, RunsAsAPodWhoseTokenIsRotated) {
  const std::string pod = "/var/run/secrets/kubernetes.io/serviceaccount";
  const auto new_account = [&] {
    shell(
        fmt::format("kubectl -n {0} delete serviceaccount railbed-operator --ignore-not-found && "
                    "kubectl -n {0} create serviceaccount railbed-operator && mkdir -p {1} && cp {2}/pki/ca.crt {1} && "
                    "printf {0} >{1}/namespace && kubectl -n {0} create token railbed-operator >{1}/new && "
                    "mv {1}/new {1}/token",
                    ns, pod, cluster::folder()));
  };
  new_account();
  shell("kubectl delete clusterrolebinding " + ns + "; kubectl -n " + ns + " delete rolebinding " + ns);
  setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "6443", 1);
  Program program(ns, "one", {});
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); })) << program.log();
  const std::string old_token = shell("cat " + pod + "/token");
  new_account();
  // A server remembers for some seconds that a token was good.
  const auto refused = [&] {
    return shell("curl -s -o /dev/null -w '%{http_code}' --noproxy '*' --cacert " + pod +
                 "/ca.crt -H 'Authorization: Bearer " + old_token + "' https://127.0.0.1:6443/api/v1/nodes") == "401";
  };
  EXPECT_TRUE(soon(refused));
  put_policy("rails", "numVfs: 3, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":3)"); })) << program.log();
}

// Round trips of 700 ms: everything is done, and there are no more requests than near by.
TEST_F(OperatorTest, WorksFarAwayFromTheApiServer) {
  shell(
      fmt::format("tests/cluster/far_away 7443 6443 700 >/dev/null 2>&1 & "
                  "sed 's/127.0.0.1:6443/127.0.0.1:7443/' {0}/{1}.conf >{0}/far.conf",
                  cluster::folder(), ns));
  Program program(ns, "far", {"--kubeconfig", cluster::folder() + "/far.conf", "--metrics", "127.0.0.1:9471"});
  const auto requests = [] {
    return std::stoi("0" + shell("curl -s --noproxy '*' 127.0.0.1:9471/metrics | "
                                 "awk '/^railbed_kube_requests_total/ { sum += $NF } END { print sum + 0 }'"));
  };
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); })) << program.log();
  report("gpu1", "gpu8-ib8", "Succeeded");
  EXPECT_TRUE(soon([&] { return condition("rails").starts_with("1 of 1 Applied"); })) << condition("rails");
  kube::real_clock()->wait(seconds(5), {});  // what was applied last is reported
  const int before = requests();
  kube::real_clock()->wait(seconds(6), {});
  const int asked = requests() - before;
  std::printf("figure: requests of an operator in 6 s without a change, 700 ms away: %d\n", asked);
  EXPECT_GT(before, 0);
  EXPECT_LE(asked, 30) << "a Lease is read and written every 2 s";
  EXPECT_EQ(program.end(SIGTERM), 0) << program.log();
}

// A node is deleted and comes back under its name: it finds the VFs that it was to have.
TEST_F(OperatorTest, KeepsTheStateOfANodeThatComesBack) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); })) << program.log();
  const std::string uid = kube::uid_of(*state("gpu1"));
  const auto kept_until = [&] {
    return shell("kubectl -n " + ns +
                 " get sriovnetworknodestate gpu1 -o jsonpath='{.metadata.annotations.sriovnetwork\\.openshift\\.io/"
                 "keep-state-until}'");
  };
  shell("kubectl delete node gpu1");
  EXPECT_TRUE(soon([&] { return !kept_until().empty(); })) << program.log();
  EXPECT_TRUE(has("gpu1", R"("numVfs":2)")) << spec("gpu1");
  put_policy("rails", "numVfs: 3, nicSelector: {vendor: 15b3}");
  put_node("gpu1");
  EXPECT_TRUE(soon([&] { return kept_until().empty() && has("gpu1", R"("numVfs":3)"); })) << program.log();
  EXPECT_EQ(kube::uid_of(*state("gpu1")), uid) << "it was never deleted";
}

// Another tool writes the same objects all the time: what it owns stays, and the spec is what policies say.
TEST_F(OperatorTest, SharesNodeStatesWithAnotherTool) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); })) << program.log();
  std::jthread tool([&](std::stop_token stop) {
    const auto own = admin();
    for (int i = 0; !stop.stop_requested(); ++i) {
      const std::string patch = fmt::format(
          R"({{"metadata":{{"annotations":{{"example.com/seen":"{}"}},"labels":{{"example.com/tool":"yes"}}}}}})", i);
      doc::Diagnostics found;
      const auto body = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"patch", patch}), found);
      (void)own->client.patch(kube::kNodeStates, {ns, "gpu1"}, kube::PatchType::kMerge, *body);
    }
  });
  for (int vfs = 3; vfs < 7; ++vfs) {
    put_policy("rails", fmt::format("numVfs: {}, nicSelector: {{vendor: 15b3}}", vfs));
    EXPECT_TRUE(soon([&] { return has("gpu1", fmt::format(R"("numVfs":{})", vfs)); })) << program.log();
  }
  // It takes the VFs away, by hand.
  shell("kubectl -n " + ns + " patch sriovnetworknodestate gpu1 --type merge -p '{\"spec\":{\"interfaces\":[]}}'");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":6)"); })) << program.log();
  tool.request_stop();
  tool.join();
  const auto left = state("gpu1");
  ASSERT_TRUE(left);
  EXPECT_THAT(doc::to_json(*left->find("metadata")), HasSubstr(R"("example.com/tool":"yes")"));
}

// Node states that went with their definition are made again, and order nothing until their nodes report what they
// have.
TEST_F(OperatorTest, OrdersNothingWhenTheDefinitionOfNodeStatesIsDeleted) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); }));
  shell("kubectl delete crd sriovnetworknodestates.sriovnetwork.openshift.io");
  EXPECT_TRUE(soon([&] {
    return program.log().find("writes nothing: not everything is known: SriovNetworkNodeState") != std::string::npos;
  })) << program.log();
  install_kinds();
  EXPECT_TRUE(soon([&] { return state("gpu1").has_value(); })) << program.log();
  EXPECT_EQ(spec("gpu1").find("interfaces"), std::string::npos) << spec("gpu1");
  report("gpu1", "gpu8-ib8", "");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); })) << program.log();
}

TEST_F(OperatorTest, KeepsSpecsWhenTheDefinitionOfPoliciesIsDeleted) {
  Program program(ns, "one");
  node_of("gpu1", "gpu8-ib8");
  put_policy("rails", "numVfs: 2, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":2)"); }));
  shell("kubectl delete crd sriovnetworknodepolicies.sriovnetwork.openshift.io");
  EXPECT_TRUE(soon([&] {
    return program.log().find("writes nothing: not everything is known: SriovNetworkNodePolicy") != std::string::npos;
  })) << program.log();
  EXPECT_TRUE(has("gpu1", R"("numVfs":2)")) << program.log();
  install_kinds();
  kube::real_clock()->wait(seconds(5), {});
  EXPECT_TRUE(has("gpu1", R"("numVfs":2)")) << "there are no policies now: " << program.log();
  put_policy("rails", "numVfs: 3, nicSelector: {vendor: 15b3}");
  EXPECT_TRUE(soon([&] { return has("gpu1", R"("numVfs":3)"); })) << program.log();
}

TEST_F(OperatorTest, KeepsDefinitionsWhenTheDefinitionOfNetworksIsDeleted) {
  Program program(ns, "one");
  const std::string target = cluster::new_namespace();
  const auto put_network = [&] {
    apply(
        fmt::format("apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetwork\nmetadata: {{name: net0}}\n"
                    "spec: {{resourceName: rails, networkNamespace: {}}}",
                    target));
  };
  const auto kind_uid = [] {
    return shell("kubectl get crd sriovnetworks.sriovnetwork.openshift.io -o jsonpath='{.metadata.uid}'");
  };
  const auto definitions = [&] { return shell("kubectl -n " + target + " get net-attach-def -o yaml"); };
  put_network();
  EXPECT_TRUE(soon([&] { return definitions().find(kind_uid()) != std::string::npos; })) << program.log();
  shell("kubectl delete crd sriovnetworks.sriovnetwork.openshift.io");
  install_kinds();
  EXPECT_TRUE(soon([&] {
    return program.log().find("kept: its network SriovNetwork " + ns + "/net0 no longer exists") != std::string::npos;
  })) << program.log();
  EXPECT_THAT(definitions(), HasSubstr("name: net0")) << program.log();
  put_network();
  EXPECT_TRUE(soon([&] { return definitions().find(kind_uid()) != std::string::npos; })) << program.log();
  shell("kubectl -n " + ns + " delete sriovnetwork net0");
  EXPECT_TRUE(soon([&] { return definitions().find("name: net0") == std::string::npos; })) << program.log();
}

}  // namespace
}  // namespace railbed::controller

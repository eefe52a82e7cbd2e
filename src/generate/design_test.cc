// SPDX-License-Identifier: Apache-2.0
// Which ports become rails, the arithmetic at its edges, and whole manifests against testdata/generate.
#include "generate/design.h"

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/yaml.h"
#include "generate/manifests.h"

namespace railbed::generate {
namespace {

using facts::LinkType;
using facts::Nic;
using facts::NodeFacts;

Nic port(int bus, LinkType type = LinkType::kEthernet, uint64_t subnet_prefix = 0) {
  Nic nic;
  nic.pci.address = PciAddress::parse(fmt::format("0000:{:02x}:00.0", bus)).value();
  nic.pci.vendor = "15b3";
  nic.pci.device = "1021";
  nic.link_type = type;
  nic.total_vfs = 16;
  nic.netdevs.push_back({.name = fmt::format("eth{}", bus), .mtu = 1500});
  facts::RdmaPort rdma{.link_type = type, .state = "ACTIVE"};
  if (type == LinkType::kInfiniband) rdma.subnet_prefix = subnet_prefix;
  nic.rdma.push_back({.name = fmt::format("mlx5_{}", bus), .ports = {rdma}});
  return nic;
}

NodeFacts node(const std::string& name, std::vector<Nic> nics) {
  return {.node = name, .nics = std::move(nics)};
}

std::string notes(const NodeFacts& facts, DesignRequest request) {
  const auto made = design({facts}, request);
  if (!made) return made.error().message;
  std::string out = fmt::format("{} rails", made->rails.size());
  for (const std::string& note : made->notes) out += "\n" + note;
  return out;
}

TEST(Design, SaysWhyAPortIsLeftOut) {
  const struct {
    const char* name;
    std::function<void(Nic&)> change;
    Profile profile;
    bool soft_rdma;
    const char* said;
  } cases[] = {
      {"as it should be", [](Nic&) {}, Profile::kRoce, false, "2 rails"},
      {"no SR-IOV", [](Nic& nic) { nic.total_vfs.reset(); }, Profile::kRoce, false,
       "1 rails\neth2 (0000:02:00.0) of node n is left out of rail1: it makes no VFs (sriov_totalvfs is 0 or absent: enable SR-IOV in the "
       "card's firmware)"},
      {"no VFs", [](Nic& nic) { nic.total_vfs = 0; }, Profile::kRoce, false,
       "1 rails\neth2 (0000:02:00.0) of node n is left out of rail1: it makes no VFs (sriov_totalvfs is 0 or absent: enable SR-IOV in the "
       "card's firmware)"},
      {"a whole port needs no VFs", [](Nic& nic) { nic.total_vfs = 0; }, Profile::kHostDevice, false, "2 rails"},
      {"no RDMA", [](Nic& nic) { nic.rdma.clear(); }, Profile::kRoce, false,
       "1 rails\neth2 (0000:02:00.0) of node n is left out: it has no RDMA device"},
      {"soft RDMA only", [](Nic& nic) { nic.rdma[0].soft = true; }, Profile::kRoce, false,
       "1 rails\neth2 (0000:02:00.0) of node n is left out: it has no RDMA device"},
      {"an RDMA device without ports", [](Nic& nic) { nic.rdma[0].ports.clear(); }, Profile::kRoce, false,
       "1 rails\neth2 (0000:02:00.0) of node n is left out: it has no RDMA device"},
      {"soft RDMA is enough", [](Nic& nic) { nic.rdma.clear(); }, Profile::kRoce, true, "2 rails"},
      {"down", [](Nic& nic) { nic.rdma[0].ports[0].state = "DOWN"; }, Profile::kRoce, true,
       "1 rails\neth2 (0000:02:00.0) of node n is left out of rail1: its port is DOWN"},
      {"of unknown state", [](Nic& nic) { nic.rdma[0].ports[0].state = ""; }, Profile::kRoce, false, "2 rails"},
      {"of the other kind", [](Nic& nic) { nic.link_type = LinkType::kInfiniband; }, Profile::kRoce, false, "1 rails"},
      {"of no kind", [](Nic& nic) { nic.link_type = LinkType::kUnknown; }, Profile::kHostDevice, false, "1 rails"},
      {"fewer VFs", [](Nic& nic) { nic.total_vfs = 7; }, Profile::kRoce, false,
       "2 rails\nrail1: 7 VFs instead of 8: a card of it makes no more"},
      {"as many VFs as wanted", [](Nic& nic) { nic.total_vfs = 8; }, Profile::kRoce, false, "2 rails"},
  };
  for (const auto& c : cases) {
    NodeFacts facts = node("n", {port(1), port(2)});
    c.change(facts.nics[1]);
    EXPECT_EQ(notes(facts, {.profile = c.profile, .soft_rdma = c.soft_rdma}), c.said) << c.name;
  }
}

TEST(Design, TakesTheFabricWithMostPorts) {
  const NodeFacts two = node("n", {port(1, LinkType::kInfiniband, 0xa), port(2, LinkType::kInfiniband, 0xb),
                                   port(3, LinkType::kInfiniband, 0xb), port(4)});
  EXPECT_EQ(
      notes(two, {.profile = Profile::kInfiniband}),
      "2 rails\neth1 (0000:01:00.0) of node n is left out: it is in another fabric (subnet prefix 000000000000000a)");
  EXPECT_EQ(
      notes(two, {.profile = Profile::kHostDevice}),
      "2 rails\neth1 (0000:01:00.0) of node n is left out: it is in another fabric (subnet prefix 000000000000000a)\n"
      "eth4 (0000:04:00.0) of node n is left out: the rails are InfiniBand");
}

TEST(Design, ARailThatSomeNodesLackIsNamed) {
  const std::vector<NodeFacts> nodes = {node("a", {port(1), port(2)}), node("b", {port(1)}),
                                        node("c", {port(9, LinkType::kUnknown)})};
  const auto made = design(nodes, {.profile = Profile::kRoce, .vfs = 4});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->notes, std::vector<std::string>{"rail1 exists on 1 of 2 nodes only"});
  EXPECT_EQ(made->nodes, (std::vector{&nodes[0], &nodes[1]}));
  EXPECT_EQ(addresses_needed(made->rails[0]), 8);
  EXPECT_EQ(addresses_needed(made->rails[1]), 4);
}

// Four GPUs and their ports; the node's name shows which port is down or missing.
NodeFacts gpu_node(const std::string& name, int down, int missing) {
  NodeFacts made = node(name, {});
  for (int i = 0; i < 4; ++i) {
    facts::Gpu gpu;
    gpu.pci.address = PciAddress::parse(fmt::format("0000:{:02x}:00.0", 0x80 + i)).value();
    gpu.pci.bridges = {PciAddress::parse(fmt::format("0000:{:02x}:01.0", 0x90 + i)).value()};
    made.gpus.push_back(gpu);
    if (i == missing) continue;
    Nic nic = port(i + 1);
    nic.gpus = {{.gpu = gpu.pci.address, .kind = "PIX"}};
    nic.rdma[0].ports[0].rate_gbps = 400;
    if (i == down) nic.rdma[0].ports[0].state = "DOWN";
    made.nics.push_back(std::move(nic));
  }
  return made;
}

std::string rails_of(const Design& design) {
  std::string text;
  for (const Rail& rail : design.rails) {
    text += rail.name + ":";
    for (const Port& port : rail.ports) text += fmt::format(" {}/{}", port.node->node, port.nic->netdevs.front().name);
    text += "\n";
  }
  return text;
}

TEST(Design, APortThatIsDownOrMissingLeavesAHoleInItsRailAndShiftsNone) {
  const std::vector<NodeFacts> nodes = {gpu_node("a", -1, -1), gpu_node("b", 1, -1), gpu_node("c", -1, 2)};
  const auto made = design(nodes, {.profile = Profile::kRoce});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(rails_of(*made),
            "rail0: a/eth1 b/eth1 c/eth1\n"
            "rail1: a/eth2 c/eth2\n"
            "rail2: a/eth3 b/eth3\n"
            "rail3: a/eth4 b/eth4 c/eth4\n");
  EXPECT_EQ(made->notes,
            (std::vector<std::string>{"eth2 (0000:02:00.0) of node b is left out of rail1: its port is DOWN",
                                      "rail1 exists on 2 of 3 nodes only", "rail2 exists on 2 of 3 nodes only"}));
  EXPECT_EQ(rails_per_gpu(*made, nodes[0]), "node a: 4 rails for 4 GPUs");
  EXPECT_EQ(rails_per_gpu(*made, nodes[1]), "node b: 3 rails for 4 GPUs: GPUs share rails, or a rail is missing");
}

// Without GPUs a card that is missing would shift later rails; the other nodes determine its number.
TEST(Design, WithoutGpusAddressesDetermineTheRail) {
  const std::vector<NodeFacts> nodes = {node("a", {port(1), port(3)}), node("b", {port(1), port(2), port(3)}),
                                        node("c", {port(7), port(8)})};
  const auto made = design(nodes, {.profile = Profile::kRoce});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(rails_of(*made), "rail0: a/eth1 b/eth1 c/eth7\nrail1: b/eth2 c/eth8\nrail2: a/eth3 b/eth3\n");
}

TEST(Design, PortsOfUnlikeSpeedInOneRailAreReported) {
  std::vector<NodeFacts> nodes = {gpu_node("a", -1, -1), gpu_node("b", -1, -1)};
  nodes[1].nics[2].rdma[0].ports[0].rate_gbps = 200;
  const auto made = design(nodes, {.profile = Profile::kRoce});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->notes, std::vector<std::string>{"rail2: 400G on node a, 200G on node b"});
}

TEST(Design, MoreRailsThanGpusIsNotCalledSharing) {
  std::vector<NodeFacts> nodes = {node("n", {port(1), port(2), port(3)})};
  nodes[0].gpus.resize(2);
  const auto made = design(nodes, {.profile = Profile::kRoce});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(rails_per_gpu(*made, nodes[0]), "node n: 3 rails for 2 GPUs: more rails than GPUs");
  EXPECT_EQ(made->notes, std::vector<std::string>{"node n: 3 identical ports, and no way to match them to its 2 GPUs"});
}

// A host chooses its name, and names go into objects, comments and other names.
TEST(Design, ANameThatIsNoNodesNameIsRefused) {
  for (const char* name : {"x\n---\napiVersion: v1\nkind: Pod\n#", "\x1b[31mred", "", "Upper", "a_b"}) {
    const auto made = design({node(name, {port(1)})}, {.profile = Profile::kRoce});
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().to_string().find('\x1b'), std::string::npos);
    EXPECT_NE(made.error().message.find("not a valid Kubernetes node name"), std::string::npos) << made.error().message;
  }
}

// Interface names are free text, too, and stand in the comments.
TEST(Manifests, CommentsStayOnTheirLine) {
  NodeFacts facts = node("n", {port(1), port(2)});
  facts.nics[1].netdevs[0].name = "x\n---\nkind: Pod";
  facts.nics[1].rdma.clear();
  const std::string yaml = to_yaml(*design({facts}, {.profile = Profile::kRoce}));
  EXPECT_EQ(yaml.find("\nkind: Pod\nmeta"), yaml.rfind("\nkind: Pod\nmeta"));
  EXPECT_NE(yaml.find("# x\\x0a---\\x0akind: Pod (0000:02:00.0) of node n is left out"), std::string::npos) << yaml;
}

// The range of a rail holds its VFs, a fifth more, the network's and the broadcast address, and is a /24 at least.
TEST(Design, RangesGrowAtPowersOfTwo) {
  for (const auto& [vfs, ranges] : {std::pair(8, "10.64.0.0/24 10.64.1.0/24"),
                                    {211, "10.64.0.0/24 10.64.1.0/24"},
                                    {212, "10.64.0.0/24 10.64.1.0/24"},
                                    {213, "10.64.0.0/23 10.64.2.0/23"}}) {
    NodeFacts facts = node("n", {port(1), port(2)});
    for (Nic& nic : facts.nics) nic.total_vfs = 500;
    const auto made = design({facts}, {.profile = Profile::kRoce, .vfs = vfs});
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_EQ(made->rails[0].range.to_string() + " " + made->rails[1].range.to_string(), ranges) << vfs;
  }
}

TEST(Design, RangesThatJustFit) {
  const std::vector<NodeFacts> nodes = {node("n", {port(1), port(2)})};
  EXPECT_TRUE(design(nodes, {.profile = Profile::kRoce, .addresses = "10.0.0.0/23"}));
  EXPECT_EQ(design(nodes, {.profile = Profile::kRoce, .addresses = "10.0.0.0/24"}).error().to_string(),
            "10.0.0.0/24 is too small for 2 rails of 11 addresses each");
  EXPECT_EQ(design(nodes, {.profile = Profile::kRoce, .addresses = "10.0.0.0/25"}).error().to_string(),
            "10.0.0.0/25 is too small for 2 rails of 11 addresses each");
  EXPECT_TRUE(design(nodes, {.profile = Profile::kRoce, .vfs = 4, .pods_per_node = 4}));
}

// Pods × VFs of each, and the spare rounded up, as far as cards and the operator go.
TEST(Design, VfsFollowFromThePods) {
  const struct {
    int pods, per_pod, spare, total;
    int vfs;
    VfLimit limit;
  } rows[] = {
      {1, 1, 20, 16, 2, VfLimit::kPods},         {5, 1, 20, 16, 6, VfLimit::kPods},
      {4, 2, 20, 16, 10, VfLimit::kPods},        {4, 2, 0, 16, 8, VfLimit::kPods},
      {16, 1, 20, 16, 16, VfLimit::kCard},       {8, 1, 10, 16, 9, VfLimit::kPods},
      {110, 1, 20, 500, 128, VfLimit::kWebhook}, {110, 1, 20, 126, 126, VfLimit::kCard},
  };
  for (const auto& row : rows) {
    NodeFacts facts = node("n", {port(1)});
    facts.nics[0].total_vfs = row.total;
    const auto made = design({facts}, {.profile = Profile::kRoce,
                                       .vfs = 0,
                                       .pods_per_node = row.pods,
                                       .vfs_per_pod = row.per_pod,
                                       .spare_percent = row.spare});
    ASSERT_TRUE(made) << made.error().to_string();
    EXPECT_EQ(made->rails[0].vfs, row.vfs) << row.pods << " pods";
    EXPECT_EQ(made->rails[0].limit, row.limit) << row.pods << " pods";
  }
  const auto too_many = design({node("n", {port(1)})}, {.profile = Profile::kRoce, .vfs = 0, .pods_per_node = 17});
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().message, "17 pods per node need 17 VFs of rail0 per node, there are 16");
}

TEST(Design, VfsInUseShareTheSlowestPort) {
  std::vector<NodeFacts> nodes = {gpu_node("a", -1, -1), gpu_node("b", -1, -1)};
  nodes[1].nics[1].rdma[0].ports[0].rate_gbps = 200;
  nodes[1].nics[2].pci.link = facts::PcieLink{.speed_gts = 16, .width = 8, .max_speed_gts = 32, .max_width = 16};
  const auto made = design(nodes, {.profile = Profile::kRoce, .vfs = 0, .pods_per_node = 8});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(share_gbps(*made, made->rails[0]), 50);
  EXPECT_EQ(share_gbps(*made, made->rails[1]), 25);
  EXPECT_LT(share_gbps(*made, made->rails[2]).value_or(50), 17);
  const auto whole = design(nodes, {.profile = Profile::kHostDevice});
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(share_gbps(*whole, whole->rails[0]), 400);
  const std::vector<NodeFacts> slow = {node("n", {port(1)})};
  const auto unknown = design(slow, {.profile = Profile::kRoce, .vfs = 0});
  ASSERT_TRUE(unknown) << unknown.error().to_string();
  EXPECT_EQ(share_gbps(*unknown, unknown->rails[0]), std::nullopt);
}

TEST(Manifests, ATaintIsOnBothSides) {
  const std::vector<NodeFacts> nodes = {node("a", {port(1)}), node("b", {port(1)})};
  const struct {
    const char* taint;
    const char* command;
    const char* tolerations;
  } rows[] = {
      {"dedicated=rdma", "# keeps other pods off these nodes: kubectl taint nodes a b dedicated=rdma:NoSchedule\n",
       "  tolerations:\n  - key: dedicated\n    operator: Equal\n    value: rdma\n    effect: NoSchedule\n"},
      {"example.org/rails",
       "# keeps other pods off these nodes: kubectl taint nodes a b example.org/rails:NoSchedule\n",
       "  tolerations:\n  - key: example.org/rails\n    operator: Exists\n    effect: NoSchedule\n"},
  };
  for (const auto& row : rows) {
    const auto made = design(nodes, {.profile = Profile::kRoce, .taint = row.taint});
    ASSERT_TRUE(made) << made.error().to_string();
    const std::string yaml = to_yaml(*made);
    EXPECT_NE(yaml.find(row.command), std::string::npos) << yaml;
    EXPECT_NE(yaml.find(row.tolerations), std::string::npos) << yaml;
  }
  EXPECT_EQ(to_yaml(*design(nodes, {.profile = Profile::kRoce})).find("tolerations"), std::string::npos);
  for (const char* wrong : {"=rdma", "a b", "a=b:NoSchedule", "$(reboot)", "a\n---"}) {
    const auto made = design(nodes, {.profile = Profile::kRoce, .taint = wrong});
    ASSERT_FALSE(made) << wrong;
    EXPECT_EQ(made.error().code, Code::kInvalid) << wrong;
  }
}

TEST(Manifests, TheNamespaceIsThereBeforeWhatLivesInIt) {
  const std::vector<NodeFacts> nodes = {node("n", {port(1)})};
  const auto first = [&](const std::string& ns) {
    const auto made = design(nodes, {.profile = Profile::kRoce, .pod_namespace = ns});
    return doc::to_yaml(manifests(*made).front());
  };
  EXPECT_EQ(first("rdma-test"),
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: rdma-test\n"
            "  labels:\n    pod-security.kubernetes.io/enforce: privileged\n");
  // It may have been there before.
  EXPECT_EQ(first("training"), "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: training\n");
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"})
    EXPECT_TRUE(first(ns).starts_with("apiVersion: sriovnetwork.openshift.io/v1\n")) << first(ns);
}

TEST(Manifests, OnePolicyForAllNodesOrOneForEach) {
  NodeFacts a = node("a", {port(1), port(2)});
  NodeFacts b = node("b", {port(1), port(2)});
  a.gpus.resize(1);
  for (Nic& nic : a.nics) nic.gpus = {{.gpu = nic.pci.address, .kind = "PIX"}};
  b.nics[0].gpus = {{.gpu = b.nics[0].pci.address, .kind = "SYS"}};
  const DesignRequest request{.profile = Profile::kRoce, .vfs = 4};
  expect_golden(testdata() / "generate/roce-alike.yaml", to_yaml(*design({a, b}, request)));
  b.nics[1].pci.device = "101e";
  b.nics[0].rdma.clear();
  expect_golden(testdata() / "generate/roce-different.yaml",
                to_yaml(*design({a, b}, {.profile = Profile::kRoce, .soft_rdma = true})));
  a.nics[1].netdevs[0].mtu = 4092;
  for (NodeFacts* one : {&a, &b})
    for (Nic& nic : one->nics) nic.link_type = LinkType::kInfiniband;
  expect_golden(testdata() / "generate/host-device.yaml",
                to_yaml(*design({a, b}, {.profile = Profile::kHostDevice, .soft_rdma = true})));
  expect_golden(testdata() / "generate/infiniband-one.yaml",
                to_yaml(*design({a}, {.profile = Profile::kInfiniband, .mtu = 2044})));
  b.nics.pop_back();
  expect_golden(testdata() / "generate/uneven.yaml",
                to_yaml(*design({a, b}, {.profile = Profile::kInfiniband, .soft_rdma = true})));
}

}  // namespace
}  // namespace railbed::generate

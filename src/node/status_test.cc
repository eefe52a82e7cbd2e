// SPDX-License-Identifier: Apache-2.0
// What `railbed status` says of a machine and its state.
#include "node/status.h"

#include <gtest/gtest.h>

#include "attach/result.h"
#include "doc/json.h"
#include "node/plan_note.h"
#include "node/resource_prefix.h"

namespace railbed::node {
namespace {

PciAddress pci(const std::string& text) {
  return *PciAddress::parse(text);
}

// A PF with five VFs, and a NIC without SR-IOV.
facts::NodeFacts facts() {
  facts::NodeFacts facts;
  facts.node = "host";
  facts::Nic pf;
  pf.pci.address = pci("0000:01:00.0");
  pf.total_vfs = 8;
  pf.num_vfs = 5;
  pf.netdevs.resize(1);
  pf.netdevs[0].name = "ens1f0";
  for (int i = 0; i < 5; ++i) {
    facts::Vf vf;
    vf.index = VfIndex{i};
    vf.pci.address = pci(fmt::format("0000:01:10.{}", i));
    vf.pci.driver = i == 1 ? "vfio-pci" : i == 4 ? "" : "mlx5_core";
    if (i == 2 || i == 3) {
      vf.netdev.emplace();
      vf.netdev->name = fmt::format("ens1f0v{}", i);
      if (i == 3) vf.netdev->master = "bond0";
    }
    pf.vfs.push_back(vf);
  }
  facts.nics.push_back(pf);
  facts::Nic plain;
  plain.pci.address = pci("0000:02:00.0");
  facts.nics.push_back(plain);
  return facts;
}

// What `status` says about one subject, as JSON in one line.
std::string part(const Status& status, const char* name) {
  return doc::to_json(*to_value(status).find(name));
}

TEST(ReadStatus, WithoutStateReportsTheMachine) {
  const auto status = read_status(facts(), nullptr);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->node, "host");
  EXPECT_EQ(part(*status, "pods"), "[]");
  EXPECT_EQ(part(*status, "pfs"),
            R"([{"pci":"0000:01:00.0","name":"ens1f0","numVfs":5,"totalVfs":8,"ours":false,"vfs":[)"
            R"({"index":0,"pci":"0000:01:10.0","driver":"mlx5_core","owner":"another namespace"},)"
            R"({"index":1,"pci":"0000:01:10.1","driver":"vfio-pci","owner":""},)"
            R"({"index":2,"pci":"0000:01:10.2","driver":"mlx5_core","name":"ens1f0v2","owner":""},)"
            R"({"index":3,"pci":"0000:01:10.3","driver":"mlx5_core","name":"ens1f0v3","owner":"host"},)"
            R"({"index":4,"pci":"0000:01:10.4","driver":"","owner":""}]}])");
}

TEST(ReadStatus, ReportsWhoHoldsWhat) {
  const auto store = state::memory_store();
  ASSERT_TRUE(store->put_baseline({.pf = pci("0000:01:00.0")}));
  ASSERT_TRUE(store->put_pod({.pod = "llm/a", .netns = "/run/netns/a"}));
  attach::InterfaceResult made{.interface = "net1",
                               .network = "llm/rail0",
                               .type = "sriov",
                               .mac = "02:00:00:00:00:01",
                               .mtu = 9000,
                               .addresses = {*IpPrefix::parse("10.1.0.6/24")},
                               .pf = "ens9",
                               .device = pci("0000:01:10.2"),
                               .rdma = "mlx5_3",
                               .soft = true};
  const auto attach = [&](const std::string& pod, const std::string& interface, const std::string& type,
                          state::AttachmentStatus at, const std::string& device, const std::string& result) {
    ASSERT_TRUE(store->put_attachment({.pod = pod,
                                       .interface = interface,
                                       .netns = "/proc/7/ns/net",
                                       .network = "llm/rail0",
                                       .type = type,
                                       .status = at,
                                       .device = device,
                                       .result = result}));
  };
  attach("llm/a", "net1", "sriov", state::AttachmentStatus::kAttached, "0000:01:10.0", to_json(made));
  attach("llm/a", "net2", "macvlan", state::AttachmentStatus::kBegun, "", "");
  attach("llm/b@box", "net1", "macvlan", state::AttachmentStatus::kDetaching, "", to_json(made));
  attach("@nameless", "net1", "sriov", state::AttachmentStatus::kAttached, "0000:01:10.4", "no JSON");
  attach("llm/c", "net1", "exec:x", state::AttachmentStatus::kAttached, "", "");
  ASSERT_TRUE(store->put_lease(
      {.pool = "llm/rail0", .address = *IpAddress::parse("10.1.0.6"), .pod = "llm/a", .interface = "net1"}));
  PlanNote note{
      .node = "gpu-a", .held_back = {"0000:01:00.0 keeps its VFs"}, .pod_errors = {{"llm/d", "no VF is free"}}};
  note.policies.push_back({.policy = "net/rail0", .pfs = {"ens1f0"}, .detail = "whole"});
  note.policies.push_back({.policy = "net/other"});
  ASSERT_TRUE(store->put_note(kPlanNote, to_json(note)));
  ASSERT_TRUE(keep_ordered_prefix(*store, "nvidia.com"));
  ASSERT_TRUE(keep_given_prefix(*store, "intel.com"));
  using Step = state::StepRecord::Status;
  const auto step = [&](const std::string& id, const std::string& policy, Step at, const std::string& error) {
    ASSERT_TRUE(store->put_step({.id = id,
                                 .pf = pci("0000:01:00.0"),
                                 .policy = policy,
                                 .description = "make it",
                                 .status = at,
                                 .error = error}));
  };
  step("s1", "net/rail0", Step::kDone, "");
  step("s2", "net/third", Step::kFailed, "not its own");
  step("s3", "net/rail0", Step::kFailed, "EBUSY");
  step("s4", "net/rail0", Step::kFailed, "a later one");
  step("s5", "net/other", Step::kBegun, "");
  const auto status = read_status(facts(), store.get());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->node, "gpu-a");
  EXPECT_EQ(part(*status, "prefixConflict"),
            R"("the operator says --resource-prefix nvidia.com, `up` was given intel.com: resources are named )"
            R"(nvidia.com/…; repeat `up` without the option")");
  EXPECT_EQ(part(*status, "policies"),
            R"([{"policy":"net/rail0","state":"failed","pfs":["ens1f0"],"shadowedBy":[],"detail":"whole",)"
            R"("failedStep":"s3","error":"EBUSY"},)"
            R"({"policy":"net/other","state":"no match","pfs":[],"shadowedBy":[],"detail":""}])");
  EXPECT_EQ(
      part(*status, "pods"),
      R"([)"
      R"({"name":"","namespace":"","container":"nameless","netns":"/proc/7/ns/net","interfaces":[)"
      R"({"name":"net1","network":"llm/rail0","type":"sriov","vf":"0000:01:10.4","pf":"0000:01:00.0","rail":"ens1f0","mac":"","mtu":0,"rdma":"","soft":false,"addresses":[],"state":"attached"}]},)"
      R"({"name":"a","namespace":"llm","netns":"/run/netns/a","interfaces":[)"
      R"({"name":"net1","network":"llm/rail0","type":"sriov","vf":"0000:01:10.0","pf":"0000:01:00.0","rail":"ens1f0","mac":"02:00:00:00:00:01","mtu":9000,"rdma":"mlx5_3","soft":true,"addresses":["10.1.0.6/24"],"state":"attached"},)"
      R"({"name":"net2","network":"llm/rail0","type":"macvlan","vf":"","pf":"","rail":"","mac":"","mtu":0,"rdma":"","soft":false,"addresses":[],"state":"being attached"}]},)"
      R"({"name":"b","namespace":"llm","container":"box","netns":"/proc/7/ns/net","interfaces":[)"
      R"({"name":"net1","network":"llm/rail0","type":"macvlan","vf":"0000:01:10.2","pf":"","rail":"ens9","mac":"02:00:00:00:00:01","mtu":9000,"rdma":"mlx5_3","soft":true,"addresses":["10.1.0.6/24"],"state":"being detached"}]},)"
      R"({"name":"d","namespace":"llm","netns":"","interfaces":[],"error":"no VF is free"}])");
  EXPECT_EQ(part(*status, "pfs"),
            R"([{"pci":"0000:01:00.0","name":"ens1f0","numVfs":5,"totalVfs":8,"ours":true,"vfs":[)"
            R"({"index":0,"pci":"0000:01:10.0","driver":"mlx5_core","owner":"llm/a"},)"
            R"({"index":1,"pci":"0000:01:10.1","driver":"vfio-pci","owner":""},)"
            R"({"index":2,"pci":"0000:01:10.2","driver":"mlx5_core","name":"ens1f0v2","owner":""},)"
            R"({"index":3,"pci":"0000:01:10.3","driver":"mlx5_core","name":"ens1f0v3","owner":"host"},)"
            R"({"index":4,"pci":"0000:01:10.4","driver":"","owner":"@nameless"}]}])");
  EXPECT_EQ(status->held_back, (std::vector<std::string>{"0000:01:00.0 keeps its VFs"}));
  EXPECT_EQ(status->interrupted, (std::vector<std::string>{"s5 (make it)"}));
  ASSERT_EQ(status->leases.size(), 1u);
  EXPECT_EQ(status->leases[0].address.to_string(), "10.1.0.6");
}

TEST(PfStatus, VfsInUseShareTheRate) {
  PfStatus pf{.vfs = {{.index = 0, .owner = "llm/a"}, {.index = 1, .owner = ""}, {.index = 2, .owner = "host"}}};
  EXPECT_EQ(pf.share_gbps(), std::nullopt);
  pf.rate_gbps = 100;
  EXPECT_EQ(pf.share_gbps(), 50);
  for (VfStatus& vf : pf.vfs) vf.owner.clear();
  EXPECT_EQ(pf.share_gbps(), std::nullopt);
}

}  // namespace
}  // namespace railbed::node

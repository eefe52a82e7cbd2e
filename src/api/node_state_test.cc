// SPDX-License-Identifier: Apache-2.0
#include "api/node_state.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::api {
namespace {

struct Read {
  std::optional<SriovNetworkNodeState> state;
  std::string complaint;  // the first
};

Read read(const std::string& members) {
  doc::Diagnostics found;
  const auto source = std::make_shared<const doc::Source>(
      doc::Source{"node1.json", R"({"metadata": {"name": "node1", "namespace": "op"}, )" + members + "}"});
  const auto value = doc::parse_json(source, found);
  Read out{.state = parse_node_state(*value, found), .complaint = ""};
  if (!found.all().empty()) out.complaint = found.all().front().message;
  return out;
}

// As the operator and its config daemon write it.
constexpr const char* kRecorded = R"("spec": {"interfaces": [{
  "eSwitchMode": "switchdev", "externallyManaged": true, "linkType": "IB", "mtu": 4092, "name": "ib0", "numVfs": 8,
  "pciAddress": "0000:3b:00.0", "vfGroups": [{
    "deviceType": "vfio-pci", "isRdma": true, "mtu": 2044, "policyName": "rail0", "resourceName": "rail_0", "vdpaType": "virtio", "vfRange": "2-7"}]}]},
 "status": {"interfaces": [{
  "Vfs": [{"Vlan": 7, "deviceID": "101e", "driver": "mlx5_core", "guid": "02:00:00:00:00:00:00:01", "mac": "02:00:00:00:00:01", "mtu": 1500,
           "name": "ib0v3", "pciAddress": "0000:3b:00.5", "vendor": "15b3", "vfID": 3}],
  "altNames": ["ibp59s0"], "deviceID": "1021", "driver": "mlx5_core", "eSwitchMode": "legacy", "linkAdminState": "up", "linkSpeed": "400000 Mb/s",
  "linkType": "IB", "mac": "00:00:10:49", "mtu": 4092, "name": "ib0", "numVfs": 8, "pciAddress": "0000:3b:00.0", "totalvfs": 16, "vendor": "15b3",
  "aFieldOfTomorrow": {"a": 1}}],
 "lastSyncError": "what failed", "observedGeneration": 3, "policies": [{"name": "rail0", "state": "Failed", "message": "ENOMEM"}],
 "syncStatus": "InProgress", "bridges": {}})";

TEST(NodeState, IsReadWhole) {
  const Read got = read(kRecorded);
  ASSERT_TRUE(got.state) << got.complaint;
  const NodeStatePf pf{.address = *PciAddress::parse("0000:3b:00.0"),
                       .name = "ib0",
                       .num_vfs = 8,
                       .mtu = 4092,
                       .link_type = WantedLinkType::kInfiniband,
                       .eswitch_mode = EswitchMode::kSwitchdev,
                       .externally_managed = true,
                       .groups = {{.policy_name = "rail0",
                                   .resource_name = "rail_0",
                                   .device_type = DeviceType::kVfioPci,
                                   .vfs = {2, 7},
                                   .mtu = 2044,
                                   .is_rdma = true,
                                   .vdpa_type = "virtio"}}};
  const FoundNic nic{.address = *PciAddress::parse("0000:3b:00.0"),
                     .vendor = "15b3",
                     .device_id = "1021",
                     .driver = "mlx5_core",
                     .name = "ib0",
                     .alt_names = {"ibp59s0"},
                     .mac = "00:00:10:49",
                     .mtu = 4092,
                     .num_vfs = 8,
                     .total_vfs = 16,
                     .link_type = "IB",
                     .link_speed = "400000 Mb/s",
                     .link_admin_state = "up",
                     .eswitch_mode = "legacy",
                     .vfs = {{.index = 3,
                              .address = *PciAddress::parse("0000:3b:00.5"),
                              .vendor = "15b3",
                              .device_id = "101e",
                              .driver = "mlx5_core",
                              .name = "ib0v3",
                              .mac = "02:00:00:00:00:01",
                              .guid = "02:00:00:00:00:00:00:01",
                              .mtu = 1500,
                              .vlan = 7}}};
  EXPECT_EQ(got.state->pfs, std::vector{pf});
  EXPECT_EQ(got.state->nics, std::vector{nic});
  EXPECT_EQ(got.state->sync_status, "InProgress");
  EXPECT_EQ(got.state->last_sync_error, "what failed");
  EXPECT_EQ(got.state->observed_generation, 3);
  EXPECT_EQ(got.state->policies, (std::vector<NodeStatePolicy>{{"rail0", NodeStatePolicy::State::kFailed, "ENOMEM"}}));
  EXPECT_EQ(got.state->conditions, std::vector<NodeStateCondition>{});
}

TEST(NodeState, HasConditionsAsItsAgentWritesThem) {
  const char* const text =
      R"({"conditions":[{"lastTransitionTime":"2026-11-27T20:00:00Z","message":"why",)"
      R"("reason":"AgentSaysAnother","status":"True","type":"ResourcePrefixConflict"}],"interfaces":[]})";
  const Read got = read(fmt::format(R"("status": {})", text));
  ASSERT_TRUE(got.state) << got.complaint;
  ASSERT_EQ(got.state->conditions.size(), 1u);
  EXPECT_EQ(got.state->conditions.front().type, "ResourcePrefixConflict");
  EXPECT_EQ(doc::to_json(node_state_status(*got.state)), text);
}

// A spec without interfaces orders nothing; an empty list of them orders that there are no VFs.
TEST(NodeState, DistinguishesNoOrderFromAnEmptyOne) {
  EXPECT_FALSE(read(R"("spec": {})").state->decided);
  EXPECT_FALSE(read(R"("spec": {"interfaces": null})").state->decided);
  EXPECT_FALSE(read(R"("status": {"interfaces": []})").state->decided);
  EXPECT_TRUE(read(R"("spec": {"interfaces": []})").state->decided);
}

TEST(NodeState, KnowsItsGeneration) {
  doc::Diagnostics found;
  const auto object = doc::parse_json(
      std::make_shared<const doc::Source>(doc::Source{"s", R"({"metadata": {"name": "n", "generation": 7}})"}), found);
  EXPECT_EQ(parse_node_state(*object, found)->generation, 7);
}

TEST(NodeState, IsWrittenAsItIsRead) {
  const SriovNetworkNodeState state = *read(kRecorded).state;
  const std::string again = R"("spec": )" + doc::to_json(node_state_spec(state.pfs)) + R"(, "status": )" +
                            doc::to_json(node_state_status(state));
  EXPECT_EQ(*read(again).state, state);
}

// What says nothing is not written: a cluster stores thousands of these.
TEST(NodeState, LeavesOutWhatSaysNothing) {
  EXPECT_EQ(
      doc::to_json(node_state_spec({{.address = *PciAddress::parse("0000:01:00.0"), .groups = {{.vfs = {0, 0}}}}})),
      R"({"interfaces":[{"eSwitchMode":"legacy","numVfs":0,"pciAddress":"0000:01:00.0",)"
      R"("vfGroups":[{"deviceType":"netdevice","vfRange":"0-0"}]}]})");
  EXPECT_EQ(doc::to_json(node_state_status({.nics = {{.address = *PciAddress::parse("0000:01:00.0")}}})),
            R"({"interfaces":[{"pciAddress":"0000:01:00.0"}]})");
  EXPECT_EQ(doc::to_json(node_state_status({})), R"({"interfaces":[]})");
}

TEST(NodeState, IsReadWithoutSpecAndStatus) {
  const Read got = read(R"("kind": "SriovNetworkNodeState")");
  ASSERT_TRUE(got.state) << got.complaint;
  EXPECT_EQ(*got.state->meta.name, "node1");
  EXPECT_TRUE(got.state->pfs.empty());
}

TEST(NodeState, SaysWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> rows{
      {R"("spec": {"interfaces": [{"numVfs": 1}]})", "spec.interfaces[0].pciAddress is missing"},
      {R"("spec": {"interfaces": [{"pciAddress": "3b"}]})",
       R"(spec.interfaces[0].pciAddress: "3b" is not a PCI address (one looks like 0000:3c:00.0))"},
      {R"("spec": {"interfaces": [{"pciAddress": "0000:3b:00.0", "vfGroups": [{}]}]})",
       "spec.interfaces[0].vfGroups[0].vfRange is missing"},
      {R"("spec": {"interfaces": [{"pciAddress": "0000:3b:00.0", "vfGroups": [{"vfRange": "7-2"}]}]})",
       R"(spec.interfaces[0].vfGroups[0].vfRange: "7-2" is not a range of VFs such as 0-3)"},
      {R"("spec": {"interfaces": [{"pciAddress": "0000:3b:00.0", "vfGroups": [{"vfRange": "1"}]}]})",
       R"(spec.interfaces[0].vfGroups[0].vfRange: "1" is not a range of VFs such as 0-3)"},
      {R"("spec": {"interfaces": [{"pciAddress": "0000:3b:00.0", "numVfs": -1}]})",
       "spec.interfaces[0].numVfs must be 0 to 65535, found -1"},
      {R"("status": {"interfaces": [{}]})", "status.interfaces[0].pciAddress is missing"},
      {R"("spec": {"interfaces": {}})", "spec.interfaces must be a list, found an object"},
      {R"("status": {"policies": [{"name": "a", "state": "Fine"}]})",
       R"(status.policies[0].state must be "Applied", "Held" or "Failed", found "Fine")"},
      {R"("status": {"syncStatus": 3})", "status.syncStatus must be a string, found an integer 3"},
  };
  for (const auto& [members, complaint] : rows) {
    const Read got = read(members);
    EXPECT_FALSE(got.state) << members;
    EXPECT_EQ(got.complaint, complaint) << members;
  }
}

}  // namespace
}  // namespace railbed::api

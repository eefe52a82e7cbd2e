// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/mesh_setup.h"

#include <gtest/gtest.h>

namespace railbed::perf::mesh {
namespace {

std::string why_not(const std::string& text) {
  const auto setup = setup_of_file("mesh.yaml", text);
  return setup ? "understood" : setup.error().to_string();
}
std::string word_error(const std::vector<std::string>& words) {
  const auto setup = setup_of_words(words, 18600);
  return setup ? "understood" : setup.error().to_string();
}

OwnRail own(uint32_t rail, const std::string& address, const std::string& device = "") {
  return {.rail = rail, .address = *IpAddress::parse(address), .device = device};
}

TEST(MeshSetup, AFileSaysHostsRailsAndLeaves) {
  const auto setup = setup_of_file("mesh.yaml", R"(
port: 4711
rails: [left, right]
hosts:
- name: node-1
  control: node-1.example.com
  rails:
  - {address: 10.0.0.1, device: mlx5_0, leaf: a}
  - {address: "fd00::1", leaf: b}
- name: node-2
  port: 4712
  rails: [{address: 10.0.0.2, leaf: a}, {}]
)");
  ASSERT_TRUE(setup) << setup.error().to_string();
  EXPECT_EQ(setup->fabric,
            (Fabric{.rails = {"left", "right"},
                    .leaves = {"a", "b"},
                    .endpoints = {{"node-1", {{true, 0}, {true, 1}}}, {"node-2", {{true, 0}, {false, {}}}}}}));
  EXPECT_EQ(setup->hosts,
            (std::vector<HostAddress>{{"node-1.example.com", 4711, {own(0, "10.0.0.1", "mlx5_0"), own(1, "fd00::1")}},
                                      {"10.0.0.2", 4712, {own(0, "10.0.0.2"), std::nullopt}}}));
}

TEST(MeshSetup, WordsSayAddresses) {
  const auto setup = setup_of_words({"node-1=10.0.0.1,10.1.0.1", "10.0.0.2,", "c=,10.1.0.3"}, 18600);
  ASSERT_TRUE(setup) << setup.error().to_string();
  EXPECT_EQ(setup->fabric,
            (Fabric{.rails = {"rail0", "rail1"},
                    .leaves = {},
                    .endpoints = {{"node-1", {{}, {}}}, {"10.0.0.2", {{}, {false, {}}}}, {"c", {{false, {}}, {}}}}}));
  EXPECT_EQ(setup->hosts, (std::vector<HostAddress>{{"10.0.0.1", 18600, {own(0, "10.0.0.1"), own(1, "10.1.0.1")}},
                                                    {"10.0.0.2", 18600, {own(0, "10.0.0.2"), std::nullopt}},
                                                    {"10.1.0.3", 18600, {std::nullopt, own(1, "10.1.0.3")}}}));
}

TEST(MeshSetup, SaysWhatIsWrongWithAFile) {
  const std::string hint = "\n  docs/mesh.md shows a file; a host needs a name and an address for each of its rails";
  EXPECT_EQ(why_not(""), "mesh.yaml: 0 documents where one was expected" + hint);
  EXPECT_EQ(why_not("port: 1"), "mesh.yaml:1:1: hosts is missing" + hint);
  EXPECT_EQ(why_not("hosts: []"), "mesh.yaml: a mesh needs 2 to 32768 hosts, not 0" + hint);
  EXPECT_EQ(why_not("hosts: [{name: a, rails: [{leaf: x}]}]"),
            "mesh.yaml:1:27: hosts[0].rails[0].address: a NIC needs one, where the others measure with it" + hint);
  EXPECT_EQ(why_not("hosts:\n- {name: a, rails: [{address: 10.0.0.1}]}\n- {name: b, rails: []}"),
            "mesh.yaml: host b has 0 rails, and the mesh has 1; write {} for one without a NIC" + hint);
  EXPECT_EQ(why_not("hosts:\n- {name: a, rails: [{address: 10.0.0.1}]}\n- {name: a, rails: [{address: 10.0.0.2}]}"),
            "mesh.yaml: two hosts of the mesh are named a" + hint);
}

TEST(MeshSetup, SaysWhatIsWrongWithAWord) {
  EXPECT_EQ(
      word_error({"a=10.0.0.1", "b=10.0.0.300"}),
      "endpoint b=10.0.0.300: \"10.0.0.300\" is not an IP address\n  an endpoint is NAME=ADDRESS,… with an address per rail");
  EXPECT_EQ(word_error({"a=10.0.0.1", "b=10.0.0.2,10.1.0.2"}),
            "host b has 2 rails, and the mesh has 1; write {} for one without a NIC");
  EXPECT_EQ(word_error({"a=10.0.0.1"}), "a mesh needs 2 to 32768 hosts, not 1");
  EXPECT_EQ(word_error({"a=10.0.0.1", "b="}), "host b has no NIC on any rail");
}

}  // namespace
}  // namespace railbed::perf::mesh

// SPDX-License-Identifier: Apache-2.0
#include "perf/mesh/roster.h"

#include <gtest/gtest.h>

namespace railbed::perf::mesh {
namespace {

IpAddress ip(const std::string& text) {
  return *IpAddress::parse(text);
}
Register host(const std::string& name, const std::vector<std::string>& rails, uint16_t port = 18600) {
  Register said{.name = name, .port = port, .rail_count = static_cast<uint32_t>(rails.size()), .rails = {}};
  for (uint32_t rail = 0; rail < rails.size(); ++rail)
    if (!rails[rail].empty()) said.rails.push_back({.rail = rail, .address = ip(rails[rail]), .device = {}});
  return said;
}

class RosterTest : public testing::Test {
 protected:
  std::string add(const std::string& from, const Register& one) {
    const auto added = roster_.add(++id_, ip(from), one);
    if (!added) return added.error().to_string();
    return *added ? fmt::format("instead of {}", **added) : "added";
  }
  Roster roster_{3};
  Roster::Id id_ = 0;
};

TEST_F(RosterTest, MakesTheSameMeshInAnyOrder) {
  EXPECT_EQ(add("10.9.0.2", host("b", {"10.0.0.2", ""}, 4711)), "added");
  EXPECT_EQ(roster_.setup().error().to_string(), "a mesh needs 2 to 32768 hosts, not 1");
  EXPECT_EQ(add("10.9.0.1", host("a", {"10.0.0.1", "10.1.0.1"})), "added");
  const auto setup = roster_.setup();
  ASSERT_TRUE(setup) << setup.error().to_string();
  EXPECT_EQ(setup->fabric, (Fabric{.rails = {"rail0", "rail1"},
                                   .leaves = {},
                                   .endpoints = {{"a", {{}, {}}}, {"b", {{}, {.there = false, .leaf = {}}}}}}));
  const auto own = [](uint32_t rail, const char* address) {
    return OwnRail{.rail = rail, .address = ip(address), .device = ""};
  };
  // Where they serve is where they came from, whatever they say.
  EXPECT_EQ(setup->hosts, (std::vector<HostAddress>{{"10.9.0.1", 18600, {own(0, "10.0.0.1"), own(1, "10.1.0.1")}},
                                                    {"10.9.0.2", 4711, {own(0, "10.0.0.2"), std::nullopt}}}));
}

TEST_F(RosterTest, TakesNoEndpointTwice) {
  EXPECT_EQ(add("10.9.0.1", host("a", {"10.0.0.1"})), "added");
  EXPECT_EQ(add("10.9.0.2", host("a", {"10.0.0.2"})),
            "a is already registered from 10.9.0.1 port 18600\n  rename one of them with --name");
  EXPECT_EQ(add("10.9.0.1", host("b", {"10.0.0.2"})),
            "10.9.0.1 port 18600 is already registered as a\n  one server is one host of a mesh");
  EXPECT_EQ(add("10.9.0.2", host("b", {"10.0.0.1"})),
            "10.0.0.1 port 18600 is already registered as a rail of a\n  endpoints must not share addresses");
  EXPECT_EQ(add("10.9.0.2", host("b", {"10.0.0.2", "10.1.0.2"})),
            "b has 2 rail(s), and the mesh has 1\n  give each endpoint as many with --rail; nothing between two commas "
            "is no NIC on that rail");
  EXPECT_EQ(roster_.size(), 1u);
  // What was refused has taken nothing.
  EXPECT_EQ(add("10.9.0.2", host("b", {"10.0.0.2"})), "added");
  EXPECT_EQ(add("10.9.0.2", host("c", {"10.0.0.3"}, 4711)), "added") << "a second server of one machine";
  EXPECT_EQ(add("10.9.0.4", host("d", {"10.0.0.4"})),
            "the mesh already has its 3 endpoints\n  `railbed perf mesh --wait` sets the number of endpoints");
}

// A server that was killed and started again, before its old connection was seen to end.
TEST_F(RosterTest, TheSameServerTakesItsOwnPlace) {
  EXPECT_EQ(add("10.9.0.1", host("a", {"10.0.0.1"})), "added");
  EXPECT_EQ(add("10.9.0.1", host("a", {"10.0.0.7", "10.1.0.7"})), "instead of 1");
  EXPECT_EQ(add("10.9.0.2", host("b", {"10.0.0.1", "10.1.0.1"})), "added") << "the old address is free";
  roster_.remove(1);  // the old connection, at last
  EXPECT_EQ(roster_.size(), 2u);
  EXPECT_EQ(add("10.9.0.1", host("a", {"10.0.0.1", ""})),
            "10.0.0.1 port 18600 is already registered as a rail of b\n  endpoints must not share addresses");
  EXPECT_EQ(add("10.9.0.3", host("c", {"10.0.0.3", "10.0.0.3"})),
            "c has 10.0.0.3 on two rails\n  rails must not share addresses");
  roster_.remove(2);
  EXPECT_EQ(roster_.size(), 1u);
  EXPECT_EQ(add("10.9.0.9", host("a", {"10.0.0.7", "10.1.0.7"})), "added") << "who has gone leaves nothing behind";
}

}  // namespace
}  // namespace railbed::perf::mesh

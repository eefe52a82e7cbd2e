// SPDX-License-Identifier: Apache-2.0
#include "facts/ports.h"

#include <gtest/gtest.h>

namespace railbed::facts {
namespace {

std::string pairs(const Nic& nic) {
  std::string text;
  for (const CardPort& port : ports_of(nic))
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ",
                        port.rdma != nullptr ? fmt::format("{}/{}", port.device->name, port.rdma->number) : "-",
                        port.netdev != nullptr ? port.netdev->name : "-");
  return text;
}

RdmaPort port(int number, LinkType type, std::string netdev = "") {
  return {.number = number, .link_type = type, .netdev = std::move(netdev)};
}
NetInterface ethernet(std::string name) {
  return {.name = std::move(name), .mac = MacAddress{}};
}
NetInterface ipoib(std::string name) {
  return {.name = std::move(name), .ipoib = IpoibAddress{}};
}

TEST(Ports, AreThoseThatTheRdmaPortNames) {
  EXPECT_EQ(pairs({.netdevs = {ethernet("b"), ethernet("a")},
                   .rdma = {{.name = "mlx5_0", .ports = {port(1, LinkType::kEthernet, "a")}},
                            {.name = "mlx5_1", .ports = {port(1, LinkType::kEthernet, "b")}}}}),
            "mlx5_0/1:a mlx5_1/1:b");
}

TEST(Ports, OfFactsThatNameThemInTheGidsOnly) {
  RdmaPort named = port(2, LinkType::kEthernet);
  named.gids.push_back({.index = 0, .gid = {}, .type = "RoCE v2", .netdev = "eth2"});
  EXPECT_EQ(pairs({.netdevs = {ethernet("eth2")},
                   .rdma = {{.name = "mlx4_0", .ports = {port(1, LinkType::kInfiniband), named}}}}),
            "mlx4_0/1:- mlx4_0/2:eth2");
}

TEST(Ports, TakeOnlyAnInterfaceOfTheirKind) {
  EXPECT_EQ(
      pairs({.netdevs = {ethernet("eth2"), ipoib("ib0")},
             .rdma = {{.name = "mlx4_0", .ports = {port(1, LinkType::kInfiniband), port(2, LinkType::kEthernet)}}}}),
      "mlx4_0/1:ib0 mlx4_0/2:eth2");
  EXPECT_EQ(
      pairs({.netdevs = {ethernet("eth2")}, .rdma = {{.name = "mlx4_0", .ports = {port(1, LinkType::kInfiniband)}}}}),
      "mlx4_0/1:- -:eth2");
}

TEST(Ports, SoftDevicesComeAfterTheHardware) {
  EXPECT_EQ(pairs({.netdevs = {ethernet("eth0")},
                   .rdma = {{.name = "rxe0", .soft = true, .ports = {port(1, LinkType::kEthernet)}}}}),
            "rxe0/1:eth0");
  EXPECT_EQ(pairs({.netdevs = {ethernet("eth0")},
                   .rdma = {{.name = "mlx5_0", .ports = {port(1, LinkType::kEthernet)}},
                            {.name = "rxe0", .soft = true, .ports = {port(1, LinkType::kEthernet, "eth0")}}}}),
            "mlx5_0/1:eth0 rxe0/1:eth0");
}

TEST(Ports, AreNeverNone) {
  EXPECT_EQ(pairs({}), "-:-");
  EXPECT_EQ(pairs({.rdma = {{.name = "mlx5_0"}}}), "-:-");
}

}  // namespace
}  // namespace railbed::facts

// SPDX-License-Identifier: Apache-2.0
#include "attach/host.h"

#include <gtest/gtest.h>

#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

TEST(Host, RemembersWhatItListedUntilItForgets) {
  os::FakeMachine machine = os::FakeMachine::lab();
  machine.other_links = {"eth9"};
  os::FakeKernel kernel(machine);
  Host host(kernel, kernel.clock().now() + std::chrono::seconds(5));
  const os::Link* link = host.by_name("eth9").value();
  ASSERT_NE(link, nullptr);
  const IfIndex index = link->index;
  const int mtu = link->mtu;
  const size_t addresses = (*host.addresses())->size();
  const size_t routes = (*host.routes())->size();

  const auto links = kernel.links().value();
  ASSERT_TRUE(links->change(index, {.mtu = 1400, .up = true}).has_value());
  ASSERT_TRUE(links->add_address({index, *IpPrefix::parse("10.9.0.1/24")}).has_value());
  ASSERT_TRUE(links->add_route({.destination = *IpPrefix::parse("10.8.0.0/16"), .link = index}).has_value());
  EXPECT_EQ(host.by_index(index).value()->mtu, mtu);
  EXPECT_EQ((*host.addresses())->size(), addresses);
  EXPECT_EQ((*host.routes())->size(), routes);

  host.forget();
  EXPECT_EQ(host.by_index(index).value()->mtu, 1400);
  EXPECT_EQ((*host.addresses())->size(), addresses + 1);
  EXPECT_GT((*host.routes())->size(), routes);
}

}  // namespace
}  // namespace railbed::attach

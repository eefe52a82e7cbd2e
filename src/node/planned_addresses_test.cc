// SPDX-License-Identifier: Apache-2.0
#include "node/planned_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/load.h"

namespace railbed::node {
namespace {

using testing::ElementsAre;

constexpr const char* kManifests = R"(
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: everywhere, namespace: ns }
spec: { config: '{"type":"macvlan","ipam":{"type":"whereabouts","range":"10.1.0.0/24"}}' }
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: here, namespace: ns }
spec: { config: '{"type":"macvlan","ipam":{"type":"host-local","subnet":"10.2.0.0/24"}}' }
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: fixed, namespace: ns }
spec: { config: '{"type":"macvlan","ipam":{"type":"static","addresses":[{"address":"10.3.0.1/24"}]}}' }
---
apiVersion: v1
kind: Pod
metadata:
  { name: a, namespace: ns, annotations: { k8s.v1.cni.cncf.io/networks: "everywhere, here, fixed, missing" } }
spec: { nodeName: node1, containers: [] }
---
apiVersion: v1
kind: Pod
metadata: { name: b, namespace: ns, annotations: { k8s.v1.cni.cncf.io/networks: everywhere } }
spec: { nodeName: node2, containers: [] }
)";

class PlannedAddressesTest : public testing::Test {
 protected:
  PlannedAddressesTest() {
    doc::Diagnostics diagnostics;
    objects_ = api::load({std::make_shared<doc::Source>(doc::Source{"m.yaml", kManifests})}, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << doc::render(diagnostics);
    catalog_ = graph::index(objects_, {}, diagnostics);
  }

  // "ns/a net1 10.1.0.1/24"
  std::vector<std::string> planned(PlannedTypes types) {
    std::vector<std::string> lines;
    plan_ = planned_addresses(address_claims(catalog_, types), leases_);
    for (const auto& [owner, assigned] : plan_)
      lines.push_back(fmt::format("{} {} {}", owner.pod, owner.interface,
                                  assigned ? assigned->front().address.to_string() : assigned.error().story()));
    return lines;
  }
  std::vector<std::string> missing() {
    std::vector<std::string> lines;
    for (const state::AddressLease& one : missing_leases(plan_, leases_))
      lines.push_back(fmt::format("{} {} {}", one.pod, one.interface, one.address));
    return lines;
  }

  api::Objects objects_;
  graph::Catalog catalog_;
  std::vector<state::AddressLease> leases_;
  PlannedAddresses plan_;
};

TEST_F(PlannedAddressesTest, CoversThePodsOfAllNodes) {
  EXPECT_THAT(planned(PlannedTypes::kAll), ElementsAre("ns/a net1 10.1.0.1/24", "ns/a net2 10.2.0.2/24",
                                                       "ns/a net3 10.3.0.1/24", "ns/b net1 10.1.0.2/24"));
  // Static addresses have no pool: nothing could be leased.
  EXPECT_THAT(missing(), ElementsAre("ns/a net1 10.1.0.1", "ns/a net2 10.2.0.2", "ns/b net1 10.1.0.2"));
}

TEST_F(PlannedAddressesTest, LeavesTypesOfOneMachineToWhoAttaches) {
  EXPECT_THAT(planned(PlannedTypes::kSameOnAllMachines),
              ElementsAre("ns/a net1 10.1.0.1/24", "ns/a net3 10.3.0.1/24", "ns/b net1 10.1.0.2/24"));
  EXPECT_THAT(missing(), ElementsAre("ns/a net1 10.1.0.1", "ns/b net1 10.1.0.2"));
}

TEST_F(PlannedAddressesTest, ASandboxHoldsItsPodsAddress) {
  const std::string pool = ipam::pool_of(address_claims(catalog_, PlannedTypes::kAll).front().config, "ns/everywhere");
  leases_ = {{pool, *IpAddress::parse("10.1.0.1"), "ns/b@container", "net1"},
             {pool, *IpAddress::parse("10.1.0.2"), "ns/gone", "net1"}};
  EXPECT_THAT(planned(PlannedTypes::kSameOnAllMachines),
              ElementsAre("ns/a net1 10.1.0.3/24", "ns/a net3 10.3.0.1/24", "ns/b net1 10.1.0.1/24"));
  EXPECT_THAT(missing(), ElementsAre("ns/a net1 10.1.0.3"));
}

}  // namespace
}  // namespace railbed::node

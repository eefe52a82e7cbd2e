// SPDX-License-Identifier: Apache-2.0
#include "graph/link_type.h"

#include <gtest/gtest.h>

#include "graph/examples.h"

namespace railbed::graph {
namespace {

using api::WantedLinkType;
using facts::LinkType;

TEST(LinkType, TheStrongestSourceThatSaysSomethingDecides) {
  struct EvidenceCase {
    LinkEvidence evidence;
    LinkSource source;
    bool ethernet, infiniband;
  };
  const LinkEvidence all{.facts = {LinkType::kInfiniband},
                         .policies = {WantedLinkType::kEthernet},
                         .plugin_types = {"ether"},
                         .port_names = {"eth0"}};
  const EvidenceCase cases[] = {
      {all, LinkSource::kFacts, false, true},
      {{.facts = {LinkType::kUnknown}, .policies = {WantedLinkType::kEthernet}}, LinkSource::kPolicy, true, false},
      {{.policies = {WantedLinkType::kAny}, .plugin_types = {"infiniband"}}, LinkSource::kDevicePlugin, false, true},
      {{.plugin_types = {"fibre"}, .port_names = {"ibp60s0#0-3"}}, LinkSource::kNames, false, true},
      {{.port_names = {"p0", "ens1f0np0"}}, LinkSource::kNames, true, false},
      {{.facts = {LinkType::kInfiniband, LinkType::kEthernet}}, LinkSource::kFacts, true, true},
      {{.port_names = {"p0"}}, LinkSource::kNone, false, false},
      {{}, LinkSource::kNone, false, false},
  };
  for (const EvidenceCase& one : cases) {
    const ResourceLink link = link_of(one.evidence);
    EXPECT_EQ(link.source, one.source);
    EXPECT_EQ(link.ethernet, one.ethernet);
    EXPECT_EQ(link.infiniband, one.infiniband);
  }
}

TEST(LinkType, ANetworkConflictsOnlyWhereAllPortsAreOfTheOtherType) {
  const ResourceLink ib{.source = LinkSource::kFacts, .infiniband = true};
  const ResourceLink eth{.source = LinkSource::kFacts, .ethernet = true};
  const ResourceLink both{.source = LinkSource::kFacts, .ethernet = true, .infiniband = true};
  EXPECT_EQ(link_conflict("sriov", ib), LinkConflict::kEthernetNetwork);
  EXPECT_EQ(link_conflict("ib-sriov", eth), LinkConflict::kInfinibandNetwork);
  for (const char* type : {"sriov", "ib-sriov", "macvlan"}) {
    EXPECT_EQ(link_conflict(type, both), LinkConflict::kNone) << type;
    EXPECT_EQ(link_conflict(type, {}), LinkConflict::kNone) << type;
  }
  const ResourceLink demanded{.source = LinkSource::kPolicy, .ethernet = true, .infiniband = true};
  EXPECT_EQ(link_conflict("sriov", demanded), LinkConflict::kEthernetNetwork);
  EXPECT_EQ(link_conflict("ib-sriov", demanded), LinkConflict::kInfinibandNetwork);
  EXPECT_EQ(link_conflict("sriov", eth), LinkConflict::kNone);
  EXPECT_EQ(link_conflict("macvlan", ib), LinkConflict::kNone);
}

std::vector<LinkType> found(const api::SriovNetworkNodePolicy& policy, std::vector<facts::Nic> nics) {
  api::Objects objects;
  objects.policies.push_back(policy);
  doc::Diagnostics diagnostics;
  const Catalog catalog = index(objects, {}, diagnostics);
  const facts::NodeFacts facts = examples::node("n1", std::move(nics));
  const Graph graph = resolve(catalog, facts, diagnostics);
  return links_found(graph, "openshift.io/rail0");
}

TEST(LinkType, OfARefusedPolicyThePortsThatItSelectsCount) {
  auto policy = examples::policy("rail0", 4, {examples::pf("ib0")});
  const std::vector<facts::Nic> nics = {examples::infiniband("ib0", 1), examples::nic("eth0", 2)};
  EXPECT_EQ(found(policy, nics), std::vector{LinkType::kInfiniband});
  policy.mtu = api::given(9000);  // refused on InfiniBand
  EXPECT_EQ(found(policy, nics), std::vector{LinkType::kInfiniband});
  policy.link_type = api::given(WantedLinkType::kEthernet);  // it changes the port, or is refused for that
  EXPECT_TRUE(found(policy, nics).empty());
  policy.nic_selector.pf_names = {api::given(examples::pf("eth9"))};
  EXPECT_TRUE(found(policy, nics).empty());
}

}  // namespace
}  // namespace railbed::graph

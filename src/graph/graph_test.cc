// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "graph/examples.h"

namespace railbed::graph {
namespace {

using namespace examples;
using testing::ElementsAre;
using testing::IsEmpty;
using State = PolicyOutcome::State;

// Objects, one node and everything that was found, together.
struct Case {
  api::Objects objects;
  facts::NodeFacts facts;
  Options options;
  doc::Diagnostics diagnostics;
  Catalog catalog;
  Graph graph;

  Case(std::vector<api::SriovNetworkNodePolicy> policies, std::vector<facts::Nic> nics, Options with = {})
      : facts(node("n1", std::move(nics))), options(std::move(with)) {
    objects.policies = std::move(policies);
    resolve_now();
  }
  void resolve_now() {
    diagnostics = {};
    catalog = index(objects, options, diagnostics);
    graph = resolve(catalog, facts, diagnostics);
    std::vector<Graph> graphs{graph};
    check_across(graphs, diagnostics);
  }
  // "eth0: 4 VFs, a 0-1, b 2-3"
  std::vector<std::string> pfs() const {
    std::vector<std::string> lines;
    for (const PfWanted& wanted : graph.pfs) {
      std::string line = fmt::format("{}: {} VFs", wanted.name, wanted.num_vfs);
      if (wanted.mtu > 0) line += fmt::format(", MTU {}", wanted.mtu);
      if (wanted.eswitch_mode == EswitchMode::kSwitchdev) line += ", switchdev";
      for (const VfGroup& group : wanted.groups) line += fmt::format("; {} {}", group.from->name, to_string(group.vfs));
      lines.push_back(line);
    }
    return lines;
  }
  PolicyOutcome outcome(std::string_view name) const {
    for (const PolicyOutcome& one : graph.outcomes)
      if (one.policy == fmt::format("op/{}", name)) return one;
    return {.policy = "none of that name"};
  }
  std::vector<std::string> findings() const {
    std::vector<std::string> lines;
    for (const doc::Diagnostic& one : diagnostics.all())
      lines.push_back(fmt::format("{} {}: {}", severity_name(one.severity), one.id, one.message));
    return lines;
  }
};

TEST(Selector, AndAcrossFieldsOrInsideLists) {
  struct Row {
    const char* what;
    api::NicSelector selector;
    std::vector<std::string> matched;
  };
  auto selector = [](std::string vendor, std::string device, std::vector<std::string> roots,
                     std::vector<std::string> names) {
    api::NicSelector made;
    if (!vendor.empty()) made.vendor = api::given(vendor);
    if (!device.empty()) made.device_id = api::given(device);
    for (const auto& root : roots) made.root_devices.push_back(api::given(pci(root)));
    for (const auto& name : names) made.pf_names.push_back(api::given(pf(name)));
    return made;
  };
  const std::vector<Row> rows{
      {"vendor", selector("8086", "", {}, {}), {"eth0", "eth1"}},
      {"vendor and device", selector("8086", "10c9", {}, {}), {"eth0"}},
      {"device of another vendor", selector("8086", "1021", {}, {}), {}},
      {"two addresses", selector("", "", {"0000:01:00.0", "0000:03:00.0"}, {}), {"eth0", "ib0"}},
      {"address and other vendor", selector("15b3", "", {"0000:01:00.0"}, {}), {}},
      {"name", selector("", "", {}, {"eth1"}), {"eth1"}},
      {"names, one unknown", selector("", "", {}, {"eth1", "eth9"}), {"eth1"}},
      {"altname", selector("", "", {}, {"enp1s0"}), {"eth0"}},
      {"name and address of different NICs", selector("", "", {"0000:02:00.0"}, {"eth0"}), {}},
      {"empty", selector("", "", {}, {}), {}},
  };
  facts::Nic first = nic("eth0", 1);
  first.netdevs.front().alt_names = {"enp1s0"};
  facts::Nic second = nic("eth1", 2, 8, "8086", "1572");
  for (const Row& row : rows) {
    auto wish = policy("a", 2, {});
    wish.nic_selector = row.selector;
    Case made({wish}, {first, second, infiniband("ib0", 3)});
    std::vector<std::string> names;
    for (const PfWanted& wanted : made.graph.pfs) names.push_back(wanted.name);
    EXPECT_EQ(names, row.matched) << row.what;
  }
}

TEST(Selector, ARangeOnAnAltnameCounts) {
  facts::Nic one = nic("eth0", 1);
  one.netdevs.front().alt_names = {"enp1s0"};
  Case made({policy("a", 8, {pf("enp1s0", 2, 5)})}, {one});
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 8 VFs; a 2-5"));
}

TEST(Selector, SeveralRangesOfOnePfInOnePolicyAreJoined) {
  Case made({policy("a", 8, {pf("eth0", 0, 1), pf("eth0", 4, 5), pf("eth0", 2, 2)})}, {nic("eth0", 1)});
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 8 VFs; a 0-2, 4-5"));
}

TEST(NodeSelector, EveryLabelMustBeThere) {
  auto wish = policy("a", 2, {pf("eth0")});
  wish.node_selector = {{"zone", "a"}, {"kubernetes.io/hostname", "n1"}};
  Case made({wish}, {nic("eth0", 1)});
  EXPECT_EQ(made.outcome("a").state, State::kOtherNode);
  EXPECT_EQ(made.outcome("a").detail, "the node has no label zone");
  EXPECT_THAT(made.findings(), ElementsAre("warning RB-POLICY-010: policy op/a does not select node n1: "
                                           "the node has no label zone"));

  api::Node object;
  object.meta = meta("n1", "");
  object.meta.labels = {{"zone", "b"}};
  made.objects.nodes = {object};
  made.resolve_now();
  EXPECT_EQ(made.outcome("a").detail, "label zone is \"b\" here, not \"a\"");

  made.objects.nodes.front().meta.labels["zone"] = "a";
  made.resolve_now();
  EXPECT_EQ(made.outcome("a").state, State::kApplied);
  EXPECT_THAT(made.outcome("a").pfs, ElementsAre("eth0 (0000:01:00.0)"));
  EXPECT_THAT(made.findings(), IsEmpty());
}

TEST(NoMatch, SaysWhichFieldLeftNothing) {
  struct Row {
    std::string vendor, device, root, name, detail;
  };
  const std::vector<Row> rows{
      {"14e4", "", "", "", "no NIC has vendor 14e4; here are: 15b3 (2 NICs), 8086"},
      {"15b3", "101b", "", "", "no NIC has deviceID 101b; here are: 15b3:1021 (2 NICs)"},
      {"15b3", "1021", "0000:09:00.0", "",
       "no NIC is at 0000:09:00.0 (rootDevices); here are: 0000:02:00.0, 0000:03:00.0"},
      {"15b3", "", "", "ib5", "no NIC is called ib5 (pfNames); here are: ib0, ib1; did you mean ib0?"},
  };
  for (const Row& row : rows) {
    auto wish = policy("a", 2, {});
    if (!row.vendor.empty()) wish.nic_selector.vendor = api::given(row.vendor);
    if (!row.device.empty()) wish.nic_selector.device_id = api::given(row.device);
    if (!row.root.empty()) wish.nic_selector.root_devices.push_back(api::given(pci(row.root)));
    if (!row.name.empty()) wish.nic_selector.pf_names.push_back(api::given(pf(row.name)));
    Case made({wish}, {nic("eth0", 1), infiniband("ib0", 2), infiniband("ib1", 3)});
    EXPECT_EQ(made.outcome("a").state, State::kNoMatch);
    EXPECT_EQ(made.outcome("a").detail, row.detail);
    EXPECT_THAT(made.findings(),
                ElementsAre("warning RB-POLICY-009: policy op/a matches no NIC of node n1: " + row.detail));
  }
}

TEST(NoMatch, ANicWithoutSriovIsNamed) {
  Case made({policy("a", 2, {pf("eth0")})}, {nic("eth0", 1, 0)});
  EXPECT_EQ(made.outcome("a").detail,
            "eth0 (0000:01:00.0) has no SR-IOV (sriov_totalvfs is absent or 0): switch it on in firmware and BIOS");
}

TEST(Merge, TheRulesOfPriority) {
  struct Row {
    const char* what;
    std::vector<api::SriovNetworkNodePolicy> policies;
    std::vector<std::string> pfs;
    std::map<std::string, State> states;
  };
  auto p = [](std::string name, int vfs, int priority, api::PfName on, int mtu = 0) {
    auto made = policy(std::move(name), vfs, {std::move(on)}, priority);
    if (mtu > 0) made.mtu = api::given(mtu);
    return made;
  };
  auto same_resource = p("b", 8, 20, pf("eth0", 4, 7));
  same_resource.resource_name = api::given(std::string("a"));
  const std::vector<Row> rows{
      {"the lower number wins, whatever the order in the file",
       {p("a", 2, 0, pf("eth0")), p("b", 4, 10, pf("eth0"))},
       {"eth0: 2 VFs; a 0-1"},
       {{"a", State::kApplied}, {"b", State::kShadowed}}},
      {"a higher number that overlaps gives nothing, not even its MTU",
       {p("a", 2, 5, pf("eth0"), 1500), p("b", 8, 10, pf("eth0", 1, 7), 9000)},
       {"eth0: 2 VFs, MTU 1500; a 0-1"},
       {{"a", State::kApplied}, {"b", State::kShadowed}}},
      {"disjoint ranges survive, with the largest numVfs and MTU",
       {p("a", 4, 5, pf("eth0", 0, 3)), p("b", 8, 10, pf("eth0", 4, 7), 9000)},
       {"eth0: 8 VFs, MTU 9000; a 0-3; b 4-7"},
       {{"a", State::kApplied}, {"b", State::kApplied}}},
      {"disjoint ranges of one resource survive too",
       {p("a", 8, 10, pf("eth0", 0, 3)), same_resource},
       {"eth0: 8 VFs; a 0-3; b 4-7"},
       {{"a", State::kApplied}, {"b", State::kApplied}}},
      {"equal priorities: the later name wins the VFs, numVfs and MTU are the largest",
       {p("a", 8, 10, pf("eth0"), 9000), p("b", 4, 10, pf("eth0"), 1500)},
       {"eth0: 8 VFs, MTU 9000; b 0-3"},
       {{"a", State::kShadowed}, {"b", State::kApplied}}},
      {"equality counts per PF, not along the list",
       {p("a", 8, 20, pf("eth0")), p("b", 2, 10, pf("eth1")), p("c", 4, 10, pf("eth0"))},
       {"eth0: 4 VFs; c 0-3", "eth1: 2 VFs; b 0-1"},
       {{"a", State::kShadowed}, {"b", State::kApplied}, {"c", State::kApplied}}},
      {"three partitions",
       {p("c", 6, 3, pf("eth0", 4, 5)), p("a", 6, 1, pf("eth0", 0, 1)), p("b", 6, 2, pf("eth0", 2, 3))},
       {"eth0: 6 VFs; a 0-1; b 2-3; c 4-5"},
       {{"a", State::kApplied}, {"b", State::kApplied}, {"c", State::kApplied}}},
      {"an unranged policy of higher number loses all of the PF",
       {p("a", 8, 1, pf("eth0", 6, 7)), p("b", 8, 2, pf("eth0"))},
       {"eth0: 8 VFs; a 6-7"},
       {{"a", State::kApplied}, {"b", State::kShadowed}}},
  };
  for (const Row& row : rows) {
    Case made(row.policies, {nic("eth0", 1), nic("eth1", 2)});
    EXPECT_EQ(made.pfs(), row.pfs) << row.what;
    for (const auto& [name, state] : row.states)
      EXPECT_EQ(outcome_name(made.outcome(name).state), outcome_name(state)) << row.what << ": " << name;
  }
}

TEST(Merge, SaysByWhomAPolicyIsShadowed) {
  Case made({policy("a", 2, {pf("eth0")}, 0), policy("b", 4, {pf("eth0"), pf("eth1")}, 10)},
            {nic("eth0", 1), nic("eth1", 2)});
  EXPECT_EQ(made.outcome("b").state, State::kPartly);
  EXPECT_THAT(made.outcome("b").shadowed_by, ElementsAre("op/a on eth0"));
  EXPECT_THAT(made.outcome("b").pfs, ElementsAre("eth1 (0000:02:00.0)"));
  EXPECT_THAT(made.findings(), IsEmpty()) << "partly is no warning";

  made.objects.policies[1].nic_selector.pf_names.pop_back();
  made.resolve_now();
  EXPECT_THAT(made.findings(),
              ElementsAre("warning RB-POLICY-011: policy op/b has no effect: op/a on eth0 took its VFs"));
}

TEST(Merge, AConflictOfPartitionsIsReported) {
  auto one = policy("a", 8, {pf("eth0", 0, 3)}, 1);
  auto two = policy("b", 8, {pf("eth0", 4, 7)}, 2);
  two.eswitch_mode = api::given(EswitchMode::kSwitchdev);
  facts::Nic with_eswitch = nic("eth0", 1);
  with_eswitch.eswitch_mode = EswitchMode::kLegacy;
  Case made({one, two}, {with_eswitch});
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 8 VFs; a 0-3; b 4-7"));
  EXPECT_THAT(made.findings(),
              ElementsAre("warning RB-POLICY-012: policies op/b and op/a conflict about eSwitchMode of eth0 "
                          "(0000:01:00.0); op/a takes effect"));
}

TEST(Catalog, WhatIsWrongOnEveryNode) {
  struct Row {
    const char* what;
    api::SriovNetworkNodePolicy policy;
    State state;
    std::string finding;
  };
  auto named_default = policy("default", 2, {pf("eth0")});
  auto none = policy("a", 0, {pf("eth0")});
  auto net_filter = policy("a", 2, {});
  net_filter.nic_selector.net_filter = api::given(std::string("openstack/NetworkID:1"));
  auto rdma_vfio = policy("a", 2, {pf("eth0")});
  rdma_vfio.device_type = api::given(api::DeviceType::kVfioPci);
  rdma_vfio.is_rdma = api::given(true);
  auto vdpa = policy("a", 2, {pf("eth0")});
  vdpa.vdpa_type = api::given(std::string("vhost"));
  const std::vector<Row> rows{
      {"named default", named_default, State::kIgnored,
       "note RB-POLICY-001: policy default is ignored: the name \"default\" is reserved by the operator, which never "
       "applies such a policy"},
      {"numVfs 0", none, State::kIgnored,
       "warning RB-POLICY-002: numVfs is 0: the operator skips such a policy and leaves the VFs unchanged"},
      {"empty selector", policy("a", 2, {}), State::kRefused,
       "error RB-POLICY-003: an empty nicSelector matches nothing"},
      {"netFilter", net_filter, State::kRefused,
       "error RB-POLICY-004: netFilter is for virtual machines whose NICs are VFs already; standalone railbed has "
       "no metadata service to ask"},
      {"vfio and RDMA", rdma_vfio, State::kRefused,
       "error RB-POLICY-005: isRdma requires the kernel's driver, which deviceType vfio-pci replaces"},
      {"range too high", policy("a", 4, {pf("eth0", 2, 4)}), State::kRefused,
       "error RB-POLICY-006: VFs 2-4 of eth0 are not within numVfs 4: VFs count from 0"},
      {"range backwards", policy("a", 8, {pf("eth0", 5, 2)}), State::kRefused,
       "error RB-POLICY-006: VFs 5-2 of eth0 are not within numVfs 8: VFs count from 0"},
      {"vdpa", vdpa, State::kRefused, "error RB-POLICY-007: vdpaType is not supported by this version"},
  };
  for (const Row& row : rows) {
    Case made({row.policy, policy("fine", 2, {pf("eth1")})}, {nic("eth0", 1), nic("eth1", 2)});
    EXPECT_EQ(made.outcome(*row.policy.meta.name).state, row.state) << row.what;
    EXPECT_EQ(made.outcome("fine").state, State::kApplied) << row.what;
    EXPECT_THAT(made.findings(), ElementsAre(row.finding)) << row.what;
  }
}

TEST(Catalog, ALaterDefinitionReplacesAnEarlierOne) {
  Case made({policy("a", 2, {pf("eth0")}), policy("a", 4, {pf("eth0")})}, {nic("eth0", 1)});
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 4 VFs; a 0-3"));
  EXPECT_THAT(made.findings(), ElementsAre("warning RB-OBJECT-001: policy op/a is defined twice; this one counts"));
}

TEST(Objection, RefusesOnThisPfOnlyAndSaysWhy) {
  struct Row {
    const char* what;
    api::SriovNetworkNodePolicy policy;
    facts::Nic nic;
    std::string finding;
    std::string needs_reboot;
  };
  auto with_link = [](api::WantedLinkType type) {
    auto made = policy("a", 2, {pf("bad"), pf("good")});
    made.link_type = api::given(type);
    return made;
  };
  auto vfio = policy("a", 2, {pf("bad")});
  vfio.device_type = api::given(api::DeviceType::kVfioPci);
  auto switchdev = policy("a", 2, {pf("bad")});
  switchdev.eswitch_mode = api::given(EswitchMode::kSwitchdev);
  auto jumbo = policy("a", 2, {pf("bad")});
  jumbo.mtu = api::given(9000);
  jumbo.is_rdma = api::given(true);
  facts::Nic second_port = nic("bad", 1, 8, "15b3", "1021");
  second_port.pci.address.function = 1;
  const std::vector<Row> rows{
      {"more VFs than there can be", policy("a", 9, {pf("bad")}), nic("bad", 1, 7),
       "error RB-VF-002: policy op/a asks for 9 VFs, bad (0000:01:00.0) of node n1 allows 7 (sriov_totalvfs)", ""},
      {"IB wanted, Ethernet there, NVIDIA", with_link(api::WantedLinkType::kInfiniband), second_port,
       "error RB-PF-002: linkType is IB, bad (0000:01:00.1) of node n1 is Ethernet", "LINK_TYPE_P2=IB"},
      {"Ethernet wanted, IB there", with_link(api::WantedLinkType::kEthernet), infiniband("bad", 1),
       "error RB-PF-002: linkType is ETH, bad (0000:01:00.0) of node n1 is InfiniBand", "LINK_TYPE_P1=ETH"},
      {"IB wanted of an Intel NIC", with_link(api::WantedLinkType::kInfiniband), nic("bad", 1),
       "error RB-PF-002: linkType is IB, bad (0000:01:00.0) of node n1 is Ethernet", ""},
      {"switchdev without eswitch", switchdev, nic("bad", 1),
       "error RB-PF-005: eSwitchMode switchdev: bad (0000:01:00.0) of node n1 has no eswitch (devlink reports no mode)",
       ""},
      {"MTU 9000 on InfiniBand", jumbo, infiniband("bad", 1),
       "error RB-PF-003: mtu 9000: bad (0000:01:00.0) of node n1 is InfiniBand, where interfaces take at most 4092 "
       "(a 4096-byte packet less 4)",
       ""},
  };
  for (const Row& row : rows) {
    Case made({row.policy, policy("fine", 2, {pf("other")})}, {row.nic, nic("other", 5)});
    EXPECT_THAT(made.findings(), ElementsAre(row.finding)) << row.what;
    EXPECT_THAT(made.pfs(), ElementsAre("other: 2 VFs; fine 0-1")) << row.what;
    EXPECT_EQ(made.outcome("a").state, State::kRefused) << row.what;
    ASSERT_EQ(made.graph.refusals.size(), 1U) << row.what;
    EXPECT_EQ(made.graph.refusals.front().needs_reboot, row.needs_reboot) << row.what;
  }
}

TEST(Objection, VfioNeedsAnIommu) {
  auto wish = policy("a", 2, {pf("eth0")});
  wish.device_type = api::given(api::DeviceType::kVfioPci);
  Case made({wish}, {nic("eth0", 1)});
  EXPECT_EQ(made.outcome("a").state, State::kApplied);
  made.facts.iommu = false;
  made.resolve_now();
  EXPECT_EQ(made.outcome("a").state, State::kRefused);
  EXPECT_EQ(made.graph.refusals.front().needs_reboot, "intel_iommu=on iommu=pt");
  EXPECT_THAT(made.findings(), ElementsAre("error RB-PF-004: deviceType vfio-pci requires an IOMMU, but node n1 has "
                                           "none enabled"));
}

TEST(Objection, ARefusedPartitionLeavesTheOthersAndStillShadows) {
  Case made({policy("big", 9, {pf("eth0", 4, 8)}, 1), policy("small", 4, {pf("eth0", 0, 3)}, 2),
             policy("lower", 6, {pf("eth0", 4, 5)}, 3)},
            {nic("eth0", 1, 7)});
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 6 VFs; small 0-3"));
  EXPECT_EQ(made.outcome("big").state, State::kRefused);
  EXPECT_EQ(made.outcome("lower").state, State::kShadowed) << "a refused policy does not let others in";
  // The six VFs come from `lower`: the operator, too, takes the largest numVfs of all policies since `small`, the last
  // one that got VFs.
}

TEST(HostUse, WhatCounts) {
  struct Row {
    const char* what;
    void (*set)(facts::NetInterface&);
    std::string use;
  };
  const std::vector<Row> rows{
      {"nothing", [](facts::NetInterface&) {}, ""},
      {"IPv6 link-local", [](facts::NetInterface& n) { n.addresses = {IpPrefix::parse("fe80::1/64").value()}; }, ""},
      {"address", [](facts::NetInterface& n) { n.addresses = {IpPrefix::parse("10.0.0.5/24").value()}; },
       "address 10.0.0.5/24"},
      {"IPv6 address", [](facts::NetInterface& n) { n.addresses = {IpPrefix::parse("fd00::1/64").value()}; },
       "address fd00::1/64"},
      {"default route", [](facts::NetInterface& n) { n.has_default_route = true; }, "default route"},
      {"bond", [](facts::NetInterface& n) { n.master = "bond0"; }, "port of bond0"},
  };
  for (const Row& row : rows) {
    facts::Nic used = nic("eth0", 1);
    row.set(used.netdevs.front());
    Case made({policy("a", 2, {pf("eth0")})}, {used, nic("eth1", 2)});
    if (row.use.empty()) {
      EXPECT_THAT(made.findings(), IsEmpty()) << row.what;
      continue;
    }
    EXPECT_THAT(made.findings(), ElementsAre(fmt::format("error RB-PF-001: eth0 (0000:01:00.0) of node n1 is in use by "
                                                         "the host ({}); changing it would cut that connection",
                                                         row.use)));
    EXPECT_THAT(made.pfs(), IsEmpty()) << row.what;
    EXPECT_EQ(made.outcome("a").state, State::kRefused) << row.what;
  }
}

TEST(HostUse, WhatRidesOnAPfCounts) {
  facts::NetInterface vlan{.name = "eth0.7", .kind = "vlan", .lower = "eth0"};
  facts::NetInterface macvlan{.name = "mv0", .kind = "macvlan", .lower = "eth1"};
  Case made({policy("a", 2, {pf("eth0")})}, {nic("eth0", 1), nic("eth1", 2)});
  EXPECT_THAT(made.findings(), IsEmpty());
  made.facts.virtual_netdevs = {vlan, macvlan};
  made.resolve_now();
  EXPECT_THAT(made.findings(),
              ElementsAre("error RB-PF-001: eth0 (0000:01:00.0) of node n1 is in use by the host (carries vlan "
                          "eth0.7); changing it would cut that connection"));
  EXPECT_THAT(made.pfs(), IsEmpty());
}

TEST(HostUse, IsFineWhereThePfStaysAsItIsOrThePolicySaysSo) {
  facts::Nic used = with_vfs(nic("eth0", 1), 4);
  used.netdevs.front().has_default_route = true;
  Case made({policy("a", 4, {pf("eth0")})}, {used});
  EXPECT_THAT(made.findings(), IsEmpty());
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 4 VFs; a 0-3"));

  made.objects.policies.front().num_vfs = api::given(5);
  made.resolve_now();
  EXPECT_THAT(made.pfs(), IsEmpty());

  made.objects.policies.front().meta.annotations["railbed.dev/allow-host-pf"] = api::given(doc::Value("true"));
  made.resolve_now();
  EXPECT_THAT(made.findings(), IsEmpty());
  EXPECT_THAT(made.pfs(), ElementsAre("eth0: 5 VFs; a 0-4"));
}

TEST(ExternallyManaged, MustFitWhatIsThere) {
  struct Row {
    const char* what;
    void (*change)(api::SriovNetworkNodePolicy&);
    std::string finding;
  };
  const std::vector<Row> rows{
      {"fits", [](api::SriovNetworkNodePolicy&) {}, ""},
      {"more VFs", [](api::SriovNetworkNodePolicy& p) { p.num_vfs = api::given(5); },
       "error RB-PF-006: externallyManaged: policy a wants 5 VFs, eth0 (0000:01:00.0) of node n1 has 4"},
      {"larger MTU", [](api::SriovNetworkNodePolicy& p) { p.mtu = api::given(9000); },
       "error RB-PF-006: externallyManaged: policy a wants MTU 9000, eth0 (0000:01:00.0) of node n1 has 1500"},
      {"other mode", [](api::SriovNetworkNodePolicy& p) { p.eswitch_mode = api::given(EswitchMode::kSwitchdev); },
       "error RB-PF-006: externallyManaged: policy a wants eSwitchMode switchdev, eth0 "
       "(0000:01:00.0) of node n1 is in legacy"},
  };
  for (const Row& row : rows) {
    auto wish = policy("a", 4, {pf("eth0")});
    wish.externally_managed = api::given(true);
    row.change(wish);
    facts::Nic there = with_vfs(nic("eth0", 1), 4);
    there.eswitch_mode = EswitchMode::kLegacy;
    there.netdevs.front().has_default_route = true;  // the PF is not touched, so this does not matter
    Case made({wish}, {there});
    if (row.finding.empty())
      EXPECT_THAT(made.findings(), IsEmpty()) << row.what;
    else
      EXPECT_THAT(made.findings(), ElementsAre(row.finding)) << row.what;
  }
}

TEST(Warnings, RdmaThatPodsWillMiss) {
  auto rdma = policy("a", 2, {pf("eth0")});
  rdma.is_rdma = api::given(true);
  Case made({rdma, policy("b", 2, {pf("ib0")})}, {nic("eth0", 1), infiniband("ib0", 2)});
  EXPECT_THAT(made.findings(),
              ElementsAre("warning RB-PF-101: isRdma: eth0 (0000:01:00.0) of node n1 has no RDMA device, "
                          "so its VFs will have none",
                          "warning RB-PF-102: ib0 (0000:02:00.0) of node n1 is InfiniBand and isRdma is "
                          "false: pods get no RDMA device"));
  made.options.soft_rdma = true;
  made.objects.policies.pop_back();
  made.resolve_now();
  EXPECT_THAT(made.findings(), IsEmpty());
  EXPECT_TRUE(made.graph.soft_rdma);
}

TEST(Networks, PodsFindThemOrAreReported) {
  Case made({policy("rail0", 2, {pf("eth0")})}, {nic("eth0", 1)});
  made.objects.networks = {network("net", "rail0"), network("typo", "rail1"), network("other", "rail0", "ml")};
  made.objects.pods = {pod("p", {"net", "other", "nte"}), pod("far", {"net"}, "n2")};
  made.resolve_now();
  ASSERT_EQ(made.graph.pods.size(), 1U);
  const PodOnNode& here = made.graph.pods.front();
  ASSERT_EQ(here.networks.size(), 3U);
  EXPECT_EQ(here.networks[0].interface, "net1");
  ASSERT_NE(here.networks[0].network, nullptr);
  EXPECT_EQ(here.networks[0].network->resource, "openshift.io/rail0");
  EXPECT_EQ(here.networks[1].network, nullptr);
  EXPECT_THAT(made.findings(),
              ElementsAre("warning RB-NET-001: no policy creates resource openshift.io/rail1, from which network "
                          "llm/typo takes its VFs",
                          "error RB-POD-001: pod llm/p requests network llm/other, which does not exist",
                          "error RB-POD-001: pod llm/p requests network llm/nte, which does not exist",
                          "note RB-POD-004: pod llm/far is for node n2, of which there are no facts"));
  EXPECT_EQ(made.diagnostics.all()[1].fix, "did you mean ml/other?");
  EXPECT_EQ(made.diagnostics.all()[2].fix, "did you mean llm/net?");
}

TEST(Placement, ATaintOrAnAffinityKeepsAPodOffANode) {
  Case made({policy("rail0", 2, {pf("eth0")})}, {nic("eth0", 1)});
  made.objects.networks = {network("net", "rail0")};
  made.objects.pods = {pod("p", {"net"})};
  api::Node object{.meta = meta("n1", ""), .soft_rdma = {}};
  object.taints = std::vector<api::Taint>{{.key = "dedicated", .value = "rdma", .effect = "NoSchedule"}};
  made.objects.nodes = {object};
  made.resolve_now();
  EXPECT_EQ(made.graph.pods.size(), 0U);
  EXPECT_THAT(made.findings(),
              ElementsAre("note RB-POD-004: pod llm/p is for none of these nodes: it does not tolerate the taint "
                          "dedicated=rdma:NoSchedule"));
  EXPECT_EQ(made.diagnostics.all().front().audience, doc::Audience::kOneMachine);

  made.objects.pods.front().placement.tolerations = {{.key = "dedicated", .op = "Exists"}};
  made.resolve_now();
  EXPECT_EQ(made.graph.pods.size(), 1U);
  EXPECT_THAT(made.findings(), IsEmpty());

  made.objects.pods.front().placement.affinity = {{.labels = {{.key = "gpu", .op = "Exists"}}}};
  made.resolve_now();
  EXPECT_EQ(made.graph.pods.size(), 0U);
  EXPECT_THAT(made.findings(), ElementsAre("note RB-POD-004: pod llm/p is for none of these nodes: nodeAffinity wants "
                                           "gpu Exists, and the node has no such label"));
  made.objects.nodes.front().meta.labels["gpu"] = "h100";
  made.resolve_now();
  EXPECT_EQ(made.graph.pods.size(), 1U);

  // Its own nodeName goes past the scheduler, and so past NoSchedule; a taint with NoExecute ends it anyway.
  made.objects.pods.front().placement = {};
  made.objects.pods.front().node_name = api::given(std::string("n1"));
  made.resolve_now();
  EXPECT_EQ(made.graph.pods.size(), 1U);
  made.objects.nodes.front().taints->front().effect = "NoExecute";
  made.resolve_now();
  EXPECT_EQ(made.graph.pods.size(), 0U);
}

TEST(Networks, AWrongPrefixIsRecognised) {
  Case made({policy("rail0", 2, {pf("eth0")})}, {nic("eth0", 1)});
  api::NetworkAttachmentDefinition definition;
  definition.meta = meta("net", "llm");
  definition.resource_name = api::given(std::string("nvidia.com/rail0"));
  definition.config.plugins.push_back({.type = "sriov", .config = {}});
  made.objects.attachments = {definition};
  made.resolve_now();
  EXPECT_EQ(made.diagnostics.all().front().fix, "did you mean openshift.io/rail0?");
}

TEST(Across, APolicyThatSomeNodeTakesIsFine) {
  api::Objects objects;
  objects.policies = {policy("a", 2, {pf("eth0")}), policy("b", 2, {pf("eth9")})};
  objects.pods = {pod("p", {})};
  objects.pods.front().networks.resize(1);
  objects.pods.front().networks.front().name = api::given(std::string("x"));
  doc::Diagnostics diagnostics;
  Catalog catalog = index(objects, {}, diagnostics);
  const facts::NodeFacts one = node("n1", {nic("eth0", 1)});
  const facts::NodeFacts two = node("n2", {nic("eth1", 1)});
  diagnostics = {};
  std::vector<Graph> graphs{resolve(catalog, one, diagnostics), resolve(catalog, two, diagnostics)};
  check_across(graphs, diagnostics);
  std::vector<std::string> messages;
  for (const auto& finding : diagnostics.all()) messages.push_back(finding.message);
  EXPECT_THAT(messages, ElementsAre("policy op/b matches no NIC of node n1: no NIC is called eth9 (pfNames); here "
                                    "are: eth0; did you mean eth0?",
                                    "pod llm/p names no node and is counted on n1, n2"));
}

}  // namespace
}  // namespace railbed::graph

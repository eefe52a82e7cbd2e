// SPDX-License-Identifier: Apache-2.0
#include "labels/node_labels.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/object_names.h"
#include "facts/labels.h"
#include "labels/node_keys.h"
#include "labels/test_node.h"

namespace railbed::labels {
namespace {

using facts::LinkType;
using Labels = std::map<std::string, std::string>;

std::string label_lines(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) out += fmt::format("{}={}\n", name, value);
  return out;
}

TEST(NodeLabels, OfARoceNodeThatOffersVfs) {
  const facts::NodeFacts facts =
      testing::node({testing::nic(0, LinkType::kEthernet), testing::nic(1, LinkType::kEthernet)});
  const Offered offered{{"nvidia.com/rail0", {{.pf = testing::pf(0), .rdma = true}}}};
  const NodeLabels made = node_labels(facts, offered, Measured{386.9, "2026-11-28T01:00:00Z"});
  EXPECT_EQ(label_lines(made.labels),
            "feature.node.kubernetes.io/custom-rdma.available=true\n"
            "feature.node.kubernetes.io/custom-rdma.capable=true\n"
            "feature.node.kubernetes.io/network-sriov.capable=true\n"
            "feature.node.kubernetes.io/network-sriov.configured=true\n"
            "feature.node.kubernetes.io/pci-15b3.present=true\n"
            "feature.node.kubernetes.io/rdma.available=true\n"
            "feature.node.kubernetes.io/rdma.capable=true\n"
            "network.nvidia.com/roce=true\n"
            "railbed.dev/fabric=roce\n"
            "railbed.dev/link-layer=ethernet\n"
            "railbed.dev/measured-gbps=386\n"
            "railbed.dev/rails=2\n");
  EXPECT_EQ(label_lines(made.annotations), "railbed.dev/measured-at=2026-11-28T01:00:00Z\n");
}

TEST(NodeLabels, OfAnInfinibandNodeBeforeItsFirstVfs) {
  facts::Nic port = testing::nic(0, LinkType::kInfiniband);
  port.num_vfs = 0;
  facts::NodeFacts facts = testing::node({port});
  facts.modules.clear();
  EXPECT_EQ(label_lines(node_labels(facts, {}).labels),
            "feature.node.kubernetes.io/custom-rdma.capable=true\n"
            "feature.node.kubernetes.io/network-sriov.capable=true\n"
            "feature.node.kubernetes.io/pci-15b3.present=true\n"
            "feature.node.kubernetes.io/rdma.capable=true\n"
            "railbed.dev/fabric=infiniband\n"
            "railbed.dev/link-layer=infiniband\n"
            "railbed.dev/rails=1\n");
}

TEST(NodeLabels, AMachineWithoutSuchHardwareHasNone) {
  EXPECT_EQ(node_labels(facts::NodeFacts{}, {}), NodeLabels{});
}

TEST(NodeLabels, RoceIsWhatPodsCanGetFromNvidiasNics) {
  struct Case {
    const char* what;
    LinkType link;
    const char* vendor;
    bool rdma;
    bool has_label;
  };
  for (const Case& one : {Case{"an RDMA VF", LinkType::kEthernet, "15b3", true, true},
                          Case{"a VF without RDMA", LinkType::kEthernet, "15b3", false, false},
                          Case{"InfiniBand", LinkType::kInfiniband, "15b3", true, false},
                          Case{"another vendor", LinkType::kEthernet, "8086", true, false}}) {
    const facts::NodeFacts facts = testing::node({testing::nic(0, one.link, one.vendor)});
    const Offered offered{{"x/rail0", {{.pf = testing::pf(0), .rdma = one.rdma}}}};
    EXPECT_EQ(node_labels(facts, offered).labels.contains("network.nvidia.com/roce"), one.has_label) << one.what;
    EXPECT_FALSE(node_labels(facts, {}).labels.contains("network.nvidia.com/roce")) << one.what << ", not on offer";
  }
}

TEST(NodeLabels, GpusAreNotRailbedsToLabel) {
  facts::NodeFacts facts = testing::node({testing::nic(0, LinkType::kInfiniband)});
  facts::Gpu gpu;
  gpu.pci.vendor = "10de";
  gpu.pci.class_code = "0302";
  facts.gpus.push_back(gpu);
  ASSERT_TRUE(facts::implied_labels(facts).contains("feature.node.kubernetes.io/pci-10de.present"));
  EXPECT_FALSE(node_labels(facts, {}).labels.contains("feature.node.kubernetes.io/pci-10de.present"));
}

TEST(NodeLabels, ImpossibleMeasurementsHaveNoLabel) {
  for (const double gbps : {-1.0, 1e9, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const NodeLabels made = node_labels(facts::NodeFacts{}, {}, Measured{gbps, "2026-11-28T01:00:00Z"});
    EXPECT_EQ(made, NodeLabels{}) << gbps;
  }
}

TEST(NodeKeys, HaveValidNamesAndRowsOnce) {
  std::set<std::string_view> names;
  for (const NodeKey& key : kNodeKeys) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    std::string example(key.name);
    if (const size_t star = example.find('*'); star != std::string::npos) example.replace(star, 1, "15b3");
    EXPECT_TRUE(is_label_key(example)) << example;
    EXPECT_EQ(find_key(example, key.kind), &key);
    EXPECT_FALSE(key.values.empty() || key.why.empty()) << key.name;
  }
}

TEST(NodeKeys, APatternIsFourHexadecimalDigits) {
  for (const char* name :
       {"feature.node.kubernetes.io/pci-15b3.present", "feature.node.kubernetes.io/pci-8086.present"})
    EXPECT_NE(find_key(name, KeyKind::kLabel), nullptr) << name;
  for (const char* name :
       {"feature.node.kubernetes.io/pci-.present", "feature.node.kubernetes.io/pci-15B3.present",
        "feature.node.kubernetes.io/pci-0200_15b3.present", "feature.node.kubernetes.io/pci-15b.present",
        "feature.node.kubernetes.io/pci-*.present", "feature.node.kubernetes.io/pci-15b3.present.x",
        "x.feature.node.kubernetes.io/pci-15b3.present", "railbed.dev/managed", "kubernetes.io/hostname", ""})
    EXPECT_EQ(find_key(name, KeyKind::kLabel), nullptr) << name;
  EXPECT_EQ(find_key("railbed.dev/rails", KeyKind::kAnnotation), nullptr) << "a label";
}

std::string hostile_text() {
  return *rc::gen::element<std::string>("", "15b3", "15B3", "8086", "../../etc", "a/b", "x y", "\n", "\xff\xfe",
                                        "@pci.x", "$(reboot)", "15b3.present", std::string(300, 'a'),
                                        std::string("\0\0\0\0", 4));
}

facts::Nic hostile_nic(int number) {
  facts::Nic made =
      testing::nic(number, *rc::gen::element(LinkType::kUnknown, LinkType::kEthernet, LinkType::kInfiniband));
  made.pci.vendor = hostile_text();
  made.pci.class_code = hostile_text();
  made.pci.driver = hostile_text();
  made.num_vfs = *rc::gen::inRange(-1, 300);
  facts::NetInterface netdev;
  netdev.name = hostile_text();
  made.netdevs.push_back(std::move(netdev));
  made.rdma.front().name = hostile_text();
  made.rdma.front().soft = *rc::gen::arbitrary<bool>();
  made.rdma.front().transport = *rc::gen::element<std::string>("", "iWARP", "\n");
  return made;
}

RC_GTEST_PROP(NodeLabels, AreValidLabelsOfTheTableForAnyFacts, ()) {
  facts::NodeFacts facts;
  facts.node = hostile_text();
  facts.modules = {"ib_uverbs", "rdma_ucm", hostile_text()};
  const int count = *rc::gen::inRange(0, 6);
  Offered offered;
  for (int i = 0; i < count; ++i) {
    facts.nics.push_back(hostile_nic(i));
    offered[hostile_text()].push_back({.pf = testing::pf(i), .rdma = *rc::gen::arbitrary<bool>()});
  }
  const NodeLabels made = node_labels(facts, offered, Measured{*rc::gen::arbitrary<double>(), hostile_text()});
  for (const auto& [name, value] : made.labels) {
    RC_ASSERT(find_key(name, KeyKind::kLabel) != nullptr);
    RC_ASSERT(is_label_key(name));
    RC_ASSERT(is_label_value(value) && !value.empty());
  }
  for (const auto& [name, value] : made.annotations) {
    RC_ASSERT(find_key(name, KeyKind::kAnnotation) != nullptr);
    RC_ASSERT(!value.empty() && value.find_first_of("\n/$ \xff") == std::string::npos);
  }
}

}  // namespace
}  // namespace railbed::labels

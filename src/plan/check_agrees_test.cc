// SPDX-License-Identifier: Apache-2.0
// One answer to "which link type has this resource?": for each machine of testdata/discover, each of its ports and each
// kind of network, `check` has RB-IB-001 exactly where `plan` has RB-POD-003, and advises no MTU that the port refuses.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "api/load.h"
#include "base/testdata.h"
#include "check/check.h"
#include "check/findings/output.h"
#include "facts/facts_json.h"
#include "graph/resolution.h"
#include "plan/plan.h"

namespace railbed::plan {
namespace {

namespace fs = std::filesystem;

struct Wish {
  const char* kind;       // of the network
  const char* link_type;  // of the policy; empty: it says none
  int mtu;                // 0: none
};

std::string manifests(const facts::NodeFacts& node, const facts::Nic& nic, const Wish& wish) {
  const std::string link = *wish.link_type == '\0' ? "" : fmt::format("  linkType: {}\n", wish.link_type);
  const std::string mtu = wish.mtu == 0 ? "" : fmt::format("  mtu: {}\n", wish.mtu);
  return fmt::format(R"(apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {{name: rail, namespace: sriov-network-operator}}
spec:
  resourceName: rail
  nodeSelector: {{kubernetes.io/hostname: {0}}}
  numVfs: 1
  isRdma: true
{3}{4}  nicSelector: {{vendor: "{1}", rootDevices: ["{2}"]}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: {5}
metadata: {{name: rail, namespace: sriov-network-operator}}
spec:
  resourceName: rail
  networkNamespace: default
  ipam: '{{"type": "whereabouts", "range": "10.56.0.0/16"}}'
---
apiVersion: v1
kind: Pod
metadata: {{name: p, namespace: default, annotations: {{k8s.v1.cni.cncf.io/networks: rail}}}}
spec:
  nodeName: {0}
  containers: [{{name: t, image: "registry.example/t:1", resources: {{limits: {{openshift.io/rail: "1"}}}}}}]
)",
                     node.node, nic.pci.vendor, nic.pci.address, link, mtu, wish.kind);
}

bool has(const doc::Diagnostics& findings, std::string_view id) {
  return std::ranges::any_of(findings.all(), [&](const doc::Diagnostic& one) {
    return one.id == id && one.severity == doc::Severity::kError;
  });
}

void compare(const std::vector<facts::NodeFacts>& nodes, const facts::Nic& nic, const Wish& wish) {
  const auto source = std::make_shared<doc::Source>(doc::Source{"all.yaml", manifests(nodes.front(), nic, wish)});
  doc::Diagnostics planned;
  const api::Objects objects = api::load({source}, planned);
  const graph::Resolution resolution(objects, nodes, {}, graph::PodPlacement::kChecked, planned);
  make_plans(resolution, {}, {}, planned);
  const check::Report checked = check::check({source}, nodes, {});
  const bool refused = !resolution.graphs.front().refusals.empty();
  // Where the policy is refused on the port there are no VFs, and plan says that instead.
  EXPECT_TRUE(refused || has(planned, "RB-POD-003") == has(checked.findings, "RB-IB-001"))
      << source->text << doc::render(planned) << check::to_text(checked);
  if (nic.link_type != facts::LinkType::kInfiniband) return;
  for (const doc::Diagnostic& one : checked.findings.all())
    EXPECT_EQ(one.fix.find("mtu: 9000"), std::string::npos) << source->text << check::to_text(checked);
}

TEST(CheckAgrees, AboutLinkTypesOnAllMachines) {
  constexpr Wish kWishes[] = {{"SriovNetwork", "", 0},    {"SriovIBNetwork", "", 0},   {"SriovNetwork", "ETH", 0},
                              {"SriovNetwork", "IB", 0},  {"SriovIBNetwork", "IB", 0}, {"SriovIBNetwork", "ETH", 0},
                              {"SriovNetwork", "", 9000}, {"SriovIBNetwork", "", 9000}};
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(testdata() / "discover")) {
    if (!fs::exists(entry.path() / "facts.json")) continue;
    doc::Diagnostics problems;
    const auto nodes = facts::parse_facts(
        std::make_shared<doc::Source>(doc::Source{"facts.json", content(entry.path() / "facts.json")}), problems);
    if (problems.has_errors() || nodes.size() != 1) continue;
    for (const facts::Nic& nic : nodes.front().nics) {
      if (nic.total_vfs.value_or(0) == 0) continue;
      ++compared;
      for (const Wish& wish : kWishes) compare(nodes, nic, wish);
    }
  }
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace railbed::plan

// SPDX-License-Identifier: Apache-2.0
#include "facts/kubelet.h"

#include <gtest/gtest.h>

#include "facts/fixture.h"

namespace railbed::facts {
namespace {

using testing_fixture::facts_of;

TEST(KubeletConfig, IsReadWhereItIsOne) {
  const std::string head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
  const struct {
    const char* what;
    std::string text;
    std::optional<Kubelet> kubelet;
  } rows[] = {
      {"nothing", "", std::nullopt},
      {"another kind", "apiVersion: v1\nkind: Config\ncpuManagerPolicy: static\n", std::nullopt},
      {"no YAML", "kind: [\n", std::nullopt},
      {"all defaults", head, Kubelet{}},
      {"pinned",
       head + "cpuManagerPolicy: static\ntopologyManagerPolicy: single-numa-node\n"
              "topologyManagerScope: pod\nmemoryManagerPolicy: Static\nreservedSystemCPUs: \"0-1\"\n",
       Kubelet{.cpu_manager = "static",
               .topology_manager = "single-numa-node",
               .topology_scope = "pod",
               .memory_manager = "Static",
               .reserved_cpus = "0-1",
               .taints = {}}},
      {"wrong types", head + "cpuManagerPolicy: 1\nregisterWithTaints: no\n", Kubelet{}},
      {"a taint", head + "registerWithTaints:\n- {key: dedicated, value: rdma, effect: NoSchedule}\n- 7\n",
       Kubelet{.cpu_manager = {},
               .topology_manager = {},
               .topology_scope = {},
               .memory_manager = {},
               .reserved_cpus = {},
               .taints = {{.key = "dedicated", .value = "rdma", .effect = "NoSchedule"}}}},
  };
  for (const auto& row : rows) EXPECT_TRUE(parse_kubelet(row.text) == row.kubelet) << row.what;
}

TEST(KubeletConfig, IsAFactOfTheMachine) {
  EXPECT_FALSE(facts_of("[/sys/bus/pci/devices]\n").kubelet.has_value());
  const NodeFacts pinned = facts_of(
      "/var/lib/kubelet/config.yaml <<END\n"
      "apiVersion: kubelet.config.k8s.io/v1beta1\n"
      "kind: KubeletConfiguration\n"
      "cpuManagerPolicy: static\n"
      "END\n");
  ASSERT_TRUE(pinned.kubelet.has_value());
  EXPECT_EQ(pinned.kubelet->cpu_manager, "static");
}

TEST(DriverVersions, AreThoseOfDriversOfAVendor) {
  EXPECT_TRUE(facts_of("[/sys/module/mlx5_core]\nsrcversion = 1A2B\n").driver_versions.empty());
  const NodeFacts vendor = facts_of("[/sys/module/mlx5_core]\nversion = 24.07-0.6.1\n");
  EXPECT_EQ(vendor.driver_versions, (std::map<std::string, std::string>{{"mlx5_core", "24.07-0.6.1"}}));
}

}  // namespace
}  // namespace railbed::facts

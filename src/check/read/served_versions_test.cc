// SPDX-License-Identifier: Apache-2.0
#include "check/read/served_versions.h"

#include <tuple>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/kinds.h"
#include "check/case_files.h"
#include "check/data_files.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

TEST(ServedVersions, AreInTheOrderOfReleases) {
  EXPECT_TRUE(is_newer_version("v2", "v1"));
  EXPECT_TRUE(is_newer_version("v10", "v9"));
  EXPECT_TRUE(is_newer_version("v2beta1", "v1"));
  EXPECT_TRUE(is_newer_version("v1", "v1beta1"));
  EXPECT_TRUE(is_newer_version("v1beta1", "v1alpha3"));
  EXPECT_TRUE(is_newer_version("v1alpha2", "v1alpha1"));
  EXPECT_FALSE(is_newer_version("v1", "v1"));
  EXPECT_FALSE(is_newer_version("v1beta1", "v1"));
  for (const char* wrong : {"", "v", "1", "vx", "v1x", "v1beta", "v1alpha", "v1beta1x", "v1gamma1"})
    EXPECT_FALSE(is_newer_version(wrong, "v1alpha1")) << wrong;
}

// What is found of an object of this kind in this apiVersion: "error: message (fix)"; empty for nothing.
std::string version_finding(const std::string& api_version, const std::string& kind) {
  const Report report = testing_cases::report_of(
      "a.yaml", fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: default}}\nspec: {{}}\n", api_version, kind));
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == "RB-API-011") return fmt::format("{}: {} ({})", severity_name(one.severity), one.message, one.fix);
  return "";
}

TEST(ServedVersions, ReportWhatNoReleaseServes) {
  const std::string operator_config =
      "error: apiVersion 'sriovnetwork.openshift.io/v1beta1' with kind SriovOperatorConfig: no release serves it, and "
      "the API server refuses the object (apiVersion: sriovnetwork.openshift.io/v1)";
  EXPECT_EQ(version_finding("sriovnetwork.openshift.io/v1beta1", "SriovOperatorConfig"), operator_config);
  EXPECT_EQ(version_finding("sriovnetwork.openshift.io/v1", "SriovOperatorConfig"), "");
  EXPECT_EQ(version_finding("sriovnetwork.openshift.io/v2", "OVSNetwork"),
            "warning: OVSNetwork is known in v1, not in 'sriovnetwork.openshift.io/v2': a later release may serve it "
            "(apiVersion: sriovnetwork.openshift.io/v1)");
  EXPECT_EQ(version_finding("sriovnetwork.openshif.io/v1", "SriovNetworkPoolConfig"),
            "error: apiVersion 'sriovnetwork.openshif.io/v1' with kind SriovNetworkPoolConfig: no API server has this "
            "kind there, and it refuses the object (apiVersion: sriovnetwork.openshift.io/v1)");
  EXPECT_EQ(version_finding("v1", "NicClusterPolicy"),
            "error: apiVersion 'v1' with kind NicClusterPolicy: no API server has this kind there, and it refuses the "
            "object (apiVersion: mellanox.com/v1alpha1)");
  EXPECT_EQ(version_finding("mellanox.com/v1alpha1", "NicClusterPolicy"), "");
  EXPECT_EQ(version_finding("kubeflow.org/v1alpha1", "MPIJob"), "");
  EXPECT_EQ(version_finding("nvidia.com/{{ version }}", "ClusterPolicy"), "") << "filled in later";
  EXPECT_EQ(version_finding("jobset.x-k8s.io/v1", "JobSet"),
            "error: apiVersion 'jobset.x-k8s.io/v1' with kind JobSet: no release serves it, and the API server refuses "
            "the object (apiVersion: jobset.x-k8s.io/v1alpha2)");
  EXPECT_EQ(version_finding("jobset.x-k8s.io/v1alpha3", "JobSet").substr(0, 8), "warning:");
}

TEST(ServedVersions, KindsOfKubernetesHaveOneGroup) {
  const auto refused = [](const std::string& api_version, const std::string& kind, const std::string& right) {
    return fmt::format(
        "error: apiVersion '{}' with kind {}: no API server has this kind there, and it refuses the "
        "object (apiVersion: {})",
        api_version, kind, right);
  };
  EXPECT_EQ(version_finding("app/v1", "Deployment"), refused("app/v1", "Deployment", "apps/v1"));
  EXPECT_EQ(version_finding("v1", "DaemonSet"), "") << "RB-ADM-005 reports groups of Kubernetes";
  EXPECT_EQ(version_finding("aps/v1", "StatefulSet"), refused("aps/v1", "StatefulSet", "apps/v1"));
  EXPECT_EQ(version_finding("bacth/v1", "CronJob"), refused("bacth/v1", "CronJob", "batch/v1"));
  EXPECT_EQ(version_finding("apps/v1", "Job"), "");
  EXPECT_EQ(version_finding("apps/v1", "Deployment"), "");
  EXPECT_EQ(version_finding("batch.volcano.sh/v1alpha1", "Job"), "");
  EXPECT_EQ(version_finding("example.com/v1", "Deployment"), "");
}

TEST(ServedVersions, NameTheKindOfAGroupThatIsNearlyMeant) {
  const auto reported = [](const std::string& api_version, const std::string& kind) {
    const Report report = testing_cases::report_of(
        "a.yaml", fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: a}}\n", api_version, kind));
    for (const doc::Diagnostic& one : report.findings.all())
      if (one.id == "RB-API-001") return fmt::format("{}: {}", severity_name(one.severity), one.fix);
    return std::string();
  };
  EXPECT_EQ(reported("machineconfiguration.openshift.io/v1", "MachineConfg"), "error: did you mean 'MachineConfig'?");
  EXPECT_EQ(reported("operators.coreos.com/v1alpha1", "Subscripton"), "error: did you mean 'Subscription'?");
  EXPECT_EQ(reported("v1", "Namespce"), "error: did you mean 'Namespace'?");
  EXPECT_EQ(reported("example.com/v1", "Namespce"), "");
}

// What RB-API-001 says of an object; empty for nothing.
std::string kind_finding(const std::string& api_version, const std::string& kind) {
  const Report report = testing_cases::report_of(
      "a.yaml", fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: default}}\n", api_version, kind));
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.id == "RB-API-001") return fmt::format("{}: {} ({})", severity_name(one.severity), one.message, one.fix);
  return "";
}

TEST(ServedVersions, NoKindOfTheTableIsMisspelt) {
  const doc::Value data = data_document("served_versions.yaml");
  const doc::Value::Array* rows = doc::list_in(data, "groups");
  ASSERT_NE(rows, nullptr);
  for (const doc::Value& row : *rows) {
    const doc::Value::Array* versions = doc::list_in(row, "versions");
    const doc::Value::Array* kinds = doc::list_in(row, "kinds");
    ASSERT_TRUE(versions != nullptr && kinds != nullptr);
    for (const doc::Value& version : *versions)
      for (const doc::Value& kind : *kinds) {
        const std::string& name = *kind.as_string();
        const std::string api_version = fmt::format("{}/{}", doc::text_in(row, "group"), *version.as_string());
        EXPECT_EQ(kind_finding(api_version, name), "") << api_version << " " << name;
        EXPECT_EQ(kind_finding("example.com/v1", name), "") << name << " of another group";
      }
  }
}

TEST(ServedVersions, SlipsOfKindsOfTheTableAreMisspelt) {
  for (const auto& [api_version, kind, meant] :
       {std::tuple("machineconfiguration.openshift.io/v1", "KubletConfig", "KubeletConfig"),
        std::tuple("machineconfiguration.openshift.io/v1", "ContainerRuntimeConfg", "ContainerRuntimeConfig"),
        std::tuple("performance.openshift.io/v2", "PerformaceProfile", "PerformanceProfile"),
        std::tuple("nfd.openshift.io/v1", "NodeFeatureDiscovry", "NodeFeatureDiscovery"),
        std::tuple("operators.coreos.com/v1", "OperatorGrup", "OperatorGroup")})
    EXPECT_EQ(
        kind_finding(api_version, kind),
        fmt::format("error: no API server has the kind '{}': it refuses the object (did you mean '{}'?)", kind, meant));
}

TEST(ServedVersions, LeaveKindsOfOthersAlone) {
  EXPECT_EQ(version_finding("kyverno.io/v1", "ClusterPolicy"), "");
  EXPECT_EQ(version_finding("projectcalico.org/v3", "IPPool"), "");
  EXPECT_EQ(version_finding("example.com/v9", "OVSNetwork"), "");
}

TEST(ServedVersions, TheTableAgreesWithThatOfKinds) {
  const doc::Value data = data_document("served_versions.yaml");
  const doc::Value::Array* rows = doc::list_in(data, "groups");
  ASSERT_NE(rows, nullptr);
  for (const doc::Value& row : *rows) {
    const std::string group = doc::text_in(row, "group");
    const doc::Value::Array* versions = doc::list_in(row, "versions");
    const doc::Value::Array* kinds = doc::list_in(row, "kinds");
    ASSERT_TRUE(versions != nullptr && kinds != nullptr && !versions->empty() && !kinds->empty()) << group;
    for (size_t i = 1; i < versions->size(); ++i)
      EXPECT_TRUE(is_newer_version(*(*versions)[i - 1].as_string(), *(*versions)[i].as_string())) << group;
    for (const doc::Value& kind : *kinds) {
      const std::string& name = *kind.as_string();
      const Kind* known = find_kind(name);
      const bool named = known != nullptr && !known->group.empty();
      if (named && known->group == group) {
        EXPECT_EQ(known->version, *versions->front().as_string()) << name;
      }
    }
  }
}

}  // namespace
}  // namespace railbed::check

// SPDX-License-Identifier: Apache-2.0
#include "preflight/writers.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "preflight/test_objects.h"

namespace railbed::preflight {
namespace {

using doc::Value;

Value some_role(const std::string& name, const std::string& rules, const std::string& ns = "") {
  return json(fmt::format(R"({{"kind": "{}", "metadata": {{"name": "{}"{}}}, "rules": [{}]}})",
                          ns.empty() ? "ClusterRole" : "Role", name,
                          ns.empty() ? "" : fmt::format(R"(, "namespace": "{}")", ns), rules));
}
Value some_binding(const std::string& role_kind, const std::string& role_name, const std::string& subjects,
                   const std::string& ns = "") {
  return json(fmt::format(
      R"({{"kind": "Binding", "metadata": {{"name": "b"{}}}, "roleRef": {{"kind": "{}", "name": "{}"}}, "subjects": [{}]}})",
      ns.empty() ? "" : fmt::format(R"(, "namespace": "{}")", ns), role_kind, role_name, subjects));
}

constexpr const char* kAll = R"({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})";
constexpr const char* kDefinitions =
    R"({"apiGroups": ["k8s.cni.cncf.io"], "resources": ["network-attachment-definitions"], "verbs": ["get", "create"]})";
constexpr const char* kReads =
    R"({"apiGroups": ["k8s.cni.cncf.io"], "resources": ["network-attachment-definitions"], "verbs": ["get", "list", "watch"]})";
constexpr const char* kNetworks =
    R"({"apiGroups": ["apps", "sriovnetwork.openshift.io"], "resources": ["*"], "verbs": ["patch"]})";
constexpr const char* kElse = R"({"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]})";

std::string writers_in(const std::vector<Value>& roles, const std::vector<Value>& bindings) {
  std::string out;
  for (const DefinitionWriter& one : definition_writers(roles, bindings, "railbed"))
    out += fmt::format("{}{}; ", one.is_everybody() ? "! " : "", one.to_string());
  return out;
}

TEST(DefinitionWriters, AreThoseWithARoleThatWritesThem) {
  const std::vector<Value> roles{some_role("edit", kDefinitions), some_role("view", kReads), some_role("apps", kElse),
                                 some_role("rails", kNetworks), some_role("cluster-admin", kAll)};
  const char* devs = R"({"kind": "Group", "name": "devs"})";
  EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", "edit", devs)}), "Group devs by ClusterRole edit; ");
  EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", "edit", devs, "ai")}),
            "Group devs by ClusterRole edit in namespace ai; ");
  EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", "rails",
                                            R"({"kind": "ServiceAccount", "namespace": "ci", "name": "d"})"),
                               some_binding("ClusterRole", "edit", devs)}),
            "Group devs by ClusterRole edit; ServiceAccount ci/d by ClusterRole rails; ");
  for (const char* other : {"view", "apps", "gone"})
    EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", other, devs), some_binding("ClusterRole", "edit", "")}),
              "")
        << other;
}

TEST(DefinitionWriters, AreNotAdministratorsOrTheControlPlane) {
  const std::vector<Value> roles{some_role("cluster-admin", kAll), some_role("network-operator", kDefinitions)};
  const char* root = R"({"kind": "User", "name": "root"})";
  EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", "cluster-admin", root)}), "");
  EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", "cluster-admin", root, "ai")}),
            "User root by ClusterRole cluster-admin in namespace ai; ");
  EXPECT_EQ(
      writers_in(roles,
                 {some_binding("ClusterRole", "network-operator",
                               R"({"kind": "Group", "name": "system:masters"}, {"kind": "User", "name": "system:admin"},
                                    {"kind": "ServiceAccount", "namespace": "kube-system", "name": "x"},
                                    {"kind": "ServiceAccount", "namespace": "railbed", "name": "railbed-operator"},
                                    {"kind": "ServiceAccount", "namespace": "sriov", "name": "operator"},
                                    {"kind": "Group", "name": "system:serviceaccounts:ai"},
                                    {"kind": "User", "name": "system:serviceaccount:ai:x"})")}),
      "Group system:serviceaccounts:ai by ClusterRole network-operator; ServiceAccount sriov/operator by "
      "ClusterRole network-operator; User system:serviceaccount:ai:x by ClusterRole network-operator; ");
}

TEST(DefinitionWriters, MayBeEverybody) {
  const std::vector<Value> roles{some_role("cluster-admin", kAll), some_role("open", kDefinitions)};
  EXPECT_EQ(
      writers_in(roles, {some_binding("ClusterRole", "open", R"({"kind": "Group", "name": "system:authenticated"})")}),
      "! Group system:authenticated by ClusterRole open; ");
  EXPECT_EQ(writers_in(roles, {some_binding("ClusterRole", "cluster-admin",
                                            R"({"kind": "Group", "name": "system:serviceaccounts"})")}),
            "! Group system:serviceaccounts by ClusterRole cluster-admin; ");
}

TEST(DefinitionWriters, ARoleIsThatOfItsNamespace) {
  const std::vector<Value> roles{some_role("nets", kDefinitions, "ai"), some_role("nets", kReads, "web")};
  const char* dev = R"({"kind": "User", "name": "dev"})";
  EXPECT_EQ(writers_in(roles, {some_binding("Role", "nets", dev, "web")}), "");
  EXPECT_EQ(writers_in(roles, {some_binding("Role", "nets", dev, "ai")}), "User dev by Role ai/nets in namespace ai; ");
}

TEST(DefinitionWriters, OwnersOfNamespacesWillBe) {
  EXPECT_EQ(
      writers_in({some_role("admin", kDefinitions), some_role("edit", kReads), some_role("other", kDefinitions)}, {}),
      "ClusterRole admin (not bound yet); ");
}

}  // namespace
}  // namespace railbed::preflight

// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/roles.h"

#include <gtest/gtest.h>

#include "kube/kinds.h"

namespace railbed::kube::fake {
namespace {

std::vector<Right> rights_of_two() {
  return {
      {.kind = kNodes, .verbs = Verb::kList | Verb::kWatch, .why = "labels"},
      {.kind = kNodes, .verbs = Verb::kGet, .why = "its UUID"},
      {.kind = kPods, .verbs = Verb::kApply, .part = Part::kStatus},
      {.kind = kNodeStates, .verbs = Verb::kApply | Verb::kDelete, .where = Where::kOwnNamespace},
      {.kind = kAddressCells, .verbs = Verb::kGet, .also = "override"},
      {.kind = kAdmissionPolicies, .verbs = Verb::kGet, .name = "one"},
      {.kind = kIpPools, .verbs = Verb::kUpdate, .where = Where::kPoolsNamespace, .granted_by = GrantedBy::kSharing},
  };
}

TEST(Roles, HaveARuleForEachKindWithAllReasons) {
  EXPECT_EQ(role_file({"railbed-x", "Of a test.\nSecond line.", rights_of_two()}),
            "# SPDX-License-Identifier: Apache-2.0\n"
            "# Made of the rights that components declare (src/kube/right.h) by a test: RAILBED_UPDATE=1 writes it.\n"
            "# Of a test.\n"
            "# Second line.\n"
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: ClusterRole\n"
            "metadata: {name: railbed-x}\n"
            "rules:\n"
            "- {apiGroups: [\"\"], resources: [nodes], verbs: [get, list, watch]}  # labels; its UUID\n"
            "- {apiGroups: [\"\"], resources: [pods/status], verbs: [patch]}\n"
            "- {apiGroups: [railbed.dev], resources: [addresscells], verbs: [get, override]}\n"
            "- {apiGroups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicies], "
            "resourceNames: [one], verbs: [get]}\n"
            "---\n"
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: Role\n"
            "metadata: {name: railbed-x, namespace: railbed}\n"
            "rules:\n"
            "- {apiGroups: [sriovnetwork.openshift.io], resources: [sriovnetworknodestates], "
            "verbs: [create, patch, delete]}\n"
            "---\n"
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: ClusterRoleBinding\n"
            "metadata: {name: railbed-x}\n"
            "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: railbed-x}\n"
            "subjects:\n"
            "- {kind: ServiceAccount, name: railbed-x, namespace: railbed}\n"
            "---\n"
            "apiVersion: rbac.authorization.k8s.io/v1\n"
            "kind: RoleBinding\n"
            "metadata: {name: railbed-x, namespace: railbed}\n"
            "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: railbed-x}\n"
            "subjects:\n"
            "- {kind: ServiceAccount, name: railbed-x, namespace: railbed}\n");
}

TEST(Roles, AreComparedWithWhatIsDeclared) {
  Account account{"railbed-x", "", rights_of_two()};
  std::string file = role_file(account);
  EXPECT_EQ(difference(grants_in(file), grants_of(account)), "");
  const std::string both = "verbs: [get, list, watch]", one = "verbs: [get, watch, delete]";
  file.replace(file.find(both), both.size(), one);
  EXPECT_EQ(difference(grants_in(file), grants_of(account)),
            "not granted, though declared: ClusterRole railbed-x: list nodes\n"
            "granted, though not declared: ClusterRole railbed-x: delete nodes\n");
}

TEST(Roles, PartsHaveRightsOfTheirOwn) {
  const std::vector<Right> rights{
      {.kind = kPods, .verbs = Verb::kCreate, .part = Part::kEviction, .granted_by = GrantedBy::kDrains}};
  EXPECT_EQ(grants_of("ClusterRole x", rights, GrantedBy::kDrains, Where::kEverywhere),
            Grants{"ClusterRole x: create pods/eviction"});
  EXPECT_EQ(beyond(rights, {"POST /api/v1/namespaces/ai/pods/a/eviction"}, "op"), "");
  EXPECT_NE(beyond(rights, {"POST /api/v1/namespaces/ai/pods"}, "op"), "");
  EXPECT_NE(beyond(rights, {"POST /api/v1/namespaces/ai/pods/a/binding"}, "op"), "");
}

TEST(Roles, NameRequestsThatNoRightCovers) {
  const auto reported = [](const std::string& request) { return beyond(rights_of_two(), {request}, "op"); };
  for (const char* covered :
       {"GET /api/v1/nodes?limit=500", "GET /api/v1/nodes/n1", "WATCH /api/v1/nodes?watch=true",
        "PATCH /api/v1/namespaces/ai/pods/a/status?fieldManager=railbed&force=true",
        "PATCH /apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworknodestates/n1?fieldManager=x",
        "DELETE /apis/sriovnetwork.openshift.io/v1/namespaces/op/sriovnetworknodestates/n1",
        "GET /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/one",
        "PUT /apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/ippools/10.0.0.0-24", "GET /version"})
    EXPECT_EQ(reported(covered), "") << covered;
  EXPECT_EQ(reported("DELETE /api/v1/nodes/n1"),
            "delete nodes: no component declares this right: DELETE /api/v1/nodes/n1");
  for (const char* beyond_all :
       {"GET /api/v1/namespaces/op", "GET /api/v1/pods?limit=1", "PATCH /api/v1/namespaces/ai/pods/a",
        "PATCH /apis/sriovnetwork.openshift.io/v1/namespaces/ai/sriovnetworknodestates/n1?fieldManager=x",
        "GET /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/two",
        "PUT /apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/ai/ippools/10.0.0.0-24"})
    EXPECT_NE(reported(beyond_all), "") << beyond_all;
}

}  // namespace
}  // namespace railbed::kube::fake

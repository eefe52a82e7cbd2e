// SPDX-License-Identifier: Apache-2.0
// deploy/sharing/whereabouts.yaml has a policy beside its roles and is written by people. Its roles grant what operator
// and agent declare for it, which one role gives to both.
#include <gtest/gtest.h>

#include "agent/cluster/test_rights.h"
#include "base/testdata.h"
#include "controller/test_rights.h"
#include "kube/fake/roles.h"

namespace railbed::preflight {
namespace {

TEST(SharingRoles, GrantWhatOperatorAndAgentDeclareForThem) {
  using kube::GrantedBy;
  using kube::Where;
  using kube::fake::grants_of;
  const std::vector<kube::Right> of_agent = agent::agent_rights();
  const std::vector<kube::Right> of_operator = controller::testing::operator_rights();
  const std::string both = "Role railbed-shares", one = "ClusterRole railbed-operator-shares";
  kube::fake::Grants declared = grants_of(both, of_agent, GrantedBy::kSharing, Where::kPoolsNamespace);
  declared.merge(grants_of(both, of_operator, GrantedBy::kSharing, Where::kPoolsNamespace));
  declared.merge(grants_of(one, of_operator, GrantedBy::kSharing, Where::kEverywhere));
  const std::string file = content(testdata().parent_path() / "deploy/sharing/whereabouts.yaml");
  EXPECT_EQ(kube::fake::difference(kube::fake::grants_in(file), declared), "");
}

}  // namespace
}  // namespace railbed::preflight

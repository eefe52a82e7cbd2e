// SPDX-License-Identifier: Apache-2.0
// The role of agents, made of what their components declare. RAILBED_UPDATE=1 writes it.
#include <filesystem>

#include <gtest/gtest.h>

#include "agent/cluster/test_rights.h"
#include "base/testdata.h"
#include "kube/fake/roles.h"

namespace railbed::agent {
namespace {

TEST(AgentRole, GrantsWhatComponentsDeclareAndNothingElse) {
  const kube::fake::Account account{
      .name = "railbed-agent",
      .comment =
          "What `railbed agent` may do in a cluster, for a service account railbed-agent in namespace railbed: "
          "docs/kubernetes.md\nsays what for.",
      .rights = agent_rights()};
  const std::filesystem::path file = testdata().parent_path() / "deploy/rbac/agent.yaml";
  expect_golden(file, kube::fake::role_file(account));
  EXPECT_EQ(kube::fake::difference(kube::fake::grants_in(content(file)), kube::fake::grants_of(account)), "");
}

// deploy/drains/agent.yaml has a policy beside its role, and is written by people.
TEST(AgentRole, GrantsInDrainsWhatAgentsDeclareForThem) {
  const kube::fake::Grants declared = kube::fake::grants_of("ClusterRole railbed-agent-drains", agent_rights(),
                                                            kube::GrantedBy::kDrains, kube::Where::kEverywhere);
  EXPECT_EQ(declared.size(), 1u);
  const std::filesystem::path file = testdata().parent_path() / "deploy/drains/agent.yaml";
  EXPECT_EQ(kube::fake::difference(kube::fake::grants_in(content(file)), declared), "");
}

}  // namespace
}  // namespace railbed::agent

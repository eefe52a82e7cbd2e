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

}  // namespace
}  // namespace railbed::agent

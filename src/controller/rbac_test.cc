// SPDX-License-Identifier: Apache-2.0
// The files of deploy/ that are made of what the operator declares. RAILBED_UPDATE=1 writes them.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "base/testdata.h"
#include "controller/crds.h"
#include "controller/test_rights.h"
#include "kube/fake/roles.h"

namespace railbed::controller {
namespace {

std::filesystem::path deploy_folder() {
  return testdata().parent_path() / "deploy";
}

TEST(OperatorRole, GrantsWhatTheOperatorDeclaresAndNothingElse) {
  const kube::fake::Account account{
      .name = "railbed-operator",
      .comment =
          "What `railbed operator` may do, for a service account railbed-operator in namespace railbed, where node states "
          "are.",
      .rights = testing::operator_rights()};
  const std::filesystem::path file = deploy_folder() / "rbac/operator.yaml";
  expect_golden(file, kube::fake::role_file(account));
  EXPECT_EQ(kube::fake::difference(kube::fake::grants_in(content(file)), kube::fake::grants_of(account)), "");
}

// deploy/drains/operator.yaml has policies beside its role, and is written by people.
TEST(DrainsRole, GrantsWhatTheOperatorDeclaresForDrains) {
  const kube::fake::Grants declared =
      kube::fake::grants_of("ClusterRole railbed-operator-drains", testing::operator_rights(), kube::GrantedBy::kDrains,
                            kube::Where::kEverywhere);
  EXPECT_EQ(declared.size(), 2u);
  EXPECT_EQ(kube::fake::difference(kube::fake::grants_in(content(deploy_folder() / "drains/operator.yaml")), declared),
            "");
}

// The rest of the file is written by people: images, the order of the other resources.
TEST(Kustomization, HasTheDefinitionsThatAreMade) {
  std::vector<std::string> made;
  for (const CustomResource& one : custom_resources()) made.push_back(fmt::format("- crds/{}.yaml\n", one.name()));
  std::ranges::sort(made);
  const std::filesystem::path file = deploy_folder() / "kustomization.yaml";
  std::istringstream lines(content(file));
  std::string text;
  bool has_them = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("- crds/")) {
      text += line + "\n";
      continue;
    }
    if (!std::exchange(has_them, true)) text += fmt::format("{}", fmt::join(made, ""));
  }
  EXPECT_TRUE(has_them);
  for (const auto& entry : std::filesystem::directory_iterator(deploy_folder() / "rbac"))
    EXPECT_NE(text.find(fmt::format("- rbac/{}\n", entry.path().filename().string())), std::string::npos)
        << entry.path();
  expect_golden(file, text);
}

}  // namespace
}  // namespace railbed::controller

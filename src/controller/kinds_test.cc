// SPDX-License-Identifier: Apache-2.0
// What each row of the table of kinds with a definition in deploy/crds has to have beside it.
#include "base/kinds.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/testdata.h"
#include "controller/crds.h"
#include "controller/operator.h"
#include "controller/test_rights.h"
#include "schema/schema.h"

namespace railbed::controller {
namespace {

TEST(KindsInDeploy, HaveADefinitionASchemaAndARowInTheDocs) {
  std::set<std::string> defined;
  for (const CustomResource& one : custom_resources())
    EXPECT_TRUE(defined.insert(one.kind).second) << one.kind << " has two definitions";
  const std::string page = content(testdata().parent_path() / "docs/kubernetes.md");
  for (const Kind& kind : kinds()) {
    const std::string name(kind.name);
    if (kind.defined != KindDefined::kInDeploy) {
      EXPECT_FALSE(defined.contains(name)) << name << " has a definition (crds.cc), and its row says that it has none";
      continue;
    }
    EXPECT_TRUE(defined.contains(name)) << name << " has no definition: definitions() in crds.cc";
    EXPECT_NE(schema::find_schema(kind.api_version(), name), nullptr) << name << " has no schema: schema/data";
    EXPECT_NE(page.find(fmt::format("\n| {} | {} |", name, kind.api_version())), std::string::npos)
        << name << " is not in the table of docs/kubernetes.md, \"Definitions of kinds\"";
  }
}

TEST(KindsInDeploy, HaveAReconcilerThatMayWriteThem) {
  using enum kube::Verb;
  const std::vector<kube::Right> rights = testing::operator_rights();
  std::set<std::string_view> kept;
  for (const KeptKind& one : kKeptKinds) {
    EXPECT_TRUE(kept.insert(one.kind.name).second) << one.kind.name << " has two reconcilers";
    EXPECT_TRUE(std::ranges::any_of(rights,
                                    [&](const kube::Right& right) {
                                      return right.kind.kind == one.kind.name &&
                                             (right.verbs.has(kApply) || right.verbs.has(kUpdate));
                                    }))
        << "the reconciler \"" << one.reconciler << "\" declares no right to write " << one.kind.name;
  }
  for (const Kind& kind : kinds())
    EXPECT_TRUE(kind.defined != KindDefined::kInDeploy || kept.contains(kind.name))
        << kind.name << " has no reconciler: kKeptKinds in operator.h";
}

}  // namespace
}  // namespace railbed::controller

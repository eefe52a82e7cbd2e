// SPDX-License-Identifier: Apache-2.0
// What each row of the table of kinds with a definition in deploy/crds has to have beside it.
#include "base/kinds.h"

#include <set>

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/testdata.h"
#include "controller/crds.h"
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

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
#include "check/read/api_schemas.h"

#include <gtest/gtest.h>

#include "check/check.h"
#include "doc/json.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

doc::Value dropped(const std::string& text) {
  doc::Diagnostics problems;
  doc::Value value = doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{"a.yaml", text}), problems).at(0);
  drop_api_schemas(value);
  return value;
}

std::string definition(const std::string& type) {
  return "kind: CustomResourceDefinition\nmetadata: {name: a}\nspec:\n  versions:\n  - name: v1\n    schema: "
         "{openAPIV3Schema: {type: " +
         type + "}}\n  - {name: v2}\n";
}

TEST(ApiSchemas, OfADefinitionAreDroppedAndItStillDiffersFromAnother) {
  const std::string left = doc::to_json(dropped(definition("object")));
  EXPECT_EQ(left.find("openAPIV3Schema"), std::string::npos);
  EXPECT_EQ(
      left.substr(0, left.find("schema ")),
      R"({"kind":"CustomResourceDefinition","metadata":{"name":"a"},"spec":{"versions":[{"name":"v1","schema":")");
  EXPECT_EQ(dropped(definition("object")), dropped(definition("object")));
  EXPECT_NE(doc::to_json(dropped(definition("object"))), doc::to_json(dropped(definition("string"))));
}

TEST(ApiSchemas, OfOtherFormsAreDroppedToo) {
  EXPECT_NE(doc::to_json(dropped("swagger: '2.0'\npaths: {a: {b: 1}}\n")).find(R"("paths":"schema )"),
            std::string::npos);
  const std::string old = doc::to_json(dropped("kind: CustomResourceDefinition\nspec: {validation: {a: {b: 1}}}\n"));
  EXPECT_NE(old.find(R"("validation":"schema )"), std::string::npos);
}

TEST(ApiSchemas, OtherDocumentsStayAsTheyAre) {
  for (const char* text : {"kind: Pod\nspec: {versions: [{schema: {a: 1}}]}\n", "paths: {a: 1}\n", "[1, 2]\n",
                           "kind: CustomResourceDefinition\nspec: []\n"}) {
    doc::Diagnostics problems;
    EXPECT_EQ(dropped(text),
              doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{"a.yaml", text}), problems).at(0));
  }
}

// What is repaired still has everything: the guard of repairs reads the whole texts.
TEST(ApiSchemas, AreInWhatARepairWrites) {
  const std::string text = definition("object") +
                           "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
                           "  containers: [{name: c, image: i}]\n  replica: 1\n  hostNetwork: \"true\"\n";
  const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, {}, {});
  for (const Repair& one : report.repairs) EXPECT_NE(one.after->text.find("openAPIV3Schema"), std::string::npos);
}

}  // namespace
}  // namespace railbed::check

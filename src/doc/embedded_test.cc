// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "doc/json.h"
#include "doc/yaml.h"

namespace railbed::doc {
namespace {

Value read_document(const std::string& text) {
  Diagnostics diagnostics;
  auto documents = parse_yaml(std::make_shared<const Source>(Source{"a.yaml", text}), diagnostics);
  EXPECT_EQ(render(diagnostics), "");
  return documents.empty() ? Value() : documents[0];
}

// The same JSON in every style of a YAML string; the place of the value of "b" is right in all of them.
TEST(EmbeddedJson, PlacesAreThoseOfTheFileInEveryStyle) {
  const std::pair<const char*, const char*> cases[] = {
      {"x:\n  config: |\n    {\n      \"a\": 1,\n      \"b\": 42\n    }\n", "a.yaml:5:12"},
      {"x:\n  config: |-   # comment\n\n    {\"a\": 1,\n\n    \"b\": 42}\n", "a.yaml:6:10"},
      {"x:\n  config: >\n    {\"a\": 1,\n     \"b\": 42}\n", "a.yaml:4:11"},
      {"x:\n  config: '{\"a\": 1, \"b\": 42}'\n", "a.yaml:2:26"},
      {"x:\n  config: '{\"a\": \"it''s\",\n    \"b\": 42}'\n", "a.yaml:3:10"},
      {"x:\n  config: \"{\\\"a\\\": 1, \\\"b\\\": 42}\"\n", "a.yaml:2:30"},
      {"x:\r\n  config: |\r\n    {\"a\": \"ä\",\r\n    \"b\": 42}\r\n", "a.yaml:4:10"},
      {"{\"x\": {\"config\": \"{\\\"a\\\":1,\\n\\\"b\\\":42}\"}}", "a.yaml:1:36"},
  };
  for (const auto& [text, place] : cases) {
    const Value document = read_document(text);
    Diagnostics diagnostics;
    const auto inner = parse_embedded_json(*document.find("x")->find("config"), diagnostics);
    ASSERT_TRUE(inner) << text << render(diagnostics);
    EXPECT_EQ(*inner->find("b"), Value(42)) << text;
    EXPECT_EQ(inner->find("b")->span.to_string(), place) << text;
    EXPECT_EQ(inner->find("b")->written(), "42") << text;
  }
}

TEST(EmbeddedJson, AMistakeIsShownInTheManifest) {
  const Value document = read_document("spec:\n  ipam: |\n    {\n      \"type\": \"static\",\n    }\n");
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_embedded_json(*document.find("spec")->find("ipam"), diagnostics));
  EXPECT_EQ(render(diagnostics),
            "a.yaml:4:23: error: a ',' before '}' [RB-JSON-001]\n"
            "     4 |       \"type\": \"static\",\n"
            "       |                       ^\n"
            "  fix: remove the ','\n");
}

TEST(EmbeddedJson, WhereThePlaceIsUnknownTheInnerPlaceIsNamed) {
  const Value document = read_document("config: \"{\\x22a\\x22:\\n  x}\"\n");
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_embedded_json(*document.find("config"), diagnostics));
  EXPECT_EQ(render(diagnostics),
            "a.yaml:1:9: error: 'x' is not a JSON value (line 2, column 3 of the embedded text) [RB-JSON-001]\n"
            "     1 | config: \"{\\x22a\\x22:\\n  x}\"\n"
            "       |         ^~~~~~~~~~~~~~~~~~~\n"
            "  fix: write \"x\" in double quotes\n");
}

TEST(EmbeddedJson, AListMayStandWithoutBrackets) {
  const Value document = read_document("metaPlugins: |\n  {\"type\": \"tuning\"},\n  {\"type\": \"rdma\"}\n");
  Diagnostics diagnostics;
  const auto list = parse_embedded_json_list(*document.find("metaPlugins"), diagnostics);
  ASSERT_TRUE(list) << render(diagnostics);
  EXPECT_EQ(to_json(*list), R"([{"type":"tuning"},{"type":"rdma"}])");
  EXPECT_EQ((*list->as_array())[1].find("type")->span.to_string(), "a.yaml:3:12");
  EXPECT_FALSE(parse_embedded_json_list(Value("{} {}"), diagnostics));
  EXPECT_EQ(render(diagnostics),
            "error: expected ',' or ']', found '{' (line 1, column 4 of the embedded text) [RB-JSON-001]\n");
}

TEST(EmbeddedJson, AMadeTextHasNoPlace) {
  Diagnostics diagnostics;
  const auto inner = parse_embedded_json(Value("{\"a\": [1]}"), diagnostics);
  ASSERT_TRUE(inner);
  EXPECT_FALSE(inner->find("a")->span.known());
  EXPECT_FALSE(parse_embedded_json(Value(5), diagnostics));
  EXPECT_EQ(render(diagnostics), "error: expected a text that holds JSON, found an integer [RB-JSON-006]\n");
}

// The same YAML in every style of a string in a manifest.
TEST(EmbeddedYaml, PlacesAreThoseOfTheFile) {
  const std::pair<const char*, const char*> cases[] = {
      {"x:\n  config: |\n    sources:\n      pci: [a]\n", "a.yaml:4:12"},
      {"x:\n  config: |-   # comment\n\n    # its own\n    sources:\n      pci: [a]\n", "a.yaml:6:12"},
      {"x:\n  config: 'sources: {pci: [a]}'\n", "a.yaml:2:27"},
      {"x:\n  config: \"sources:\\n  pci: [a]\\n\"\n", "a.yaml:2:29"},
      {"x:\r\n  config: |\r\n    sources:\r\n      pci: [a]  # \xc3\xa4\r\n", "a.yaml:4:12"},
      {"{\"x\": {\"config\": \"{\\\"sources\\\": {\\\"pci\\\": [1]}}\"}}", "a.yaml:1:43"},
  };
  for (const auto& [text, place] : cases) {
    const Value document = read_document(text);
    Diagnostics diagnostics;
    const auto inner = parse_embedded_yaml(*document.find("x")->find("config"), diagnostics);
    ASSERT_TRUE(inner) << text << render(diagnostics);
    const Value* list = inner->find("sources")->find("pci");
    ASSERT_TRUE(list != nullptr && list->is_array()) << text;
    EXPECT_EQ(list->span.to_string(), place) << text;
  }
}

TEST(EmbeddedYaml, AMistakeIsShownInTheManifest) {
  const Value document = read_document("spec:\n  config: |\n    a: 1\n    a: 2\n    b: [\n");
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_embedded_yaml(*document.find("spec")->find("config"), diagnostics));
  ASSERT_GE(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].id, "RB-YAML-003");
  EXPECT_EQ(diagnostics.all()[0].span.to_string(), "a.yaml:4:5");
  EXPECT_EQ(diagnostics.all()[0].notes[0].span.to_string(), "a.yaml:3:5");
}

TEST(EmbeddedYaml, NoTextAndNoDocument) {
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_embedded_yaml(Value(5), diagnostics));
  EXPECT_EQ(render(diagnostics), "error: expected a text that holds YAML, found an integer [RB-YAML-013]\n");
  const auto nothing = parse_embedded_yaml(Value("# only a comment\n"), diagnostics);
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->is_null());
}

// Each place is found by a search, so the cost per byte does not depend on the length of the text.
TEST(EmbeddedJson, ALongTextOnOneLineOrManyTakesLinearTime) {
  for (const char* end : {" ", "\n    "}) {
    std::string text = "x:\n  config: |\n    [0";
    for (int i = 0; i < 200'000; ++i) text += fmt::format(",{}1", end);
    const Value document = read_document(text + "]\n");
    Diagnostics diagnostics;
    const auto inner = parse_embedded_json(*document.find("x")->find("config"), diagnostics);
    ASSERT_TRUE(inner);
    EXPECT_EQ(inner->as_array()->size(), 200'001U);
  }
}

}  // namespace
}  // namespace railbed::doc

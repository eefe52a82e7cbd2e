// SPDX-License-Identifier: Apache-2.0
#include "doc/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doc/arbitrary_value.h"
#include "doc/json.h"

namespace railbed::doc {
namespace {

struct ParsedYaml {
  std::vector<Value> documents;
  std::string messages;

  // All documents as JSON, one per line.
  std::string json() const {
    std::string out;
    for (const Value& document : documents) out += to_json(document) + "\n";
    return out;
  }
};

ParsedYaml parsed_yaml(std::string text) {
  Diagnostics diagnostics;
  ParsedYaml parsed;
  parsed.documents = parse_yaml(std::make_shared<const Source>(Source{"a.yaml", std::move(text)}), diagnostics);
  parsed.messages = render(diagnostics);
  return parsed;
}

RC_GTEST_PROP(Yaml, WhatIsWrittenReadsBackTheSame, ()) {
  const Value value = *arbitrary_value();
  const std::string text = to_yaml(value);
  const ParsedYaml back = parsed_yaml(text);
  if (back.messages != "") RC_FAIL(text + back.messages);
  RC_ASSERT(back.documents.size() == 1u);
  if (back.documents[0] != value) RC_FAIL(text + to_json(back.documents[0]));
}

TEST(Yaml, PlainWordsAreReadAsKubernetesReadsThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"yes", "true"},
      {"Off", "false"},
      {"y", "true"},
      {"N", "false"},
      {"tRue", "\"tRue\""},
      {"~", "null"},
      {"Null", "null"},
      {"8", "8"},
      {"-8", "-8"},
      {"+8", "8"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"017", "15"},
      {"0b11", "3"},
      {"1_000", "1000"},
      {"089", "89.0"},
      {"1.5", "1.5"},
      {"1e3", "1000.0"},
      {".5", "0.5"},
      {"1.", "1.0"},
      {"15b3", "\"15b3\""},
      {"1021", "1021"},
      {"101e", "\"101e\""},
      {"'8'", "\"8\""},
      {"\"yes\"", "\"yes\""},
      {"0000:3c:00.0", "\"0000:3c:00.0\""},
      {"12:30", "\"12:30\""},
      {"2026-01-23", "\"2026-01-23\""},
      {"9223372036854775808", "9223372036854775808.0"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"!!str 8", "\"8\""},
      {"! 8", "\"8\""},
      {"!!int '8'", "8"},
      {"!!float 8", "8.0"},
      {"-", "[null]"},
      {"1Gi", "\"1Gi\""},
      {"", "null"},
      {"1-2", "\"1-2\""},
      {"_1", "\"_1\""},
      {"<<", "\"<<\""},
  };
  for (const auto& [text, expected] : cases) {
    const ParsedYaml parsed = parsed_yaml(fmt::format("{}{}\n", "a: \n  ", text));
    EXPECT_EQ(parsed.json(), fmt::format("{{\"a\":{}}}\n", expected)) << text << parsed.messages;
  }
}

TEST(Yaml, SeveralDocumentsCommentsDirectivesAndEmptyOnes) {
  EXPECT_EQ(parsed_yaml("# c\n%YAML 1.1\n---\na: 1\n---\n# nothing\n---\n- b\n...\n# end\n---\nnull\n---\n").json(),
            "{\"a\":1}\n[\"b\"]\nnull\n");
  EXPECT_EQ(parsed_yaml("").json() + parsed_yaml("\n# only\n").json() + parsed_yaml("---\n").json(), "");
  EXPECT_EQ(parsed_yaml("--- 1\n--- {a: 2}\n---x: 1\n").messages.substr(0, 11), "a.yaml:3:1:");
  EXPECT_EQ(parsed_yaml("a: |\n  ---\n  x\nb: 1\n").json(), "{\"a\":\"---\\nx\\n\",\"b\":1}\n");
}

// A block of a Markdown file, or a text in a ConfigMap: what follows it is none of its JSON.
TEST(Yaml, JsonOfAPartOfAFileEndsWithThePart) {
  const auto file = std::make_shared<const Source>(Source{"a.md", "{\"a\":\n\"b\"}"});
  Diagnostics diagnostics;
  EXPECT_TRUE(parse_yaml(file, LineIndex(file), {0, 6}, diagnostics).empty());
  EXPECT_EQ(render(diagnostics),
            "a.md:2:1: error: expected a value, found the end of the text [RB-JSON-001]\n"
            "     2 | \"b\"}\n"
            "       | ^\n");
}

TEST(Yaml, WindowsFilesReadTheSameAndKeepTheirPlaces) {
  const ParsedYaml parsed = parsed_yaml("\xEF\xBB\xBFspec:\r\n  ä: [x,\r\n    z]\r\n  numVfs: 8\r\n");
  EXPECT_EQ(parsed.json(), "{\"spec\":{\"ä\":[\"x\",\"z\"],\"numVfs\":8}}\n");
  const Value& count = *parsed.documents[0].find("spec")->find("numVfs");
  EXPECT_EQ(count.span.to_string(), "a.yaml:4:11");
  EXPECT_EQ(count.written(), "8");
}

TEST(Yaml, SpansStandAtKeysAndValues) {
  const ParsedYaml parsed = parsed_yaml("---\nspec:\n  pfNames: [ens1, 'ens2#0-3']\n---\nx: é # c\ny: z\n");
  const Value& names = *parsed.documents[0].find("spec")->find("pfNames");
  EXPECT_EQ(names.span.to_string(), "a.yaml:3:12");
  EXPECT_EQ((*names.as_array())[1].span.to_string(), "a.yaml:3:19");
  EXPECT_EQ((*names.as_array())[1].written(), "'ens2#0-3'");
  const Value::Member& y = (*parsed.documents[1].as_object())[1];
  EXPECT_EQ(y.key_span.to_string(), "a.yaml:6:1");
  EXPECT_EQ(y.value.span.to_string(), "a.yaml:6:4");
}

TEST(Yaml, AnchorsAliasesAndMergeKeys) {
  EXPECT_EQ(parsed_yaml("base: &b {a: 1, b: 2}\nx: {<<: *b, b: 3}\ny: *b\n").json(),
            "{\"base\":{\"a\":1,\"b\":2},\"x\":{\"b\":3,\"a\":1},\"y\":{\"a\":1,\"b\":2}}\n");
  EXPECT_EQ(parsed_yaml("- &a {k: 1, l: 1}\n- &b {k: 2, m: 2}\n- {<<: [*a, *b], m: 3}\n").json(),
            "[{\"k\":1,\"l\":1},{\"k\":2,\"m\":2},{\"m\":3,\"k\":1,\"l\":1}]\n");
  EXPECT_EQ(parsed_yaml("&k key: v\nx: *k\n").json(), "{\"key\":\"v\",\"x\":\"key\"}\n");
}

TEST(Yaml, JsonFilesAreReadAsJson) {
  EXPECT_EQ(parsed_yaml(" {\"a\": \"yes\", \"b\": [1]}\n").json(), "{\"a\":\"yes\",\"b\":[1]}\n");
  EXPECT_EQ(parsed_yaml("{a: yes}\n").json(), "{\"a\":true}\n");
  EXPECT_EQ(parsed_yaml("{\"a\": 1}\n---\n{\"b\": 2}\n").json(), "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_EQ(parsed_yaml("{\"a\": nul}\n").json(), "{\"a\":\"nul\"}\n") << "YAML allows it";
  EXPECT_EQ(parsed_yaml("{\"a\": 1\n \"b\": 2}\n").messages,
            "a.yaml:2:2: error: expected ',' or '}', found '\"' [RB-JSON-001]\n"
            "     2 |  \"b\": 2}\n       |  ^\n");
}

TEST(Yaml, ABrokenDocumentDoesNotHideTheOthers) {
  const ParsedYaml parsed = parsed_yaml("a: 1\n---\nb: [\n---\nc: 3\n---\nd: \xff\n---\ne: 5\n");
  EXPECT_EQ(parsed.json(), "{\"a\":1}\n{\"c\":3}\n{\"e\":5}\n");
  EXPECT_EQ(parsed.messages,
            "a.yaml:4:1: error: expected ',' or ']' in what '[' opened [RB-YAML-001]\n"
            "     4 | ---\n       | ^\n  note: a.yaml:3:4: it was opened here\n"
            "     3 | b: [\n       |    ^\n"
            "a.yaml:7:4: error: byte 0xff is not UTF-8 [RB-YAML-004]\n"
            "     7 | d: \xEF\xBF\xBD\n       |    ^\n  fix: save the file as UTF-8\n");
}

TEST(Yaml, HostileDocumentsAreRefusedQuickly) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  EXPECT_NE(parsed_yaml(bomb).messages.find("anchors and aliases make this document too large [RB-YAML-008]"),
            std::string::npos);
  std::string of_maps = "a0: &a0 {x: x}\n";
  for (int i = 1; i < 21; ++i) of_maps += fmt::format("a{0}: &a{0} {{x: *a{1}, y: *a{1}}}\n", i, i - 1);
  EXPECT_NE(parsed_yaml(of_maps).messages.find("anchors and aliases make this document too large [RB-YAML-008]"),
            std::string::npos);
  std::string deep_aliases = "a0: &a0 [x]\n";
  for (int i = 1; i < 1000; ++i) deep_aliases += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  EXPECT_NE(parsed_yaml(deep_aliases).messages.find("nested deeper than 128 levels [RB-YAML-007]"), std::string::npos);
  EXPECT_NE(parsed_yaml(std::string(100'000, '[')).messages.find("RB-YAML-007"), std::string::npos);
  std::string long_map;
  for (int i = 0; i < 50'000; ++i) long_map += fmt::format("key{}: 1\n", i);
  EXPECT_EQ(parsed_yaml(long_map).documents[0].as_object()->size(), 50'000u);
}

TEST(Yaml, Utf16IsNamed) {
  EXPECT_EQ(parsed_yaml(std::string("\xFF\xFE\x61\x00", 4)).messages,
            "a.yaml: error: the file is UTF-16 [RB-YAML-004]\n  fix: save it as UTF-8\n");
}

TEST(ToYaml, IsWhatAPersonWouldWrite) {
  Diagnostics diagnostics;
  const std::string text =
      "apiVersion: v1\n"
      "metadata:\n"
      "  name: x\n"
      "  labels: {}\n"
      "spec:\n"
      "  containers:\n"
      "  - name: a\n"
      "    args:\n"
      "    - \"1\"\n"
      "    - \"yes\"\n"
      "    - -v\n"
      "  config: |\n"
      "    {\n"
      "      \"type\": \"sriov\"\n"
      "    }\n"
      "  matrix:\n"
      "  - - 1\n"
      "    - 2.0\n"
      "  - []\n";
  EXPECT_EQ(to_yaml(parsed_yaml(text).documents[0]), text);
}

TEST(Yaml, OddKeysTagsAndMergesAreReportedOrRead) {
  struct Case {
    std::string text, reported, json;
  };
  const Case cases[] = {
      {"a: &k name\n*k : 1\n", "", R"({"a":"name","name":1})"},
      {"? [a]\n: 1\n", "RB-YAML-010 1:3 a key must be a text, not a map or a list (put the key in double quotes)", ""},
      {"&m {a: 1}: 2\n", "RB-YAML-010 1:1 a key must be a text, not a map or a list (put the key in double quotes)",
       ""},
      {"a: &k [1]\n*k : 1\n",
       "RB-YAML-010 2:1 a key must be a text, not a map or a list (put the key in double quotes)", ""},
      {"a: {{ .Values.x }}\n",
       "RB-YAML-010 1:5 a key must be a text, not a map or a list ('{{' is a template: render it first (helm template, "
       "kustomize build), or put the value in quotes)",
       ""},
      {"a: !!seq [1]\nb: !!map {c: 1}\nd: ! [2]\n", "", R"({"a":[1],"b":{"c":1},"d":[2]})"},
      {"a: !!map [1]\n", "RB-YAML-011 1:4 tag 'tag:yaml.org,2002:map' does not fit this value or is not known ()", ""},
      {"a: !mine {b: 1}\n", "RB-YAML-011 1:4 tag '!mine' does not fit this value or is not known ()", ""},
      {"a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", "", R"({"a":{"b":1,"c":2},"d":{"c":3,"b":1}})"},
      {"a: {<<: [{b: 1}, {b: 2, c: 3}], d: 4}\n", "", R"({"a":{"d":4,"b":1,"c":3}})"},
      {"a: {<<: [{b: 1}, [2]]}\n", "RB-YAML-009 1:18 '<<' takes maps, found a list ()", ""},
      {"a: {<<: [{b: 1}, 2]}\n", "RB-YAML-009 1:18 '<<' takes maps, found an integer ()", ""},
      {"a: {<<: x}\n", "RB-YAML-009 1:9 '<<' takes maps, found a string ()", ""},
      {"a: {\"<<\": x}\n", "", R"({"a":{"<<":"x"}})"},
      {"a: 1\nb: 2\na: 3\n", "RB-YAML-003 3:1 duplicate key 'a' ()", R"({"a":1,"b":2})"},
      {"a: *b\n",
       "RB-YAML-008 1:4 alias '*b' refers to an unknown anchor (mark the value it means with '&b', or put the text in "
       "quotes)",
       ""},
      {"a: \x01\n",
       "RB-YAML-004 1:4 character U+0001 is not allowed in YAML (remove it, or write it as an escape in "
       "double quotes)",
       ""},
  };
  for (const Case& c : cases) {
    Diagnostics found;
    const auto values = parse_yaml(std::make_shared<const Source>(Source{"a.yaml", c.text}), found);
    std::string reported;
    for (const Diagnostic& one : found.all())
      reported += fmt::format("{}{} {}:{} {} ({})", reported.empty() ? "" : "\n", one.id, one.span.line,
                              one.span.column, one.message, one.fix);
    EXPECT_EQ(reported, c.reported) << c.text;
    EXPECT_EQ(values.empty() ? "" : to_json(values[0]), c.json) << c.text;
  }
}

TEST(Yaml, ATextOfTheGreatestSizeIsRead) {
  std::string text = "a: 1\n#";
  text.resize(kMaxSourceBytes, ' ');
  Diagnostics found;
  EXPECT_EQ(parse_yaml(std::make_shared<const Source>(Source{"a.yaml", text}), found).size(), 1u);
  EXPECT_TRUE(found.all().empty());
  text += ' ';
  EXPECT_TRUE(parse_yaml(std::make_shared<const Source>(Source{"a.yaml", text}), found).empty());
  ASSERT_EQ(found.all().size(), 1u);
  EXPECT_EQ(found.all()[0].id, "RB-YAML-004");
  EXPECT_EQ(found.all()[0].message,
            fmt::format("{} bytes are too many; the limit is {}", kMaxSourceBytes + 1, kMaxSourceBytes));
}

TEST(ToYaml, EscapesWhatYamlDoesNotTakeAndQuotesWhatItWouldRead) {
  const std::pair<std::string, std::string> cases[] = {
      {"\xC2\x85", "\"\\u0085\""},
      {"\xC2\x9F", "\"\\u009f\""},
      {"\xC2\xA0", "\xC2\xA0"},
      {"a\xE2\x80\xA8"
       "b\xE2\x80\xA9"
       "c",
       "\"a\\u2028b\\u2029c\""},
      {"\xEF\xBB\xBF"
       "x",
       "\"\\ufeffx\""},
      {"\xEF\xBF\xBE"
       "x\xEF\xBF\xBF"
       "y",
       "\"\\ufffex\\uffffy\""},
      {"", "\"\""},
      {"<<", "\"<<\""},
      {"=", "\"=\""},
      {"==", "=="},
      {"...", "\"...\""},
      {"..", ".."},
      {" a", "\" a\""},
      {"a ", "\"a \""},
      {"a: b", "\"a: b\""},
      {"a:b", "a:b"},
      {"a:", "\"a:\""},
      {"a #b", "\"a #b\""},
      {"a#b", "a#b"},
      {"-", "\"-\""},
      {"- a", "\"- a\""},
      {"--a", "\"--a\""},
      {"-a", "-a"},
      {"?", "\"?\""},
      {"12:30", "\"12:30\""},
      {"yes", "\"yes\""},
      {"0x10", "\"0x10\""},
      {"1_000", "\"1_000\""},
      {"a\nb\n", "|\n  a\n  b"},
      {"a\nb", "|-\n  a\n  b"},
      {"a\nb\n\n", "\"a\\nb\\n\\n\""},
      {" a\nb", "\" a\\nb\""},
      {"\na", "\"\\na\""},
      {"a \nb", "\"a \\nb\""},
      {"a\nb ", "\"a\\nb \""},
      {"\n", "\"\\n\""},
  };
  for (const auto& [text, written] : cases)
    EXPECT_EQ(to_yaml(Value(Value::Object{{"k", {}, Value(text)}})), "k: " + written + "\n")
        << testing::PrintToString(text);
  const std::string key(1001, 'k');
  EXPECT_EQ(to_yaml(Value(Value::Object{{key, {}, Value(1)}})), "? " + key + "\n: 1\n");
  EXPECT_EQ(to_yaml(Value(Value::Object{{key.substr(1), {}, Value(1)}})), key.substr(1) + ": 1\n");
}

}  // namespace
}  // namespace railbed::doc

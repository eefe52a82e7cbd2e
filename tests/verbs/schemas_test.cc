// SPDX-License-Identifier: Apache-2.0
// The outputs for programs against the schemas that are published for them (docs/schemas).
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "doc/yaml.h"
#include "facts/facts_fields.h"
#include "json_schema.h"
#include "report/result_kinds.h"
#include "run_verb.h"

namespace railbed {
namespace {

using doc::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::filesystem::path schemas() {
  return std::filesystem::path(source_dir()) / "docs/schemas";
}

// The problems of a document with the schema of its kind.
std::vector<std::string> problems_of(const Value& document) {
  const Value* kind = document.find("kind");
  if (kind == nullptr || !kind->is_string()) return {"the document has no kind"};
  const std::string schema = content(schemas() / (*kind->as_string() + ".json"));
  if (schema.empty()) return {"there is no schema of " + *kind->as_string()};
  return JsonSchema(parsed(schema)).problems(document);
}

class Schemas : public testing::Test {
 protected:
  Schemas() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-schemas-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    // The second one is not found: its notes and fixes belong to the output, too.
    std::ofstream(folder_ / "bad.yaml") << "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {container: []}\n"
                                        << "---\nkind: Gizmo\napiVersion: a/v1\nmetadata: {name: a}\n";
    std::ofstream(folder_ / "ignoring.yaml")
        << "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers: [{image: 1}] # railbed: ignore "
           "RB-API-004 a test\n";
  }
  ~Schemas() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

// Each verb that prints for programs, in both forms.
TEST_F(Schemas, HoldWhatVerbsPrint) {
  const std::string machine = (testdata() / "machines/six-cx7-unwell.machine").string();
  const std::string unlike = (testdata() / "machines/gpu8-ib8.machine").string();
  const std::string demo = (std::filesystem::path(source_dir()) / "demo/manifests").string();
  const std::string state = (folder_ / "state").string();
  const std::string bin = (folder_ / "bin").string();
  const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"NodeFacts", {"discover", "--from", machine}},
      {"NodeFacts", {"discover", "--facts", machine}},
      {"Fleet", {"discover", "--facts", machine, (testdata() / "machines/seed-six-cx7.machine").string(), unlike}},
      {"CheckReport", {"check", (folder_ / "bad.yaml").string()}},
      {"CheckReport", {"check", demo, "--facts", machine}},
      {"CheckReport", {"check", (folder_ / "ignoring.yaml").string(), (folder_ / "bad.yaml").string()}},
      {"Size", {"size", "--profile", "infiniband", "--facts", machine}},
      {"Plan", {"plan", demo, "--from", machine, "--node", "guest-1"}},
      {"Plan", {"plan", (testdata() / "bundles").string(), "--from", machine}},
      {"Status", {"status", "--state-dir", state, "--socket", state + "/none"}},
      {"Attachments", {"attachments", "--state-dir", state}},
      {"Leftovers", {"gc", "--state-dir", state, "--pending-dir", state, "--records", state}},
      {"CniPlugins", {"cni", "status", "--bin-dir", bin, "--types", "macvlan,sriov"}},
      {"DownReport", {"down", "--state-dir", state, "--agent", ""}},
  };
  for (const auto& [kind, arguments] : all) {
    const std::string typed = testing::PrintToString(arguments);
    std::vector<std::string> as_json = arguments;
    as_json.insert(as_json.end(), {"-o", "json"});
    const os::RunResult ran = run_verb(as_json);
    const Value document = parsed(ran.output);
    EXPECT_THAT(problems_of(document), IsEmpty()) << typed << ran.errors;
    ASSERT_NE(document.find("kind"), nullptr) << typed;
    EXPECT_EQ(*document.find("kind"), Value(kind)) << typed;
    as_json.back() = "yaml";
    doc::Diagnostics problems;
    const auto as_yaml =
        doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{"output", run_verb(as_json).output}), problems);
    ASSERT_EQ(as_yaml.size(), 1u) << typed << doc::render(problems);
    // Two runs: how long they took differs.
    if (kind != "DownReport" && kind != "Status") {
      EXPECT_EQ(as_yaml.front(), document) << typed;
    }
  }
}

// Also where everything is refused: what is for people goes to the other stream.
TEST_F(Schemas, UpPrintsAReportOrNothing) {
  const std::string state = (folder_ / "state").string();
  const std::string manifest = (folder_ / "ns.yaml").string();
  std::ofstream(manifest) << "apiVersion: v1\nkind: Namespace\nmetadata: {name: ai}\n";
  const os::RunResult refused = run_verb({"up", (folder_ / "bad.yaml").string(), "-o", "json", "--state-dir", state});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_EQ(refused.output, "");
  EXPECT_NE(refused.errors, "");
  const os::RunResult ran = run_verb({"up", manifest, "-o", "json", "--state-dir", state, "--agent", ""});
  if (ran.exit_status != 0) {
    EXPECT_THAT(ran.errors, HasSubstr("privileges are missing"));
    EXPECT_EQ(ran.output, "");
    return;
  }
  EXPECT_THAT(problems_of(parsed(ran.output)), IsEmpty());
}

// What the test above could not notice, if the reader of schemas did not.
TEST_F(Schemas, ReportWhatDoesNotFit) {
  const Value schema = parsed(R"({"type":"object","required":["a"],"properties":{"a":{"type":"integer"},
    "b":{"enum":["x","y"]},"c":{"type":"array","items":{"$ref":"#/$defs/d"}},"e":{"const":1},
    "f":{"type":"object","additionalProperties":{"type":"string"}}},"$defs":{"d":{"type":["string","null"]}}})");
  const auto reported = [&](const std::string& text) { return JsonSchema(schema).problems(parsed(text)); };
  EXPECT_THAT(reported(R"({"a":1,"b":"x","c":["s",null],"e":1,"f":{"any":"text"}})"), IsEmpty());
  EXPECT_THAT(reported(R"([])"), ElementsAre("the document is of type array and not \"object\""));
  EXPECT_THAT(reported(R"({"a":"1","b":"z","c":[1],"e":2,"f":{"any":1},"g":0})"),
              ElementsAre(".a is of type string and not \"integer\"", ".b is \"z\" and none of [\"x\",\"y\"]",
                          ".c[] is of type integer and not [\"string\",\"null\"]", ".e is 2 and not 1",
                          ".f.any is of type integer and not \"string\"", ".g is in no schema"));
  EXPECT_THAT(reported("{}"), ElementsAre("the document has no a"));
  EXPECT_THAT(JsonSchema(parsed(R"({"multipleOf":2})")).problems(parsed("0")),
              ElementsAre("the document has a schema with the unknown keyword multipleOf"));
  EXPECT_THAT(JsonSchema(parsed(R"({"items":{"minimum":1},"maxItems":1})")).problems(parsed("[1,0]")),
              ElementsAre("the document has 2 items and not 1 or fewer", "[] has 0 as its value and not 1 or more"));
  EXPECT_THAT(JsonSchema(parsed(R"({"pattern":"^a","maxLength":1})")).problems(parsed(R"("ba")")),
              ElementsAre("the document has 2 bytes and not 1 or fewer", "the document is ba, which does not fit ^a"));
}

// A kind of result has a row in report/result_kinds.cc, a schema that names it, and a page that refers to that.
TEST_F(Schemas, OfResultsAreThoseOfTheKindsOfResults) {
  std::map<std::string, std::string> published;
  for (const auto& file : std::filesystem::directory_iterator(schemas())) {
    const Value schema = parsed(content(file.path()));
    const Value* name = schema.find("properties")->find("schema");
    if (name != nullptr) published.emplace(file.path().stem().string(), *name->find("const")->as_string());
  }
  std::string pages;
  for (const auto& file : std::filesystem::directory_iterator(schemas().parent_path()))
    if (file.path().extension() == ".md") pages += content(file.path());
  std::map<std::string, std::string> rows;
  for (const report::ResultKind& kind : report::result_kinds()) {
    rows.emplace(std::string(kind.name.kind), std::string(kind.name.schema));
    EXPECT_THAT(pages, HasSubstr(fmt::format("(schemas/{}.json)", kind.name.kind)));
  }
  EXPECT_EQ(published, rows);
}

// --- NodeFacts' schema is made of the list of fields that discover writes.

class FactsSchema {
 public:
  explicit FactsSchema(Value& properties) : properties_(properties) {}

  template <typename T>
  void operator()(const char* key, const T& field) {
    properties_.set(key, schema_of(field));
  }

 private:
  Value& properties_;

  static Value type(std::string_view name) {
    Value out = Value::object();
    out.set("type", name);
    return out;
  }
  template <typename T>
  static Value schema_of(const std::optional<T>&) {
    return schema_of(T());
  }
  template <typename T>
  static Value schema_of(const std::vector<T>&) {
    Value out = type("array");
    out.set("items", schema_of(T()));
    return out;
  }
  static Value schema_of(const std::map<std::string, std::string>&) {
    Value out = type("object");
    out.set("additionalProperties", type("string"));
    return out;
  }
  template <typename T>
  static Value schema_of(const T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      return type("boolean");
    } else if constexpr (std::is_same_v<T, double>) {
      return type("number");
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      return type("string");  // "0x…"
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, IfIndex> || std::is_same_v<T, VfIndex>) {
      return type("integer");
    } else if constexpr (requires(FactsSchema io) { fields(io, field); }) {
      Value out = type("object");
      FactsSchema inner(out.set("properties", Value::object()));
      fields(inner, field);
      return out;
    } else {
      return type("string");
    }
  }
};

TEST_F(Schemas, OfNodeFactsNamesEveryFactThatDiscoverWrites) {
  Value schema = Value::object();
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("$comment", "SPDX-License-Identifier: Apache-2.0");
  schema.set("title", "NodeFacts");
  schema.set("description", "railbed discover -o json; unknown facts are left out");
  schema.set("type", "object");
  Value& required = schema.set("required", Value::array());
  for (const char* key : {"apiVersion", "kind", "version", "node"}) required.push(key);
  Value& properties = schema.set("properties", Value::object());
  properties.set("apiVersion", Value::object()).set("const", "railbed.dev/v1");
  properties.set("kind", Value::object()).set("const", "NodeFacts");
  properties.set("version", Value::object()).set("type", "integer");
  const facts::NodeFacts none;
  FactsSchema io(properties);
  fields(io, none);
  expect_golden(schemas() / "NodeFacts.json", doc::to_json(schema, 2) + "\n");
}

}  // namespace
}  // namespace railbed

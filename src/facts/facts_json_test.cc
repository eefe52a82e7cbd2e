// SPDX-License-Identifier: Apache-2.0
#include "facts/facts_json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doc/json.h"
#include "doc/yaml.h"
#include "facts/facts_fields.h"

namespace railbed::facts {
namespace {

// Fills every field of a struct with something arbitrary, by the same list of fields that writing and reading use.
class Filler {
 public:
  template <typename T>
  void operator()(const char* /*key*/, T& field) {
    fill(field);
  }

 private:
  template <std::integral T>
  void fill(T& field) {
    field = *rc::gen::arbitrary<T>();
  }
  void fill(bool& field) { field = *rc::gen::arbitrary<bool>(); }
  void fill(double& field) { field = *rc::gen::arbitrary<double>(); }
  void fill(std::string& field) {
    std::vector<std::string> parts = *rc::gen::container<std::vector<std::string>>(
        rc::gen::elementOf(std::vector<std::string>{"a", "Z", "0", " ", "\"", "\\", "\n", "é", "…", ":", "#", "-"}));
    field.clear();
    for (const std::string& part : parts) field += part;
  }
  void fill(LinkType& field) {
    field = *rc::gen::element(LinkType::kUnknown, LinkType::kEthernet, LinkType::kInfiniband);
  }
  void fill(EswitchMode& field) { field = *rc::gen::element(EswitchMode::kLegacy, EswitchMode::kSwitchdev); }
  void fill(PciAddress& field) {
    field = {.domain = *rc::gen::arbitrary<uint32_t>(),
             .bus = *rc::gen::arbitrary<uint8_t>(),
             .device = *rc::gen::inRange<uint8_t>(0, 32),
             .function = *rc::gen::inRange<uint8_t>(0, 8)};
  }
  void fill(Guid& field) { field.value = *rc::gen::arbitrary<uint64_t>(); }
  void fill(Gid& field) { field.bytes = *rc::gen::arbitrary<std::array<uint8_t, 16>>(); }
  void fill(MacAddress& field) { field.bytes = *rc::gen::arbitrary<std::array<uint8_t, 6>>(); }
  void fill(IfIndex& field) { field.value = *rc::gen::arbitrary<int>(); }
  void fill(VfIndex& field) { field.value = *rc::gen::arbitrary<int>(); }
  void fill(IpPrefix& field) {
    if (*rc::gen::arbitrary<bool>()) {
      field.address = IpAddress::from_v4(*rc::gen::arbitrary<uint32_t>());
    } else {
      field.address.family = IpFamily::kV6;
      field.address.bytes = *rc::gen::arbitrary<std::array<uint8_t, 16>>();
    }
    field.length = *rc::gen::inRange(0, field.address.bits() + 1);
  }
  void fill(std::map<std::string, std::string>& field) {
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) fill(field["example.org/" + std::to_string(i)]);
  }
  template <typename T>
  void fill(std::optional<T>& field) {
    if (*rc::gen::arbitrary<bool>()) fill(field.emplace());
  }
  template <typename T>
  void fill(std::vector<T>& field) {
    field.resize(*rc::gen::inRange<size_t>(0, 3));
    for (T& item : field) fill(item);
  }
  template <typename T>
  void fill(T& field)
    requires requires(Filler& io) { fields(io, field); }
  {
    fields(*this, field);
  }
};

NodeFacts arbitrary_facts() {
  NodeFacts facts;
  Filler filler;
  fields(filler, facts);
  return facts;
}

std::vector<NodeFacts> read(const std::string& text, doc::Diagnostics& diagnostics) {
  return parse_facts(std::make_shared<const doc::Source>(doc::Source{"facts.json", text}), diagnostics);
}

RC_GTEST_PROP(FactsJson, ComesBackFromJsonAndYaml, ()) {
  NodeFacts facts = arbitrary_facts();
  for (const std::string& text :
       {doc::to_json(to_value(facts)), doc::to_json(to_value(facts), 2), doc::to_yaml(to_value(facts))}) {
    doc::Diagnostics diagnostics;
    std::vector<NodeFacts> again = read(text, diagnostics);
    RC_ASSERT(doc::render(diagnostics) == "");
    RC_ASSERT(again.size() == 1U);
    RC_ASSERT(again[0] == facts);
  }
}

// The message of the only finding, with its place.
std::string finding(const std::string& text) {
  doc::Diagnostics diagnostics;
  size_t nodes = read(text, diagnostics).size();
  if (diagnostics.all().size() != 1) return "not one finding:\n" + doc::render(diagnostics);
  const doc::Diagnostic& only = diagnostics.all()[0];
  return fmt::format("{}:{}: {} [{}] {}{}", only.span.line, only.span.column, only.message, only.id,
                     only.fix.empty() ? "" : only.fix + " ", nodes == 0 ? "refused" : "read");
}

std::string with(const std::string& members) {
  return "{\"apiVersion\": \"railbed.dev/v1\", \"kind\": \"NodeFacts\", \"version\": 1,\n" + members + "}";
}

TEST(FactsJson, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    std::string finding;
  };
  const Case cases[] = {
      {with("\"node\": 7"),
       "2:9: node must be a string, found an integer 7 [RB-FACTS-001] put it in quotes: \"7\" refused"},
      {with("\"nics\": {}"), "2:9: nics must be a list, found an object [RB-FACTS-001] refused"},
      {with("\"nics\": [{\"address\": \"3c:00\"}]"),
       "2:22: nics[0].address: \"3c:00\" is not a PCI address (one looks like 0000:3c:00.0) [RB-FACTS-001] refused"},
      {with("\"nics\": [{\"numVfs\": 1e3}]"),
       "2:21: nics[0].numVfs must be an integer, found a number 1e3 [RB-FACTS-001] refused"},
      {with("\"nics\": [{\"totalVfs\": 99999999999}]"),
       "2:23: nics[0].totalVfs must be -2147483648 to 2147483647, found 99999999999 [RB-FACTS-001] refused"},
      {with("\"nics\": [{\"linkType\": \"IB\"}]"),
       "2:23: nics[0].linkType must be \"unknown\", \"Ethernet\" or \"InfiniBand\", found \"IB\" [RB-FACTS-001] refused"},
      {with("\"fabrics\": [{\"subnetPrefix\": \"fe80::\"}]"),
       "2:30: fabrics[0].subnetPrefix must be a hexadecimal number of 64 bits like \"0x7f12\", found \"fe80::\" [RB-FACTS-001] refused"},
      {with("\"nics\": [{\"totalVFs\": 8}]"),
       "2:11: 'totalVFs' is not a field of nics[0]; it has no effect [RB-FACTS-002] did you mean 'totalVfs'? read"},
      {"{\"apiVersion\": \"railbed.dev/v1\", \"kind\": \"NodeFacts\", \"version\": 2}",
       "1:66: these node facts have version 2; this railbed (" RAILBED_VERSION
       ") reads up to version 1 [RB-FACTS-003] use the release of railbed that wrote them, or write them "
       "again with this one refused"},
      {"{\"apiVersion\": \"railbed.dev/v1\", \"kind\": \"NodeFacts\"}",
       "1:1: node facts need a \"version\", a whole number from 1 [RB-FACTS-001] refused"},
      {"{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}",
       "1:30: not node facts (apiVersion: railbed.dev/v1, kind: NodeFacts) [RB-FACTS-004] railbed discover -o json "
       "writes them refused"},
  };
  for (const Case& one : cases) EXPECT_EQ(finding(one.text), one.finding) << one.text;
}

TEST(FactsJson, ReadsSeveralNodes) {
  std::string one = doc::to_json(to_value({.node = "a"}));
  std::string two = doc::to_json(to_value({.node = "b"}));
  for (const std::string& text :
       {one + "\n---\n" + two, "{\"kind\": \"List\", \"items\": [" + one + "," + two + "]}"}) {
    doc::Diagnostics diagnostics;
    std::vector<NodeFacts> nodes = read(text, diagnostics);
    ASSERT_EQ(nodes.size(), 2U) << doc::render(diagnostics);
    EXPECT_EQ(nodes[1].node, "b");
  }
}

// Long streams are read in parts, on several threads: in the order of the stream, with its lines.
TEST(FactsJson, ReadsThousandsOfNodesInTheirOrder) {
  constexpr int kNodes = 6000;
  constexpr int kWrong = 4321;
  std::string text;
  for (int i = 0; i < kNodes; ++i) {
    NodeFacts node{.node = fmt::format("node-{}", i), .kernel = std::string(300, 'k')};
    text +=
        fmt::format("{}{}\n", i == 0 ? "" : "---\n", i == kWrong ? with("\"node\": 7") : doc::to_json(to_value(node)));
  }
  ASSERT_GT(text.size(), size_t{1} << 20);
  doc::Diagnostics diagnostics;
  const std::vector<NodeFacts> nodes = read(text, diagnostics);
  ASSERT_EQ(nodes.size(), size_t{kNodes - 1});
  for (int i = 0; i < kNodes - 1; ++i)
    ASSERT_EQ(nodes[static_cast<size_t>(i)].node, fmt::format("node-{}", i < kWrong ? i : i + 1));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].span.line, 2 * kWrong + 2);
}

}  // namespace
}  // namespace railbed::facts

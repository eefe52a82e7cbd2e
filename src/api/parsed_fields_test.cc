// SPDX-License-Identifier: Apache-2.0
// Every field that the schema of a kind has is read by that kind's parser, and counts when two objects are compared; or
// it is named here with the reason why not. A field that is added in one place and forgotten in another fails by name.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/load.h"
#include "api/node_state.h"
#include "api/operator_config.h"
#include "doc/json.h"
#include "schema/schema.h"

namespace railbed::api {
namespace {

using doc::Value;
using schema::FieldType;
using schema::Schema;

// Two values of a field that differ.
using Pair = std::pair<Value, Value>;

Value json(const std::string& text) {
  doc::Diagnostics out;
  const auto source = std::make_shared<doc::Source>(doc::Source{"made", fmt::format(R"({{"value": {}}})", text)});
  const std::optional<Value> parsed = doc::parse_json(source, out);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.has_value() ? *parsed->find("value") : Value();
}

struct ParsedKind {
  std::string api_version, kind;
  std::string base;                           // the least that is valid, without apiVersion, kind and metadata
  std::map<std::string, std::string> values;  // of fields whose texts have a form: two of them, a JSON list
  std::map<std::string, std::string> needs;   // of fields that need others: members of spec
  std::map<std::string, std::string> items;   // of lists of objects: the least that is valid
  std::map<std::string, std::string> unread;  // and why
  // What the parser makes of two objects: whether both are there, and whether they are equal.
  std::function<std::pair<bool, bool>(const Value&, const Value&)> parse;
};

std::pair<bool, bool> by_load(const Value& a, const Value& b) {
  const auto loaded = [](const Value& object) {
    doc::Diagnostics out;
    const Value* const all[] = {&object};
    Objects objects = load_documents(all, out);
    for (const doc::Diagnostic& one : out.all())
      EXPECT_NE(one.severity, doc::Severity::kError) << one.message << " in " << doc::to_json(object);
    return objects;
  };
  const Objects left = loaded(a), right = loaded(b);
  return {left.policies.size() + left.networks.size() == 1 && right.policies.size() + right.networks.size() == 1,
          left == right};
}

std::pair<bool, bool> as_node_state(const Value& a, const Value& b) {
  doc::Diagnostics out;
  const auto left = parse_node_state(a, out), right = parse_node_state(b, out);
  for (const doc::Diagnostic& one : out.all()) EXPECT_NE(one.severity, doc::Severity::kError) << one.message;
  return {left.has_value() && right.has_value(), left == right};
}

template <auto parse>
std::pair<bool, bool> as_parsed(const Value& a, const Value& b) {
  doc::Diagnostics out;
  const auto left = parse(a, out), right = parse(b, out);
  for (const doc::Diagnostic& one : out.all()) EXPECT_NE(one.severity, doc::Severity::kError) << one.message;
  return {left.has_value() && right.has_value(), left == right};
}

const char* const kForOvs = "no Open vSwitch is configured by railbed; a policy with it is reported (RB-POLICY-012)";
const char* const kAddresses = R"(["0000:3b:00.0", "0000:5e:00.0"])";
const char* const kPf = R"({"pciAddress": "0000:3b:00.0", "name": "p0"})";
const char* const kForOthers = "of the SR-IOV operator, for people";

std::vector<ParsedKind> parsed_kinds() {
  const std::map<std::string, std::string> network{
      {"spec.capabilities", R"(["{\"mac\": true}", "{\"ips\": true}"])"},
      {"spec.ipam",
       R"(["{\"type\": \"host-local\", \"subnet\": \"10.2.0.0/24\"}", "{\"type\": \"host-local\", \"subnet\": \"10.1.0.0/24\"}"])"},
      {"spec.metaPlugins", R"(["{\"type\": \"tuning\"}", "{\"type\": \"rdma\"}"])"},
      {"spec.logLevel", R"(["info", "debug"])"},
      {"spec.vlanProto", R"(["802.1q", "802.1ad"])"},
  };
  const char* const network_base = R"({"spec": {"resourceName": "rail0"}})";
  return {
      {.api_version = "sriovnetwork.openshift.io/v1",
       .kind = "SriovNetworkNodePolicy",
       .base = R"({"spec": {"resourceName": "rail0", "numVfs": 8, "nodeSelector": {},
                            "nicSelector": {"pfNames": ["p0"]}}})",
       .values = {{"spec.linkType", R"(["eth", "ib"])"},
                  {"spec.nicSelector.deviceID", R"(["1017", "101b"])"},
                  {"spec.nicSelector.netFilter", R"(["aws/NetworkID:a", "aws/NetworkID:b"])"},
                  {"spec.nicSelector.rootDevices", R"([["0000:3b:00.0"], ["0000:5e:00.0"]])"},
                  {"spec.nicSelector.vendor", R"(["15b3", "8086"])"}},
       .needs = {{"spec.bridge", R"({"eSwitchMode": "switchdev", "linkType": "eth"})"},
                 {"spec.nicSelector.netFilter", R"({"nicSelector": {}})"},
                 {"spec.vdpaType", R"({"eSwitchMode": "switchdev", "deviceType": "netdevice"})"}},
       .items = {},
       .unread = {},
       .parse = by_load},
      {.api_version = "sriovnetwork.openshift.io/v1",
       .kind = "SriovNetwork",
       .base = network_base,
       .values = network,
       .needs = {{"spec.vlanProto", R"({"vlan": 7})"}, {"spec.vlanQoS", R"({"vlan": 7})"}},
       .items = {},
       .unread = {},
       .parse = by_load},
      {.api_version = "sriovnetwork.openshift.io/v1",
       .kind = "SriovIBNetwork",
       .base = network_base,
       .values = network,
       .needs = {},
       .items = {},
       .unread = {},
       .parse = by_load},
      {.api_version = "sriovnetwork.openshift.io/v1",
       .kind = "SriovNetworkNodeState",
       .base = R"({"spec": {}})",
       .values = {{"spec.interfaces[].eSwitchMode", R"(["legacy", "switchdev"])"},
                  {"spec.interfaces[].linkType", R"(["IB", "ETH"])"},
                  {"spec.interfaces[].pciAddress", kAddresses},
                  {"spec.interfaces[].vfGroups[].deviceType", R"(["netdevice", "vfio-pci"])"},
                  {"spec.interfaces[].vfGroups[].vfRange", R"(["0-1", "0-2"])"},
                  {"spec.interfaces[].vfGroups[].vdpaType", R"(["virtio", "vhost"])"},
                  {"status.interfaces[].pciAddress", kAddresses},
                  {"status.interfaces[].Vfs[].pciAddress", kAddresses}},
       .needs = {},
       .items = {{"spec.interfaces[]", kPf},
                 {"spec.interfaces[].vfGroups[]", R"({"vfRange": "0-1", "policyName": "p", "resourceName": "r"})"},
                 {"status.interfaces[]", kPf},
                 {"status.interfaces[].Vfs[]", R"({"pciAddress": "0000:3b:00.1", "vfID": 0})"},
                 {"status.policies[]", R"({"name": "op/p"})"}},
       .unread = {{"spec.bridges", kForOvs},
                  {"status.bridges", kForOvs},
                  {"status.conditions[].observedGeneration", kForOthers},
                  {"status.interfaces[].Vfs[].assigned", kForOthers},
                  {"status.interfaces[].Vfs[].representorName", kForOthers},
                  {"status.interfaces[].Vfs[].vdpaType", kForOthers},
                  {"status.interfaces[].externallyManaged", kForOthers},
                  {"status.interfaces[].netFilter", kForOthers}},
       .parse = as_node_state},
      {.api_version = "sriovnetwork.openshift.io/v1",
       .kind = "SriovOperatorConfig",
       .base = R"({"spec": {}})",
       .values = {{"spec.disablePlugins", R"([["mellanox"], []])"},
                  {"spec.featureGates", R"([{"a": true}, {"a": false}])"}},
       .needs = {},
       .items = {},
       .unread = {},
       .parse = as_parsed<parse_operator_config>},
      {.api_version = "sriovnetwork.openshift.io/v1",
       .kind = "SriovNetworkPoolConfig",
       .base = R"({"spec": {}})",
       .values = {{"spec.maxUnavailable", R"([1, "10%"])"},
                  {"spec.nodeSelector.matchExpressions[].operator", R"(["In", "NotIn"])"}},
       .needs = {},
       .items = {{"spec.nodeSelector.matchExpressions[]", R"({"key": "a", "operator": "In"})"}},
       .unread = {},
       .parse = as_parsed<parse_pool_config>},
  };
}

// Two values that `schema` allows.
std::optional<Pair> two_values(const Schema& schema) {
  switch (schema.type) {
    case FieldType::kText:
      if (schema.choices.size() > 1) return Pair{schema.choices.front(), schema.choices.back()};
      return Pair{"text-a", "text-b"};
    case FieldType::kInteger:
    case FieldType::kNumber: {
      const int64_t least = std::max<int64_t>(schema.min.value_or(1), 1);
      return Pair{least, least + 1};
    }
    case FieldType::kFlag:
      return Pair{false, true};
    default:
      return std::nullopt;
  }
}

class Walker {
 public:
  explicit Walker(ParsedKind kind) : kind_(std::move(kind)) {
    const Schema* schema = schema::find_schema(kind_.api_version, kind_.kind);
    EXPECT_NE(schema, nullptr) << kind_.kind;
    for (const char* top : {"spec", "status"})
      if (const auto found = schema->fields.find(top); found != schema->fields.end() && found->second != nullptr)
        if (kind_.kind == "SriovNetworkNodeState" || std::string_view(top) == "spec") walk(*found->second, {top});
    for (const auto& [path, why] : kind_.unread) EXPECT_TRUE(met_.contains(path)) << kind_.kind << " " << path;
  }

 private:
  using Path = std::vector<std::string>;

  void walk(const Schema& schema, const Path& path) {
    const std::string name = fmt::format("{}", fmt::join(path, "."));
    if (kind_.unread.contains(name)) {
      met_.insert(name);
      return expect_unread(schema, path);
    }
    if (const auto given = kind_.values.find(name); given != kind_.values.end()) {
      const Value pair = json(given->second);
      return expect_read(path, (*pair.as_array())[0], (*pair.as_array())[1]);
    }
    if (schema.type == FieldType::kObject && !schema.fields.empty()) {
      for (const auto& [key, field] : schema.fields) {
        Path inner = path;
        inner.push_back(key);
        walk(*field, inner);
      }
      return;
    }
    if (schema.type == FieldType::kList && schema.items != nullptr && schema.items->type == FieldType::kObject) {
      Path inner = path;
      inner.back() += "[]";
      return walk(*schema.items, inner);
    }
    const Schema& leaf = schema.type == FieldType::kList ? *schema.items : schema;
    if (schema.type == FieldType::kMap || schema.type == FieldType::kAny) {
      return expect_read(path, json(R"({"a": "1"})"), json(R"({"a": "2"})"));
    }
    const std::optional<Pair> pair = two_values(leaf);
    ASSERT_TRUE(pair.has_value()) << kind_.kind << " " << name << ": give two values of it in this test";
    if (schema.type != FieldType::kList) return expect_read(path, pair->first, pair->second);
    Value first = Value::array(), second = Value::array();
    first.push(pair->first);
    second.push(pair->second);
    expect_read(path, first, second);
  }

  // The base with a value at the path; "interfaces[]" is a list of one object.
  Value object_with(const Path& path, const Value& value) const {
    Value object = json(kind_.base);
    object.set("apiVersion", kind_.api_version);
    object.set("kind", kind_.kind);
    object.set("metadata", json(R"({"name": "a", "namespace": "b"})"));
    const std::string name = fmt::format("{}", fmt::join(path, "."));
    for (const auto& [of, members] : kind_.needs)
      if (name.starts_with(of)) {
        const Value needed = json(members);
        for (const Value::Member& one : *needed.as_object()) object.find("spec")->set(one.key, one.value);
      }
    Value* at = &object;
    std::string done;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      done += (done.empty() ? "" : ".") + path[i];
      const bool is_list = path[i].ends_with("[]");
      const std::string key = is_list ? path[i].substr(0, path[i].size() - 2) : path[i];
      const auto item = kind_.items.find(done);
      Value* next = at->find(key);
      if (next == nullptr)
        next =
            &at->set(key, json(is_list ? fmt::format("[{}]", item != kind_.items.end() ? item->second : "{}") : "{}"));
      at = is_list ? &next->as_array()->front() : next;
    }
    at->set(path.back(), value);
    return object;
  }

  void expect_read(const Path& path, const Value& first, const Value& second) const {
    const auto [are_there, are_equal] = kind_.parse(object_with(path, first), object_with(path, second));
    const std::string name = fmt::format("{} {}", kind_.kind, fmt::join(path, "."));
    EXPECT_TRUE(are_there) << name << ": the parser refuses " << doc::to_json(first) << " or " << doc::to_json(second);
    EXPECT_FALSE(are_equal) << name << " is in the schema, and the parser does not read it, or it is not compared";
  }
  void expect_unread(const Schema& schema, const Path& path) const {
    const std::optional<Pair> pair = two_values(schema);
    const Value first = pair.has_value() ? pair->first : json("{}");
    const auto [are_there, are_equal] =
        kind_.parse(object_with(path, first), object_with(path, pair ? pair->second : first));
    EXPECT_TRUE(are_there && are_equal) << kind_.kind << " " << fmt::format("{}", fmt::join(path, "."))
                                        << " is read: take it off the list of this test";
  }

  const ParsedKind kind_;
  std::set<std::string> met_;
};

TEST(ParsedFields, AreTestedForEveryKindThatIsRead) {
  const std::map<std::string_view, std::string_view> others{
      {"NetworkAttachmentDefinition",
       "its fields are those of a text; attach/types_table_test.cc has the keys of plugins"},
      {"Pod", "most fields are the kubelet's; railbed reads names, placement, resources and the networks annotation"},
      {"Node", "names and labels; railbed reads no field of its spec"},
  };
  const std::vector<ParsedKind> tested = parsed_kinds();
  for (const Kind& kind : kinds()) {
    if (parser_of(kind) == nullptr) continue;
    const bool is_tested = std::ranges::find(tested, kind.name, &ParsedKind::kind) != tested.end();
    EXPECT_TRUE(is_tested || others.contains(kind.name))
        << kind.name << " is read, and its fields are not in this test";
    EXPECT_NE(schema::find_schema(kind.api_version(), kind.name), nullptr)
        << kind.name << " is read, and has no schema: src/schema/data";
  }
}

TEST(ParsedFields, AreThoseOfTheSchema) {
  for (ParsedKind& kind : parsed_kinds()) Walker{std::move(kind)};
}

}  // namespace
}  // namespace railbed::api

// SPDX-License-Identifier: Apache-2.0
// deploy/crds in a real API server: each definition is taken, every field that check knows is stored and read back, and
// what check refuses by itself is refused.
#include <gtest/gtest.h>

#include "control_plane.h"
#include "controller/crds.h"
#include "doc/json.h"
#include "doc/members.h"
#include "schema/schema.h"

namespace railbed::controller {
namespace {

using cluster::admin;
using cluster::Connection;
using cluster::new_namespace;
using cluster::shell;
using doc::Value;
using schema::FieldType;
using schema::Schema;

const char* definitions_folder() {
  return RAILBED_SOURCE_DIR "/deploy/crds";
}

kube::Scope scope_of(const CustomResource& resource) {
  const bool all = doc::text_in(*resource.definition.find("spec"), "scope") == "Cluster";
  return all ? kube::Scope::kCluster : kube::Scope::kNamespaced;
}

kube::Resource kind_of(const CustomResource& resource) {
  return {resource.group, "v1", resource.plural, resource.kind, scope_of(resource)};
}

void install() {
  static const bool once = [] {
    shell(std::string("kubectl apply --server-side -f ") + definitions_folder());
    shell("kubectl wait --for=condition=Established --timeout=90s crd --all");
    const auto api = admin();
    for (const CustomResource& one : custom_resources())  // which takes a moment longer than the condition
      EXPECT_TRUE(cluster::soon([&] { return api->client.list(kind_of(one), {}).has_value(); })) << one.kind;
    return true;
  }();
  (void)once;
}

// A value with every field that there is.
Value sample(const Schema& schema) {
  switch (schema.type) {
    case FieldType::kInteger:
    case FieldType::kNumber:
      return schema.min.value_or(1);
    case FieldType::kFlag:
      return true;
    case FieldType::kIntegerOrText:
    case FieldType::kQuantity:
      return "1";
    case FieldType::kMap:
      if (schema.items == nullptr || schema.items->type == FieldType::kAny || schema.items->type == FieldType::kText)
        return Value(Value::Object{{"key", {}, Value("value")}});
      return Value(Value::Object{{"key", {}, sample(*schema.items)}});
    case FieldType::kList:
      return Value(Value::Array{sample(*schema.items)});
    case FieldType::kObject: {
      Value out = Value::object();
      for (const auto& [name, field] : schema.fields) out.set(name, sample(*field));
      return out;
    }
    case FieldType::kAny:
    case FieldType::kOneOrMany:
      return Value(Value::Object{{"anything", {}, Value("goes")}});
    default:
      return schema.choices.empty() ? Value("text") : Value(schema.choices.front());
  }
}

// Whether `stored` has all of `given`, and defaults besides.
void expect_within(const Value& given, const Value& stored, const std::string& path) {
  if (const Value::Object* members = given.as_object()) {
    for (const auto& [key, span, value] : *members) {
      const Value* next = stored.find(key);
      ASSERT_TRUE(next) << path << "." << key << " was pruned";
      expect_within(value, *next, path + "." + key);
    }
    return;
  }
  EXPECT_EQ(doc::to_json(stored), doc::to_json(given)) << path;
}

Value object_of(const CustomResource& resource, const std::string& ns, const std::string& name) {
  Value object = Value::object();
  object.set("apiVersion", resource.group + "/v1");
  object.set("kind", resource.kind);
  Value& metadata = object.set("metadata", Value::object());
  metadata.set("name", name);
  if (scope_of(resource) == kube::Scope::kNamespaced) metadata.set("namespace", ns);
  return object;
}

CustomResource resource_of(std::string_view kind) {
  for (CustomResource& one : custom_resources())
    if (one.kind == kind) return std::move(one);
  ADD_FAILURE() << kind;
  return {};
}

TEST(Definitions, KeepEveryFieldThatCheckKnows) {
  install();
  const auto api = admin();
  const std::string ns = new_namespace();
  for (const CustomResource& resource : custom_resources()) {
    const Schema& known = *schema::find_schema(resource.group + "/v1", resource.kind);
    Value object = object_of(resource, ns, "all");
    Value& spec = object.set("spec", sample(*known.fields.at("spec")));
    if (resource.kind == "SriovNetworkNodePolicy") spec.set("eSwitchMode", "switchdev");  // vdpaType wants it
    if (resource.kind == "AddressCell") spec.set("base", "10.50.0.0");                    // the sample is no address
    const auto made = api->client.create(kind_of(resource), object);
    ASSERT_TRUE(made) << resource.kind << ": " << made.error().to_string();
    const auto stored = api->client.get(kind_of(resource), kube::key_of(object));
    ASSERT_TRUE(stored) << stored.error().to_string();
    expect_within(*object.find("spec"), *stored->find("spec"), resource.kind + ".spec");
    if (!known.fields.contains("status") || resource.group == "k8s.cni.cncf.io") continue;  // it has no status
    Value reported = *stored;
    reported.set("status", sample(*known.fields.at("status")));
    const auto updated = api->client.update(kind_of(resource), reported, kube::Part::kStatus);
    ASSERT_TRUE(updated) << resource.kind << ": " << updated.error().to_string();
    expect_within(*reported.find("status"), *updated->find("status"), resource.kind + ".status");
  }
}

// A node state is written by programs of several versions: what one of them does not know is not lost.
TEST(Definitions, KeepWhatOthersWriteIntoNodeStates) {
  install();
  const auto api = admin();
  const std::string ns = new_namespace();
  const CustomResource resource = resource_of("SriovNetworkNodeState");
  Value object = object_of(resource, ns, "node1");
  object.set("spec", Value(Value::Object{{"ofTomorrow", {}, Value("kept")}}));
  const auto made = api->client.create(kind_of(resource), object);
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(doc::text_in(*made->find("spec"), "ofTomorrow"), "kept");
}

TEST(Definitions, RefuseWhatCheckRefuses) {
  install();
  const auto api = admin();
  const std::string ns = new_namespace();
  struct Row {
    const char* kind;
    const char* spec;
    const char* reported;
  };
  constexpr const char* kPolicy = "SriovNetworkNodePolicy";
  const std::vector<Row> rows{
      {kPolicy, R"({"resourceName":"r","numVfs":1,"nodeSelector":{},"nicSelector":{}})",
       "an empty nicSelector matches no NIC"},
      {kPolicy, R"({"resourceName":"r","numVfs":1,"nodeSelector":{}})", "spec.nicSelector: Required value"},
      {kPolicy, R"({"resourceName":"r/x","numVfs":1,"nodeSelector":{},"nicSelector":{"vendor":"15b3"}})",
       "spec.resourceName"},
      {kPolicy, R"({"resourceName":"r","numVfs":1,"priority":100,"nodeSelector":{},"nicSelector":{"vendor":"15b3"}})",
       "spec.priority"},
      {kPolicy,
       R"({"resourceName":"r","numVfs":1,"deviceType":"vfio-pci","isRdma":true,"nodeSelector":{},"nicSelector":{"vendor":"15b3"}})",
       "isRdma needs deviceType netdevice"},
      {kPolicy,
       R"({"resourceName":"r","numVfs":1,"vdpaType":"vhost","nodeSelector":{},"nicSelector":{"vendor":"15b3"}})",
       "vdpaType needs deviceType netdevice and eSwitchMode switchdev"},
      {"SriovNetwork", R"({"resourceName":"r","minTxRate":200,"maxTxRate":100})", "minTxRate is above maxTxRate"},
      {"SriovNetwork", R"({"resourceName":"r","vlanQoS":3})", "vlanQoS needs a vlan"},
      {"SriovNetwork", R"({"resourceName":"r","vlan":4095})", "spec.vlan"},
      {"SriovIBNetwork", R"({"resourceName":"r","linkState":"up"})", "spec.linkState"},
  };
  for (const Row& row : rows) {
    const CustomResource resource = resource_of(row.kind);
    doc::Diagnostics found;
    Value object = object_of(resource, ns, "wrong");
    object.set("spec", *doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"spec", row.spec}), found));
    const auto made = api->client.create(kind_of(resource), object);
    ASSERT_FALSE(made) << row.spec;
    EXPECT_NE(made.error().message.find(row.reported), std::string::npos) << made.error().message;
  }
}

TEST(Definitions, SayInKubectlWhereAPolicyAppliesAndWhyNot) {
  install();
  const auto api = admin();
  const std::string ns = new_namespace();
  const CustomResource resource = resource_of("SriovNetworkNodePolicy");
  doc::Diagnostics found;
  Value object = object_of(resource, ns, "rail0");
  object.set(
      "spec",
      *doc::parse_json(
          std::make_shared<const doc::Source>(doc::Source{
              "spec", R"({"resourceName":"rail0","numVfs":4,"nodeSelector":{},"nicSelector":{"vendor":"15b3"}})"}),
          found));
  auto made = api->client.create(kind_of(resource), object);
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(doc::text_in(*made->find("spec"), "deviceType"), "netdevice");
  made->set("status",
            *doc::parse_json(
                std::make_shared<const doc::Source>(doc::Source{
                    "status", R"({"summary":"1 of 2","conditions":[{"type":"Ready","status":"False","reason":"Failed",)"
                              R"("message":"node gpu2: no VFs","lastTransitionTime":"2026-11-22T15:00:00Z"}]})"}),
                found));
  const auto reported = api->client.update(kind_of(resource), *made, kube::Part::kStatus);
  ASSERT_TRUE(reported) << reported.error().to_string();
  const std::string table = shell("kubectl -n " + ns + " get sriovnetworknodepolicies --no-headers | sed 's/  */ /g'");
  EXPECT_EQ(table.substr(0, table.rfind(' ')), "rail0 rail0 4 1 of 2 False node gpu2: no VFs");
}

}  // namespace
}  // namespace railbed::controller

// SPDX-License-Identifier: Apache-2.0
#include "controller/crds.h"

#include <set>

#include <gtest/gtest.h>

#include "api/policy.h"
#include "base/testdata.h"
#include "controller/structural_schema.h"
#include "doc/yaml.h"
#include "schema/schema.h"

namespace railbed::controller {
namespace {

using doc::Value;

const Value& schema_of(const CustomResource& resource) {
  return *resource.definition.find("spec")
              ->find("versions")
              ->as_array()
              ->front()
              .find("schema")
              ->find("openAPIV3Schema");
}

CustomResource resource_of(std::string_view kind) {
  for (CustomResource& one : custom_resources())
    if (one.kind == kind) return std::move(one);
  ADD_FAILURE() << "no definition of " << kind;
  return {};
}

// deploy/crds is what people install. RAILBED_UPDATE=1 writes it again.
TEST(CustomResources, AreTheFilesThatAreInstalled) {
  const std::filesystem::path folder = testdata().parent_path() / "deploy/crds";
  std::set<std::string> made;
  for (const CustomResource& one : custom_resources()) {
    expect_golden(folder / (one.name() + ".yaml"),
                  "# SPDX-License-Identifier: Apache-2.0\n# Made by src/controller/crds.cc from src/schema/data.\n" +
                      doc::to_yaml(one.definition));
    made.insert(one.name() + ".yaml");
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_TRUE(made.contains(entry.path().filename())) << entry.path() << " is not made any more";
}

// Every level has a type, or keeps what it does not know: else the API server refuses the definition.
void expect_structural(const Value& schema, const std::string& path) {
  const bool open = schema.find("x-kubernetes-preserve-unknown-fields") || schema.find("x-kubernetes-int-or-string");
  EXPECT_TRUE(schema.find("type") || open) << path;
  if (const Value* properties = schema.find("properties"))
    for (const auto& [key, span, value] : *properties->as_object()) expect_structural(value, path + "." + key);
  for (const char* below : {"items", "additionalProperties"})
    if (const Value* next = schema.find(below)) expect_structural(*next, path + "." + below);
}

TEST(CustomResources, HaveStructuralSchemas) {
  for (const CustomResource& one : custom_resources()) expect_structural(schema_of(one), one.kind);
}

// Whatever check knows is stored: no field of its schemas is missing in the definition.
void expect_all_fields(const schema::Schema& known, const Value& stored, const std::string& path) {
  if (stored.find("x-kubernetes-preserve-unknown-fields") && !stored.find("properties")) return;
  for (const auto& [name, field] : known.fields) {
    const Value* properties = stored.find("properties");
    const Value* next = properties ? properties->find(name) : nullptr;
    ASSERT_TRUE(next) << path << "." << name << " would be pruned";
    if (name != "metadata") expect_all_fields(*field, *next, path + "." + name);
  }
  if (known.type == schema::FieldType::kList) expect_all_fields(*known.items, *stored.find("items"), path + "[]");
}

TEST(CustomResources, StoreEveryFieldThatCheckKnows) {
  for (const CustomResource& one : custom_resources()) {
    const schema::Schema* known = schema::find_schema(one.group + "/v1", one.kind);
    ASSERT_TRUE(known) << one.kind;
    expect_all_fields(*known, schema_of(one), one.kind);
  }
}

// What the API server fills in is what an absent field means to the reader of policies.
TEST(CustomResources, DefaultsAreWhatTheReaderTakesForAbsentFields) {
  const auto read = [](const std::string& more) {
    doc::Diagnostics found;
    const auto source = std::make_shared<doc::Source>(
        "policy.yaml",
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a, namespace: ns}\n"
        "spec:\n  resourceName: r\n  numVfs: 1\n  nodeSelector: {kind: gpu}\n  nicSelector: {vendor: \"15b3\"}\n" +
            more);
    const auto documents = doc::parse_yaml(source, found);
    const auto policy = api::parse_policy(documents.front(), found);
    EXPECT_TRUE(policy) << more << (found.all().empty() ? "" : found.all().front().message);
    return policy.value_or(api::SriovNetworkNodePolicy{});
  };
  CustomResource resource = resource_of("SriovNetworkNodePolicy");
  Value schema = schema_of(resource);
  std::string filled;
  for (const char* field : {"deviceType", "priority"}) {
    const Value& value = *schema_at(schema, std::string("spec.") + field)->find("default");
    filled += std::string("  ") + field + ": " + doc::to_yaml(value);
    if (filled.back() != '\n') filled += '\n';
  }
  EXPECT_EQ(filled, "  deviceType: netdevice\n  priority: 99\n");
  const auto absent = read(""), given = read(filled);
  EXPECT_EQ(*given.device_type, *absent.device_type);
  EXPECT_EQ(*given.priority, *absent.priority);
}

TEST(CustomResources, SayWhereAPolicyAppliesAndWhyNot) {
  const CustomResource policy = resource_of("SriovNetworkNodePolicy");
  std::string columns;
  for (const Value& column : *policy.definition.find("spec")
                                  ->find("versions")
                                  ->as_array()
                                  ->front()
                                  .find("additionalPrinterColumns")
                                  ->as_array())
    columns += *column.find("name")->as_string() + " ";
  EXPECT_EQ(columns, "Resource VFs Priority Nodes Ready Why Age ");
}

}  // namespace
}  // namespace railbed::controller

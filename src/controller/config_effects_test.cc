// SPDX-License-Identifier: Apache-2.0
#include "controller/config_effects.h"

#include <set>

#include <gtest/gtest.h>

#include "controller/test_cluster.h"
#include "schema/schema.h"

namespace railbed::controller {
namespace {

using doc::Value;
using ConfigSource = ConfigChoice::Source;

Value operator_config(const std::string& ns, const std::string& spec, const std::string& name = "default") {
  Value out = testing::object("sriovnetwork.openshift.io/v1", "SriovOperatorConfig", ns, name);
  out.set("spec", testing::json(spec));
  return out;
}

struct ConfigChoiceTest : ::testing::Test {
  kube::Objects stored;
  ConfigChoice before;
  PolicyNamespaces namespaces{.served = {"op", "openshift-sriov-network-operator"}, .taken = {"nvidia"}};

  void add(const Value& object) { stored[kube::key_of(object)] = std::make_shared<const Value>(object); }
  ConfigChoice chosen(bool upstream = false) {
    return choose_config({.stored = &stored,
                          .own_namespace = "op",
                          .namespaces = namespaces,
                          .upstream_operator = upstream,
                          .before = before});
  }
  std::string said(const std::string& ns, const std::string& name = "default") {
    const Readiness made = config_readiness({ns, name}, chosen(), namespaces);
    return fmt::format("{} {}: {}", made.status, made.reason, made.message);
  }
};

TEST_F(ConfigChoiceTest, TakesTheOneOfItsOwnNamespaceFirst) {
  EXPECT_EQ(chosen(), ConfigChoice{});
  add(operator_config("openshift-sriov-network-operator", R"({"logLevel": 1})"));
  add(operator_config("nvidia", R"({"logLevel": 0})"));
  add(operator_config("op", R"({"logLevel": 0})", "mine"));
  EXPECT_EQ(chosen().key, "openshift-sriov-network-operator/default");
  add(operator_config("op", R"({"logLevel": 2})"));
  EXPECT_EQ(chosen().config.log_level, 2);
  EXPECT_EQ(said("op"), "True Used: logs of level 2");
  EXPECT_EQ(said("openshift-sriov-network-operator"), "False Ignored: SriovOperatorConfig op/default counts");
  EXPECT_EQ(said("op", "mine"), "False Ignored: only an object named default counts");
  EXPECT_TRUE(said("nvidia").starts_with("False Ignored: ")) << said("nvidia");
}

TEST_F(ConfigChoiceTest, KeepsWhatCountedWhereItCannotKnow) {
  add(operator_config("op", R"({"disableDrain": true, "logLevel": 1})"));
  before = chosen();
  ASSERT_EQ(before.source, ConfigSource::kStored);
  add(operator_config("op", R"({"disableDrain": "no"})"));
  EXPECT_EQ(chosen().source, ConfigSource::kUnreadable);
  EXPECT_EQ(chosen().config, before.config);
  EXPECT_TRUE(said("op").starts_with("False Invalid: ")) << said("op");
  EXPECT_TRUE(said("op").ends_with("; what counted before stays")) << said("op");
  const ConfigChoice none;
  const ConfigView first{.stored = &stored, .own_namespace = "op", .namespaces = namespaces, .before = none};
  EXPECT_TRUE(choose_config(first).config.disable_drain) << "no pod is evicted by mistake";
  const ConfigView away{.own_namespace = "op", .namespaces = namespaces, .before = before};
  EXPECT_EQ(choose_config(away).config, before.config) << "the kind is not listed";
  const ConfigView absent{.own_namespace = "op", .namespaces = namespaces, .before = none};
  EXPECT_EQ(choose_config(absent), ConfigChoice{});
}

TEST_F(ConfigChoiceTest, OutlivesTheRemovalOfTheSriovOperator) {
  add(operator_config("op", R"({"disableDrain": true})"));
  before = chosen();
  stored.clear();
  before = chosen();
  EXPECT_EQ(before, ConfigChoice{}) << "somebody deleted it";
  before = chosen(true);
  EXPECT_EQ(before.source, ConfigSource::kDefaults) << "there was none any more";
  add(operator_config("op", R"({"disableDrain": true})"));
  before = chosen(true);
  stored.clear();
  before = chosen(true);
  EXPECT_EQ(before.source, ConfigSource::kGone);
  EXPECT_TRUE(chosen(false).config.disable_drain) << "also when that operator has gone";
  add(operator_config("op", "{}"));
  EXPECT_FALSE(chosen().config.disable_drain);
}

// The namespace of the object is another operator's again.
TEST_F(ConfigChoiceTest, OutlivesTheNamespaceThatCounted) {
  add(operator_config("openshift-sriov-network-operator", R"({"disableDrain": true})"));
  before = chosen();
  namespaces = {.served = {"op"}, .taken = {"openshift-sriov-network-operator"}};
  before = chosen(true);
  EXPECT_EQ(before.source, ConfigSource::kGone);
  EXPECT_TRUE(before.config.disable_drain);
  namespaces = {.served = {"op", "openshift-sriov-network-operator"}, .taken = {}};
  EXPECT_EQ(chosen().source, ConfigSource::kStored);
}

TEST_F(ConfigChoiceTest, LeavesNodesAloneThatItDoesNotSelect) {
  add(operator_config("op", R"({"configDaemonNodeSelector": {"gpu": "yes", "rack": ""}})"));
  EXPECT_EQ(why_left_alone(chosen(), {{"gpu", "yes"}, {"rack", ""}}), "");
  EXPECT_EQ(
      why_left_alone(chosen(), {{"gpu", "yes"}}),
      "configDaemonNodeSelector (gpu=yes,rack=) of SriovOperatorConfig op/default does not select the node, and it has "
      "no label railbed.dev/managed=true");
  EXPECT_EQ(why_left_alone(chosen(), {{"railbed.dev/managed", "true"}}), "") << "it was handed over";
  EXPECT_NE(why_left_alone(chosen(), {{"railbed.dev/managed", "yes"}}), "");
  EXPECT_EQ(why_left_alone({}, {}), "");
}

TEST_F(ConfigChoiceTest, SaysOfEachFieldWhatItDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "True Used: all nodes, as by default"},
      {R"({"configDaemonNodeSelector": {"a": "b"}, "disableDrain": true, "logLevel": 0, "disablePlugins": ["mellanox"]})",
       "True Used: nodes without a=b are left as they are, but for those with railbed.dev/managed=true; no pod is evicted, and changes that need it wait; logs of "
       "level 0; mellanox is off: railbed changes no firmware"},
      {R"({"enableInjector": false, "enableOperatorWebhook": false, "useCDI": false, "enableOvsOffload": false,
           "configurationMode": "daemon", "disableDrain": false, "featureGates": {"parallelNicConfig": true}})",
       "True Used: all nodes, as by default"},
      {R"({"enableInjector": true})",
       "True UsedInPart: ignored: enableInjector (this version has no injector: pods need the request themselves); used: "
       "all nodes, as by default"},
      {R"({"featureGates": {"metricsExporter": true, "metricExporter": true}, "logLevel": 2, "tomorrow": {"a": 1}})",
       "True UsedInPart: ignored: featureGates.metricExporter (this version does not know it), "
       "featureGates.metricsExporter (the agent's metrics have no traffic of VFs), tomorrow (this version does not know "
       "it); used: logs of level 2"},
  };
  for (const auto& [spec, condition] : cases) {
    stored.clear();
    add(operator_config("op", spec));
    EXPECT_EQ(said("op"), condition) << spec;
  }
}

// Every field of the schema has an effect, and what is said of all of them fits an Event.
TEST_F(ConfigChoiceTest, PassesNoFieldBy) {
  const char* const all = R"({"configDaemonEnvVars": {"A": "b"}, "configDaemonNodeSelector": {"a": "b"},
      "configurationMode": "systemd", "disableDrain": true, "disablePlugins": ["mellanox"], "enableInjector": true,
      "enableOperatorWebhook": true, "enableOvsOffload": true, "featureGates": {"metricsExporter": true}, "logLevel": 2,
      "useCDI": true})";
  add(operator_config("op", all));
  std::set<std::string> said_of;
  for (const FieldEffect& one : effects_of(chosen().config)) said_of.insert(one.field.substr(0, one.field.find('.')));
  for (const auto& [field, schema] : schema::find_schema("", "SriovOperatorConfig")->fields.at("spec")->fields)
    EXPECT_TRUE(said_of.contains(field)) << field << " is in the schema, and its condition says nothing of it";
  EXPECT_LE(said("op").size(), 1000u);
}

}  // namespace
}  // namespace railbed::controller

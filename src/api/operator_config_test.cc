// SPDX-License-Identifier: Apache-2.0
#include "api/operator_config.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::api {
namespace {

doc::Value config_value(const std::string& kind, const std::string& spec) {
  doc::Diagnostics out;
  const auto source = std::make_shared<doc::Source>(doc::Source{
      "config.json",
      fmt::format(
          R"({{"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "{}", "metadata": {{"name": "default"}}{}}})",
          kind, spec.empty() ? "" : ", \"spec\": " + spec)});
  return doc::parse_json(source, out).value_or(doc::Value());
}

TEST(MaxUnavailable, IsANumberOrAPercentage) {
  const struct {
    doc::Value written;
    const char* read;
  } cases[] = {
      {doc::Value(0), "0"},
      {doc::Value(3), "3"},
      {doc::Value("0%"), "0%"},
      {doc::Value("25%"), "25%"},
      {doc::Value("100%"), "100%"},
      {doc::Value(-1), "-1 is no number of nodes: write 0 or more, or a percentage such as \"25%\""},
      {doc::Value("2"), "\"2\" is a text without %: write 2, or \"2%\" for a percentage"},
      {doc::Value("250"), "\"250\" is a text without %: write 250, or \"100%\" for a percentage"},
      {doc::Value("101%"), "\"101%\" is more than all nodes: write \"100%\" at most"},
      {doc::Value(""), "\"\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value("%"), "\"%\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value("-5%"), "\"-5%\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value("2.5%"), "\"2.5%\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value("5 %"), "\"5 %\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value("many"), "\"many\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value("99999999999%"), "\"99999999999%\" is no percentage: write a whole number and %, such as \"25%\""},
      {doc::Value(true), "it is neither a number nor a percentage such as \"25%\""},
  };
  for (const auto& one : cases) {
    const Result<MaxUnavailable> made = parse_max_unavailable(one.written);
    EXPECT_EQ(made.has_value() ? made->to_string() : made.error().message, one.read);
  }
}

TEST(OperatorConfig, NamesFieldsThatThisVersionDoesNotKnow) {
  doc::Diagnostics out;
  const auto config = parse_operator_config(
      config_value("SriovOperatorConfig", R"({"logLevel": 1, "tomorrow": {"a": 1}, "featureGates": {"x": true}})"),
      out);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->unknown, std::vector<std::string>{"tomorrow"});
  EXPECT_EQ(config->log_level, 1);
  EXPECT_EQ(config->feature_gates, (std::map<std::string, bool>{{"x", true}}));
  EXPECT_TRUE(parse_operator_config(config_value("SriovOperatorConfig", ""), out).has_value()) << "without a spec";
  EXPECT_FALSE(out.has_errors());
}

TEST(OperatorConfig, WithWrongValuesIsNotRead) {
  for (const char* spec : {R"({"logLevel": 3})", R"({"disableDrain": "true"})", R"({"configurationMode": "both"})",
                           R"({"configDaemonNodeSelector": ["a"]})", R"({"featureGates": {"a": "yes"}})"}) {
    doc::Diagnostics out;
    EXPECT_FALSE(parse_operator_config(config_value("SriovOperatorConfig", spec), out).has_value()) << spec;
  }
}

TEST(PoolConfig, IsReadWithItsSelector) {
  doc::Diagnostics out;
  const auto pool = parse_pool_config(
      config_value("SriovNetworkPoolConfig",
                   R"({"maxUnavailable": "20%", "rdmaMode": "exclusive", "nodeSelector": {"matchLabels": {"a": "b"},
                       "matchExpressions": [{"key": "c", "operator": "Exists"}]}})"),
      out);
  ASSERT_TRUE(pool.has_value());
  EXPECT_EQ(pool->key(), "default/default");
  EXPECT_EQ(pool->max_unavailable, (MaxUnavailable{.number = 20, .percent = true}));
  EXPECT_EQ(pool->rdma_mode, "exclusive");
  EXPECT_EQ(pool->node_selector.labels.size(), 2u);
  for (const char* spec :
       {R"({"maxUnavailable": "2"})", R"({"rdmaMode": "both"})", R"({"nodeSelector": {"matchLabels": 1}})"})
    EXPECT_FALSE(parse_pool_config(config_value("SriovNetworkPoolConfig", spec), out).has_value()) << spec;
}

}  // namespace
}  // namespace railbed::api

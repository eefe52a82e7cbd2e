// SPDX-License-Identifier: Apache-2.0
#include "api/names.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/policy.h"
#include "doc/text.h"

namespace railbed::api {
namespace {

TEST(Names, LabelsAndSubdomains) {
  for (const char* right : {"a", "z", "a-b", "0", "9", "a-z", "my-net-1"}) EXPECT_TRUE(is_dns_label(right)) << right;
  for (const char* wrong : {"", "-a", "a-", "A", "a.b", "a_b", "a b", "ä", "`", "{", "/", ":"})
    EXPECT_FALSE(is_dns_label(wrong)) << wrong;
  EXPECT_TRUE(is_dns_label(std::string(63, 'a')));
  EXPECT_FALSE(is_dns_label(std::string(64, 'a')));
  for (const char* right : {"a", "a.b", "net-1.rail"}) EXPECT_TRUE(is_dns_subdomain(right)) << right;
  for (const char* wrong : {"", ".", "a.", ".a", "a..b", "a.-b"}) EXPECT_FALSE(is_dns_subdomain(wrong)) << wrong;
  EXPECT_TRUE(is_dns_subdomain(std::string(253, 'a')));
  EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
}

TEST(Names, EachKindHasItsForm) {
  const auto reported = [](const std::string& version, const std::string& kind, const std::string& name) {
    doc::Value object = doc::Value::object();
    object.set("apiVersion", version);
    object.set("kind", kind);
    object.set("metadata", doc::Value::object()).set("name", name);
    doc::Diagnostics out;
    check_object_name(object, kind, out);
    return out.all().size();
  };
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  const struct {
    std::string version, kind, name;
    size_t findings;
  } cases[] = {
      {"apps/v1", "Deployment", "server.v1", 0},
      {"apps/v1", "Deployment", "My_x", 1},
      {"v1", "ConfigMap", "-a", 1},
      {"v1", "ConfigMap", "", 0},
      {"v1", "ConfigMap", "<name>", 0},
      {"v1", "ConfigMap", "{{ name }}-x", 0},
      {"v1", "Namespace", "_", 0},
      {"v1", "ConfigMap", "*", 0},
      {"batch/v1", "Job", "JOB_NAME_PLACEHOLDER", 0},
      {"batch/v1", "Job", "JOB_NAME", 1},
      {"v1", "Namespace", "1a", 0},
      {"v1", "Namespace", "a.b", 1},
      {"v1", "Service", "a-1", 0},
      {"v1", "Service", "1a", 1},
      {"v1", "Service", "a.b", 1},
      {"serving.knative.dev/v1", "Service", "1a", 0},
      {rbac, "ClusterRole", "system:Node", 0},
      {rbac, "RoleBinding", "a_b", 0},
      {"mellanox.com/v1alpha1", "HostDeviceNetwork", "Rail 0", 1},
  };
  for (const auto& c : cases) EXPECT_EQ(reported(c.version, c.kind, c.name), c.findings) << c.kind << " " << c.name;
}

TEST(Names, PlaceholdersAreSeen) {
  for (const char* yes : {"<your-namespace>", "{REGISTRY}/x", "a-${NAME}"}) EXPECT_TRUE(has_placeholder(yes)) << yes;
  for (const char* no : {"a", "<>", "{}", "a>b<c", "registry/x:1"}) EXPECT_FALSE(has_placeholder(no)) << no;
}

TEST(Names, TheNamespaceOfEachKindIsALabel) {
  const auto reported = [](const std::string& ns) {
    doc::Value metadata = doc::Value::object();
    metadata.set("name", "a");
    metadata.set("namespace", ns);
    doc::Value object = doc::Value::object();
    object.set("apiVersion", "batch/v1");
    object.set("metadata", std::move(metadata));
    doc::Diagnostics out;
    check_object_name(object, "Job", out);
    return out.all().size() == 1 ? out.all().front().id + " " + out.all().front().subject.field : std::string();
  };
  for (const char* right : {"train", "a-1", "", "${NS}", "<namespace>", "_"}) EXPECT_EQ(reported(right), "") << right;
  for (const char* wrong : {"My_train", "Train", "a.b", "-a"})
    EXPECT_EQ(reported(wrong), "RB-API-007 metadata.namespace") << wrong;
}

TEST(Names, WhatIsWrongIsReportedAtItsPlace) {
  const auto reported = [](auto check, const std::string& text) {
    const auto source = std::make_shared<const doc::Source>(doc::Source{"a", text});
    Field<std::string> name;
    name.value = text;
    name.present = true;
    name.span = doc::LineIndex(source).at(0, text.size());
    doc::Diagnostics out;
    check(name, "x", out);
    std::string all;
    for (const doc::Diagnostic& one : out.all())
      all += one.id + " " + one.message + (one.fix.empty() ? "" : " / " + one.fix);
    return all;
  };
  const std::string label =
      "is not a name: lower-case letters, digits and '-', at most 63, with a letter or digit at both ends";
  const std::string resource =
      "is not a resource name: letters, digits, '-' and '_', at most 63, with a letter or digit at both ends";
  EXPECT_EQ(reported(check_label, "a"), "");
  EXPECT_EQ(reported(check_label, "a.b"), "RB-API-007 x: \"a.b\" " + label);
  EXPECT_EQ(reported(check_label, "<a>"), "RB-API-008 x: \"<a>\" is a placeholder / write the real name");
  EXPECT_EQ(reported(check_subdomain, "a.b"), "");
  EXPECT_EQ(
      reported(check_subdomain, "a..b"),
      "RB-API-007 x: \"a..b\" is not a name: lower-case letters, digits, '-' and '.', at most 253, with a letter or "
      "digit at both ends");
  EXPECT_EQ(reported(check_subdomain, "{a}"), "RB-API-008 x: \"{a}\" is a placeholder / write the real name");
  for (const std::string& right : {std::string("a"), std::string("A-b_9"), std::string("Z"), std::string(63, 'a')})
    EXPECT_EQ(reported(check_resource_name, right), "");
  for (const std::string& wrong : {std::string(), std::string("a-"), std::string("_a"), std::string("a.b"),
                                   std::string("@"), std::string("["), std::string(64, 'a')})
    EXPECT_EQ(reported(check_resource_name, wrong), "RB-API-007 x: \"" + wrong + "\" " + resource);
  EXPECT_EQ(
      reported(check_resource_name, "p/a"),
      "RB-API-007 x: \"p/a\" " + resource + " / write it without the prefix; the operator adds \"openshift.io/\"");
  EXPECT_EQ(reported(check_resource_name, "<a>"), "RB-API-008 x: \"<a>\" is a placeholder / write the real name");
}

TEST(Kinds, AreFoundAlsoWhenMisspelt) {
  EXPECT_NE(parser_of(*find_kind("Pod")), nullptr);
  EXPECT_EQ(parser_of(*find_kind("ConfigMap")), nullptr);
  EXPECT_EQ(find_kind("pod"), nullptr);
  EXPECT_EQ(nearest_kind("pod"), "Pod");
  EXPECT_EQ(nearest_kind("SriovNetworkPolicy"), "SriovNetworkNodePolicy");
  EXPECT_EQ(nearest_kind("SriovNetworkNodePolicies"), "SriovNetworkNodePolicy");
  EXPECT_EQ(nearest_kind("NetworkAttachmentDefinitions"), "NetworkAttachmentDefinition");
  EXPECT_EQ(nearest_kind("NicClusterPolcy"), "NicClusterPolicy") << "a kind that is only known by its name";
  EXPECT_EQ(nearest_kind("Frobnicator"), "");
}

TEST(PfNames, WithAndWithoutARange) {
  EXPECT_EQ(*parse_pf_name("ens1f0"), (PfName{"ens1f0", {}}));
  EXPECT_EQ(*parse_pf_name("ens1f0#2-7"), (PfName{"ens1f0", PfName::Range{2, 7}}));
  EXPECT_EQ(*parse_pf_name("a#0-0"), (PfName{"a", PfName::Range{0, 0}}));
  for (const char* wrong :
       {"", "#1-2", "a#", "a#1", "a#1-", "a#-1", "a#2-1", "a#1-2-3", "a#1-+2", "a b", "a#1-99999", "a#1-2#3-4"})
    EXPECT_FALSE(parse_pf_name(wrong)) << wrong;
}

}  // namespace
}  // namespace railbed::api

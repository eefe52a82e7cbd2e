// SPDX-License-Identifier: Apache-2.0
// What documents are, by the kinds in which they are met; and the property that holds the classes together: a correct
// manifest that loses any one of its signs is no manifest, and nothing is missing in it.
#include "check/read/classify.h"

#include <algorithm>
#include <regex>

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "check/case_files.h"
#include "check/findings/fold.h"
#include "check/findings/output.h"
#include "check/read/patches.h"

namespace railbed::check {
namespace {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

std::vector<doc::SourcePtr> sources_given(const NamedTexts& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  return sources;
}

// "class: why" of each document.
std::vector<std::string> classes(const NamedTexts& files) {
  doc::Diagnostics problems;
  Bundle bundle = read_bundle(sources_given(files), problems);
  classify(bundle, patch_files(bundle), Kustomizations(bundle));
  std::vector<std::string> out;
  for (const Document& document : bundle.documents)
    out.push_back(
        fmt::format("{}{}{}", class_name(document.cls.kind), document.cls.why.empty() ? "" : ": ", document.cls.why));
  return out;
}
using Classes = std::vector<std::string>;

// "severity id place" of each finding.
std::vector<std::string> reported_by_class(const NamedTexts& files) {
  std::vector<std::string> out;
  const Report report = check_files(sources_given(files), {}, {});
  for (const doc::Diagnostic& one : report.findings.all())
    out.push_back(
        fmt::format("{} {} {}", doc::severity_name(one.severity), one.id,
                    one.span.source == nullptr ? "" : fmt::format("{}:{}", one.span.source->name, one.span.line)));
  return out;
}
using Reported = std::vector<std::string>;

std::string policy(const std::string& spec, const std::string& metadata = "{name: a, namespace: s}") {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: " + metadata + "\nspec: {" +
         spec + "}\n";
}
const std::string kSpec = "numVfs: 8, resourceName: a, nodeSelector: {x: y}, nicSelector: {pfNames: [ens1]}";

TEST(Classify, WhatIsNotAppliedAsItIs) {
  const std::string local =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: values\n  annotations: "
      "{config.kubernetes.io/local-config: 'LOCAL'}\ndata: {mtu: 9000, net: {a: b}}\n";
  const auto with = [&](const std::string& value) { return std::regex_replace(local, std::regex("LOCAL"), value); };
  EXPECT_EQ(classes({{"a.yaml", with("true")}}),
            Classes{"other: kustomize reads it and does not emit it (local-config)"});
  EXPECT_EQ(reported_by_class({{"a.yaml", with("true")}}), Reported());
  EXPECT_EQ(reported_by_class({{"a.yaml", with("false")}}),
            (Reported{"error RB-API-004 a.yaml:6", "error RB-API-004 a.yaml:6"}));
  const std::string pool = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, ";
  EXPECT_EQ(classes({{"a.yaml", pool + "labels: {x: y}}\n"}}),
            Classes{"part: it has labels only: they are merged into an object that is there"});
  EXPECT_EQ(classes({{"a.yaml", pool + "namespace: b}\n"}}), Classes{"manifest"});
  EXPECT_EQ(classes({{"a.yaml", pool + "labels: {x: y}}\nsepc: {}\n"}}), Classes{"manifest"});
  EXPECT_EQ(classes({{"a.yaml", pool + "namespace: b}\n---\n" + pool + "namespace: c}\nstatus: {x: 1}\n"}}),
            (Classes{"assertion: it is compared with an object, as those beside it that have a status only",
                     "assertion: it has a status and no spec: it is compared with an object"}));
  const std::string head =
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a}\n";
  EXPECT_EQ(classes({{"a.yaml", head + "spec:\n  # to choose from\n#  numVfs: 8\n"}}),
            Classes{"part: the fields of its spec are comments"});
  EXPECT_EQ(reported_by_class({{"a.yaml", head + "spec:\n"}}), Reported{"error RB-API-006 a.yaml:4"});
}

TEST(Classify, ByWhatIsWritten) {
  EXPECT_EQ(classes({{"a.yaml", policy(kSpec)}}), Classes{"manifest"});
  EXPECT_EQ(classes({{"a.yaml", policy("numVfs: '${VFS}'")}}), Classes{"template: a template of envsubst (${VFS})"});
  EXPECT_EQ(classes({{"a.yaml", policy("numVfs: 8")}, {"b.yaml", "#@ x = 1\n" + policy("numVfs: #@ x\n")}}),
            (Classes{"manifest", "template: a template of ytt"}));
  EXPECT_EQ(classes({{"a.yaml", policy("numVfs: 8", "{name: rail-POOL_NAME}")}}),
            Classes{"template: a template that a program fills (rail-POOL_NAME)"});
  EXPECT_EQ(classes({{"a.yaml", policy("numVfs: 8", "{name: \"${POOL_NAME}-a\"}")}}),
            Classes{"template: a template of envsubst (${POOL_NAME})"});
  EXPECT_EQ(classes({{"a.yaml", policy("resourceName: ''", "{name: ''}")}}),
            Classes{"template: its name is empty: a source CR that a generator fills in"});
  EXPECT_EQ(classes({{"a.yaml", policy("(numVfs > `2`): true")}}),
            Classes{"assertion: a key in parentheses is an assertion of Chainsaw"});
  EXPECT_EQ(classes({{"t/00-assert.yaml", policy("numVfs: 2")}}),
            Classes{"assertion: 00-assert.yaml is an assertion by its name"});
  EXPECT_EQ(classes({{"a.yaml", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nstatus: {x: 0}\n"}}),
            Classes{"assertion: it has a status and no spec: it is compared with an object"});
  EXPECT_EQ(classes({{"a.yaml", "kind: Deployment\nmetadata: {name: a}\nspec: {}\n"}}),
            Classes{"other: it has no apiVersion"});
  EXPECT_EQ(classes({{"a.yaml", "apiVersion: example.org/v1\nkind: Teapot\nmetadata: {name: a}\n"}}),
            Classes{"other: Teapot of example.org/v1 is not known"});
  EXPECT_EQ(classes({{"a.md", "```yaml\n" + policy("numVfs: <num>") + "```\n"}}),
            Classes{"page: an example with placeholders (<num>)"});
  EXPECT_EQ(classes({{"base/p.yaml", policy(kSpec)},
                     {"o/kustomization.yaml", "resources: [../base/p.yaml]\npatches: [{path: x.yaml}]\n"},
                     {"o/x.yaml", policy("numVfs: 4")}}),
            (Classes{"manifest", "part: a patch that o/kustomization.yaml lists"}));
}

// What helm does not apply: templates read it, and choose by the version of the cluster.
TEST(Classify, DataOfAChartIsNotApplied) {
  const std::string chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
  const std::string reads = "{{- if .Values.crds }}\n{{ .Files.Get \"FILE\" }}\n{{- end }}\n";
  const auto reading = [&](const std::string& file) { return std::regex_replace(reads, std::regex("FILE"), file); };
  const std::string bad =
      policy("numVfs: \"8\", resourceName: a, nodeSelector: {x: z}, nicSelector: {pfNames: [ens1]}");
  const std::string by_files = "other: data of the chart c: its templates read it by .Files";
  const auto data_class = [&](const std::string& file, const std::string& argument) {
    return classes({{"c/Chart.yaml", chart}, {"c/templates/t.yaml", reading(argument)}, {"c/" + file, bad}}).back();
  };
  EXPECT_EQ(data_class("crd/a.yaml", "crd/a.yaml"), by_files);
  EXPECT_EQ(data_class("crd/v1beta1/a.yaml", "crd/v1beta1/*.yaml"), by_files);
  EXPECT_EQ(data_class("conf/p.yaml", "conf/%s.yaml"), by_files);
  EXPECT_EQ(data_class("files/p.yaml", "x"), "other: data of the chart c: it is in files/");
  EXPECT_EQ(reported_by_class({{"c/Chart.yaml", chart}, {"c/files/crd/v1beta1/a.yaml", bad}}), Reported());
  // Without Chart.yaml among the files, the templates say that it is a chart.
  EXPECT_EQ(classes({{"c/templates/t.yaml", reading("p.yaml")}, {"c/p.yaml", bad}}), Classes{by_files});
  // Helm applies these, or a person does.
  for (const char* file : {"crds/a.yaml", "templates/p.yaml", "examples/p.yaml", "charts/d/crds/p.yaml"})
    EXPECT_EQ(data_class(file, "other.yaml"), "manifest") << file;
  EXPECT_EQ(
      classes(
          {{"c/Chart.yaml", chart}, {"c/kustomization.yaml", "resources: [files/p.yaml]\n"}, {"c/files/p.yaml", bad}}),
      Classes{"manifest"});
  EXPECT_EQ(std::ranges::count(reported_by_class({{"c/Chart.yaml", chart}, {"c/templates/p.yaml", bad}}),
                               std::string("error RB-API-004 c/templates/p.yaml:4")),
            1);
}

TEST(Classify, PodTemplatesAreCompletedByTheirProgram) {
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: b}}\nspec: {containers: [{name: c}]}\n";
  const std::string by_name = "part: a template of pods by its name: a program completes it";
  for (const char* file : {"spark/driver-pod-template.yaml", "conf/pod_template.yaml", "podTemplate-executor.yml",
                           "pod-templates/gpu.yaml", "runner/hook-extension.yaml"})
    EXPECT_EQ(classes({{file, pod}}), Classes{by_name}) << file;
  const std::string named = "part: a template of pods that a setting names: a program completes it";
  for (const char* setting :
       {"sparkConf: {spark.kubernetes.driver.podTemplateFile: \"/opt/spark/exec.yaml\"}\n",
        "config: {kubernetes: {pod_template_file: /opt/airflow/exec.yaml}}\n",
        "env:\n- name: ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE\n  value: /home/runner/exec.yaml\n"})
    EXPECT_EQ(classes({{"values.yaml", setting}, {"t/exec.yaml", pod}}), Classes{named}) << setting;
  EXPECT_EQ(classes({{"a.yaml", std::regex_replace(pod, std::regex("name: c"), "name: spark-kubernetes-driver")}}),
            Classes{"part: Spark completes it (container spark-kubernetes-driver)"});
  EXPECT_EQ(classes({{"a.yaml", pod}}), Classes{"other: it has no name"});
  const Reported in_template =
      reported_by_class({{"pod-template.yaml", std::regex_replace(pod, std::regex("name: c"), "name: 8")}});
  EXPECT_EQ(std::ranges::count(in_template, std::string("warning RB-API-004 pod-template.yaml:4")), 1);
}

TEST(Classify, CarriersHoldTheirObjects) {
  const std::string acm =
      "apiVersion: policy.open-cluster-management.io/v1\nkind: ConfigurationPolicy\nmetadata: {name: p}\n"
      "spec:\n  object-templates:\n"
      "  - complianceType: musthave\n    objectDefinition:\n      apiVersion: sriovnetwork.openshift.io/v1\n"
      "      kind: SriovNetwork\n      metadata: {name: n}\n"
      "  - complianceType: mustnothave\n    objectDefinition:\n      apiVersion: sriovnetwork.openshift.io/v1\n"
      "      kind: SriovNetwork\n      metadata: {name: o}\n";
  EXPECT_EQ(classes({{"a.yaml", acm}}),
            (Classes{"carrier: it holds other objects", "part: a part, in ConfigurationPolicy p",
                     "part: only its identity: it is deleted"}));
  const std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  n.yaml: |\n    " +
                          std::regex_replace(policy("numVfs: \"8\""), std::regex("\n"), "\n    ") + "\n";
  EXPECT_EQ(classes({{"a.yaml", map}}), (Classes{"manifest", "part: a part, in ConfigMap m"}));
  EXPECT_EQ(reported_by_class({{"a.yaml", map}}), Reported{"warning RB-API-004 a.yaml:9"})
      << "at its place in the text";
}

// Each sign of a manifest by itself, in every correct case.
TEST(Classify, NothingIsMissingWhereASignIs) {
  struct Sign {
    const char* name;
    std::regex pattern;
    const char* instead;
  };
  const Sign signs[] = {
      {"no apiVersion", std::regex("(^|\n)apiVersion: [^\n]*\n"), "$1"},
      {"another group", std::regex("(^|\n)apiVersion: [^\n]*\n"), "$1apiVersion: other.example.com/v1\n"},
      {"no kind", std::regex("(^|\n)kind: [^\n]*\n"), "$1"},
      {"another kind", std::regex("(^|\n)kind: [^\n]*\n"), "$1kind: Teapot\n"},
      {"a mark", std::regex("(\n  name: )[^\n]*\n"), "$1${NAME}\n"},
      {"no name", std::regex("(\nmetadata:)\n  name: [^\n]*\n"), "$1\n  labels: {a: b}\n"}};
  size_t tried = 0;
  size_t file = 0;
  for (const auto& path : testing_cases::files_in(testdata() / "check")) {
    if (path.filename() != "good.yaml" || ++file % kSweepStep != 0) continue;
    const std::string text = content(path);
    for (const Sign& sign : signs) {
      const std::string altered = std::regex_replace(text, sign.pattern, sign.instead);
      if (altered == text) continue;
      ++tried;
      // Whatever else is taken away now is not missed.
      const std::string less =
          std::regex_replace(altered, std::regex("\n  (nodeSelector|resourceName|numVfs): [^\n]+"), "");
      for (const std::string& one : {altered, less})
        for (const Report report = testing_cases::report_of("good.yaml", one);
             const doc::Diagnostic& finding : report.findings.all())
          EXPECT_FALSE(finding.severity == doc::Severity::kError && is_missing(finding))
              << path << " with " << sign.name << ": " << doc::render(finding);
    }
  }
  EXPECT_GT(tried, 200 / kSweepStep);
}

}  // namespace
}  // namespace railbed::check

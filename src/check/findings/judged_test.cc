// SPDX-License-Identifier: Apache-2.0
// Which errors stay errors: by the class of their document, and beside words that stand for something else.
#include "check/findings/judged.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

using GivenTexts = std::vector<std::pair<std::string, std::string>>;

std::vector<doc::SourcePtr> judged_sources(const GivenTexts& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, text] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, text}));
  return sources;
}

// The ids of errors that fail a run, with their lines.
std::string sure_errors_of(const GivenTexts& files) {
  std::string out;
  const Report report = check(judged_sources(files), {}, {});
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.severity == doc::Severity::kError && one.confidence == doc::Confidence::kHigh)
      out += fmt::format("{} {};", one.id, one.span.line);
  return out;
}

std::string sure_errors_of(const std::string& name, const std::string& text) {
  return sure_errors_of(GivenTexts{{name, text}});
}

// The one gate: of all classes and layers.
TEST(Judged, OnlyWhatAnApiServerGetsGivesErrors) {
  const GivenTexts files = {{"a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n"}};
  struct Row {
    DocumentKind kind;
    bool object;   // whether an error of its fields stays one
    bool meaning;  // and one of what it means
  };
  using enum DocumentKind;
  const Row rows[] = {{kManifest, true, true},    {kPart, false, false},  {kTemplate, false, false},
                      {kAssertion, false, false}, {kCarrier, true, true}, {kPage, true, false},
                      {kOther, false, false},     {kOutput, false, false}};
  for (const Row& row : rows)
    for (const doc::Layer layer :
         {doc::Layer::kMeaning, doc::Layer::kText, doc::Layer::kObject, doc::Layer::kEmbedded}) {
      doc::Diagnostics unused;
      Bundle bundle = read_bundle(judged_sources(files), unused);
      ASSERT_EQ(bundle.documents.size(), 1U);
      bundle.documents[0].cls = {row.kind, "so"};
      doc::Diagnostics findings;
      findings.error("RB-API-004", bundle.documents[0].value.find("kind")->span, "wrong").of(layer);
      limit_by_class(bundle, findings);
      const bool error = findings.all()[0].severity == doc::Severity::kError;
      EXPECT_EQ(error, layer == doc::Layer::kMeaning ? row.meaning : row.object)
          << class_name(row.kind) << ' ' << static_cast<int>(layer);
      EXPECT_EQ(findings.all()[0].why, error ? "" : "the object is not a plain manifest: so");
    }
}

TEST(Judged, AnObjectOfAnUnknownKindIsAnObject) {
  const std::string twice = "metadata: {name: a}\nspec: {}\nspec: {a: b}\n";
  EXPECT_EQ(sure_errors_of("a.yaml", "apiVersion: example.org/v1\nkind: Teapot\n" + twice), "RB-YAML-003 5;");
  EXPECT_EQ(sure_errors_of("a.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + twice), "");
}

std::string pod_called(const std::string& name) {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\nspec:\n  containers:\n  - {name: c, image: i}\n";
}

TEST(Judged, NamesThatAProgramFillsInAreNoErrors) {
  for (const char* name : {"APP_NAME-migration", "dsv4-bench-JOBSUFFIX", "SET_AT_RUNTIME", "REPLACE_NAME", "pod-n{}",
                           "_ignored_", "olm-MODEL_TAG-inference", "web-NAMESPACE", "JOB_NAME", "TENANT_ID.web"})
    EXPECT_EQ(sure_errors_of("a.yaml", pod_called(name)), "") << name;
  for (const char* name : {"My-pod", "Rail0", "MyApp", "pod_a", "blueZZ", "web-RDMA", "a-GPU", "Web-app_X", "-a"})
    EXPECT_EQ(sure_errors_of("a.yaml", pod_called(name)), "RB-API-007 4;") << name;
  for (const char* name : {"APP_NAME-migration", "pod-n{}"})
    EXPECT_EQ(sure_errors_of("a.md", "# A\n\n```yaml\n" + pod_called(name) + "```\n"), "") << name;
}

TEST(Judged, LinesThatAProgramCompletesAreNoErrors) {
  const auto with = [](const std::string& line) { return pod_called("a") + line + "\n"; };
  for (const char* line : {"  env:HF_TOKEN_ENV", "  restartPolicy: \"Never\"LOG_CONFIG", "  VOLUMES_BLOCK",
                           "  annotations:NLB_ANNOTATIONS", "  _volumes_", "  tolerations:POD_TOLERATIONS"})
    EXPECT_EQ(sure_errors_of("a.yaml", with(line)), "") << line;
  for (const char* line :
       {"  restartPolicy:Never", "  restartPolicy", "  name:NODE_NAME", "  restartPolicy: \"Never\" x"})
    EXPECT_NE(sure_errors_of("a.yaml", with(line)), "") << line;
}

TEST(Judged, EqualKeysAreErrorsWhereAnApiServerReadsThem) {
  const std::string twice = "prometheus:\n  spec: {a: b}\ngrafana: {}\nprometheus:\n  spec: {a: b}\n";
  for (const char* file : {"values.yaml", "helm-values/prometheus.yaml", "group_vars/all.yml",
                           "day1/registry-patch.yaml", ".github/workflows/ci.yaml", "x/docker-compose.yml"})
    EXPECT_EQ(sure_errors_of(file, twice), "") << file;
  EXPECT_EQ(sure_errors_of("play.yaml",
                           "- hosts: all\n  vars:\n    guid: a\n    guid: a\n  tasks:\n  - kubernetes.core.k8s:\n"
                           "      definition:\n        apiVersion: v1\n        kind: Namespace\n"
                           "        metadata: {name: a}\n"),
            "");
  EXPECT_EQ(sure_errors_of("kustomization.yaml",
                           "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches:\npatches: []\n"),
            "");
  EXPECT_EQ(sure_errors_of("a.yaml", pod_called("a") + "  restartPolicy: Never\n  restartPolicy: Always\n"),
            "RB-YAML-003 9;");
}

TEST(Judged, DataForReplacementsMayHaveAnyForm) {
  const std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values}\ndata:\n  nodeset: {a: b}\n";
  const std::string head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [v.yaml]\n";
  const std::string replacements =
      "replacements:\n- source: {kind: ConfigMap, name: values, fieldPath: data.nodeset.a}\n  targets: []\n";
  EXPECT_EQ(sure_errors_of({{"v.yaml", map}, {"kustomization.yaml", head + replacements}}), "");
  EXPECT_EQ(sure_errors_of({{"v.yaml", map}, {"kustomization.yaml", head}}), "RB-API-004 5;");
  EXPECT_EQ(sure_errors_of({{"p.yaml", map}, {"kustomization.yaml", head + "patches: [{path: p.yaml}]\n"}}), "");
}

TEST(Judged, EditorsKeepCommentsInTheirJson) {
  const std::string json = "{\n  // of the editor\n  \"tasks\": [{\"kind\": \"build\"}]\n}\n";
  for (const char* file : {".vscode/tasks.json", "a/.vscode/launch.json", "tsconfig.json", "x/tsconfig.base.json",
                           ".devcontainer/devcontainer.json"})
    EXPECT_EQ(sure_errors_of(file, json), "") << file;
  EXPECT_NE(sure_errors_of("pod.json", "{\n  // a pod\n  \"apiVersion\": \"v1\", \"kind\": \"Pod\"\n}\n"), "");
}

TEST(Judged, APromptEndsABlock) {
  const std::string head = "# A\n\n```\n[root@jump ~]# cat group.yaml\n" + pod_called("a");
  for (const char* prompt : {"[root@jump ~]#\n", "user@node:~$\n", "$\n", "\n[core@n0 x]$ \n\n", "root@n1:/# \n"})
    EXPECT_EQ(sure_errors_of("a.md", head + prompt + "```\n"), "") << prompt;
  EXPECT_NE(sure_errors_of("a.md", "# A\n\n```yaml\n" + pod_called("a") + "  restartPolicy:Never\n```\n"), "");
}

TEST(Judged, ShortcodesOfAPageAreNoMistakes) {
  for (const char* shortcode : {"{{% param \"disk\" %}}", "{{< param \"disk\" >}}", "{{< ref \"a.md\" >}}"})
    EXPECT_EQ(
        sure_errors_of("a.md", "# A\n\n```yaml\n" + pod_called("a") + "  hostname: \"x" + shortcode + "\"\n```\n"), "")
        << shortcode;
  EXPECT_NE(sure_errors_of("a.md", "# A\n\n```yaml\n" + pod_called("a") + "  hostname: \"x\" \"y\"\n```\n"), "");
}

TEST(Judged, KeptFilesGiveNoErrors) {
  const std::string bad = pod_called("My-pod");
  for (const char* file :
       {"archive/a.yaml", "x/archived/a.yaml", "workflows-backup/a.yaml", "k8s.bak/a.yaml", "apps/backups/2024/a.yaml"})
    EXPECT_EQ(sure_errors_of(file, bad), "") << file;
  for (const char* file : {"backup/a.yaml", "archiver/a.yaml", "archive.yaml", "apps/a-backup.yaml"})
    EXPECT_EQ(sure_errors_of(file, bad), "RB-API-007 4;") << file;
}

TEST(Judged, ATaskMayNameAnObjectThatIsThere) {
  const auto task = [](const std::string& rest) {
    return "- name: label it\n  kubernetes.core.k8s:\n    definition:\n      apiVersion: v1\n      kind: Pod\n"
           "      metadata:\n        name: a\n" +
           rest;
  };
  EXPECT_EQ(sure_errors_of("tasks.yaml", task("        labels: {x: \"y\"}\n")), "");
  EXPECT_EQ(sure_errors_of("tasks.yaml", task("")), "");
  EXPECT_EQ(sure_errors_of("tasks.yaml", task("      spec: {containers: [{name: c, image: 1}]}\n")), "RB-API-004 8;");
}

TEST(Judged, KindsOfOtherGroupsKeepTheirGroup) {
  for (const char* object : {"config.openshift.io/v1\nkind: Node", "config.openshift.io/v1\nkind: Ingress",
                             "config.openshift.io/v1\nkind: Network", "operator.openshift.io/v1\nkind: Network",
                             "management.cattle.io/v3\nkind: Node", "longhorn.io/v1beta2\nkind: Node"}) {
    const Report report = check(
        judged_sources({{"a.yaml", std::string("apiVersion: ") + object + "\nmetadata: {name: cluster}\n"}}), {}, {});
    for (const doc::Diagnostic& one : report.findings.all())
      EXPECT_EQ(one.fix.find("apiVersion"), std::string::npos) << object << doc::render(one);
  }
  const Report report = check(
      judged_sources({{"a.yaml", "apiVersion: example.com/v1\nkind: Node\nmetadata: {name: cluster}\n"}}), {}, {});
  EXPECT_TRUE(std::ranges::any_of(report.findings.all(), [](const auto& one) { return one.id == "RB-API-011"; }));
}

}  // namespace
}  // namespace railbed::check
